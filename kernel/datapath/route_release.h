/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The end of the routes that work queues cache. See route_release.c. */
#ifndef SROCE_DATAPATH_ROUTE_RELEASE_H
#define SROCE_DATAPATH_ROUTE_RELEASE_H

#include "datapath/wq.h"

void sroce_wq_release_route(struct sroce_wq *wq);
void sroce_routes_release(struct sroce_endpoint *ep);

#endif
