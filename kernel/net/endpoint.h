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
#include "net/icrc.h"
#include "transport/packet.h"

/* Addresses are kept as IPv6; IPv4 as ::ffff:a.b.c.d, just as GIDs are. */
struct sroce_address_table;
struct sroce_sockets;
struct socket;

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
 * struct sroce_rx - a received skb on its way up, and the packet of it that is looked at
 * @skb: one packet, or many of one size from one sender to one address (GSO, GRO); NULL when it is
 *       kept
 * @ep: endpoint it came in on
 * @saddr: source
 * @daddr: destination
 * @is_ipv4: carried by IPv4
 * @ecn_ce: the IP header says congestion experienced
 * @vlan_id: VLAN it came in on, or whose address it was sent to on this host; or SROCE_NO_VLAN
 * @now_ns: when it came
 * @packet_bytes: what each packet has from the BTH to the ICRC; the last may have less
 * @packets: how many have been taken
 * @wire_bytes: and their bytes, with UDP headers
 * @pkt: the packet: decoded headers, lengths checked; the ICRC is NOT checked yet
 * @number: which one it is, from 0
 * @offset: of its BTH from skb->data
 * @bytes: from there to its ICRC, inclusive; with @pkt.count over 1, of each
 * @at: its BTH, where all of it lies in one piece; else NULL
 * @piece_bytes: so many lie in one piece from @at on
 * @frag: fragment of the skb to look at first for the next one, which begins at
 * @frag_offset: from skb->data
 * @icrc: see there
 * @ip_id_counts: each packet had its own IPv4 identification, counted up from the first's
 * @ip_id_stays: all have the same one
 * @was_queued: the packet waited for its turn, and so did those merged with it, each in an skb of
 * its own: all have been checked
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

/* How many packets as long as this one lie in one piece, with it? */
static inline u32 sroce_rx_equal_sized(const struct sroce_rx *rx)
{
	u32 left = min(rx->piece_bytes, rx->skb->len - rx->offset);

	return rx->at && 2 * rx->bytes <= left ? left / rx->bytes : 1;
}

/* In softirq, under rcu_read_lock(). Takes packets with sroce_rx_next(); consumes rx->skb. */
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

/* Between the files of this room. */
extern sroce_receive_fn sroce_net_receive;
struct sroce_endpoint *sroce_sockets_find_endpoint(const struct sroce_sockets *sockets,
						   const struct net_device *ingress,
						   const struct in6_addr *daddr);
int sroce_udp_receive(struct sock *sk, struct sk_buff *skb);
int sroce_gro_start(struct net *net);
void sroce_gro_stop(struct net *net);
int sroce_gro_enable(struct socket *sock);

#endif
