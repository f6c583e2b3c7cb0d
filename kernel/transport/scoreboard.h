/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What a requester knows of what came out of order, here or at a peer that keeps
 * it, and of answers that are late. See scoreboard.c.
 */
#ifndef SROCE_TRANSPORT_SCOREBOARD_H
#define SROCE_TRANSPORT_SCOREBOARD_H

#include <linux/types.h>

#include "transport/packet.h"
#include "transport/psn_map.h"
#include "transport/rtt.h"
#include "transport/wqe.h"

struct sroce_ack_plan;
struct sroce_requester;

/* Does the peer speak selective repeat? Its first answer tells. */
enum sroce_selective_mode {
	SROCE_SELECTIVE_OFFERED,
	SROCE_SELECTIVE_ON,
	SROCE_SELECTIVE_OFF,
};

/**
 * struct sroce_rtx - PSNs sent again whose answer is awaited
 * @map: which
 * @any: whether there are any
 * @last_psn: the newest of those sent again last
 * @since_ns: when the first of them was sent
 * @until_ns: when they are taken for lost again, if the peer is selective
 * @end_psn: what was sent later begins here: see are_lost()
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
 * struct sroce_response_time - how long the answer to a READ asked for again takes
 * @smoothed_ns: about so long; 0: not known
 * @timing: one is being timed
 * @psn: which one
 * @at_ns: since when
 * @last_ns: when it was asked for last, @at_ns if that was once
 *
 * It may stand in a queue that the first answers of idle times, and ACKs, do not meet. A READ whose
 * request may be late, and is spared a repair for a round trip, counts as asked for.
 */
struct sroce_response_time {
	u64	smoothed_ns;
	bool	timing;
	u32	psn;
	u64	at_ns;
	u64	last_ns;
};

/**
 * struct sroce_scoreboard - what has arrived (see scoreboard.c)
 * @mode: enum sroce_selective_mode
 * @newest: which of @rtx new ones go to
 * @executed_psn: the peer has executed everything before it
 * @top_psn: one past the newest PSN that the peer has executed or holds
 * @lost_psn: requests from @executed_psn on to here that are not done are lost
 * @response_high_psn: one past the newest PSN whose answer has come
 * @lost_response_psn: what is not done before it, and executed, has lost its answer
 * @reordering: by how many others a packet was overtaken that came all the same,
 *                about the most of late
 * @responses: READ responses and atomics' that came since the last READ was asked for
 * @done_data: SEND and WRITE packets in @done
 * @done: PSNs that need nothing more: held or executed by the peer, or READ
 *        responses that have come
 * @read_queued: PSNs of READs and atomics whose requests the peer holds; their answers will come
 * @rtx: two generations, so that a repair that is lost too is noticed
 * @response_time: how long answers to what was asked for again take
 */
struct sroce_scoreboard {
	u8	mode;
	u8	newest;
	u32	executed_psn;
	u32	top_psn;
	u32	lost_psn;
	u32	response_high_psn;
	u32	lost_response_psn;
	u32	reordering;
	u32	responses;
	u32	done_data;
	struct sroce_psn_map done;
	struct sroce_psn_map read_queued;
	struct sroce_rtx rtx[2];
	struct sroce_response_time response_time;
};

/**
 * struct sroce_probe - asking after answers that are late
 * @deadline_ns: when the next answer is late, SROCE_NEVER when none is awaited
 * @pto_backoff: probes in a row after which nothing was heard
 * @sent_count: probes altogether
 * @ack_requests: how often an answer was asked for since the last one that told anything
 * @due: a packet is to be sent again to ask
 * @sent: one was; what its answer does not cover was lost
 * @unacked: and nothing has been heard since
 * @spurious_alone: how many in a row had an answer, and of themselves alone, sooner than a round
 * trip
 * @spurious: how many in a row were answered sooner than a round trip
 * @ambiguous: what the answer did not cover may be late instead, where packets are: the next
 *          question decides
 * @pto_slack_ns: patience beyond what the round trip calls for: answers took that long of late,
 *            and were not lost
 * @psn: its PSN
 * @end_psn: one past the newest PSN sent before it
 * @at_ns: when it was sent
 */
struct sroce_probe {
	u64	deadline_ns;
	u8	pto_backoff;
	u64	sent_count;
	u32	ack_requests;
	bool	due;
	bool	sent;
	bool	unacked;
	bool	ambiguous;
	u8	spurious_alone;
	u8	spurious;
	u64	pto_slack_ns;
	u32	psn;
	u32	end_psn;
	u64	at_ns;
};

u32 sroce_sack_end_psn(u32 base_psn, const u8 *sack, u32 bytes);
void sroce_scoreboard_ack(struct sroce_requester *req, const struct sroce_ack_plan *plan,
			  bool placed, u64 now_ns);
bool sroce_scoreboard_find_hole(const struct sroce_requester *req, u32 *psn, u32 *count);
u32 sroce_scoreboard_missing(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
			     u32 psn);
void sroce_scoreboard_retransmitted(struct sroce_requester *req, u32 psn, u32 count, u64 now_ns,
				    bool is_data);
void sroce_scoreboard_distrust(struct sroce_requester *req, bool all);
void sroce_scoreboard_restart(struct sroce_requester *req, u32 psn);

#endif
