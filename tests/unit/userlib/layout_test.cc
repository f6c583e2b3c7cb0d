// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "layout.h"

#include <gtest/gtest.h>

#include "rxe_abi.h"

namespace {

TEST(Layout, SendWqeIsThatOfC) {
  EXPECT_EQ(sizeof(rxe_send_wqe), c_layout.send_wqe_bytes);
  EXPECT_EQ(offsetof(rxe_send_wqe, dma), c_layout.send_wqe_dma);
}

TEST(Layout, PayloadOfASendFollowsItsFixedPart) {
  EXPECT_EQ(sizeof(rxe_send_wqe), c_layout.send_wqe_sge);
  EXPECT_EQ(sizeof(rxe_send_wqe), c_layout.send_wqe_inline_data);
}

TEST(Layout, RecvWqeIsThatOfC) {
  EXPECT_EQ(sizeof(rxe_recv_wqe), c_layout.recv_wqe_bytes);
  EXPECT_EQ(offsetof(rxe_recv_wqe, dma), c_layout.recv_wqe_dma);
  EXPECT_EQ(sizeof(rxe_recv_wqe), c_layout.recv_wqe_sge);
}

TEST(Layout, RingHeaderIsThatOfC) {
  EXPECT_EQ(offsetof(rxe_queue_buf, data), c_layout.queue_buf_data);
}

}  // namespace
