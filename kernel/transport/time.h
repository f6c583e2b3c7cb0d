/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Monotonic time in nanoseconds. The engine reads no clock: callers pass @now_ns.
 */
#ifndef SROCE_TRANSPORT_TIME_H
#define SROCE_TRANSPORT_TIME_H

#include <linux/types.h>

/* The deadline of a timer that does not run. */
#define SROCE_NEVER		((u64)-1)

/*
 * Nanoseconds from @since_ns to @now_ns, at least 0: the clocks of two CPUs may differ slightly,
 * and a response may have been timestamped before the work that it completes was committed.
 */
static inline u64 sroce_elapsed_ns(u64 now_ns, u64 since_ns)
{
	return now_ns > since_ns ? now_ns - since_ns : 0;
}

#endif
