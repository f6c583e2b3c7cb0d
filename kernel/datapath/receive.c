// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The path of a received packet through the datapath. Start reading at sroce_receive().
 *
 * The softirq that received a packet executes it under the lock of its work queue, or queues it
 * (reorder_queue.c, odp_backlog.c). Then it runs the work queue, unless another CPU does (wq.c).
 * The run sends the responses or the next requests. A drop has a reason that is counted and traced.
 */
#include "compat/compat.h"
#include "datapath/ack_delay.h"
#include "datapath/cnp.h"
#include "datapath/mcast.h"
#include "datapath/odp_backlog.h"
#include "datapath/qp.h"
#include "datapath/receive.h"
#include "datapath/reorder_queue.h"
#include "datapath/rx_copy.h"
#include "datapath/xrc.h"
#include "memory/copy.h"
#include "net/rx_cursor.h"
#include "trace.h"
#include "transport/completer.h"
#include "transport/reorder.h"
#include "transport/uc.h"
#include "transport/ud.h"

#define PKEY_FULL	0x8000
#define PKEY_BASE	0x7fff
#define FEW_PACKETS	4

/* A packet that no QP has looked into counts for the port. */
static void count_drop(const struct sroce_rx *rx, enum sroce_counter why)
{
	sroce_count(rx->ep->counters, why);
	trace_sroce_drop(rx->ep->netdev->ifindex, rx->pkt.dest_qpn, why);
}

static void count_drop_of_qp(const struct sroce_qp *qp, const struct sroce_rx *rx,
			     enum sroce_counter why)
{
	sroce_count(sroce_qp_counters(qp), why);
	trace_sroce_drop(rx->ep->netdev->ifindex, rx->pkt.dest_qpn, why);
}

/* Performance management reads none of these counters. */
static const enum sroce_counter plan_drop_counters[] = {
	[SROCE_DROP_NONE] = SROCE_CTR_DROP_STATE,
	[SROCE_DROP_STATE] = SROCE_CTR_DROP_STATE,
	[SROCE_DROP_OPCODE] = SROCE_CTR_DROP_SERVICE,
	[SROCE_DROP_DUPLICATE] = SROCE_CTR_DROP_DUPLICATE,
	[SROCE_DROP_UNSENT] = SROCE_CTR_DROP_UNSENT,
	[SROCE_DROP_SEQUENCE] = SROCE_CTR_DROP_GAP,
	[SROCE_DROP_GAP] = SROCE_CTR_DROP_GAP,
	[SROCE_DROP_SYNDROME] = SROCE_CTR_DROP_SYNDROME,
	[SROCE_DROP_LENGTH] = SROCE_CTR_DROP_LENGTH,
	[SROCE_DROP_QKEY] = SROCE_CTR_DROP_QKEY,
	[SROCE_DROP_NO_WQE] = SROCE_CTR_DROP_NO_WQE,
	[SROCE_DROP_REPLAY] = SROCE_CTR_DROP_REPLAY,
	[SROCE_DROP_INVALID] = SROCE_CTR_DROP_INVALID,
};

static bool pkeys_match(u16 a, u16 b)
{
	return (a & PKEY_BASE) == (b & PKEY_BASE) && ((a | b) & PKEY_FULL);
}

static void count_ack_plan(const struct sroce_qp *qp, const struct sroce_ack_plan *plan)
{
	struct sroce_counters __percpu *counters = sroce_qp_counters(qp);

	if (plan->rnr) {
		sroce_count(counters, SROCE_CTR_RCVD_RNR_ERR);
		sroce_count(counters, SROCE_CTR_RNR_NAK_RETRY_ERR);
	} else if (plan->rewind) {
		sroce_count(counters, SROCE_CTR_RCVD_SEQ_ERR);
		sroce_count(counters, SROCE_CTR_PACKET_SEQ_ERR);
	} else if (plan->status == SROCE_WC_RNR_RETRY_EXC_ERR) {
		sroce_count(counters, SROCE_CTR_RCVD_RNR_ERR);
	} else if (plan->status == SROCE_WC_RETRY_EXC_ERR) {
		sroce_count(counters, SROCE_CTR_RCVD_SEQ_ERR);
	}
}

static void plan_received_response(const struct sroce_qp *qp, const struct sroce_rx *rx,
				   struct sroce_ack_plan *plan)
{
	sroce_completer_plan(&qp->req, &rx->pkt, plan);
	trace_sroce_ack_plan(qp->ibqp.qp_num, rx->pkt.psn, plan);
}

static bool places_response(const struct sroce_ack_plan *plan)
{
	return plan->action == SROCE_ACK_ACCEPT && plan->place_bytes;
}

/*
 * Does the copy check the ICRCs, too? It has then written the payload already, and UC never sends a
 * packet again. So a UC WRITE is checked first. The consumer of a SEND reads its buffer only after
 * the completion.
 */
static bool copy_checks(const struct sroce_qp *qp, const struct sroce_recv_plan *plan)
{
	return plan->verdict == SROCE_RECV_PLACE &&
	       (sroce_qp_is_acked(qp) || plan->target != SROCE_TARGET_REGION);
}

/*
 * Check the ICRCs of coalesced packets unless the copy will. Returns false if some were wrong and
 * have been cut off.
 */
static bool verify_coalesced(struct sroce_rx *rx, u32 copied_bytes)
{
	return rx->pkt.count == 1 || rx->pkt.was_queued || copied_bytes == rx->pkt.payload_bytes ||
	       sroce_rx_verify(rx);
}

/* The send lock is held. If packets turn out to be wrong, the plan is made again. */
static void handle_response(struct sroce_qp *qp, struct sroce_rx *rx)
{
	struct sroce_ack_plan plan __sroce_uninit;
	u8 sack[SROCE_SACK_MAX_BYTES] __sroce_uninit;
	enum sroce_mem_status status = SROCE_MEM_OK;
	u32 count = rx->pkt.count;

	if (rx->pkt.info->flags & SROCE_OPF_SACK) {
		if (skb_copy_bits(rx->skb, rx->pos.offset + rx->pkt.header_bytes, sack,
				  rx->pkt.payload_bytes))
			return;
		rx->pkt.sack = sack;
	}
	plan_received_response(qp, rx, &plan);
	if (!verify_coalesced(rx, places_response(&plan) ? plan.place_bytes : 0))
		plan_received_response(qp, rx, &plan);
	if (plan.action == SROCE_ACK_DROP) {
		count_drop_of_qp(qp, rx, plan_drop_counters[plan.reason]);
		/* A duplicate shows that the peer is alive. */
		sroce_completer_commit(&qp->req, &plan, SROCE_MEM_OK, rx->now_ns);
		return;
	}
	if (places_response(&plan)) {
		status = sroce_rx_copy_response(qp, rx, &plan);
		if (rx->pkt.count != count)
			plan_received_response(qp, rx, &plan);
	}
	if (status == SROCE_MEM_NOT_PRESENT) {
		sroce_paging_begin(qp, &qp->sq);
		count_drop_of_qp(qp, rx, SROCE_CTR_DROP_NOT_PRESENT);
	}
	count_ack_plan(qp, &plan);
	if (plan.action == SROCE_ACK_FAIL || plan.early_nak)
		qp->sq.fault = rx->pkt.syndrome;
	sroce_send_count_events(qp, sroce_completer_commit(&qp->req, &plan, status, rx->now_ns));
	sroce_trace_cc_events(qp, &qp->req.cc, SROCE_SQ);
}

static void place_request(struct sroce_qp *qp, struct sroce_rx *rx,
			  const struct sroce_recv_plan *plan, struct sroce_recv_result *result)
{
	result->status = sroce_rx_copy_request(qp, rx, plan);
	if (!plan->invalidate || result->status != SROCE_MEM_OK)
		return;
	result->invalidated = sroce_memory_invalidate(&qp->dev->memory, sroce_rx_pd(qp, rx),
						      qp->serial, plan->inv_rkey, true);
	if (result->invalidated != SROCE_MEM_OK)
		qp->rq.fault = result->invalidated;
}

static void execute_request(struct sroce_qp *qp, const struct sroce_rx *rx,
			    const struct sroce_recv_plan *plan, struct sroce_recv_result *result)
{
	const struct sroce_mr_range range = {
		.mem = &qp->dev->memory,
		.pd = sroce_rx_pd(qp, rx),
		.qp_serial = qp->serial,
		.key = plan->rkey,
		.va = plan->va,
		.bytes = plan->check_bytes,
		.access = plan->access,
		.wait = &qp->rq.paging.wait,
	};

	switch (plan->verdict) {
	case SROCE_RECV_READ:
	case SROCE_RECV_REPLAY:
		/* No key is needed for 0 bytes, or for the saved result of another operation. */
		result->status = sroce_memory_place(&range, NULL, 0);
		break;
	case SROCE_RECV_ATOMIC:
		result->status = sroce_rx_execute_atomic(rx, &range, plan,
							 &result->atomic_original);
		break;
	case SROCE_RECV_FLUSH:
		result->status = sroce_memory_flush(&range);
		break;
	}
}

static void count_request(struct sroce_qp *qp, const struct sroce_rx *rx,
			  const struct sroce_recv_plan *plan)
{
	struct sroce_counters __percpu *counters = sroce_qp_counters(qp);
	u32 flags = rx->pkt.info->flags;

	switch (plan->verdict) {
	case SROCE_RECV_ACK_AGAIN:
	case SROCE_RECV_REPLAY:
		sroce_ack_delay_suspend(qp);
		sroce_count(counters, SROCE_CTR_DUPLICATE_REQUEST);
		break;
	case SROCE_RECV_NAK:
		if (plan->syndrome != SROCE_NAK_PSN_SEQUENCE)
			break;
		sroce_count(counters, SROCE_CTR_OUT_OF_SEQ_REQUEST);
		sroce_count(counters, SROCE_CTR_OUT_OF_SEQUENCE);
		break;
	case SROCE_RECV_QUEUE:
		if (plan->waits_rwqe)
			break;
		sroce_count(counters, SROCE_CTR_OUT_OF_SEQ_REQUEST);
		sroce_count(counters, SROCE_CTR_OUT_OF_SEQUENCE);
		break;
	case SROCE_RECV_READ:
		sroce_count(counters, SROCE_CTR_RX_READ_REQUESTS);
		break;
	case SROCE_RECV_ATOMIC:
		sroce_count(counters, flags & SROCE_OPF_ATOMIC_WRITE ?
			    SROCE_CTR_RX_WRITE_REQUESTS : SROCE_CTR_RX_ATOMIC_REQUESTS);
		break;
	case SROCE_RECV_PLACE:
		if ((flags & SROCE_OPF_WRITE) && (flags & SROCE_OPF_FIRST))
			sroce_count(counters, SROCE_CTR_RX_WRITE_REQUESTS);
		break;
	}
}

/* A WQE with less room stays in a shared queue. RC rejects a message that is too long instead. */
static u32 least_recv_bytes(const struct sroce_qp *qp, const struct sroce_packet *pkt)
{
	if (!sroce_qp_is_connected(qp))
		return sroce_ud_needs_bytes(pkt);
	return !sroce_qp_is_acked(qp) && pkt->info->flags & SROCE_OPF_SEND ? pkt->payload_bytes : 0;
}

static enum sroce_srq_outcome fetch_recv_wqe(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sroce_recv_wqe *recv = qp->resp.recv;
	struct sroce_srq *srq = rx->srq ?: qp->srq;
	enum sroce_srq_outcome outcome;

	if (!srq)
		return sroce_recv_queue_fetch(qp->recv_queue, recv) ? SROCE_SRQ_TAKEN :
								      SROCE_SRQ_EMPTY;
	outcome = sroce_srq_fetch(srq, recv, least_recv_bytes(qp, &rx->pkt));
	/* Under the lock, as in sroce_xrc_complete(). */
	if (outcome == SROCE_SRQ_LIMIT && rx->srq)
		sroce_srq_dispatch_limit(srq);
	else if (outcome == SROCE_SRQ_LIMIT)
		qp->rq.events |= BIT(IB_EVENT_SRQ_LIMIT_REACHED);
	return outcome;
}

static void plan_request(struct sroce_qp *qp, const struct sroce_rx *rx,
			 struct sroce_recv_plan *plan)
{
	enum sroce_srq_outcome fetched = SROCE_SRQ_EMPTY;
	struct sroce_responder *resp = &qp->resp;

	if (sroce_responder_wants_wqe(resp, &rx->pkt))
		fetched = fetch_recv_wqe(qp, rx);
	if (fetched != SROCE_SRQ_EMPTY)
		sroce_responder_take_wqe(resp);
	if (!sroce_qp_is_connected(qp))
		sroce_ud_plan(resp, &rx->pkt, plan);
	else if (!sroce_qp_is_acked(qp))
		sroce_uc_plan(resp, &rx->pkt, plan);
	else
		sroce_responder_plan(resp, &rx->pkt, plan);
	if (fetched == SROCE_SRQ_SHORT)
		sroce_responder_return_wqe(resp);
	trace_sroce_recv_plan(qp->ibqp.qp_num, rx->pkt.psn, plan);
}

static void queue_if_planned(struct sroce_qp *qp, struct sroce_rx *rx,
			     const struct sroce_recv_plan *plan, struct sroce_recv_result *result)
{
	if (plan->verdict != SROCE_RECV_QUEUE || plan->queued || sroce_reorder_queue_add(qp, rx))
		return;
	count_drop_of_qp(qp, rx, SROCE_CTR_DROP_REORDER_FULL);
	result->status = SROCE_MEM_BAD_LOCAL;
}

static void commit_request(struct sroce_qp *qp, const struct sroce_rx *rx,
			   const struct sroce_recv_plan *plan,
			   const struct sroce_recv_result *result)
{
	struct sroce_responder *resp = &qp->resp;
	struct sroce_completion wc __sroce_uninit;

	if (!sroce_qp_is_connected(qp))
		sroce_ud_commit(resp, &rx->pkt, plan, result);
	else if (sroce_qp_is_acked(qp))
		sroce_responder_commit(resp, &rx->pkt, plan, result, rx->now_ns);
	else if (!sroce_uc_commit(resp, &rx->pkt, plan, result))
		count_drop_of_qp(qp, rx, SROCE_CTR_DROP_INVALID);
	if (sroce_responder_next_completion(resp, &wc)) {
		sroce_count(sroce_qp_counters(qp), SROCE_CTR_RDMA_RECV);
		sroce_wq_post_cqe(qp, &qp->rq, &wc, rx);
	}
}

/* The request of UC or UD can neither be placed now nor wait any longer. */
static void lose_request(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sroce_recv_result result = { .status = SROCE_MEM_OK, .invalidated = SROCE_MEM_OK };
	struct sroce_recv_plan plan;

	count_drop_of_qp(qp, rx, SROCE_CTR_DROP_NOT_PRESENT);
	sroce_uc_plan_loss(&plan);
	commit_request(qp, rx, &plan, &result);
}

/*
 * A page is missing. Returns whether the plan has become another one that must be carried out: to
 * wait, or to drop the packet.
 */
static bool wait_for_pages(struct sroce_qp *qp, struct sroce_rx *rx, struct sroce_recv_plan *plan)
{
	if (sroce_paging_begin(qp, &qp->rq))
		qp->rq.paging.of_response = false;
	if (sroce_qp_is_acked(qp)) {
		sroce_reorder_plan_wait(&qp->resp, &rx->pkt, plan);
		trace_sroce_recv_plan(qp->ibqp.qp_num, rx->pkt.psn, plan);
		return true;
	}
	if (rx->pkt.was_queued || sroce_backlog_add(qp, rx))
		return false;
	count_drop_of_qp(qp, rx, SROCE_CTR_DROP_NOT_PRESENT);
	sroce_uc_plan_loss(plan);
	return true;
}

static void carry_out_request(struct sroce_qp *qp, struct sroce_rx *rx,
			      struct sroce_recv_plan *plan)
{
	struct sroce_recv_result result = { .status = SROCE_MEM_OK, .invalidated = SROCE_MEM_OK };
	u32 count = rx->pkt.count, epsn = sroce_responder_epsn(&qp->resp);
	bool missed_pages;

	if (plan->verdict == SROCE_RECV_PLACE)
		place_request(qp, rx, plan, &result);
	else
		execute_request(qp, rx, plan, &result);
	if (rx->pkt.count != count)
		plan_request(qp, rx, plan);
	missed_pages = result.status == SROCE_MEM_NOT_PRESENT;
	if (missed_pages) {
		result.status = SROCE_MEM_OK;
		if (!wait_for_pages(qp, rx, plan))
			return;
	}
	if (plan->waits_rwqe)
		qp->rq.paging.request_waits = missed_pages;
	if (result.status != SROCE_MEM_OK)
		sroce_paging_forget(&qp->rq.paging);
	count_request(qp, rx, plan);
	queue_if_planned(qp, rx, plan, &result);
	commit_request(qp, rx, plan, &result);
	if (qp->reorder_queue) {
		sroce_reorder_queue_advance(qp, epsn);
		sroce_reorder_queue_flush(qp);
	}
}

static void count_request_drop(const struct sroce_qp *qp, const struct sroce_rx *rx,
			       enum sroce_drop_reason reason)
{
	count_drop_of_qp(qp, rx, plan_drop_counters[reason]);
	if (reason == SROCE_DROP_QKEY)
		atomic_inc(&qp->dev->qkey_violations);
}

/* The receive lock is held. If packets turn out to be wrong, the plan is made again. */
static void execute_in_turn(struct sroce_qp *qp, struct sroce_rx *rx)
{
	struct sroce_recv_plan plan __sroce_uninit;

	sroce_xrc_begin(qp, rx);
	plan_request(qp, rx, &plan);
	if (!verify_coalesced(rx, copy_checks(qp, &plan) ? plan.place_bytes : 0))
		plan_request(qp, rx, &plan);
	if (plan.verdict == SROCE_RECV_DROP)
		count_request_drop(qp, rx, plan.reason);
	carry_out_request(qp, rx, &plan);
	sroce_xrc_end(rx);
}

/* The receive lock is held. */
static void handle_request(struct sroce_qp *qp, struct sroce_rx *rx)
{
	if (likely(!sroce_backlog_waits(qp)))
		execute_in_turn(qp, rx);
	else if (!sroce_backlog_add(qp, rx))
		count_drop_of_qp(qp, rx, SROCE_CTR_DROP_NOT_PRESENT);
}

/**
 * sroce_receive_queued() - handle queued requests that are now expected
 * @qp: the QP, its receive lock held
 * @now_ns: monotonic time
 * @budget: number of packets; reduced by those handled
 */
void sroce_receive_queued(struct sroce_qp *qp, u64 now_ns, u32 *budget)
{
	struct sroce_rx rx __sroce_uninit;
	u32 psn, behind;

	while (*budget && sroce_reorder_next_queued(&qp->resp, &psn)) {
		if (!sroce_reorder_queue_pop(qp, psn, now_ns, &rx))
			return;
		behind = sroce_reorder_queued_behind(&qp->resp, &rx.pkt);
		sroce_reorder_queue_coalesce(qp->reorder_queue, &rx, min(behind, *budget - 1));
		handle_request(qp, &rx);
		sroce_reorder_queue_done(qp, &rx);
		*budget -= rx.pkt.count;
	}
}

/**
 * sroce_receive_backlog() - handle requests that waited for pages, drop those that waited too long
 * @qp: the QP, its receive lock held
 * @now_ns: monotonic time
 * @budget: number of packets; reduced by those handled
 */
void sroce_receive_backlog(struct sroce_qp *qp, u64 now_ns, u32 *budget)
{
	struct sroce_rx rx __sroce_uninit;

	while (*budget && sroce_backlog_first(qp, now_ns, &rx)) {
		if (!qp->rq.paging.pending)
			execute_in_turn(qp, &rx);
		if (qp->rq.paging.pending) {
			if (now_ns < sroce_backlog_deadline(qp))
				return;
			lose_request(qp, &rx);
		}
		sroce_backlog_drop_first(qp);
		--*budget;
	}
}

/*
 * The checks that need no lock of the QP. @is_served: the opcode is of the QP's service. Returns
 * false if the packet has been dropped.
 */
static bool check_packet(struct sroce_rx *rx, bool is_served)
{
	if (!is_served)
		count_drop(rx, SROCE_CTR_DROP_SERVICE);
	else if (!pkeys_match(rx->pkt.pkey, SROCE_PKEY_DEFAULT))
		count_drop(rx, SROCE_CTR_DROP_PKEY);
	else if (!sroce_rx_icrc_ok(rx))
		count_drop(rx, SROCE_CTR_RX_ICRC_ENCAPSULATED);
	else
		return true;
	return false;
}

static bool serves_packet(const struct sroce_qp *qp, const struct sroce_rx *rx)
{
	u32 flags = rx->pkt.info->flags;

	if (flags & SROCE_OPF_CNP)
		return true;
	/* The two ends of an XRC connection differ: an initiator requests, a target responds. */
	if (qp->service == SROCE_SERVICE_XRC &&
	    !(flags & SROCE_OPF_RESPONSE) != sroce_qp_is_xrc_target(qp))
		return false;
	if (flags & SROCE_OPF_SACK)
		return sroce_qp_is_acked(qp);
	return sroce_opcode_service(rx->pkt.opcode) == qp->service;
}

/**
 * struct receiver - the QP that the packets of an skb are for
 * @qp: the QP of the last packet, a reference to it; or NULL
 * @wq: its work queue that is locked and will be run; or NULL
 * @matches: the addresses of the skb match the path of @wq
 * @marked: @qp has been told about the skb's ECN mark
 * @counted: the marks of all packets have been counted
 */
struct receiver {
	struct sroce_qp *qp;
	struct sroce_wq *wq;
	bool	matches;
	bool	marked;
	bool	counted;
};

/* All packets for this work queue are in: run it. */
static void run_locked_wq(struct receiver *to, const struct sroce_rx *rx)
{
	if (!to->wq)
		return;
	/* switch_wq() has locked it, which sparse cannot follow. */
	__acquire(&to->wq->lock);
	/* A long skb takes so long that its time of arrival is no longer the current time. */
	if (rx->packets <= FEW_PACKETS)
		to->wq->now_ns = rx->now_ns;
	sroce_wq_run(to->qp, to->wq, true);
	to->wq = NULL;
}

static void switch_wq(struct receiver *to, struct sroce_wq *wq, const struct sroce_rx *rx)
{
	if (to->wq == wq)
		return;
	run_locked_wq(to, rx);
	spin_lock_bh(&wq->lock);
	__release(&wq->lock);
	to->wq = wq;
	to->matches = sroce_wq_path_matches(to->qp, wq, rx);
}

static void release_qp(struct receiver *to, const struct sroce_rx *rx)
{
	run_locked_wq(to, rx);
	if (to->qp)
		sroce_qp_put(to->qp);
	to->qp = NULL;
}

/* Returns whether there is a QP with the packet's destination number. */
static bool find_qp(struct receiver *to, struct sroce_rx *rx)
{
	if (to->qp && to->qp->ibqp.qp_num == rx->pkt.dest_qpn)
		return true;
	release_qp(to, rx);
	to->qp = sroce_qp_get(rx->ep, rx->pkt.dest_qpn);
	to->marked = false;
	return to->qp;
}

/*
 * The ECN mark of an skb, which all its packets have, is told once to each QP. Nearly always that
 * is one, so it counts them all.
 */
static void note_ecn(struct receiver *to, struct sroce_rx *rx)
{
	if (!rx->ecn_ce || to->marked)
		return;
	run_locked_wq(to, rx);
	sroce_cnp_marked(to->qp, rx,
			 to->counted ? 1 : max_t(u32, skb_shinfo(rx->skb)->gso_segs, 1));
	to->marked = true;
	to->counted = true;
}

static void dispatch_packet(struct receiver *to, struct sroce_rx *rx)
{
	u32 flags = rx->pkt.info->flags;
	struct sroce_qp *qp = to->qp;
	bool responds = flags & SROCE_OPF_RESPONSE;
	u32 equal_sized = sroce_rx_equal_sized(rx);

	if (flags & SROCE_OPF_CNP) {
		run_locked_wq(to, rx);
		sroce_cnp_received(qp, rx);
		return;
	}
	note_ecn(to, rx);
	switch_wq(to, responds ? &qp->sq : &qp->rq, rx);
	if (!to->matches) {
		count_drop(rx, SROCE_CTR_DROP_ADDRESS);
	} else if (responds) {
		if (equal_sized > 1 &&
		    sroce_completer_can_coalesce(&qp->req, &rx->pkt, equal_sized))
			sroce_rx_coalesce(rx);
		handle_response(qp, rx);
	} else {
		if (equal_sized > 1 && !sroce_backlog_waits(qp) &&
		    sroce_responder_can_coalesce(&qp->resp, &rx->pkt))
			sroce_rx_coalesce(rx);
		handle_request(qp, rx);
	}
}

static void receive_unicast(struct sroce_rx *rx)
{
	struct receiver to = { };

	while (sroce_rx_next(rx)) {
		if (!find_qp(&to, rx))
			count_drop(rx, SROCE_CTR_DROP_NO_QP);
		else if (check_packet(rx, serves_packet(to.qp, rx)))
			dispatch_packet(&to, rx);
	}
	release_qp(&to, rx);
}

/* Each QP checks its own Q_Key and takes a WQE. None answers a packet to a group, even by a CNP. */
static void deliver_copies(const struct sroce_device *dev, struct sroce_rx *rx)
{
	const struct sroce_mcast_member *at = NULL;
	struct sroce_qp *qp;

	while ((qp = sroce_mcast_next_qp(dev, &rx->daddr, &at))) {
		spin_lock_bh(&qp->rq.lock);
		handle_request(qp, rx);
		sroce_wq_run(qp, &qp->rq, true);
		sroce_qp_put(qp);
	}
}

/* A packet to a group has QP number 0xffffff, and no other packet has it (IBTA 10.5). */
static void receive_multicast(struct sroce_rx *rx)
{
	const struct sroce_device *dev = container_of(rx->ep, struct sroce_device, ep);
	bool has_group = sroce_mcast_has_group(dev, &rx->daddr);

	while (sroce_rx_next(rx)) {
		if (rx->pkt.dest_qpn != SROCE_QPN_MULTICAST)
			count_drop(rx, SROCE_CTR_DROP_ADDRESS);
		else if (!has_group)
			count_drop(rx, SROCE_CTR_DROP_NO_QP);
		else if (check_packet(rx, sroce_opcode_service(rx->pkt.opcode) == SROCE_SERVICE_UD))
			deliver_copies(dev, rx);
	}
}

/**
 * sroce_receive() - an skb with packets has come in
 * @rx: attributed to an endpoint; its skb is consumed
 *
 * Packets for the same work queue that follow each other are handled under one lock, and the queue
 * is run once. Softirq, under rcu_read_lock(). Until the ICRC has been checked, the work is
 * bounded, and nothing is logged or allocated.
 */
void sroce_receive(struct sroce_rx *rx)
{
	if (unlikely(rx->is_multicast))
		receive_multicast(rx);
	else
		receive_unicast(rx);
	napi_consume_skb(rx->skb, 1);
}
