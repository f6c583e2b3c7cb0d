// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder of a UC queue pair. Nothing is acknowledged. A message of which a packet is missing
 * or invalid is dropped: the responder ignores what is left of it, and waits for the first packet
 * of another (IBTA 9.8.2). A bad packet does not end the connection, because anybody can send one.
 *
 * The receive WQE of a dropped SEND serves the next message (IBTA 9.9.3, class D). One of a shared
 * queue cannot go back, and must not wait for a message that may never come: it completes in error,
 * and the QP stays (class E).
 */
#include <linux/string.h>

#include "transport/psn.h"
#include "transport/responder_internal.h"
#include "transport/uc.h"

static void plan_message_drop(struct sroce_recv_plan *plan, enum sroce_drop_reason reason)
{
	memset(plan, 0, sizeof(*plan));
	plan->verdict = SROCE_RECV_DROP;
	plan->reason = reason;
}

/* RC would report these to the peer. */
static void adapt_plan(struct sroce_recv_plan *plan)
{
	switch (plan->verdict) {
	case SROCE_RECV_PLACE:
		return;
	case SROCE_RECV_NAK:
		if (plan->syndrome == SROCE_NAK_REMOTE_OPERATION) {
			/* The receive WQE is invalid, and completes with @plan->wc_status. */
			plan->verdict = SROCE_RECV_PLACE;
			return;
		}
		plan_message_drop(plan, plan->wc_status == SROCE_WC_LOC_LEN_ERR ?
				  SROCE_DROP_LENGTH : SROCE_DROP_INVALID);
		return;
	default:
		plan_message_drop(plan, SROCE_DROP_NO_WQE);
	}
}

/**
 * sroce_uc_plan() - decide what a request means; changes nothing
 * @resp: the responder of a UC queue pair
 * @pkt: a parsed packet
 * @plan: filled in: SROCE_RECV_DROP or SROCE_RECV_PLACE
 */
void sroce_uc_plan(const struct sroce_responder *resp, const struct sroce_packet *pkt,
		   struct sroce_recv_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	if (resp->state != SROCE_RQ_READY) {
		plan_message_drop(plan, SROCE_DROP_STATE);
	} else if (!sroce_responder_is_addressed(resp, pkt)) {
		plan_message_drop(plan, SROCE_DROP_OPCODE);
	} else if (!sroce_uc_is_in_order(resp, pkt)) {
		/* A late packet that begins no message is not part of the one in progress. */
		plan_message_drop(plan, psn_before(pkt->psn, resp->epsn) ? SROCE_DROP_DUPLICATE :
									   SROCE_DROP_GAP);
	} else {
		sroce_responder_plan_expected(resp, pkt, plan);
		adapt_plan(plan);
	}
}

/* Only a SEND in progress may hold a receive WQE of a shared queue. */
static void give_up_shared_rwqe(struct sroce_responder *resp)
{
	if (resp->attr.shares_rwqes && resp->has_recv_wqe && !(resp->message & SROCE_OPF_SEND))
		sroce_responder_complete(resp, SROCE_WC_REM_INV_REQ_ERR);
}

/* Its other packets will continue no message. */
static void drop_message(struct sroce_responder *resp, const struct sroce_packet *pkt)
{
	resp->message = 0;
	resp->received_bytes = 0;
	WRITE_ONCE(resp->epsn, psn_add(pkt->psn, pkt->count));
	give_up_shared_rwqe(resp);
}

static bool is_late_or_stray(const struct sroce_recv_plan *plan)
{
	return plan->reason == SROCE_DROP_STATE || plan->reason == SROCE_DROP_OPCODE ||
	       plan->reason == SROCE_DROP_DUPLICATE;
}

/* The mistake is the consumer's: the QP goes to ERR. */
static void fail_recv_wqe(struct sroce_responder *resp, u8 status)
{
	resp->state = SROCE_RQ_FAILED;
	if (resp->has_recv_wqe)
		sroce_responder_complete(resp, status);
}

/**
 * sroce_uc_plan_loss() - a request of UC or UD can neither be placed now nor wait
 * @plan: of the request; changed to drop it as without a receive WQE: UC drops the rest of its
 *	message, too
 */
void sroce_uc_plan_loss(struct sroce_recv_plan *plan)
{
	*plan = (struct sroce_recv_plan) {
		.verdict = SROCE_RECV_DROP,
		.reason = SROCE_DROP_NO_WQE,
		.wc_status = SROCE_WC_SUCCESS,
	};
}

/**
 * sroce_uc_commit() - act on a request
 * @resp: the responder, unchanged since the plan was made
 * @pkt: the packet
 * @plan: the plan
 * @result: @result->status is the outcome of placing the payload
 *
 * Return: false if the message had to be dropped because the peer may not write where it wants to.
 */
bool sroce_uc_commit(struct sroce_responder *resp, const struct sroce_packet *pkt,
		     const struct sroce_recv_plan *plan, const struct sroce_recv_result *result)
{
	if (plan->verdict == SROCE_RECV_DROP) {
		if (!is_late_or_stray(plan))
			drop_message(resp, pkt);
		return true;
	}
	if (plan->wc_status != SROCE_WC_SUCCESS) {
		fail_recv_wqe(resp, plan->wc_status);
		return true;
	}
	if (result->status == SROCE_MEM_BAD_LOCAL) {
		fail_recv_wqe(resp, SROCE_WC_LOC_PROT_ERR);
		return true;
	}
	if (result->status != SROCE_MEM_OK) {
		drop_message(resp, pkt);
		return false;
	}
	sroce_responder_establish(resp);
	WRITE_ONCE(resp->epsn, pkt->psn);
	sroce_responder_placed(resp, pkt, plan);
	give_up_shared_rwqe(resp);
	return true;
}
