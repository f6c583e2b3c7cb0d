/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The scoreboard: which packets have arrived, which are lost, which have been retransmitted. See
 * scoreboard.c, scoreboard_holes.c for the queries of what is lost, scoreboard_unplaced.c for
 * responses that could not be placed, and rtx.c for retransmissions.
 */
#ifndef SROCE_TRANSPORT_SCOREBOARD_H
#define SROCE_TRANSPORT_SCOREBOARD_H

#include <linux/types.h>

#include "transport/access.h"
#include "transport/packet.h"
#include "transport/psn_map.h"
#include "transport/rtx.h"
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
