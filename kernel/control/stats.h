/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The hw_counters of a port, for `rdma statistic` and sysfs. */
#ifndef SROCE_CONTROL_STATS_H
#define SROCE_CONTROL_STATS_H

#include <rdma/ib_verbs.h>

struct rdma_hw_stats *sroce_alloc_hw_port_stats(struct ib_device *ibdev, u32 port_num);
int sroce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port_num,
		       int index);

#endif
