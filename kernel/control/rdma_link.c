// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The link type "sroce" of `rdma link add`: checks name and interface, and attaches the device.
 * Errors are logged, because `rdma` shows an errno only. Also the module parameter "mode".
 *
 * `rdma link delete` needs no code here: ib_core unregisters the device (see attach.c).
 */
#define pr_fmt(fmt) "sroce: " fmt

#include <linux/if_arp.h>
#include <linux/if_vlan.h>
#include <linux/moduleparam.h>

#include "control/attach.h"
#include "control/rdma_link.h"
#include "transport/wire.h"
#include "control/sysfs.h"

static int default_mode = SROCE_MODE_RXE;

static int set_mode(const char *value, const struct kernel_param *param)
{
	int mode = sysfs_match_string(sroce_mode_names, value);

	if (mode < 0)
		return mode;
	WRITE_ONCE(*(int *)param->arg, mode);
	return 0;
}

static int get_mode(char *buf, const struct kernel_param *param)
{
	return sysfs_emit(buf, "%s\n", sroce_mode_names[READ_ONCE(*(int *)param->arg)]);
}

static const struct kernel_param_ops mode_ops = {
	.set = set_mode,
	.get = get_mode,
};
module_param_cb(mode, &mode_ops, &default_mode, 0644);
MODULE_PARM_DESC(mode, "ABI of new devices: rxe (driven by librxe) or native (driven by libsroce)");

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
		return 0;
	default:
		pr_err_ratelimited("%s is neither Ethernet, loopback nor a tunnel\n", netdev->name);
		return -EOPNOTSUPP;
	}
}

static int check_name(const char *name, enum sroce_mode mode)
{
	/* libibverbs would match librxe by this name, whatever the driver id is. */
	if (mode == SROCE_MODE_NATIVE && !strncmp(name, "rxe", 3)) {
		pr_err_ratelimited("%s: in native mode a device name must not begin with rxe\n",
				   name);
		return -EINVAL;
	}
	return 0;
}

static int create_link(const char *name, struct net_device *netdev)
{
	enum sroce_mode mode = READ_ONCE(default_mode);
	int err;

	err = check_interface(netdev);
	if (!err)
		err = check_name(name, mode);
	if (err)
		return err;

	err = sroce_device_attach(name, netdev, mode);
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

/* To be registered last: links may be added at once. Unregistering waits for a link being added. */
struct rdma_link_ops sroce_link_ops = {
	.type = "sroce",
	.newlink = create_link,
};

MODULE_ALIAS_RDMA_LINK("sroce");
