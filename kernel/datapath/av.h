/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Address vectors, shared by address handles and the work requests that name them. */
#ifndef SROCE_DATAPATH_AV_H
#define SROCE_DATAPATH_AV_H

#include <linux/refcount.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "net/path.h"

/**
 * struct sroce_av - where datagrams go
 * @path: addresses (the QP has an ip_id of its own, and a UDP source port if there is none here)
 * @pd: protection domain of the handle; the QP of a WQE must be in the same
 * @refs: the handle, the device's table, and each WQE under way
 * @rcu: defers the free
 *
 * ib_core frees struct sroce_ah as soon as destroy_ah returns, while a WQE that names it may
 * still be in a send queue. The address vector is therefore an object of its own.
 */
struct sroce_av {
	struct sroce_path path;
	const struct ib_pd *pd;
	refcount_t refs;
	struct rcu_head rcu;
};

/**
 * struct sroce_ah - an address handle
 * @ibah: first
 * @av: its address vector
 * @sl: service level, as given
 * @number: handle of a process: its key in sroce_device.ahs; 0 for kernel handles
 */
struct sroce_ah {
	struct ib_ah ibah;
	struct sroce_av *av;
	u8	sl;
	u32	number;
};

static inline struct sroce_ah *to_sroce_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct sroce_ah, ibah);
}

/* Drop a reference; the AV may be freed. Any context. */
static inline void sroce_av_put(struct sroce_av *av)
{
	if (refcount_dec_and_test(&av->refs))
		kfree_rcu(av, rcu);
}

#endif
