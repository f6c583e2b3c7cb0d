/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Received packets, see receive.c. */
#ifndef SROCE_DATAPATH_RECEIVE_H
#define SROCE_DATAPATH_RECEIVE_H

#include <linux/types.h>

struct sroce_qp;
struct sroce_rx;

void sroce_receive(struct sroce_rx *rx);
void sroce_receive_queued(struct sroce_qp *qp, u64 now_ns, u32 *budget);
void sroce_receive_backlog(struct sroce_qp *qp, u64 now_ns, u32 *budget);

#endif
