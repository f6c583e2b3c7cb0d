/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/membership.h"

struct stand_in_membership stand_in_membership;

/* Does not say that it had no memory, as in the kernel. */
void ip_mc_inc_group(struct in_device *in_dev, __be32 group)
{
	struct ip_mc_list *joined = stand_in_alloc(sizeof(*joined));

	ASSERT_RTNL();
	stand_in_membership.group = group;
	if (!joined)
		return;
	stand_in_membership.users++;
	*joined = (struct ip_mc_list){ .next_rcu = in_dev->mc_list, .multiaddr = group };
	in_dev->mc_list = joined;
}

void ip_mc_dec_group(struct in_device *in_dev, __be32 group)
{
	struct ip_mc_list **link = &in_dev->mc_list, *joined;

	ASSERT_RTNL();
	stand_in_membership.group = group;
	while (*link && (*link)->multiaddr != group)
		link = &(*link)->next_rcu;
	WARN_ON(!*link);
	joined = *link;
	*link = joined->next_rcu;
	free(joined);
	stand_in_membership.users--;
}

int ipv6_dev_mc_inc(struct net_device *netdev, const struct in6_addr *group)
{
	ASSERT_RTNL();
	stand_in_membership.group6 = *group;
	stand_in_membership.users6 += !stand_in_membership.error6;
	return stand_in_membership.error6;
}

int ipv6_dev_mc_dec(struct net_device *netdev, const struct in6_addr *group)
{
	ASSERT_RTNL();
	stand_in_membership.group6 = *group;
	stand_in_membership.users6--;
	return 0;
}
