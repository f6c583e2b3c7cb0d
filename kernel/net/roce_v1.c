// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RoCE v1 (IBTA annex A16): packets in Ethernet frames of their own type. A GRH, which is like an
 * IPv6 header, replaces IP and UDP. No packet is routed: the address vector has the MAC address of
 * the peer. Each skb has one packet.
 *
 * A packet between two addresses of this host does not leave it. It comes in by the interface that
 * it would have left by, as PACKET_LOOPBACK, which no packet from the network is. Groups get a copy
 * in the same way, whether this host has members or not.
 */
#include <linux/err.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ipv6.h>
#include <linux/jhash.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>

#include "net/demux.h"
#include "net/membership.h"
#include "net/roce_v1.h"
#include "net/rx_cursor.h"
#include "trace.h"
#include "transport/wire.h"

/* The next header of a GRH: a BTH follows. */
#define NEXT_HEADER_BTH		0x1b

static_assert(sizeof(struct ipv6hdr) == SROCE_GRH_BYTES);

/* --- sending ---------------------------------------------------------------------------------- */

/*
 * The interface that a packet leaves by, or NULL. A route of IP would have one that is up, too.
 * Caller is under rcu_read_lock().
 */
static struct net_device *output_netdev(const struct sroce_endpoint *ep, int ifindex)
{
	struct net *net = sroce_endpoint_net(ep);
	struct net_device *netdev = net ? dev_get_by_index_rcu(net, ifindex) : NULL;

	return netdev && netdev->flags & IFF_UP ? netdev : NULL;
}

/* A link-local address is that of one interface. */
static bool is_own_address(const struct sroce_sockets *sockets, const struct net_device *netdev,
			   const struct in6_addr *addr)
{
#if IS_ENABLED(CONFIG_IPV6)
	if (ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL)
		return ipv6_chk_addr(dev_net(netdev), addr, netdev, true);
#endif
	return sroce_demux_find_endpoint(sockets, netdev, addr);
}

static void push_grh(struct sk_buff *skb, const struct sroce_path *path, u32 bytes)
{
	struct ipv6hdr *grh = skb_push(skb, sizeof(*grh));

	ip6_flow_hdr(grh, path->tos, htonl(path->flow_label));
	grh->payload_len = htons(bytes);
	grh->nexthdr = NEXT_HEADER_BTH;
	grh->hop_limit = path->hop_limit;
	grh->saddr = path->saddr;
	grh->daddr = path->daddr;
	skb_reset_network_header(skb);
}

/* Under rcu_read_lock(). */
static struct sk_buff *alloc_frame(struct net_device *netdev, const struct sroce_path *path,
				   u32 bytes)
{
	u32 header_bytes = LL_RESERVED_SPACE(netdev) + SROCE_GRH_BYTES;
	struct sk_buff *skb;

	if (!sroce_v1_is_supported(netdev))
		return ERR_PTR(-ENETUNREACH);
	if (SROCE_GRH_BYTES + bytes > READ_ONCE(netdev->mtu))
		return ERR_PTR(-EMSGSIZE);
	skb = alloc_skb(header_bytes + bytes, GFP_ATOMIC | __GFP_NOWARN);
	if (!skb)
		return ERR_PTR(-ENOMEM);
	skb_reserve(skb, header_bytes);
	skb_reset_transport_header(skb);
	push_grh(skb, path, bytes);
	/* Before the header: that of a VLAN has the priority, and maybe a protocol of its own. */
	skb->protocol = htons(ETH_P_IBOE);
	skb->priority = path->priority;
	if (dev_hard_header(skb, netdev, ETH_P_IBOE, path->dmac, NULL, skb->len + bytes) < 0) {
		kfree_skb(skb);
		return ERR_PTR(-ENETUNREACH);
	}
	skb_reset_mac_header(skb);
	return skb;
}

/**
 * sroce_v1_alloc() - allocate an skb with Ethernet header and GRH
 * @ep: the endpoint that sends
 * @path: where it goes
 * @sport: tells the flows of the QPs apart, as a UDP source port does
 * @bytes: size of its packet, from the BTH to the ICRC; the skb has space for it
 *
 * Any context but hard interrupts.
 *
 * Return: the skb; or ERR_PTR: -ENOMEM; -EMSGSIZE if the packet does not fit the MTU; -ENETUNREACH
 * if the interface is down or has gone, or if the source is no address of @ep any more.
 */
struct sk_buff *sroce_v1_alloc(const struct sroce_endpoint *ep, const struct sroce_path *path,
			       __be16 sport, u32 bytes)
{
	struct sk_buff *skb = ERR_PTR(-ENETUNREACH);
	struct net_device *netdev;

	rcu_read_lock();
	netdev = output_netdev(ep, path->oif);
	if (netdev && sroce_demux_find_endpoint(ep->sockets, ep->netdev, &path->saddr) == ep)
		skb = alloc_frame(netdev, path, bytes);
	rcu_read_unlock();
	if (!IS_ERR(skb))
		skb_set_hash(skb, jhash_1word((__force u16)sport, path->flow_label),
			     PKT_HASH_TYPE_L4);
	return skb;
}

static int loop_frame(struct sk_buff *skb, struct net_device *netdev)
{
	skb_orphan(skb);
	__skb_pull(skb, skb_network_offset(skb));
	skb->protocol = htons(ETH_P_IBOE);
	skb->pkt_type = PACKET_LOOPBACK;
	skb->dev = netdev;
	return netif_rx(skb);
}

/**
 * sroce_v1_output() - hand a frame to its interface
 * @ep: the endpoint that sends
 * @skb: complete, from sroce_v1_alloc(); consumed
 * @ifindex: of the interface
 *
 * Caller is under rcu_read_lock(), in softirq or process context.
 *
 * Return: as dev_queue_xmit(), or -ENETUNREACH.
 */
int sroce_v1_output(const struct sroce_endpoint *ep, struct sk_buff *skb, int ifindex)
{
	struct net_device *netdev = output_netdev(ep, ifindex);
	struct sk_buff *copy;

	if (!netdev) {
		kfree_skb(skb);
		return -ENETUNREACH;
	}
	if (netdev->flags & IFF_LOOPBACK ||
	    is_own_address(ep->sockets, netdev, &ipv6_hdr(skb)->daddr))
		return loop_frame(skb, netdev);
	if (sroce_is_multicast(&ipv6_hdr(skb)->daddr)) {
		copy = skb_clone(skb, GFP_ATOMIC | __GFP_NOWARN);
		if (copy)
			loop_frame(copy, netdev);
	}
	skb->dev = netdev;
	return dev_queue_xmit(skb);
}

/* --- receiving -------------------------------------------------------------------------------- */

static bool may_be_source(const struct in6_addr *addr)
{
	__be32 ipv4 = addr->s6_addr32[3];

	if (ipv6_addr_v4mapped(addr))
		return !ipv4_is_zeronet(ipv4) && !ipv4_is_loopback(ipv4) &&
		       !ipv4_is_multicast(ipv4) && !ipv4_is_lbcast(ipv4);
	return !ipv6_addr_any(addr) && !ipv6_addr_loopback(addr) && !ipv6_addr_is_multicast(addr);
}

/* As IP would have checked them. */
static bool addresses_are_valid(const struct sroce_sockets *sockets, const struct sk_buff *skb)
{
	const struct in6_addr *saddr = &ipv6_hdr(skb)->saddr, *daddr = &ipv6_hdr(skb)->daddr;

	if (skb->pkt_type == PACKET_LOOPBACK)
		return true;
	/* Nobody else has an address of this host. */
	if (!may_be_source(saddr) || is_own_address(sockets, skb->dev, saddr))
		return false;
	if (!sroce_is_multicast(daddr))
		return skb->pkt_type == PACKET_HOST;
	return ipv6_addr_v4mapped(daddr) ||
	       IPV6_ADDR_MC_SCOPE(daddr) > IPV6_ADDR_SCOPE_NODELOCAL;
}

/* Nothing else has checked these headers. Returns why the frame is dropped, or SROCE_CTR_COUNT. */
static enum sroce_counter check_frame(const struct sroce_sockets *sockets, struct sk_buff *skb)
{
	const struct ipv6hdr *grh;
	u32 bytes;

	if (!pskb_may_pull(skb, SROCE_GRH_BYTES))
		return SROCE_CTR_DROP_TRUNCATED;
	skb_reset_network_header(skb);
	grh = ipv6_hdr(skb);
	if (grh->version != 6 || grh->nexthdr != NEXT_HEADER_BTH)
		return SROCE_CTR_DROP_VERSION;
	bytes = SROCE_GRH_BYTES + ntohs(grh->payload_len);
	/* Ethernet pads short frames. */
	if (bytes > skb->len || pskb_trim(skb, bytes))
		return SROCE_CTR_DROP_TRUNCATED;
	skb_set_transport_header(skb, SROCE_GRH_BYTES);
	return addresses_are_valid(sockets, skb) ? SROCE_CTR_COUNT : SROCE_CTR_DROP_ADDRESS;
}

static void count_bad_frame(const struct sroce_sockets *sockets, const struct sk_buff *skb,
			    enum sroce_counter why)
{
	const struct sroce_endpoint *ep = sroce_demux_find_netdev(sockets, skb->dev);

	if (!ep || !ep->roce_v1)
		return;
	sroce_count(ep->counters, why);
	trace_sroce_drop(ep->netdev->ifindex, 0, why);
}

/* Returns whether the skb has been consumed. */
static bool take_frame(const struct sroce_sockets *sockets, struct sk_buff *skb)
{
	enum sroce_counter why = check_frame(sockets, skb);
	struct sroce_rx rx;

	if (why != SROCE_CTR_COUNT) {
		count_bad_frame(sockets, skb, why);
		return false;
	}
	sroce_rx_begin(&rx, skb, skb->len - SROCE_GRH_BYTES, SROCE_GRH_BYTES);
	rx.is_v1 = true;
	rx.saddr = ipv6_hdr(skb)->saddr;
	rx.daddr = ipv6_hdr(skb)->daddr;
	return sroce_demux_deliver(sockets, skb->dev, &rx);
}

static int receive_frame(struct sk_buff *skb, struct net_device *netdev, struct packet_type *type,
			 struct net_device *orig)
{
	const struct sroce_sockets *sockets = sroce_sockets_of(dev_net(netdev));

	if (!sockets || skb->pkt_type == PACKET_OTHERHOST) {
		kfree_skb(skb);
		return NET_RX_DROP;
	}
	skb = skb_share_check(skb, GFP_ATOMIC);
	if (!skb)
		return NET_RX_DROP;
	if (!take_frame(sockets, skb))
		kfree_skb(skb);
	return NET_RX_SUCCESS;
}

/* Of all interfaces, because a VLAN's frames come in on the VLAN. */
static struct packet_type frame_type __read_mostly = {
	.type = htons(ETH_P_IBOE),
	.func = receive_frame,
};

/**
 * sroce_v1_init() - start to receive frames
 *
 * Those for a device without RoCE v1 are dropped. May sleep.
 */
void sroce_v1_init(void)
{
	dev_add_pack(&frame_type);
}

/**
 * sroce_v1_fini() - receive no more frames
 *
 * May sleep. Afterwards no frame is being received.
 */
void sroce_v1_fini(void)
{
	dev_remove_pack(&frame_type);
}
