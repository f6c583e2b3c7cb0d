// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The invariant CRC: CRC-32 over everything from the IP header to the pad,
 * with ones in place of the fields that routers may change, and eight bytes of
 * ones in front (where InfiniBand has its local route header).
 *
 * Only the headers up to the BTH have such fields. What is the same for all
 * packets of an skb is masked once, and the lengths for all of one size; the IPv4
 * identification and the BTH are added per packet. The rest is read where it lies.
 */
#include <linux/build_bug.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "net/endpoint.h"
#include "net/icrc.h"
#include "transport/wire.h"

/* A register of ones makes four bytes of ones nothing; the other four are left. */
#define ONES_BYTES	4
#define BTH_OFFSET	(SROCE_CRC_BLOCK_BYTES - sizeof(struct sroce_bth))
#define UDP_OFFSET	(BTH_OFFSET - sizeof(struct udphdr))

/* What struct sroce_crc_prefix has been made for. */
static_assert(BTH_OFFSET == 52);
static_assert(UDP_OFFSET - sizeof(struct iphdr) + offsetof(struct iphdr, id) == 28);
static_assert(UDP_OFFSET - sizeof(struct ipv6hdr) == ONES_BYTES);

static void mask_ipv4(struct iphdr *iph)
{
	iph->tos = 0xff;
	iph->ttl = 0xff;
	iph->check = CSUM_MANGLED_0;
	iph->id = 0;
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
 * @ip: IP header, without options
 * @uh: UDP header
 *
 * Lengths and identification are of no account.
 */
void sroce_icrc_init(struct sroce_icrc *icrc, const void *ip, const struct udphdr *uh)
{
	bool is_ipv4 = ((const struct iphdr *)ip)->version == 4;
	struct sroce_bth *bth = (struct sroce_bth *)(icrc->block + BTH_OFFSET);
	struct udphdr *masked = (struct udphdr *)(icrc->block + UDP_OFFSET);
	u8 *at;

	icrc->ip_bytes = is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	icrc->bytes = 0;
	at = icrc->block + UDP_OFFSET - icrc->ip_bytes;
	memset(icrc->block, 0, at - ONES_BYTES - icrc->block);
	memset(at - ONES_BYTES, 0xff, ONES_BYTES);
	memcpy(at, ip, icrc->ip_bytes);
	if (is_ipv4)
		mask_ipv4((struct iphdr *)at);
	else
		mask_ipv6((struct ipv6hdr *)at);
	*masked = *uh;
	masked->check = CSUM_MANGLED_0;
	memset(bth, 0, sizeof(*bth));
	bth->congestion = 0xff;
}

static void set_lengths(struct sroce_icrc *icrc, u32 bytes)
{
	struct udphdr *uh = (struct udphdr *)(icrc->block + UDP_OFFSET);

	icrc->bytes = bytes;
	bytes += sizeof(*uh);
	uh->len = htons(bytes);
	if (icrc->ip_bytes == sizeof(struct iphdr))
		((struct iphdr *)uh - 1)->tot_len = htons(icrc->ip_bytes + bytes);
	else
		((struct ipv6hdr *)uh - 1)->payload_len = htons(bytes);
}

/**
 * sroce_icrc_prefix() - what the ICRC of a packet covers up to its BTH
 * @icrc: of its skb; @prefix refers to it
 * @ip_id: its IPv4 identification
 * @bth: its BTH
 * @bytes: of it, from the BTH to the ICRC inclusive
 * @prefix: filled in
 */
void sroce_icrc_prefix(struct sroce_icrc *icrc, u16 ip_id, const u8 *bth, u32 bytes,
		       struct sroce_crc_prefix *prefix)
{
	static const u8 unmasked[sizeof(prefix->bth_words)] = { 0xff, 0xff, 0xff, 0xff,
								0,    0xff, 0xff, 0xff };
	__be16 id = htons(ip_id);
	u64 mask;

	if (icrc->bytes != bytes)
		set_lengths(icrc, bytes);
	prefix->block = icrc->block;
	prefix->ip_id_word = 0;
	if (icrc->ip_bytes == sizeof(struct iphdr))
		memcpy(&prefix->ip_id_word, &id, sizeof(id));
	/* In the pieces that it was written in, or this would wait for them. */
	memcpy(&prefix->bth_words, bth, sizeof(prefix->bth_words));
	memcpy(&prefix->tail_word, bth + sizeof(prefix->bth_words), sizeof(prefix->tail_word));
	memcpy(&mask, unmasked, sizeof(mask));
	prefix->bth_words &= mask;
}

/* The ICRC, as it stands in the packet, of one that lies in one piece. */
static __le32 icrc_of(struct sroce_icrc *icrc, u16 ip_id, const u8 *packet, u32 bytes)
{
	struct sroce_crc_prefix prefix;

	sroce_icrc_prefix(icrc, ip_id, packet, bytes, &prefix);
	return cpu_to_le32(~sroce_crc32_prefixed(&prefix, packet + sizeof(struct sroce_bth), bytes -
						 sizeof(struct sroce_bth) - SROCE_ICRC_BYTES));
}

/* The same for a packet at skb->data + @from, wherever its bytes lie. */
static __le32 icrc_of_pieces(struct sroce_icrc *icrc, u16 ip_id, struct sk_buff *skb, u32 from,
			     u32 bytes)
{
	u32 end = from + bytes - SROCE_ICRC_BYTES, done = 0, piece;
	u8 bth[sizeof(struct sroce_bth)];
	struct sroce_crc_prefix prefix;
	struct skb_seq_state state;
	const u8 *data;
	bool begun;
	u32 crc;

	if (skb_copy_bits(skb, from, bth, sizeof(bth)))
		return 0;
	begun = sroce_crc_vector_begin(bytes);
	sroce_icrc_prefix(icrc, ip_id, bth, bytes, &prefix);
	crc = sroce_crc32_prefixed(&prefix, NULL, 0);
	from += sizeof(bth);
	skb_prepare_seq_read(skb, from, end, &state);
	while ((piece = skb_seq_read(done, &data, &state))) {
		/* A piece is given whole, past the end. */
		piece = min(piece, end - from - done);
		crc = sroce_crc32(crc, data, piece);
		done += piece;
	}
	sroce_crc_vector_end(begun);
	return cpu_to_le32(~crc);
}

static bool icrc_matches(struct sroce_rx *rx, u16 ip_id)
{
	u32 icrc_offset = rx->bytes - SROCE_ICRC_BYTES;
	__le32 icrc;

	if (rx->at) {
		memcpy(&icrc, rx->at + icrc_offset, sizeof(icrc));
		return icrc == icrc_of(&rx->icrc, ip_id, rx->at, rx->bytes);
	}
	if (skb_copy_bits(rx->skb, rx->offset + icrc_offset, &icrc, sizeof(icrc)))
		return false;
	return icrc == icrc_of_pieces(&rx->icrc, ip_id, rx->skb, rx->offset, rx->bytes);
}

/**
 * sroce_icrc_rx_prefix() - what the ICRC of a later packet begins with
 * @rx: a packet that lies in one piece, as do those behind it; its ICRC is right
 * @i: how many packets further on
 * @prefix: filled in; refers to @rx
 */
void sroce_icrc_rx_prefix(struct sroce_rx *rx, u32 i, struct sroce_crc_prefix *prefix)
{
	u16 ip_id = rx->is_ipv4 ? ntohs(ip_hdr(rx->skb)->id) : 0;

	if (!rx->ip_id_stays)
		ip_id += rx->number + i;
	sroce_icrc_prefix(&rx->icrc, ip_id, rx->at + i * rx->bytes, rx->bytes, prefix);
}

/**
 * sroce_icrc_is() - is this the ICRC of a later packet?
 * @rx: as for sroce_icrc_rx_prefix()
 * @i: how many packets further on
 * @crc: the CRC register behind its pad
 *
 * Return: whether it is.
 */
bool sroce_icrc_is(const struct sroce_rx *rx, u32 i, u32 crc)
{
	__le32 icrc;

	memcpy(&icrc, rx->at + (i + 1) * rx->bytes - SROCE_ICRC_BYTES, sizeof(icrc));
	return icrc == cpu_to_le32(~crc);
}

/**
 * sroce_icrc_ok() - is the ICRC of a received packet right?
 * @rx: the packet
 *
 * Packets that travel as one skb have one identification left, the first one's: they were
 * either counted up from there or all the same, which the first of them that differs tells.
 *
 * No sender of RoCE puts options into IPv4, or extension headers between IPv6 and UDP, and how
 * an ICRC would cover them is not said anywhere: it is wrong, then.
 *
 * Return: whether it is.
 */
bool sroce_icrc_ok(struct sroce_rx *rx)
{
	u32 ip_bytes = rx->is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	u16 ip_id = rx->is_ipv4 ? ntohs(ip_hdr(rx->skb)->id) : 0;

	if (skb_network_header_len(rx->skb) != ip_bytes)
		return false;
	if (!rx->icrc.ip_bytes)
		sroce_icrc_init(&rx->icrc, skb_network_header(rx->skb), udp_hdr(rx->skb));
	if (rx->ip_id_stays)
		return icrc_matches(rx, ip_id);
	if (icrc_matches(rx, ip_id + rx->number)) {
		rx->ip_id_counts = rx->number;
		return true;
	}
	if (!rx->is_ipv4 || !rx->number || rx->ip_id_counts)
		return false;
	rx->ip_id_stays = icrc_matches(rx, ip_id);
	return rx->ip_id_stays;
}
