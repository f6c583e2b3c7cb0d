// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Received datagrams: from the UDP socket to the RX cursor (rx.c). Frames of RoCE v1 (roce_v1.c)
 * pass sroce_deliver() only.
 *
 * Nothing here trusts a byte of the packet, or writes to the skb's data, which may be shared. UDP
 * has checked its own checksum and length. One skb may have many packets (gro.c).
 */
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/ktime.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>

#include "net/endpoint.h"
#include "net/mcast.h"
#include "net/rx.h"
#include "net/sockets.h"
#include "trace.h"
#include "transport/wire.h"

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

static void count_received(const struct sroce_rx *rx)
{
	u32 bytes = rx->wire_bytes - (rx->is_v1 ? rx->packets * sizeof(struct udphdr) : 0);

	sroce_count_add(rx->ep->counters, SROCE_CTR_RCVD_PKTS, rx->packets);
	sroce_count_add(rx->ep->counters, SROCE_CTR_RCVD_BYTES, bytes);
	if (rx->ecn_ce)
		sroce_count_add(rx->ep->counters, SROCE_CTR_NP_ECN_MARKED, rx->packets);
}

static void count_dropped_skb(const struct sroce_rx *rx, enum sroce_counter why)
{
	sroce_count(rx->ep->counters, why);
	trace_sroce_drop(rx->ep->netdev->ifindex, 0, why);
}

/*
 * Without routing, a packet from the network must have come in by the interface that has its
 * address, or by a VLAN or another interface above it.
 */
static bool accepts_v1(const struct sroce_rx *rx, struct net_device *ingress)
{
	struct net_device *netdev = rx->ep->netdev;

	return rx->ep->roce_v1 &&
	       (rx->skb->pkt_type == PACKET_LOOPBACK || netdev == ingress ||
		netdev_has_upper_dev_all_rcu(netdev, ingress));
}

/**
 * sroce_deliver() - hand a received skb to its endpoint
 * @sockets: of the namespace
 * @ingress: the interface that it came in on, as its sender sees it
 * @rx: the skb, its addresses, and the cursor before its first packet
 *
 * Runs in softirq under rcu_read_lock().
 *
 * Return: whether the skb has been consumed.
 */
bool sroce_deliver(const struct sroce_sockets *sockets, struct net_device *ingress,
		   struct sroce_rx *rx)
{
	rx->vlan_id = is_vlan_dev(ingress) ? vlan_dev_vlan_id(ingress) : SROCE_NO_VLAN;
	rx->ep = sroce_sockets_find_endpoint(sockets, ingress, &rx->daddr);
	if (!rx->ep && sroce_is_multicast(&rx->daddr)) {
		rx->ep = sroce_sockets_find_netdev(sockets, ingress);
		rx->is_multicast = true;
	}
	if (!rx->ep)
		return false;
	if (rx->is_v1 && !accepts_v1(rx, ingress)) {
		/* Groups of others do not concern a device without RoCE v1. */
		if (rx->ep->roce_v1 || !rx->is_multicast)
			count_dropped_skb(rx, SROCE_CTR_DROP_ADDRESS);
		return false;
	}
	if (!rx->packet_bytes) {
		count_dropped_skb(rx, SROCE_CTR_DROP_TRUNCATED);
		return false;
	}
	rx->now_ns = ktime_get_ns();
	sroce_receive_hook(rx);
	count_received(rx);
	return true;
}

/* Returns whether the skb has been consumed. */
static bool take_skb(const struct sroce_sockets *sockets, struct sk_buff *skb)
{
	struct sroce_rx rx = {
		.skb = skb,
		.packet_bytes = skb_is_gso(skb) ? skb_shinfo(skb)->gso_size :
						  skb->len - sizeof(struct udphdr),
	};

	sroce_rx_begin(&rx, sizeof(struct udphdr));
	read_addresses(skb, &rx);
	return sroce_deliver(sockets, ingress_of(skb), &rx);
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
