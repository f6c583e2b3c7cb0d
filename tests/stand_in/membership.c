/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* In place of net/membership.c. */
#include "net/membership.h"
#include "stand_in/datapath.h"

int sroce_membership_join(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			  const struct in6_addr *group)
{
	if (stand_in_datapath.join_error)
		return stand_in_datapath.join_error;
	stand_in_datapath.memberships++;
	stand_in_datapath.group = *group;
	return 0;
}

void sroce_membership_renew(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			    const struct in6_addr *group)
{
	stand_in_datapath.renewals++;
}

void sroce_membership_leave(struct sroce_membership *membership, const struct sroce_endpoint *ep,
			    const struct in6_addr *group)
{
	stand_in_datapath.memberships--;
	stand_in_datapath.group = *group;
}
