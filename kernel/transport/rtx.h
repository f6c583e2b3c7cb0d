/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Retransmissions: the part of the scoreboard that knows what has been sent again out of order, and
 * when that is lost, too; and how far packets overtake each other. See rtx.c.
 */
#ifndef SROCE_TRANSPORT_RTX_H
#define SROCE_TRANSPORT_RTX_H

#include <linux/types.h>

#include "transport/psn_map.h"

struct sroce_requester;

/**
 * struct sroce_rtx - PSNs retransmitted out of order that are not done yet
 * @map: the PSNs
 * @any: whether there are any
 * @unplaced: whether some of them are responses that could not be placed, and were not lost
 * @last_psn: the last of them; it may lie beyond the map
 * @since_ns: when the first of them was sent
 * @until_ns: from a selective peer, when they count as lost again, without backoff
 * @end_psn: packets sent later begin here, see rtx_is_lost()
 */
struct sroce_rtx {
	struct sroce_psn_map map;
	bool	any;
	bool	unplaced;
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

void sroce_rtx_clear(struct sroce_requester *req);
void sroce_rtx_restart(struct sroce_requester *req, u32 psn);
void sroce_rtx_forget(struct sroce_requester *req, u32 psn, u32 count);
void sroce_rtx_expire(struct sroce_requester *req, u64 now_ns);
void sroce_rtx_mark(struct sroce_requester *req, u32 psn, u32 count, u64 now_ns);
void sroce_rtx_mark_read(struct sroce_requester *req, u32 psn, u32 count, u64 now_ns);
void sroce_rtx_advance(struct sroce_requester *req, u32 count);
void sroce_rtx_responded(struct sroce_requester *req, u32 psn, u64 now_ns);
void sroce_rtx_sample_response_time(struct sroce_requester *req, u64 now_ns);
u32 sroce_rtx_reorder_tolerance(const struct sroce_requester *req);
void sroce_rtx_note_reordering(struct sroce_requester *req, u32 psn, u32 top_psn, u64 now_ns);

#endif
