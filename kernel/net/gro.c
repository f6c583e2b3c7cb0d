// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many packets in one skb: GRO, and GSO skbs of senders on this host.
 *
 * UDP's own GRO requires a checksum, but RoCE packets usually have none. So our sockets have a
 * gro_receive of their own. It joins the packets for an endpoint into a list of complete skbs
 * (SKB_GSO_FRAGLIST). The RX cursor reads only the IP header of the first packet. The ICRC covers
 * headers, so those of the others must follow from it.
 *
 * A socket with UDP_GRO receives batches unsegmented, except lists. For a socket with encap_rcv,
 * however, UDP segments every skb that has no tunnel's gso_type, because other encap_rcv handlers
 * expect single packets. Ours does not. So a netfilter hook marks skbs for our port as a tunnel's,
 * and no longer as a list, just before UDP sees them. Without netfilter there is no such hook, and
 * packets arrive one by one.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/net.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/gro.h>

#include "net/demux.h"
#include "net/endpoint.h"
#include "transport/wire.h"

/* UDP's own limit. */
#define GRO_PACKETS_MAX	64u
#define GRO_BYTES_MAX	65535u

/**
 * struct gro_packet - a packet that GRO may keep for a while
 * @is_ipv4: else it is IPv6
 * @iph: its IP header; NULL: not readable
 * @ip_offset: of that header, in @iph's skb and in all that GRO keeps of its flow
 * @header_bytes: offset of the payload of UDP
 * @payload_bytes: its size
 */
struct gro_packet {
	bool	is_ipv4;
	const void *iph;
	u32	ip_offset;
	u32	header_bytes;
	u32	payload_bytes;
};

/* skb_network_offset() is not that of IP here if the interface leaves VLAN tags in the packet. */
static struct gro_packet packet_of(const struct sock *sk, struct sk_buff *skb)
{
	struct gro_packet pkt = {
		.is_ipv4 = sk->sk_family == AF_INET,
		.header_bytes = skb_gro_offset(skb),
		.payload_bytes = skb_gro_len(skb),
	};

	pkt.ip_offset = pkt.header_bytes - sizeof(struct udphdr) -
			(pkt.is_ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr));
	pkt.iph = skb_gro_header(skb, pkt.header_bytes, pkt.ip_offset);
	return pkt;
}

/* UDP takes away what follows a datagram in its packet, but does not look into batches. */
static bool fills_packet(const struct gro_packet *pkt)
{
	const struct udphdr *uh = pkt->iph + pkt->header_bytes - pkt->ip_offset - sizeof(*uh);

	return ntohs(uh->len) == sizeof(*uh) + pkt->payload_bytes;
}

/* GRO passes on packets with IPv4 options, and fragments. */
static bool has_extensions(const struct gro_packet *pkt)
{
	const struct ipv6hdr *ip6h = pkt->iph;

	return !pkt->is_ipv4 && ip6h->nexthdr != IPPROTO_UDP;
}

static bool may_wait(const struct sk_buff *skb, const struct gro_packet *pkt)
{
	return pkt->iph && pkt->payload_bytes && !skb->encapsulation && !skb_is_gso(skb) &&
	       fills_packet(pkt) && !has_extensions(pkt);
}

static bool is_for_endpoint(const struct sock *sk, const struct sk_buff *skb,
			    const struct gro_packet *pkt)
{
	const struct sroce_sockets *sockets = rcu_dereference_sk_user_data(sk);
	const struct ipv6hdr *ip6h = pkt->iph;
	const struct iphdr *iph = pkt->iph;
	struct in6_addr daddr;

	if (pkt->is_ipv4)
		ipv6_addr_set_v4mapped(iph->daddr, &daddr);
	else
		daddr = ip6h->daddr;
	/* NULL: the socket is being closed. */
	return sockets && sroce_demux_find_endpoint(sockets, skb->dev, &daddr);
}

/* The identification is incremented, or stays the same. */
static bool ipv4_header_follows(const struct sk_buff *batch, const struct gro_packet *pkt)
{
	const struct sk_buff *last = NAPI_GRO_CB(batch)->last;
	const struct iphdr *head = (const void *)(batch->data + pkt->ip_offset), *iph = pkt->iph;
	const struct iphdr *before = last == batch ? head : (const void *)
				     (last->data - pkt->header_bytes + pkt->ip_offset);
	u16 count = NAPI_GRO_CB(batch)->count;
	bool stays = (count > 1 ? before->id : iph->id) == head->id;

	return ntohs(iph->id) == (u16)(ntohs(head->id) + (stays ? 0 : count)) &&
	       iph->frag_off == head->frag_off && iph->tos == head->tos;
}

/* GRO compares the flow label. The ICRC does not cover what else may differ. */
static bool ipv6_header_follows(const struct sk_buff *batch, const struct gro_packet *pkt)
{
	const struct ipv6hdr *head = (const void *)(batch->data + pkt->ip_offset);

	return ipv6_get_dsfield(pkt->iph) == ipv6_get_dsfield(head);
}

/* A batch ends with a packet that is shorter. */
static bool can_append(const struct sk_buff *batch, const struct sk_buff *skb,
		       const struct gro_packet *pkt)
{
	return !NAPI_GRO_CB(skb)->flush && NAPI_GRO_CB(batch)->is_flist &&
	       pkt->payload_bytes <= skb_shinfo(batch)->gso_size &&
	       batch->len + pkt->payload_bytes <= GRO_BYTES_MAX &&
	       batch->ip_summed == skb->ip_summed && batch->csum_level == skb->csum_level &&
	       batch->sk == skb->sk &&
	       (pkt->is_ipv4 ? ipv4_header_follows(batch, pkt) : ipv6_header_follows(batch, pkt));
}

/* As members of a list, packets keep the headers before their data. */
static void join_batch(struct sk_buff *batch, struct sk_buff *skb, const struct gro_packet *pkt)
{
	struct sk_buff *last = NAPI_GRO_CB(batch)->last;

	skb_set_network_header(skb, pkt->ip_offset);
	skb_pull(skb, pkt->header_bytes);
	if (last == batch)
		skb_shinfo(batch)->frag_list = skb;
	else
		last->next = skb;
	NAPI_GRO_CB(batch)->last = skb;
	NAPI_GRO_CB(batch)->count++;
	NAPI_GRO_CB(skb)->same_flow = 1;
	/* The batch frees the memory of both. */
	skb->destructor = NULL;
	skb->sk = NULL;
	batch->truesize += skb->truesize;
	batch->len += skb->len;
	batch->data_len += skb->len;
	skb_shinfo(batch)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
}

/**
 * sroce_gro_receive() - gro_receive of our sockets
 * @sk: the socket
 * @batches: skbs that GRO keeps; those of the same flow have equal addresses and ports
 * @skb: a packet; its GRO offset is behind the UDP header, and UDP has checked its checksum
 *
 * Runs in softirq under rcu_read_lock().
 *
 * Return: a batch to pass on before @skb or with it, NULL for none.
 */
struct sk_buff *sroce_gro_receive(struct sock *sk, struct list_head *batches, struct sk_buff *skb)
{
	const struct gro_packet pkt = packet_of(sk, skb);
	struct sk_buff *batch;

	/* For GRO's end: the list is UDP's, not that of a packet in a tunnel. */
	NAPI_GRO_CB(skb)->encap_mark = 0;
	NAPI_GRO_CB(skb)->is_flist = 1;
	if (!may_wait(skb, &pkt))
		NAPI_GRO_CB(skb)->flush = 1;
	/* The sum is that of one packet. */
	if (!NAPI_GRO_CB(skb)->flush && skb->ip_summed == CHECKSUM_COMPLETE) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		skb->csum_level = 0;
	}
	list_for_each_entry(batch, batches, list) {
		if (!NAPI_GRO_CB(batch)->same_flow)
			continue;
		if (!can_append(batch, skb, &pkt) || !pskb_may_pull(skb, pkt.header_bytes))
			return batch;
		join_batch(batch, skb, &pkt);
		return pkt.payload_bytes < skb_shinfo(batch)->gso_size ||
		       NAPI_GRO_CB(batch)->count >= GRO_PACKETS_MAX ? batch : NULL;
	}
	if (!NAPI_GRO_CB(skb)->flush && !is_for_endpoint(sk, skb, &pkt))
		NAPI_GRO_CB(skb)->flush = 1;
	return NULL;
}

#if IS_ENABLED(CONFIG_NETFILTER)
static bool is_roce(const struct sk_buff *skb, u32 header_bytes)
{
	struct udphdr copy;
	const struct udphdr *uh = skb_header_pointer(skb, skb_network_offset(skb) + header_bytes,
						     sizeof(copy), &copy);

	return uh && uh->dest == htons(SROCE_UDP_PORT);
}

/*
 * Unclone first, because clones share gso_type and may be going elsewhere. A list of packets
 * (skb_builder.h) is read like any other.
 */
static void mark_as_tunnel(struct sk_buff *skb)
{
	struct skb_shared_info *shinfo;

	if (skb_unclone(skb, GFP_ATOMIC))
		return;
	shinfo = skb_shinfo(skb);
	shinfo->gso_type = (shinfo->gso_type & ~SKB_GSO_FRAGLIST) | SKB_GSO_UDP_TUNNEL_CSUM;
}

static unsigned int gro_hook(void *priv, struct sk_buff *skb, const struct nf_hook_state *state)
{
	bool is_ipv4 = state->pf == NFPROTO_IPV4;
	u8 protocol = is_ipv4 ? ip_hdr(skb)->protocol : ipv6_hdr(skb)->nexthdr;
	u32 header_bytes = is_ipv4 ? ip_hdrlen(skb) : sizeof(struct ipv6hdr);

	if (skb_is_gso(skb) && skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4 &&
	    protocol == IPPROTO_UDP && is_roce(skb, header_bytes))
		mark_as_tunnel(skb);
	return NF_ACCEPT;
}

/* Last, after all filters. */
static const struct nf_hook_ops hooks[] = {
	{ .hook = gro_hook,
	  .pf = NFPROTO_IPV4,
	  .hooknum = NF_INET_LOCAL_IN,
	  .priority = INT_MAX },
	{ .hook = gro_hook,
	  .pf = NFPROTO_IPV6,
	  .hooknum = NF_INET_LOCAL_IN,
	  .priority = INT_MAX },
};

/**
 * sroce_gro_start() - register the hooks in a namespace
 * @net: the namespace
 *
 * May sleep.
 *
 * Return: 0 or an errno.
 */
int sroce_gro_start(struct net *net)
{
	return nf_register_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}

/**
 * sroce_gro_stop() - undo sroce_gro_start()
 * @net: the namespace
 *
 * May sleep.
 */
void sroce_gro_stop(struct net *net)
{
	nf_unregister_net_hooks(net, hooks, ARRAY_SIZE(hooks));
}
#else
int sroce_gro_start(struct net *net)
{
	return 0;
}

void sroce_gro_stop(struct net *net)
{
}
#endif

/**
 * sroce_gro_enable() - enable UDP_GRO on a socket
 * @sock: the socket
 *
 * May sleep.
 *
 * Return: 0 or an errno.
 */
int sroce_gro_enable(struct socket *sock)
{
	int on = 1;

	return sock->ops->setsockopt(sock, SOL_UDP, UDP_GRO, KERNEL_SOCKPTR(&on), sizeof(on));
}
