// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "layout.h"

#include <rdma/rdma_user_rxe.h>

#include "sroce_abi.h"

const struct c_layout c_layout = {
    .queue_buf_data = offsetof(struct rxe_queue_buf, data),
    .queue_head_bytes = sizeof(struct sroce_queue_head),
    .cq_line_bytes = sizeof(struct sroce_cq_line),
    .cq_line_solicited = offsetof(struct sroce_cq_line, arm.solicited),
    .send_slot_bytes = sizeof(struct sroce_send_slot),
    .send_slot_swap = offsetof(struct sroce_send_slot, swap),
    .recv_slot_bytes = sizeof(struct sroce_recv_slot),
    .create_qp_resp_bytes = sizeof(struct sroce_create_qp_resp),
    .create_srq_resp_bytes = sizeof(struct sroce_create_srq_resp),
};
