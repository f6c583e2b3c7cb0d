// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Reads the per-CPU counters of net/counters.h, and a gauge, for ib_core. */
#include "control/stats.h"
#include "datapath/device.h"

/**
 * sroce_alloc_hw_port_stats() - describe the counters of a port
 * @ibdev: device
 * @port_num: port, always 1
 *
 * May sleep.
 *
 * Return: storage for the values, or NULL without memory.
 */
struct rdma_hw_stats *sroce_alloc_hw_port_stats(struct ib_device *ibdev, u32 port_num)
{
	return rdma_alloc_hw_stats_struct(sroce_counter_descs, SROCE_CTR_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * sroce_get_hw_stats() - read the counters of a port
 * @ibdev: device
 * @stats: destination
 * @port_num: port, always 1
 * @index: a counter, or their number for all; ignored, all are read
 *
 * Return: number of counters read, or -EINVAL.
 */
int sroce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port_num,
		       int index)
{
	struct sroce_device *dev = to_sroce_device(ibdev);
	unsigned int i;

	if (port_num != 1)
		return -EINVAL;
	for (i = 0; i < SROCE_CTR_COUNT; i++)
		stats->value[i] = sroce_counter_sum(dev->ep.counters, i);
	stats->value[SROCE_CTR_REORDER_BYTES] = atomic64_read(&dev->reorder_bytes);
	return SROCE_CTR_COUNT;
}
