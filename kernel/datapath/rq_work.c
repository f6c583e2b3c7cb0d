// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The work of a receive queue: handle queued requests whose turn has come, send responses, flush
 * receives. Other requests are executed as they come in (receive.c).
 */

#include "compat/compat.h"
#include "datapath/ack_delay.h"
#include "datapath/cnp.h"
#include "datapath/odp_backlog.h"
#include "datapath/qp.h"
#include "datapath/receive.h"
#include "datapath/reorder_queue.h"
#include "datapath/tx.h"
#include "datapath/xrc.h"
#include "trace.h"
#include "transport/reorder.h"
#include "transport/response.h"
#include "transport/timer_policy.h"

/* The most packets of a plan. */
#define BURST_PACKETS	64
/* How long an ACK is delayed for a consumer that does not reply; the timer may be deferred. */
#define ACK_DELAY_NS	(250ull * NSEC_PER_USEC)

static enum sroce_mem_status fetch_payload(struct sroce_tx *tx, const void *response_plan, u32 i,
					   struct sroce_crc_writer *writer, u32 bytes)
{
	const struct sroce_response_plan *plan = response_plan;
	const struct sroce_responder *resp = &tx->qp->resp;

	if (plan->kind == SROCE_RESPONSE_SACK) {
		sroce_reorder_write_sack(resp, writer->to, bytes);
		sroce_crc_advance(writer, bytes);
		return SROCE_MEM_OK;
	}
	if (plan->kind != SROCE_RESPONSE_READ)
		return SROCE_MEM_OK;
	return sroce_memory_fetch(&tx->mr_ref, plan->rkey,
				  plan->va + (u64)i * resp->attr.mtu_bytes, writer, bytes);
}

static u32 expected_responses(const struct sroce_tx *tx, const void *response_plan, u32 i,
			      const struct sroce_packet *pkt)
{
	const struct sroce_response_plan *plan = response_plan;

	/* A repeated response has an skb of its own: a queue that drops an skb drops all of it. */
	if (plan->replay || plan->kind != SROCE_RESPONSE_READ)
		return 1;
	if (!(pkt->info->flags & SROCE_OPF_AETH))
		return plan->packet_count - i;
	/* First and last have an AETH, so the first of the next READ is as large as this last. */
	if (!(pkt->info->flags & SROCE_OPF_LAST))
		return 1;
	return max(sroce_responder_pending(&tx->qp->resp), 1u);
}

static void write_response_headers(const struct sroce_tx *tx, const void *plan, u32 i,
				   struct sroce_packet *pkt)
{
	sroce_response_plan_packet(&tx->qp->resp, plan, i, pkt);
}

static const struct sroce_tx_source responses = {
	.write_headers = write_response_headers,
	.expected = expected_responses,
	.copy_payload = fetch_payload,
};

/* Returns the number of packets built, -EFAULT for a bad region, -EAGAIN or -ENOMEM. */
static int build_responses(struct sroce_tx *tx, const struct sroce_response_plan *plan)
{
	const struct sroce_tx_span span = {
		.path = &tx->qp->rq.path,
		.first_psn = plan->first_psn,
		.packet_count = plan->packet_count,
		.payload_bytes = plan->payload_bytes,
		.mtu_bytes = tx->qp->resp.attr.mtu_bytes,
		.has_payload = plan->kind == SROCE_RESPONSE_READ,
	};
	struct sroce_srq *srq = NULL;
	int built;

	/* If the shared receive queue has gone, there is no region either. */
	if (sroce_qp_is_xrc_target(tx->qp) && span.has_payload) {
		srq = sroce_xrc_get_srq(tx->qp, plan->srqn);
		tx->mr_ref.pd = srq ? srq->queue.pd : NULL;
	}
	built = sroce_tx_build(tx, &span, &responses, plan);
	if (srq)
		sroce_xrc_put_srq(srq);
	return built;
}

static void count_sent_response(const struct sroce_qp *qp, const struct sroce_response_plan *plan)
{
	struct sroce_counters __percpu *counters = sroce_qp_counters(qp);

	if (plan->kind != SROCE_RESPONSE_ACK)
		return;
	if ((plan->syndrome & SROCE_AETH_KIND_MASK) == SROCE_AETH_RNR_NAK)
		sroce_count(counters, SROCE_CTR_SEND_RNR_ERR);
	else if (plan->syndrome == SROCE_NAK_REMOTE_ACCESS)
		sroce_count(counters, SROCE_CTR_RESP_REMOTE_ACCESS_ERRORS);
}

/* Returns whether the plan has been carried out. */
static bool send_response(struct sroce_tx *tx, struct sroce_response_plan *plan)
{
	struct sroce_qp *qp = tx->qp;
	int built = build_responses(tx, plan);
	bool failed = built < 0;

	if (built == -ENOMEM) {
		qp->rq.retry = true;
		return false;
	}
	if (built == -EAGAIN) {
		if (sroce_paging_begin(qp, &qp->rq))
			qp->rq.paging.of_response = true;
		return false;
	}
	if (failed)
		sroce_paging_forget(&qp->rq.paging);
	else if (built < plan->packet_count)
		sroce_response_plan_next(&qp->resp, built, plan);
	count_sent_response(qp, plan);
	if (plan->kind == SROCE_RESPONSE_READ && !failed) {
		sroce_cc_sent(&qp->resp.cc, plan->payload_bytes +
			      plan->packet_count * SROCE_CC_HEADER_BYTES, tx->now_ns);
		sroce_trace_cc_events(qp, &qp->resp.cc, SROCE_RQ);
	}
	trace_sroce_response_plan(qp->ibqp.qp_num, plan);
	sroce_response_commit(&qp->resp, plan, failed ? SROCE_MEM_BAD_KEY : SROCE_MEM_OK);
	if (!failed)
		tx->bytes += plan->payload_bytes;
	return true;
}

/* Does a READ response wait for pages? Those that a request has missed do not concern it. */
static bool response_waits(const struct sroce_qp *qp)
{
	return qp->rq.paging.pending && qp->rq.paging.of_response;
}

static void send_responses(struct sroce_tx *tx, u32 *budget)
{
	struct sroce_qp *qp = tx->qp;
	struct sroce_response_plan plan __sroce_uninit;

	while (*budget && !sroce_responder_is_idle(&qp->resp)) {
		u64 edt_ns;
		u32 packets = sroce_tx_allowance(tx, &qp->resp.cc, &edt_ns);
		u32 most = clamp(packets, 1u, min_t(u32, *budget, BURST_PACKETS));

		if (!sroce_response_plan_next(&qp->resp, most, &plan))
			return;
		if (tx->bytes >= SROCE_ROUND_BYTES) {
			qp->rq.more = true;
			return;
		}
		if (plan.kind == SROCE_RESPONSE_READ && response_waits(qp))
			return;
		if (plan.kind == SROCE_RESPONSE_READ && !packets) {
			qp->rq.paced_until_ns = edt_ns;
			return;
		}
		/* ACKs are few and small, and the peer waits for them. */
		if (plan.kind == SROCE_RESPONSE_READ &&
		    sroce_tx_throttle(tx, plan.packet_count))
			return;
		if (!tx->builder.packets && sroce_ack_delay_begin(qp, &plan))
			return;
		/* An ACK is not paced, but must not overtake READ responses. */
		sroce_tx_set_edt(tx, &qp->resp.cc, plan.kind == SROCE_RESPONSE_READ ?
				 edt_ns : sroce_cc_edt_ns(&qp->resp.cc));
		if (!send_response(tx, &plan))
			return;
		*budget -= min(*budget, plan.packet_count);
		sroce_tx_relock(tx);
	}
}

/* In ERR: complete the receives that are left, in order. Those of a shared queue stay there. */
static void flush_recv_queue(struct sroce_qp *qp, u32 *budget)
{
	struct sroce_completion wc;

	if (sroce_responder_next_completion(&qp->resp, &wc))
		sroce_wq_post_cqe(qp, &qp->rq, &wc, NULL);
	if (qp->last_wqe_due)
		qp->rq.events |= BIT(IB_EVENT_QP_LAST_WQE_REACHED);
	qp->last_wqe_due = false;
	if (!sroce_qp_has_receives(qp))
		return;
	while (*budget && sroce_recv_queue_take_flushed(qp->recv_queue, qp->resp.recv, &wc)) {
		sroce_wq_post_cqe(qp, &qp->rq, &wc, NULL);
		--*budget;
	}
}

static void note_rq_event(struct sroce_qp *qp)
{
	static const enum ib_event_type types[] = {
		[SROCE_EVENT_COMM_EST] = IB_EVENT_COMM_EST,
		[SROCE_EVENT_REQ_ERR] = IB_EVENT_QP_REQ_ERR,
		[SROCE_EVENT_ACCESS_ERR] = IB_EVENT_QP_ACCESS_ERR,
		[SROCE_EVENT_FATAL] = IB_EVENT_QP_FATAL,
	};
	enum sroce_rq_event event = sroce_responder_take_event(&qp->resp);

	if (event == SROCE_EVENT_NONE)
		return;
	if (event != SROCE_EVENT_COMM_EST || qp->state == IB_QPS_RTR)
		qp->rq.events |= BIT(types[event]);
}

/* Spares RC requests, which have no backlog, a call. */
static u64 backlog_deadline(const struct sroce_qp *qp)
{
	return skb_queue_empty(&qp->backlog) ? SROCE_NEVER : sroce_backlog_deadline(qp);
}

/* The engine's deadline, the backlog's, the pacer's, or the end of an ACK's delay. */
static u64 rq_deadline(struct sroce_qp *qp, u64 now_ns)
{
	u64 wait_ns = max(qp->rq.timer_defer_ns, ACK_DELAY_NS);
	u64 deadline_ns = SROCE_NEVER;

	qp->rq.slack_ns = 0;
	if (qp->ack_delayed) {
		deadline_ns = now_ns + wait_ns;
		if (qp->rq.timer_defer_ns)
			qp->rq.slack_ns = sroce_timer_slack(wait_ns, sroce_qp_count());
	}
	deadline_ns = sroce_timer_earliest(deadline_ns, &qp->rq.slack_ns,
					   sroce_reorder_deadline(&qp->resp));
	deadline_ns = sroce_timer_earliest(deadline_ns, &qp->rq.slack_ns,
					   sroce_reorder_queue_deadline(qp));
	deadline_ns = sroce_timer_earliest(deadline_ns, &qp->rq.slack_ns,
					   backlog_deadline(qp));
	return sroce_timer_earliest(deadline_ns, &qp->rq.slack_ns,
				    qp->rq.paced_until_ns ?: SROCE_NEVER);
}

static bool has_posted_recv(struct sroce_qp *qp)
{
	if (sroce_qp_is_xrc_target(qp))
		return sroce_xrc_has_posted(qp);
	return qp->srq ? sroce_srq_has_posted(qp->srq) :
			 sroce_recv_queue_has_posted(qp->recv_queue);
}

/*
 * Is there what the expected request waits for: its pages, or a receive WQE? The pages that are
 * faulted in may be those of a READ response.
 */
static bool may_go_on(struct sroce_qp *qp)
{
	const struct sroce_paging *paging = &qp->rq.paging;

	return paging->request_waits ? !paging->pending : has_posted_recv(qp);
}

/*
 * The packet that came in has been executed, and that was all: so it is with most of a message. An
 * ACK may have been delayed since before a reset.
 */
static bool is_quiet(const struct sroce_qp *qp)
{
	return sroce_responder_is_quiet(&qp->resp) && !qp->reorder_queue &&
	       skb_queue_empty(&qp->backlog) && !qp->ack_delayed;
}

/**
 * sroce_rq_work() - struct sroce_wq_ops: one round of the receive queue
 * @qp: the QP, its receive lock held
 * @budget: number of packets; reduced by those sent or handled
 *
 * Return: when it wants the next round.
 */
u64 sroce_rq_work(struct sroce_qp *qp, u32 *budget)
{
	struct sroce_tx tx __sroce_uninit;

	qp->rq.paced_until_ns = 0;
	if (is_quiet(qp)) {
		qp->rq.slack_ns = 0;
		return SROCE_NEVER;
	}
	sroce_tx_init(&tx, qp, &qp->rq);
	sroce_ack_delay_cancel(qp);
	if (sroce_responder_waits_rwqe(&qp->resp) && may_go_on(qp))
		sroce_reorder_rwqe_posted(&qp->resp, tx.now_ns);
	if (sroce_reorder_deadline(&qp->resp) != SROCE_NEVER) {
		sroce_reorder_timeout(&qp->resp, tx.now_ns);
		/* Others may come to the places of old ones while the lock is dropped. */
		sroce_reorder_queue_flush(qp);
	}
	if (sroce_responder_queued(&qp->resp))
		sroce_receive_queued(qp, tx.now_ns, budget);
	if (!skb_queue_empty(&qp->backlog))
		sroce_receive_backlog(qp, tx.now_ns, budget);
	if (qp->state == IB_QPS_ERR)
		flush_recv_queue(qp, budget);
	else
		send_responses(&tx, budget);
	sroce_tx_finish(&tx);
	/* The engine may have dropped queued requests. */
	sroce_reorder_queue_flush(qp);
	sroce_reorder_queue_trim(qp, tx.now_ns);
	note_rq_event(qp);
	if (sroce_response_is_dead(&qp->resp))
		qp->rq.failed = true;
	return rq_deadline(qp, tx.now_ns);
}

/**
 * sroce_rq_timer_fired() - struct sroce_wq_ops: was the timer needed?
 * @qp: the QP, its receive lock held
 *
 * It was if an ACK is still delayed, or if packets wait with a deadline.
 */
void sroce_rq_timer_fired(struct sroce_qp *qp)
{
	struct sroce_wq *wq = &qp->rq;

	wq->now_ns = ktime_get_ns();
	if (qp->ack_delayed)
		wq->timer_defer_ns = 0;
	else if (!wq->yielding && !wq->retry && !wq->paced_until_ns &&
		 sroce_reorder_deadline(&qp->resp) == SROCE_NEVER &&
		 wq->now_ns < sroce_reorder_queue_deadline(qp) &&
		 backlog_deadline(qp) == SROCE_NEVER)
		wq->timer_defer_ns = sroce_timer_defer_longer(wq->timer_defer_ns, ACK_DELAY_NS);
}
