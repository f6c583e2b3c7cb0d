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
/* An ACK waits for its consumer; for one that does not come so long, or as half.c has it. */
#define ACK_WAIT_NS	(250 * NSEC_PER_USEC)

static void put_sack(const struct sroce_qp *qp, struct sroce_crc_sink *sink, u32 bytes)
{
	sroce_responder_write_sack(&qp->resp, sink->to, bytes);
	sroce_sink_pass(sink, bytes);
}

/* How many packets as large as the one numbered @i follow it at once, about, with it. */
static u32 expected_packets(const struct sroce_qp *qp, const struct sroce_response_plan *plan,
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
static int build_packet(struct sroce_burst *burst, const struct sroce_response_plan *plan, u32 i,
			struct sroce_packet *pkt)
{
	struct sroce_qp *qp = burst->qp;
	u64 va = plan->va + (u64)i * qp->resp.attr.mtu_bytes;
	struct sroce_crc_sink *sink;
	int err;

	if (sroce_packet_repeats(i, plan->packet_count))
		pkt->psn = psn_add(plan->first_psn, i);
	else
		sroce_response_plan_packet(&qp->resp, plan, i, pkt);
	err = sroce_burst_begin(burst, &qp->recv.path, pkt, expected_packets(qp, plan, i, pkt),
				&sink);
	if (err)
		return err == -ENOMEM ? -ENOMEM : 0;
	if (plan->kind == SROCE_RESPONSE_SACK)
		put_sack(qp, sink, pkt->payload_bytes);
	if (plan->kind == SROCE_RESPONSE_READ &&
	    sroce_memory_fetch(&burst->lease, plan->rkey, va, sink,
			       pkt->payload_bytes) != SROCE_MEM_OK)
		return -EFAULT;
	sroce_burst_end(burst);
	return 0;
}

/* Packets behind the one numbered @i that are like it: so many are built; or -EFAULT. */
static int build_repetitions(struct sroce_burst *burst, const struct sroce_response_plan *plan,
			     u32 i)
{
	u32 count = sroce_packet_repetitions(i, plan->packet_count);
	u32 mtu_bytes = burst->qp->resp.attr.mtu_bytes;
	struct sroce_crc_sink *sink;

	if (!count || plan->kind != SROCE_RESPONSE_READ)
		return 0;
	count = sroce_burst_repeat(burst, count, psn_add(plan->first_psn, i + 1), &sink);
	if (!count)
		return 0;
	if (sroce_memory_fetch(&burst->lease, plan->rkey, plan->va + (u64)(i + 1) * mtu_bytes, sink,
			       count * mtu_bytes) != SROCE_MEM_OK)
		return -EFAULT;
	sroce_burst_repeated(burst);
	return count;
}

/* All packets of the plan, or none. */
static int build_burst(struct sroce_burst *burst, const struct sroce_response_plan *plan)
{
	struct sroce_packet pkt SROCE_FILLED_IN;
	struct sroce_run_mark mark;
	bool section;
	int err = 0;
	u32 i;

	sroce_run_mark(&burst->run, &mark);
	section = sroce_crc_begin(plan->payload_bytes);
	for (i = 0; i < plan->packet_count && err >= 0; i += 1 + err) {
		err = build_packet(burst, plan, i, &pkt);
		if (!err)
			err = build_repetitions(burst, plan, i);
	}
	sroce_crc_end(section);
	sroce_lease_end(&burst->lease);
	if (err < 0)
		sroce_run_rewind(&burst->run, &mark);
	return min(err, 0);
}

static void count_response(const struct sroce_qp *qp, const struct sroce_response_plan *plan)
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
static bool respond(struct sroce_burst *burst, const struct sroce_response_plan *plan)
{
	struct sroce_qp *qp = burst->qp;
	int err = build_burst(burst, plan);

	if (err == -ENOMEM) {
		qp->recv.retry = true;
		return false;
	}
	count_response(qp, plan);
	if (plan->kind == SROCE_RESPONSE_READ && !err) {
		sroce_cc_sent(&qp->resp.cc, plan->payload_bytes +
			      plan->packet_count * SROCE_CC_HEADER_BYTES, burst->now_ns);
		sroce_trace_decisions(qp, &qp->resp.cc, SROCE_RECV_SIDE);
	}
	sroce_responder_response_sent(&qp->resp, plan, err ? SROCE_MEM_BAD_KEY : SROCE_MEM_OK);
	if (!err)
		burst->bytes += plan->payload_bytes;
	return true;
}

static void send_responses(struct sroce_burst *burst, u32 *budget)
{
	struct sroce_qp *qp = burst->qp;
	struct sroce_response_plan plan SROCE_FILLED_IN;

	while (*budget) {
		u64 depart_ns;
		u32 packets = sroce_burst_schedule(burst, &qp->resp.cc, &depart_ns);
		u32 most = clamp(packets, 1u, min_t(u32, *budget, BURST_PACKETS));

		if (!sroce_responder_next_response(&qp->resp, most, &plan))
			return;
		if (burst->bytes >= SROCE_ROUND_BYTES) {
			qp->recv.more = true;
			return;
		}
		if (plan.kind == SROCE_RESPONSE_READ && !packets) {
			qp->recv.pace_ns = depart_ns;
			return;
		}
		/* Acknowledgements are few and small, and the peer waits for them. */
		if (plan.kind == SROCE_RESPONSE_READ &&
		    sroce_half_is_throttled(qp, &qp->recv, burst->run.packets))
			return;
		if (!burst->run.packets && sroce_ride_begin(qp, &plan))
			return;
		trace_sroce_response_plan(qp->ibqp.qp_num, &plan);
		/* What is not paced keeps its place behind READ responses. */
		sroce_burst_leave(burst, &qp->resp.cc, plan.kind == SROCE_RESPONSE_READ ?
				  depart_ns : qp->resp.cc.depart_ns);
		*budget -= min(*budget, plan.packet_count);
		if (!respond(burst, &plan))
			return;
	}
}

/* In ERR: what is left in the receive queue completes, in order. */
static void flush_receives(struct sroce_qp *qp, u32 *budget)
{
	struct sroce_completion wc;

	if (sroce_responder_next_completion(&qp->resp, &wc))
		sroce_half_complete(qp, &qp->recv, &wc, NULL);
	while (*budget && sroce_recv_wqe_fetch(qp)) {
		wc = (struct sroce_completion) {
			.wr_id = qp->resp.recv->wr_id,
			.status = SROCE_WC_WR_FLUSH_ERR,
			.opcode = SROCE_WC_RECV,
		};
		sroce_half_complete(qp, &qp->recv, &wc, NULL);
		--*budget;
	}
}

static void note_event(struct sroce_qp *qp)
{
	switch (sroce_responder_take_event(&qp->resp)) {
	case SROCE_EVENT_NONE:
		break;
	case SROCE_EVENT_COMM_EST:
		if (qp->state == IB_QPS_RTR)
			qp->recv.events |= BIT(IB_EVENT_COMM_EST);
		break;
	case SROCE_EVENT_REQ_ERR:
		qp->recv.events |= BIT(IB_EVENT_QP_REQ_ERR);
		break;
	case SROCE_EVENT_ACCESS_ERR:
		qp->recv.events |= BIT(IB_EVENT_QP_ACCESS_ERR);
		break;
	case SROCE_EVENT_FATAL:
		qp->recv.events |= BIT(IB_EVENT_QP_FATAL);
		break;
	}
}

/* When the engine or the pacer wants the next round, or an ACK has waited long enough. */
static u64 next_deadline(struct sroce_qp *qp, u64 now_ns)
{
	u64 wait_ns = max(qp->recv.calm_ns, ACK_WAIT_NS);
	u64 deadline_ns = SROCE_NEVER;

	qp->recv.slack_ns = 0;
	if (qp->ride.waits) {
		deadline_ns = now_ns + wait_ns;
		sroce_half_be_calm(&qp->recv, wait_ns);
	}
	deadline_ns = sroce_half_exactly(&qp->recv, deadline_ns,
					 sroce_responder_deadline(&qp->resp));
	return sroce_half_exactly(&qp->recv, deadline_ns, qp->recv.pace_ns ?: SROCE_NEVER);
}

static u64 work(struct sroce_qp *qp, u32 *budget)
{
	struct sroce_burst burst SROCE_FILLED_IN;

	sroce_burst_init(&burst, qp, &qp->recv);
	qp->recv.pace_ns = 0;
	sroce_ride_stop(qp);
	if (qp->resp.reorder.starving && sroce_ring_pending(&qp->rq_ring))
		sroce_responder_fed(&qp->resp, burst.now_ns);
	if (sroce_responder_deadline(&qp->resp) != SROCE_NEVER)
		sroce_responder_timeout(&qp->resp, burst.now_ns);
	if (qp->resp.reorder.count)
		sroce_receive_held(qp, burst.now_ns, budget);
	if (qp->state == IB_QPS_ERR)
		flush_receives(qp, budget);
	else
		send_responses(&burst, budget);
	/* What waited for a receive, or was read over, is not waited for any more. */
	sroce_hold_trim(qp);
	note_event(qp);
	if (sroce_responder_is_dead(&qp->resp))
		qp->recv.failed = true;
	return next_deadline(qp, burst.now_ns);
}

/* Did an ACK wait for the timer, or had it left? */
static void note_calm(struct sroce_qp *qp)
{
	struct sroce_half *half = &qp->recv;

	if (qp->ride.waits)
		half->calm_ns = 0;
	else if (!half->yielding && !half->retry && !half->pace_ns &&
		 sroce_responder_deadline(&qp->resp) == SROCE_NEVER)
		sroce_half_note_calm(half, ACK_WAIT_NS);
}

const struct sroce_half_ops sroce_recv_ops = {
	.work = work,
	.note_calm = note_calm,
};
