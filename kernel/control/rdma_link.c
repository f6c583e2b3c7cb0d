// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The link types "sroce" and "sroce_v1" of `rdma link add`, without and with RoCE v1. RoCE v1 has
 * a type of its own, because it changes the numbers of GIDs, and `rdma link add` takes no options.
 * Checks the interface, and attaches the device.
 * Errors are logged, because `rdma` shows an errno only.
 *
 * `rdma link delete` needs no code here: ib_core unregisters the device (see attach.c).
 */
#undef pr_fmt
#define pr_fmt(fmt) "sroce: " fmt

#include <linux/if_arp.h>
#include <linux/if_vlan.h>

#include "control/attach.h"
#include "control/rdma_link.h"
#include "net/roce_v1.h"
#include "transport/wire.h"

static int check_interface(const struct net_device *netdev)
{
	if (is_vlan_dev(netdev)) {
		pr_err_ratelimited("%s is a VLAN: attach to %s, which serves its VLANs too\n",
				   netdev->name, vlan_dev_real_dev(netdev)->name);
		return -EOPNOTSUPP;
	}
	switch (netdev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:
	case ARPHRD_TUNNEL:
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
		return 0;
	default:
		pr_err_ratelimited("%s is neither Ethernet, loopback nor a tunnel\n", netdev->name);
		return -EOPNOTSUPP;
	}
}

static int create_link(const char *name, struct net_device *netdev, bool roce_v1)
{
	int err = check_interface(netdev);

	if (err)
		return err;
	if (roce_v1 && !sroce_v1_is_supported(netdev)) {
		pr_err_ratelimited("%s has no Ethernet header, which RoCE v1 needs\n",
				   netdev->name);
		return -EOPNOTSUPP;
	}
	err = sroce_device_attach(name, netdev, roce_v1);
	switch (err) {
	case -EEXIST:
		pr_err_ratelimited("%s has a device already\n", netdev->name);
		break;
	case -ENFILE:
		pr_err_ratelimited("there is an RDMA device called %s already\n", name);
		err = -EEXIST;
		break;
	case -EADDRINUSE:
		pr_err_ratelimited("%s: UDP port %u is taken in this network namespace, most likely by rdma_rxe\n",
				   netdev->name, SROCE_UDP_PORT);
		break;
	}
	return err;
}

static int create_v2_link(const char *name, struct net_device *netdev)
{
	return create_link(name, netdev, false);
}

static int create_v1_link(const char *name, struct net_device *netdev)
{
	return create_link(name, netdev, true);
}

/* To be registered last: links may be added at once. Unregistering waits for a link being added. */
struct rdma_link_ops sroce_link_ops = {
	.type = "sroce",
	.newlink = create_v2_link,
};

struct rdma_link_ops sroce_v1_link_ops = {
	.type = "sroce_v1",
	.newlink = create_v1_link,
};

MODULE_ALIAS_RDMA_LINK("sroce");
MODULE_ALIAS_RDMA_LINK("sroce_v1");
