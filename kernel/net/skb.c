// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An skb's IP and UDP headers, and its hand-over to the stack.
 *
 * Lengths are written at the end, when it is known how many packets travel in
 * it; the IPv4 header checksum, which the ICRC does not cover, is the stack's to
 * write. Nothing is ever fragmented: DF is set.
 */
#include <linux/err.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/ip6_checksum.h>
#include <net/route.h>

#include "compat/compat.h"
#include "net/path.h"
#include "net/udp_gso.h"
#include "transport/wire.h"

static void write_ipv4(struct sk_buff *skb, const struct sroce_path *path, u8 tos)
{
	struct iphdr *iph = skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	*iph = (struct iphdr) {
		.version = 4,
		.ihl = sizeof(*iph) / 4,
		.tos = tos,
		.frag_off = htons(IP_DF),
		.ttl = path->hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr = path->saddr.s6_addr32[3],
		.daddr = path->daddr.s6_addr32[3],
	};
	skb->protocol = htons(ETH_P_IP);
}

static void write_ipv6(struct sk_buff *skb, const struct sroce_path *path, u8 tos)
{
	struct ipv6hdr *ip6h = skb_push(skb, sizeof(*ip6h));

	skb_reset_network_header(skb);
	ip6_flow_hdr(ip6h, tos, htonl(path->flow_label));
	ip6h->payload_len = 0;
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = path->hop_limit;
	ip6h->saddr = path->saddr;
	ip6h->daddr = path->daddr;
	skb->protocol = htons(ETH_P_IPV6);
}

static void write_udp(struct sk_buff *skb, const struct sroce_path *path)
{
	struct udphdr *uh = skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	uh->source = path->sport;
	uh->dest = htons(SROCE_UDP_PORT);
	uh->len = 0;
	uh->check = 0;
}

/**
 * sroce_skb_alloc() - an skb with IP and UDP headers, still without lengths
 * @path: where it goes
 * @dst: route; a reference is taken for the skb
 * @tos: TOS or traffic class
 * @packet_bytes: BTH to ICRC of the largest packet that it will carry
 * @linear_bytes: room behind the headers in the linear part
 *
 * Any context but hard interrupts.
 *
 * Return: the skb; ERR_PTR(-ENOMEM); ERR_PTR(-EMSGSIZE) when the packet does not fit the
 * route's MTU.
 */
struct sk_buff *sroce_skb_alloc(const struct sroce_path *path, struct dst_entry *dst, u8 tos,
				u32 packet_bytes, u32 linear_bytes)
{
	u32 header_bytes = sizeof(struct udphdr) +
			   (path->is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	u32 link_bytes;
	struct sk_buff *skb;

	if (header_bytes + packet_bytes > dst_mtu(dst))
		return ERR_PTR(-EMSGSIZE);
	rcu_read_lock();
	link_bytes = LL_RESERVED_SPACE(dst->dev);
	rcu_read_unlock();
	skb = alloc_skb(link_bytes + header_bytes + linear_bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return ERR_PTR(-ENOMEM);

	skb_reserve(skb, link_bytes + header_bytes);
	write_udp(skb, path);
	if (path->is_ipv4)
		write_ipv4(skb, path, tos);
	else
		write_ipv6(skb, path, tos);
	skb_dst_set(skb, dst_clone(dst));
	skb->ip_summed = CHECKSUM_NONE;
	/* What VLANs map to their priority. */
	skb->priority = rt_tos2priority(tos);
	return skb;
}

/* The pseudo header's checksum; whoever segments, or sends, makes each packet's of it. */
static void start_checksum(struct sk_buff *skb, u32 udp_bytes)
{
	struct udphdr *uh = udp_hdr(skb);

	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	if (skb->protocol == htons(ETH_P_IP))
		uh->check = ~csum_tcpudp_magic(ip_hdr(skb)->saddr, ip_hdr(skb)->daddr, udp_bytes,
					       IPPROTO_UDP, 0);
	else
		uh->check = ~csum_ipv6_magic(&ipv6_hdr(skb)->saddr, &ipv6_hdr(skb)->daddr,
					     udp_bytes, IPPROTO_UDP, 0);
}

static void finish_headers(struct sk_buff *skb)
{
	u32 udp_bytes = skb->len - skb_transport_offset(skb);
	struct skb_shared_info *shinfo = skb_shinfo(skb);

	udp_hdr(skb)->len = htons(udp_bytes);
	if (skb->protocol == htons(ETH_P_IPV6))
		ipv6_hdr(skb)->payload_len = htons(udp_bytes);
	if (sroce_gso_has_checksum(skb))
		start_checksum(skb, udp_bytes);
	if (sroce_gso_packets(skb) > 1) {
		shinfo->gso_size = sroce_gso_packet_bytes(skb);
		shinfo->gso_segs = sroce_gso_packets(skb);
		shinfo->gso_type = SKB_GSO_UDP_L4;
	}
	/* The stack's from here on. */
	memset(skb->cb, 0, sizeof(skb->cb));
}

static int output_skb(struct net *net, struct sk_buff *skb)
{
	if (skb->protocol == htons(ETH_P_IP))
		return ip_local_out(net, NULL, skb);
#if IS_ENABLED(CONFIG_IPV6)
	return ip6_local_out(net, NULL, skb);
#else
	kfree_skb(skb);
	return -EAFNOSUPPORT;
#endif
}

/**
 * sroce_skb_xmit() - hand an skb to the stack
 * @ep: the endpoint that sends
 * @skb: from a gso; consumed
 *
 * Softirq or process context, no lock of a QP half held. What the stack drops is counted, and
 * is otherwise no more than lost packets.
 */
void sroce_skb_xmit(const struct sroce_endpoint *ep, struct sk_buff *skb)
{
	u32 packets = sroce_gso_packets(skb);
	u32 bytes = skb->len - skb_transport_offset(skb) + (packets - 1) * sizeof(struct udphdr);
	int err;

	finish_headers(skb);
	rcu_read_lock();
	err = output_skb(dev_net(skb_dst(skb)->dev), skb);
	rcu_read_unlock();

	if (net_xmit_eval(err)) {
		sroce_count_add(ep->counters, SROCE_CTR_SEND_ERR, packets);
		return;
	}
	sroce_count_add(ep->counters, SROCE_CTR_SENT_PKTS, packets);
	sroce_count_add(ep->counters, SROCE_CTR_SENT_BYTES, bytes);
}
