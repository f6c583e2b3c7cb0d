// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Module load and unload. After loading no device exists and no socket is open; `rdma link add`
 * (control/rdma_link.c) creates both.
 */
#define pr_fmt(fmt) "sroce: " fmt

#include <linux/module.h>

#include "compat/compat.h"
#include "control/attach.h"
#include "control/rdma_link.h"
#include "control/netdev.h"
#include "control/netlink.h"
#include "datapath/qp_table.h"
#include "datapath/receive.h"
#include "crc/crc.h"
#include "net/endpoint.h"

static int __init sroce_init(void)
{
	int err;

	sroce_crc_init();
	err = sroce_net_init(sroce_receive);
	if (err)
		return err;
	err = sroce_netdev_init();
	if (err)
		goto err_net;
	err = sroce_netlink_init();
	if (err)
		goto err_netdev;
	sroce_link_init();
	return 0;

err_netdev:
	sroce_netdev_fini();
err_net:
	sroce_net_fini();
	return err;
}

static void __exit sroce_exit(void)
{
	sroce_link_fini();
	sroce_netlink_fini();
	sroce_netdev_fini();
	sroce_devices_fini();
	sroce_net_fini();
	/* A packet in a qdisc calls a destructor of this module. */
	sroce_qp_refs_wait();
}

module_init(sroce_init);
module_exit(sroce_exit);

MODULE_DESCRIPTION("Soft RoCEv2: RDMA over any network interface");
MODULE_AUTHOR("The sroce authors");
MODULE_LICENSE("Dual BSD/GPL");
