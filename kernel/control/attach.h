/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The devices of this module: attach one to a netdev, find it, remove it.
 */
#ifndef SROCE_CONTROL_ATTACH_H
#define SROCE_CONTROL_ATTACH_H

#include "datapath/device.h"

int sroce_device_attach(const char *name, struct net_device *netdev, bool roce_v1);
struct sroce_device *sroce_device_get(const struct net_device *netdev);
struct sroce_device *sroce_device_get_next(const struct net *net, u32 index);
void sroce_device_set_guid(struct sroce_device *dev);
void sroce_devices_fini(void);

#endif
