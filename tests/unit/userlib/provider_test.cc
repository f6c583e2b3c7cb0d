// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Through the C interface, on memory that is mapped as the kernel's is.
#include "provider.h"

#include <gtest/gtest.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "kernel_memory.h"

namespace {

constexpr ibv_qp_cap kCap = {.max_send_wr = 3,
                             .max_recv_wr = 3,
                             .max_send_sge = 4,
                             .max_recv_sge = 4,
                             .max_inline_data = 64};

class ProviderQueuePair : public testing::Test {
 protected:
  ProviderQueuePair() {
    setup.fd = kernel.fd();
    setup.qp_handle = 42;
    setup.qp_type = IBV_QPT_RC;
    setup.where.rq_mi = kernel.add_ring(4, 7);
    setup.where.sq_mi = kernel.add_ring(4, 9);
    setup.cap = kCap;
    // The doorbell is written to the same file: behind the rings.
    lseek(kernel.fd(), 0, SEEK_END);
  }

  KernelMemory kernel;
  sroce_queue_pair_setup setup{};
};

TEST_F(ProviderQueuePair, RequestsGoToTheirOwnRings) {
  sroce_queue_pair* pair = sroce_queue_pair_open(&setup);
  ASSERT_TRUE(pair);
  ibv_send_wr send{}, *bad_send;
  send.opcode = IBV_WR_SEND;
  EXPECT_EQ(sroce_post_send(pair, &send, &bad_send), 0);
  EXPECT_EQ(kernel.ring(setup.where.sq_mi).header().producer_index, 1u);
  EXPECT_EQ(kernel.ring(setup.where.rq_mi).header().producer_index, 0u);
  ibv_recv_wr recv{}, *bad_recv;
  EXPECT_EQ(sroce_post_recv(pair, IBV_QPS_INIT, &recv, &bad_recv), 0);
  EXPECT_EQ(kernel.ring(setup.where.rq_mi).header().producer_index, 1u);
  sroce_queue_pair_close(pair);
}

TEST_F(ProviderQueuePair, ReceivePostedInResetIsRefused) {
  sroce_queue_pair* pair = sroce_queue_pair_open(&setup);
  ASSERT_TRUE(pair);
  ibv_recv_wr recv{}, *bad_recv = nullptr;
  EXPECT_EQ(sroce_post_recv(pair, IBV_QPS_RESET, &recv, &bad_recv), EINVAL);
  EXPECT_EQ(bad_recv, &recv);
  EXPECT_EQ(kernel.ring(setup.where.rq_mi).header().producer_index, 0u);
  sroce_queue_pair_close(pair);
}

TEST_F(ProviderQueuePair, DatagramQueueSendsOnly) {
  setup.qp_type = IBV_QPT_UD;
  sroce_queue_pair* pair = sroce_queue_pair_open(&setup);
  ASSERT_TRUE(pair);
  ibv_send_wr write{}, *bad_wr = nullptr;
  write.opcode = IBV_WR_RDMA_WRITE;
  EXPECT_EQ(sroce_post_send(pair, &write, &bad_wr), EINVAL);
  sroce_queue_pair_close(pair);
}

TEST_F(ProviderQueuePair, ElementsWithoutRoomForTheCapabilitiesAreAnError) {
  setup.cap.max_inline_data = 512;
  errno = 0;
  EXPECT_FALSE(sroce_queue_pair_open(&setup));
  EXPECT_EQ(errno, EPROTO);
  setup.cap = kCap;
  setup.cap.max_recv_sge = 6;
  errno = 0;
  EXPECT_FALSE(sroce_queue_pair_open(&setup));
  EXPECT_EQ(errno, EPROTO);
}

TEST(ProviderCompletionQueue, ResizeGivesTheCallersContextToTheChange) {
  KernelMemory kernel;
  const mminfo small = kernel.add_ring(4, 6), large = kernel.add_ring(16, 6);
  sroce_completion_queue* cq = sroce_completion_queue_open(kernel.fd(), &small);
  ASSERT_TRUE(cq);
  const auto change = [](void* context, mminfo* where) {
    *where = *static_cast<const mminfo*>(context);
    return 0;
  };
  EXPECT_EQ(sroce_resize_cq(cq, kernel.fd(), change, const_cast<mminfo*>(&large)), 0);
  ib_uverbs_wc entry{};
  entry.wr_id = 7;
  kernel.ring(large).produce(entry);
  std::array<ibv_wc, 4> polled;
  EXPECT_EQ(sroce_poll_cq(cq, 0, polled.data()), 0);
  EXPECT_EQ(sroce_poll_cq(cq, 4, polled.data()), 1);
  EXPECT_EQ(polled[0].wr_id, 7u);
  sroce_completion_queue_close(cq);
}

}  // namespace
