// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The work of a send queue: from work requests to packets and completions.
 *
 *   fetch posted requests -> plan -> build the packets -> commit -> ... -> complete
 *
 * Packets of one size that follow each other, of one request or of several, share an skb.
 *
 * If memory is short, building fails without changing anything, and the timer tries again; if a
 * page is not present, the work item that faults it in does. A bad local buffer fails the request.
 */

#include "compat/compat.h"
#include "datapath/ack_delay.h"
#include "datapath/av.h"
#include "datapath/cnp.h"
#include "datapath/doorbell.h"
#include "datapath/qp.h"
#include "datapath/send_queue.h"
#include "datapath/tx.h"
#include "trace.h"
#include "transport/requester_plan.h"
#include "transport/timer_policy.h"

/* The most packets of a plan. */
#define BURST_PACKETS	64
/* How much of a READ's buffer is made present before it is sent. */
#define CHECKED_BYTES	(4u * 1024 * 1024)
/* How often its pages are faulted in. A process that keeps losing them must not block the READ. */
#define MISSES_MAX	4
/* The timer does not fire earlier: on a short path it would fire for every response. */
#define RESPONSE_WAIT_NS	(250 * NSEC_PER_USEC)
/* The most completions whose slots are freed with one store, which posters on other CPUs read. */
#define COMPLETION_BATCH	16

static const struct sroce_send_wqe *planned_wqe(const struct sroce_tx *tx,
						const struct sroce_send_plan *plan)
{
	return sroce_requester_wqe(&tx->qp->req, plan->index);
}

static enum sroce_mem_status gather_payload(struct sroce_tx *tx, const void *send_plan, u32 i,
					    struct sroce_crc_writer *writer, u32 bytes)
{
	const struct sroce_send_plan *plan = send_plan;
	const struct sroce_send_wqe *wqe = planned_wqe(tx, plan);
	u32 offset = plan->offset + i * tx->qp->req.attr.mtu_bytes;
	enum sroce_mem_status status;

	if (wqe->flags & SROCE_SEND_INLINE) {
		sroce_crc_write(writer, wqe->inline_data + offset, bytes);
		return SROCE_MEM_OK;
	}
	status = sroce_memory_gather(&tx->mr_ref, wqe->sge, wqe->num_sge, offset, writer, bytes);
	if (status != SROCE_MEM_OK)
		tx->qp->sq.fault = tx->mr_ref.fault;
	return status;
}

/*
 * Is the buffer of a READ or an atomic present? Its response cannot wait. Of a long READ only the
 * next part is checked: the process may lose pages of it again before their data arrives.
 */
static enum sroce_mem_status check_buffer(struct sroce_tx *tx, const struct sroce_send_plan *plan)
{
	const struct sroce_send_wqe *wqe = planned_wqe(tx, plan);
	enum sroce_mem_status status;
	u32 bytes = 0;

	if (!atomic_read(&tx->qp->dev->memory.odp_regions) ||
	    tx->qp->sq.paging.misses == MISSES_MAX)
		return SROCE_MEM_OK;
	if (wqe->opcode == SROCE_WR_READ)
		bytes = min(plan->payload_end - plan->offset, CHECKED_BYTES);
	else if (wqe_is_atomic(wqe->opcode))
		bytes = sizeof(u64);
	if (!bytes)
		return SROCE_MEM_OK;
	status = sroce_memory_check_sges(&tx->mr_ref, wqe->sge, wqe->num_sge, plan->offset, bytes);
	if (status == SROCE_MEM_NOT_PRESENT)
		tx->qp->sq.paging.misses++;
	else if (status != SROCE_MEM_OK)
		tx->qp->sq.fault = tx->mr_ref.fault;
	sroce_mr_ref_put(&tx->mr_ref);
	return status;
}

static const struct sroce_path *wqe_path(const struct sroce_qp *qp,
					 const struct sroce_send_wqe *wqe)
{
	const struct sroce_av *av = wqe->ud.ah;

	return sroce_qp_is_connected(qp) ? &qp->sq.path : &av->path;
}

static u32 expected_requests(const struct sroce_tx *tx, const void *send_plan, u32 i,
			     const struct sroce_packet *pkt)
{
	const struct sroce_send_plan *plan = send_plan;
	const struct sroce_requester *req = &tx->qp->req;

	if (sroce_send_plan_is_unbatched(req, plan))
		return 1;
	/* If the next request has the same length, those behind it probably have it too. */
	if (pkt->info->flags & SROCE_OPF_LAST) {
		u32 left = sroce_requester_posted(req) - plan->index;

		return left > 1 && sroce_requester_wqe(req, plan->index + 1)->length ==
				   sroce_requester_wqe(req, plan->index)->length ? left : 1;
	}
	/* The first packet has more headers than the rest. */
	return pkt->info->flags & SROCE_OPF_RETH ? 1 : plan->packet_count - i;
}

static void write_request_headers(const struct sroce_tx *tx, const void *plan, u32 i,
				  struct sroce_packet *pkt)
{
	sroce_send_plan_packet(&tx->qp->req, plan, i, pkt);
}

static const struct sroce_tx_source requests = {
	.write_headers = write_request_headers,
	.expected = expected_requests,
	.copy_payload = gather_payload,
};

/* Returns the number of packets built, -EFAULT for a bad local buffer, -EAGAIN or -ENOMEM. */
static int build_requests(struct sroce_tx *tx, const struct sroce_send_plan *plan)
{
	enum sroce_mem_status status;
	const struct sroce_tx_span span = {
		.path = wqe_path(tx->qp, planned_wqe(tx, plan)),
		.first_psn = plan->first_psn,
		.packet_count = plan->packet_count,
		.payload_bytes = plan->payload_bytes,
		.mtu_bytes = tx->qp->req.attr.mtu_bytes,
		.has_payload = true,
	};

	status = check_buffer(tx, plan);
	if (status != SROCE_MEM_OK)
		return sroce_tx_payload_error(status);
	return sroce_tx_build(tx, &span, &requests, plan);
}

/* Returns whether the plan has been carried out. */
static bool send_burst(struct sroce_tx *tx, struct sroce_send_plan *plan)
{
	enum sroce_wc_status status = SROCE_WC_SUCCESS;
	struct sroce_qp *qp = tx->qp;
	int built = build_requests(tx, plan);

	if (built == -ENOMEM) {
		qp->sq.retry = true;
		return false;
	}
	if (built == -EAGAIN) {
		sroce_paging_begin(qp, &qp->sq);
		return false;
	}
	if (built < 0) {
		sroce_paging_forget(&qp->sq.paging);
		status = SROCE_WC_LOC_PROT_ERR;
	} else if (built < plan->packet_count) {
		sroce_requester_plan(&qp->req, built, plan);
		/* The packet with AckReq was not built. */
		plan->ack_req = false;
	}
	if (plan->retransmit)
		sroce_count_add(sroce_qp_counters(qp),
				plan->fills_hole ? SROCE_CTR_ROCE_ADP_RETRANS :
						   SROCE_CTR_COMPLETER_RETRY_ERR,
				plan->packet_count);
	if (plan->implied_nak)
		sroce_count(sroce_qp_counters(qp), SROCE_CTR_IMPLIED_NAK_SEQ_ERR);
	trace_sroce_send_plan(qp->ibqp.qp_num, plan);
	qp->sq.paging.misses = 0;
	sroce_requester_commit(&qp->req, plan, status, tx->now_ns);
	sroce_trace_cc_events(qp, &qp->req.cc, SROCE_SQ);
	tx->bytes += plan->payload_bytes;
	return true;
}

static enum sroce_wc_status execute_local(struct sroce_qp *qp, const struct sroce_send_wqe *wqe)
{
	struct sroce_memory *mem = &qp->dev->memory;
	enum sroce_mem_status status = SROCE_MEM_BAD_KEY;

	if (wqe->opcode == SROCE_WR_REG_MR)
		status = sroce_region_register(mem, qp->ibqp.pd, wqe->reg_mr.key,
					       wqe->reg_mr.iova, wqe->reg_mr.access);
	else if (wqe->opcode == SROCE_WR_LOCAL_INV)
		status = sroce_memory_invalidate(mem, qp->ibqp.pd, qp->serial,
						 wqe->invalidate_rkey, false);
	else if (wqe->opcode == SROCE_WR_BIND_MW)
		status = sroce_mw_bind(mem, qp->ibqp.pd, qp->serial, &wqe->bind_mw);
	if (status == SROCE_MEM_OK)
		return SROCE_WC_SUCCESS;
	qp->sq.fault = status;
	return SROCE_WC_MW_BIND_ERR;
}

/* Returns whether there was anything to do. */
static bool send_next(struct sroce_tx *tx, u32 *budget)
{
	struct sroce_qp *qp = tx->qp;
	struct sroce_requester *req = &qp->req;
	struct sroce_send_plan plan __sroce_uninit;
	u64 edt_ns;
	u32 packets;

	if (qp->sq.paging.pending || sroce_requester_is_idle(req))
		return false;
	packets = sroce_tx_allowance(tx, &req->cc, &edt_ns);
	sroce_requester_plan(req, clamp(packets, 1u, min_t(u32, *budget, BURST_PACKETS)), &plan);
	if (plan.action == SROCE_SEND_NOTHING)
		return false;
	/*
	 * A retransmission gets no departure time in the future: a response that comes earlier
	 * would be taken for a response to it.
	 */
	if (plan.action == SROCE_SEND_PACKETS &&
	    (!packets || (plan.retransmit && edt_ns > tx->now_ns))) {
		qp->sq.paced_until_ns = edt_ns;
		return false;
	}
	if (plan.action == SROCE_SEND_PACKETS && !plan.bypass_tsq &&
	    sroce_tx_throttle(tx, plan.packet_count))
		return false;
	if (plan.action == SROCE_SEND_PACKETS) {
		sroce_tx_set_edt(tx, &req->cc, edt_ns);
		if (!send_burst(tx, &plan))
			return false;
	} else {
		trace_sroce_send_plan(qp->ibqp.qp_num, &plan);
		sroce_requester_commit(req, &plan, plan.action == SROCE_SEND_LOCAL ?
				       execute_local(qp, sroce_requester_wqe(req, plan.index)) :
				       SROCE_WC_SUCCESS, tx->now_ns);
	}
	*budget -= min(*budget, max(plan.packet_count, 1u));
	return true;
}

/*
 * Are packets still leaving this host, for example through a slow qdisc? Then an ACK timeout is too
 * early. Packets that are never freed (some drivers free late) put it off once only.
 */
static bool check_stack_progress(struct sroce_qp *qp)
{
	u32 queued = (u32)atomic64_read(&qp->ref->tsq[SROCE_SQ].queued);
	u32 freed = qp->sq.sent - queued;
	bool moves = freed != qp->sq.freed;

	qp->sq.freed = freed;
	return queued && moves;
}

/**
 * sroce_send_count_events() - count what happened to a requester
 * @qp: its QP
 * @events: SROCE_REQ_EV_*
 */
void sroce_send_count_events(struct sroce_qp *qp, u32 events)
{
	static const enum sroce_counter counters[] = {
		[ilog2(SROCE_REQ_EV_ACK_TIMEOUT)] = SROCE_CTR_LOCAL_ACK_TIMEOUT_ERR,
		[ilog2(SROCE_REQ_EV_PROBE)] = SROCE_CTR_ROCE_ADP_RETRANS_TO,
		[ilog2(SROCE_REQ_EV_ACCEPTED)] = SROCE_CTR_SELECTIVE_ACCEPTED,
		[ilog2(SROCE_REQ_EV_WITHDRAWN)] = SROCE_CTR_SELECTIVE_WITHDRAWN,
	};

	for (; events; events &= events - 1)
		sroce_count(sroce_qp_counters(qp), counters[__ffs(events)]);
}

/* Pages have come. They put off the ACK timeout once for each oldest PSN without an ACK. */
static void excuse_timeout(struct sroce_qp *qp, u64 now_ns)
{
	struct sroce_paging *paging = &qp->sq.paging;
	u32 waits_for = sroce_requester_unacked_psn(&qp->req) + 1;

	if (paging->excused != waits_for)
		qp->sq.ignore_timeout_until_ns = now_ns + sroce_requester_probe_ns(&qp->req);
	paging->excused = waits_for;
	paging->done = false;
}

static void check_timeout(struct sroce_qp *qp, u64 now_ns)
{
	struct sroce_requester *req = &qp->req;

	if (qp->sq.paging.pending)
		return;
	if (qp->sq.paging.done)
		excuse_timeout(qp, now_ns);
	if (now_ns < sroce_requester_deadline(req))
		return;
	if (sroce_requester_waits_rnr(req)) {
		sroce_requester_timeout(req, now_ns);
		/* The timers of an earlier READ may have expired meanwhile. */
		if (now_ns < sroce_requester_deadline(req))
			return;
	}
	if (now_ns < qp->sq.ignore_timeout_until_ns)
		return;
	if (check_stack_progress(qp)) {
		qp->sq.ignore_timeout_until_ns = now_ns + sroce_requester_probe_ns(req);
		return;
	}
	qp->sq.timer_defer_ns = 0;
	sroce_send_count_events(qp, sroce_requester_timeout(req, now_ns));
	sroce_trace_cc_events(qp, &req->cc, SROCE_SQ);
}

static u64 sq_deadline(struct sroce_qp *qp, u64 now_ns)
{
	u64 deadline_ns = sroce_requester_deadline(&qp->req);
	u64 wait_ns = sroce_timer_response_wait(qp->sq.timer_defer_ns,
						qp->req.attr.ack_timeout_ns, RESPONSE_WAIT_NS);

	qp->sq.slack_ns = 0;
	/* The work item runs the queue. */
	if (qp->sq.paging.pending)
		return SROCE_NEVER;
	if (deadline_ns != SROCE_NEVER && !sroce_requester_waits_rnr(&qp->req)) {
		deadline_ns = max3(deadline_ns, qp->sq.ignore_timeout_until_ns, now_ns + wait_ns);
		if (qp->sq.timer_defer_ns)
			qp->sq.slack_ns = sroce_timer_slack(wait_ns, sroce_qp_count());
	}
	return sroce_timer_earliest(deadline_ns, &qp->sq.slack_ns,
				    qp->sq.paced_until_ns ?: SROCE_NEVER);
}

static void count_error(const struct sroce_qp *qp, enum sroce_wc_status status)
{
	if (status == SROCE_WC_RETRY_EXC_ERR)
		sroce_count(sroce_qp_counters(qp), SROCE_CTR_RETRY_EXCEEDED_ERR);
	else if (status == SROCE_WC_RNR_RETRY_EXC_ERR)
		sroce_count(sroce_qp_counters(qp), SROCE_CTR_RETRY_RNR_EXCEEDED_ERR);
	else if (status == SROCE_WC_REM_ACCESS_ERR)
		sroce_count(sroce_qp_counters(qp), SROCE_CTR_REQ_REMOTE_ACCESS_ERRORS);
}

/* Returns whether slots have been freed. */
static bool complete_requests(struct sroce_qp *qp, u32 *budget)
{
	u32 first = sroce_requester_retired(&qp->req), count;
	struct sroce_completion batch[COMPLETION_BATCH] __sroce_uninit;

	do {
		u32 from = sroce_requester_retired(&qp->req), i;

		for (count = 0; count < COMPLETION_BATCH && *budget; count++) {
			if (!sroce_requester_next_completion(&qp->req, &batch[count]))
				break;
			count_error(qp, batch[count].status);
			if (sroce_requester_has_failed(&qp->req))
				--*budget;
		}
		/*
		 * Also the slots of requests without a completion. Another CPU may poll a
		 * completion at once and post to the slot.
		 */
		sroce_send_queue_retire(qp, from);
		for (i = 0; i < count; i++)
			sroce_wq_post_cqe(qp, &qp->sq, &batch[i], NULL);
	} while (count == COMPLETION_BATCH);
	return sroce_requester_retired(&qp->req) != first;
}

static void check_state(struct sroce_qp *qp)
{
	if (sroce_requester_has_failed(&qp->req) &&
	    (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD))
		qp->sq.failed = true;
	if (qp->sq_draining_notify && sroce_requester_is_drained(&qp->req)) {
		qp->sq_draining_notify = false;
		qp->sq.events |= BIT(IB_EVENT_SQ_DRAINED);
	}
}

/**
 * sroce_sq_work() - struct sroce_wq_ops: one round of the send queue
 * @qp: the QP, its send lock held
 * @budget: number of packets; reduced by those sent
 *
 * Return: when it wants the next round.
 */
u64 sroce_sq_work(struct sroce_qp *qp, u32 *budget)
{
	struct sroce_tx tx __sroce_uninit;
	u64 deadline_ns;

	sroce_tx_init(&tx, qp, &qp->sq);
	qp->sq.paced_until_ns = 0;
	check_timeout(qp, tx.now_ns);
	if (READ_ONCE(qp->ack_delayed))
		sroce_ack_piggyback_reserve(&tx);
	do {
		sroce_send_queue_fetch(qp);
		while (*budget && tx.bytes < SROCE_ROUND_BYTES && send_next(&tx, budget))
			sroce_tx_relock(&tx);
	} while (complete_requests(qp, budget) && sroce_send_queue_has_posted(qp) && *budget &&
		 tx.bytes < SROCE_ROUND_BYTES);
	qp->sq.more = tx.bytes >= SROCE_ROUND_BYTES;
	/* Only a consumer in the kernel has delayed ACKs. */
	if (tx.builder.packets && !qp->is_user)
		sroce_ack_piggyback(&tx);
	sroce_tx_finish(&tx);
	check_state(qp);
	deadline_ns = sq_deadline(qp, tx.now_ns);
	return qp->db.supported ? sroce_doorbell_update(qp, deadline_ns) : deadline_ns;
}

/**
 * sroce_sq_timer_fired() - struct sroce_wq_ops: was the timer needed?
 * @qp: the QP, its send lock held
 *
 * It was not if the queue only waits for responses and none is late.
 */
void sroce_sq_timer_fired(struct sroce_qp *qp)
{
	struct sroce_wq *wq = &qp->sq;

	if (wq->yielding || wq->retry || wq->paced_until_ns || qp->db.active)
		return;
	wq->now_ns = ktime_get_ns();
	if (wq->now_ns < sroce_requester_deadline(&qp->req))
		wq->timer_defer_ns = sroce_timer_defer_longer(wq->timer_defer_ns,
							      RESPONSE_WAIT_NS);
}
