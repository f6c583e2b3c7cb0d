/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The state of a requester, for the datapath and for display. */
#ifndef SROCE_TRANSPORT_REQUESTER_STATE_H
#define SROCE_TRANSPORT_REQUESTER_STATE_H

#include <linux/minmax.h>

#include "transport/requester.h"

/* Questions of the datapath. Its lock-free readers get a value of the recent past. */

static inline bool sroce_requester_is_ready(const struct sroce_requester *req)
{
	return req->state == SROCE_SQ_READY;
}

static inline bool sroce_requester_has_failed(const struct sroce_requester *req)
{
	return req->state == SROCE_SQ_ERROR;
}

/*
 * Do requests carry the offer of selective repeat? UC and UD have no response to accept it. Before
 * the first response only an ACK timeout and a retry can withdraw it, see tlp.c.
 */
static inline bool sroce_requester_offers_selective(const struct sroce_requester *req)
{
	const struct sroce_requester_attr *attr = &req->attr;

	if (!attr->selective || !sroce_service_is_acked(req->service))
		return false;
	if (req->sb.mode == SROCE_SELECTIVE_OFFERED)
		return attr->ack_timeout_ns && attr->retry_cnt;
	return req->sb.mode == SROCE_SELECTIVE_ON;
}

/* Slots in the ring. */
static inline u32 sroce_requester_slots(const struct sroce_requester *req)
{
	return READ_ONCE(req->ring_mask) + 1;
}

/* Bytes of a slot. */
static inline u32 sroce_requester_stride(const struct sroce_requester *req)
{
	return req->stride;
}

/* How long a response may take before a probe is sent. */
static inline u64 sroce_requester_probe_ns(const struct sroce_requester *req)
{
	return sroce_rtt_probe_ns(&req->rtt);
}

/* Position of the next WQE to be posted. */
static inline u32 sroce_requester_posted(const struct sroce_requester *req)
{
	return READ_ONCE(req->posted);
}

/* Position of the oldest WQE whose completion has not been pulled. */
static inline u32 sroce_requester_retired(const struct sroce_requester *req)
{
	return READ_ONCE(req->retired);
}

static inline u32 sroce_requester_next_psn(const struct sroce_requester *req)
{
	return req->next_psn;
}

static inline u32 sroce_requester_unacked_psn(const struct sroce_requester *req)
{
	return req->unacked_psn;
}

/* WQEs posted and not retired. */
static inline u32 sroce_requester_used(const struct sroce_requester *req)
{
	return sroce_requester_posted(req) - sroce_requester_retired(req);
}

/* WQEs posted and not completely sent. */
static inline u32 sroce_requester_unsent(const struct sroce_requester *req)
{
	return req->posted - req->send;
}

/* May the scoreboard know of a lost packet? In the usual case it does not. */
static inline bool sroce_requester_has_losses(const struct sroce_requester *req)
{
	return req->sb.lost_response_psn != req->unacked_psn ||
	       req->sb.lost_psn != req->sb.executed_psn ||
	       req->sb.unplaced_psn != req->sb.unplaced_end_psn;
}

/* Would a plan find nothing to send? Costs less than the plan. */
static inline bool sroce_requester_is_idle(const struct sroce_requester *req)
{
	return !sroce_requester_unsent(req) && !req->probe.due && !sroce_requester_has_losses(req);
}

/* The smoothed round-trip time, 0 before the first sample. */
static inline u64 sroce_requester_srtt_ns(const struct sroce_requester *req)
{
	return req->rtt.srtt_ns;
}

/* Has a packet been sent that is not acknowledged? */
static inline bool sroce_requester_has_unacked(const struct sroce_requester *req)
{
	return req->unacked_psn != req->sent_psn;
}

/* Has a rewind moved next_psn back, and the packets have not all been sent again? */
static inline bool sroce_requester_is_rewound(const struct sroce_requester *req)
{
	return req->next_psn != req->sent_psn;
}

/* Does an RNR wait run, so that no response is due? */
static inline bool sroce_requester_waits_rnr(const struct sroce_requester *req)
{
	return req->rnr_waiting;
}

/* When sroce_requester_timeout() is due: monotonic nanoseconds, or SROCE_NEVER. */
static inline u64 sroce_requester_deadline(const struct sroce_requester *req)
{
	return req->rnr_waiting ? req->rnr_until_ns :
				  min(req->ack_deadline_ns, req->probe.deadline_ns);
}

/*
 * For about how many round trips in a row, up to two, holes have been retransmitted. A READ that
 * is deferred instead (defer_read_rtx() in scoreboard.c) counts as well.
 */
static inline u32 sroce_requester_recovery_rounds(const struct sroce_requester *req)
{
	return sroce_requester_has_unacked(req) ? req->sb.rtx[0].any + req->sb.rtx[1].any : 0;
}

/**
 * struct sroce_requester_stats - what tools show of a requester
 * @selective: enum sroce_selective_mode
 * @unacked_psn: oldest PSN not acknowledged
 * @sent_psn: one past the highest PSN ever sent
 * @inflight_psns: PSNs between them
 * @window_packets: SEND and WRITE packets that may be in flight, see window_policy.h
 * @retransmits: packets retransmitted
 * @timeouts: ACK timer expiries
 * @probes: probe timer expiries
 * @rtt: round-trip time
 */
struct sroce_requester_stats {
	u8	selective;
	u32	unacked_psn;
	u32	sent_psn;
	u32	inflight_psns;
	u32	window_packets;
	u64	retransmits;
	u64	timeouts;
	u64	probes;
	struct sroce_rtt rtt;
};

void sroce_requester_start_psn(struct sroce_requester *req, u32 psn);
void sroce_requester_set_state(struct sroce_requester *req, enum sroce_sq_state state);
bool sroce_requester_is_drained(const struct sroce_requester *req);
u32 sroce_requester_timeout(struct sroce_requester *req, u64 now_ns);
void sroce_requester_get_stats(const struct sroce_requester *req,
			       struct sroce_requester_stats *stats);

#endif
