/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/route.h"

struct stand_in_routes stand_in_routes;

unsigned int inet_addr_type(struct net *net, __be32 address)
{
	if (address == stand_in_routes.local)
		return RTN_LOCAL;
	if (address == stand_in_routes.broadcast)
		return RTN_BROADCAST;
	return ipv4_is_multicast(address) ? RTN_MULTICAST : RTN_UNICAST;
}

static struct dst_entry *take(struct dst_entry *dst)
{
	stand_in_routes.lookups++;
	if (stand_in_routes.error)
		return ERR_PTR(stand_in_routes.error);
	stand_in.dst_refs++;
	return dst;
}

struct rtable *ip_route_output_flow(struct net *net, struct flowi4 *fl4, const struct sock *sk)
{
	struct dst_entry *dst = take(&stand_in_routes.rt.dst);

	stand_in_routes.fl4 = *fl4;
	return IS_ERR(dst) ? ERR_CAST(dst) : container_of(dst, struct rtable, dst);
}

struct dst_entry *ip6_dst_lookup_flow(struct net *net, const struct sock *sk, struct flowi6 *fl6,
				      const struct in6_addr *final)
{
	stand_in_routes.fl6 = *fl6;
	return take(&stand_in_routes.rt6.dst);
}

bool ipv6_chk_addr(struct net *net, const struct in6_addr *address,
		   const struct net_device *netdev, int strict)
{
	return netdev == stand_in_routes.netdev && ipv6_addr_equal(address, &stand_in_routes.source);
}

struct net_device *dev_get_by_index_rcu(struct net *net, int ifindex)
{
	struct net_device *netdev = ifindex == LOOPBACK_IFINDEX ? stand_in_routes.loopback :
								  stand_in_routes.netdev;

	return netdev && dev_net(netdev) == net && netdev->ifindex == ifindex ? netdev : NULL;
}

struct net_device *__ip_dev_find(struct net *net, __be32 address, bool devref)
{
	return address == stand_in_routes.local ? stand_in_routes.netdev : NULL;
}
