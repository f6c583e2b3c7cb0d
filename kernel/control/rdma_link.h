/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* `rdma link add NAME type sroce netdev IF`. */
#ifndef SROCE_CONTROL_RDMA_LINK_H
#define SROCE_CONTROL_RDMA_LINK_H

void sroce_link_init(void);
void sroce_link_fini(void);

#endif
