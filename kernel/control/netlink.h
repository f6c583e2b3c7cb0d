/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The generic netlink family: netlink.c for devices, netlink_qp.c for queue pairs. */
#ifndef SROCE_CONTROL_NETLINK_H
#define SROCE_CONTROL_NETLINK_H

#include <net/genetlink.h>

#include "datapath/device.h"
#include "uapi/sroce_netlink.h"

extern struct genl_family sroce_genl_family;

/* Between the two files. */
int sroce_netlink_put_device(struct sk_buff *skb, const struct sroce_device *dev);
int sroce_netlink_put_qp(struct sk_buff *skb, struct sroce_device *dev, u32 *qpn);

#endif
