// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder of a UD queue pair (GSI included). A datagram is one packet without a response.
 * The first 40 bytes of the receive buffer are for the GRH.
 */
#include <linux/string.h>

#include "transport/responder_internal.h"
#include "transport/ud.h"

static void plan_datagram_drop(struct sroce_recv_plan *plan, enum sroce_drop_reason reason)
{
	plan->verdict = SROCE_RECV_DROP;
	plan->reason = reason;
}

/* The receive WQE is invalid, so it completes with its own status. */
static void plan_datagram_failure(struct sroce_recv_plan *plan)
{
	plan->verdict = SROCE_RECV_PLACE;
	plan->target = SROCE_TARGET_NONE;
	plan->place_bytes = 0;
}

/**
 * sroce_ud_plan() - decide what to do with a datagram; changes nothing
 * @resp: the responder of a UD queue pair
 * @pkt: a parsed packet
 * @plan: filled in: SROCE_RECV_DROP, or SROCE_RECV_PLACE: the GRH goes to
 *        offset 0 of the receive WQE and the payload to @plan->offset
 */
void sroce_ud_plan(const struct sroce_responder *resp, const struct sroce_packet *pkt,
		   struct sroce_recv_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	plan->target = SROCE_TARGET_RECV;
	plan->offset = SROCE_GRH_BYTES;
	plan->place_bytes = pkt->payload_bytes;
	if (resp->state != SROCE_RQ_READY)
		plan_datagram_drop(plan, SROCE_DROP_STATE);
	else if (!(pkt->info->flags & SROCE_OPF_DETH))
		plan_datagram_drop(plan, SROCE_DROP_OPCODE);
	else if (pkt->qkey != resp->attr.qkey)
		plan_datagram_drop(plan, SROCE_DROP_QKEY);
	else if (pkt->payload_bytes > resp->attr.mtu_bytes ||
		 (resp->attr.mad_bytes && pkt->payload_bytes != resp->attr.mad_bytes))
		plan_datagram_drop(plan, SROCE_DROP_LENGTH);
	else if (!resp->has_recv_wqe)
		plan_datagram_drop(plan, SROCE_DROP_NO_WQE);
	else if (resp->recv->status != SROCE_WC_SUCCESS)
		plan_datagram_failure(plan);
	else if (sroce_ud_needs_bytes(pkt) > resp->recv->length)
		plan_datagram_drop(plan, SROCE_DROP_LENGTH);
	else
		plan->verdict = SROCE_RECV_PLACE;
}

/**
 * sroce_ud_commit() - the datagram has been placed, or could not be
 * @resp: the responder, unchanged since the plan was made
 * @pkt: the packet
 * @plan: the plan
 * @result: @result->status is the outcome of placing the payload
 */
void sroce_ud_commit(struct sroce_responder *resp, const struct sroce_packet *pkt,
		     const struct sroce_recv_plan *plan,
		     const struct sroce_recv_result *result)
{
	enum sroce_wc_status status = resp->recv->status;
	struct sroce_completion *wc;

	if (plan->verdict == SROCE_RECV_DROP) {
		/* It cannot go back, and must not wait for a datagram that may never come. */
		if (plan->reason == SROCE_DROP_NO_WQE && resp->attr.shares_rwqes &&
		    resp->has_recv_wqe)
			sroce_responder_complete(resp, SROCE_WC_REM_INV_REQ_ERR);
		return;
	}
	if (result->status != SROCE_MEM_OK)
		status = SROCE_WC_LOC_PROT_ERR;
	if (status != SROCE_WC_SUCCESS)
		resp->state = SROCE_RQ_FAILED;
	WRITE_ONCE(resp->msn, psn_add(resp->msn, 1));
	wc = sroce_responder_complete(resp, status);
	wc->src_qpn = pkt->src_qpn;
	wc->byte_len = SROCE_GRH_BYTES + pkt->payload_bytes;
	wc->solicited = pkt->solicited;
	wc->flags = SROCE_WC_GRH;
	if (pkt->info->flags & SROCE_OPF_IMM) {
		wc->flags |= SROCE_WC_WITH_IMM;
		wc->imm = pkt->imm;
	}
}
