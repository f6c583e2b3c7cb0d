// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Receive requests, copied once from the ring of a process: kernel/datapath/recv_queue.c.
#include <gtest/gtest.h>

#include <vector>

#include "stand_in/verbs.h"

extern "C" {
#include "datapath/recv_queue.h"
#include "uapi/sroce_abi.h"
}

namespace {

struct RecvQueue : testing::Test {
  RecvQueue() { stand_in = {}; }
  ~RecvQueue() override {
    stand_in = {};
    sroce_ring_fini(&queue.ring);
    sroce_ring_fini(&sq);
  }
  void init_rxe(u32 max_sge) {
    queue.max_sge = max_sge;
    ASSERT_EQ(0, sroce_ring_init(&queue.ring, 3, sizeof(rxe_recv_wqe) + max_sge * sizeof(rxe_sge)));
  }
  void init_native(u32 max_sge) {
    queue.max_sge = max_sge;
    ASSERT_EQ(0, sroce_ring_init_native(&sq, 4, 64, &queue.ring, 4,
                                        sizeof(sroce_recv_slot) + max_sge * sizeof(rxe_sge)));
  }
  rxe_recv_wqe* slot() {
    return static_cast<rxe_recv_wqe*>(sroce_ring_at(&queue.ring, queue.ring.cursor));
  }
  rxe_sge* native_list() {
    auto* slot = static_cast<sroce_recv_slot*>(sroce_ring_at(&queue.ring, queue.ring.cursor));
    slot->wr_id = 42;
    return reinterpret_cast<rxe_sge*>(slot + 1);
  }
  // Memory for exactly as many elements as the QP may have.
  sroce_recv_wqe* wqe() {
    storage.assign(sizeof(sroce_recv_wqe) + queue.max_sge * sizeof(sroce_sge), 0xee);
    storage.shrink_to_fit();
    return reinterpret_cast<sroce_recv_wqe*>(storage.data());
  }

  sroce_recv_queue queue = {};
  sroce_ring sq = {};
  std::vector<u8> storage;
};

TEST_F(RecvQueue, PostedRequestIsFetchedOnce) {
  init_rxe(2);
  ib_sge list[] = {{0x1000, 10, 1}, {0x2000, 20, 2}, {0x3000, 30, 3}};
  ib_recv_wr wr = {7, list, 2};
  EXPECT_EQ(0, sroce_recv_queue_post(&queue, &wr));
  wr.num_sge = 3;
  EXPECT_EQ(-EINVAL, sroce_recv_queue_post(&queue, &wr));
  wr.num_sge = -1;
  EXPECT_EQ(-EINVAL, sroce_recv_queue_post(&queue, &wr));
  sroce_recv_wqe* got = wqe();
  ASSERT_TRUE(sroce_recv_queue_fetch(&queue, got));
  EXPECT_EQ(7u, got->wr_id);
  EXPECT_EQ(SROCE_WC_SUCCESS, got->status);
  EXPECT_EQ(2u, got->num_sge);
  EXPECT_EQ(30u, got->length);
  EXPECT_EQ(0x2000u, got->sge[1].addr);
  EXPECT_FALSE(sroce_recv_queue_fetch(&queue, got));
}

TEST_F(RecvQueue, KernelPosterFillsAllSlotsButOneForEver) {
  init_rxe(1);
  for (u32 round = 0; round < 5; round++) {
    ib_sge none;
    ib_recv_wr wr = {0, &none, 0};
    for (u32 i = 0; i < 3; i++) {
      wr.wr_id = 10 * round + i;
      EXPECT_EQ(0, sroce_recv_queue_post(&queue, &wr));
    }
    EXPECT_EQ(-ENOMEM, sroce_recv_queue_post(&queue, &wr));
    for (u32 i = 0; i < 3; i++) {
      sroce_recv_wqe* got = wqe();
      ASSERT_TRUE(sroce_recv_queue_fetch(&queue, got));
      EXPECT_EQ(10 * round + i, got->wr_id);
    }
  }
}

TEST_F(RecvQueue, RequestWithTooManyElementsFailsWhenUsed) {
  init_rxe(2);
  slot()->wr_id = 9;
  slot()->dma.num_sge = 3;
  *queue.ring.producer = 1;
  sroce_recv_wqe* got = wqe();
  ASSERT_TRUE(sroce_recv_queue_fetch(&queue, got));
  EXPECT_EQ(9u, got->wr_id);
  EXPECT_EQ(SROCE_WC_LOC_QP_OP_ERR, got->status);
  EXPECT_EQ(0u, got->num_sge);
  EXPECT_EQ(0u, got->length);
}

TEST_F(RecvQueue, LengthsAreSummedWithoutOverflow) {
  init_rxe(3);
  slot()->dma.num_sge = 3;
  for (u32 i = 0; i < 3; i++) slot()->dma.sge[i].length = 0x80000000;
  *queue.ring.producer = 1;
  sroce_recv_wqe* got = wqe();
  ASSERT_TRUE(sroce_recv_queue_fetch(&queue, got));
  EXPECT_EQ(U32_MAX, got->length);
}

TEST_F(RecvQueue, NativeListEndsWithAnEmptyElementOrTheSlot) {
  init_native(2);
  native_list()[0] = {.addr = 1, .length = 5, .lkey = 3};
  *queue.ring.producer = 1;
  sroce_recv_wqe* got = wqe();
  ASSERT_TRUE(sroce_recv_queue_fetch(&queue, got));
  EXPECT_EQ(42u, got->wr_id);
  EXPECT_EQ(1u, got->num_sge);
  EXPECT_EQ(5u, got->length);
  native_list()[0] = {.addr = 1, .length = 5, .lkey = 3};
  native_list()[1] = {.addr = 2, .length = 6, .lkey = 3};
  *queue.ring.producer = 2;
  got = wqe();
  ASSERT_TRUE(sroce_recv_queue_fetch(&queue, got));
  EXPECT_EQ(2u, got->num_sge);
  EXPECT_EQ(11u, got->length);
  EXPECT_EQ(2u, *queue.ring.consumer);
}

// The process writes to the slot after each element was copied.
TEST_F(RecvQueue, OnlyTheCopyCounts) {
  init_native(2);
  native_list()[0] = {.addr = 1, .length = 5, .lkey = 3};
  native_list()[1] = {.addr = 2, .length = 6, .lkey = 3};
  *queue.ring.producer = 1;
  static rxe_sge* list;
  static u32 calls;
  list = native_list();
  calls = 0;
  stand_in.process = [](void*) {
    if (calls++ < 2) return;  // after the index, and after the number of the request
    list[0].length = list[1].length = calls % 2 ? 0 : 1000;
  };
  sroce_recv_wqe* got = wqe();
  ASSERT_TRUE(sroce_recv_queue_fetch(&queue, got));
  EXPECT_EQ(5u, got->sge[0].length);
  u32 sum = 0;
  for (u32 i = 0; i < got->num_sge; i++) sum += got->sge[i].length;
  EXPECT_EQ(sum, got->length);
  EXPECT_EQ(1u, got->num_sge) << "the second element was empty when it was copied";
}

TEST_F(RecvQueue, FlushedRequestKeepsItsNumber) {
  init_rxe(1);
  ib_sge none;
  ib_recv_wr wr = {33, &none, 0};
  EXPECT_EQ(0, sroce_recv_queue_post(&queue, &wr));
  sroce_completion wc;
  ASSERT_TRUE(sroce_recv_queue_take_flushed(&queue, wqe(), &wc));
  EXPECT_EQ(33u, wc.wr_id);
  EXPECT_EQ(SROCE_WC_WR_FLUSH_ERR, wc.status);
  EXPECT_EQ(SROCE_WC_RECV, wc.opcode);
  EXPECT_FALSE(sroce_recv_queue_take_flushed(&queue, wqe(), &wc));
}

TEST_F(RecvQueue, ResetForgetsAllRequests) {
  init_rxe(1);
  ib_sge none;
  ib_recv_wr wr = {33, &none, 0};
  EXPECT_EQ(0, sroce_recv_queue_post(&queue, &wr));
  sroce_recv_queue_reset(&queue);
  EXPECT_FALSE(sroce_recv_queue_has_posted(&queue));
}

}  // namespace
