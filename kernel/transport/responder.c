// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The responder of an RC queue pair. It decides whether a request is valid and what must be done
 * with memory, and applies the outcome. response.c decides what is sent back to the peer.
 *
 * Checks run in the order of IBTA chapter 9, which readers of rxe know:
 *
 *   check_psn -> sequence_is_valid -> opcode_is_valid -> check_length
 *   -> (the datapath: access, execute) -> commit
 *
 * A request that fails a check gets a NAK that ends the connection. There are two exceptions: a
 * gap in the PSNs, and no receive WQE. A gap is reported by a NAK to a standard peer, by SACKs to a
 * selective one as long as there is room; a missing WQE by an RNR NAK. Packets behind either are
 * queued (reorder.c) or dropped silently until the expected packet arrives. A duplicate request
 * never ends the connection.
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/opcode.h"
#include "transport/psn.h"
#include "transport/reorder.h"
#include "transport/responder_resources.h"
#include "transport/responder_internal.h"
#include "transport/time.h"
#include "transport/uc.h"

/**
 * sroce_responder_init() - set up a receive queue in RESET
 * @resp: the responder
 * @service: enum sroce_service
 * @recv: storage of the current receive WQE, owned by the datapath
 */
void sroce_responder_init(struct sroce_responder *resp, enum sroce_service service,
			  struct sroce_recv_wqe *recv)
{
	memset(resp, 0, sizeof(*resp));
	resp->service = service;
	resp->recv = recv;
	resp->reorder.nak_at_ns = SROCE_NEVER;
	resp->reorder.rnr_nak_at_ns = SROCE_NEVER;
}

/**
 * sroce_responder_reset() - the QP moves to RESET: keep only the storage
 * @resp: the responder
 */
void sroce_responder_reset(struct sroce_responder *resp)
{
	struct sroce_resources resources = resp->resources;

	sroce_responder_init(resp, resp->service, resp->recv);
	sroce_resources_init(&resp->resources, resources.storage, resources.capacity);
}

/**
 * sroce_responder_start_psn() - set the PSN expected first (rq_psn)
 * @resp: the responder
 * @psn: 24 bits
 */
void sroce_responder_start_psn(struct sroce_responder *resp, u32 psn)
{
	resp->epsn = psn & SROCE_PSN_MASK;
}

/**
 * sroce_responder_complete() - the current receive WQE completes
 * @resp: the responder
 * @status: enum sroce_wc_status
 *
 * Return: the completion, for more about a message that has arrived.
 */
struct sroce_completion *sroce_responder_complete(struct sroce_responder *resp, u8 status)
{
	resp->wc = (struct sroce_completion) {
		.wr_id = resp->recv->wr_id,
		.status = status,
		.opcode = SROCE_WC_RECV,
	};
	resp->wc_pending = true;
	resp->has_recv_wqe = false;
	return &resp->wc;
}

/**
 * sroce_responder_set_state() - follow the QP's state
 * @resp: the responder
 * @state: new state; in ERROR the current receive WQE completes as flushed
 */
void sroce_responder_set_state(struct sroce_responder *resp, enum sroce_rq_state state)
{
	resp->state = state;
	if (state != SROCE_RQ_ERROR)
		return;
	resp->ack_pending = false;
	resp->nak_pending = false;
	resp->dup_nak_pending = false;
	sroce_reorder_clear(resp);
	if (resp->has_recv_wqe && !resp->wc_pending)
		sroce_responder_complete(resp, SROCE_WC_WR_FLUSH_ERR);
}

/**
 * sroce_responder_establish() - a request of the peer has come in
 * @resp: the responder
 */
void sroce_responder_establish(struct sroce_responder *resp)
{
	if (resp->established)
		return;
	resp->established = true;
	resp->event = SROCE_EVENT_COMM_EST;
}

/**
 * sroce_responder_is_addressed() - is this a request of the QP's service?
 * @resp: the responder
 * @pkt: a parsed packet
 *
 * Return: whether it is.
 */
bool sroce_responder_is_addressed(const struct sroce_responder *resp,
				  const struct sroce_packet *pkt)
{
	return (pkt->info->flags & SROCE_OPF_REQUEST) &&
	       (pkt->opcode & SROCE_SERVICE_MASK) == resp->service;
}

/* Does the opcode continue the message in progress, or start one when there is none? */
static bool sequence_is_valid(const struct sroce_responder *resp, const struct sroce_packet *pkt)
{
	if (pkt->info->flags & SROCE_OPF_FIRST)
		return !resp->message;
	return resp->message && (pkt->info->flags & resp->message);
}

static bool consumes_wqe(const struct sroce_packet *pkt)
{
	u32 flags = pkt->info->flags;

	if (flags & SROCE_OPF_SEND)
		return flags & SROCE_OPF_FIRST;
	return flags & SROCE_OPF_IMM;
}

/**
 * sroce_responder_can_coalesce() - may packets that follow this one be handled as one with it?
 * @resp: the responder
 * @pkt: a parsed packet
 *
 * They must have the same header except for the PSN, which increments, and the same payload length.
 * The caller sets @pkt->count to their number and @pkt->payload_bytes to the sum.
 *
 * Return: whether this is the expected packet, and in the middle of a message.
 */
bool sroce_responder_can_coalesce(const struct sroce_responder *resp,
				  const struct sroce_packet *pkt)
{
	/* Each packet of a UC message that has been dropped is counted. */
	if (!sroce_service_is_acked(resp->service) && !resp->message)
		return false;
	return sroce_service_is_connected(resp->service) && pkt->psn == resp->epsn &&
	       !(pkt->info->flags & (SROCE_OPF_FIRST | SROCE_OPF_LAST | SROCE_OPF_XRCETH)) &&
	       sroce_responder_is_addressed(resp, pkt) && !resp->reorder.count;
}

static void plan_nak(struct sroce_recv_plan *plan, enum sroce_nak_code syndrome,
		     enum sroce_wc_status wc_status)
{
	plan->verdict = SROCE_RECV_NAK;
	plan->syndrome = syndrome;
	plan->wc_status = wc_status;
}

/* The peer broke a rule. If a SEND is in progress, its receive WQE completes in error. */
static void plan_invalid(const struct sroce_responder *resp, struct sroce_recv_plan *plan)
{
	plan_nak(plan, SROCE_NAK_INVALID_REQUEST,
		 resp->message & SROCE_OPF_SEND ? SROCE_WC_REM_INV_REQ_ERR : SROCE_WC_SUCCESS);
}

static void plan_duplicate(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			   struct sroce_recv_plan *plan)
{
	u32 flags = pkt->info->flags;

	/* The original was not executed either. */
	if (flags & SROCE_OPF_UNSUPPORTED) {
		plan_request_drop(plan, SROCE_DROP_DUPLICATE);
		return;
	}
	if (!(flags & SROCE_OPF_RD_ATOMIC)) {
		plan->verdict = SROCE_RECV_ACK_AGAIN;
		return;
	}
	sroce_rd_atomic_plan_again(resp, pkt, plan);
}

/* Returns whether the packet is the expected one; else the plan is complete. */
static bool check_psn(const struct sroce_responder *resp, const struct sroce_packet *pkt,
		      struct sroce_recv_plan *plan)
{
	s32 distance = psn_distance(pkt->psn, resp->epsn);

	if (!distance)
		return true;
	if (distance < 0)
		plan_duplicate(resp, pkt, plan);
	else if (sroce_reorder_accepts(resp, pkt, plan))
		plan->verdict = SROCE_RECV_QUEUE;
	else if (resp->nak_scheduled)
		plan_request_drop(plan, SROCE_DROP_SEQUENCE);
	else
		plan_nak(plan, SROCE_NAK_PSN_SEQUENCE, SROCE_WC_SUCCESS);
	return false;
}

/*
 * XRC: is there such a shared receive queue, and do all packets of the message name the same one,
 * also a peer's second try to begin it, for which a WQE has been taken?
 * Its protection domain is that of the access, because the QP has none (IBTA annex A14).
 */
static bool srq_is_valid(const struct sroce_responder *resp, const struct sroce_packet *pkt)
{
	if (resp->service != SROCE_SERVICE_XRC)
		return true;
	if (!pkt->has_srq || (resp->has_recv_wqe && resp->recv->srqn != pkt->srqn))
		return false;
	return pkt->info->flags & SROCE_OPF_FIRST || pkt->srqn == resp->srqn;
}

/* Is the operation supported, and does the QP permit it? */
static bool opcode_is_valid(const struct sroce_responder *resp, const struct sroce_packet *pkt)
{
	u32 flags = pkt->info->flags, needed = sroce_responder_needed_access(pkt);

	if (flags & SROCE_OPF_UNSUPPORTED || (resp->attr.access & needed) != needed)
		return false;
	if (flags & SROCE_OPF_FLUSH && !sroce_flush_is_valid(pkt->placement, pkt->level))
		return false;
	if (!srq_is_valid(resp, pkt))
		return false;
	return !(flags & SROCE_OPF_RD_ATOMIC) || sroce_resources_have_room(&resp->resources);
}

/* FIRST and MIDDLE are full; LAST has at least a byte; ONLY may be empty. */
static bool payload_is_valid(const struct sroce_responder *resp, const struct sroce_packet *pkt)
{
	u32 flags = pkt->info->flags;

	if (!(flags & SROCE_OPF_LAST))
		return pkt->payload_bytes == pkt->count * resp->attr.mtu_bytes;
	if (!(flags & SROCE_OPF_FIRST) && !pkt->payload_bytes)
		return false;
	return pkt->payload_bytes <= resp->attr.mtu_bytes;
}

/**
 * sroce_responder_wants_wqe() - does this packet need another receive WQE?
 * @resp: the responder
 * @pkt: a parsed packet
 *
 * Return: true when the datapath should fetch one into @resp->recv and call
 * sroce_responder_take_wqe(). If none is posted, the plan will be to queue the packet for the RNR
 * delay, or to send an RNR NAK; on UC and UD, to drop it.
 */
bool sroce_responder_wants_wqe(const struct sroce_responder *resp, const struct sroce_packet *pkt)
{
	if (resp->state != SROCE_RQ_READY || resp->has_recv_wqe ||
	    !sroce_responder_is_addressed(resp, pkt))
		return false;
	if (!sroce_service_is_connected(resp->service))
		return pkt->qkey == resp->attr.qkey && pkt->payload_bytes <= resp->attr.mtu_bytes;
	if (!sroce_service_is_acked(resp->service))
		return consumes_wqe(pkt) && sroce_uc_is_in_order(resp, pkt) &&
		       payload_is_valid(resp, pkt);
	return pkt->psn == resp->epsn && consumes_wqe(pkt) && sequence_is_valid(resp, pkt) &&
	       srq_is_valid(resp, pkt);
}

/**
 * sroce_responder_take_wqe() - the datapath has written a WQE to @resp->recv
 * @resp: the responder
 */
void sroce_responder_take_wqe(struct sroce_responder *resp)
{
	resp->has_recv_wqe = true;
}

/**
 * sroce_responder_return_wqe() - the WQE stays in its queue, because the packet does not fit in it
 * @resp: the responder of a UC or UD queue pair, after the plan, which is SROCE_RECV_DROP
 *
 * Otherwise a QP that gets nothing which fits would keep the WQE from the other QPs of a shared
 * receive queue.
 */
void sroce_responder_return_wqe(struct sroce_responder *resp)
{
	resp->has_recv_wqe = false;
}

/* The RETH announces the length of a WRITE; packets must add up to it. */
static bool write_length_is_valid(const struct sroce_responder *resp,
				  const struct sroce_packet *pkt)
{
	u32 flags = pkt->info->flags;
	u32 left = flags & SROCE_OPF_FIRST ? pkt->dma_length : resp->write_left;

	if (left > SROCE_MAX_MESSAGE_BYTES)
		return false;
	return flags & SROCE_OPF_LAST ? pkt->payload_bytes == left : pkt->payload_bytes < left;
}

/* Bytes of the message before this packet. A UC message may begin before the last one has ended. */
static u32 received_before(const struct sroce_responder *resp, const struct sroce_packet *pkt)
{
	return pkt->info->flags & SROCE_OPF_FIRST ? 0 : resp->received_bytes;
}

/* Returns whether the lengths are right; else the plan is complete. */
static bool check_length(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			 struct sroce_recv_plan *plan)
{
	u32 flags = pkt->info->flags;

	if ((flags & (SROCE_OPF_SEND | SROCE_OPF_WRITE) && !payload_is_valid(resp, pkt)) ||
	    (flags & SROCE_OPF_WRITE && !write_length_is_valid(resp, pkt)) ||
	    (flags & SROCE_OPF_RD_ATOMIC && !sroce_rd_atomic_length_is_valid(pkt))) {
		plan_invalid(resp, plan);
		return false;
	}
	/* RNR comes first: without a receive WQE there is no length to compare with. */
	if (consumes_wqe(pkt) && !resp->has_recv_wqe) {
		sroce_reorder_plan_wait(resp, pkt, plan);
		return false;
	}
	if (consumes_wqe(pkt) && resp->recv->status != SROCE_WC_SUCCESS) {
		plan_nak(plan, SROCE_NAK_REMOTE_OPERATION, resp->recv->status);
		return false;
	}
	if (flags & SROCE_OPF_SEND && (u64)received_before(resp, pkt) + pkt->payload_bytes >
	    min(resp->recv->length, SROCE_MAX_MESSAGE_BYTES)) {
		plan_nak(plan, SROCE_NAK_INVALID_REQUEST, SROCE_WC_LOC_LEN_ERR);
		return false;
	}
	return true;
}

static void plan_send(const struct sroce_responder *resp, const struct sroce_packet *pkt,
		      struct sroce_recv_plan *plan)
{
	plan->verdict = SROCE_RECV_PLACE;
	plan->target = pkt->payload_bytes ? SROCE_TARGET_RECV : SROCE_TARGET_NONE;
	plan->offset = received_before(resp, pkt);
	plan->place_bytes = pkt->payload_bytes;
	plan->invalidate = pkt->info->flags & SROCE_OPF_IETH;
	plan->inv_rkey = pkt->inv_rkey;
}

static void plan_write(const struct sroce_responder *resp, const struct sroce_packet *pkt,
		       struct sroce_recv_plan *plan)
{
	bool first = pkt->info->flags & SROCE_OPF_FIRST;

	plan->verdict = SROCE_RECV_PLACE;
	plan->target = pkt->payload_bytes ? SROCE_TARGET_REGION : SROCE_TARGET_NONE;
	plan->access = SROCE_ACCESS_REMOTE_WRITE;
	plan->va = first ? pkt->va : resp->write_va;
	plan->rkey = first ? pkt->rkey : resp->write_rkey;
	plan->check_bytes = first ? pkt->dma_length : pkt->payload_bytes;
	plan->place_bytes = pkt->payload_bytes;
}

/**
 * sroce_responder_plan_expected() - decide what a request means that comes in its turn
 * @resp: the responder of an RC or UC queue pair
 * @pkt: the packet, which continues or starts a message
 * @plan: zeroed; filled in
 */
void sroce_responder_plan_expected(const struct sroce_responder *resp,
				   const struct sroce_packet *pkt, struct sroce_recv_plan *plan)
{
	if (!opcode_is_valid(resp, pkt)) {
		plan_invalid(resp, plan);
		return;
	}
	if (!check_length(resp, pkt, plan))
		return;
	if (pkt->info->flags & SROCE_OPF_SEND)
		plan_send(resp, pkt, plan);
	else if (pkt->info->flags & SROCE_OPF_WRITE)
		plan_write(resp, pkt, plan);
	else
		sroce_rd_atomic_plan(pkt, plan);
}

/**
 * sroce_responder_plan() - decide what a request means; changes nothing
 * @resp: the responder of an RC queue pair
 * @pkt: a parsed packet
 * @plan: filled in
 */
void sroce_responder_plan(const struct sroce_responder *resp, const struct sroce_packet *pkt,
			  struct sroce_recv_plan *plan)
{
	memset(plan, 0, sizeof(*plan));
	if (resp->state != SROCE_RQ_READY) {
		plan_request_drop(plan, SROCE_DROP_STATE);
		return;
	}
	if (!sroce_responder_is_addressed(resp, pkt)) {
		plan_request_drop(plan, SROCE_DROP_OPCODE);
		return;
	}
	if (!check_psn(resp, pkt, plan))
		return;
	if (sequence_is_valid(resp, pkt))
		sroce_responder_plan_expected(resp, pkt, plan);
	else
		plan_invalid(resp, plan);
}

/**
 * sroce_responder_schedule_ack() - an acknowledgement is due
 * @resp: the responder
 * @psn: the newest PSN that it covers
 */
void sroce_responder_schedule_ack(struct sroce_responder *resp, u32 psn)
{
	resp->ack_pending = true;
	resp->ack_psn = psn;
}

/**
 * sroce_responder_schedule_nak() - a NAK is due
 * @resp: the responder
 * @syndrome: of the AETH
 * @psn: the rejected PSN; everything before it is acknowledged
 */
void sroce_responder_schedule_nak(struct sroce_responder *resp, u8 syndrome, u32 psn)
{
	resp->nak_pending = true;
	resp->nak_syndrome = syndrome;
	resp->nak_psn = psn;
	/* The NAK acknowledges everything before @psn. */
	resp->ack_pending = false;
}

/* A fatal NAK; the current receive WQE completes with @wc_status unless that is SUCCESS. */
static void fail_request(struct sroce_responder *resp, enum sroce_nak_code syndrome, u32 psn,
			 enum sroce_wc_status wc_status, enum sroce_rq_event event)
{
	sroce_responder_schedule_nak(resp, syndrome, psn);
	resp->state = SROCE_RQ_FAILED;
	resp->event = event;
	sroce_reorder_clear(resp);
	if (wc_status == SROCE_WC_SUCCESS || !resp->has_recv_wqe)
		return;
	sroce_responder_complete(resp, wc_status);
	/* The completion reports the error; an event is for errors without a completion. */
	resp->event = SROCE_EVENT_NONE;
}

static void commit_nak(struct sroce_responder *resp, const struct sroce_recv_plan *plan)
{
	if (plan->syndrome == SROCE_NAK_PSN_SEQUENCE) {
		sroce_reorder_schedule_nak(resp);
		return;
	}
	fail_request(resp, plan->syndrome, resp->epsn, plan->wc_status, SROCE_EVENT_REQ_ERR);
}

/* Duplicate SEND or WRITE: acknowledge everything before the next READ or atomic response. */
static void commit_ack_again(struct sroce_responder *resp, const struct sroce_packet *pkt)
{
	u32 psn = resp->epsn, request_psn;

	if (sroce_resources_first_between(&resp->resources, pkt->psn, psn, &request_psn))
		psn = request_psn;
	psn = psn_add(psn, SROCE_PSN_MASK);
	/* A pending ACK that covers more stays. */
	if (resp->ack_pending && psn_before(psn, resp->ack_psn))
		return;
	sroce_responder_schedule_ack(resp, psn);
}

static void accept_packet(struct sroce_responder *resp, u32 psn_count)
{
	WRITE_ONCE(resp->epsn, psn_add(resp->epsn, psn_count));
	sroce_resources_forget(&resp->resources, resp->epsn);
	/* The NAK of the gap is obsolete if it has not been sent yet. */
	resp->nak_pending = false;
	/* So is the NAK of a duplicate when its PSN is about to be used again. */
	if (((resp->epsn - resp->dup_nak_psn) & SROCE_PSN_MASK) >= SROCE_PSN_SPAN)
		resp->dup_nak_pending = false;
}

static void complete_recv(struct sroce_responder *resp, const struct sroce_packet *pkt)
{
	u32 flags = pkt->info->flags;
	struct sroce_completion *wc = sroce_responder_complete(resp, SROCE_WC_SUCCESS);

	if (flags & SROCE_OPF_WRITE)
		wc->opcode = SROCE_WC_RECV_WRITE_IMM;
	wc->byte_len = resp->received_bytes;
	wc->solicited = pkt->solicited;
	wc->src_qpn = resp->attr.dest_qpn;
	if (flags & SROCE_OPF_IMM) {
		wc->flags = SROCE_WC_WITH_IMM;
		wc->imm = pkt->imm;
	} else if (flags & SROCE_OPF_IETH) {
		wc->flags = SROCE_WC_WITH_INVALIDATE;
		wc->invalidate_rkey = pkt->inv_rkey;
	}
}

static void fail_memory(struct sroce_responder *resp, const struct sroce_recv_result *result)
{
	switch (result->status) {
	case SROCE_MEM_BAD_LOCAL:
		fail_request(resp, SROCE_NAK_REMOTE_OPERATION, resp->epsn, SROCE_WC_LOC_PROT_ERR,
			     SROCE_EVENT_FATAL);
		return;
	case SROCE_MEM_MISALIGNED:
		fail_request(resp, SROCE_NAK_INVALID_REQUEST, resp->epsn, SROCE_WC_SUCCESS,
			     SROCE_EVENT_REQ_ERR);
		return;
	default:
		fail_request(resp, SROCE_NAK_REMOTE_ACCESS, resp->epsn, SROCE_WC_SUCCESS,
			     SROCE_EVENT_ACCESS_ERR);
	}
}

/**
 * sroce_responder_placed() - the payload of the expected packet has been placed
 * @resp: the responder of an RC or UC queue pair
 * @pkt: the packet
 * @plan: its plan
 *
 * At the end of a message that needs one, the receive WQE completes.
 */
void sroce_responder_placed(struct sroce_responder *resp, const struct sroce_packet *pkt,
			    const struct sroce_recv_plan *plan)
{
	u32 flags = pkt->info->flags;

	if (flags & SROCE_OPF_WRITE) {
		if (flags & SROCE_OPF_FIRST)
			resp->write_left = pkt->dma_length;
		resp->write_va = plan->va + pkt->payload_bytes;
		resp->write_rkey = plan->rkey;
		resp->write_left -= pkt->payload_bytes;
	}
	resp->received_bytes = received_before(resp, pkt) + pkt->payload_bytes;
	resp->srqn = pkt->srqn;
	resp->message = flags & (SROCE_OPF_SEND | SROCE_OPF_WRITE);
	accept_packet(resp, pkt->count);
	if (flags & SROCE_OPF_LAST) {
		WRITE_ONCE(resp->msn, psn_add(resp->msn, 1));
		if (flags & (SROCE_OPF_SEND | SROCE_OPF_IMM))
			complete_recv(resp, pkt);
		resp->message = 0;
		resp->received_bytes = 0;
	}
}

static void commit_place(struct sroce_responder *resp, const struct sroce_packet *pkt,
			 const struct sroce_recv_plan *plan,
			 const struct sroce_recv_result *result)
{
	bool nak_pending = resp->nak_pending;

	if (result->status != SROCE_MEM_OK) {
		fail_memory(resp, result);
		return;
	}
	if (plan->invalidate && result->invalidated != SROCE_MEM_OK) {
		fail_request(resp, SROCE_NAK_REMOTE_ACCESS, resp->epsn, SROCE_WC_REM_INV_REQ_ERR,
			     SROCE_EVENT_ACCESS_ERR);
		return;
	}
	sroce_responder_placed(resp, pkt, plan);
	/* A NAK that became obsolete may have taken the place of an ACK that was due. */
	if (pkt->ack_req || nak_pending)
		sroce_responder_schedule_ack(resp, psn_add(resp->epsn, SROCE_PSN_MASK));
}

static void commit_rd_atomic(struct sroce_responder *resp, const struct sroce_packet *pkt,
			     const struct sroce_recv_result *result)
{
	if (result->status == SROCE_MEM_OK)
		accept_packet(resp, sroce_rd_atomic_remember(resp, pkt, result));
	else
		fail_memory(resp, result);
}

/**
 * sroce_responder_schedule_rnr_nak() - no receive WQE is posted: the peer must wait
 * @resp: the responder
 */
void sroce_responder_schedule_rnr_nak(struct sroce_responder *resp)
{
	sroce_responder_schedule_nak(resp, SROCE_AETH_RNR_NAK | resp->attr.min_rnr_timer,
				     resp->epsn);
	resp->nak_scheduled = true;
	/* The peer sends everything from here on again after its RNR wait. */
	sroce_reorder_clear(resp);
	resp->reorder.rnr_nak_scheduled = true;
}

/**
 * sroce_responder_commit() - act on a request
 * @resp: the responder, unchanged since the plan was made
 * @pkt: the packet
 * @plan: the plan
 * @result: what became of it; ignored for verdicts without memory access
 * @now_ns: monotonic time
 */
void sroce_responder_commit(struct sroce_responder *resp, const struct sroce_packet *pkt,
			    const struct sroce_recv_plan *plan,
			    const struct sroce_recv_result *result, u64 now_ns)
{
	u32 epsn = resp->epsn;

	if (plan->verdict == SROCE_RECV_DROP)
		return;
	sroce_responder_establish(resp);
	sroce_reorder_note_offer(resp, pkt, plan, now_ns);
	switch (plan->verdict) {
	case SROCE_RECV_ACK_AGAIN:
		commit_ack_again(resp, pkt);
		return;
	case SROCE_RECV_NAK:
		commit_nak(resp, plan);
		return;
	case SROCE_RECV_RNR:
		sroce_responder_schedule_rnr_nak(resp);
		return;
	case SROCE_RECV_QUEUE:
		sroce_reorder_commit(resp, pkt, plan, result->status == SROCE_MEM_OK, now_ns);
		return;
	case SROCE_RECV_PLACE:
		commit_place(resp, pkt, plan, result);
		break;
	case SROCE_RECV_READ:
	case SROCE_RECV_ATOMIC:
	case SROCE_RECV_FLUSH:
		commit_rd_atomic(resp, pkt, result);
		break;
	case SROCE_RECV_REPLAY:
		sroce_rd_atomic_replay(resp, pkt, plan, result);
		return;
	}
	if (resp->epsn != epsn)
		sroce_reorder_advance(resp, epsn, now_ns);
}

/**
 * sroce_responder_next_completion() - pull the completion of the last commit
 * @resp: the responder
 * @wc: filled in when true is returned
 *
 * To be called after every commit, because only one is stored.
 *
 * Return: whether there is a completion.
 */
bool sroce_responder_next_completion(struct sroce_responder *resp, struct sroce_completion *wc)
{
	if (!resp->wc_pending)
		return false;
	*wc = resp->wc;
	resp->wc_pending = false;
	return true;
}

/**
 * sroce_responder_take_event() - the asynchronous event of the last commit
 * @resp: the responder
 *
 * Return: enum sroce_rq_event; SROCE_EVENT_NONE when called again.
 */
enum sroce_rq_event sroce_responder_take_event(struct sroce_responder *resp)
{
	enum sroce_rq_event event = resp->event;

	resp->event = SROCE_EVENT_NONE;
	return event;
}
