// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The endpoint that a packet is for; see sockets.h.
 */
#include <linux/if_vlan.h>
#include <net/ipv6.h>

#include "net/sockets.h"

/**
 * sroce_sockets_find_endpoint() - find the endpoint that a packet is addressed to
 * @sockets: the sockets that received it
 * @ingress: the netdev that received it
 * @daddr: its destination address
 *
 * Called under rcu_read_lock(), which keeps the result alive.
 *
 * Return: an endpoint that owns @daddr, preferably the one on @ingress, or NULL.
 */
struct sroce_endpoint *sroce_sockets_find_endpoint(const struct sroce_sockets *sockets,
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
 * sroce_sockets_find_netdev() - find the endpoint on the interface of a multicast packet
 * @sockets: the sockets that received it
 * @ingress: the netdev that received it
 *
 * Called under rcu_read_lock(), which keeps the result alive.
 *
 * Return: the endpoint on @ingress, or else on the netdev below if @ingress is a VLAN, or NULL.
 */
struct sroce_endpoint *sroce_sockets_find_netdev(const struct sroce_sockets *sockets,
						 const struct net_device *ingress)
{
	struct sroce_endpoint *ep = find_netdev(sockets, ingress);

	if (!ep && is_vlan_dev(ingress))
		ep = find_netdev(sockets, vlan_dev_real_dev(ingress));
	return ep;
}
