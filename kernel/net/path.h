/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A path has the addresses and header fields to send to one peer or multicast group. Each work
 * queue of a connected QP has a path and a cached route, used under the lock of the queue. A
 * datagram uses the path of its address handle, and the route is looked up for each packet.
 */
#ifndef SROCE_NET_PATH_H
#define SROCE_NET_PATH_H

#include <linux/if_ether.h>
#include <linux/in6.h>
#include <linux/skbuff.h>
#include <net/dst.h>

#include "net/endpoint.h"

/**
 * struct sroce_path - addresses and header fields
 * @saddr: our address (IPv4 as mapped IPv6)
 * @daddr: the peer's address
 * @is_ipv4: both are IPv4, and the packets have an IPv4 header
 * @is_v1: RoCE v1: the packets have a GRH, and no route
 * @tos: IPv4 TOS or IPv6 traffic class
 * @priority: of the skb, from the service level or @tos; a VLAN maps it to the 802.1p priority
 * @hop_limit: TTL or hop limit
 * @sport: UDP source port, from the flow label or the QP numbers; 0: the sending QP has its own
 * @flow_label: IPv6 flow label
 * @oif: index of the GID's netdev, which the route must use; it may be a VLAN
 * @ip_id: IPv4 identification of the next packet; incremented for each packet
 * @dmac: RoCE v1: the peer's MAC address
 */
struct sroce_path {
	struct in6_addr saddr;
	struct in6_addr daddr;
	bool	is_ipv4;
	bool	is_v1;
	u8	tos;
	u8	hop_limit;
	__be16	sport;
	u32	flow_label;
	u32	priority;
	int	oif;
	u16	ip_id;
	u8	dmac[ETH_ALEN];
};

bool sroce_path_is_broadcast(const struct sroce_endpoint *ep, const struct sroce_path *path);
struct dst_entry *sroce_path_route(const struct sroce_endpoint *ep, const struct sroce_path *path,
				   __be16 sport);
struct dst_entry *sroce_path_route_again(const struct sroce_endpoint *ep,
					 const struct sroce_path *path,
					 struct dst_entry **cache, u32 *cookie);
bool sroce_path_supports_edt(const struct dst_entry *dst);

/* The route of a path, looked up again if it has changed; as sroce_path_route_again(). */
static inline struct dst_entry *sroce_path_route_cached(const struct sroce_endpoint *ep,
							const struct sroce_path *path,
							struct dst_entry **cache, u32 *cookie)
{
	if (*cache && dst_check(*cache, *cookie))
		return *cache;
	return sroce_path_route_again(ep, path, cache, cookie);
}

#endif
