/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An endpoint: one netdev as RoCEv2 sees it. It owns the reference to the
 * netdev, the share in the UDP sockets of its network namespace, a flat RCU
 * table of the addresses that are ours, and the counters.
 *
 * Sockets: one IPv4 and one IPv6 UDP socket on port 4791 per namespace, opened
 * with the first endpoint there and closed with the last. Received packets are
 * parsed, attributed to the endpoint that owns the destination address (if
 * several do, as with a VLAN's link-local address: the one on the ingress
 * netdev), and handed to the one upcall given to sroce_net_init().
 */
#ifndef SROCE_NET_ENDPOINT_H
#define SROCE_NET_ENDPOINT_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "net/counters.h"
#include "transport/packet.h"

/* Addresses are kept as IPv6; IPv4 as ::ffff:a.b.c.d, just as GIDs are. */
struct sroce_address_table;
struct sroce_sockets;

/**
 * struct sroce_endpoint - a netdev that speaks RoCEv2
 * @netdev: the interface; a reference is held from init to fini
 * @tracker: of that reference
 * @sockets: share in the sockets of the netdev's namespace
 * @list: in the list of endpoints of @sockets, RCU
 * @addresses: our addresses, RCU; written under @address_lock
 * @address_lock: serialises writers of @addresses
 * @counters: per-CPU counters
 */
struct sroce_endpoint {
	struct net_device *netdev;
	netdevice_tracker tracker;
	struct sroce_sockets *sockets;
	struct list_head list;
	struct sroce_address_table __rcu *addresses;
	struct mutex address_lock;
	struct sroce_counters __percpu *counters;
};

/**
 * struct sroce_rx - a received packet on its way up
 * @skb: owned by the callee of the upcall
 * @ep: endpoint it came in on
 * @pkt: decoded headers, lengths checked; the ICRC is NOT checked yet
 * @payload_offset: of the payload from skb->data
 * @saddr: source
 * @daddr: destination
 * @is_ipv4: carried by IPv4
 * @ecn_ce: the IP header says congestion experienced
 * @vlan_id: VLAN it came in on, or whose address it was sent to on this host; or SROCE_NO_VLAN
 */
struct sroce_rx {
	struct sk_buff *skb;
	struct sroce_endpoint *ep;
	struct sroce_packet pkt;
	u32	payload_offset;
	struct in6_addr saddr;
	struct in6_addr daddr;
	bool	is_ipv4;
	bool	ecn_ce;
	u16	vlan_id;
};

#define SROCE_NO_VLAN	0xffff

/* Runs in softirq under rcu_read_lock(); consumes rx->skb. */
typedef void (*sroce_receive_fn)(struct sroce_rx *rx);

int sroce_net_init(sroce_receive_fn receive);
void sroce_net_fini(void);

int sroce_endpoint_init(struct sroce_endpoint *ep, struct net_device *netdev, struct net *net);
void sroce_endpoint_fini(struct sroce_endpoint *ep);
bool sroce_endpoint_is_in_place(const struct sroce_endpoint *ep);
int sroce_endpoint_add_address(struct sroce_endpoint *ep, const struct in6_addr *addr);
void sroce_endpoint_del_address(struct sroce_endpoint *ep, const struct in6_addr *addr);
bool sroce_endpoint_has_address(struct sroce_endpoint *ep, const struct in6_addr *addr);

/* icrc.c */
__le32 sroce_icrc_of_skb(struct sk_buff *skb, u32 icrc_offset);
bool sroce_icrc_ok(const struct sroce_rx *rx);

/* Between the files of this room. */
extern sroce_receive_fn sroce_net_receive;
struct sroce_endpoint *sroce_sockets_find_endpoint(const struct sroce_sockets *sockets,
						   const struct net_device *ingress,
						   const struct in6_addr *daddr);
int sroce_udp_receive(struct sock *sk, struct sk_buff *skb);

#endif
