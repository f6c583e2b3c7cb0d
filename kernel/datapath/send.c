// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Running the send half: work requests in, packets and completions out.
 *
 *   fetch what was posted -> plan -> build the packets -> commit -> ... -> complete
 *
 * Packets of one size that follow each other, of one request or of many, travel as
 * one skb.
 *
 * Building may fail for want of memory: then nothing has happened, and the
 * timer tries again. A bad local buffer fails the request instead.
 */
#include <linux/err.h>

#include "compat/compat.h"
#include "datapath/mr.h"
#include "datapath/qp.h"
#include "trace.h"
#include "transport/psn.h"

/* Packets planned and built at a time. */
#define BURST_PACKETS	64
/* On a short path answers would be missed, and the timer fire, all the time: not earlier. */
#define RESPONSE_WAIT_NS	(250 * NSEC_PER_USEC)

static enum sroce_mem_status gather_payload(struct sroce_tx *tx,
					    const struct sroce_send_wqe *wqe, u32 offset,
					    struct sroce_crc_writer *writer, u32 bytes)
{
	if (wqe->flags & SROCE_SEND_INLINE) {
		sroce_crc_write(writer, wqe->inline_data + offset, bytes);
		return SROCE_MEM_OK;
	}
	return sroce_memory_gather(&tx->mr_ref, wqe->sge, wqe->num_sge, offset, writer, bytes);
}

static const struct sroce_path *wqe_path(const struct sroce_qp *qp,
					 const struct sroce_send_wqe *wqe)
{
	const struct sroce_av *address = wqe->ud.ah;

	return qp->service == SROCE_SERVICE_UD ? &address->path : &qp->sq.path;
}

/* How many packets as large as the one numbered @i follow it at once, about, with it. */
static u32 expected_requests(const struct sroce_qp *qp, const struct sroce_send_plan *plan, u32 i,
			     const struct sroce_packet *pkt)
{
	/* What was lost travels alone: what lost it, lost all that it travelled with. */
	if (plan->fills_hole || (plan->retransmit && qp->req.timeout_shift))
		return 1;
	/* Requests of one packet are often all alike: if the next one is, so may the others be. */
	if (pkt->info->flags & SROCE_OPF_LAST) {
		u32 left = qp->req.posted - plan->index;

		return left > 1 && sroce_requester_wqe(&qp->req, plan->index + 1)->length ==
				   sroce_requester_wqe(&qp->req, plan->index)->length ? left : 1;
	}
	/* The first has more headers than the rest. */
	return pkt->info->flags & SROCE_OPF_RETH ? 1 : plan->packet_count - i;
}

/* Returns 0, also for a packet that is lost at once; -EFAULT for a bad local buffer; -ENOMEM. */
static int build_request_packet(struct sroce_tx *tx, const struct sroce_send_plan *plan, u32 i,
				struct sroce_packet *pkt)
{
	struct sroce_qp *qp = tx->qp;
	const struct sroce_send_wqe *wqe = sroce_requester_wqe(&qp->req, plan->index);
	u32 offset = plan->offset + i * qp->req.attr.mtu_bytes;
	struct sroce_crc_writer *writer;
	int err;

	if (sroce_packet_repeats(i, plan->packet_count))
		pkt->psn = psn_add(plan->first_psn, i);
	else
		sroce_send_plan_packet(&qp->req, plan, i, pkt);
	err = sroce_tx_begin(tx, wqe_path(qp, wqe), pkt,
			     expected_requests(qp, plan, i, pkt), &writer);
	if (err)
		return err == -ENOMEM ? -ENOMEM : 0;
	if (pkt->payload_bytes &&
	    gather_payload(tx, wqe, offset, writer, pkt->payload_bytes) != SROCE_MEM_OK)
		return -EFAULT;
	sroce_tx_end(tx);
	return 0;
}

/* Packets behind the one numbered @i that are like it: so many are built; or -EFAULT. */
static int build_equal_requests(struct sroce_tx *tx, const struct sroce_send_plan *plan, u32 i)
{
	struct sroce_qp *qp = tx->qp;
	u32 count = sroce_packet_repetitions(i, plan->packet_count);
	u32 mtu_bytes = qp->req.attr.mtu_bytes;
	struct sroce_crc_writer *writer;

	if (!count)
		return 0;
	count = sroce_tx_repeat_begin(tx, count, psn_add(plan->first_psn, i + 1), &writer);
	if (!count)
		return 0;
	if (gather_payload(tx, sroce_requester_wqe(&qp->req, plan->index),
			   plan->offset + (i + 1) * mtu_bytes, writer,
			   count * mtu_bytes) != SROCE_MEM_OK)
		return -EFAULT;
	sroce_tx_repeat_end(tx);
	return count;
}

/* All packets of the plan, or none. */
static int build_requests(struct sroce_tx *tx, const struct sroce_send_plan *plan)
{
	struct sroce_packet pkt __sroce_uninit;
	struct sroce_gso_mark mark;
	bool section;
	int err = 0;
	u32 i;

	sroce_gso_mark(&tx->gso, &mark);
	section = sroce_crc_vector_begin(plan->payload_bytes);
	for (i = 0; i < plan->packet_count && err >= 0; i += 1 + err) {
		err = build_request_packet(tx, plan, i, &pkt);
		if (!err)
			err = build_equal_requests(tx, plan, i);
	}
	sroce_crc_vector_end(section);
	sroce_mr_ref_put(&tx->mr_ref);
	if (err < 0)
		sroce_gso_rewind(&tx->gso, &mark);
	return min(err, 0);
}

/* Returns whether the plan has been carried out. */
static bool send_burst(struct sroce_tx *tx, const struct sroce_send_plan *plan)
{
	enum sroce_wc_status status = SROCE_WC_SUCCESS;
	struct sroce_qp *qp = tx->qp;
	int err = build_requests(tx, plan);

	if (err == -ENOMEM) {
		qp->sq.retry = true;
		return false;
	}
	if (err)
		status = SROCE_WC_LOC_PROT_ERR;
	if (plan->retransmit)
		sroce_count_add(qp->dev->ep.counters,
				plan->fills_hole ? SROCE_CTR_ROCE_ADP_RETRANS :
						   SROCE_CTR_COMPLETER_RETRY_ERR,
				plan->packet_count);
	/* Its request was executed, and later answers have shown that one was lost. */
	if (plan->fills_hole && plan->payload_end && !qp->req.probe.due &&
	    psn_before(plan->first_psn, qp->req.sb.executed_psn))
		sroce_count(qp->dev->ep.counters, SROCE_CTR_IMPLIED_NAK_SEQ_ERR);
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
		status = sroce_region_register(mem, qp->ibqp.pd, wqe->local.object, wqe->local.key,
					       wqe->local.addr, wqe->local.access);
	else if (wqe->opcode == SROCE_WR_LOCAL_INV)
		status = sroce_memory_invalidate(mem, qp->ibqp.pd, wqe->invalidate_rkey, false);
	return status == SROCE_MEM_OK ? SROCE_WC_SUCCESS : SROCE_WC_LOC_QP_OP_ERR;
}

/* Returns whether there was anything to do. */
static bool send_next(struct sroce_tx *tx, u32 *budget)
{
	struct sroce_qp *qp = tx->qp;
	struct sroce_requester *req = &qp->req;
	struct sroce_send_plan plan __sroce_uninit;
	u64 edt_ns;
	u32 packets;

	packets = sroce_tx_schedule(tx, &req->cc, &edt_ns);
	sroce_requester_plan(req, clamp(packets, 1u, min_t(u32, *budget, BURST_PACKETS)), &plan);
	if (plan.action == SROCE_SEND_NOTHING)
		return false;
	/* What is sent again is not handed over ahead: an answer before it left is not to it. */
	if (plan.action == SROCE_SEND_PACKETS &&
	    (!packets || (plan.retransmit && edt_ns > tx->now_ns))) {
		qp->sq.pace_ns = edt_ns;
		return false;
	}
	/* After a timeout a probe, or the few packets of a retry, pass: else none is used up. */
	if (plan.action == SROCE_SEND_PACKETS &&
	    !(req->timeout_shift && plan.retransmit && (!plan.fills_hole || req->probe.due)) &&
	    sroce_wq_is_throttled(qp, &qp->sq, tx->gso.packets))
		return false;
	trace_sroce_send_plan(qp->ibqp.qp_num, &plan);
	*budget -= min(*budget, max(plan.packet_count, 1u));

	if (plan.action == SROCE_SEND_PACKETS) {
		sroce_tx_set_edt(tx, &req->cc, edt_ns);
		return send_burst(tx, &plan);
	}
	sroce_requester_commit(req, &plan, plan.action == SROCE_SEND_LOCAL ?
			       execute_local(qp, sroce_requester_wqe(req, plan.index)) :
			       SROCE_WC_SUCCESS, tx->now_ns);
	return true;
}

/*
 * Are packets still on their way out of this host, say through a slow qdisc?
 * Then it is too early to miss an answer. Packets that nobody frees (some
 * drivers are lazy) do not count for longer than once. fq says that it has freed what it
 * still holds.
 */
static bool stack_is_draining(struct sroce_qp *qp)
{
	u32 queued = atomic_read(&qp->ref->tsq[SROCE_SQ].queued);
	u32 freed = qp->sq.sent - queued;
	bool moves = freed != qp->sq.freed, edt_pending = qp->sq.edt_pending;

	qp->sq.freed = freed;
	qp->sq.edt_pending = false;
	return (queued && moves) || edt_pending;
}

static void check_timeout(struct sroce_qp *qp, u64 now_ns)
{
	struct sroce_requester *req = &qp->req;
	u64 timeouts = req->timeouts, probes = req->probe.sent_count;

	if (now_ns < sroce_requester_deadline(req))
		return;
	if (!req->rnr_waiting) {
		if (now_ns < qp->sq.rearm_after_ns)
			return;
		if (stack_is_draining(qp)) {
			qp->sq.rearm_after_ns = now_ns + sroce_rtt_probe_ns(&req->rtt);
			return;
		}
		qp->sq.timer_defer_ns = 0;
	}
	sroce_requester_timeout(req, now_ns);
	if (req->timeouts != timeouts)
		sroce_count(qp->dev->ep.counters, SROCE_CTR_LOCAL_ACK_TIMEOUT_ERR);
	if (req->probe.sent_count != probes)
		sroce_count(qp->dev->ep.counters, SROCE_CTR_ROCE_ADP_RETRANS_TO);
	sroce_trace_cc_events(qp, &req->cc, SROCE_SQ);
}

/* No longer than the verbs' timeout, of which 0 is none. */
static u64 response_wait_ns(const struct sroce_qp *qp)
{
	u64 timeout_ns = qp->req.attr.ack_timeout_ns ?: SROCE_NEVER;

	return max(min(qp->sq.timer_defer_ns, timeout_ns), RESPONSE_WAIT_NS);
}

static u64 sq_deadline(struct sroce_qp *qp, u64 now_ns)
{
	u64 deadline_ns = sroce_requester_deadline(&qp->req);
	u64 wait_ns = response_wait_ns(qp);

	qp->sq.slack_ns = 0;
	if (deadline_ns != SROCE_NEVER && !qp->req.rnr_waiting) {
		deadline_ns = max3(deadline_ns, qp->sq.rearm_after_ns, now_ns + wait_ns);
		sroce_wq_set_timer_slack(&qp->sq, wait_ns);
	}
	return sroce_wq_earliest(&qp->sq, deadline_ns, qp->sq.pace_ns ?: SROCE_NEVER);
}

static void count_error(const struct sroce_qp *qp, enum sroce_wc_status status)
{
	if (status == SROCE_WC_RETRY_EXC_ERR)
		sroce_count(qp->dev->ep.counters, SROCE_CTR_RETRY_EXCEEDED_ERR);
	else if (status == SROCE_WC_RNR_RETRY_EXC_ERR)
		sroce_count(qp->dev->ep.counters, SROCE_CTR_RETRY_RNR_EXCEEDED_ERR);
	else if (status == SROCE_WC_REM_ACCESS_ERR)
		sroce_count(qp->dev->ep.counters, SROCE_CTR_REQ_REMOTE_ACCESS_ERRORS);
}

/* Returns whether slots have been freed. */
static bool complete_requests(struct sroce_qp *qp, u32 *budget)
{
	struct sroce_completion wc __sroce_uninit;
	u32 retired = qp->req.retired;

	while (*budget && sroce_requester_next_completion(&qp->req, &wc)) {
		count_error(qp, wc.status);
		sroce_wq_complete(qp, &qp->sq, &wc, NULL);
		if (qp->req.state == SROCE_SQ_ERROR)
			--*budget;
	}
	sroce_send_queue_retire(qp, retired);
	return qp->req.retired != retired;
}

static void check_state(struct sroce_qp *qp)
{
	if (qp->req.state == SROCE_SQ_ERROR &&
	    (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD))
		qp->sq.failed = true;
	if (qp->sq_draining_notify && sroce_requester_is_drained(&qp->req)) {
		qp->sq_draining_notify = false;
		qp->sq.events |= BIT(IB_EVENT_SQ_DRAINED);
	}
}

static u64 sq_work(struct sroce_qp *qp, u32 *budget)
{
	struct sroce_tx tx __sroce_uninit;

	sroce_tx_init(&tx, qp, &qp->sq);
	qp->sq.pace_ns = 0;
	check_timeout(qp, tx.now_ns);
	sroce_ack_piggyback_reserve(&tx);
	do {
		sroce_send_queue_fetch(qp);
		while (*budget && tx.bytes < SROCE_ROUND_BYTES && send_next(&tx, budget))
			;
	} while (complete_requests(qp, budget) && *budget && tx.bytes < SROCE_ROUND_BYTES);
	qp->sq.more = tx.bytes >= SROCE_ROUND_BYTES;
	sroce_ack_piggyback(&tx);
	check_state(qp);
	return sroce_doorbell_update(qp, sq_deadline(qp, tx.now_ns));
}

/* Did the timer look after answers, and nothing else, and was none late? */
static void sq_timer_fired(struct sroce_qp *qp)
{
	struct sroce_wq *wq = &qp->sq;

	if (wq->yielding || wq->retry || wq->pace_ns || qp->db.active)
		return;
	wq->now_ns = ktime_get_ns();
	if (wq->now_ns < sroce_requester_deadline(&qp->req))
		sroce_wq_timer_idle(wq, RESPONSE_WAIT_NS);
}

const struct sroce_wq_ops sroce_sq_ops = {
	.work = sq_work,
	.timer_fired = sq_timer_fired,
};
