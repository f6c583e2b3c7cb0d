/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The registration of devices with ib_core, and the endpoint of the device that is attached. */
#ifndef STAND_IN_ATTACH_H
#define STAND_IN_ATTACH_H

#include <linux/if_ether.h>

#include "stand_in/control.h"
#include "stand_in/dmabuf.h"
#include "stand_in/list.h"
#include "stand_in/sysfs.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RDMA_NODE_IB_CA		1
#define THIS_MODULE		(&stand_in_attach)
#define DEFINE_SPINLOCK(name)	spinlock_t name
#define strscpy(to, from, bytes)	strcpy(to, from)
#define num_possible_cpus()	STAND_IN_CPUS
#define dev_is_pci(device)	((device)->is_pci)

static inline bool is_valid_ether_addr(const u8 *mac)
{
	return !(mac[0] & 1) && (mac[0] | mac[1] | mac[2] | mac[3] | mac[4] | mac[5]);
}

#define ether_addr_copy(to, from)	memcpy(to, from, ETH_ALEN)
#define is_multicast_ether_addr(mac)	((mac)[0] & 1)
#define eth_random_addr(mac)		memset(mac, 0x52, ETH_ALEN)

static inline void addrconf_addr_eui48(u8 *eui, const u8 *mac)
{
	const u8 id[8] = { mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5] };

	memcpy(eui, id, sizeof(id));
}

/**
 * struct stand_in_attach - what a test tells these functions, and what they tell it
 * @devices: allocated and not freed
 * @registered: at most four, by their index; indices are not used again
 * @next_index: of the next device
 * @endpoints: sroce_endpoint_init() less sroce_endpoint_fini()
 * @endpoint_error: from sroce_endpoint_init()
 * @register_error: from ib_register_device()
 * @left: netdevs are no longer in their namespace
 * @registering: called once by ib_register_device(), when it has registered the device
 * @hidden: device that no namespace sees
 * @named: calls of ib_mark_name_assigned_by_user()
 */
struct stand_in_attach {
	int	devices;
	struct ib_device *registered[8];
	u32	next_index;
	int	endpoints;
	int	endpoint_error;
	int	register_error;
	bool	left;
	void	(*registering)(struct ib_device *ibdev);
	const struct ib_device *hidden;
	u32	named;
};

extern struct stand_in_attach stand_in_attach;

#define ib_alloc_device_with_net(type, member, net)	\
	((struct type *)stand_in_alloc_device(sizeof(struct type)))
#define compat_set_device_net(ibdev, to)	((ibdev)->net = (to))
void *stand_in_alloc_device(size_t bytes);
void ib_dealloc_device(struct ib_device *ibdev);
void ib_set_device_ops(struct ib_device *ibdev, const struct ib_device_ops *ops);
int ib_register_device(struct ib_device *ibdev, const char *name, void *dma_device);
void ib_unregister_device(struct ib_device *ibdev);
void ib_unregister_driver(u32 driver_id);
bool ib_device_try_get(struct ib_device *ibdev);
void get_device(struct device *device);
void put_device(struct device *device);
#define ib_mark_name_assigned_by_user(ibdev)	((void)(ibdev), stand_in_attach.named++)
#define rdma_dev_access_netns(ibdev, from)	\
	((ibdev) != stand_in_attach.hidden && (ibdev)->net == (from))

static inline struct net *maybe_get_net(struct net *net)
{
	if (net->has_ended)
		return NULL;
	net->refs++;
	return net;
}

#define put_net(net)		((net)->refs--)

#ifdef __cplusplus
}
#endif

#endif
