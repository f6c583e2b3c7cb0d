// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "layout.h"

#include <rdma/rdma_user_rxe.h>

const struct c_layout c_layout = {
    .send_wqe_bytes = sizeof(struct rxe_send_wqe),
    .send_wqe_dma = offsetof(struct rxe_send_wqe, dma),
    .send_wqe_sge = offsetof(struct rxe_send_wqe, dma.sge),
    .send_wqe_inline_data = offsetof(struct rxe_send_wqe, dma.inline_data),
    .recv_wqe_bytes = sizeof(struct rxe_recv_wqe),
    .recv_wqe_dma = offsetof(struct rxe_recv_wqe, dma),
    .recv_wqe_sge = offsetof(struct rxe_recv_wqe, dma.sge),
    .queue_buf_data = offsetof(struct rxe_queue_buf, data),
};
