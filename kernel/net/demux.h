/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The endpoint that a packet is for. See demux.c. */
#ifndef SROCE_NET_DEMUX_H
#define SROCE_NET_DEMUX_H

#include "net/sockets.h"

struct sroce_rx;

struct sroce_endpoint *sroce_demux_find_endpoint(const struct sroce_sockets *sockets,
						 const struct net_device *ingress,
						 const struct in6_addr *daddr);
struct sroce_endpoint *sroce_demux_find_netdev(const struct sroce_sockets *sockets,
					       const struct net_device *ingress);
bool sroce_demux_deliver(const struct sroce_sockets *sockets, struct net_device *ingress,
			 struct sroce_rx *rx);

#endif
