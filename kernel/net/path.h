/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A path: everything needed to put a packet on the wire to one peer, and the
 * cached route. Connected QPs have one per half (each used under that half's
 * lock), datagrams one per address handle (route looked up per packet).
 */
#ifndef SROCE_NET_PATH_H
#define SROCE_NET_PATH_H

#include <linux/in6.h>
#include <linux/skbuff.h>
#include <net/dst.h>

#include "net/endpoint.h"

/**
 * struct sroce_path - where packets go
 * @saddr: our address (IPv4 as mapped IPv6)
 * @daddr: the peer's address
 * @is_ipv4: both are IPv4
 * @tos: IPv4 TOS or IPv6 traffic class
 * @hop_limit: TTL or hop limit
 * @sport: UDP source port, from the flow label or the QP numbers
 * @flow_label: IPv6 flow label
 * @oif: interface index the route must leave by: the GID's netdev (VLANs)
 * @ip_id: IPv4 identification of the next packet; one more for each packet
 */
struct sroce_path {
	struct in6_addr saddr;
	struct in6_addr daddr;
	bool	is_ipv4;
	u8	tos;
	u8	hop_limit;
	__be16	sport;
	u32	flow_label;
	int	oif;
	u16	ip_id;
};

bool sroce_path_is_unicast(const struct sroce_endpoint *ep, const struct sroce_path *path);
struct dst_entry *sroce_path_route(const struct sroce_endpoint *ep, const struct sroce_path *path);
struct dst_entry *sroce_path_route_cached(const struct sroce_endpoint *ep,
					  const struct sroce_path *path,
					  struct dst_entry **cache, u32 *cookie);
bool sroce_path_supports_edt(const struct dst_entry *dst);

struct sk_buff *sroce_skb_alloc(const struct sroce_path *path, struct dst_entry *dst, u8 tos,
				u32 packet_bytes, u32 linear_bytes);
void sroce_skb_xmit(const struct sroce_endpoint *ep, struct sk_buff *skb);

#endif
