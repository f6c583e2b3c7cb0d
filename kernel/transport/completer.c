// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The completer: it applies responses to the requester (IBTA 9.9.2).
 *
 * An ACK is cumulative: the peer has executed everything before it. That completes SENDs and
 * WRITEs. A READ or an atomic completes only with its own response. Responses are placed in the
 * order in which they arrive; scoreboard.c handles those that are lost. A request that the peer
 * rejects fails only when it is the oldest one, because earlier READs may still complete.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/ack_codes.h"
#include "transport/cc.h"
#include "transport/completer.h"
#include "transport/opcode.h"
#include "transport/packet.h"
#include "transport/psn.h"
#include "transport/psn_map.h"
#include "transport/requester.h"
#include "transport/requester_internal.h"
#include "transport/rtx.h"
#include "transport/scoreboard.h"
#include "transport/tlp.h"

static void plan_drop(struct sroce_ack_plan *plan, enum sroce_drop_reason reason)
{
	plan->action = SROCE_ACK_DROP;
	plan->reason = reason;
}

/* Does no READ or atomic before @index wait for its response? */
static bool is_oldest(const struct sroce_requester *req, u32 index)
{
	u32 before;

	for (before = req->acked; before != index; before++)
		if (wqe_is_rd_atomic(sroce_requester_wqe(req, before)->opcode))
			return false;
	return true;
}

/* The WQE at @plan->index fails; if it is not the oldest yet, the NAK is only an ACK for now. */
static void plan_failure(const struct sroce_requester *req, struct sroce_ack_plan *plan,
			 u32 executed_psn, enum sroce_wc_status status)
{
	plan->action = is_oldest(req, plan->index) ? SROCE_ACK_FAIL : SROCE_ACK_ACCEPT;
	plan->status = status;
	plan->executed_psn = executed_psn;
}

/* As plan_failure(). If earlier READs are open, the WQE keeps the status until they complete. */
static void plan_rejection(const struct sroce_requester *req, struct sroce_ack_plan *plan,
			   u32 executed_psn, enum sroce_wc_status status)
{
	plan_failure(req, plan, executed_psn, status);
	plan->early_nak = plan->action == SROCE_ACK_ACCEPT;
}

/*
 * Does the opcode fit response @number of this WQE? We request a part of a READ that ends before
 * the READ does only from a peer that accepts selective repeat. So only its LAST may come early,
 * also after the offer has been withdrawn.
 */
static bool fits_wqe(const struct sroce_packet *pkt, const struct sroce_ack_plan *plan,
		     const struct sroce_send_wqe *wqe, u32 number)
{
	bool last = number + pkt->count >= wqe->psn_count;
	bool is_atomic = wqe_is_atomic(wqe->opcode);

	if (!sroce_aeth_is_ack(pkt))
		return false;
	if (!(pkt->info->flags & SROCE_OPF_READ))
		return is_atomic;
	if (!wqe_is_rd_atomic(wqe->opcode) || is_atomic || number + pkt->count > wqe->psn_count)
		return false;
	if (pkt->info->flags & SROCE_OPF_LAST)
		return last || plan->mode == SROCE_SELECTIVE_ON ||
		       plan->mode == SROCE_SELECTIVE_WITHDRAWN;
	return !last;
}

/* A response other than an ACK: place it once, in whatever order it comes. */
static void plan_data_response(const struct sroce_requester *req, const struct sroce_packet *pkt,
			       struct sroce_ack_plan *plan)
{
	const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, plan->index);
	u32 number = (pkt->psn - wqe->first_psn) & SROCE_PSN_MASK;
	u32 offset = number * req->attr.mtu_bytes;
	u32 bytes = pkt->count * req->attr.mtu_bytes;
	bool is_read = pkt->info->flags & SROCE_OPF_READ;
	u32 length = wqe_is_placement(wqe->opcode) ? 0 : wqe->length;

	if (!fits_wqe(pkt, plan, wqe, number)) {
		plan_failure(req, plan, wqe->first_psn, SROCE_WC_BAD_RESP_ERR);
		return;
	}
	if (is_read && pkt->payload_bytes != min(length - offset, bytes)) {
		plan_failure(req, plan, wqe->first_psn, SROCE_WC_LOC_LEN_ERR);
		return;
	}
	if (sroce_requester_forward(req, pkt->psn) >= SROCE_PSN_MAP_SPAN) {
		plan_drop(plan, SROCE_DROP_GAP);
		return;
	}
	if (psn_map_has(&req->sb.done, pkt->psn)) {
		plan_drop(plan, SROCE_DROP_DUPLICATE);
		return;
	}
	plan->action = SROCE_ACK_ACCEPT;
	plan->has_response = true;
	plan->response_psn = pkt->psn;
	plan->executed_psn = wqe_end_psn(wqe);
	plan->place_atomic = !is_read;
	plan->place_offset = is_read ? offset : 0;
	plan->place_bytes = is_read ? pkt->payload_bytes : sizeof(u64);
}

/* A sequence NAK or an RNR NAK. The retry counts are those of the packet that it names. */
static void plan_rewind(const struct sroce_requester *req, const struct sroce_packet *pkt,
			struct sroce_ack_plan *plan, bool rnr)
{
	u32 at = sroce_requester_forward(req, pkt->psn);
	u32 executed = sroce_requester_forward(req, req->sb.executed_psn);
	bool fresh = executed < at;
	u32 retries = rnr ? (fresh ? req->attr.rnr_retry : req->rnr_retry_left) :
			    (fresh ? req->attr.retry_cnt : req->retry_left);
	/* The rewind has happened, but nothing has been sent since. */
	bool gone_back = !fresh && req->next_psn == pkt->psn;

	plan->executed_psn = pkt->psn;
	if (rnr ? req->rnr_waiting : gone_back) {
		plan_drop(plan, SROCE_DROP_DUPLICATE);
	} else if (at < executed) {
		plan_drop(plan, SROCE_DROP_DUPLICATE);
	} else if (!retries) {
		plan_rejection(req, plan, pkt->psn, rnr ? SROCE_WC_RNR_RETRY_EXC_ERR :
							  SROCE_WC_RETRY_EXC_ERR);
	} else {
		plan->action = SROCE_ACK_ACCEPT;
		plan->rewind = true;
		plan->rnr = rnr;
		plan->rnr_wait_ns = rnr ? sroce_rnr_wait_ns(pkt->syndrome) : 0;
	}
}

static void plan_ack(const struct sroce_requester *req, const struct sroce_packet *pkt,
		     struct sroce_ack_plan *plan)
{
	plan->action = SROCE_ACK_ACCEPT;
	plan->executed_psn = psn_add(pkt->psn, 1);
	if (!(pkt->info->flags & SROCE_OPF_SACK))
		return;
	plan->sack = pkt->sack;
	plan->sack_bytes = pkt->payload_bytes;
	if (sroce_requester_forward(req, sroce_sack_end_psn(plan->executed_psn, pkt->sack,
							    pkt->payload_bytes)) >
	    sroce_requester_forward(req, req->sent_psn))
		plan_drop(plan, SROCE_DROP_UNSENT);
}

/* ACK, selective ACK, NAK. */
static void plan_acknowledge(const struct sroce_requester *req, const struct sroce_packet *pkt,
			     struct sroce_ack_plan *plan)
{
	u8 kind = pkt->syndrome & SROCE_AETH_KIND_MASK;
	enum sroce_wc_status status;

	if (kind == SROCE_AETH_ACK) {
		plan_ack(req, pkt, plan);
		return;
	}
	if (pkt->info->flags & SROCE_OPF_SACK) {
		plan_drop(plan, SROCE_DROP_SYNDROME);
		return;
	}
	if (kind == SROCE_AETH_RNR_NAK || pkt->syndrome == SROCE_NAK_PSN_SEQUENCE) {
		plan_rewind(req, pkt, plan, kind == SROCE_AETH_RNR_NAK);
		return;
	}
	status = sroce_nak_wc_status(pkt->syndrome);
	if (status == SROCE_WC_SUCCESS) {
		plan_drop(plan, SROCE_DROP_SYNDROME);
		return;
	}
	plan_rejection(req, plan, pkt->psn, status);
}

/**
 * sroce_completer_can_coalesce() - may responses that follow this one be handled as one with it?
 * @req: the requester
 * @pkt: a parsed packet
 * @count: how many there are at most, with this one
 *
 * As sroce_responder_can_coalesce().
 *
 * Return: true if this is the expected response and in the middle of a READ, if the peer has
 * responded before, and if none of the responses that may follow has been placed already.
 */
bool sroce_completer_can_coalesce(const struct sroce_requester *req, const struct sroce_packet *pkt,
				  u32 count)
{
	if ((pkt->opcode & ~SROCE_SERVICE_MASK) != SROCE_OP_READ_RESPONSE_MIDDLE ||
	    pkt->psn != req->unacked_psn ||
	    req->sb.mode == SROCE_SELECTIVE_OFFERED)
		return false;
	/* Payload is written before its ICRC is checked: never over payload that is right. */
	count = min(count, SROCE_PSN_MAP_SPAN);
	return sroce_psn_map_leading_absent(&req->sb.done, pkt->psn, count) == count;
}

/* The mode of selective repeat after this response. */
static u8 selective_mode(const struct sroce_requester *req, const struct sroce_packet *pkt)
{
	bool accepts = sroce_requester_offers_selective(req) && pkt->selective;

	if (req->sb.mode == SROCE_SELECTIVE_OFFERED)
		return accepts ? SROCE_SELECTIVE_ON : SROCE_SELECTIVE_OFF;
	if (req->sb.mode == SROCE_SELECTIVE_ON && !accepts)
		return SROCE_SELECTIVE_WITHDRAWN;
	return req->sb.mode;
}

/* Is this response for the queue in its state? Also sets @plan->mode. */
static bool check_expected_response(const struct sroce_requester *req,
				    const struct sroce_packet *pkt, struct sroce_ack_plan *plan)
{
	if (req->state != SROCE_SQ_READY && req->state != SROCE_SQ_DRAINING) {
		plan_drop(plan, SROCE_DROP_STATE);
		return false;
	}
	if (!(pkt->info->flags & SROCE_OPF_RESPONSE) || !sroce_service_is_acked(req->service)) {
		plan_drop(plan, SROCE_DROP_OPCODE);
		return false;
	}
	plan->mode = selective_mode(req, pkt);
	if ((pkt->info->flags & SROCE_OPF_SACK) && plan->mode != SROCE_SELECTIVE_ON) {
		plan_drop(plan, SROCE_DROP_OPCODE);
		return false;
	}
	return true;
}

/**
 * sroce_completer_plan() - decide what a response means; changes nothing
 * @req: the requester
 * @pkt: a parsed packet; @pkt->sack points to the payload of a selective ACK
 * @plan: filled in
 */
void sroce_completer_plan(const struct sroce_requester *req, const struct sroce_packet *pkt,
			  struct sroce_ack_plan *plan)
{
	/* A selective ACK without a new cumulative ACK may still have new bits. */
	u32 psn = pkt->info->flags & SROCE_OPF_SACK ? psn_add(pkt->psn, 1) : pkt->psn;
	u32 sent = sroce_requester_forward(req, req->sent_psn);

	memset(plan, 0, sizeof(*plan));
	plan->executed_psn = req->sb.executed_psn;
	plan->count = pkt->count;
	plan->mode = req->sb.mode;
	if (!check_expected_response(req, pkt, plan))
		return;
	if (psn != pkt->psn)
		sent++;
	if (sroce_requester_forward(req, psn) >= sent) {
		plan_drop(plan, psn_before(psn, req->unacked_psn) ? SROCE_DROP_DUPLICATE :
								    SROCE_DROP_UNSENT);
		return;
	}
	if (psn == pkt->psn && !sroce_requester_locate(req, psn, &plan->index))
		plan_drop(plan, SROCE_DROP_UNSENT);
	else if (pkt->info->flags & (SROCE_OPF_READ | SROCE_OPF_ATOMIC))
		plan_data_response(req, pkt, plan);
	else
		plan_acknowledge(req, pkt, plan);
}

/* The response has changed what is known of the peer. Returns SROCE_REQ_EV_*. */
static u32 change_mode(struct sroce_requester *req, u8 mode)
{
	bool offered = sroce_requester_offers_selective(req);
	u8 before = req->sb.mode;

	if (mode == before)
		return 0;
	req->sb.mode = mode;
	if (mode == SROCE_SELECTIVE_ON) {
		/* A rewind ends here, and what it has counted is no longer at the end. */
		if (req->next_psn != req->sent_psn)
			req->since_ack_req = 0;
		sroce_requester_move_cursor(req, req->sent_psn);
		sroce_scoreboard_restart(req, req->unacked_psn);
		return SROCE_REQ_EV_ACCEPTED;
	}
	if (before == SROCE_SELECTIVE_ON) {
		/* The peer need not respond to parts of READs that were requested again. */
		sroce_rtx_clear(req);
		/* The holes that were left are filled by sending everything again. */
		if (req->sb.executed_psn != req->sent_psn)
			sroce_tlp_go_back(req, req->sb.executed_psn);
	}
	return offered ? SROCE_REQ_EV_WITHDRAWN : 0;
}

/* The peer lost a request, or had no receive WQE for it: send from there again. */
static void go_back(struct sroce_requester *req, const struct sroce_ack_plan *plan, u64 now_ns)
{
	if (plan->rnr) {
		req->rnr_waiting = true;
		req->rnr_until_ns = now_ns + plan->rnr_wait_ns;
		if (req->attr.rnr_retry != SROCE_RNR_RETRY_INFINITE)
			req->rnr_retry_left--;
		/* The peer is alive, and has executed all before; a late NAK does no harm. */
		if (plan->mode != SROCE_SELECTIVE_ON) {
			req->retry_left = req->attr.retry_cnt;
			/* Unless the ACK timer still runs for an earlier READ. */
			if (plan->executed_psn == req->unacked_psn)
				req->timeout_shift = 0;
		}
	} else {
		req->retry_left--;
		sroce_cc_lost(&req->cc, SROCE_CC_RETRANSMIT, now_ns);
		/* Repeated requests may be lost, too, and only a probe would tell. */
		sroce_rtx_clear(req);
	}
	sroce_tlp_go_back(req, plan->executed_psn);
}

/* A request that was rejected earlier fails now if it has become the oldest. */
static void fail_rejected(struct sroce_requester *req, const struct sroce_ack_plan *plan)
{
	struct sroce_send_wqe *wqe;

	if (plan->early_nak)
		sroce_requester_wqe(req, plan->index)->status = plan->status;
	wqe = sroce_requester_wqe(req, req->acked);
	/* A WQE without PSNs was invalid when posted, and requester_plan.c lets it fail. */
	if (req->acked != req->posted && wqe->psn_count && wqe->status != SROCE_WC_SUCCESS)
		sroce_requester_fail(req, req->acked, wqe->status);
}

/**
 * sroce_completer_commit() - act on a response
 * @req: the requester, unchanged since the plan was made
 * @plan: the plan
 * @placed: outcome of placing the payload; SROCE_MEM_OK when there was none; if pages were not
 *          present, the response is requested again
 * @now_ns: monotonic time
 *
 * Return: SROCE_REQ_EV_*, 0 for none.
 */
u32 sroce_completer_commit(struct sroce_requester *req, const struct sroce_ack_plan *plan,
			   enum sroce_mem_status placed, u64 now_ns)
{
	u32 events;

	req->responded |= plan->action != SROCE_ACK_DROP || plan->reason == SROCE_DROP_DUPLICATE;
	if (plan->action == SROCE_ACK_DROP)
		return 0;
	events = change_mode(req, plan->mode);
	if (plan->rewind)
		sroce_tlp_nak(req, plan->rnr);
	sroce_scoreboard_ack(req, plan, placed, now_ns);
	/* With a bad buffer, ignore it while earlier READs are open: it will be requested again. */
	if (placed == SROCE_MEM_NOT_PRESENT)
		sroce_scoreboard_unplaced(req, plan);
	else if (placed != SROCE_MEM_OK && is_oldest(req, plan->index))
		sroce_requester_fail(req, plan->index, SROCE_WC_LOC_PROT_ERR);
	else if (plan->action == SROCE_ACK_FAIL)
		sroce_requester_fail(req, plan->index, plan->status);
	else if (plan->rewind)
		go_back(req, plan, now_ns);
	fail_rejected(req, plan);
	return events;
}
