/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A sroce device: an ib_device over an endpoint, with its key table. QP numbers are unique in the
 * module (table in qp_table.c), so the number alone identifies the QP of a packet, whose addresses
 * are checked afterwards.
 */
#ifndef SROCE_DATAPATH_DEVICE_H
#define SROCE_DATAPATH_DEVICE_H

#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "datapath/mcast.h"
#include "memory/region.h"
#include "net/endpoint.h"
#include "transport/notification_point.h"

/**
 * struct sroce_device - one attached interface
 * @ibdev: first, allocated by ib_alloc_device()
 * @ep: netdev, sockets, addresses, counters
 * @memory: key table
 * @gsi: QP 1, protected by RCU: the only QP whose number is not unique in the module
 * @ahs: address vectors (struct sroce_av) of processes by number, for WQEs that name one
 * @next_ah: where the next cyclic allocation in @ahs starts
 * @counter_sets: sets of counters that QPs are bound to, by number (control/qp_counter.c)
 * @next_counter_set: the number to be tried first; with the lock of @counter_sets
 * @mcast: the multicast groups that QPs are attached to
 * @cc: parameters of congestion control; each may change at any time
 * @np_lock: protects @np_sources; innermost
 * @np_sources: senders of datagrams that have been sent CNPs
 * @line_rate: of the interface, bytes/s; 0 if unknown
 * @ecn: mark packets as ECN capable
 * @selective: offer peers selective repeat
 * @reorder_bytes: memory that the reorder queues have charged
 * @qkey_violations: datagrams with a wrong Q_Key since the last reset; unlike the counter, also
 *   those of QPs that are bound to counters
 * @port_cap_flags: IB_PORT_*: capabilities of the port that the kernel's consumers have announced
 * @active: the port state last reported is IB_PORT_ACTIVE, not IB_PORT_DOWN
 * @detached: ib_core has unregistered it (control/attach.c)
 * @list: in the list of devices (control/)
 */
struct sroce_device {
	struct ib_device ibdev;
	struct sroce_endpoint ep;
	struct sroce_memory memory;
	struct sroce_qp_ref __rcu *gsi;
	struct xarray ahs;
	u32	next_ah;
	struct xarray counter_sets;
	u32	next_counter_set;
	struct sroce_mcast mcast;
	struct sroce_cc_params cc;
	spinlock_t np_lock;
	struct sroce_np_sources np_sources;
	u64	line_rate;
	u32	ecn;
	u32	selective;
	atomic64_t reorder_bytes;
	atomic_t qkey_violations;
	atomic_t port_cap_flags;
	bool	active;
	bool	detached;
	struct list_head list;
};

/* IPv6, UDP, BTH, XRCETH, RETH, ImmDt, ICRC: the most overhead of a packet of full size. */
#define SROCE_OVERHEAD_BYTES	(40 + 8 + 12 + 4 + 16 + 4 + 4)

/*
 * The largest path MTU whose packets fit the netdev's MTU, for connections and for datagrams;
 * IB_MTU_256 if none fits.
 */
static inline enum ib_mtu sroce_active_mtu(const struct net_device *netdev)
{
	unsigned int mtu_bytes = READ_ONCE(netdev->mtu);
	enum ib_mtu mtu = IB_MTU_4096;

	while (mtu > IB_MTU_256 && ib_mtu_enum_to_int(mtu) + SROCE_OVERHEAD_BYTES > mtu_bytes)
		mtu--;
	return mtu;
}

static inline struct sroce_device *to_sroce_device(struct ib_device *ibdev)
{
	return container_of(ibdev, struct sroce_device, ibdev);
}

#endif
