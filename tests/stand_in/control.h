/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A device as control/ sees it: events of its netdev, and of ib_core. */
#ifndef STAND_IN_CONTROL_H
#define STAND_IN_CONTROL_H

#include "stand_in/verbs.h"

#ifdef __cplusplus
extern "C" {
#endif

struct sroce_device;

#define SPEED_10	10
#define SPEED_UNKNOWN	-1

struct ethtool_link_ksettings {
	struct {
		u32	speed;
	} base;
};

struct notifier_block {
	int	(*notifier_call)(struct notifier_block *nb, unsigned long event, void *info);
};

enum { NOTIFY_DONE = 0 };
enum {
	NETDEV_UP = 1, NETDEV_DOWN, NETDEV_CHANGE = 4, NETDEV_UNREGISTER = 6, NETDEV_CHANGEMTU,
	NETDEV_CHANGEADDR,
};

/**
 * struct stand_in_control - what a test tells these functions, and what they tell it
 * @dev: the only device; sroce_device_get() finds it by its netdev
 * @refs: references to it, taken less dropped
 * @is_disabled: sroce_device_get() does not find it
 * @is_running: the interface is up
 * @has_carrier: it has a link
 * @speed: that it reports, Mbit/s
 * @speed_error: from reading it
 * @locked_reads: of the speed with the instance lock held
 * @reads: of the speed
 * @guids: calls of sroce_device_set_guid()
 * @unregistered: calls of ib_unregister_device_queued()
 * @events: dispatched
 * @event: the last of them
 * @address: the last that was added or removed
 * @addresses: added less removed
 * @attach_error: from sroce_device_attach()
 * @attached: the interface that it was given
 * @roce_v1: the last one also has RoCE v1
 */
struct stand_in_control {
	struct sroce_device *dev;
	int	refs;
	bool	is_disabled;
	bool	is_running;
	bool	has_carrier;
	u32	speed;
	int	speed_error;
	u32	locked_reads;
	u32	reads;
	u32	guids;
	u32	unregistered;
	u32	events;
	struct ib_event event;
	struct in6_addr address;
	int	addresses;
	int	attach_error;
	struct net_device *attached;
	bool	roce_v1;
};

extern struct stand_in_control stand_in_control;

#define netif_running(netdev)			((void)(netdev), stand_in_control.is_running)
#define netif_carrier_ok(netdev)		((void)(netdev), stand_in_control.has_carrier)
#define netdev_notifier_info_to_dev(info)	((struct net_device *)(info))
int __ethtool_get_link_ksettings(struct net_device *netdev,
				 struct ethtool_link_ksettings *settings);
int netif_get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *settings);
int ib_get_eth_speed(struct ib_device *ibdev, u32 port_num, u16 *speed, u8 *width);
#define dev_hold(netdev)			((netdev)->refs++)
void ib_dispatch_event(const struct ib_event *event);
void ib_unregister_device_queued(struct ib_device *ibdev);
void ib_device_put(struct ib_device *ibdev);

#ifdef __cplusplus
}
#endif

#endif
