/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Counters of a device, in a per-CPU array so that counting a packet touches no shared cache line.
 * uapi/sroce_counters.h has their names.
 */
#ifndef SROCE_NET_COUNTERS_H
#define SROCE_NET_COUNTERS_H

#include <linux/percpu.h>
#include <linux/types.h>
#include <rdma/ib_verbs.h>

enum sroce_counter {
#define SROCE_COUNTER(number, name, meaning)	SROCE_CTR_##number,
#include "uapi/sroce_counters.h"
	SROCE_CTR_COUNT,
};

struct sroce_counters {
	u64	value[SROCE_CTR_COUNT];
};

extern const struct rdma_stat_desc sroce_counter_descs[SROCE_CTR_COUNT];

/* Add to a counter. BH off and not in a hard interrupt, so that nothing else adds on this CPU. */
static inline void sroce_count_add(struct sroce_counters __percpu *counters,
				   enum sroce_counter which, u64 n)
{
	__this_cpu_add(counters->value[which], n);
}

static inline void sroce_count(struct sroce_counters __percpu *counters, enum sroce_counter which)
{
	__this_cpu_inc(counters->value[which]);
}

u64 sroce_counter_sum(struct sroce_counters __percpu *counters, enum sroce_counter which);

#endif
