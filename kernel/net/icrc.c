// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The invariant CRC: CRC-32 over everything from the IP header to the pad, with ones in place of
 * the fields that routers may change, and eight bytes of ones in front, where InfiniBand has its
 * local route header.
 *
 * Only the headers up to the BTH have such fields. They are masked once for all packets of an skb,
 * and their lengths are set once for all packets of one size. The IPv4 identification and the BTH
 * are added for each packet. Everything behind the BTH is read in place.
 */
#include <linux/build_bug.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "net/icrc.h"
#include "transport/wire.h"

/* The initial register of ones cancels four bytes of ones; the other four remain. */
#define ONES_BYTES	4
#define BTH_OFFSET	(SROCE_CRC_BLOCK_BYTES - sizeof(struct sroce_bth))
#define UDP_OFFSET	(BTH_OFFSET - sizeof(struct udphdr))

/* struct sroce_crc_prefix and the code that uses it depend on these offsets. */
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
 * sroce_icrc_init() - copy and mask the headers that all packets of an skb have in common
 * @icrc: filled in
 * @ip: IP header without options, or GRH
 * @uh: UDP header, or NULL behind a GRH
 *
 * Lengths and identification are ignored.
 */
void sroce_icrc_init(struct sroce_icrc *icrc, const void *ip, const struct udphdr *uh)
{
	bool is_ipv4 = ((const struct iphdr *)ip)->version == 4;
	struct sroce_bth *bth = (struct sroce_bth *)(icrc->block + BTH_OFFSET);
	struct udphdr *masked = (struct udphdr *)(icrc->block + UDP_OFFSET);
	u8 *at;

	icrc->ip_bytes = is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	icrc->udp_bytes = uh ? sizeof(*uh) : 0;
	icrc->bytes = 0;
	at = icrc->block + BTH_OFFSET - icrc->udp_bytes - icrc->ip_bytes;
	memset(icrc->block, 0, at - ONES_BYTES - icrc->block);
	memset(at - ONES_BYTES, 0xff, ONES_BYTES);
	memcpy(at, ip, icrc->ip_bytes);
	if (is_ipv4)
		mask_ipv4((struct iphdr *)at);
	else
		mask_ipv6((struct ipv6hdr *)at);
	if (uh) {
		*masked = *uh;
		masked->check = CSUM_MANGLED_0;
	}
	memset(bth, 0, sizeof(*bth));
	bth->congestion = 0xff;
}

static void set_lengths(struct sroce_icrc *icrc, u32 bytes)
{
	struct udphdr *uh = (struct udphdr *)(icrc->block + UDP_OFFSET);
	void *ip_end = icrc->block + BTH_OFFSET - icrc->udp_bytes;

	icrc->bytes = bytes;
	bytes += icrc->udp_bytes;
	if (icrc->udp_bytes)
		uh->len = htons(bytes);
	if (icrc->ip_bytes == sizeof(struct iphdr))
		((struct iphdr *)ip_end - 1)->tot_len = htons(icrc->ip_bytes + bytes);
	else
		((struct ipv6hdr *)ip_end - 1)->payload_len = htons(bytes);
}

/**
 * sroce_icrc_prefix() - the CRC prefix of a packet: its headers up to the BTH
 * @icrc: ICRC state of its skb; @prefix refers to it
 * @ip_id: its IPv4 identification
 * @bth: its BTH
 * @bytes: its size, from the BTH to the ICRC inclusive
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
	/* Loads as wide as the stores that wrote the BTH, so that store forwarding works. */
	memcpy(&prefix->bth_words, bth, sizeof(prefix->bth_words));
	memcpy(&prefix->tail_word, bth + sizeof(prefix->bth_words), sizeof(prefix->tail_word));
	memcpy(&mask, unmasked, sizeof(mask));
	prefix->bth_words &= mask;
}

/**
 * sroce_icrc_linear() - the ICRC of a packet that is contiguous in memory
 * @icrc: ICRC state of its skb
 * @ip_id: its IPv4 identification
 * @packet: its BTH
 * @bytes: from the BTH to the ICRC inclusive
 *
 * Return: the ICRC as it stands in the packet.
 */
__le32 sroce_icrc_linear(struct sroce_icrc *icrc, u16 ip_id, const u8 *packet, u32 bytes)
{
	struct sroce_crc_prefix prefix;

	sroce_icrc_prefix(icrc, ip_id, packet, bytes, &prefix);
	return cpu_to_le32(~sroce_crc32_prefixed(&prefix, packet + sizeof(struct sroce_bth), bytes -
						 sizeof(struct sroce_bth) - SROCE_ICRC_BYTES));
}

/**
 * sroce_icrc_nonlinear() - the ICRC of a packet that may span several fragments
 * @icrc: ICRC state of its skb
 * @ip_id: its IPv4 identification
 * @skb: the skb
 * @from: offset of its BTH from skb->data
 * @bytes: from the BTH to the ICRC inclusive
 *
 * Return: the ICRC as it stands in the packet.
 */
__le32 sroce_icrc_nonlinear(struct sroce_icrc *icrc, u16 ip_id, struct sk_buff *skb, u32 from,
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
		/* A piece may extend beyond the end. */
		piece = min(piece, end - from - done);
		crc = sroce_crc32(crc, data, piece);
		done += piece;
	}
	sroce_crc_vector_end(begun);
	return cpu_to_le32(~crc);
}
