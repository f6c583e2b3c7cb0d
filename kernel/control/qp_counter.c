// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * `rdma statistic qp`: counters of some QPs. A counter of ib_core is a set of all that a device
 * counts. A QP that is bound to it counts there instead of in the set of the device, so binding
 * costs the datapath nothing. ib_core adds all sets up for the port, also those that have gone.
 *
 * Packets, bytes, what performance management reads (pma.c), and packets that are dropped before a
 * QP has looked into them count in the set of the device.
 */
#include <linux/bottom_half.h>
#include <linux/minmax.h>
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

/* NULL does nothing. */
static void free_set(struct counter_set *set)
{
	if (!set)
		return;
	free_percpu(set->counters);
	kfree(set);
}

/*
 * The number of the set is that of the counter. Numbers are not soon used again, because older
 * kernels list a counter a little longer than its set exists.
 */
static int alloc_set(struct rdma_counter *counter)
{
	struct sroce_device *dev = to_sroce_device(counter->device);
	struct counter_set *set = kzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT);
	int err = -ENOMEM;

	if (!set)
		return -ENOMEM;
	set->counters = alloc_percpu_gfp(struct sroce_counters, GFP_KERNEL_ACCOUNT);
	if (set->counters)
		err = xa_alloc_cyclic(&dev->counter_sets, &counter->id, set, xa_limit_31b,
				      &dev->next_counter_set, GFP_KERNEL);
	if (err < 0)
		free_set(set);
	return min(err, 0);
}

/* Nothing may count in the set of a counter any more. */
static struct counter_set *take_set(struct rdma_counter *counter)
{
	return xa_erase(&to_sroce_device(counter->device)->counter_sets, counter->id);
}

static void set_counters(struct ib_qp *ibqp, struct sroce_counters __percpu *counters)
{
	WRITE_ONCE(to_sroce_qp(ibqp)->counters, counters);
}

/**
 * sroce_qp_counter_bind() - ib_device_ops.counter_bind_qp
 * @counter: counter; one whose id is 0 gets its set, and an id
 * @ibqp: QP; another call may have bound it
 *
 * ib_core does one call at a time for a counter, but not for a QP: of two calls for one QP, one
 * succeeds. ib_core does not deallocate a counter whose first QP fails. May sleep.
 *
 * Return: 0, -ENOMEM, or -EINVAL if the QP is bound, or the set of the counter has gone.
 */
int sroce_qp_counter_bind(struct rdma_counter *counter, struct ib_qp *ibqp)
{
	bool is_new = !counter->id;
	struct counter_set *set;
	int err;

	if (is_new) {
		err = alloc_set(counter);
		if (err)
			return err;
	}
	/* A counter that is being deallocated is still listed, and a user may name it. */
	set = find_set(counter);
	if (!set)
		return -EINVAL;
	if (cmpxchg(&ibqp->counter, NULL, counter)) {
		if (is_new) {
			free_set(take_set(counter));
			counter->id = 0;
		}
		return -EINVAL;
	}
	set_counters(ibqp, set->counters);
	return 0;
}

/**
 * sroce_qp_counter_unbind() - ib_device_ops.counter_unbind_qp
 * @ibqp: QP
 *
 * ib_core does one call at a time for the counter, but may do two for one QP.
 *
 * Return: 0, or -EINVAL if the QP is not bound any more.
 */
int sroce_qp_counter_unbind(struct ib_qp *ibqp)
{
	if (!ibqp->counter)
		return -EINVAL;
	set_counters(ibqp, to_sroce_device(ibqp->device)->ep.counters);
	/* From here on, another call may bind the QP. */
	smp_store_release(&ibqp->counter, NULL);
	return 0;
}

/* Counts that ib_core has not seen go on in the set of the device. */
static void keep_last_counts(const struct rdma_counter *counter, const struct counter_set *set)
{
	struct sroce_counters __percpu *counters = to_sroce_device(counter->device)->ep.counters;
	unsigned int i;

	local_bh_disable();
	for (i = 0; i < SROCE_CTR_COUNT; i++)
		sroce_count_add(counters, i,
				sroce_counter_sum(set->counters, i) - counter->stats->value[i]);
	local_bh_enable();
}

/**
 * sroce_qp_counter_dealloc() - ib_device_ops.counter_dealloc
 * @counter: counter; no QP is bound to it
 *
 * Waits until nothing counts in its set any more. ib_core has added the values to the port before.
 * May sleep.
 *
 * Return: 0.
 */
int sroce_qp_counter_dealloc(struct rdma_counter *counter)
{
	struct counter_set *set = take_set(counter);

	/* Counting is done with BH off, which counts as a reader. Adding up is a reader, too. */
	synchronize_rcu();
	if (set)
		keep_last_counts(counter, set);
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
 * ib_core may ask for a counter that is being deallocated. It has added the values to the port.
 *
 * Return: 0, or -ENOENT if its set has gone; the values stay then.
 */
int sroce_qp_counter_update_stats(struct rdma_counter *counter)
{
	const struct counter_set *set;
	unsigned int i;

	rcu_read_lock();
	set = find_set(counter);
	for (i = 0; set && i < SROCE_CTR_COUNT; i++)
		counter->stats->value[i] = sroce_counter_sum(set->counters, i);
	rcu_read_unlock();
	return set ? 0 : -ENOENT;
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
