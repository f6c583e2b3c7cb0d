/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Addresses of this host, and its routes. */
#ifndef STAND_IN_ROUTE_H
#define STAND_IN_ROUTE_H

#include <linux/in.h>

#include "stand_in/net.h"

#ifdef __cplusplus
extern "C" {
#endif

#define LOOPBACK_IFINDEX	1
#define RTN_UNICAST	1
#define RTN_LOCAL	2
#define RTN_BROADCAST	3
#define RTN_MULTICAST	5
#define RTCF_BROADCAST	0x10000000
#define RTCF_MULTICAST	0x20000000
#define RTF_LOCAL	0x80000000

struct flowi4 {
	__be32	saddr, daddr;
	int	flowi4_oif;
	u8	flowi4_proto, flowi4_dscp;
	__be16	fl4_sport, fl4_dport;
};

struct flowi6 {
	struct in6_addr saddr, daddr;
	int	flowi6_oif;
	u8	flowi6_proto;
	__be16	fl6_sport, fl6_dport;
	__be32	flowlabel;
};

struct rtable {
	unsigned int rt_flags;
	struct dst_entry dst;
};

struct rt6_info {
	u32	rt6i_flags;
	struct dst_entry dst;
};

/**
 * struct stand_in_routes - what a test tells these functions, and what they tell it
 * @local: IPv4 address of this host
 * @broadcast: that of a subnet
 * @source: IPv6 address of this host
 * @netdev: the interface that has it, the only one of its namespace
 * @loopback: the interface of index LOOPBACK_IFINDEX, or NULL
 * @left: the interface has left its namespace
 * @error: of each lookup, if it is not 0
 * @rt: the IPv4 route
 * @rt6: the IPv6 route
 * @lookups: of a route
 * @fl4: key of the last one
 * @fl6: as @fl4
 */
struct stand_in_routes {
	__be32	local;
	__be32	broadcast;
	struct in6_addr source;
	struct net_device *netdev;
	struct net_device *loopback;
	bool	left;
	int	error;
	struct rtable rt;
	struct rt6_info rt6;
	u32	lookups;
	struct flowi4 fl4;
	struct flowi6 fl6;
};

extern struct stand_in_routes stand_in_routes;

unsigned int inet_addr_type(struct net *net, __be32 address);
struct rtable *ip_route_output_flow(struct net *net, struct flowi4 *fl4, const struct sock *sk);
struct dst_entry *ip6_dst_lookup_flow(struct net *net, const struct sock *sk, struct flowi6 *fl6,
				      const struct in6_addr *final);
bool ipv6_chk_addr(struct net *net, const struct in6_addr *address,
		   const struct net_device *netdev, int strict);
struct net_device *__ip_dev_find(struct net *net, __be32 address, bool devref);
struct net_device *dev_get_by_index_rcu(struct net *net, int ifindex);

/* One priority for 4 types of service, unlike in the kernel. */
#define rt_tos2priority(tos)			((tos) >> 2 & (STAND_IN_PRIORITIES - 1))
#define rt6_get_cookie(rt)			((rt)->dst.cookie)
#define ip6_make_flowinfo(tclass, label)	(htonl((u32)(tclass) << 20) | (label))

#ifdef __cplusplus
}
#endif

#endif
