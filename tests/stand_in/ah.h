/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Address handles and the addresses in them. */
#ifndef STAND_IN_AH_H
#define STAND_IN_AH_H

#include "stand_in/net.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ib_device;
struct ib_gid_attr;
struct ib_pd;

struct ib_ah {
	struct ib_device *device;
	struct ib_pd *pd;
	const struct ib_gid_attr *sgid_attr;
	int	type;
};

union ib_gid {
	u8	raw[16];
};

/* Without a netdev, the netdev has gone. */
struct ib_gid_attr {
	struct ib_device *device;
	union ib_gid gid;
	u16	index;
	struct net_device *ndev;
	int	gid_type;
};

enum { IB_GID_TYPE_IB, IB_GID_TYPE_ROCE, IB_GID_TYPE_ROCE_UDP_ENCAP };

static inline struct net_device *rdma_read_gid_attr_ndev_rcu(const struct ib_gid_attr *attr)
{
	return attr->ndev ? attr->ndev : (struct net_device *)ERR_PTR(-ENODEV);
}

struct ib_global_route {
	const struct ib_gid_attr *sgid_attr;
	union ib_gid dgid;
	u32	flow_label;
	u8	sgid_index, hop_limit, traffic_class;
};

enum { IB_AH_GRH = 1, IB_GRH_FLOWLABEL_MASK = 0xfffff };

struct rdma_ah_attr {
	struct ib_global_route grh;
	int	type;
	u8	sl, ah_flags;
	u32	port_num;
	struct {
		u8	dmac[6];
	} roce;
};

#define rdma_ah_read_grh(attr)		(&(attr)->grh)
#define rdma_ah_get_sl(attr)		((attr)->sl)
#define rdma_ah_get_ah_flags(attr)	((attr)->ah_flags)
#define rdma_ah_get_port_num(attr)	((attr)->port_num)

#define rdma_ah_set_sl(attr, level)	((attr)->sl = (level))
#define rdma_ah_set_port_num(attr, n)	((attr)->port_num = (n))
#define rdma_ah_set_dgid_raw(attr, from)	memcpy((attr)->grh.dgid.raw, from, 16)

static inline void rdma_ah_set_grh(struct rdma_ah_attr *attr, union ib_gid *dgid, u32 flow_label,
				   u8 sgid_index, u8 hop_limit, u8 traffic_class)
{
	attr->ah_flags = IB_AH_GRH;
	if (dgid)
		attr->grh.dgid = *dgid;
	attr->grh.flow_label = flow_label;
	attr->grh.sgid_index = sgid_index;
	attr->grh.hop_limit = hop_limit;
	attr->grh.traffic_class = traffic_class;
}

#define RDMA_CREATE_AH_SLEEPABLE	1

struct rdma_ah_init_attr {
	struct rdma_ah_attr *ah_attr;
	u32	flags;
};

#ifdef __cplusplus
}
#endif

#endif
