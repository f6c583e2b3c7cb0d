// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doing without doorbells: the promise, given in a word of the send ring, that
 * the kernel will look at the ring again without being called.
 *
 *   process                              kernel
 *     write the request, publish           withdraw the promise
 *     full barrier                         full barrier
 *     promised? then no doorbell           look at the ring once more
 *
 * One of the two sees the other. A promise costs timers, so it is
 * given to those who post several requests for each time they poll: they come
 * with a doorbell when they run out of completions, and the timer finds nothing
 * that has waited. A process that again and again lets requests wait for the timer
 * has to ring for a while, and so has one that posts more than there is kernel memory
 * for: its doorbell gets more (send_storage.c). Nothing here is believed: the words are
 * written, never read.
 *
 * No timer is needed while requests taken over earlier are still to be sent, or have all the room
 * that there can be: none behind them could be sent sooner, and what lets them go makes us look.
 */
#include <linux/ktime.h>

#include "datapath/qp.h"

/*
 * How long the kernel goes on looking, and a request may wait. Longer by a little each time that
 * the timer finds nothing; most where answers are due, which make us look as well.
 */
#define POLL_NS	(50 * NSEC_PER_USEC)
#define POLL_NS_MAX	(1 * NSEC_PER_MSEC)
#define IDLE_POLL_NS_MAX	(250 * NSEC_PER_USEC)
/* Waiting once is worth it for so many requests; who does it for fewer has to ring for a while. */
#define LATE_REQUEST_COST	64
#define LATE_COST_MAX	(4 * LATE_REQUEST_COST)
#define SUPPRESS_PAUSE_NS	(4 * NSEC_PER_MSEC)

/* Other states send nothing: there the timer has to look. A doorbell may get more room. */
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
	/* Pairs with the poster's barrier: it sees the word, or we its request. */
	smp_mb();
	/* Without room there are requests under way, and their answers make us look. */
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
 * Does the process post ahead of its polling? Yes if it brings several requests,
 * or leaves completions lying, or wants none and has heard nothing from the peer
 * since the request before, so that it cannot have waited for anything.
 */
static bool posts_ahead(const struct sroce_qp *qp)
{
	return qp->db.found > 1 || READ_ONCE(qp->send_cq->behind) ||
	       (!qp->db.signaled && qp->db.epsn == READ_ONCE(qp->resp.epsn));
}

/* Who is going to sleep until the next completion rings always (the provider sees to it). */
static bool cqs_are_armed(const struct sroce_qp *qp)
{
	return sroce_cq_is_armed(qp->send_cq) ||
	       (qp->recv_cq != qp->send_cq && sroce_cq_is_armed(qp->recv_cq));
}

/* Requests found pay for those that had to wait for the timer. */
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

/* Is something left in the ring that a doorbell would get more memory for? */
static bool storage_is_full(const struct sroce_qp *qp)
{
	return qp->req.ring_mask < qp->sq_ring.mask && !sroce_requester_room(&qp->req) &&
	       sroce_ring_pending(&qp->sq_ring);
}

/*
 * Anew, or for longer. Who made no use of the last one rings again within the time it would
 * have had before there is another: one that nobody uses is a timer for nothing, and of many QPs
 * in turn each rings once in a while. While there is much to send it needs no timer.
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
	/* A long queue takes longer to send than the grace: the process has not had its turn. */
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
 * sroce_doorbell_update() - keep, give or withdraw the promise
 * @qp: the QP, its send lock held, at the end of a round of its send half
 * @deadline_ns: when the half wants its next round
 *
 * Return: the same, or when the promise makes it look at the ring again.
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
