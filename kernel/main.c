// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Module load and unload. After loading no device exists and no socket is open; `rdma link add`
 * (control/rdma_link.c) creates both.
 */
#undef pr_fmt
#define pr_fmt(fmt) "sroce: " fmt

#include <linux/module.h>

#include "control/attach.h"
#include "control/netdev.h"
#include "control/netlink.h"
#include "control/rdma_link.h"
#include "crc/crc.h"
#include "datapath/odp_wait.h"
#include "datapath/qp_table.h"
#include "datapath/receive.h"
#include "datapath/route_release.h"
#include "net/endpoint.h"
#include "version.h"

static int __init sroce_init(void)
{
	int err;

	sroce_crc_init();
	err = sroce_fault_queue_init();
	if (err)
		return err;
	err = sroce_net_init(sroce_receive, sroce_routes_release);
	if (err)
		goto err_faults;
	err = register_netdevice_notifier(&sroce_netdev_notifier);
	if (err)
		goto err_net;
	err = genl_register_family(&sroce_genl_family);
	if (err)
		goto err_netdev;
	rdma_link_register(&sroce_link_ops);
	rdma_link_register(&sroce_v1_link_ops);
	return 0;

err_netdev:
	unregister_netdevice_notifier(&sroce_netdev_notifier);
err_net:
	sroce_net_fini();
err_faults:
	sroce_fault_queue_fini();
	return err;
}

static void __exit sroce_exit(void)
{
	rdma_link_unregister(&sroce_v1_link_ops);
	rdma_link_unregister(&sroce_link_ops);
	genl_unregister_family(&sroce_genl_family);
	unregister_netdevice_notifier(&sroce_netdev_notifier);
	sroce_devices_fini();
	sroce_net_fini();
	/* The QPs are gone. Packets refer only to what is left of them, and start no fault. */
	sroce_fault_queue_fini();
	/* A packet in a qdisc calls a destructor of this module. */
	sroce_qp_refs_wait();
}

module_init(sroce_init);
module_exit(sroce_exit);

MODULE_DESCRIPTION("Soft RoCEv2: RDMA over network interfaces");
MODULE_AUTHOR("The sroce authors");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(SROCE_VERSION);
