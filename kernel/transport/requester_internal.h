/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by the files of the requester: see requester.c.
 */
#ifndef SROCE_TRANSPORT_REQUESTER_INTERNAL_H
#define SROCE_TRANSPORT_REQUESTER_INTERNAL_H

#include <linux/types.h>

#include "transport/psn.h"
#include "transport/requester.h"
#include "transport/requester_state.h"
#include "transport/wqe.h"

/* How far @psn lies beyond the oldest PSN not acknowledged. */
static inline u32 sroce_requester_forward(const struct sroce_requester *req, u32 psn)
{
	return (psn - req->unacked_psn) & SROCE_PSN_MASK;
}

static inline bool sroce_requester_is_selective(const struct sroce_requester *req)
{
	return req->sb.mode == SROCE_SELECTIVE_ON;
}

/* Is it in the run of responses that could not be placed? See scoreboard_unplaced.c. */
static inline bool sroce_requester_is_unplaced(const struct sroce_requester *req, u32 psn)
{
	return ((psn - req->sb.unplaced_psn) & SROCE_PSN_MASK) <
	       ((req->sb.unplaced_end_psn - req->sb.unplaced_psn) & SROCE_PSN_MASK);
}

static inline void sroce_requester_reset_retries(struct sroce_requester *req)
{
	req->retry_left = req->attr.retry_cnt;
	req->rnr_retry_left = req->attr.rnr_retry;
	req->timeout_shift = 0;
	req->free_timeouts = 0;
	req->responded = false;
}

/* No response is due: both timers of tlp.c stop. */
static inline void sroce_requester_stop_timers(struct sroce_requester *req)
{
	req->ack_deadline_ns = SROCE_NEVER;
	req->probe.deadline_ns = SROCE_NEVER;
}

bool sroce_requester_locate(const struct sroce_requester *req, u32 psn, u32 *index);
u32 sroce_requester_sample_rtt(struct sroce_requester *req, u32 psn, u64 now_ns);
void sroce_requester_report_acked(struct sroce_requester *req, u32 packets, u32 rtt_ns, u64 now_ns);
void sroce_requester_advance(struct sroce_requester *req, u32 unacked_psn);
void sroce_requester_move_cursor(struct sroce_requester *req, u32 psn);
void sroce_requester_fail(struct sroce_requester *req, u32 index, enum sroce_wc_status status);

#endif
