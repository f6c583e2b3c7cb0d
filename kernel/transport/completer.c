// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What answers mean for the requester.
 *
 * An acknowledgement is cumulative, with one exception: it cannot stand in for
 * the response of a READ or an atomic. One that passes such a request says that
 * the response was lost, which is treated as a NAK for it ("implied NAK"); so
 * is a hole among READ responses. One hole is retried once: that retry's own
 * loss is left to the timer, else every response behind the hole would retry.
 */
#include <linux/bug.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/ack.h"
#include "transport/psn.h"
#include "transport/requester.h"

/**
 * struct place - where in the send queue a PSN lies
 * @index: position of its WQE
 * @wqe: the WQE
 * @expected_psn: the oldest PSN of that WQE without an answer
 * @blocked: the WQE is an earlier READ or atomic that the PSN passes
 */
struct place {
	u32	index;
	const struct sroce_send_wqe *wqe;
	u32	expected_psn;
	bool	blocked;
};

/* @psn is known to lie between unacked_psn and sent_psn, so some WQE holds it. */
static void find_place(const struct sroce_requester *req, u32 psn, struct place *place)
{
	u32 target = sroce_requester_forward(req, psn), end = 0, index;

	for (index = req->acked; index != req->posted; index++) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, index);

		if (!wqe->psn_count)
			continue;
		end += wqe->psn_count;
		if (index == req->acked)
			end = sroce_requester_forward(req, psn_add(wqe->first_psn, wqe->psn_count));
		place->blocked = target >= end;
		if (place->blocked && !wqe_is_rd_atomic(wqe->opcode))
			continue;
		place->index = index;
		place->wqe = wqe;
		place->expected_psn = index == req->acked ? req->unacked_psn : wqe->first_psn;
		return;
	}
}

static void plan_drop(struct sroce_ack_plan *plan, enum sroce_drop_reason reason)
{
	plan->action = SROCE_ACK_DROP;
	plan->reason = reason;
}

/* @index fails; what precedes it is acknowledged up to @unacked_psn. */
static void plan_failure(struct sroce_ack_plan *plan, u32 index, u32 unacked_psn,
			 enum sroce_wc_status status)
{
	plan->action = SROCE_ACK_FAIL;
	plan->index = index;
	plan->unacked_psn = unacked_psn;
	plan->status = status;
}

static void plan_implied_nak(const struct sroce_requester *req, struct sroce_ack_plan *plan,
			     u32 psn)
{
	bool retried = req->implied_nak_valid && req->implied_nak_psn == psn;

	/* Already retried, or already gone back and not sent since. */
	if (psn == req->unacked_psn && (retried || req->next_psn == psn)) {
		plan_drop(plan, SROCE_DROP_GAP);
		return;
	}
	plan->action = SROCE_ACK_ACCEPT;
	plan->unacked_psn = psn;
	plan->rewind = true;
	plan->implied = true;
}

static void plan_read_response(const struct sroce_requester *req, const struct sroce_packet *pkt,
			       const struct place *place, struct sroce_ack_plan *plan)
{
	const struct sroce_send_wqe *wqe = place->wqe;
	u32 number = (pkt->psn - wqe->first_psn) & SROCE_PSN_MASK;
	u32 offset = number * req->attr.mtu_bytes;
	bool last = number + pkt->count == wqe->psn_count;

	if (wqe->opcode != SROCE_WR_READ || !sroce_aeth_is_ack(pkt) ||
	    number + pkt->count > wqe->psn_count ||
	    last != !!(pkt->info->flags & SROCE_OPF_LAST)) {
		plan_failure(plan, place->index, place->expected_psn, SROCE_WC_BAD_RESP_ERR);
		return;
	}
	if (pkt->psn != place->expected_psn) {
		plan_implied_nak(req, plan, place->expected_psn);
		return;
	}
	if (pkt->payload_bytes != min(wqe->length - offset, pkt->count * req->attr.mtu_bytes)) {
		plan_failure(plan, place->index, place->expected_psn, SROCE_WC_LOC_LEN_ERR);
		return;
	}
	plan->action = SROCE_ACK_ACCEPT;
	plan->index = place->index;
	plan->place_offset = offset;
	plan->place_bytes = pkt->payload_bytes;
	plan->unacked_psn = psn_add(pkt->psn, pkt->count);
}

static void plan_atomic_ack(const struct sroce_packet *pkt, const struct place *place,
			    struct sroce_ack_plan *plan)
{
	if (!wqe_is_atomic(place->wqe->opcode) || !sroce_aeth_is_ack(pkt)) {
		plan_failure(plan, place->index, place->expected_psn, SROCE_WC_BAD_RESP_ERR);
		return;
	}
	plan->action = SROCE_ACK_ACCEPT;
	plan->index = place->index;
	plan->place_atomic = true;
	plan->place_bytes = sizeof(u64);
	plan->unacked_psn = psn_add(pkt->psn, 1);
}

/* What a NAK for @psn leaves unacknowledged: nothing of a READ is skipped. */
static u32 nak_unacked_psn(const struct sroce_packet *pkt, const struct place *place)
{
	return wqe_is_rd_atomic(place->wqe->opcode) ? place->expected_psn : pkt->psn;
}

static void plan_rnr_nak(const struct sroce_requester *req, const struct sroce_packet *pkt,
			 const struct place *place, struct sroce_ack_plan *plan)
{
	u32 unacked_psn = nak_unacked_psn(pkt, place);
	u32 retries = unacked_psn == req->unacked_psn ? req->rnr_retry_left : req->attr.rnr_retry;

	if (req->rnr_waiting) {
		plan_drop(plan, SROCE_DROP_DUPLICATE);
		return;
	}
	if (!retries) {
		plan_failure(plan, place->index, unacked_psn, SROCE_WC_RNR_RETRY_EXC_ERR);
		return;
	}
	plan->action = SROCE_ACK_ACCEPT;
	plan->unacked_psn = unacked_psn;
	plan->rewind = true;
	plan->rnr = true;
	plan->rnr_wait_ns = sroce_rnr_wait_ns(pkt->syndrome);
}

static void plan_sequence_nak(const struct sroce_requester *req, const struct sroce_packet *pkt,
			      const struct place *place, struct sroce_ack_plan *plan)
{
	u32 unacked_psn = nak_unacked_psn(pkt, place);
	u32 retries = unacked_psn == req->unacked_psn ? req->retry_left : req->attr.retry_cnt;

	/* Nothing is in flight: we have gone back already and wait to send. */
	if (unacked_psn == req->unacked_psn && req->next_psn == unacked_psn) {
		plan_drop(plan, SROCE_DROP_DUPLICATE);
		return;
	}
	if (!retries) {
		plan_failure(plan, place->index, unacked_psn, SROCE_WC_RETRY_EXC_ERR);
		return;
	}
	plan->action = SROCE_ACK_ACCEPT;
	plan->unacked_psn = unacked_psn;
	plan->rewind = true;
}

static void plan_nak(const struct sroce_requester *req, const struct sroce_packet *pkt,
		     const struct place *place, struct sroce_ack_plan *plan)
{
	enum sroce_wc_status status = sroce_nak_wc_status(pkt->syndrome);

	if (pkt->syndrome == SROCE_NAK_PSN_SEQUENCE)
		plan_sequence_nak(req, pkt, place, plan);
	else if (status != SROCE_WC_SUCCESS)
		plan_failure(plan, place->index, nak_unacked_psn(pkt, place), status);
	else
		plan_drop(plan, SROCE_DROP_SYNDROME);
}

static void plan_ack(const struct sroce_requester *req, const struct sroce_packet *pkt,
		     const struct place *place, struct sroce_ack_plan *plan)
{
	switch (pkt->syndrome & SROCE_AETH_KIND_MASK) {
	case SROCE_AETH_ACK:
		if (wqe_is_rd_atomic(place->wqe->opcode)) {
			plan_implied_nak(req, plan, place->expected_psn);
			return;
		}
		plan->action = SROCE_ACK_ACCEPT;
		plan->unacked_psn = psn_add(pkt->psn, 1);
		return;
	case SROCE_AETH_RNR_NAK:
		plan_rnr_nak(req, pkt, place, plan);
		return;
	case SROCE_AETH_NAK:
		plan_nak(req, pkt, place, plan);
		return;
	default:
		plan_drop(plan, SROCE_DROP_SYNDROME);
	}
}

/**
 * sroce_completer_merges() - may responses that continue this one be looked at as one with it?
 * @req: the requester
 * @pkt: a parsed packet
 *
 * As with sroce_responder_merges().
 *
 * Return: whether this is the expected response, in the middle of a READ's, of a peer that has
 * answered before; and none that may follow has been placed already.
 */
bool sroce_completer_merges(const struct sroce_requester *req, const struct sroce_packet *pkt)
{
	if (pkt->opcode != SROCE_OP_READ_RESPONSE_MIDDLE || pkt->psn != req->unacked_psn ||
	    req->sel.mode == SROCE_SELECTIVE_OFFERED)
		return false;
	/* What is right already must not be written again by what may be wrong. */
	return !sroce_requester_is_selective(req) ||
	       sroce_psn_map_run(&req->sel.done, pkt->psn, SROCE_PSN_MAP_SPAN, false) ==
	       SROCE_PSN_MAP_SPAN;
}

/**
 * sroce_completer_plan() - what does this response mean? Changes nothing
 * @req: the requester
 * @pkt: a parsed packet
 * @plan: filled in
 */
void sroce_completer_plan(const struct sroce_requester *req, const struct sroce_packet *pkt,
			  struct sroce_ack_plan *plan)
{
	struct place place = { 0 };

	memset(plan, 0, sizeof(*plan));
	plan->unacked_psn = req->unacked_psn;
	plan->count = pkt->count;
	if (req->state != SROCE_SQ_READY && req->state != SROCE_SQ_DRAINING) {
		plan_drop(plan, SROCE_DROP_STATE);
		return;
	}
	if (!(pkt->info->flags & SROCE_OPF_RESPONSE) || req->service != SROCE_SERVICE_RC) {
		plan_drop(plan, SROCE_DROP_OPCODE);
		return;
	}
	plan->decide = req->sel.mode == SROCE_SELECTIVE_OFFERED;
	if (sroce_requester_is_selective(req) ||
	    (plan->decide && req->attr.selective && pkt->selective)) {
		sroce_selective_plan(req, pkt, plan);
		return;
	}
	if (pkt->info->flags & SROCE_OPF_SACK) {
		plan_drop(plan, SROCE_DROP_OPCODE);
		return;
	}
	if (sroce_requester_forward(req, pkt->psn) >= sroce_requester_forward(req, req->sent_psn)) {
		plan_drop(plan, psn_before(pkt->psn, req->unacked_psn) ? SROCE_DROP_DUPLICATE :
									 SROCE_DROP_UNSENT);
		return;
	}

	find_place(req, pkt->psn, &place);
	if (WARN_ON_ONCE(!place.wqe))
		plan_drop(plan, SROCE_DROP_UNSENT);
	else if (place.blocked)
		plan_implied_nak(req, plan, place.expected_psn);
	else if (pkt->info->flags & SROCE_OPF_READ)
		plan_read_response(req, pkt, &place, plan);
	else if (pkt->info->flags & SROCE_OPF_ATOMIC)
		plan_atomic_ack(pkt, &place, plan);
	else
		plan_ack(req, pkt, &place, plan);
}

/* The peer's first answer tells what it is. */
static void decide(struct sroce_requester *req, bool selective)
{
	req->sel.mode = selective ? SROCE_SELECTIVE_ON : SROCE_SELECTIVE_OFF;
	if (!selective)
		return;
	sroce_requester_move_cursor(req, req->sent_psn);
	sroce_selective_restart(req, req->unacked_psn);
}

/* Something was refused, or lost: begin again with it. */
static void go_back(struct sroce_requester *req, const struct sroce_ack_plan *plan, u32 psn,
		    u64 now_ns)
{
	if (plan->implied) {
		req->implied_nak_psn = psn;
		req->implied_nak_valid = true;
	} else if (plan->rnr) {
		req->rnr_waiting = true;
		req->rnr_until_ns = now_ns + plan->rnr_wait_ns;
		if (req->attr.rnr_retry != SROCE_RNR_RETRY_INFINITE)
			req->rnr_retry_left--;
		/* It is there, and has all that went before; late NAKs do no harm. */
		if (!plan->selective) {
			req->retry_left = req->attr.retry_cnt;
			req->timeout_shift = 0;
		}
	} else {
		req->retry_left--;
		sroce_cc_lost(&req->cc, false, now_ns);
	}
	sroce_requester_rewind(req, psn);
}

static void commit_in_order(struct sroce_requester *req, const struct sroce_ack_plan *plan,
			    bool placed, u64 now_ns)
{
	u32 unacked_psn = plan->unacked_psn;

	/* Our own buffer is at fault: the response before this one was the last good one. */
	if (!placed)
		unacked_psn = psn_add(unacked_psn, -plan->count & SROCE_PSN_MASK);
	if (unacked_psn != req->unacked_psn)
		sroce_requester_advance(req, unacked_psn, now_ns);
	if (sroce_requester_probe_answered(req, now_ns) && !plan->rewind)
		sroce_requester_rewind(req, req->unacked_psn);
}

/**
 * sroce_completer_commit() - act on a response
 * @req: the requester, unchanged since the plan was made
 * @plan: the plan
 * @placed: outcome of placing the payload; SROCE_MEM_OK when there was none
 * @now_ns: monotonic time
 */
void sroce_completer_commit(struct sroce_requester *req, const struct sroce_ack_plan *plan,
			    enum sroce_mem_status placed, u64 now_ns)
{
	if (plan->action == SROCE_ACK_DROP)
		return;
	if (plan->decide)
		decide(req, plan->selective);
	if (plan->selective)
		sroce_selective_commit(req, plan, placed == SROCE_MEM_OK, now_ns);
	else
		commit_in_order(req, plan, placed == SROCE_MEM_OK, now_ns);
	if (placed != SROCE_MEM_OK)
		sroce_requester_fail(req, plan->index, SROCE_WC_LOC_PROT_ERR);
	else if (plan->action == SROCE_ACK_FAIL)
		sroce_requester_fail(req, plan->index, plan->status);
	else if (plan->rewind)
		go_back(req, plan, plan->selective ? plan->executed_psn : plan->unacked_psn,
			now_ns);
}
