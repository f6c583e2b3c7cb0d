/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Counters of ib_core, and the parts of percpu, xarray and RCU that only these need. */
#ifndef STAND_IN_RDMA_COUNTER_H
#define STAND_IN_RDMA_COUNTER_H

#include "stand_in/verbs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RDMA_HW_STATS_DEFAULT_LIFESPAN	10
#define xa_limit_31b			XA_LIMIT(1, 0x7fffffff)
#define xa_for_each(array, number, entry)					\
	for (number = 0; number < 100; number++)				\
		if ((entry = xa_load(array, number)))

/* Readers end here. */
#define synchronize_rcu()		stand_in_process()

struct rdma_hw_stats {
	int	num_counters;
	u64	value[128];
};

static inline struct rdma_hw_stats *rdma_alloc_hw_stats_struct(const struct rdma_stat_desc *descs,
							       int count, unsigned long lifespan)
{
	struct rdma_hw_stats *stats = (struct rdma_hw_stats *)stand_in_alloc(sizeof(*stats));

	if (stats)
		stats->num_counters = count;
	return stats;
}

struct rdma_counter {
	struct ib_device *device;
	u32	id;
	struct rdma_hw_stats *stats;
};

#ifdef __cplusplus
}
#endif

#endif
