/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The RX cursor, see rx.c. */
#ifndef SROCE_NET_RX_H
#define SROCE_NET_RX_H

#include <linux/in6.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "net/endpoint.h"
#include "net/icrc.h"
#include "transport/packet.h"

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

/* How many packets as long as this one lie in one piece, with it? */
static inline u32 sroce_rx_equal_sized(const struct sroce_rx *rx)
{
	u32 left = min(rx->piece_bytes, rx->skb->len - rx->offset);

	return rx->at && 2 * rx->bytes <= left ? left / rx->bytes : 1;
}

bool sroce_rx_next(struct sroce_rx *rx);
bool sroce_rx_icrc_ok(struct sroce_rx *rx);
void sroce_rx_coalesce(struct sroce_rx *rx);
bool sroce_rx_verify(struct sroce_rx *rx);
void sroce_rx_truncate(struct sroce_rx *rx, u32 count);
void sroce_rx_crc_prefix(struct sroce_rx *rx, u32 i, struct sroce_crc_prefix *prefix);
bool sroce_rx_crc_matches(const struct sroce_rx *rx, u32 i, u32 crc);
bool sroce_bth_follows(const u8 *bth, const u8 *next, u32 psn);

#endif
