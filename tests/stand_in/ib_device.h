/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Devices of the driver model, and those of ib_core. */
#ifndef STAND_IN_IB_DEVICE_H
#define STAND_IN_IB_DEVICE_H

#include "stand_in/device_attr.h"
#include "stand_in/kernel.h"

struct attribute_group;
struct ib_device;
struct net;

/* @refs are references taken less dropped. */
struct device {
	struct device *parent;
	bool	is_pci;
	int	refs;
};

/* Only two functions are called here. */
struct ib_device_ops {
	const void *owner;
	u32	driver_id;
	u32	uverbs_abi_ver;
	const void *alloc_hw_port_stats;
	const void *get_hw_stats;
	const void *process_mad;
	const void *counter_bind_qp;
	const void *counter_unbind_qp;
	const void *counter_dealloc;
	const void *counter_alloc_stats;
	const void *counter_update_stats;
	const void *fill_res_qp_entry;
	const void *fill_res_cq_entry;
	const void *fill_res_mr_entry;
	int	(*enable_driver)(struct ib_device *ibdev);
	void	(*dealloc_driver)(struct ib_device *ibdev);
	const struct attribute_group *device_group;
};

/* A device in one network namespace. Each namespace that sees a device has one of its own. */
struct ib_core_device {
	struct device dev;
	struct ib_device *owner;
};

/* @coredev is that of the device's own namespace; @users are those of ib_device_try_get(). */
struct ib_device {
	union {
		struct device dev;
		struct ib_core_device coredev;
	};
	struct ib_device_ops ops;
	const struct attribute_group *groups[4];
	u64	uverbs_cmd_mask;
	__be64	node_guid;
	struct ib_device_attr attrs;
	char	node_desc[64];
	char	name[64];
	u32	index;
	u32	num_comp_vectors;
	u8	node_type;
	u8	phys_port_cnt;
	struct net *net;
	bool	is_registered;
	int	users;
};

#endif
