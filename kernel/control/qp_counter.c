// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * `rdma statistic qp`: counters of some QPs. A counter of ib_core is a set of all that a device
 * counts. A QP that is bound to it counts there instead of in the set of the device, so binding
 * costs the datapath nothing. ib_core adds all sets up for the port, also those that have gone.
 *
 * Packets, bytes, and drops of packets whose QP is not known yet count in the set of the device.
 */
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "control/qp_counter.h"
#include "datapath/qp.h"

/**
 * struct counter_set - the values of a counter
 * @counters: per CPU
 */
struct counter_set {
	struct sroce_counters __percpu *counters;
};

static struct counter_set *find_set(const struct rdma_counter *counter)
{
	return xa_load(&to_sroce_device(counter->device)->counter_sets, counter->id);
}

static void free_set(struct counter_set *set)
{
	free_percpu(set->counters);
	kfree(set);
}

/* The number of the set is that of the counter. */
static int alloc_set(struct rdma_counter *counter)
{
	struct xarray *sets = &to_sroce_device(counter->device)->counter_sets;
	struct counter_set *set = kzalloc(sizeof(*set), GFP_KERNEL);
	int err = -ENOMEM;

	if (!set)
		return -ENOMEM;
	set->counters = alloc_percpu(struct sroce_counters);
	if (set->counters)
		err = xa_alloc(sets, &counter->id, set, xa_limit_31b, GFP_KERNEL);
	if (err)
		free_set(set);
	return err;
}

static void set_counters(struct ib_qp *ibqp, struct sroce_counters __percpu *counters)
{
	WRITE_ONCE(to_sroce_qp(ibqp)->counters, counters);
}

/**
 * sroce_qp_counter_bind() - ib_device_ops.counter_bind_qp
 * @counter: counter; one whose id is 0 gets its set, and an id
 * @ibqp: QP, not bound
 *
 * ib_core does one call at a time for a counter. May sleep.
 *
 * Return: 0 or -ENOMEM.
 */
int sroce_qp_counter_bind(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	int err;

	if (!counter->id) {
		err = alloc_set(counter);
		if (err)
			return err;
	}
	set_counters(ibqp, find_set(counter)->counters);
	ibqp->counter = counter;
	return 0;
}

/**
 * sroce_qp_counter_unbind() - ib_device_ops.counter_unbind_qp
 * @ibqp: QP, bound
 *
 * Return: 0.
 */
int sroce_qp_counter_unbind(struct ib_qp *ibqp)
{
	set_counters(ibqp, to_sroce_device(ibqp->device)->ep.counters);
	ibqp->counter = NULL;
	return 0;
}

/**
 * sroce_qp_counter_dealloc() - ib_device_ops.counter_dealloc
 * @counter: counter; no QP is bound to it
 *
 * Waits until nothing counts in its set any more. May sleep.
 *
 * Return: 0.
 */
int sroce_qp_counter_dealloc(struct rdma_counter *counter)
{
	struct counter_set *set;

	set = xa_erase(&to_sroce_device(counter->device)->counter_sets, counter->id);
	/* Counting is done with BH off, which counts as a reader. */
	synchronize_rcu();
	free_set(set);
	return 0;
}

/**
 * sroce_qp_counter_alloc_stats() - ib_device_ops.counter_alloc_stats
 * @counter: counter
 *
 * Return: storage for the values, the same as those of a port; NULL without memory.
 */
struct rdma_hw_stats *sroce_qp_counter_alloc_stats(struct rdma_counter *counter)
{
	return rdma_alloc_hw_stats_struct(sroce_counter_descs, SROCE_CTR_COUNT,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * sroce_qp_counter_update_stats() - ib_device_ops.counter_update_stats
 * @counter: counter, whose values are set
 *
 * Return: 0.
 */
int sroce_qp_counter_update_stats(struct rdma_counter *counter)
{
	const struct counter_set *set = find_set(counter);
	unsigned int i;

	for (i = 0; i < SROCE_CTR_COUNT; i++)
		counter->stats->value[i] = sroce_counter_sum(set->counters, i);
	return 0;
}

/**
 * sroce_qp_counters_fini() - free the sets of a device that is going
 * @dev: device without QPs
 *
 * None is left, unless ib_core has bound a QP that was being destroyed.
 */
void sroce_qp_counters_fini(struct sroce_device *dev)
{
	struct counter_set *set;
	unsigned long id;

	xa_for_each(&dev->counter_sets, id, set)
		free_set(set);
	xa_destroy(&dev->counter_sets);
}
