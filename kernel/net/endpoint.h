/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An endpoint is a netdev as RoCE sees it. It has a reference to the netdev, a share of the UDP
 * sockets of its network namespace, and the counters.
 *
 * Each namespace has one IPv4 and one IPv6 UDP socket on port 4791. They are opened with the first
 * endpoint and closed with the last. A received packet is parsed and belongs to the endpoint that
 * owns the destination address. If several do, as with the link-local address of a VLAN, it is the
 * one on the ingress netdev, as for multicast. The callback given to sroce_net_init() handles the
 * packet.
 */
#ifndef SROCE_NET_ENDPOINT_H
#define SROCE_NET_ENDPOINT_H

#include <linux/in6.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "net/counters.h"

/* Addresses are stored as IPv6; IPv4 as ::ffff:a.b.c.d, as in GIDs. */
struct sroce_sockets;
struct socket;

/* UDP checksums of sent packets. The stack cannot segment a batch without one. */
enum sroce_udp_checksum {
	SROCE_UDP_CHECKSUM_OFF,		/* never, and no batches */
	SROCE_UDP_CHECKSUM_ON,
	SROCE_UDP_CHECKSUM_AUTO,	/* if the interface accepts batches */
};

/**
 * struct sroce_endpoint - a netdev that is open for RoCE
 * @netdev: the interface; holds a reference from init to fini
 * @tracker: tracks that reference
 * @sockets: sockets of the netdev's namespace, which know our addresses
 * @node: in the table of the sockets, by @netdev
 * @counters: per-CPU counters
 * @udp_checksum: enum sroce_udp_checksum; may change at any time
 * @roce_v1: it also has RoCE v1; set before the device is registered
 */
struct sroce_endpoint {
	struct net_device *netdev;
	netdevice_tracker tracker;
	struct sroce_sockets *sockets;
	struct hlist_node node;
	struct sroce_counters __percpu *counters;
	u32	udp_checksum;
	bool	roce_v1;
};

struct sroce_rx;

#define SROCE_NO_VLAN	0xffff

/* In softirq, under rcu_read_lock(). Takes packets with sroce_rx_next(); consumes rx->skb. */
typedef void (*sroce_receive_fn)(struct sroce_rx *rx);

/* No QP of @ep has a route afterwards. May sleep. */
typedef void (*sroce_release_routes_fn)(struct sroce_endpoint *ep);

int sroce_net_init(sroce_receive_fn receive, sroce_release_routes_fn release_routes);
void sroce_net_fini(void);

int sroce_endpoint_init(struct sroce_endpoint *ep, struct net_device *netdev, struct net *net);
void sroce_endpoint_fini(struct sroce_endpoint *ep);
bool sroce_endpoint_has_ended(const struct sroce_endpoint *ep);
struct net *sroce_endpoint_net(const struct sroce_endpoint *ep);
bool sroce_endpoint_is_in_place(const struct sroce_endpoint *ep);
struct sock *sroce_endpoint_get_sock(const struct sroce_endpoint *ep, bool is_ipv4);
int sroce_endpoint_add_address(struct sroce_endpoint *ep, const struct in6_addr *addr);
void sroce_endpoint_del_address(struct sroce_endpoint *ep, const struct in6_addr *addr);

/* Shared by the files of net/. */
extern sroce_receive_fn sroce_receive_hook;
struct sroce_sockets *sroce_sockets_of(struct net *net);
int sroce_udp_receive(struct sock *sk, struct sk_buff *skb);
struct sk_buff *sroce_gro_receive(struct sock *sk, struct list_head *batches, struct sk_buff *skb);
int sroce_gro_start(struct net *net);
void sroce_gro_stop(struct net *net);
int sroce_gro_enable(struct socket *sock);

#endif
