/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * How long the timer of a work queue may be deferred, and how exact it must be.
 *
 * An interrupt of the timer costs as much as some packets. A timer that has found nothing to do
 * fires a sixteenth later each time, up to 2 ms. A timer that finds something late starts over. A
 * deferred timer also has some slack, so that the timers of many QPs share an interrupt. The slack
 * is 1 us for each QP that exists, at least a quarter of the wait and at most twice the wait.
 * Deadlines of pacing, of RNR and of repeated timeouts are exact.
 */
#ifndef SROCE_TRANSPORT_TIMER_POLICY_H
#define SROCE_TRANSPORT_TIMER_POLICY_H

#include <linux/minmax.h>
#include <linux/types.h>

#include "transport/time.h"

#define SROCE_TIMER_DEFER_NS_MAX		2000000ull
#define SROCE_TIMER_SLACK_NS_PER_QP		1000ull

/**
 * sroce_timer_defer_longer() - the timer has fired and found nothing to do
 * @defer_ns: how long it was deferred, 0 for not yet
 * @least_ns: how long it is deferred at least
 *
 * Return: how long it is deferred from now on.
 */
static inline u64 sroce_timer_defer_longer(u64 defer_ns, u64 least_ns)
{
	return clamp(defer_ns + defer_ns / 16, least_ns, SROCE_TIMER_DEFER_NS_MAX);
}

/**
 * sroce_timer_slack() - how late a deferred timer may be
 * @wait_ns: how long the queue will wait
 * @qp_count: QPs that exist
 *
 * Return: nanoseconds.
 */
static inline u64 sroce_timer_slack(u64 wait_ns, u64 qp_count)
{
	return clamp(qp_count * SROCE_TIMER_SLACK_NS_PER_QP, wait_ns / 4, wait_ns * 2);
}

/**
 * sroce_timer_earliest() - the earlier of two deadlines
 * @deadline_ns: a deadline that may be late
 * @slack_ns: how late it may be; updated for the result
 * @exact_ns: a deadline that may not be late
 *
 * Return: the deadline, SROCE_NEVER for none.
 */
static inline u64 sroce_timer_earliest(u64 deadline_ns, u64 *slack_ns, u64 exact_ns)
{
	if (exact_ns >= deadline_ns) {
		*slack_ns = min(*slack_ns, exact_ns - deadline_ns);
		return deadline_ns;
	}
	*slack_ns = 0;
	return exact_ns;
}

/**
 * sroce_timer_response_wait() - how long to wait for responses before the timer fires
 * @defer_ns: how long the timer is deferred
 * @ack_timeout_ns: the verbs' ACK timeout, 0 for none
 * @least_ns: at least so long
 *
 * Return: nanoseconds, no more than the ACK timeout unless @least_ns is.
 */
static inline u64 sroce_timer_response_wait(u64 defer_ns, u64 ack_timeout_ns, u64 least_ns)
{
	return max(min(defer_ns, ack_timeout_ns ? ack_timeout_ns : SROCE_NEVER), least_ns);
}

#endif
