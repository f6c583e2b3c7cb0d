/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Counters of ib_core, and the parts of percpu, xarray and RCU that only these need. */
#ifndef STAND_IN_RDMA_COUNTER_H
#define STAND_IN_RDMA_COUNTER_H

#include "stand_in/verbs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define xa_limit_31b			XA_LIMIT(1, 0x7fffffff)
#define xa_for_each(array, number, entry)					\
	for (number = 0; number < 100; number++)				\
		if ((entry = xa_load(array, number)))

/* Readers end here. */
#define synchronize_rcu()		stand_in_process()

struct rdma_counter {
	struct ib_device *device;
	u32	id;
	struct rdma_hw_stats *stats;
};

#ifdef __cplusplus
}
#endif

#endif
