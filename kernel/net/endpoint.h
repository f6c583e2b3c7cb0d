/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * An endpoint is a netdev as RoCEv2 sees it. It has a reference to the netdev, a share of the UDP
 * sockets of its network namespace, an RCU table of our addresses, and the counters.
 *
 * Each namespace has one IPv4 and one IPv6 UDP socket on port 4791. They are opened with the first
 * endpoint and closed with the last. A received packet is parsed and belongs to the endpoint that
 * owns the destination address. If several do, as with the link-local address of a VLAN, it is the
 * one on the ingress netdev. The callback given to sroce_net_init() handles the packet.
 */
#ifndef SROCE_NET_ENDPOINT_H
#define SROCE_NET_ENDPOINT_H

#include <linux/in6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "net/counters.h"
#include "net/icrc.h"
#include "transport/packet.h"

/* Addresses are stored as IPv6; IPv4 as ::ffff:a.b.c.d, as in GIDs. */
struct sroce_address_table;
struct sroce_sockets;
struct socket;

/**
 * struct sroce_endpoint - a netdev that is open for RoCEv2
 * @netdev: the interface; holds a reference from init to fini
 * @tracker: tracks that reference
 * @sockets: sockets of the netdev's namespace
 * @list: entry in the list of endpoints of @sockets, RCU
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
 * struct sroce_rx - a received skb, and the packet of it that is being handled
 * @skb: one packet, or several of equal size from one sender to one address (GSO, GRO); NULL once
 *	the reorder queue owns it
 * @ep: endpoint that received it
 * @saddr: source address
 * @daddr: destination address
 * @is_ipv4: carried by IPv4
 * @ecn_ce: the IP header says congestion experienced
 * @vlan_id: VLAN of the ingress netdev, or of the local address it was sent to; or SROCE_NO_VLAN
 * @now_ns: time of arrival
 * @packet_bytes: size of each packet from the BTH to the ICRC; the last may be shorter
 * @packets: number of packets taken from @skb so far
 * @wire_bytes: bytes of these packets, with UDP headers
 * @pkt: the current packet, or several coalesced; headers decoded and lengths checked, but the
 *	ICRC is NOT checked yet
 * @number: index of the packet in @skb
 * @offset: of its BTH from skb->data
 * @bytes: from its BTH to the end of its ICRC; of each, if coalesced
 * @at: its BTH, if the packet is contiguous in memory; else NULL
 * @piece_bytes: contiguous bytes at @at
 * @frag: fragment of @skb where the search for the next packet starts
 * @frag_offset: offset of @frag from skb->data
 * @icrc: see struct sroce_icrc
 * @ip_id_counts: the packets of @skb had consecutive IPv4 identifications
 * @ip_id_stays: the packets of @skb had the same IPv4 identification
 * @was_queued: the packet comes from the reorder queue, as do those coalesced with it. Each has an
 *	skb of its own, and their ICRCs are checked.
 */
struct sroce_rx {
	struct sk_buff *skb;
	struct sroce_endpoint *ep;
	struct in6_addr saddr;
	struct in6_addr daddr;
	bool	is_ipv4;
	bool	ecn_ce;
	u16	vlan_id;
	u64	now_ns;
	u32	packet_bytes;
	u32	packets;
	u32	wire_bytes;
	struct sroce_packet pkt;
	u32	number;
	u32	offset;
	u32	bytes;
	const u8 *at;
	u32	piece_bytes;
	u32	frag;
	u32	frag_offset;
	struct sroce_icrc icrc;
	bool	ip_id_counts;
	bool	ip_id_stays;
	bool	was_queued;
};

#define SROCE_NO_VLAN	0xffff

/* Number of packets of this size in contiguous memory, from this one on. */
static inline u32 sroce_rx_equal_sized(const struct sroce_rx *rx)
{
	u32 left = min(rx->piece_bytes, rx->skb->len - rx->offset);

	return rx->at && 2 * rx->bytes <= left ? left / rx->bytes : 1;
}

/* Called in softirq, under rcu_read_lock(). Iterates with sroce_rx_next() and consumes rx->skb. */
typedef void (*sroce_receive_fn)(struct sroce_rx *rx);

int sroce_net_init(sroce_receive_fn receive);
void sroce_net_fini(void);

int sroce_endpoint_init(struct sroce_endpoint *ep, struct net_device *netdev, struct net *net);
void sroce_endpoint_fini(struct sroce_endpoint *ep);
bool sroce_endpoint_is_in_place(const struct sroce_endpoint *ep);
int sroce_endpoint_add_address(struct sroce_endpoint *ep, const struct in6_addr *addr);
void sroce_endpoint_del_address(struct sroce_endpoint *ep, const struct in6_addr *addr);
bool sroce_endpoint_has_address(struct sroce_endpoint *ep, const struct in6_addr *addr);

/* udp.c, icrc.c */
bool sroce_rx_next(struct sroce_rx *rx);
bool sroce_bth_follows(const u8 *bth, const u8 *next, u32 psn);
void sroce_rx_coalesce(struct sroce_rx *rx);
bool sroce_icrc_ok(struct sroce_rx *rx);
void sroce_rx_truncate(struct sroce_rx *rx, u32 count);
bool sroce_rx_verify(struct sroce_rx *rx);
void sroce_icrc_rx_prefix(struct sroce_rx *rx, u32 i, struct sroce_crc_prefix *prefix);
bool sroce_icrc_is(const struct sroce_rx *rx, u32 i, u32 crc);

/* Shared by the files of net/. */
extern sroce_receive_fn sroce_net_receive;
struct sroce_endpoint *sroce_sockets_find_endpoint(const struct sroce_sockets *sockets,
						   const struct net_device *ingress,
						   const struct in6_addr *daddr);
int sroce_udp_receive(struct sock *sk, struct sk_buff *skb);
int sroce_gro_start(struct net *net);
void sroce_gro_stop(struct net *net);
int sroce_gro_enable(struct socket *sock);

#endif
