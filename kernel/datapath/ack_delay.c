// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Delayed and piggybacked ACKs.
 *
 * A consumer that replies to what it receives does so at once. The ACK then goes with the reply, as
 * the last packet of its skb, and the stack is crossed once instead of twice. So the ACK of a SEND
 * is delayed while a consumer in the kernel is called back, until one of these happens:
 *
 *   the send queue has something to send, and the ACK is piggybacked;
 *   the consumer asks for the next notification, so it has had its turn;
 *   the receive queue runs again for any reason: another request, or its timer.
 *
 * An ACK is delayed only if the consumer has sent something since the last delayed ACK. For the
 * engine the ACK has not been sent yet.
 */
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "compat/compat.h"
#include "datapath/ack_delay.h"
#include "datapath/qp.h"
#include "datapath/tx.h"
#include "trace.h"
#include "transport/response.h"

#define ACK_BYTES	(sizeof(struct sroce_bth) + sizeof(struct sroce_aeth) + SROCE_ICRC_BYTES)

/**
 * sroce_ack_delay_cancel() - no ACK is delayed any more
 * @qp: the QP, its receive lock held, or being destroyed
 */
void sroce_ack_delay_cancel(struct sroce_qp *qp)
{
	if (!qp->ack_delayed)
		return;
	WRITE_ONCE(qp->ack_delayed, false);
	cmpxchg(&qp->recv_cq->delayed_ack_qp, qp->ref, NULL);
}

/**
 * sroce_ack_delay_suspend() - a duplicate request has come: delay no ACK for a while
 * @qp: the QP, its receive lock held
 */
void sroce_ack_delay_suspend(struct sroce_qp *qp)
{
	sroce_delayed_ack_duplicate(&qp->delayed_ack);
	qp->rq.timer_defer_ns = 0;
}

/**
 * sroce_ack_delay_begin() - delay a response, if it may save an skb
 * @qp: the QP, its receive lock held
 * @plan: the next response
 *
 * Only one QP of a CQ at a time, and only if its consumer is about to be called back.
 *
 * Return: true if it is delayed.
 */
bool sroce_ack_delay_begin(struct sroce_qp *qp, const struct sroce_response_plan *plan)
{
	struct sroce_cq *cq = qp->recv_cq;

	if (!sroce_delayed_ack_decide(&qp->delayed_ack, qp->rq.wake && !cq->is_user,
				      READ_ONCE(qp->consumer_replies),
				      sroce_response_may_be_delayed(&qp->resp, plan)))
		return false;
	WRITE_ONCE(qp->consumer_replies, false);
	if (cmpxchg(&cq->delayed_ack_qp, NULL, qp->ref))
		return false;
	WRITE_ONCE(qp->ack_delayed, true);
	sroce_count(sroce_qp_counters(qp), SROCE_CTR_ACK_DEFERRED);
	return true;
}

/**
 * sroce_ack_piggyback_reserve() - reserve space for an ACK that is delayed
 * @tx: a round of the send queue, its lock held, still empty
 *
 * Not while retransmitting: a retransmission has an skb of its own.
 */
void sroce_ack_piggyback_reserve(struct sroce_tx *tx)
{
	if (!sroce_requester_is_rewound(&tx->qp->req))
		tx->builder.piggyback_bytes = ACK_BYTES;
}

/* Both locks are held. Everything that the receive queue sent before is in the stack. */
static void piggyback_ack(struct sroce_tx *tx)
{
	struct sroce_qp *qp = tx->qp;
	struct sroce_response_plan plan __sroce_uninit;
	struct sroce_packet pkt __sroce_uninit;
	struct sroce_crc_writer *writer;

	if (!sroce_response_plan_next(&qp->resp, 1, &plan) ||
	    !sroce_response_may_be_delayed(&qp->resp, &plan))
		return;
	sroce_response_plan_packet(&qp->resp, &plan, 0, &pkt);
	/* An ACK is not paced as requests are, but must not overtake READ responses. */
	sroce_tx_set_edt(tx, &qp->resp.cc, sroce_cc_edt_ns(&qp->resp.cc));
	if (sroce_tx_begin(tx, &qp->sq.path, &pkt, 1, &writer))
		return;
	sroce_tx_end(tx);
	trace_sroce_response_plan(qp->ibqp.qp_num, &plan);
	sroce_response_commit(&qp->resp, &plan, SROCE_MEM_OK);
	sroce_ack_delay_cancel(qp);
}

/**
 * sroce_ack_piggyback() - send a delayed ACK with requests
 * @tx: a round of the send queue of a consumer in the kernel, its lock held, with all that it will
 *      send: at least a packet
 */
void sroce_ack_piggyback(struct sroce_tx *tx)
{
	struct sroce_qp *qp = tx->qp;

	WRITE_ONCE(qp->consumer_replies, true);
	if (!READ_ONCE(qp->ack_delayed))
		return;
	spin_lock(&qp->rq.lock);
	if (qp->ack_delayed && !qp->rq.running)
		piggyback_ack(tx);
	spin_unlock(&qp->rq.lock);
}

static void flush_ack(struct sroce_qp *qp)
{
	if (irqs_disabled() || in_hardirq()) {
		sroce_wq_kick(&qp->rq);
		return;
	}
	spin_lock_bh(&qp->rq.lock);
	sroce_wq_run(qp, &qp->rq, false);
}

/**
 * sroce_ack_delay_end() - the consumer of a CQ has had its turn: send an ACK still delayed
 * @cq: the CQ
 *
 * Any context, no lock of ours held. No consumer is called back.
 */
void sroce_ack_delay_end(struct sroce_cq *cq)
{
	struct sroce_qp_ref *ref;

	if (!READ_ONCE(cq->delayed_ack_qp))
		return;
	/* The reference object outlives its QP by a grace period. */
	rcu_read_lock();
	ref = xchg(&cq->delayed_ack_qp, NULL);
	if (ref && refcount_inc_not_zero(&ref->users)) {
		struct sroce_qp *qp = ref->qp;

		flush_ack(qp);
		sroce_qp_put(qp);
	}
	rcu_read_unlock();
}
