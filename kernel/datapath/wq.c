// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Running a half: one runner at a time, rounds of work under the lock with
 * deliveries in between, a timer for what happens later, and a tasklet for what cannot happen here.
 *
 * Who runs: whoever brings work and finds nobody running. Who finds somebody
 * sets `again` and leaves. Who has built much sets `more`, and the tasklet goes on when others have
 * had their turn. The timer continues what a budget of packets cut short, retries
 * after a shortage, and watches the engine's deadline. The tasklet is how those who may not
 * take the lock (hard interrupts, skb destructors) get a half to run: a timer that is to fire
 * at once would do it too, but programming the clock was a tenth of a READ's time.
 *
 * The timer is not cancelled, nor moved for each packet: one that fires too early
 * finds nothing to do and is armed anew. So it costs nothing per packet. But it is an interrupt,
 * and the clock to be programmed: where it was of no use time and again it comes later.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>

#include "compat/compat.h"
#include "datapath/qp.h"

/* After want of memory or of a route. */
#define RETRY_NS	(1 * NSEC_PER_MSEC)
/* After a spent budget: tasks get the processor too. */
#define YIELD_NS	(20 * NSEC_PER_USEC)
/* What waits for the timer, and mostly is there before, is not waited for longer. */
#define TIMER_DEFER_NS_MAX	(2 * NSEC_PER_MSEC)
/* How much later one timer may be for each QP that there is, so that they share interrupts. */
#define TIMER_SLACK_NS_PER_QP	(1 * NSEC_PER_USEC)

static const struct sroce_wq_ops *const ops[SROCE_WQ_TYPES] = {
	[SROCE_SQ] = &sroce_sq_ops,
	[SROCE_RQ] = &sroce_rq_ops,
};

/**
 * sroce_wq_kick() - get a half to run soon, from any context
 * @wq: of a QP that the caller holds a user of, or is a consumer of
 *
 * No lock is needed or taken. What was written before is seen by the run: to schedule a tasklet,
 * and to take that back before it runs, are full barriers.
 */
void sroce_wq_kick(struct sroce_wq *wq)
{
	if (!READ_ONCE(wq->dying))
		tasklet_schedule(&wq->tasklet);
}

/**
 * sroce_wq_timer_idle() - the timer has fired, and what it looks after was in order
 * @wq: the wq, its lock held; @wq->timer_defer_ns is how long it waits, and grows by a little.
 *        Who finds that something is late sets it to 0
 * @least_ns: what it is at least
 */
void sroce_wq_timer_idle(struct sroce_wq *wq, u64 least_ns)
{
	wq->timer_defer_ns =
		clamp(wq->timer_defer_ns + wq->timer_defer_ns / 16, least_ns, TIMER_DEFER_NS_MAX);
}

/**
 * sroce_wq_set_timer_slack() - what the half waits for next need not be exact if nothing was late
 * so far
 * @wq: the wq, its lock held; @wq->slack_ns is set
 * @wait_ns: how long it will wait
 */
void sroce_wq_set_timer_slack(struct sroce_wq *wq, u64 wait_ns)
{
	wq->slack_ns = 0;
	if (wq->timer_defer_ns)
		wq->slack_ns = clamp(sroce_qps() * TIMER_SLACK_NS_PER_QP, wait_ns / 4, wait_ns * 2);
}

/* What fires too early finds nothing to do; what is to come earlier than it may moves it. */
static void arm_timer(struct sroce_wq *wq, u64 deadline_ns)
{
	u64 latest_ns = deadline_ns + wq->slack_ns;

	if (wq->dying || latest_ns >= wq->armed_ns)
		return;
	wq->armed_ns = latest_ns;
	hrtimer_start_range_ns(&wq->timer, ns_to_ktime(deadline_ns), wq->slack_ns,
			       HRTIMER_MODE_ABS_SOFT);
}

static void run_wq_rounds(struct sroce_qp *qp, struct sroce_wq *wq, bool may_call_back)
{
	u32 budget = SROCE_WQ_BUDGET;
	u64 deadline_ns;
	bool left_over;

	do {
		wq->again = false;
		wq->retry = false;
		wq->more = false;
		deadline_ns = ops[wq->type]->work(qp, &budget);
		left_over = sroce_wq_deliver(qp, wq, may_call_back);
		/* A round costs something even when others leave us nothing but wakeups. */
	} while (wq->again && !wq->more && budget && --budget);

	wq->yielding = !budget;
	if (!budget)
		deadline_ns = sroce_wq_earliest(wq, SROCE_NEVER, ktime_get_ns() + YIELD_NS);
	else if (wq->again || left_over || wq->more)
		sroce_wq_kick(wq);
	else if (wq->retry)
		deadline_ns = sroce_wq_earliest(wq, deadline_ns, ktime_get_ns() + RETRY_NS);
	arm_timer(wq, deadline_ns);
}

/**
 * sroce_wq_run() - do what there is to do, unless somebody is at it
 * @qp: the QP
 * @wq: the half
 * @may_call_back: consumers may be called back from here
 *
 * Entered with @wq->lock held and BH off, left without. In between the lock
 * is dropped for deliveries. Where SROCE_WQ_BUDGET is spent, the timer goes on.
 */
void sroce_wq_run(struct sroce_qp *qp, struct sroce_wq *wq, bool may_call_back)
	__releases(&wq->lock)
{
	if (wq->running) {
		wq->again = true;
	} else if (!wq->dying && !wq->yielding) {
		wq->running = true;
		run_wq_rounds(qp, wq, may_call_back);
		wq->running = false;
	}
	wq->now_ns = 0;
	spin_unlock_bh(&wq->lock);
}

static struct sroce_qp *wq_qp(struct sroce_wq *wq)
{
	return wq->type == SROCE_SQ ? container_of(wq, struct sroce_qp, sq) :
					       container_of(wq, struct sroce_qp, rq);
}

static enum hrtimer_restart wq_timer_fired(struct hrtimer *timer)
{
	struct sroce_wq *wq = container_of(timer, struct sroce_wq, timer);
	struct sroce_qp *qp = wq_qp(wq);

	spin_lock_bh(&wq->lock);
	wq->armed_ns = SROCE_NEVER;
	ops[wq->type]->timer_fired(qp);
	wq->yielding = false;
	if (wq->pace_ns)
		sroce_count(qp->dev->ep.counters, SROCE_CTR_PACING_WAKEUPS);
	/* It arms the timer again where needed. */
	sroce_wq_run(qp, wq, true);
	return HRTIMER_NORESTART;
}

static void wq_tasklet_run(struct tasklet_struct *tasklet)
{
	struct sroce_wq *wq = container_of(tasklet, struct sroce_wq, tasklet);

	spin_lock_bh(&wq->lock);
	sroce_wq_run(wq_qp(wq), wq, true);
}

/**
 * sroce_wq_init() - set up a wq, without its lock
 * @wq: zeroed
 * @type: which one
 */
void sroce_wq_init(struct sroce_wq *wq, enum sroce_wq_type type)
{
	wq->type = type;
	wq->armed_ns = SROCE_NEVER;
	__skb_queue_head_init(&wq->out);
	hrtimer_setup(&wq->timer, wq_timer_fired, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	tasklet_setup(&wq->tasklet, wq_tasklet_run);
}
