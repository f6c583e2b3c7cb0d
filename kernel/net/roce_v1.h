/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* RoCE v1 (IBTA annex A16): a GRH in place of IP and UDP. See roce_v1.c. */
#ifndef SROCE_NET_ROCE_V1_H
#define SROCE_NET_ROCE_V1_H

#include <linux/if_ether.h>
#include <linux/netdevice.h>
#include <linux/skbuff.h>

#include "net/path.h"

/* Do the frames of an interface have Ethernet headers? It may change, as a bond or a tap can. */
static inline bool sroce_v1_is_supported(const struct net_device *netdev)
{
	return netdev->addr_len == ETH_ALEN && dev_has_header(netdev);
}

struct sk_buff *sroce_v1_alloc(const struct sroce_endpoint *ep, const struct sroce_path *path,
			       __be16 sport, u32 bytes);
int sroce_v1_output(const struct sroce_endpoint *ep, struct sk_buff *skb, int ifindex);
void sroce_v1_init(void);
void sroce_v1_fini(void);

#endif
