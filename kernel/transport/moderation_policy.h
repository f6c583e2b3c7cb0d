/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion moderation (modify_cq): when a consumer that has armed its CQ is told of completions.
 * Either @count completions have come since it armed the CQ, or @period_us have passed since the
 * first of them. If either is 0, it is told immediately: nothing may wait for ever.
 */
#ifndef SROCE_TRANSPORT_MODERATION_POLICY_H
#define SROCE_TRANSPORT_MODERATION_POLICY_H

#include <linux/types.h>

/**
 * struct sroce_moderation - moderation of a CQ
 * @count: completions to report together; 0: off
 * @period_us: how long the first of them may wait; 0: off
 * @waiting: completions that the consumer has yet to be told of
 */
struct sroce_moderation {
	u16	count;
	u16	period_us;
	u16	waiting;
};

enum sroce_moderation_step {
	SROCE_REPORT_NOW,
	SROCE_REPORT_WITH_TIMER,	/* (re)start the timer of @period_us */
	SROCE_REPORT_LATER,		/* the timer runs */
};

/**
 * sroce_moderation_add() - a completion has come of which the consumer is to be told
 * @moderation: of its CQ
 *
 * Return: what to do. After SROCE_REPORT_NOW nothing waits.
 */
static inline enum sroce_moderation_step sroce_moderation_add(struct sroce_moderation *moderation)
{
	if (!moderation->count || !moderation->period_us)
		return SROCE_REPORT_NOW;
	if (++moderation->waiting >= moderation->count) {
		moderation->waiting = 0;
		return SROCE_REPORT_NOW;
	}
	return moderation->waiting == 1 ? SROCE_REPORT_WITH_TIMER : SROCE_REPORT_LATER;
}

/**
 * sroce_moderation_flush() - the timer has expired, or moderation changes
 * @moderation: of the CQ
 *
 * Return: whether to tell the consumer now. Nothing waits any more.
 */
static inline bool sroce_moderation_flush(struct sroce_moderation *moderation)
{
	bool waiting = moderation->waiting;

	moderation->waiting = 0;
	return waiting;
}

#endif
