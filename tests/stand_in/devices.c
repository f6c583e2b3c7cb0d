/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* In place of control/attach.c and netlink.c. */
#include "stand_in/control.h"
#include "stand_in/datapath.h"

#include "control/attach.h"
#include "control/netlink.h"
#include "datapath/device.h"

struct sroce_device *sroce_device_get(const struct net_device *netdev)
{
	struct sroce_device *dev = stand_in_control.dev;

	if (stand_in_control.is_disabled || !dev || dev->ep.netdev != netdev)
		return NULL;
	stand_in_control.refs++;
	return dev;
}

void sroce_device_set_guid(struct sroce_device *dev)
{
	stand_in_control.guids++;
}

void ib_device_put(struct ib_device *ibdev)
{
	stand_in_control.refs--;
}

int sroce_netlink_put_device(struct sk_buff *skb, const struct sroce_device *dev)
{
	return nla_put_u32(skb, SROCE_A_DEV_INDEX, STAND_IN_DEV_INDEX);
}

int sroce_device_attach(const char *name, struct net_device *netdev, bool roce_v1)
{
	stand_in_control.attached = netdev;
	stand_in_control.roce_v1 = roce_v1;
	return stand_in_control.attach_error;
}
