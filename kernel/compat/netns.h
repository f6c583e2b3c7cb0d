/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Devices for network namespaces, on kernels before 6.17. */
#ifndef SROCE_COMPAT_NETNS_H
#define SROCE_COMPAT_NETNS_H

#include <rdma/ib_verbs.h>

#include "compat/compat.h"

/*
 * Before 6.17 ib_core allocates each device for the initial namespace, also if devices are not
 * shared. The namespace may be changed until the device is registered.
 */
#ifdef SROCE_HAVE_ALLOC_DEVICE_WITH_NET
static inline void compat_set_device_net(struct ib_device *ibdev, struct net *net)
{
}
#else
#define ib_alloc_device_with_net(drv_struct, member, net) ib_alloc_device(drv_struct, member)

static inline void compat_set_device_net(struct ib_device *ibdev, struct net *net)
{
	if (!rdma_dev_access_netns(ibdev, net))
		write_pnet(&ibdev->coredev.rdma_net, net);
}
#endif

#endif
