// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "layout.h"

#include <gtest/gtest.h>

#include "rxe_abi.h"
#include "sroce_abi.h"

namespace {

TEST(Layout, RingHeaderMatchesC) {
  EXPECT_EQ(offsetof(rxe_queue_buf, data), c_layout.queue_buf_data);
}

TEST(Layout, CqArmMatchesC) {
  EXPECT_EQ(sizeof(sroce_cq_line), c_layout.cq_line_bytes);
  EXPECT_EQ(offsetof(sroce_cq_line, arm) + offsetof(sroce_cq_arm, solicited),
            c_layout.cq_line_solicited);
}

TEST(Layout, QueuesMatchC) {
  EXPECT_EQ(sizeof(sroce_queue_head), c_layout.queue_head_bytes);
  EXPECT_EQ(sizeof(sroce_send_slot), c_layout.send_slot_bytes);
  EXPECT_EQ(offsetof(sroce_send_slot, swap), c_layout.send_slot_swap);
  EXPECT_EQ(sizeof(sroce_recv_slot), c_layout.recv_slot_bytes);
  EXPECT_EQ(sizeof(sroce_create_qp_resp), c_layout.create_qp_resp_bytes);
  EXPECT_EQ(sizeof(sroce_create_srq_resp), c_layout.create_srq_resp_bytes);
}

}  // namespace
