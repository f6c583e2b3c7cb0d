/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The sockets of a namespace, and the addresses that packets to them may have. See endpoint.c.
 */
#ifndef SROCE_NET_SOCKETS_H
#define SROCE_NET_SOCKETS_H

#include <linux/hashtable.h>
#include <linux/in6.h>
#include <linux/rcupdate.h>

#include "net/endpoint.h"

/* An interface has at most SROCE_GID_TABLE_LEN addresses. */
#define SROCE_ADDRESS_HASH_BITS	8
#define SROCE_NETDEV_HASH_BITS	6

/**
 * struct sroce_sockets - the sockets of a network namespace
 * @net: the namespace; NULL once it has ended
 * @v4: IPv4 socket
 * @v6: IPv6 socket; NULL without IPv6
 * @users: endpoints that share them
 * @addresses: addresses of these endpoints (struct sroce_own_address), RCU
 * @endpoints: these endpoints by netdev, RCU
 * @rcu: defers the free
 */
struct sroce_sockets {
	struct net *net;
	struct socket *v4;
	struct socket *v6;
	unsigned int users;
	DECLARE_HASHTABLE(addresses, SROCE_ADDRESS_HASH_BITS);
	DECLARE_HASHTABLE(endpoints, SROCE_NETDEV_HASH_BITS);
	struct rcu_head rcu;
};

/**
 * struct sroce_own_address - an address of an endpoint
 * @node: in the table of the sockets
 * @addr: the address
 * @ep: the endpoint
 * @gids: GIDs with this address: of different types, or of VLANs with the same MAC
 * @rcu: defers the free
 */
struct sroce_own_address {
	struct hlist_node node;
	struct in6_addr addr;
	struct sroce_endpoint *ep;
	u32	gids;
	struct rcu_head rcu;
};

#endif
