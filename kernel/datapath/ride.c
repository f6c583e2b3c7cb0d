// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ACKs that travel with requests.
 *
 * A consumer that answers what it receives does so in a moment: then the ACK goes
 * with the answer, as the last packet of its skb, and the stack is crossed once
 * instead of twice. So the ACK of a SEND waits while a consumer inside the kernel is
 * called back, until
 *
 *   the send half has something to send, and takes it along;
 *   the consumer asks for the next notification, so that it has had its turn;
 *   the receive half runs again for whatever reason: another request, or its timer.
 *
 * It does so only if the consumer has sent something since one last waited. What the
 * engine says of it is the same as if it had been sent at once, or lost.
 */
#include <linux/preempt.h>
#include <linux/rcupdate.h>

#include "compat/compat.h"
#include "datapath/qp.h"
#include "trace.h"

#define ACK_BYTES	(sizeof(struct sroce_bth) + sizeof(struct sroce_aeth) + SROCE_ICRC_BYTES)
/* After a request that came twice: what becomes of ACKs behind other packets is not certain. */
#define PAUSE_ACKS	255

/**
 * sroce_ride_stop() - no ACK waits any more
 * @qp: the QP, its receive lock held, or going away
 */
void sroce_ride_stop(struct sroce_qp *qp)
{
	if (!qp->ride.waits)
		return;
	WRITE_ONCE(qp->ride.waits, false);
	cmpxchg(&qp->recv_cq->waiting, qp->ref, NULL);
}

/**
 * sroce_ride_missed() - a request came again: has its ACK been lost?
 * @qp: the QP, its receive lock held
 */
void sroce_ride_missed(struct sroce_qp *qp)
{
	qp->ride.pause = PAUSE_ACKS;
	qp->recv.calm_ns = 0;
}

/**
 * sroce_ride_begin() - does a response wait?
 * @qp: the QP, its receive lock held
 * @plan: what is to be sent next
 *
 * One QP of a CQ at a time, and only if its consumer is about to be called back.
 *
 * Return: whether it does.
 */
bool sroce_ride_begin(struct sroce_qp *qp, const struct sroce_response_plan *plan)
{
	struct sroce_cq *cq = qp->recv_cq;

	if (!qp->recv.wake || cq->is_user || !READ_ONCE(qp->ride.answers) ||
	    !sroce_response_may_wait(&qp->resp, plan))
		return false;
	if (qp->ride.pause) {
		qp->ride.pause--;
		return false;
	}
	WRITE_ONCE(qp->ride.answers, false);
	if (cmpxchg(&cq->waiting, NULL, qp->ref))
		return false;
	WRITE_ONCE(qp->ride.waits, true);
	return true;
}

/**
 * sroce_ride_expect() - keep room for an ACK that waits
 * @burst: of a send half, its lock held, still empty
 *
 * What is sent again travels alone.
 */
void sroce_ride_expect(struct sroce_burst *burst)
{
	struct sroce_qp *qp = burst->qp;

	if (READ_ONCE(qp->ride.waits) && qp->req.next_psn == qp->req.sent_psn)
		burst->run.rider_bytes = ACK_BYTES;
}

/* Both locks are held. What the receive half has sent before is in the stack. */
static void join(struct sroce_burst *burst)
{
	struct sroce_qp *qp = burst->qp;
	struct sroce_response_plan plan SROCE_FILLED_IN;
	struct sroce_packet pkt SROCE_FILLED_IN;
	struct sroce_crc_sink *sink;

	if (!sroce_responder_next_response(&qp->resp, 1, &plan) ||
	    !sroce_response_may_wait(&qp->resp, &plan))
		return;
	sroce_response_plan_packet(&qp->resp, &plan, 0, &pkt);
	/* Not as late as requests, not before READ responses. */
	sroce_burst_leave(burst, &qp->resp.cc, qp->resp.cc.depart_ns);
	if (sroce_burst_begin(burst, &qp->send.path, &pkt, 1, &sink))
		return;
	sroce_burst_end(burst);
	trace_sroce_response_plan(qp->ibqp.qp_num, &plan);
	sroce_responder_response_sent(&qp->resp, &plan, SROCE_MEM_OK);
	sroce_ride_stop(qp);
}

/**
 * sroce_ride_join() - take an ACK along that waits
 * @burst: of a send half, its lock held, with all that it will send
 */
void sroce_ride_join(struct sroce_burst *burst)
{
	struct sroce_qp *qp = burst->qp;

	if (!burst->run.packets || qp->is_user)
		return;
	WRITE_ONCE(qp->ride.answers, true);
	if (!READ_ONCE(qp->ride.waits))
		return;
	spin_lock(&qp->recv.lock);
	if (qp->ride.waits && !qp->recv.running)
		join(burst);
	spin_unlock(&qp->recv.lock);
}

static void send_ack(struct sroce_qp *qp)
{
	if (irqs_disabled() || in_hardirq()) {
		sroce_half_kick(&qp->recv);
		return;
	}
	spin_lock_bh(&qp->recv.lock);
	sroce_half_run(qp, &qp->recv, false);
}

/**
 * sroce_ride_release() - the consumer of a CQ has had its turn: an ACK that still waits is sent
 * @cq: the CQ
 *
 * Any context, no lock of ours held. Nobody is called back.
 */
void sroce_ride_release(struct sroce_cq *cq)
{
	struct sroce_qp_ref *ref;

	if (!READ_ONCE(cq->waiting))
		return;
	/* The reference object outlives its QP by a grace period. */
	rcu_read_lock();
	ref = xchg(&cq->waiting, NULL);
	if (ref && refcount_inc_not_zero(&ref->users)) {
		struct sroce_qp *qp = ref->qp;

		send_ack(qp);
		sroce_qp_put(qp);
	}
	rcu_read_unlock();
}
