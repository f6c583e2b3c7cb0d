/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Files of a device in sysfs. */
#ifndef STAND_IN_SYSFS_H
#define STAND_IN_SYSFS_H

#include <sys/types.h>

#include "stand_in/ib_device.h"

#ifdef __cplusplus
extern "C" {
#endif

struct attribute {
	const char *name;
};

/* Without @name, its files are in the folder of the device. */
struct attribute_group {
	const char *name;
	struct attribute **attrs;
};

struct device_attribute {
	struct attribute attr;
	ssize_t	(*show)(struct device *dev, struct device_attribute *attr, char *buf);
};

#define DEVICE_ATTR_RO(file)	\
	struct device_attribute dev_attr_##file = { .attr = { .name = #file }, .show = file##_show }
#define sysfs_emit(buf, ...)	snprintf(buf, PAGE_SIZE, __VA_ARGS__)
#define rdma_device_to_drv_device(device, type, member)	\
	container_of(container_of(device, struct ib_core_device, dev)->owner, type, member)

#ifdef __cplusplus
}
#endif

#endif
