/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* `rdma link add NAME type sroce netdev IF`. */
#ifndef SROCE_CONTROL_RDMA_LINK_H
#define SROCE_CONTROL_RDMA_LINK_H

#include <rdma/rdma_netlink.h>

extern struct rdma_link_ops sroce_link_ops;
extern struct rdma_link_ops sroce_v1_link_ops;

#endif
