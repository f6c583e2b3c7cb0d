// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Received datagrams: from the UDP socket to demux.c.
 *
 * Nothing here trusts a byte of the packet, or writes to the skb's data, which may be shared. UDP
 * has checked its own checksum and length. One skb may have many packets (gro.c).
 */
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>

#include "compat/compat.h"
#include "net/demux.h"
#include "net/endpoint.h"
#include "net/rx_cursor.h"

/*
 * The interface that a packet came in on, as its sender and the GID table see it. A packet between
 * two addresses of this host comes in by loopback, so return the interface that has the address.
 */
static struct net_device *ingress_of(const struct sk_buff *skb)
{
	struct net_device *owner;

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

/* Returns whether the skb has been consumed. */
static bool take_skb(const struct sroce_sockets *sockets, struct sk_buff *skb)
{
	u32 packet_bytes = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
					     skb->len - sizeof(struct udphdr);
	struct sroce_rx rx __sroce_uninit;

	sroce_rx_begin(&rx, skb, packet_bytes, sizeof(struct udphdr));
	read_addresses(skb, &rx);
	return sroce_demux_deliver(sockets, ingress_of(skb), &rx);
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
