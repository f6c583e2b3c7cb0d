/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#include "stand_in/membership.h"

struct stand_in_membership stand_in_membership;

/* The link to the entry of a group, or to the end. */
static struct ip_mc_list **find_group(struct in_device *in_dev, __be32 group)
{
	struct ip_mc_list **link = &in_dev->mc_list;

	while (*link && (*link)->multiaddr != group)
		link = &(*link)->next_rcu;
	return link;
}

/* Does not say that it had no memory, as in the kernel. */
void ip_mc_inc_group(struct in_device *in_dev, __be32 group)
{
	struct ip_mc_list *joined = *find_group(in_dev, group);

	ASSERT_RTNL();
	stand_in_membership.group = group;
	if (!joined) {
		joined = stand_in_alloc(sizeof(*joined));
		if (!joined)
			return;
		*joined = (struct ip_mc_list){ .next_rcu = in_dev->mc_list, .multiaddr = group };
		in_dev->mc_list = joined;
	}
	joined->users++;
	stand_in_membership.users++;
}

void ip_mc_dec_group(struct in_device *in_dev, __be32 group)
{
	struct ip_mc_list **link = find_group(in_dev, group), *joined = *link;

	ASSERT_RTNL();
	stand_in_membership.group = group;
	WARN_ON(!joined);
	stand_in_membership.users--;
	if (--joined->users)
		return;
	*link = joined->next_rcu;
	free(joined);
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
