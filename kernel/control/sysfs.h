/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Files in /sys/class/infiniband/DEV. */
#ifndef SROCE_CONTROL_SYSFS_H
#define SROCE_CONTROL_SYSFS_H

#include <linux/sysfs.h>

#include "datapath/device.h"

extern const struct attribute_group sroce_parent_group;
extern const struct attribute_group sroce_abi_group;

#endif
