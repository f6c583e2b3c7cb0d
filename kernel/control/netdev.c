// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A netdev goes up, down, away: the device attached to it is told.
 *
 * Not here: names and MTUs are read from the netdev when somebody asks, and
 * GIDs follow addresses, VLANs and bonds by ib_core's own notifiers. Port
 * events are ours although ib_core dispatches them too from 6.14 on: it does
 * so only for netdevs in its hash, which a device of ours never enters.
 */
#include <linux/ethtool.h>
#include <linux/netdevice.h>

#include "compat/compat.h"
#include "control/attach.h"
#include "control/netdev.h"

/**
 * sroce_netdev_report_port() - dispatch an event if the port came up or went down
 * @dev: device; the caller makes sure that it stays registered
 *
 * Caller holds RTNL, which serialises all of these.
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
 * sroce_netdev_read_speed() - note how fast the interface says it is
 * @dev: device
 * @is_locked: the netdev's instance lock is held, if it has one
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
	/* A tap says 10, and means nothing by it. */
	if (!err && settings.base.speed != (u32)SPEED_UNKNOWN && settings.base.speed > SPEED_10)
		line_rate = (u64)settings.base.speed * SROCE_CC_MBPS;
	WRITE_ONCE(dev->line_rate, line_rate);
}

static int handle_netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct sroce_device *dev = sroce_device_get(netdev_notifier_info_to_dev(info));

	/* None, or one that ib_core has disabled for a while: it will catch up (attach.c). */
	if (!dev)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_UP:
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
		/* Also sent when it moves to another network namespace. */
		ib_unregister_device_queued(&dev->ibdev);
		break;
	}
	sroce_device_put(dev);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_notifier = {
	.notifier_call = handle_netdev_event,
};

/**
 * sroce_netdev_init() - listen to what happens to netdevs
 *
 * May sleep. Return: 0 or a negative errno.
 */
int sroce_netdev_init(void)
{
	return register_netdevice_notifier(&netdev_notifier);
}

/**
 * sroce_netdev_fini() - listen no more
 *
 * May sleep.
 */
void sroce_netdev_fini(void)
{
	unregister_netdevice_notifier(&netdev_notifier);
}
