// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The sending half of a QP: which packet next, what when no answer comes.
 *
 * The state of the conversation is little more than three PSNs: unacked_psn
 * (the oldest one not acknowledged), next_psn (the next one to send) and
 * sent_psn (one past the newest ever sent). Retransmission is go-back-N: it
 * moves next_psn back to unacked_psn and lets the ordinary path send again.
 * A READ whose responses stopped half-way is requested again from there.
 *
 * Distances are counted forward from unacked_psn, so that they stay right for
 * a READ of 2^23 responses, the longest there is.
 *
 * A sender that stops for an answer must have asked for one: see wants_ack().
 */
#include <linux/minmax.h>
#include <linux/string.h>

#include "transport/psn.h"
#include "transport/requester.h"

/* What is sent at first after a retry. */
#define RETRY_PACKETS	16u
/* Expiries in a row that double the ACK timeout. */
#define MAX_TIMEOUT_SHIFT	2

static u32 forward(const struct sroce_requester *req, u32 psn)
{
	return (psn - req->unacked_psn) & SROCE_PSN_MASK;
}

static bool is_data(const struct sroce_send_wqe *wqe)
{
	return wqe->psn_count && !wqe_is_rd_atomic(wqe->opcode);
}

static u64 deadline_after(const struct sroce_requester *req, u64 now_ns)
{
	return req->attr.ack_timeout_ns ?
	       now_ns + (req->attr.ack_timeout_ns << req->timeout_shift) : SROCE_NEVER;
}

static void reset_retries(struct sroce_requester *req)
{
	req->retry_left = req->attr.retry_cnt;
	req->rnr_retry_left = req->attr.rnr_retry;
	req->implied_nak_valid = false;
	req->timeout_shift = 0;
}

/**
 * sroce_requester_init() - set up a send queue in RESET
 * @req: the requester
 * @service: RC or UD
 * @ring: storage, owned by the shell, at least @slots * @stride bytes
 * @stride: bytes of a slot: struct sroce_send_wqe and its SGEs or inline data
 * @slots: a power of two
 */
void sroce_requester_init(struct sroce_requester *req, enum sroce_service service, void *ring,
			  u32 stride, u32 slots)
{
	memset(req, 0, sizeof(*req));
	req->service = service;
	req->ring = ring;
	req->stride = stride;
	req->ring_mask = slots - 1;
	req->ack_deadline_ns = SROCE_NEVER;
}

/**
 * sroce_requester_reset() - forget everything but the storage: QP to RESET
 * @req: the requester
 */
void sroce_requester_reset(struct sroce_requester *req)
{
	sroce_requester_init(req, req->service, req->ring, req->stride, req->ring_mask + 1);
}

/**
 * sroce_requester_start_psn() - set the PSN of the first packet (sq_psn)
 * @req: the requester, nothing posted
 * @psn: 24 bits
 */
void sroce_requester_start_psn(struct sroce_requester *req, u32 psn)
{
	psn &= SROCE_PSN_MASK;
	req->post_psn = psn;
	req->next_psn = psn;
	req->sent_psn = psn;
	req->unacked_psn = psn;
}

/*
 * Place the cursor on @psn, between unacked_psn and sent_psn, and count afresh
 * what is in flight before it.
 */
static void move_cursor(struct sroce_requester *req, u32 psn)
{
	u32 target = forward(req, psn), start = 0, index;

	req->data_inflight = 0;
	req->rd_inflight = 0;
	req->next_psn = psn;
	for (index = req->acked; index != req->posted; index++) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, index);
		u32 end = start + wqe->psn_count;

		if (!wqe->psn_count) {
			if (!wqe->executed)
				break;
			continue;
		}
		if (index == req->acked)
			end = forward(req, psn_add(wqe->first_psn, wqe->psn_count));
		if (is_data(wqe))
			req->data_inflight += min(target, end) - start;
		if (target < end)
			break;
		if (!is_data(wqe))
			req->rd_inflight++;
		start = end;
	}
	req->send = index;
}

/**
 * sroce_requester_rewind() - send again from the oldest unacknowledged packet
 * @req: the requester
 */
void sroce_requester_rewind(struct sroce_requester *req)
{
	move_cursor(req, req->unacked_psn);
	req->since_ack_req = 0;
	req->data_limit = max(req->data_limit / 2, RETRY_PACKETS);
	req->rd_limit = 1;
	req->ack_deadline_ns = SROCE_NEVER;
}

/*
 * Packets before @end_psn are out that did not ask for an ACK, because more
 * were expected to follow at once; now they do not. Send the last one again,
 * to ask.
 */
static void ask_again(struct sroce_requester *req, u32 end_psn)
{
	if (!req->since_ack_req || !psn_before(req->unacked_psn, end_psn))
		return;
	move_cursor(req, psn_add(end_psn, SROCE_PSN_MASK));
	req->since_ack_req = 0;
	/* The timer runs from the first packet in flight. */
	if (req->next_psn == req->unacked_psn)
		req->ack_deadline_ns = SROCE_NEVER;
}

/**
 * sroce_requester_set_state() - follow the QP's state
 * @req: the requester
 * @state: new state
 */
void sroce_requester_set_state(struct sroce_requester *req, enum sroce_sq_state state)
{
	if (state == SROCE_SQ_ERROR) {
		sroce_requester_fail(req, req->posted, SROCE_WC_WR_FLUSH_ERR);
		return;
	}
	if (state == SROCE_SQ_READY) {
		reset_retries(req);
		req->data_limit = req->attr.window_packets;
		req->rd_limit = req->attr.max_rd_atomic;
	}
	/* SQE to RTS: the PSNs of what was flushed are skipped. */
	if (state == SROCE_SQ_READY && req->state == SROCE_SQ_ERROR)
		sroce_requester_start_psn(req, req->post_psn);
	req->state = state;
	if (state == SROCE_SQ_DRAINING)
		ask_again(req, req->next_psn);
}

/**
 * sroce_requester_is_drained() - has everything begun been finished?
 * @req: the requester
 *
 * Return: in DRAINING: true when no message is under way, so that
 * IB_EVENT_SQ_DRAINED is due; false in every other state.
 */
bool sroce_requester_is_drained(const struct sroce_requester *req)
{
	if (req->state != SROCE_SQ_DRAINING || req->unacked_psn != req->sent_psn)
		return false;
	return req->acked == req->posted ||
	       sroce_requester_wqe(req, req->acked)->first_psn == req->unacked_psn;
}

static u32 count_psns(const struct sroce_requester *req, const struct sroce_send_wqe *wqe)
{
	u32 mtu_bytes = req->attr.mtu_bytes;

	if (wqe_is_local(wqe->opcode) || wqe->status != SROCE_WC_SUCCESS)
		return 0;
	if (wqe_is_atomic(wqe->opcode) || wqe->length <= mtu_bytes || !mtu_bytes)
		return 1;
	return wqe->length / mtu_bytes + !!(wqe->length % mtu_bytes);
}

/**
 * sroce_requester_post() - take over the WQE that was written to the next slot
 * @req: the requester; sroce_requester_room() must not be 0
 *
 * The slot at position @req->posted holds wr_id, opcode, flags, status, length,
 * SGEs and the operation's own fields; the engine sets the rest.
 */
void sroce_requester_post(struct sroce_requester *req)
{
	struct sroce_send_wqe *wqe = sroce_requester_wqe(req, req->posted);

	/* It could never be sent, and must not wait for ever. */
	if (wqe_is_rd_atomic(wqe->opcode) && !req->attr.max_rd_atomic &&
	    wqe->status == SROCE_WC_SUCCESS)
		wqe->status = SROCE_WC_LOC_QP_OP_ERR;
	wqe->executed = false;
	wqe->first_psn = req->post_psn;
	wqe->psn_count = count_psns(req, wqe);
	req->post_psn = psn_add(req->post_psn, wqe->psn_count);
	req->posted++;
}

/* Position of the WQE the cursor is on: local operations done are behind it. */
static u32 cursor_index(const struct sroce_requester *req)
{
	u32 index = req->send;

	while (index != req->posted && sroce_requester_wqe(req, index)->executed)
		index++;
	return index;
}

/* Would the WQE after @index go out without waiting for anything? */
static bool next_follows_at_once(const struct sroce_requester *req, u32 index)
{
	const struct sroce_send_wqe *next;

	if (req->state != SROCE_SQ_READY || index + 1 == req->posted)
		return false;
	next = sroce_requester_wqe(req, index + 1);
	return next->status == SROCE_WC_SUCCESS && is_data(next) &&
	       !(next->flags & SROCE_SEND_FENCE);
}

static u32 window_packets(const struct sroce_requester *req)
{
	return min(req->attr.window_packets, req->data_limit);
}

/*
 * Must the last packet of the burst ask for an ACK? Yes when a completion waits
 * for it, when nothing more can be sent before an answer comes, and every
 * quarter of a window, so that ACKs clock the sender.
 */
static bool wants_ack(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
		      const struct sroce_send_plan *plan, bool ends_message)
{
	u32 window = window_packets(req);
	u32 sent = plan->packet_count;

	if (ends_message && ((wqe->flags & SROCE_SEND_SIGNALED) ||
			     !next_follows_at_once(req, plan->index)))
		return true;
	return req->data_inflight + sent >= window ||
	       forward(req, req->next_psn) + sent >= SROCE_PSN_SPAN ||
	       req->since_ack_req + sent >= max(window / 4, 1u);
}

static void plan_data(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
		      u32 max_packets, struct sroce_send_plan *plan)
{
	u32 done = (req->next_psn - wqe->first_psn) & SROCE_PSN_MASK;
	u32 left = wqe->psn_count - done;
	u32 outstanding = forward(req, req->next_psn);
	u32 count, mtu_bytes = req->attr.mtu_bytes;

	if (req->data_inflight >= window_packets(req) || outstanding >= SROCE_PSN_SPAN)
		return;
	count = min(left, window_packets(req) - req->data_inflight);
	count = min3(count, max_packets, SROCE_PSN_SPAN - outstanding);
	/* A burst is either all new or all repeated. */
	if (plan->retransmit)
		count = min(count, (req->sent_psn - req->next_psn) & SROCE_PSN_MASK);

	plan->action = SROCE_SEND_PACKETS;
	plan->packet_count = count;
	plan->offset = done * mtu_bytes;
	plan->payload_bytes = count == left ? wqe->length - plan->offset : count * mtu_bytes;
	if (req->service == SROCE_SERVICE_RC)
		plan->ack_req = wants_ack(req, wqe, plan, count == left);
}

static void plan_rd_atomic(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
			   struct sroce_send_plan *plan)
{
	u32 done = (req->next_psn - wqe->first_psn) & SROCE_PSN_MASK;
	u32 outstanding = forward(req, req->next_psn);

	if (req->rd_inflight >= min_t(u32, req->attr.max_rd_atomic, req->rd_limit))
		return;
	if (outstanding + wqe->psn_count - done > SROCE_PSN_SPAN)
		return;
	plan->action = SROCE_SEND_PACKETS;
	plan->packet_count = 1;
	plan->offset = done * req->attr.mtu_bytes;
}

/* SQD: what was begun goes on, nothing new is begun. */
static bool may_begin(const struct sroce_requester *req, const struct sroce_send_wqe *wqe)
{
	return req->state == SROCE_SQ_READY || req->next_psn != wqe->first_psn ||
	       req->next_psn != req->sent_psn;
}

/**
 * sroce_requester_plan() - decide what to send next; changes nothing
 * @req: the requester
 * @max_packets: the longest burst the shell can send now
 * @plan: filled in
 */
void sroce_requester_plan(const struct sroce_requester *req, u32 max_packets,
			  struct sroce_send_plan *plan)
{
	const struct sroce_send_wqe *wqe;

	memset(plan, 0, sizeof(*plan));
	if (req->state != SROCE_SQ_READY && req->state != SROCE_SQ_DRAINING)
		return;
	if (req->rnr_waiting || !max_packets)
		return;
	plan->index = cursor_index(req);
	if (plan->index == req->posted)
		return;

	wqe = sroce_requester_wqe(req, plan->index);
	plan->first_psn = req->next_psn;
	plan->retransmit = req->next_psn != req->sent_psn;
	if (wqe->status != SROCE_WC_SUCCESS) {
		if (plan->index == req->acked)
			plan->action = SROCE_SEND_FAIL;
		return;
	}
	if (!may_begin(req, wqe))
		return;
	if ((wqe->flags & SROCE_SEND_FENCE) && req->rd_inflight &&
	    req->next_psn == wqe->first_psn)
		return;

	if (wqe_is_local(wqe->opcode))
		plan->action = SROCE_SEND_LOCAL;
	else if (wqe_is_rd_atomic(wqe->opcode))
		plan_rd_atomic(req, wqe, plan);
	else
		plan_data(req, wqe, max_packets, plan);
}

static u8 send_opcode(const struct sroce_send_wqe *wqe, bool first, bool last)
{
	if (!last)
		return first ? SROCE_OP_SEND_FIRST : SROCE_OP_SEND_MIDDLE;
	switch (wqe->opcode) {
	case SROCE_WR_SEND_IMM:
		return first ? SROCE_OP_SEND_ONLY_IMM : SROCE_OP_SEND_LAST_IMM;
	case SROCE_WR_SEND_INV:
		return first ? SROCE_OP_SEND_ONLY_INV : SROCE_OP_SEND_LAST_INV;
	default:
		return first ? SROCE_OP_SEND_ONLY : SROCE_OP_SEND_LAST;
	}
}

static u8 write_opcode(const struct sroce_send_wqe *wqe, bool first, bool last)
{
	if (!last)
		return first ? SROCE_OP_WRITE_FIRST : SROCE_OP_WRITE_MIDDLE;
	if (wqe->opcode == SROCE_WR_WRITE_IMM)
		return first ? SROCE_OP_WRITE_ONLY_IMM : SROCE_OP_WRITE_LAST_IMM;
	return first ? SROCE_OP_WRITE_ONLY : SROCE_OP_WRITE_LAST;
}

static u8 packet_opcode(const struct sroce_requester *req, const struct sroce_send_wqe *wqe,
			bool first, bool last)
{
	if (req->service == SROCE_SERVICE_UD)
		return wqe->opcode == SROCE_WR_SEND_IMM ? SROCE_OP_UD_SEND_ONLY_IMM :
							  SROCE_OP_UD_SEND_ONLY;
	switch (wqe->opcode) {
	case SROCE_WR_WRITE:
	case SROCE_WR_WRITE_IMM:
		return write_opcode(wqe, first, last);
	case SROCE_WR_READ:
		return SROCE_OP_READ_REQUEST;
	case SROCE_WR_COMPARE_SWAP:
		return SROCE_OP_COMPARE_SWAP;
	case SROCE_WR_FETCH_ADD:
		return SROCE_OP_FETCH_ADD;
	default:
		return send_opcode(wqe, first, last);
	}
}

/* Fields that only some operations have. */
static void fill_operation(const struct sroce_send_wqe *wqe, const struct sroce_send_plan *plan,
			   struct sroce_packet *pkt)
{
	u32 flags = pkt->info->flags;

	if (flags & SROCE_OPF_RETH) {
		pkt->va = wqe->rdma.remote_addr + plan->offset;
		pkt->rkey = wqe->rdma.rkey;
		pkt->dma_length = wqe->length - plan->offset;
	}
	if (flags & SROCE_OPF_ATOMIC_ETH) {
		bool swaps = wqe->opcode == SROCE_WR_COMPARE_SWAP;

		pkt->va = wqe->atomic.remote_addr;
		pkt->rkey = wqe->atomic.rkey;
		pkt->swap_add = swaps ? wqe->atomic.swap : wqe->atomic.compare_add;
		pkt->compare = swaps ? wqe->atomic.compare_add : 0;
	}
	if (flags & SROCE_OPF_IMM)
		pkt->imm = wqe->imm;
	if (flags & SROCE_OPF_IETH)
		pkt->inv_rkey = wqe->invalidate_rkey;
}

/**
 * sroce_send_plan_packet() - the headers of one packet of a burst
 * @req: the requester
 * @plan: a plan with SROCE_SEND_PACKETS
 * @i: 0 .. @plan->packet_count - 1
 * @pkt: filled in; its payload starts @i * MTU bytes into the burst's
 */
void sroce_send_plan_packet(const struct sroce_requester *req, const struct sroce_send_plan *plan,
			    u32 i, struct sroce_packet *pkt)
{
	const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, plan->index);
	u32 number = ((plan->first_psn - wqe->first_psn) & SROCE_PSN_MASK) + i;
	bool first = number == 0, last = number == wqe->psn_count - 1;

	memset(pkt, 0, sizeof(*pkt));
	pkt->opcode = packet_opcode(req, wqe, first, last);
	pkt->info = sroce_opcode_lookup(pkt->opcode);
	pkt->header_bytes = pkt->info->header_bytes;
	pkt->migreq = true;
	pkt->pkey = req->attr.pkey;
	pkt->dest_qpn = req->attr.dest_qpn;
	pkt->psn = psn_add(plan->first_psn, i);
	pkt->ack_req = plan->ack_req && i == plan->packet_count - 1;
	pkt->solicited = last && (wqe->flags & SROCE_SEND_SOLICITED) &&
			 wqe->opcode != SROCE_WR_WRITE && !wqe_is_rd_atomic(wqe->opcode);
	if (req->service == SROCE_SERVICE_UD) {
		pkt->dest_qpn = wqe->ud.dest_qpn;
		pkt->qkey = wqe->ud.qkey;
		pkt->src_qpn = req->attr.qpn;
	}
	fill_operation(wqe, plan, pkt);
	if (plan->payload_bytes)
		pkt->payload_bytes = min(req->attr.mtu_bytes,
					 plan->payload_bytes - i * req->attr.mtu_bytes);
	pkt->pad_bytes = -pkt->payload_bytes & 3;
}

static void commit_packets(struct sroce_requester *req, const struct sroce_send_plan *plan,
			   u64 now_ns)
{
	struct sroce_send_wqe *wqe = sroce_requester_wqe(req, plan->index);
	u32 end_psn = psn_add(wqe->first_psn, wqe->psn_count);

	if (is_data(wqe)) {
		req->next_psn = psn_add(req->next_psn, plan->packet_count);
		req->data_inflight += plan->packet_count;
		req->since_ack_req = plan->ack_req ? 0 : req->since_ack_req + plan->packet_count;
	} else {
		/* The responses acknowledge all that went before. */
		req->next_psn = end_psn;
		req->rd_inflight++;
		req->since_ack_req = 0;
	}
	if (plan->retransmit)
		req->retransmits += plan->packet_count;
	if (forward(req, req->next_psn) > forward(req, req->sent_psn))
		req->sent_psn = req->next_psn;
	req->send = req->next_psn == end_psn ? plan->index + 1 : plan->index;

	if (req->service == SROCE_SERVICE_UD)
		sroce_requester_advance(req, req->next_psn, now_ns);
	else if (req->ack_deadline_ns == SROCE_NEVER)
		req->ack_deadline_ns = deadline_after(req, now_ns);
}

/**
 * sroce_requester_commit() - the plan has been carried out
 * @req: the requester, unchanged since the plan was made
 * @plan: the plan
 * @status: SROCE_WC_SUCCESS; or why the WQE cannot be sent (a bad local key,
 *          a failed local operation): it then fails in its turn
 * @now_ns: monotonic time
 */
void sroce_requester_commit(struct sroce_requester *req, const struct sroce_send_plan *plan,
			    enum sroce_wc_status status, u64 now_ns)
{
	struct sroce_send_wqe *wqe;

	if (plan->action == SROCE_SEND_NOTHING)
		return;
	wqe = sroce_requester_wqe(req, plan->index);
	if (plan->action == SROCE_SEND_FAIL) {
		sroce_requester_fail(req, plan->index, wqe->status);
		return;
	}
	if (status != SROCE_WC_SUCCESS) {
		wqe->status = status;
		ask_again(req, wqe->first_psn);
		return;
	}
	if (plan->action == SROCE_SEND_LOCAL) {
		wqe->executed = true;
		req->send = plan->index + 1;
		sroce_requester_advance(req, req->unacked_psn, now_ns);
		return;
	}
	commit_packets(req, plan, now_ns);
}

/* The oldest WQE, a READ or atomic, has its answer; it may have been asked for anew. */
static void complete_rd_atomic(struct sroce_requester *req)
{
	if (req->send != req->acked)
		req->rd_inflight--;
	req->rd_limit = min_t(u32, 2 * req->rd_limit, req->attr.max_rd_atomic);
}

/* One step of sroce_requester_advance(): at most to the end of the oldest WQE. */
static u32 advance_within(struct sroce_requester *req, const struct sroce_send_wqe *wqe, u32 count)
{
	u32 end = forward(req, psn_add(wqe->first_psn, wqe->psn_count));
	u32 inflight = forward(req, req->next_psn);
	u32 step = min(count, end);

	if (is_data(wqe)) {
		req->data_inflight -= min(step, inflight);
		req->data_limit = min(req->data_limit + step, req->attr.window_packets);
	}
	req->unacked_psn = psn_add(req->unacked_psn, step);
	if (inflight < step) {
		/* Acknowledged after we had gone back to send it again. */
		req->next_psn = req->unacked_psn;
		req->send = req->acked;
	}
	if (step == end) {
		if (!is_data(wqe))
			complete_rd_atomic(req);
		req->acked++;
		if (req->send == req->acked - 1)
			req->send = req->acked;
	}
	return step;
}

/**
 * sroce_requester_advance() - everything before @unacked_psn is acknowledged
 * @req: the requester
 * @unacked_psn: between the present one and sent_psn
 * @now_ns: monotonic time
 */
void sroce_requester_advance(struct sroce_requester *req, u32 unacked_psn, u64 now_ns)
{
	u32 left = forward(req, unacked_psn);
	bool progress = left != 0;

	while (req->acked != req->posted) {
		struct sroce_send_wqe *wqe = sroce_requester_wqe(req, req->acked);

		if (wqe->executed) {
			if (req->send == req->acked)
				req->send++;
			req->acked++;
			continue;
		}
		if (!left || !wqe->psn_count)
			break;
		left -= advance_within(req, wqe, left);
	}
	if (!progress)
		return;
	reset_retries(req);
	req->rnr_waiting = false;
	req->ack_deadline_ns = req->next_psn == req->unacked_psn ? SROCE_NEVER :
								   deadline_after(req, now_ns);
}

/**
 * sroce_requester_deadline() - when sroce_requester_timeout() wants to be called
 * @req: the requester
 *
 * Return: monotonic nanoseconds, or SROCE_NEVER.
 */
u64 sroce_requester_deadline(const struct sroce_requester *req)
{
	return req->rnr_waiting ? req->rnr_until_ns : req->ack_deadline_ns;
}

/**
 * sroce_requester_timeout() - the deadline may have come
 * @req: the requester
 * @now_ns: monotonic time; early calls do nothing
 */
void sroce_requester_timeout(struct sroce_requester *req, u64 now_ns)
{
	if (now_ns < sroce_requester_deadline(req))
		return;
	if (req->rnr_waiting) {
		req->rnr_waiting = false;
		return;
	}
	req->timeouts++;
	req->implied_nak_valid = false;
	if (!req->retry_left) {
		sroce_requester_fail(req, req->acked, SROCE_WC_RETRY_EXC_ERR);
		return;
	}
	req->retry_left--;
	if (req->timeout_shift < MAX_TIMEOUT_SHIFT)
		req->timeout_shift++;
	sroce_requester_rewind(req);
	req->data_limit = RETRY_PACKETS;
}

/**
 * sroce_requester_fail() - the send queue goes to error
 * @req: the requester
 * @index: position of the WQE at fault; @req->posted when none is
 * @status: its status; all others left are flushed
 */
void sroce_requester_fail(struct sroce_requester *req, u32 index, enum sroce_wc_status status)
{
	if (req->state == SROCE_SQ_ERROR)
		return;
	req->state = SROCE_SQ_ERROR;
	req->error_status = status;
	req->error_index = index;
	req->rnr_waiting = false;
	req->ack_deadline_ns = SROCE_NEVER;
}

static enum sroce_wc_status error_status_of(const struct sroce_requester *req, u32 index)
{
	if (index == req->error_index && req->error_status != SROCE_WC_SUCCESS)
		return req->error_status;
	return SROCE_WC_WR_FLUSH_ERR;
}

/**
 * sroce_requester_next_completion() - pull the next completion, in posting order
 * @req: the requester
 * @wc: filled in when true is returned
 *
 * Slots of unsignaled requests are freed on the way. In error everything left
 * completes, signaled or not.
 *
 * Return: whether there is a completion.
 */
bool sroce_requester_next_completion(struct sroce_requester *req, struct sroce_completion *wc)
{
	while (req->retired != req->posted) {
		const struct sroce_send_wqe *wqe = sroce_requester_wqe(req, req->retired);
		enum sroce_wc_status status = SROCE_WC_SUCCESS;

		if (req->retired == req->acked) {
			if (req->state != SROCE_SQ_ERROR)
				return false;
			status = error_status_of(req, req->retired);
			req->acked++;
			if (req->send == req->retired)
				req->send = req->acked;
		}
		req->retired++;
		if (status == SROCE_WC_SUCCESS && !(wqe->flags & SROCE_SEND_SIGNALED))
			continue;
		memset(wc, 0, sizeof(*wc));
		wc->wr_id = wqe->wr_id;
		wc->status = status;
		wc->opcode = sroce_wqe_wc_opcode(wqe->opcode);
		wc->byte_len = wqe->length;
		return true;
	}
	return false;
}
