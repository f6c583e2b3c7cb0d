/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What congestion control has decided: noted where it is decided, for whoever traces it.
 */
#ifndef SROCE_TRANSPORT_DECISIONS_H
#define SROCE_TRANSPORT_DECISIONS_H

#include <linux/types.h>

/* Bits of sroce_cc_decisions.what. BY_... says what called for CUT or KEPT. */
#define SROCE_CC_BY_CNP			0x0001
#define SROCE_CC_BY_DELAY		0x0002
#define SROCE_CC_BY_LOSS		0x0004	/* one that was repaired */
#define SROCE_CC_BY_TIMEOUT		0x0008
#define SROCE_CC_CUT			0x0010	/* rate or window was lowered */
#define SROCE_CC_KEPT			0x0020	/* it was not: too soon after the last time */
#define SROCE_CC_LIMIT_BEGAN		0x0040
#define SROCE_CC_LIMIT_ENDED		0x0080
#define SROCE_CC_ALPHA			0x0100	/* periods of alpha have passed */
#define SROCE_CC_RAISED			0x0200	/* the rate has recovered */
#define SROCE_CC_TARGET_CUT		0x0400	/* the target rate was not trusted */
#define SROCE_CC_GREW			0x0800	/* the window */
#define SROCE_CC_SLOW_START_ENDED	0x1000
#define SROCE_CC_ADAPTED		0x2000	/* rate or window, to a changed parameter */

/**
 * struct sroce_cc_decisions - what was decided, until somebody takes note of it
 * @what: SROCE_CC_...; 0: nothing, and the rest is 0, too
 * @alpha_periods: dcqcn: periods of alpha that were made up for
 * @fast: dcqcn: increases of fast recovery
 * @additive: dcqcn: additive increases
 * @hyper: dcqcn: hyper increases
 */
struct sroce_cc_decisions {
	u32	what;
	u32	alpha_periods;
	u32	fast;
	u32	additive;
	u32	hyper;
};

#endif
