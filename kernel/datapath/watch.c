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
#define GRACE_NS	(50 * NSEC_PER_USEC)
#define GRACE_NS_MAX	(1 * NSEC_PER_MSEC)
#define IDLE_NS_MAX	(250 * NSEC_PER_USEC)
/* Waiting once is worth it for so many requests; who does it for fewer has to ring for a while. */
#define LATE_REQUESTS	64
#define LATE_MAX	(4 * LATE_REQUESTS)
#define PAUSE_NS	(4 * NSEC_PER_MSEC)

/* Other states send nothing: there the timer has to look. A doorbell may get more room. */
static bool is_busy(const struct sroce_qp *qp)
{
	const struct sroce_requester *req = &qp->req;

	return req->state == SROCE_SQ_READY &&
	       (req->send != req->posted ||
		(!sroce_requester_room(req) && req->ring_mask >= qp->sq_ring.mask));
}

static bool answers_are_due(const struct sroce_qp *qp)
{
	return qp->req.unacked_psn != qp->req.sent_psn;
}

static u64 grace_ns(const struct sroce_qp *qp)
{
	return answers_are_due(qp) ? qp->watch.grace_ns : min(qp->watch.grace_ns, IDLE_NS_MAX);
}

static void withdraw(struct sroce_qp *qp)
{
	qp->watch.on = false;
	qp->watch.until_ns = 0;
	sroce_ring_show_watched(&qp->sq_ring, false);
	/* Pairs with the poster's barrier: it sees the word, or we its request. */
	smp_mb();
	/* Without room there are requests under way, and their answers make us look. */
	if (sroce_ring_pending(&qp->sq_ring) && sroce_requester_room(&qp->req))
		qp->send.again = true;
}

static void promise(struct sroce_qp *qp, u64 now_ns)
{
	qp->watch.on = true;
	qp->watch.until_ns = now_ns + grace_ns(qp);
	qp->watch.unacked_psn = qp->req.unacked_psn;
	sroce_ring_show_watched(&qp->sq_ring, true);
}

/*
 * Does the process post ahead of its polling? Yes if it brings several requests,
 * or leaves completions lying, or wants none and has heard nothing from the peer
 * since the request before, so that it cannot have waited for anything.
 */
static bool is_ahead(const struct sroce_qp *qp)
{
	return qp->watch.found > 1 || READ_ONCE(qp->send_cq->behind) ||
	       (!qp->watch.signaled && qp->watch.epsn == READ_ONCE(qp->resp.epsn));
}

/* Who is going to sleep until the next completion rings always (the provider sees to it). */
static bool is_armed(const struct sroce_qp *qp)
{
	return sroce_cq_is_armed(qp->send_cq) ||
	       (qp->recv_cq != qp->send_cq && sroce_cq_is_armed(qp->recv_cq));
}

/* Requests found pay for those that had to wait for the timer. */
static void count_late(struct sroce_watch *watch, bool late, u64 now_ns)
{
	watch->late -= min(watch->late, watch->found);
	if (!late)
		return;
	watch->late += LATE_REQUESTS;
	if (watch->late < LATE_MAX)
		return;
	watch->late = 0;
	watch->pause_ns = now_ns + PAUSE_NS;
}

/* Is something left in the ring that a doorbell would get more memory for? */
static bool is_cramped(const struct sroce_qp *qp)
{
	return qp->req.ring_mask < qp->sq_ring.mask && !sroce_requester_room(&qp->req) &&
	       sroce_ring_pending(&qp->sq_ring);
}

/*
 * Anew, or for longer. Who made no use of the last one rings again within the time it would
 * have had before there is another: one that nobody uses is a timer for nothing, and of many QPs
 * in turn each rings once in a while. While there is much to send it needs no timer.
 */
static void promise_if_of_use(struct sroce_qp *qp, u64 now_ns)
{
	struct sroce_watch *watch = &qp->watch;

	if (!watch->on && watch->doubted && now_ns >= watch->until_ns && !is_busy(qp)) {
		watch->until_ns = now_ns + grace_ns(qp);
		return;
	}
	watch->doubted |= !watch->on;
	promise(qp, now_ns);
}

static void judge(struct sroce_qp *qp, u64 now_ns)
{
	struct sroce_watch *watch = &qp->watch;
	bool expired = watch->on && now_ns >= watch->until_ns;
	bool moves = watch->unacked_psn != qp->req.unacked_psn && answers_are_due(qp);
	bool may = now_ns >= watch->pause_ns && !is_cramped(qp);
	bool late = expired && watch->found && !watch->rung;

	if (watch->on && watch->found && !watch->rung)
		watch->doubted = false;
	if (late)
		watch->grace_ns = 0;
	watch->grace_ns = clamp(watch->grace_ns + (expired ? watch->grace_ns / 8 : 0), GRACE_NS,
				GRACE_NS_MAX);
	count_late(watch, late, now_ns);
	/* A long queue takes longer to send than the grace: the process has not had its turn. */
	if (watch->on && is_cramped(qp))
		withdraw(qp);
	else if (may && ((watch->found && is_ahead(qp)) || (expired && moves)) && !is_armed(qp))
		promise_if_of_use(qp, now_ns);
	else if (expired)
		withdraw(qp);
	watch->found = 0;
	watch->rung = false;
	watch->signaled = false;
	watch->epsn = READ_ONCE(qp->resp.epsn);
}

/**
 * sroce_watch_ring() - keep, give or withdraw the promise
 * @qp: the QP, its send lock held, at the end of a round of its send half
 * @deadline_ns: when the half wants its next round
 *
 * Return: the same, or when the promise makes it look at the ring again.
 */
u64 sroce_watch_ring(struct sroce_qp *qp, u64 deadline_ns)
{
	struct sroce_watch *watch = &qp->watch;
	u64 now_ns;

	if (!watch->offered || !(watch->on || watch->found))
		return deadline_ns;
	now_ns = ktime_get_ns();
	judge(qp, now_ns);
	if (!watch->on)
		return deadline_ns;
	if (is_busy(qp))
		watch->until_ns = SROCE_NEVER;
	else
		watch->until_ns = min(watch->until_ns, now_ns + grace_ns(qp));
	return sroce_half_exactly(&qp->send, deadline_ns, watch->until_ns);
}
