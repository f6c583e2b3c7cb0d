/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The IPv4 and IPv6 state of one interface, and its groups. */
#ifndef STAND_IN_MEMBERSHIP_H
#define STAND_IN_MEMBERSHIP_H

#include "stand_in/stack.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ip_mc_list {
	struct ip_mc_list *next_rcu;
	__be32	multiaddr;
	int	users;
};

struct in_device {
	struct ip_mc_list *mc_list;
	bool	dead;
	int	refs;
};

struct inet6_dev {
	int	refs;
};

/**
 * struct stand_in_membership - what a test tells these functions, and what they tell it
 * @v4: IPv4 state of the interface; NULL for none
 * @v6: the same for IPv6
 * @users: of the IPv4 group @group, joined less left
 * @users6: of the IPv6 group @group6, joined less left
 * @group: the last one joined or left
 * @group6: the same for IPv6
 * @error6: from ipv6_dev_mc_inc()
 */
struct stand_in_membership {
	struct in_device *v4;
	struct inet6_dev *v6;
	int	users;
	int	users6;
	__be32	group;
	struct in6_addr group6;
	int	error6;
};

extern struct stand_in_membership stand_in_membership;

#define rtnl_dereference(pointer)	({ ASSERT_RTNL(); (pointer); })

static inline struct in_device *in_dev_get(const struct net_device *netdev)
{
	if (stand_in_membership.v4)
		stand_in_membership.v4->refs++;
	return stand_in_membership.v4;
}

static inline struct inet6_dev *in6_dev_get(const struct net_device *netdev)
{
	if (stand_in_membership.v6)
		stand_in_membership.v6->refs++;
	return stand_in_membership.v6;
}

#define __in6_dev_get(netdev)	((void)(netdev), stand_in_membership.v6)
#define in_dev_put(state)	((void)(state)->refs--)
#define in6_dev_put(state)	((void)(state)->refs--)

void ip_mc_inc_group(struct in_device *in_dev, __be32 group);
void ip_mc_dec_group(struct in_device *in_dev, __be32 group);
int ipv6_dev_mc_inc(struct net_device *netdev, const struct in6_addr *group);
int ipv6_dev_mc_dec(struct net_device *netdev, const struct in6_addr *group);

#ifdef __cplusplus
}
#endif

#endif
