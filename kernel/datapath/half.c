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
#define CALM_NS_MAX	(2 * NSEC_PER_MSEC)
/* How much later one timer may be for each QP that there is, so that they share interrupts. */
#define SLACK_NS_QP	(1 * NSEC_PER_USEC)

static const struct sroce_half_ops *const ops[SROCE_SIDES] = {
	[SROCE_SEND_SIDE] = &sroce_send_ops,
	[SROCE_RECV_SIDE] = &sroce_recv_ops,
};

/**
 * sroce_half_kick() - get a half to run soon, from any context
 * @half: of a QP that the caller holds a user of, or is a consumer of
 *
 * No lock is needed or taken. What was written before is seen by the run: to schedule a tasklet,
 * and to take that back before it runs, are full barriers.
 */
void sroce_half_kick(struct sroce_half *half)
{
	if (!READ_ONCE(half->dying))
		tasklet_schedule(&half->tasklet);
}

/**
 * sroce_half_note_calm() - the timer has fired, and what it looks after was in order
 * @half: the half, its lock held; @half->calm_ns is how long it waits, and grows by a little.
 *        Who finds that something is late sets it to 0
 * @least_ns: what it is at least
 */
void sroce_half_note_calm(struct sroce_half *half, u64 least_ns)
{
	half->calm_ns = clamp(half->calm_ns + half->calm_ns / 16, least_ns, CALM_NS_MAX);
}

/**
 * sroce_half_be_calm() - what the half waits for next need not be exact if nothing was late so far
 * @half: the half, its lock held; @half->slack_ns is set
 * @wait_ns: how long it will wait
 */
void sroce_half_be_calm(struct sroce_half *half, u64 wait_ns)
{
	half->slack_ns = 0;
	if (half->calm_ns)
		half->slack_ns = clamp(sroce_qps() * SLACK_NS_QP, wait_ns / 4, wait_ns * 2);
}

/* What fires too early finds nothing to do; what is to come earlier than it may moves it. */
static void arm(struct sroce_half *half, u64 deadline_ns)
{
	u64 latest_ns = deadline_ns + half->slack_ns;

	if (half->dying || latest_ns >= half->armed_ns)
		return;
	half->armed_ns = latest_ns;
	hrtimer_start_range_ns(&half->timer, ns_to_ktime(deadline_ns), half->slack_ns,
			       HRTIMER_MODE_ABS_SOFT);
}

static void run_rounds(struct sroce_qp *qp, struct sroce_half *half, bool may_call_back)
{
	u32 budget = SROCE_RUN_BUDGET;
	u64 deadline_ns;
	bool left_over;

	do {
		half->again = false;
		half->retry = false;
		half->more = false;
		deadline_ns = ops[half->side]->work(qp, &budget);
		left_over = sroce_half_deliver(qp, half, may_call_back);
		/* A round costs something even when others leave us nothing but wakeups. */
	} while (half->again && !half->more && budget && --budget);

	half->yielding = !budget;
	if (!budget)
		deadline_ns = sroce_half_exactly(half, SROCE_NEVER, ktime_get_ns() + YIELD_NS);
	else if (half->again || left_over || half->more)
		sroce_half_kick(half);
	else if (half->retry)
		deadline_ns = sroce_half_exactly(half, deadline_ns, ktime_get_ns() + RETRY_NS);
	arm(half, deadline_ns);
}

/**
 * sroce_half_run() - do what there is to do, unless somebody is at it
 * @qp: the QP
 * @half: the half
 * @may_call_back: consumers may be called back from here
 *
 * Entered with @half->lock held and BH off, left without. In between the lock
 * is dropped for deliveries. Where SROCE_RUN_BUDGET is spent, the timer goes on.
 */
void sroce_half_run(struct sroce_qp *qp, struct sroce_half *half, bool may_call_back)
	__releases(&half->lock)
{
	if (half->running) {
		half->again = true;
	} else if (!half->dying && !half->yielding) {
		half->running = true;
		run_rounds(qp, half, may_call_back);
		half->running = false;
	}
	half->now_ns = 0;
	spin_unlock_bh(&half->lock);
}

static struct sroce_qp *qp_of(struct sroce_half *half)
{
	return half->side == SROCE_SEND_SIDE ? container_of(half, struct sroce_qp, send) :
					       container_of(half, struct sroce_qp, recv);
}

static enum hrtimer_restart run_by_timer(struct hrtimer *timer)
{
	struct sroce_half *half = container_of(timer, struct sroce_half, timer);
	struct sroce_qp *qp = qp_of(half);

	spin_lock_bh(&half->lock);
	half->armed_ns = SROCE_NEVER;
	ops[half->side]->note_calm(qp);
	half->yielding = false;
	if (half->pace_ns)
		sroce_count(qp->dev->ep.counters, SROCE_CTR_PACING_WAKEUPS);
	/* It arms the timer again where needed. */
	sroce_half_run(qp, half, true);
	return HRTIMER_NORESTART;
}

static void run_by_tasklet(struct tasklet_struct *tasklet)
{
	struct sroce_half *half = container_of(tasklet, struct sroce_half, tasklet);

	spin_lock_bh(&half->lock);
	sroce_half_run(qp_of(half), half, true);
}

/**
 * sroce_half_init() - set up a half, without its lock
 * @half: zeroed
 * @side: which one
 */
void sroce_half_init(struct sroce_half *half, enum sroce_side side)
{
	half->side = side;
	half->armed_ns = SROCE_NEVER;
	__skb_queue_head_init(&half->out);
	hrtimer_setup(&half->timer, run_by_timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	tasklet_setup(&half->tasklet, run_by_tasklet);
}
