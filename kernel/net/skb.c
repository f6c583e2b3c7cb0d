// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets on their way out: IP and UDP headers around what the datapath writes,
 * the ICRC, and the hand-over to the stack.
 *
 * The ICRC covers the IPv4 identification and the lengths, so all of these are
 * final before it is computed; the IPv4 header checksum is not covered, and
 * the stack writes it. Nothing is ever fragmented: DF is set.
 */
#include <linux/err.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>

#include "compat/compat.h"
#include "net/path.h"
#include "transport/wire.h"

static void write_ipv4(struct sk_buff *skb, const struct sroce_path *path, u32 udp_bytes)
{
	struct iphdr *iph = skb_push(skb, sizeof(*iph));

	skb_reset_network_header(skb);
	*iph = (struct iphdr) {
		.version = 4,
		.ihl = sizeof(*iph) / 4,
		.tos = path->tos,
		.tot_len = htons(sizeof(*iph) + udp_bytes),
		.frag_off = htons(IP_DF),
		.ttl = path->hop_limit,
		.protocol = IPPROTO_UDP,
		.saddr = path->saddr.s6_addr32[3],
		.daddr = path->daddr.s6_addr32[3],
	};
	skb->protocol = htons(ETH_P_IP);
}

static void write_ipv6(struct sk_buff *skb, const struct sroce_path *path, u32 udp_bytes)
{
	struct ipv6hdr *ip6h = skb_push(skb, sizeof(*ip6h));

	skb_reset_network_header(skb);
	ip6_flow_hdr(ip6h, path->tos, htonl(path->flow_label));
	ip6h->payload_len = htons(udp_bytes);
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = path->hop_limit;
	ip6h->saddr = path->saddr;
	ip6h->daddr = path->daddr;
	skb->protocol = htons(ETH_P_IPV6);
}

static void write_udp(struct sk_buff *skb, const struct sroce_path *path, u32 udp_bytes)
{
	struct udphdr *uh = skb_push(skb, sizeof(*uh));

	skb_reset_transport_header(skb);
	uh->source = path->sport;
	uh->dest = htons(SROCE_UDP_PORT);
	uh->len = htons(udp_bytes);
	uh->check = 0;
}

/**
 * sroce_skb_alloc() - a packet with IP and UDP headers and room for the rest
 * @path: where it goes
 * @dst: route; a reference is taken for the skb
 * @transport_bytes: BTH to pad; the ICRC is added
 *
 * Any context but hard interrupts. The caller fills @transport_bytes from the
 * end of the UDP header on, then calls sroce_skb_finish().
 *
 * Return: the skb, linear; NULL for want of memory; ERR_PTR(-EMSGSIZE) when the
 * packet does not fit the route's MTU.
 */
struct sk_buff *sroce_skb_alloc(const struct sroce_path *path, struct dst_entry *dst,
				u32 transport_bytes)
{
	u32 ip_bytes = path->is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
	u32 udp_bytes = sizeof(struct udphdr) + transport_bytes + SROCE_ICRC_BYTES;
	u32 link_bytes;
	struct sk_buff *skb;

	if (ip_bytes + udp_bytes > dst_mtu(dst))
		return ERR_PTR(-EMSGSIZE);
	rcu_read_lock();
	link_bytes = LL_RESERVED_SPACE(dst->dev);
	rcu_read_unlock();
	skb = alloc_skb(link_bytes + ip_bytes + udp_bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return NULL;

	skb_reserve(skb, link_bytes + ip_bytes + sizeof(struct udphdr));
	skb_put(skb, transport_bytes + SROCE_ICRC_BYTES);
	write_udp(skb, path, udp_bytes);
	if (path->is_ipv4)
		write_ipv4(skb, path, udp_bytes);
	else
		write_ipv6(skb, path, udp_bytes);
	skb_dst_set(skb, dst_clone(dst));
	skb->ip_summed = CHECKSUM_NONE;
	/* What VLANs map to their priority. */
	skb->priority = rt_tos2priority(path->tos);
	return skb;
}

/**
 * sroce_skb_set_tos() - another TOS or traffic class than the path's
 * @skb: from sroce_skb_alloc()
 * @tos: DSCP and ECN; neither is covered by the ICRC
 */
void sroce_skb_set_tos(struct sk_buff *skb, u8 tos)
{
	if (skb->protocol == htons(ETH_P_IP))
		ip_hdr(skb)->tos = tos;
	else
		ipv6_change_dsfield(ipv6_hdr(skb), 0, tos);
	skb->priority = rt_tos2priority(tos);
}

/**
 * sroce_skb_finish() - identification and ICRC: the packet is complete
 * @skb: from sroce_skb_alloc(), everything up to the ICRC written
 * @ip_id: the IPv4 identification to use, counted up; IPv6 has none
 */
void sroce_skb_finish(struct sk_buff *skb, u16 *ip_id)
{
	u32 icrc_offset = skb->len - SROCE_ICRC_BYTES;
	__le32 icrc;

	if (skb->protocol == htons(ETH_P_IP))
		ip_hdr(skb)->id = htons((*ip_id)++);
	icrc = sroce_icrc_of_skb(skb, icrc_offset);
	memcpy(skb->data + icrc_offset, &icrc, sizeof(icrc));
}

static int output(struct net *net, struct sk_buff *skb)
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
 * sroce_skb_xmit() - hand a complete packet to the stack
 * @ep: the endpoint that sends
 * @skb: the packet; consumed
 *
 * Softirq or process context, no lock of a QP half held.
 *
 * Return: 0, or an errno when the stack dropped it, which is counted and is
 * otherwise no more than a lost packet.
 */
int sroce_skb_xmit(const struct sroce_endpoint *ep, struct sk_buff *skb)
{
	u32 bytes = skb->len - skb_transport_offset(skb);
	int err;

	rcu_read_lock();
	err = output(dev_net(skb_dst(skb)->dev), skb);
	rcu_read_unlock();

	if (net_xmit_eval(err)) {
		sroce_count(ep->counters, SROCE_CTR_SEND_ERR);
		return err;
	}
	sroce_count(ep->counters, SROCE_CTR_SENT_PKTS);
	sroce_count_add(ep->counters, SROCE_CTR_SENT_BYTES, bytes);
	return 0;
}
