/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The scoreboard: which packets have arrived, which are lost, which have been retransmitted. See
 * scoreboard.c, scoreboard_holes.c for the queries of what is lost, and scoreboard_unplaced.c for
 * responses that could not be placed.
 */
#ifndef SROCE_TRANSPORT_SCOREBOARD_H
#define SROCE_TRANSPORT_SCOREBOARD_H

#include <linux/types.h>

#include "transport/access.h"
#include "transport/packet.h"
#include "transport/psn_map.h"
#include "transport/rtt.h"
#include "transport/wqe.h"

struct sroce_ack_plan;
struct sroce_requester;

/* Does the peer speak selective repeat? Its responses tell, or its silence. */
enum sroce_selective_mode {
	SROCE_SELECTIVE_OFFERED,	/* no response yet */
	SROCE_SELECTIVE_ON,
	SROCE_SELECTIVE_OFF,		/* not accepted by the first response, or not offered */
	SROCE_SELECTIVE_WITHDRAWN,	/* silence, or a later response did not accept it */
};

/**
 * struct sroce_rtx - PSNs retransmitted out of order that are not done yet
 * @map: the PSNs
 * @any: whether there are any
 * @last_psn: the last of them; it may lie beyond the map
 * @since_ns: when the first of them was sent
 * @until_ns: from a selective peer, when they count as lost again, without backoff
 * @end_psn: packets sent later begin here, see rtx_is_lost()
 */
struct sroce_rtx {
	struct sroce_psn_map map;
	bool	any;
	u32	last_psn;
	u64	since_ns;
	u64	until_ns;
	u32	end_psn;
};

/**
 * struct sroce_response_time - how long the response to a retransmitted READ takes
 * @smoothed_ns: the estimate, 0 before the first sample
 * @timing: a response is being timed
 * @psn: its PSN
 * @at_ns: when it was requested again for the first time
 * @last_ns: when it was requested last
 *
 * The response may wait in a queue. Neither ACKs nor the responses that give RTT samples pass
 * through that queue. A retransmission that defer_read_rtx() defers counts as sent.
 */
struct sroce_response_time {
	u64	smoothed_ns;
	bool	timing;
	u32	psn;
	u64	at_ns;
	u64	last_ns;
};

/**
 * struct sroce_scoreboard - the scoreboard (see scoreboard.c)
 * @mode: enum sroce_selective_mode
 * @newest: generation of @rtx that retransmissions go to
 * @rtx_backoff: generations of @rtx that were lost since the last progress
 * @executed_psn: the peer has executed everything before it
 * @top_psn: one past the newest PSN that the peer has executed or queued
 * @lost_psn: requests from @executed_psn to here that are not done are lost
 * @response_high_psn: one past the newest PSN whose response has come
 * @lost_response_psn: executed requests before it that are not done have lost their response
 * @unplaced_psn: first of a run of responses that could not be placed and have not been requested
 *                again; some may be done
 * @unplaced_end_psn: one past the last of them
 * @reordering: by how many others late packets were overtaken, about the recent maximum
 * @responses: READ and atomic responses since the last READ was requested
 * @done_data: SEND and WRITE packets in @done
 * @done: PSNs that need nothing more: queued or executed by the peer, or READ responses that
 *        have come
 * @read_queued: PSNs of READs and atomics whose requests the peer has queued
 * @rtx: two generations, so that the loss of a retransmission is noticed
 * @response_time: how long responses to retransmitted READs take
 */
struct sroce_scoreboard {
	u8	mode;
	u8	newest;
	u8	rtx_backoff;
	u32	executed_psn;
	u32	top_psn;
	u32	lost_psn;
	u32	response_high_psn;
	u32	lost_response_psn;
	u32	unplaced_psn;
	u32	unplaced_end_psn;
	u32	reordering;
	u32	responses;
	u32	done_data;
	struct sroce_psn_map done;
	struct sroce_psn_map read_queued;
	struct sroce_rtx rtx[2];
	struct sroce_response_time response_time;
};

u32 sroce_sack_end_psn(u32 base_psn, const u8 *sack, u32 bytes);
void sroce_scoreboard_ack(struct sroce_requester *req, const struct sroce_ack_plan *plan,
			  enum sroce_mem_status placed, u64 now_ns);
bool sroce_scoreboard_find_hole(const struct sroce_requester *req, u32 *psn, u32 *count);
u32 sroce_scoreboard_count_holes(const struct sroce_requester *req, u32 most);
u32 sroce_scoreboard_missing(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
			     u32 psn);
u32 sroce_scoreboard_to_request(const struct sroce_requester *req,
				const struct sroce_send_wqe *wqe, u32 psn);
void sroce_scoreboard_retransmitted(struct sroce_requester *req, const struct sroce_send_wqe *wqe,
				    u32 psn, u32 count, u64 now_ns);
void sroce_scoreboard_distrust_rtx(struct sroce_requester *req, bool timed_out);
void sroce_scoreboard_unplaced(struct sroce_requester *req, const struct sroce_ack_plan *plan);
u32 sroce_scoreboard_first_unplaced(const struct sroce_requester *req);
bool sroce_scoreboard_only_unplaced(const struct sroce_requester *req, u32 psn, u32 count);
void sroce_scoreboard_distrust_sack(struct sroce_requester *req);
void sroce_scoreboard_restart(struct sroce_requester *req, u32 psn);

#endif
