// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Routes. A packet leaves by the netdev of its GID. Only an address of this host is reached over
 * loopback. If the routing table chooses another interface, or a broadcast, the peer is
 * unreachable.
 */
#include <linux/err.h>
#include <linux/inetdevice.h>
#include <net/addrconf.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <net/sch_generic.h>

#include "compat/compat.h"
#include "net/path.h"
#include "transport/wire.h"

static struct dst_entry *route_ipv4(struct net *net, const struct sroce_path *path,
				    __be16 sport)
{
	struct flowi4 fl4 = {
		.saddr = path->saddr.s6_addr32[3],
		.daddr = path->daddr.s6_addr32[3],
		.flowi4_oif = path->oif,
		.flowi4_proto = IPPROTO_UDP,
		.fl4_sport = sport,
		.fl4_dport = htons(SROCE_UDP_PORT),
	};
	struct rtable *rt;

	compat_flowi4_set_tos(&fl4, path->tos);
	/* With an output interface, the address of another interface would not be local. */
	if (inet_addr_type(net, fl4.daddr) == RTN_LOCAL)
		fl4.flowi4_oif = 0;
	rt = ip_route_output_flow(net, &fl4, NULL);
	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *route_ipv6(struct net *net, const struct sroce_path *path,
				    __be16 sport)
{
	struct flowi6 fl6 = {
		.saddr = path->saddr,
		.daddr = path->daddr,
		.flowi6_oif = path->oif,
		.flowi6_proto = IPPROTO_UDP,
		.fl6_sport = sport,
		.fl6_dport = htons(SROCE_UDP_PORT),
		.flowlabel = ip6_make_flowinfo(path->tos, htonl(path->flow_label)),
	};

	return ip6_dst_lookup_flow(net, NULL, &fl6, NULL);
}

/* IPv6 routes from any address, even one that the host has lost. IPv4 does not. */
static bool owns_source(struct net *net, const struct sroce_path *path)
{
	const struct net_device *netdev = dev_get_by_index_rcu(net, path->oif);

	return netdev && ipv6_chk_addr(net, &path->saddr, netdev, false);
}

static u32 dst_cookie_of(const struct dst_entry *dst, bool is_ipv4)
{
	return is_ipv4 ? 0 : rt6_get_cookie(container_of(dst, struct rt6_info, dst));
}
#else
static struct dst_entry *route_ipv6(struct net *net, const struct sroce_path *path,
				    __be16 sport)
{
	return ERR_PTR(-EAFNOSUPPORT);
}

static bool owns_source(struct net *net, const struct sroce_path *path)
{
	return false;
}

static u32 dst_cookie_of(const struct dst_entry *dst, bool is_ipv4)
{
	return 0;
}
#endif

/*
 * IPv6 treats the interface as a preference only. An IPv4 address may have become a broadcast
 * address since sroce_path_is_broadcast().
 */
static bool route_is_usable(struct net *net, const struct dst_entry *dst,
			    const struct sroce_path *path)
{
	const struct rt6_info *rt6;

	if (path->is_ipv4)
		return !(container_of(dst, struct rtable, dst)->rt_flags & RTCF_BROADCAST);
	rt6 = container_of(dst, struct rt6_info, dst);
	return (dst->dev->ifindex == path->oif || (rt6->rt6i_flags & RTF_LOCAL)) &&
	       owns_source(net, path);
}

static int error_of(struct net *net, const struct dst_entry *dst, const struct sroce_path *path)
{
	if (dst->error)
		return dst->error;
	return route_is_usable(net, dst, path) ? 0 : -ENETUNREACH;
}

/**
 * sroce_path_is_broadcast() - does a path lead to all hosts?
 * @ep: the endpoint that sends
 * @path: the path
 *
 * Gives an early error. Broadcast addresses may change, so each route is checked again. Any context
 * but hard interrupts.
 *
 * Return: true for broadcast addresses, including those of subnets.
 */
bool sroce_path_is_broadcast(const struct sroce_endpoint *ep, const struct sroce_path *path)
{
	unsigned int type;

	if (!path->is_ipv4)
		return false;
	rcu_read_lock();
	type = inet_addr_type(dev_net(ep->netdev), path->daddr.s6_addr32[3]);
	rcu_read_unlock();
	return type == RTN_BROADCAST;
}

/**
 * sroce_path_route() - look up the route of a path
 * @ep: the endpoint that sends
 * @path: the path
 * @sport: UDP source port
 *
 * Softirq or process context. Only a work queue may keep the route, and with its lock held from the
 * lookup on, because the namespace may end (datapath/route_release.c).
 *
 * Return: the route, with a reference; or an ERR_PTR if there is none, none by the path's
 * interface, or if the interface has left its namespace.
 */
struct dst_entry *sroce_path_route(const struct sroce_endpoint *ep, const struct sroce_path *path,
				   __be16 sport)
{
	struct dst_entry *dst;
	struct net *net;
	int err = 0;

	rcu_read_lock();
	net = sroce_endpoint_net(ep);
	if (!net)
		dst = ERR_PTR(-ENETUNREACH);
	else
		dst = path->is_ipv4 ? route_ipv4(net, path, sport) : route_ipv6(net, path, sport);
	if (!IS_ERR(dst))
		err = error_of(net, dst, path);
	rcu_read_unlock();
	if (!err)
		return dst;
	dst_release(dst);
	return ERR_PTR(err);
}

/**
 * sroce_path_route_again() - replace the cached route of a path
 * @ep: the endpoint that sends
 * @path: the path
 * @cache: the cached route, or NULL; has the reference
 * @cookie: its cookie
 *
 * The caller's lock protects @cache and @cookie.
 *
 * Return: *@cache, valid while it stays in the cache, or an ERR_PTR.
 */
struct dst_entry *sroce_path_route_again(const struct sroce_endpoint *ep,
					 const struct sroce_path *path,
					 struct dst_entry **cache, u32 *cookie)
{
	struct dst_entry *dst;

	dst_release(*cache);
	*cache = NULL;
	dst = sroce_path_route(ep, path, path->sport);
	if (IS_ERR(dst))
		return dst;
	*cookie = dst_cookie_of(dst, path->is_ipv4);
	*cache = dst;
	return dst;
}

/**
 * sroce_path_supports_edt() - does the interface send packets at skb->tstamp?
 * @dst: the route, or NULL
 *
 * Only the fq qdisc does, as root or below mq. Checks the first transmit queue only, because mq
 * normally has the same qdisc on all. Call it for each plan, because the qdisc may be replaced.
 * Any context.
 *
 * Return: true if it does.
 */
bool sroce_path_supports_edt(const struct dst_entry *dst)
{
	const char *id;
	bool is_fq;

	/* An skb that ESP will see has no owner (datapath/tx.c), and fq does not delay it. */
	if (!dst || dst_xfrm(dst))
		return false;
	rcu_read_lock();
	id = rcu_dereference(netdev_get_tx_queue(dst->dev, 0)->qdisc)->ops->id;
	is_fq = id[0] == 'f' && id[1] == 'q' && !id[2];
	rcu_read_unlock();
	return is_fq;
}
