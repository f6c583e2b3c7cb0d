// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The invariant CRC: CRC-32 over everything from the IP header to the pad,
 * with ones in place of the fields that routers may change, and eight bytes of
 * ones in front (where InfiniBand has its local route header).
 *
 * Only the headers up to the BTH have such fields: they are copied to the
 * stack and masked there; the rest is read where it lies.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/string.h>
#include <linux/udp.h>

#include "net/crc.h"
#include "net/endpoint.h"
#include "transport/wire.h"

/* The CRC register after eight bytes of ones. */
#define ICRC_SEED	0xdebb20e3u
/* An IPv4 header with all options. */
#define MAX_IP_BYTES	60
#define MAX_MASKED_BYTES (MAX_IP_BYTES + sizeof(struct udphdr) + sizeof(struct sroce_bth))

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

/* CRC of the IP, UDP and base transport headers, which are linear. */
static u32 crc_of_headers(const struct sk_buff *skb, u32 ip_bytes)
{
	u32 bytes = ip_bytes + sizeof(struct udphdr) + sizeof(struct sroce_bth);
	u8 copy[MAX_MASKED_BYTES] __aligned(8);
	struct sroce_bth *bth;
	struct udphdr *uh;

	memcpy(copy, skb_network_header(skb), bytes);
	if (ip_hdr(skb)->version == 4)
		mask_ipv4((struct iphdr *)copy);
	else
		mask_ipv6((struct ipv6hdr *)copy);
	uh = (struct udphdr *)(copy + ip_bytes);
	uh->check = CSUM_MANGLED_0;
	bth = (struct sroce_bth *)(uh + 1);
	bth->congestion = 0xff;
	return sroce_crc32(ICRC_SEED, copy, bytes);
}

/* Continue @crc over skb bytes @from .. @to. */
static u32 crc_of_rest(struct sk_buff *skb, u32 crc, u32 from, u32 to)
{
	struct skb_seq_state state;
	const u8 *data;
	u32 done = 0, bytes;

	if (to <= skb_headlen(skb))
		return sroce_crc32(crc, skb->data + from, to - from);
	skb_prepare_seq_read(skb, from, to, &state);
	while ((bytes = skb_seq_read(done, &data, &state))) {
		/* A block is given whole, past @to. */
		bytes = min(bytes, to - from - done);
		crc = sroce_crc32(crc, data, bytes);
		done += bytes;
	}
	return crc;
}

/**
 * sroce_icrc_of_skb() - compute the ICRC of a packet
 * @skb: network and transport header are set; linear to the end of the BTH; the
 *       IP header has at most 60 bytes
 * @icrc_offset: where in the skb the ICRC belongs
 *
 * Any context; the skb's data is not changed.
 *
 * Return: the ICRC as it stands in the packet.
 */
__le32 sroce_icrc_of_skb(struct sk_buff *skb, u32 icrc_offset)
{
	u32 bth_end = skb_transport_offset(skb) + sizeof(struct udphdr) + sizeof(struct sroce_bth);
	bool begun = sroce_crc_begin(icrc_offset);
	u32 crc = crc_of_headers(skb, skb_network_header_len(skb));

	crc = crc_of_rest(skb, crc, bth_end, icrc_offset);
	sroce_crc_end(begun);
	return cpu_to_le32(~crc);
}

/**
 * sroce_icrc_ok() - is the ICRC of a received packet right?
 * @rx: the packet
 *
 * No sender of RoCE puts extension headers between IPv6 and UDP, and how an ICRC would cover
 * them is not said anywhere: it is wrong, then.
 *
 * Return: whether it is.
 */
bool sroce_icrc_ok(const struct sroce_rx *rx)
{
	u32 icrc_offset = rx->payload_offset + rx->pkt.payload_bytes + rx->pkt.pad_bytes;
	__le32 icrc;

	if (skb_network_header_len(rx->skb) > (rx->is_ipv4 ? MAX_IP_BYTES : sizeof(struct ipv6hdr)))
		return false;
	if (skb_copy_bits(rx->skb, icrc_offset, &icrc, sizeof(icrc)))
		return false;
	return icrc == sroce_icrc_of_skb(rx->skb, icrc_offset);
}
