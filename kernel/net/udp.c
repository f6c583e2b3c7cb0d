// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Received datagrams: from the UDP socket to the RX cursor (rx.c).
 *
 * Nothing here trusts a byte of the packet, or writes to the skb's data, which may be shared. UDP
 * has checked its own checksum and length.
 *
 * One skb has many packets if GRO built it, or if a local sender handed over a GSO skb. A socket
 * with UDP_GRO receives such skbs unsegmented. For a socket with encap_rcv, however, UDP segments
 * every skb that has no tunnel's gso_type, because other encap_rcv handlers expect single packets.
 * Ours does not. So a netfilter hook marks skbs for our port as a tunnel's just before UDP sees
 * them. Without netfilter there is no such hook, and packets arrive one by one.
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/net.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>

#include "net/endpoint.h"
#include "net/mcast.h"
#include "net/rx.h"
#include "trace.h"
#include "transport/wire.h"

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

/*
 * The interface that a packet came in on, as its sender and the GID table see it. A packet between
 * two addresses of this host comes in by loopback, so return the interface that has the address.
 */
static const struct net_device *ingress_of(const struct sk_buff *skb)
{
	const struct net_device *owner;

	if (!(skb->dev->flags & IFF_LOOPBACK))
		return skb->dev;
	if (ip_hdr(skb)->version == 4)
		owner = __ip_dev_find(dev_net(skb->dev), ip_hdr(skb)->daddr, false);
	else
		owner = dev_get_by_index_rcu(dev_net(skb->dev), inet6_iif(skb));
	return owner ?: skb->dev;
}

static void read_addresses(const struct sk_buff *skb, struct sroce_rx *rx)
{
	if (ip_hdr(skb)->version == 4) {
		const struct iphdr *iph = ip_hdr(skb);

		rx->is_ipv4 = true;
		rx->ecn_ce = INET_ECN_is_ce(iph->tos);
		ipv6_addr_set_v4mapped(iph->saddr, &rx->saddr);
		ipv6_addr_set_v4mapped(iph->daddr, &rx->daddr);
	} else {
		const struct ipv6hdr *ip6h = ipv6_hdr(skb);

		rx->is_ipv4 = false;
		rx->ecn_ce = INET_ECN_is_ce(ipv6_get_dsfield(ip6h));
		rx->saddr = ip6h->saddr;
		rx->daddr = ip6h->daddr;
	}
}

static void count_received(const struct sroce_rx *rx)
{
	sroce_count_add(rx->ep->counters, SROCE_CTR_RCVD_PKTS, rx->packets);
	sroce_count_add(rx->ep->counters, SROCE_CTR_RCVD_BYTES, rx->wire_bytes);
	if (rx->ecn_ce)
		sroce_count_add(rx->ep->counters, SROCE_CTR_NP_ECN_MARKED, rx->packets);
}

/* Returns whether the skb has been consumed. */
static bool take_skb(const struct sroce_sockets *sockets, struct sk_buff *skb)
{
	const struct net_device *ingress = ingress_of(skb);
	struct sroce_rx rx = {
		.skb = skb,
		.packet_bytes = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
						  skb->len - sizeof(struct udphdr),
	};

	sroce_rx_begin(&rx, sizeof(struct udphdr));
	read_addresses(skb, &rx);
	rx.vlan_id = is_vlan_dev(ingress) ? vlan_dev_vlan_id(ingress) : SROCE_NO_VLAN;
	rx.ep = sroce_sockets_find_endpoint(sockets, ingress, &rx.daddr);
	if (!rx.ep && sroce_is_multicast(&rx.daddr)) {
		rx.ep = sroce_sockets_find_netdev(sockets, ingress);
		rx.is_multicast = true;
	}
	if (!rx.ep)
		return false;
	if (!rx.packet_bytes) {
		sroce_count(rx.ep->counters, SROCE_CTR_DROP_TRUNCATED);
		trace_sroce_drop(rx.ep->netdev->ifindex, 0, SROCE_CTR_DROP_TRUNCATED);
		return false;
	}
	rx.now_ns = ktime_get_ns();
	sroce_receive_hook(&rx);
	count_received(&rx);
	return true;
}

/**
 * sroce_udp_receive() - encap_rcv of our sockets
 * @sk: the socket
 * @skb: skb->data is at the UDP header; consumed
 *
 * Runs in softirq under rcu_read_lock().
 *
 * Return: 0, the packet is ours.
 */
int sroce_udp_receive(struct sock *sk, struct sk_buff *skb)
{
	const struct sroce_sockets *sockets = rcu_dereference_sk_user_data(sk);

	/* NULL: the socket is being closed. */
	if (!sockets || !take_skb(sockets, skb))
		kfree_skb(skb);
	return 0;
}
