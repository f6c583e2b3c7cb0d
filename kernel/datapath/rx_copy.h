/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Payload of received packets, see rx_copy.c. */
#ifndef SROCE_DATAPATH_RX_COPY_H
#define SROCE_DATAPATH_RX_COPY_H

#include "transport/wqe.h"

struct sroce_ack_plan;
struct sroce_mr_range;
struct sroce_qp;
struct sroce_recv_plan;
struct sroce_rx;

enum sroce_mem_status sroce_rx_copy_request(struct sroce_qp *qp, struct sroce_rx *rx,
					    const struct sroce_recv_plan *plan);
enum sroce_mem_status sroce_rx_execute_atomic(const struct sroce_rx *rx,
					      const struct sroce_mr_range *range,
					      const struct sroce_recv_plan *plan, u64 *original);
enum sroce_mem_status sroce_rx_copy_response(struct sroce_qp *qp, struct sroce_rx *rx,
					     const struct sroce_ack_plan *plan);

#endif
