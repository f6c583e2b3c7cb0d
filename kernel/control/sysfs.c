// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Files in /sys/class/infiniband/DEV:
 *
 *	parent			name of the netdev; test suites for rxe read it
 *	sroce/abi_version	of uapi/sroce_abi.h. The directory tells our devices from those of
 *				rdma_rxe.
 */
#include "control/sysfs.h"
#include "uapi/sroce_abi.h"

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

static ssize_t abi_version_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%u\n", SROCE_ABI_VERSION);
}
static DEVICE_ATTR_RO(abi_version);

static struct attribute *abi_attrs[] = {
	&dev_attr_abi_version.attr,
	NULL,
};

const struct attribute_group sroce_abi_group = {
	.name = "sroce",
	.attrs = abi_attrs,
};
