// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The invariant CRC: CRC-32 over everything from the IP header to the pad,
 * with ones in place of the fields that routers may change, and eight bytes of
 * ones in front (where InfiniBand has its local route header).
 *
 * Only the headers up to the BTH have such fields. What is the same for all
 * packets of an skb is masked once; per packet the lengths, the IPv4
 * identification and the BTH are put in. The rest is read where it lies.
 */
#include <linux/build_bug.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "crc/crc.h"
#include "net/endpoint.h"
#include "net/icrc.h"
#include "transport/wire.h"

/* The CRC register after eight bytes of ones. */
#define ICRC_SEED	0xdebb20e3u

static_assert(SROCE_ICRC_MASKED_BYTES ==
	      SROCE_MAX_IP_BYTES + sizeof(struct udphdr) + sizeof(struct sroce_bth));

static void mask_ipv4(struct iphdr *iph)
{
	iph->tos = 0xff;
	iph->ttl = 0xff;
	iph->check = CSUM_MANGLED_0;
}

static void mask_ipv6(struct ipv6hdr *ip6h)
{
	ip6h->priority = 0xf;
	memset(ip6h->flow_lbl, 0xff, sizeof(ip6h->flow_lbl));
	ip6h->hop_limit = 0xff;
}

/**
 * sroce_icrc_init() - take over what all packets of an skb have in common
 * @icrc: filled in
 * @ip: IP header
 * @ip_bytes: its length, at most SROCE_MAX_IP_BYTES
 * @uh: UDP header
 *
 * Lengths and identification are of no account.
 */
void sroce_icrc_init(struct sroce_icrc *icrc, const void *ip, u32 ip_bytes,
		     const struct udphdr *uh)
{
	icrc->ip_bytes = ip_bytes;
	memcpy(icrc->headers, ip, ip_bytes);
	if (((const struct iphdr *)ip)->version == 4)
		mask_ipv4((struct iphdr *)icrc->headers);
	else
		mask_ipv6((struct ipv6hdr *)icrc->headers);
	memcpy(icrc->headers + ip_bytes, uh, sizeof(*uh));
	((struct udphdr *)(icrc->headers + ip_bytes))->check = CSUM_MANGLED_0;
}

/* The CRC register behind the BTH; @bytes are from the BTH to the ICRC inclusive. */
static u32 crc_of_headers(struct sroce_icrc *icrc, u16 ip_id, u32 bytes, const u8 *bth)
{
	struct udphdr *uh = (struct udphdr *)(icrc->headers + icrc->ip_bytes);
	struct iphdr *iph = (struct iphdr *)icrc->headers;
	u8 *masked = (u8 *)(uh + 1);

	bytes += sizeof(*uh);
	if (iph->version == 4) {
		iph->tot_len = htons(icrc->ip_bytes + bytes);
		iph->id = htons(ip_id);
	} else {
		((struct ipv6hdr *)iph)->payload_len = htons(bytes);
	}
	uh->len = htons(bytes);
	memcpy(masked, bth, sizeof(struct sroce_bth));
	((struct sroce_bth *)masked)->congestion = 0xff;
	return sroce_crc32(ICRC_SEED, icrc->headers,
			   icrc->ip_bytes + sizeof(*uh) + sizeof(struct sroce_bth));
}

/**
 * sroce_icrc_of() - the ICRC of a packet that lies in one piece
 * @icrc: of its skb
 * @ip_id: its IPv4 identification
 * @packet: its BTH
 * @bytes: from there to the ICRC, inclusive
 *
 * Any context.
 *
 * Return: the ICRC as it stands in the packet.
 */
__le32 sroce_icrc_of(struct sroce_icrc *icrc, u16 ip_id, const u8 *packet, u32 bytes)
{
	bool begun = sroce_crc_begin(bytes);
	u32 crc = crc_of_headers(icrc, ip_id, bytes, packet);

	crc = sroce_crc32(crc, packet + sizeof(struct sroce_bth),
			  bytes - sizeof(struct sroce_bth) - SROCE_ICRC_BYTES);
	sroce_crc_end(begun);
	return cpu_to_le32(~crc);
}

/* The same for a packet at skb->data + @from, wherever its bytes lie. */
static __le32 icrc_of_pieces(struct sroce_icrc *icrc, u16 ip_id, struct sk_buff *skb, u32 from,
			     u32 bytes)
{
	u32 end = from + bytes - SROCE_ICRC_BYTES, done = 0, piece;
	u8 bth[sizeof(struct sroce_bth)];
	struct skb_seq_state state;
	const u8 *data;
	bool begun;
	u32 crc;

	if (skb_copy_bits(skb, from, bth, sizeof(bth)))
		return 0;
	begun = sroce_crc_begin(bytes);
	crc = crc_of_headers(icrc, ip_id, bytes, bth);
	from += sizeof(bth);
	skb_prepare_seq_read(skb, from, end, &state);
	while ((piece = skb_seq_read(done, &data, &state))) {
		/* A piece is given whole, past the end. */
		piece = min(piece, end - from - done);
		crc = sroce_crc32(crc, data, piece);
		done += piece;
	}
	sroce_crc_end(begun);
	return cpu_to_le32(~crc);
}

static bool matches(struct sroce_rx *rx, u16 ip_id)
{
	u32 icrc_offset = rx->bytes - SROCE_ICRC_BYTES;
	__le32 icrc;

	if (rx->at) {
		memcpy(&icrc, rx->at + icrc_offset, sizeof(icrc));
		return icrc == sroce_icrc_of(&rx->icrc, ip_id, rx->at, rx->bytes);
	}
	if (skb_copy_bits(rx->skb, rx->offset + icrc_offset, &icrc, sizeof(icrc)))
		return false;
	return icrc == icrc_of_pieces(&rx->icrc, ip_id, rx->skb, rx->offset, rx->bytes);
}

/**
 * sroce_icrc_follows() - is the ICRC of a later packet right, too?
 * @rx: a packet that lies in one piece, as do those behind it; its ICRC is right
 * @i: how many packets further on
 *
 * Return: whether it is.
 */
bool sroce_icrc_follows(struct sroce_rx *rx, u32 i)
{
	const u8 *at = rx->at + i * rx->bytes;
	u16 ip_id = rx->is_ipv4 ? ntohs(ip_hdr(rx->skb)->id) : 0;
	__le32 icrc;

	if (!rx->ip_id_stays)
		ip_id += rx->number + i;
	memcpy(&icrc, at + rx->bytes - SROCE_ICRC_BYTES, sizeof(icrc));
	return icrc == sroce_icrc_of(&rx->icrc, ip_id, at, rx->bytes);
}

/**
 * sroce_icrc_ok() - is the ICRC of a received packet right?
 * @rx: the packet
 *
 * Packets that travel as one skb have one identification left, the first one's: they were
 * either counted up from there or all the same, which the first of them that differs tells.
 *
 * No sender of RoCE puts extension headers between IPv6 and UDP, and how an ICRC would cover
 * them is not said anywhere: it is wrong, then.
 *
 * Return: whether it is.
 */
bool sroce_icrc_ok(struct sroce_rx *rx)
{
	u32 ip_bytes = skb_network_header_len(rx->skb);
	u16 ip_id = rx->is_ipv4 ? ntohs(ip_hdr(rx->skb)->id) : 0;

	if (ip_bytes > (rx->is_ipv4 ? SROCE_MAX_IP_BYTES : sizeof(struct ipv6hdr)))
		return false;
	if (!rx->icrc.ip_bytes)
		sroce_icrc_init(&rx->icrc, skb_network_header(rx->skb), ip_bytes, udp_hdr(rx->skb));
	if (rx->ip_id_stays)
		return matches(rx, ip_id);
	if (matches(rx, ip_id + rx->number)) {
		rx->ip_id_counts = rx->number;
		return true;
	}
	if (!rx->is_ipv4 || !rx->number || rx->ip_id_counts)
		return false;
	rx->ip_id_stays = matches(rx, ip_id);
	return rx->ip_id_stays;
}
