// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The endpoint that a packet is for. Received skbs of either version of RoCE (udp.c,
 * roce_v1.c) reach it here.
 */
#include <linux/if_packet.h>
#include <linux/if_vlan.h>
#include <linux/ktime.h>
#include <linux/udp.h>
#include <net/ipv6.h>

#include "net/demux.h"
#include "net/membership.h"
#include "net/rx_cursor.h"
#include "trace.h"

/**
 * sroce_demux_find_endpoint() - find the endpoint that a packet is addressed to
 * @sockets: the sockets that received it
 * @ingress: the netdev that received it
 * @daddr: its destination address
 *
 * Called under rcu_read_lock(), which keeps the result alive.
 *
 * Return: an endpoint that owns @daddr, preferably the one on @ingress, or NULL.
 */
struct sroce_endpoint *sroce_demux_find_endpoint(const struct sroce_sockets *sockets,
						 const struct net_device *ingress,
						 const struct in6_addr *daddr)
{
	const struct net_device *real = is_vlan_dev(ingress) ? vlan_dev_real_dev(ingress) : ingress;
	const struct sroce_own_address *address;
	struct sroce_endpoint *other = NULL;

	hash_for_each_possible_rcu(sockets->addresses, address, node, ipv6_addr_hash(daddr)) {
		struct sroce_endpoint *ep = address->ep;

		if (!ipv6_addr_equal(&address->addr, daddr))
			continue;
		if (ep->netdev == real || ep->netdev == ingress)
			return ep;
		other = ep;
	}
	return other;
}

static struct sroce_endpoint *find_netdev(const struct sroce_sockets *sockets,
					  const struct net_device *netdev)
{
	struct sroce_endpoint *ep;

	hash_for_each_possible_rcu(sockets->endpoints, ep, node, (unsigned long)netdev)
		if (ep->netdev == netdev)
			return ep;
	return NULL;
}

/**
 * sroce_demux_find_netdev() - find the endpoint on the interface of a multicast packet
 * @sockets: the sockets that received it
 * @ingress: the netdev that received it
 *
 * Called under rcu_read_lock(), which keeps the result alive.
 *
 * Return: the endpoint on @ingress, or else on the netdev below if @ingress is a VLAN, or NULL.
 */
struct sroce_endpoint *sroce_demux_find_netdev(const struct sroce_sockets *sockets,
					       const struct net_device *ingress)
{
	struct sroce_endpoint *ep = find_netdev(sockets, ingress);

	if (!ep && is_vlan_dev(ingress))
		ep = find_netdev(sockets, vlan_dev_real_dev(ingress));
	return ep;
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
 * sroce_demux_deliver() - hand a received skb to its endpoint
 * @sockets: of the namespace
 * @ingress: the interface that it came in on, as its sender sees it
 * @rx: the skb, its addresses, and the cursor before its first packet
 *
 * Runs in softirq under rcu_read_lock().
 *
 * Return: whether the skb has been consumed.
 */
bool sroce_demux_deliver(const struct sroce_sockets *sockets, struct net_device *ingress,
			 struct sroce_rx *rx)
{
	rx->vlan_id = is_vlan_dev(ingress) ? vlan_dev_vlan_id(ingress) : SROCE_NO_VLAN;
	rx->ep = sroce_demux_find_endpoint(sockets, ingress, &rx->daddr);
	if (!rx->ep && sroce_is_multicast(&rx->daddr)) {
		rx->ep = sroce_demux_find_netdev(sockets, ingress);
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
