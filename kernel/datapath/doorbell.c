// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbell suppression.
 *
 * A process that posts ahead of its polling does not need a system call per request: the kernel
 * sets no_doorbell in the send ring and polls the ring. Both sides publish, then execute a full
 * barrier, then look:
 *
 *	process				kernel
 *	  write WQE, bump producer	  no_doorbell = 0
 *	  full barrier			  full barrier
 *	  if (!no_doorbell) ring	  if (pending) run again
 *
 * At least one of them sees the other's store. transport/doorbell_policy.c decides when suppression
 * pays. Nothing here is read back from user memory.
 *
 * No timer is needed while requests fetched earlier are still to be sent, or fill the ring: no
 * request behind them could be sent sooner, and the event that lets them go runs the queue.
 */
#include <linux/ktime.h>

#include "datapath/doorbell.h"
#include "datapath/qp.h"
#include "transport/timer_policy.h"

/* Full storage counts only if no doorbell can grow it. In other states the timer must poll. */
static bool sq_is_busy(const struct sroce_qp *qp)
{
	const struct sroce_requester *req = &qp->req;

	return sroce_requester_is_ready(req) &&
	       (sroce_requester_unsent(req) ||
		(!sroce_requester_room(req) && sroce_requester_slots(req) > qp->sq_ring.mask));
}

static bool storage_is_full(const struct sroce_qp *qp)
{
	return sroce_requester_slots(&qp->req) <= qp->sq_ring.mask &&
	       !sroce_requester_room(&qp->req) && sroce_ring_pending(&qp->sq_ring);
}

/* A process that is going to sleep until the next completion always rings: see the provider. */
static bool cqs_are_armed(const struct sroce_qp *qp)
{
	return sroce_cq_is_armed(qp->send_cq) ||
	       (qp->recv_cq != qp->send_cq && sroce_cq_is_armed(qp->recv_cq));
}

static void revoke_suppression(struct sroce_qp *qp)
{
	sroce_ring_set_no_doorbell(&qp->sq_ring, false);
	/* Pairs with the poster's barrier: it sees the word, or we see its request. */
	smp_mb();
	/* If the storage is full, responses to its requests run the queue. */
	if (sroce_ring_pending(&qp->sq_ring) && sroce_requester_room(&qp->req))
		qp->sq.again = true;
}

/**
 * sroce_doorbell_update() - grant, extend or revoke doorbell suppression
 * @qp: a QP that supports it, its send lock held, at the end of a round of its send queue
 * @deadline_ns: when the queue wants its next round
 *
 * Return: the same, or when the queue must poll the ring.
 */
u64 sroce_doorbell_update(struct sroce_qp *qp, u64 deadline_ns)
{
	struct sroce_db_suppress *db = &qp->db;
	struct sroce_db_input in;
	u32 fetches;

	if (!db->active && !db->found)
		return deadline_ns;
	fetches = READ_ONCE(qp->send_cq->fetches);
	/* Two CPUs at once may count one: the policy only asks whether there have been others. */
	if (db->found)
		WRITE_ONCE(qp->send_cq->fetches, fetches + 1);
	/* Most rounds of a process that waits for each completion end here. */
	if (sroce_db_is_settled(db, READ_ONCE(qp->send_cq->behind))) {
		sroce_db_settle(db, sroce_responder_epsn(&qp->resp), fetches);
		return deadline_ns;
	}
	in = (struct sroce_db_input) {
		.now_ns = ktime_get_ns(),
		.unacked_psn = sroce_requester_unacked_psn(&qp->req),
		.epsn = sroce_responder_epsn(&qp->resp),
		.responses_due = sroce_requester_has_unacked(&qp->req),
		.is_busy = sq_is_busy(qp),
		.storage_full = storage_is_full(qp),
		.cq_fetches = fetches,
		.cq_behind = READ_ONCE(qp->send_cq->behind),
	};
	in.cq_armed = sroce_db_may_grant(db, &in) && cqs_are_armed(qp);
	switch (sroce_db_decide(db, &in)) {
	case SROCE_DB_KEEP:
		break;
	case SROCE_DB_GRANT:
		sroce_ring_set_no_doorbell(&qp->sq_ring, true);
		break;
	case SROCE_DB_REVOKE:
		revoke_suppression(qp);
		break;
	}
	return sroce_timer_earliest(deadline_ns, &qp->sq.slack_ns, sroce_db_deadline(db, &in));
}
