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
 *	  if (!no_doorbell) ring	  if (ring_pending()) run again
 *
 * At least one of them sees the other. Polling costs a timer, so suppression is granted to
 * processes that post several requests for each time they poll: these ring the doorbell when they
 * run out of completions, and the timer finds no request that has waited. A process whose requests
 * wait for the timer repeatedly must ring for a while. So must one that posts more requests than
 * there are slots for, because its doorbell allocates more (send_queue.c). Nothing here is read
 * back from user memory.
 *
 * No timer is needed while requests fetched earlier are still to be sent, or fill the ring: no
 * request behind them could be sent sooner, and the event that they wait for runs the queue.
 */
#include <linux/ktime.h>

#include "datapath/doorbell.h"
#include "datapath/qp.h"

/*
 * For how long the kernel polls the ring, which is how long a request may wait. It grows by an
 * eighth each time the timer finds nothing; more while responses are due, which run the queue too.
 */
#define POLL_NS	(50 * NSEC_PER_USEC)
#define POLL_NS_MAX	(1 * NSEC_PER_MSEC)
#define IDLE_POLL_NS_MAX	(250 * NSEC_PER_USEC)
/* One late request is worth it for 64 requests without a doorbell; four at once are too many. */
#define LATE_REQUEST_COST	64
#define LATE_COST_MAX	(4 * LATE_REQUEST_COST)
#define SUPPRESS_PAUSE_NS	(4 * NSEC_PER_MSEC)

/* Other states send nothing, so the timer must poll. A doorbell may enlarge the ring. */
static bool sq_is_busy(const struct sroce_qp *qp)
{
	const struct sroce_requester *req = &qp->req;

	return req->state == SROCE_SQ_READY &&
	       (req->send != req->posted ||
		(!sroce_requester_room(req) && req->ring_mask >= qp->sq_ring.mask));
}

static bool responses_are_due(const struct sroce_qp *qp)
{
	return qp->req.unacked_psn != qp->req.sent_psn;
}

static u64 poll_ns(const struct sroce_qp *qp)
{
	return responses_are_due(qp) ? qp->db.poll_ns : min(qp->db.poll_ns, IDLE_POLL_NS_MAX);
}

static void revoke_suppression(struct sroce_qp *qp)
{
	qp->db.active = false;
	qp->db.poll_until_ns = 0;
	sroce_ring_set_no_doorbell(&qp->sq_ring, false);
	/* Pairs with the poster's barrier: it sees the word, or we see its request. */
	smp_mb();
	/* In a full ring requests are under way, and their responses run the queue. */
	if (sroce_ring_pending(&qp->sq_ring) && sroce_requester_room(&qp->req))
		qp->sq.again = true;
}

static void grant_suppression(struct sroce_qp *qp, u64 now_ns)
{
	qp->db.active = true;
	qp->db.poll_until_ns = now_ns + poll_ns(qp);
	qp->db.unacked_psn = qp->req.unacked_psn;
	sroce_ring_set_no_doorbell(&qp->sq_ring, true);
}

/*
 * Does the process post ahead of its polling? Yes if it brings several requests, or leaves
 * completions unread, or wants none and the peer has sent nothing since its last request, so that
 * it cannot have waited for anything.
 */
static bool posts_ahead(const struct sroce_qp *qp)
{
	return qp->db.found > 1 || READ_ONCE(qp->send_cq->behind) ||
	       (!qp->db.signaled && qp->db.epsn == READ_ONCE(qp->resp.epsn));
}

/* A process that arms a CQ, to sleep until the next completion, always rings: see userlib. */
static bool cqs_are_armed(const struct sroce_qp *qp)
{
	return sroce_cq_is_armed(qp->send_cq) ||
	       (qp->recv_cq != qp->send_cq && sroce_cq_is_armed(qp->recv_cq));
}

/* Requests found without a doorbell pay for those that had to wait for the timer. */
static void charge_late_request(struct sroce_db_suppress *db, bool late, u64 now_ns)
{
	db->late_cost -= min(db->late_cost, db->found);
	if (!late)
		return;
	db->late_cost += LATE_REQUEST_COST;
	if (db->late_cost < LATE_COST_MAX)
		return;
	db->late_cost = 0;
	db->pause_until_ns = now_ns + SUPPRESS_PAUSE_NS;
}

/* Does the process's ring have requests for which a doorbell would allocate memory? */
static bool storage_is_full(const struct sroce_qp *qp)
{
	return qp->req.ring_mask < qp->sq_ring.mask && !sroce_requester_room(&qp->req) &&
	       sroce_ring_pending(&qp->sq_ring);
}

/*
 * Grant or extend suppression. If the process did not use the last grant, wait for one more
 * doorbell before granting again. Otherwise, of many QPs used in turn, each would run a timer for
 * nothing. While there is much to send, no timer is needed.
 */
static void grant_if_useful(struct sroce_qp *qp, u64 now_ns)
{
	struct sroce_db_suppress *db = &qp->db;

	if (!db->active && db->unused && now_ns >= db->poll_until_ns && !sq_is_busy(qp)) {
		db->poll_until_ns = now_ns + poll_ns(qp);
		return;
	}
	db->unused |= !db->active;
	grant_suppression(qp, now_ns);
}

static void judge_suppression(struct sroce_qp *qp, u64 now_ns)
{
	struct sroce_db_suppress *db = &qp->db;
	bool expired = db->active && now_ns >= db->poll_until_ns;
	bool moves = db->unacked_psn != qp->req.unacked_psn && responses_are_due(qp);
	bool may = now_ns >= db->pause_until_ns && !storage_is_full(qp);
	bool late = expired && db->found && !db->doorbell_seen;

	if (db->active && db->found && !db->doorbell_seen)
		db->unused = false;
	if (late)
		db->poll_ns = 0;
	db->poll_ns = clamp(db->poll_ns + (expired ? db->poll_ns / 8 : 0), POLL_NS,
			    POLL_NS_MAX);
	charge_late_request(db, late, now_ns);
	/* Sending a full ring takes longer than the poll time: the process has not had its turn. */
	if (db->active && storage_is_full(qp))
		revoke_suppression(qp);
	else if (may && ((db->found && posts_ahead(qp)) || (expired && moves)) &&
		 !cqs_are_armed(qp))
		grant_if_useful(qp, now_ns);
	else if (expired)
		revoke_suppression(qp);
	db->found = 0;
	db->doorbell_seen = false;
	db->signaled = false;
	db->epsn = READ_ONCE(qp->resp.epsn);
}

/**
 * sroce_doorbell_update() - grant, extend or revoke doorbell suppression
 * @qp: the QP, its send lock held, at the end of a round of its send queue
 * @deadline_ns: when the queue wants its next round
 *
 * Return: the same, or when the queue must poll the ring.
 */
u64 sroce_doorbell_update(struct sroce_qp *qp, u64 deadline_ns)
{
	struct sroce_db_suppress *db = &qp->db;
	u64 now_ns;

	if (!db->supported || !(db->active || db->found))
		return deadline_ns;
	now_ns = ktime_get_ns();
	judge_suppression(qp, now_ns);
	if (!db->active)
		return deadline_ns;
	if (sq_is_busy(qp))
		db->poll_until_ns = SROCE_NEVER;
	else
		db->poll_until_ns = min(db->poll_until_ns, now_ns + poll_ns(qp));
	return sroce_wq_earliest(&qp->sq, deadline_ns, db->poll_until_ns);
}
