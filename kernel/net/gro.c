// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receiving many packets as one skb.
 *
 * With UDP_GRO a socket receives the skbs of GRO, and GSO skbs of local senders, whole. For a
 * socket with encap_rcv, however, UDP segments every skb that has no tunnel's gso_type, because
 * other encap_rcv handlers expect single packets. Ours does not, so a netfilter hook marks skbs for
 * our port as a tunnel's just before UDP sees them.
 *
 * Without netfilter there is no such hook, and packets arrive one by one.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/net.h>
#include <linux/netfilter.h>
#include <linux/netfilter_ipv4.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip.h>
#include <net/net_namespace.h>

#include "net/endpoint.h"
#include "transport/wire.h"

#if IS_ENABLED(CONFIG_NETFILTER)
static bool is_roce(const struct sk_buff *skb, u32 header_bytes)
{
	struct udphdr copy;
	const struct udphdr *uh = skb_header_pointer(skb, skb_network_offset(skb) + header_bytes,
						     sizeof(copy), &copy);

	return uh && uh->dest == htons(SROCE_UDP_PORT);
}

/* Unclone first, because clones share gso_type and may be going elsewhere. */
static void mark_as_tunnel(struct sk_buff *skb)
{
	if (!skb_unclone(skb, GFP_ATOMIC))
		skb_shinfo(skb)->gso_type |= SKB_GSO_UDP_TUNNEL_CSUM;
}

static unsigned int gro_hook_ipv4(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	if (skb_is_gso(skb) && skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4 &&
	    ip_hdr(skb)->protocol == IPPROTO_UDP && is_roce(skb, ip_hdrlen(skb)))
		mark_as_tunnel(skb);
	return NF_ACCEPT;
}

static unsigned int gro_hook_ipv6(void *priv, struct sk_buff *skb,
				  const struct nf_hook_state *state)
{
	if (skb_is_gso(skb) && skb_shinfo(skb)->gso_type & SKB_GSO_UDP_L4 &&
	    ipv6_hdr(skb)->nexthdr == IPPROTO_UDP && is_roce(skb, sizeof(struct ipv6hdr)))
		mark_as_tunnel(skb);
	return NF_ACCEPT;
}

/* Last, after all filters. */
static const struct nf_hook_ops hooks[] = {
	{ .hook = gro_hook_ipv4,
	  .pf = NFPROTO_IPV4,
	  .hooknum = NF_INET_LOCAL_IN,
	  .priority = INT_MAX },
	{ .hook = gro_hook_ipv6,
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
