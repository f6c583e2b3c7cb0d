/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* In place of net/endpoint.c. */
#include "net/endpoint.h"
#include "stand_in/control.h"
#include "stand_in/route.h"

struct net *sroce_endpoint_net(const struct sroce_endpoint *ep)
{
	return stand_in_routes.left ? NULL : dev_net(ep->netdev);
}

int sroce_endpoint_add_address(struct sroce_endpoint *ep, const struct in6_addr *addr)
{
	stand_in_control.address = *addr;
	stand_in_control.addresses++;
	return 0;
}

void sroce_endpoint_del_address(struct sroce_endpoint *ep, const struct in6_addr *addr)
{
	stand_in_control.address = *addr;
	stand_in_control.addresses--;
}
