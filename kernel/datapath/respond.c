// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Running the receive half: responses out, receives flushed. Requests are
 * executed where they come in (receive.c); what they call for is sent here.
 */
#include <linux/err.h>

#include "compat/compat.h"
#include "datapath/qp.h"
#include "trace.h"
#include "transport/psn.h"

/* Packets planned and built at a time. */
#define BURST_PACKETS	64
/* An ACK waits for its consumer; for one that does not come so long, or as wq.c has it. */
#define ACK_DELAY_NS	(250 * NSEC_PER_USEC)

static void put_sack(const struct sroce_qp *qp, struct sroce_crc_writer *writer, u32 bytes)
{
	sroce_responder_write_sack(&qp->resp, writer->to, bytes);
	sroce_crc_advance(writer, bytes);
}

/* How many packets as large as the one numbered @i follow it at once, about, with it. */
static u32 expected_responses(const struct sroce_qp *qp, const struct sroce_response_plan *plan,
			      u32 i, const struct sroce_packet *pkt)
{
	/* What is sent again travels alone: what lost it, lost all that it travelled with. */
	if (plan->replay || plan->kind != SROCE_RESPONSE_READ)
		return 1;
	if (!(pkt->info->flags & SROCE_OPF_AETH))
		return plan->packet_count - i;
	/* The first and the last have an AETH: the next one's first is as large as this last. */
	return pkt->info->flags & SROCE_OPF_LAST ? max(qp->resp.resources.pending, 1u) : 1;
}

/* Returns 0, also for a packet that is lost at once; -EFAULT for a bad region; -ENOMEM. */
static int build_response_packet(struct sroce_tx *tx, const struct sroce_response_plan *plan, u32 i,
				 struct sroce_packet *pkt)
{
	struct sroce_qp *qp = tx->qp;
	u64 va = plan->va + (u64)i * qp->resp.attr.mtu_bytes;
	struct sroce_crc_writer *writer;
	int err;

	if (sroce_packet_repeats(i, plan->packet_count))
		pkt->psn = psn_add(plan->first_psn, i);
	else
		sroce_response_plan_packet(&qp->resp, plan, i, pkt);
	err = sroce_tx_begin(tx, &qp->rq.path, pkt, expected_responses(qp, plan, i, pkt),
			     &writer);
	if (err)
		return err == -ENOMEM ? -ENOMEM : 0;
	if (plan->kind == SROCE_RESPONSE_SACK)
		put_sack(qp, writer, pkt->payload_bytes);
	if (plan->kind == SROCE_RESPONSE_READ &&
	    sroce_memory_fetch(&tx->mr_ref, plan->rkey, va, writer,
			       pkt->payload_bytes) != SROCE_MEM_OK)
		return -EFAULT;
	sroce_tx_end(tx);
	return 0;
}

/* Packets behind the one numbered @i that are like it: so many are built; or -EFAULT. */
static int build_equal_responses(struct sroce_tx *tx, const struct sroce_response_plan *plan,
				 u32 i)
{
	u32 count = sroce_packet_repetitions(i, plan->packet_count);
	u32 mtu_bytes = tx->qp->resp.attr.mtu_bytes;
	struct sroce_crc_writer *writer;

	if (!count || plan->kind != SROCE_RESPONSE_READ)
		return 0;
	count = sroce_tx_repeat_begin(tx, count, psn_add(plan->first_psn, i + 1), &writer);
	if (!count)
		return 0;
	if (sroce_memory_fetch(&tx->mr_ref, plan->rkey, plan->va + (u64)(i + 1) * mtu_bytes, writer,
			       count * mtu_bytes) != SROCE_MEM_OK)
		return -EFAULT;
	sroce_tx_repeat_end(tx);
	return count;
}

/* All packets of the plan, or none. */
static int build_responses(struct sroce_tx *tx, const struct sroce_response_plan *plan)
{
	struct sroce_packet pkt __sroce_uninit;
	struct sroce_gso_mark mark;
	bool section;
	int err = 0;
	u32 i;

	sroce_gso_mark(&tx->gso, &mark);
	section = sroce_crc_vector_begin(plan->payload_bytes);
	for (i = 0; i < plan->packet_count && err >= 0; i += 1 + err) {
		err = build_response_packet(tx, plan, i, &pkt);
		if (!err)
			err = build_equal_responses(tx, plan, i);
	}
	sroce_crc_vector_end(section);
	sroce_mr_ref_put(&tx->mr_ref);
	if (err < 0)
		sroce_gso_rewind(&tx->gso, &mark);
	return min(err, 0);
}

static void count_sent_response(const struct sroce_qp *qp, const struct sroce_response_plan *plan)
{
	struct sroce_counters __percpu *counters = qp->dev->ep.counters;

	if (plan->kind != SROCE_RESPONSE_ACK)
		return;
	if ((plan->syndrome & SROCE_AETH_KIND_MASK) == SROCE_AETH_RNR_NAK)
		sroce_count(counters, SROCE_CTR_SEND_RNR_ERR);
	else if (plan->syndrome == SROCE_NAK_REMOTE_ACCESS)
		sroce_count(counters, SROCE_CTR_RESP_REMOTE_ACCESS_ERRORS);
}

/* Returns whether the response has been dealt with. */
static bool send_response(struct sroce_tx *tx, const struct sroce_response_plan *plan)
{
	struct sroce_qp *qp = tx->qp;
	int err = build_responses(tx, plan);

	if (err == -ENOMEM) {
		qp->rq.retry = true;
		return false;
	}
	count_sent_response(qp, plan);
	if (plan->kind == SROCE_RESPONSE_READ && !err) {
		sroce_cc_sent(&qp->resp.cc, plan->payload_bytes +
			      plan->packet_count * SROCE_CC_HEADER_BYTES, tx->now_ns);
		sroce_trace_cc_events(qp, &qp->resp.cc, SROCE_RQ);
	}
	sroce_response_commit(&qp->resp, plan, err ? SROCE_MEM_BAD_KEY : SROCE_MEM_OK);
	if (!err)
		tx->bytes += plan->payload_bytes;
	return true;
}

static void send_responses(struct sroce_tx *tx, u32 *budget)
{
	struct sroce_qp *qp = tx->qp;
	struct sroce_response_plan plan __sroce_uninit;

	while (*budget) {
		u64 edt_ns;
		u32 packets = sroce_tx_schedule(tx, &qp->resp.cc, &edt_ns);
		u32 most = clamp(packets, 1u, min_t(u32, *budget, BURST_PACKETS));

		if (!sroce_response_plan_next(&qp->resp, most, &plan))
			return;
		if (tx->bytes >= SROCE_ROUND_BYTES) {
			qp->rq.more = true;
			return;
		}
		if (plan.kind == SROCE_RESPONSE_READ && !packets) {
			qp->rq.pace_ns = edt_ns;
			return;
		}
		/* Acknowledgements are few and small, and the peer waits for them. */
		if (plan.kind == SROCE_RESPONSE_READ &&
		    sroce_wq_is_throttled(qp, &qp->rq, tx->gso.packets))
			return;
		if (!tx->gso.packets && sroce_ack_delay_begin(qp, &plan))
			return;
		trace_sroce_response_plan(qp->ibqp.qp_num, &plan);
		/* What is not paced keeps its place behind READ responses. */
		sroce_tx_set_edt(tx, &qp->resp.cc, plan.kind == SROCE_RESPONSE_READ ?
				 edt_ns : qp->resp.cc.edt_ns);
		*budget -= min(*budget, plan.packet_count);
		if (!send_response(tx, &plan))
			return;
	}
}

/* In ERR: what is left in the receive queue completes, in order. */
static void flush_recv_queue(struct sroce_qp *qp, u32 *budget)
{
	struct sroce_completion wc;

	if (sroce_responder_next_completion(&qp->resp, &wc))
		sroce_wq_complete(qp, &qp->rq, &wc, NULL);
	while (*budget && sroce_recv_queue_fetch(qp)) {
		wc = (struct sroce_completion) {
			.wr_id = qp->resp.recv->wr_id,
			.status = SROCE_WC_WR_FLUSH_ERR,
			.opcode = SROCE_WC_RECV,
		};
		sroce_wq_complete(qp, &qp->rq, &wc, NULL);
		--*budget;
	}
}

static void note_rq_event(struct sroce_qp *qp)
{
	switch (sroce_responder_take_event(&qp->resp)) {
	case SROCE_EVENT_NONE:
		break;
	case SROCE_EVENT_COMM_EST:
		if (qp->state == IB_QPS_RTR)
			qp->rq.events |= BIT(IB_EVENT_COMM_EST);
		break;
	case SROCE_EVENT_REQ_ERR:
		qp->rq.events |= BIT(IB_EVENT_QP_REQ_ERR);
		break;
	case SROCE_EVENT_ACCESS_ERR:
		qp->rq.events |= BIT(IB_EVENT_QP_ACCESS_ERR);
		break;
	case SROCE_EVENT_FATAL:
		qp->rq.events |= BIT(IB_EVENT_QP_FATAL);
		break;
	}
}

/* When the engine or the pacer wants the next round, or an ACK has waited long enough. */
static u64 rq_deadline(struct sroce_qp *qp, u64 now_ns)
{
	u64 wait_ns = max(qp->rq.timer_defer_ns, ACK_DELAY_NS);
	u64 deadline_ns = SROCE_NEVER;

	qp->rq.slack_ns = 0;
	if (qp->delayed_ack.pending) {
		deadline_ns = now_ns + wait_ns;
		sroce_wq_set_timer_slack(&qp->rq, wait_ns);
	}
	deadline_ns = sroce_wq_earliest(&qp->rq, deadline_ns,
					sroce_responder_deadline(&qp->resp));
	return sroce_wq_earliest(&qp->rq, deadline_ns, qp->rq.pace_ns ?: SROCE_NEVER);
}

static u64 rq_work(struct sroce_qp *qp, u32 *budget)
{
	struct sroce_tx tx __sroce_uninit;

	sroce_tx_init(&tx, qp, &qp->rq);
	qp->rq.pace_ns = 0;
	sroce_ack_delay_cancel(qp);
	if (qp->resp.reorder.waiting_rwqe && sroce_ring_pending(&qp->rq_ring))
		sroce_responder_rwqe_posted(&qp->resp, tx.now_ns);
	if (sroce_responder_deadline(&qp->resp) != SROCE_NEVER)
		sroce_responder_timeout(&qp->resp, tx.now_ns);
	if (qp->resp.reorder.count)
		sroce_receive_queued(qp, tx.now_ns, budget);
	if (qp->state == IB_QPS_ERR)
		flush_recv_queue(qp, budget);
	else
		send_responses(&tx, budget);
	/* What waited for a receive, or was read over, is not waited for any more. */
	sroce_reorder_queue_sync(qp);
	note_rq_event(qp);
	if (sroce_responder_is_dead(&qp->resp))
		qp->rq.failed = true;
	return rq_deadline(qp, tx.now_ns);
}

/* Did an ACK wait for the timer, or had it left? */
static void rq_timer_fired(struct sroce_qp *qp)
{
	struct sroce_wq *wq = &qp->rq;

	if (qp->delayed_ack.pending)
		wq->timer_defer_ns = 0;
	else if (!wq->yielding && !wq->retry && !wq->pace_ns &&
		 sroce_responder_deadline(&qp->resp) == SROCE_NEVER)
		sroce_wq_timer_idle(wq, ACK_DELAY_NS);
}

const struct sroce_wq_ops sroce_rq_ops = {
	.work = rq_work,
	.timer_fired = rq_timer_fired,
};
