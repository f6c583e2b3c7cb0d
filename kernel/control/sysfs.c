// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Files in /sys/class/infiniband/DEV:
 *
 *	parent		name of the netdev; test suites for rxe read it
 *	sroce/mode	"rxe" or "native". The directory identifies our devices, whatever
 *			their driver id.
 */
#include "control/sysfs.h"

const char *const sroce_mode_names[] = {
	[SROCE_MODE_RXE] = "rxe",
	[SROCE_MODE_NATIVE] = "native",
};

/* @dev may be the device's representative in another network namespace. */
static struct sroce_device *device_of(struct device *dev)
{
	return rdma_device_to_drv_device(dev, struct sroce_device, ibdev);
}

static ssize_t parent_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", device_of(dev)->ep.netdev->name);
}
static DEVICE_ATTR_RO(parent);

static struct attribute *parent_attrs[] = {
	&dev_attr_parent.attr,
	NULL,
};

const struct attribute_group sroce_parent_group = {
	.attrs = parent_attrs,
};

static ssize_t mode_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", sroce_mode_names[device_of(dev)->mode]);
}
static DEVICE_ATTR_RO(mode);

static struct attribute *mode_attrs[] = {
	&dev_attr_mode.attr,
	NULL,
};

const struct attribute_group sroce_mode_group = {
	.name = "sroce",
	.attrs = mode_attrs,
};
