/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/control.h"

#include "datapath/device.h"

struct stand_in_control stand_in_control;

int __ethtool_get_link_ksettings(struct net_device *netdev,
				 struct ethtool_link_ksettings *settings)
{
	stand_in_control.reads++;
	settings->base.speed = stand_in_control.speed;
	return stand_in_control.speed_error;
}

int netif_get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *settings)
{
	stand_in_control.locked_reads++;
	return __ethtool_get_link_ksettings(netdev, settings);
}

/* 25 Gbit/s, one lane. */
int ib_get_eth_speed(struct ib_device *ibdev, u32 port_num, u16 *speed, u8 *width)
{
	*speed = 32;
	*width = 4;
	return stand_in_control.speed_error;
}

void ib_dispatch_event(const struct ib_event *event)
{
	stand_in_control.events++;
	stand_in_control.event = *event;
}

void ib_unregister_device_queued(struct ib_device *ibdev)
{
	WARN_ON(ibdev != &stand_in_control.dev->ibdev);
	stand_in_control.unregistered++;
}
