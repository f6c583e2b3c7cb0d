/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Multicast groups as the network stack knows them. See membership.c. */
#ifndef SROCE_NET_MEMBERSHIP_H
#define SROCE_NET_MEMBERSHIP_H

#include <linux/in.h>
#include <net/ipv6.h>

#include "net/endpoint.h"

struct in_device;
struct inet6_dev;

/**
 * struct sroce_membership - one user's membership of an interface in a group
 * @in_dev: IPv4 state of the interface that is a member, with a reference; NULL for IPv6
 * @in6_dev: the same for IPv6
 */
struct sroce_membership {
	struct in_device *in_dev;
	struct inet6_dev *in6_dev;
};

/* Is an address that of a group? rdma_cm maps IPv4 groups as it maps addresses of hosts. */
static inline bool sroce_is_multicast(const struct in6_addr *addr)
{
	return ipv6_addr_v4mapped(addr) ? ipv4_is_multicast(addr->s6_addr32[3]) :
					  ipv6_addr_is_multicast(addr);
}

int sroce_membership_join(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			  const struct in6_addr *group);
void sroce_membership_renew(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			    const struct in6_addr *group);
void sroce_membership_leave(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			    const struct in6_addr *group);

#endif
