/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packet sequence numbers: 24 bits, compared in a circle.
 *
 * A PSN lies "before" another if the distance forward is less than half of the circle. So no QP
 * may have more than 2^23 PSNs outstanding.
 */
#ifndef SROCE_TRANSPORT_PSN_H
#define SROCE_TRANSPORT_PSN_H

#include <linux/types.h>

#define SROCE_PSN_MASK		0xffffffu
/* The most PSNs that may be outstanding: half of the circle. */
#define SROCE_PSN_SPAN		(1u << 23)

/* The PSN @count packets after @psn. */
static inline u32 psn_add(u32 psn, u32 count)
{
	return (psn + count) & SROCE_PSN_MASK;
}

/* How far @a lies beyond @b, negative when it lies before. */
static inline s32 psn_distance(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

static inline bool psn_before(u32 a, u32 b)
{
	return psn_distance(a, b) < 0;
}

/* Move a PSN on to @to, never back. */
static inline void psn_raise(u32 *psn, u32 to)
{
	if (psn_before(*psn, to))
		*psn = to;
}

#endif
