// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The life of a device.
 *
 * Attach: sets up the endpoint (netdev, sockets) first and registers with ib_core second. The
 * device then enters the list where netdev events find it, if the netdev is still there; this is
 * checked under RTNL. So either the device is on the list when its netdev goes, or attaching fails.
 * ib_core disables the device during `rdma dev set DEV netns`, and netdev events skip it.
 * enable_device() catches up on them.
 *
 * Remove: ib_core unregisters the device, on `rdma link delete`, when its netdev goes, when this
 * module is unloaded, and when rdma_rxe is unloaded, because that unregisters all devices with its
 * driver id. If several happen at once, one of them does the work and the others wait. ib_core
 * removes its clients, waits for each ib_device_try_get(), and calls dealloc_device(). It does not
 * wait until processes close the device, because we have disassociate_ucontext(). But it destroys
 * their QPs, which waits for page faults under way (datapath/odp_wait.c), as long as these last.
 *
 * Unloading must not call ib_unregister_driver(RDMA_DRIVER_RXE), which would remove rdma_rxe's
 * devices too. It gives our devices the private id and unregisters that id. This also waits for a
 * dealloc_device() on another CPU.
 */
#undef pr_fmt
#define pr_fmt(fmt) "sroce: " fmt

#include <linux/etherdevice.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>

#include "compat/compat.h"
#include "compat/netns.h"
#include "control/attach.h"
#include "control/netdev.h"
#include "control/params.h"
#include "control/pma.h"
#include "control/qp_counter.h"
#include "control/restrack.h"
#include "control/stats.h"
#include "control/sysfs.h"
#include "uapi/sroce_abi.h"
#include "verbs/ops.h"

/*
 * ib_core unregisters the devices of a driver id. Ours have that of rdma_rxe until we unload or
 * ib_core has unregistered them; rdma_rxe's devices must stay. The kernel's ids are smaller.
 */
#define UNLOADING_DRIVER_ID	0x53524f43

/* Serialises attaching, so that a netdev gets one device. Taken before RTNL. */
static DEFINE_MUTEX(attach_lock);
/* Protects the list, sroce_device.detached, and ops.driver_id after registration. */
static DEFINE_SPINLOCK(devices_lock);
static LIST_HEAD(devices);

static void dealloc_device(struct ib_device *ibdev)
{
	struct sroce_device *dev = to_sroce_device(ibdev);

	spin_lock(&devices_lock);
	dev->detached = true;
	ibdev->ops.driver_id = UNLOADING_DRIVER_ID;
	list_del_init(&dev->list);
	spin_unlock(&devices_lock);

	sroce_mcast_fini(&dev->mcast);
	sroce_endpoint_fini(&dev->ep);
	sroce_memory_fini(&dev->memory);
	WARN_ON(!xa_empty(&dev->ahs));
	xa_destroy(&dev->ahs);
	sroce_qp_counters_fini(dev);
}

static void catch_up(struct sroce_device *dev)
{
	if (!sroce_endpoint_is_in_place(&dev->ep)) {
		ib_unregister_device_queued(&dev->ibdev);
		return;
	}
	sroce_device_set_guid(dev);
	sroce_netdev_read_speed(dev, false);
	sroce_netdev_report_port(dev);
}

/*
 * ib_core has registered the device or enabled it again. In the second case netdev events were
 * missed. In the first the device is not on the list yet, and publish_device() follows.
 */
static int enable_device(struct ib_device *ibdev)
{
	struct sroce_device *dev = to_sroce_device(ibdev);
	bool published;

	rtnl_lock();
	spin_lock(&devices_lock);
	published = !list_empty(&dev->list);
	spin_unlock(&devices_lock);
	if (published)
		catch_up(dev);
	rtnl_unlock();
	return 0;
}

SROCE_COMPAT_COUNTER_OPS(sroce_qp_counter_bind, sroce_qp_counter_unbind)

static const struct ib_device_ops common_ops = {
	.owner = THIS_MODULE,
	/* Those of rdma_rxe, so that librxe opens the device. */
	.driver_id = RDMA_DRIVER_RXE,
	.uverbs_abi_ver = SROCE_ABI_VERSION_RXE,
	.alloc_hw_port_stats = sroce_alloc_hw_port_stats,
	.get_hw_stats = sroce_get_hw_stats,
	.process_mad = sroce_process_mad,
	.counter_bind_qp = compat_counter_bind_qp,
	.counter_unbind_qp = compat_counter_unbind_qp,
	.counter_dealloc = sroce_qp_counter_dealloc,
	.counter_alloc_stats = sroce_qp_counter_alloc_stats,
	.counter_update_stats = sroce_qp_counter_update_stats,
	COMPAT_COUNTER_SIZE(sroce_qp_counter, counter)
	.fill_res_qp_entry = sroce_restrack_put_qp,
	.fill_res_cq_entry = sroce_restrack_put_cq,
	.fill_res_mr_entry = sroce_restrack_put_mr,
	COMPAT_FILL_RES_SRQ(sroce_restrack_put_srq)
	.enable_driver = enable_device,
	.dealloc_driver = dealloc_device,
	.device_group = &sroce_parent_group,
};

/*
 * The parent of the netdev, so that /sys/class/infiniband/DEV/device/net leads to the netdev. But
 * not a PCI function, because udev would rename the device after its slot.
 */
static struct device *parent_of(struct net_device *netdev)
{
	struct device *parent = netdev->dev.parent;

	return parent && !dev_is_pci(parent) ? parent : NULL;
}

/**
 * sroce_device_set_guid() - derive the GUIDs from the netdev's address
 * @dev: device
 *
 * An interface without a MAC address gets random GUIDs and keeps them. Caller holds RTNL, or the
 * device is not registered yet.
 */
void sroce_device_set_guid(struct sroce_device *dev)
{
	const struct net_device *netdev = dev->ep.netdev;
	u8 mac[ETH_ALEN];

	if (netdev->addr_len == ETH_ALEN && is_valid_ether_addr(netdev->dev_addr))
		ether_addr_copy(mac, netdev->dev_addr);
	else if (!dev->ibdev.node_guid)
		eth_random_addr(mac);
	else
		return;
	addrconf_addr_eui48((u8 *)&dev->ibdev.node_guid, mac);
	/* ib_core asks for the attributes once only. */
	dev->ibdev.attrs.sys_image_guid = dev->ibdev.node_guid;
}

static void prepare_device(struct sroce_device *dev)
{
	struct ib_device *ibdev = &dev->ibdev;

	spin_lock_init(&dev->np_lock);
	dev->np_sources.seed = get_random_u32();
	sroce_params_init(dev);
	INIT_LIST_HEAD(&dev->list);
	sroce_memory_init(&dev->memory);
	sroce_mcast_init(&dev->mcast);
	xa_init_flags(&dev->ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	xa_init_flags(&dev->counter_sets, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);

	ibdev->node_type = RDMA_NODE_IB_CA;
	ibdev->phys_port_cnt = 1;
	ibdev->num_comp_vectors = num_possible_cpus();
	ibdev->dev.parent = parent_of(dev->ep.netdev);
	strscpy(ibdev->node_desc, "sroce", sizeof(ibdev->node_desc));
	sroce_device_set_guid(dev);
	ibdev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				  BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ);

	ib_set_device_ops(ibdev, &common_ops);
	ib_set_device_ops(ibdev, &sroce_verbs_ops);
	/* ib_core uses 0 and 1, and 2 only for drivers with device counters. */
	ibdev->groups[2] = &sroce_abi_group;
	ib_mark_name_assigned_by_user(ibdev);
}

static bool is_attached(const struct net_device *netdev)
{
	const struct sroce_device *dev;
	bool found = false;

	spin_lock(&devices_lock);
	list_for_each_entry(dev, &devices, list)
		found |= dev->ep.netdev == netdev;
	spin_unlock(&devices_lock);
	return found;
}

/*
 * Adds the registered device to the list, where netdev events find it. Fails if the netdev has gone
 * or left the namespace of the sockets meanwhile. If the device has been removed meanwhile,
 * dealloc_device() may have freed its endpoint.
 */
static int publish_device(struct sroce_device *dev)
{
	int err = 0;

	rtnl_lock();
	spin_lock(&devices_lock);
	if (!dev->detached) {
		if (sroce_endpoint_is_in_place(&dev->ep))
			list_add_tail(&dev->list, &devices);
		else
			err = -ENODEV;
	}
	spin_unlock(&devices_lock);
	if (!err && ib_device_try_get(&dev->ibdev)) {
		sroce_netdev_read_speed(dev, false);
		sroce_netdev_report_port(dev);
		ib_device_put(&dev->ibdev);
	}
	rtnl_unlock();
	return err;
}

/* Opens sockets in @net; publish_device() checks that the netdev is still there. */
static int attach_device(const char *name, struct net_device *netdev, struct net *net, bool roce_v1)
{
	struct sroce_device *dev;
	int err;

	if (is_attached(netdev))
		return -EEXIST;
	dev = ib_alloc_device_with_net(sroce_device, ibdev, net);
	if (!dev)
		return -ENOMEM;
	compat_set_device_net(&dev->ibdev, net);
	dev->ep.roce_v1 = roce_v1;
	err = sroce_endpoint_init(&dev->ep, netdev, net);
	if (err)
		goto err_dealloc;
	prepare_device(dev);

	/* From here on dealloc_device() cleans up. It may be called at any time. */
	get_device(&dev->ibdev.dev);
	err = ib_register_device(&dev->ibdev, name, NULL);
	if (err) {
		put_device(&dev->ibdev.dev);
		goto err_dealloc;
	}
	err = publish_device(dev);
	if (err)
		ib_unregister_device(&dev->ibdev);
	put_device(&dev->ibdev.dev);
	return err;

err_dealloc:
	ib_dealloc_device(&dev->ibdev);
	return err;
}

/* With a reference, because the netdev may leave the namespace, which may then end. */
static struct net *get_net_of(const struct net_device *netdev)
{
	struct net *net;

	rcu_read_lock();
	net = maybe_get_net(dev_net(netdev));
	rcu_read_unlock();
	return net;
}

/**
 * sroce_device_attach() - attach a device to a netdev
 * @name: name of the device
 * @netdev: interface
 * @roce_v1: it also has GIDs of RoCE v1
 *
 * May sleep; takes RTNL.
 *
 * Return: 0, -EEXIST if the netdev has a device, -ENFILE if the name is taken, -EADDRINUSE if the
 * UDP port is taken, -ENODEV if the netdev goes or moves to another namespace meanwhile, or another
 * negative errno.
 */
int sroce_device_attach(const char *name, struct net_device *netdev, bool roce_v1)
{
	struct net *net = get_net_of(netdev);
	int err;

	if (!net)
		return -ENODEV;
	mutex_lock(&attach_lock);
	err = attach_device(name, netdev, net, roce_v1);
	mutex_unlock(&attach_lock);
	put_net(net);
	return err;
}

/**
 * sroce_device_get() - find the device attached to a netdev
 * @netdev: interface
 *
 * Process context.
 *
 * Return: the device, which stays registered until ib_device_put(); NULL if there is none, or if
 * it is being unregistered or is disabled.
 */
struct sroce_device *sroce_device_get(const struct net_device *netdev)
{
	struct sroce_device *dev, *found = NULL;

	spin_lock(&devices_lock);
	list_for_each_entry(dev, &devices, list)
		if (dev->ep.netdev == netdev && ib_device_try_get(&dev->ibdev)) {
			found = dev;
			break;
		}
	spin_unlock(&devices_lock);
	return found;
}

/**
 * sroce_device_get_next() - iterate over the devices visible in a namespace
 * @net: the namespace, by the rules of `rdma system set netns`
 * @index: smallest ib_device.index to return
 *
 * Process context.
 *
 * Return: the device with the next index, which stays registered until ib_device_put(); NULL
 * after the last.
 */
struct sroce_device *sroce_device_get_next(const struct net *net, u32 index)
{
	struct sroce_device *dev, *next = NULL;

	spin_lock(&devices_lock);
	list_for_each_entry(dev, &devices, list) {
		if (dev->ibdev.index < index || !rdma_dev_access_netns(&dev->ibdev, net) ||
		    (next && next->ibdev.index < dev->ibdev.index) ||
		    !ib_device_try_get(&dev->ibdev))
			continue;
		if (next)
			ib_device_put(&next->ibdev);
		next = dev;
	}
	spin_unlock(&devices_lock);
	return next;
}

/**
 * sroce_devices_fini() - remove all devices, for unloading
 *
 * May sleep. Nothing is attached any more. Afterwards no code of this module runs for a device.
 */
void sroce_devices_fini(void)
{
	struct sroce_device *dev;

	spin_lock(&devices_lock);
	list_for_each_entry(dev, &devices, list)
		dev->ibdev.ops.driver_id = UNLOADING_DRIVER_ID;
	spin_unlock(&devices_lock);
	ib_unregister_driver(UNLOADING_DRIVER_ID);
}
