// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Names and sums of the counters.
 */
#include <linux/cpumask.h>

#include "net/counters.h"

const struct rdma_stat_desc sroce_counter_descs[SROCE_CTR_COUNT] = {
#define SROCE_COUNTER(number, counter, meaning)	{ .name = #counter },
#include "uapi/sroce_counters.h"
};

/**
 * sroce_counter_sum() - sum a counter over all CPUs
 * @counters: counters of a device
 * @which: the counter
 *
 * Any context. CPUs may count meanwhile.
 *
 * Return: the sum.
 */
u64 sroce_counter_sum(struct sroce_counters __percpu *counters, enum sroce_counter which)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += READ_ONCE(per_cpu_ptr(counters, cpu)->value[which]);
	return sum;
}
