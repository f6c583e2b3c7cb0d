// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Netdev events: link state, speed, MAC address, and removal.
 *
 * Name and MTU are read from the netdev when they are needed. ib_core's notifiers update the GIDs
 * for addresses, VLANs and bonds. From 6.14 on ib_core also dispatches port events, but only for
 * netdevs set by ib_device_set_netdev(), which we do not use.
 */
#include <linux/ethtool.h>
#include <linux/netdevice.h>

#include "compat/compat.h"
#include "control/attach.h"
#include "control/netdev.h"

/**
 * sroce_netdev_report_port() - dispatch an event if the port came up or went down
 * @dev: device, which must stay registered meanwhile
 *
 * Caller holds RTNL, which serialises the calls.
 */
void sroce_netdev_report_port(struct sroce_device *dev)
{
	struct net_device *netdev = dev->ep.netdev;
	bool active = netif_running(netdev) && netif_carrier_ok(netdev);
	struct ib_event event = {
		.device = &dev->ibdev,
		.element.port_num = 1,
		.event = active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	ASSERT_RTNL();
	if (active == dev->active)
		return;
	dev->active = active;
	if (!active) {
		local_bh_disable();
		sroce_count(dev->ep.counters, SROCE_CTR_LINK_DOWNED);
		local_bh_enable();
	}
	ib_dispatch_event(&event);
}

/**
 * sroce_netdev_read_speed() - update the line rate from the speed that the interface reports
 * @dev: device
 * @is_locked: the caller holds the netdev's instance lock, if it has one
 *
 * Caller holds RTNL.
 */
void sroce_netdev_read_speed(struct sroce_device *dev, bool is_locked)
{
	struct net_device *netdev = dev->ep.netdev;
	struct ethtool_link_ksettings settings;
	u64 line_rate = 0;
	int err;

	ASSERT_RTNL();
	err = is_locked ? netif_get_link_ksettings(netdev, &settings) :
			  __ethtool_get_link_ksettings(netdev, &settings);
	/* A tap always reports 10. */
	if (!err && settings.base.speed != (u32)SPEED_UNKNOWN && settings.base.speed > SPEED_10)
		line_rate = (u64)settings.base.speed * SROCE_CC_MBPS;
	WRITE_ONCE(dev->line_rate, line_rate);
}

static int handle_netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct sroce_device *dev = sroce_device_get(netdev_notifier_info_to_dev(info));

	/* A device that ib_core has disabled catches up later, see enable_device(). */
	if (!dev)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_CHANGEMTU:
		sroce_mcast_renew(&dev->mcast);
		break;
	case NETDEV_UP:
		sroce_mcast_renew(&dev->mcast);
		fallthrough;
	case NETDEV_CHANGE:
		sroce_netdev_read_speed(dev, true);
		fallthrough;
	case NETDEV_DOWN:
		sroce_netdev_report_port(dev);
		break;
	case NETDEV_CHANGEADDR:
		sroce_device_set_guid(dev);
		break;
	case NETDEV_UNREGISTER:
		/* Also sent when the netdev moves to another namespace. */
		ib_unregister_device_queued(&dev->ibdev);
		break;
	}
	ib_device_put(&dev->ibdev);
	return NOTIFY_DONE;
}

struct notifier_block sroce_netdev_notifier = {
	.notifier_call = handle_netdev_event,
};
