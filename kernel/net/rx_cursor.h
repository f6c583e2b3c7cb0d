/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The RX cursor, see rx_cursor.c. */
#ifndef SROCE_NET_RX_CURSOR_H
#define SROCE_NET_RX_CURSOR_H

#include <linux/in6.h>
#include <linux/minmax.h>
#include <linux/skbuff.h>

#include "net/endpoint.h"
#include "net/icrc.h"
#include "transport/packet.h"

struct sroce_srq;

/**
 * struct sroce_rx_pos - position of a packet in its skb
 * @part: the skb, or a member of its fragment list; NULL: no later packet is read in place
 * @next_part: the member behind @part, or NULL
 * @part_offset: where @part begins, from skb->data
 * @frag: fragment of @part in which to look for the next packet
 * @frag_offset: where @frag begins, from skb->data
 * @offset: of the BTH from skb->data
 * @at: the BTH if the packet is contiguous in memory, else NULL
 * @end: end of the contiguous bytes
 */
struct sroce_rx_pos {
	const struct sk_buff *part;
	const struct sk_buff *next_part;
	u32	part_offset;
	u32	frag;
	u32	frag_offset;
	u32	offset;
	const u8 *at;
	const u8 *end;
};

/**
 * struct sroce_rx - a received skb, and its current packet
 * @skb: one packet, or many of one size from one sender to one address (GSO, GRO)
 * @ep: endpoint that it came in on
 * @saddr: source
 * @daddr: destination
 * @is_ipv4: carried by IPv4
 * @is_v1: carried by a GRH (RoCE v1), in an skb of one packet
 * @is_multicast: @daddr is a group
 * @ecn_ce: the ECN mark "congestion experienced" is set
 * @vlan_id: VLAN that it came in on, or, from this host, of the interface with the destination
 *           address; or SROCE_NO_VLAN
 * @now_ns: time of arrival
 * @packet_bytes: size of each packet from the BTH to the ICRC; the last may be shorter
 * @packets: packets parsed
 * @wire_bytes: their bytes, each with 8 for a UDP header
 * @srq: XRC: the shared receive queue that the current packet names, see datapath/xrc.c; or NULL
 * @number: number of the current packet, from 0
 * @pos: where it is
 * @bytes: from its BTH to its ICRC, inclusive; if @pkt.count is over 1, of each packet
 * @ip_id_counts: the IPv4 identification was incremented from packet to packet
 * @ip_id_stays: all packets have the same IPv4 identification
 * @pkt: decoded headers of the current packet, lengths checked; the ICRC is NOT checked yet
 * @icrc: ICRC state of the skb
 */
struct sroce_rx {
	struct sk_buff *skb;
	struct sroce_endpoint *ep;
	struct in6_addr saddr;
	struct in6_addr daddr;
	bool	is_ipv4;
	bool	is_v1;
	bool	is_multicast;
	bool	ecn_ce;
	u16	vlan_id;
	u64	now_ns;
	u32	packet_bytes;
	u32	packets;
	u32	wire_bytes;
	struct sroce_srq *srq;
	u32	number;
	struct sroce_rx_pos pos;
	u32	bytes;
	bool	ip_id_counts;
	bool	ip_id_stays;
	struct sroce_packet pkt;
	struct sroce_icrc icrc;
};

/* The number of packets of the current one's size, with it, if it is contiguous in memory; or 1. */
static inline u32 sroce_rx_equal_sized(const struct sroce_rx *rx)
{
	u32 left = rx->skb->len - rx->pos.offset;

	return rx->pos.at && 2 * rx->bytes <= left ? left / rx->bytes : 1;
}

/**
 * sroce_rx_begin() - put the cursor before the first packet of an skb
 * @rx: the cursor; the caller sets what the IP header says, and @rx->is_v1
 * @skb: the skb
 * @packet_bytes: size of each packet from the BTH to the ICRC; the last may be shorter
 * @offset: of the first BTH, from skb->data
 *
 * @rx->pkt and @rx->icrc are long. They are not cleared, because sroce_rx_next() and
 * sroce_rx_icrc_ok() fill them in.
 */
static inline void sroce_rx_begin(struct sroce_rx *rx, struct sk_buff *skb, u32 packet_bytes,
				  u32 offset)
{
	memset(rx, 0, offsetof(struct sroce_rx, pkt));
	rx->pkt.count = 0;
	rx->icrc.ip_bytes = 0;
	rx->skb = skb;
	rx->packet_bytes = packet_bytes;
	rx->pos.part = skb;
	rx->pos.next_part = skb_shinfo(skb)->frag_list;
	rx->pos.frag_offset = skb_headlen(skb);
	rx->pos.offset = offset;
}

void sroce_rx_pos_next(struct sroce_rx_pos *pos, u32 bytes);
bool sroce_rx_next(struct sroce_rx *rx);
bool sroce_rx_icrc_ok(struct sroce_rx *rx);
void sroce_rx_coalesce(struct sroce_rx *rx);
bool sroce_rx_verify(struct sroce_rx *rx);
void sroce_rx_set_count(struct sroce_rx *rx, u32 count);
void sroce_rx_crc_prefix(struct sroce_rx *rx, u32 i, const u8 *bth,
			 struct sroce_crc_prefix *prefix);
bool sroce_rx_crc_matches(const struct sroce_rx *rx, const u8 *bth, u32 crc);
bool sroce_bth_follows(const u8 *bth, const u8 *next, u32 psn);

#endif
