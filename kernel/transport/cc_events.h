/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What congestion control has decided: noted where it is decided, for whoever traces it.
 */
#ifndef SROCE_TRANSPORT_CC_EVENTS_H
#define SROCE_TRANSPORT_CC_EVENTS_H

#include <linux/types.h>

/* Bits of sroce_cc_events.mask. BY_... says what called for CUT or KEPT. */
#define SROCE_CC_EV_BY_CNP			0x0001
#define SROCE_CC_EV_BY_DELAY		0x0002
#define SROCE_CC_EV_BY_LOSS		0x0004	/* one that was retransmitted */
#define SROCE_CC_EV_BY_TIMEOUT		0x0008
#define SROCE_CC_EV_CUT			0x0010	/* rate or window was lowered */
#define SROCE_CC_EV_CUT_SKIPPED 0x0020 /* it was not: too soon after the last time */
#define SROCE_CC_EV_LIMIT_BEGAN		0x0040
#define SROCE_CC_EV_LIMIT_ENDED		0x0080
#define SROCE_CC_EV_ALPHA			0x0100	/* periods of alpha have passed */
#define SROCE_CC_EV_RAISED			0x0200	/* the rate has recovered */
#define SROCE_CC_EV_TARGET_CUT		0x0400	/* the target rate was not trusted */
#define SROCE_CC_EV_WINDOW_RAISED			0x0800	/* the window */
#define SROCE_CC_EV_SLOW_START_ENDED	0x1000
#define SROCE_CC_EV_ADAPTED		0x2000	/* rate or window, to a changed parameter */

/**
 * struct sroce_cc_events - what was decided, until somebody takes note of it
 * @mask: SROCE_CC_...; 0: nothing, and the rest is 0, too
 * @alpha_periods: dcqcn: periods of alpha that were made up for
 * @fast: dcqcn: increases of fast recovery
 * @additive: dcqcn: additive increases
 * @hyper: dcqcn: hyper increases
 */
struct sroce_cc_events {
	u32	mask;
	u32	alpha_periods;
	u32	fast;
	u32	additive;
	u32	hyper;
};

#endif
