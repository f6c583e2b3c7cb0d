/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Attributes at the end of an skb, as they are on the wire. */
#ifndef STAND_IN_NETLINK_H
#define STAND_IN_NETLINK_H

#include <linux/netlink.h>

#include "stand_in/skb.h"

#ifdef __cplusplus
extern "C" {
#endif

int nla_put(struct sk_buff *skb, int type, int bytes, const void *value);
struct nlattr *nla_nest_start(struct sk_buff *skb, int type);
void nla_nest_end(struct sk_buff *skb, struct nlattr *nest);

static inline int nla_put_u8(struct sk_buff *skb, int type, u8 value)
{
	return nla_put(skb, type, sizeof(value), &value);
}

static inline int nla_put_u32(struct sk_buff *skb, int type, u32 value)
{
	return nla_put(skb, type, sizeof(value), &value);
}

/* Never padded, as on processors that read unaligned words. */
static inline int nla_put_u64_64bit(struct sk_buff *skb, int type, u64 value, int pad)
{
	return nla_put(skb, type, sizeof(value), &value);
}

static inline int nla_put_string(struct sk_buff *skb, int type, const char *value)
{
	return nla_put(skb, type, strlen(value) + 1, value);
}

static inline int nla_put_in6_addr(struct sk_buff *skb, int type, const struct in6_addr *value)
{
	return nla_put(skb, type, sizeof(*value), value);
}

static inline void nla_nest_cancel(struct sk_buff *skb, struct nlattr *nest)
{
	skb->len = (u8 *)nest - skb->data;
}

struct net_device;
struct rdma_link_ops {
	const char *type;
	int	(*newlink)(const char *name, struct net_device *netdev);
};

#define MODULE_ALIAS_RDMA_LINK(type)

/* ib_core's details of a driver: a name, then a number. */
enum {
	RDMA_NLDEV_ATTR_DRIVER = 52,
	RDMA_NLDEV_ATTR_DRIVER_STRING = 54,
	RDMA_NLDEV_ATTR_DRIVER_U32 = 57,
	RDMA_NLDEV_ATTR_DRIVER_U64 = 58,
};

static inline int rdma_nl_put_driver_u32(struct sk_buff *skb, const char *name, u32 value)
{
	return nla_put_string(skb, RDMA_NLDEV_ATTR_DRIVER_STRING, name) ?:
	       nla_put_u32(skb, RDMA_NLDEV_ATTR_DRIVER_U32, value);
}

static inline int rdma_nl_put_driver_u64(struct sk_buff *skb, const char *name, u64 value)
{
	return nla_put_string(skb, RDMA_NLDEV_ATTR_DRIVER_STRING, name) ?:
	       nla_put_u64_64bit(skb, RDMA_NLDEV_ATTR_DRIVER_U64, value, 0);
}

#define rdma_nl_put_driver_u32_hex rdma_nl_put_driver_u32
#define rdma_nl_put_driver_u64_hex rdma_nl_put_driver_u64

#ifdef __cplusplus
}
#endif

#endif
