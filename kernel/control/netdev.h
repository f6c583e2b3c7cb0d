/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Netdev events, forwarded to the attached device. */
#ifndef SROCE_CONTROL_NETDEV_H
#define SROCE_CONTROL_NETDEV_H

#include "datapath/device.h"

extern struct notifier_block sroce_netdev_notifier;

void sroce_netdev_read_speed(struct sroce_device *dev, bool is_locked);
void sroce_netdev_report_port(struct sroce_device *dev);

#endif
