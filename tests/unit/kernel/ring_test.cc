// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Rings shared with a process that may write anything: kernel/datapath/ring.c.
#include <gtest/gtest.h>

#include <set>

#include "stand_in/verbs.h"

extern "C" {
#include "datapath/ring.h"
#include "uapi/sroce_abi.h"
}

namespace {

struct Ring : testing::Test {
  Ring() { stand_in = {}; }
  ~Ring() override {
    stand_in = {};
    sroce_ring_fini(&ring);
    sroce_ring_fini(&native_sq);
    sroce_ring_fini(&native_rq);
  }
  void init_native() {
    ASSERT_EQ(0, sroce_ring_init_native(&native_sq, 4, 128, &native_rq, 8, 80));
  }

  sroce_ring ring = {};
  sroce_ring native_sq = {};
  sroce_ring native_rq = {};
};

TEST_F(Ring, HasSlotsForAllElementsAndOneMore) {
  ASSERT_EQ(0, sroce_ring_init(&ring, 8, 65));
  EXPECT_EQ(15u, ring.mask);
  EXPECT_EQ(128u, ring.stride);
  const auto* buf = static_cast<const rxe_queue_buf*>(ring.memory->buf);
  EXPECT_EQ(7u, buf->log2_elem_size);
  EXPECT_EQ(15u, buf->index_mask);
  EXPECT_EQ(0u, ring.memory->bytes % PAGE_SIZE);
  // Every index that a process can write stays inside; the sanitizer checks.
  for (u32 index : {0u, 15u, 16u, 0x7fffffffu, U32_MAX})
    memset(sroce_ring_at(&ring, index), 1, 128);
}

TEST_F(Ring, HeadIsNotPartOfTheElements) {
  ASSERT_EQ(0, sroce_ring_init(&ring, 15, 256));
  EXPECT_EQ(2 * PAGE_SIZE, ring.memory->bytes);
  memset(sroce_ring_at(&ring, 0), 1, 16 * 256);
  EXPECT_EQ(0u, *ring.producer);
  EXPECT_EQ(0u, *ring.consumer);
}

TEST_F(Ring, ElementIsAtLeastACacheLine) {
  ASSERT_EQ(0, sroce_ring_init(&ring, 3, 1));
  EXPECT_EQ(3u, ring.mask);
  EXPECT_EQ(64u, ring.stride);
}

TEST_F(Ring, SizesThatOverflowAreRejected) {
  EXPECT_EQ(-EINVAL, sroce_ring_init(&ring, U32_MAX, 64));
  EXPECT_EQ(-EINVAL, sroce_ring_init(&ring, (1u << 30) + 1, 64));
  EXPECT_EQ(-EINVAL, sroce_ring_init(&ring, 1, U32_MAX));
  stand_in.fail_allocation = 2;
  EXPECT_EQ(-ENOMEM, sroce_ring_init(&ring, 1, 64));
  EXPECT_EQ(nullptr, ring.memory);
}

TEST_F(Ring, PendingIsWhatTheProcessProducedModuloTheMask) {
  ASSERT_EQ(0, sroce_ring_init(&ring, 7, 64));
  ring.cursor = 6;
  *ring.producer = 2;
  EXPECT_EQ(4u, sroce_ring_pending(&ring));
  *ring.producer = 6;
  EXPECT_EQ(0u, sroce_ring_pending(&ring));
  *ring.producer = 5;
  EXPECT_EQ(7u, sroce_ring_pending(&ring));
  *ring.producer = 0xdeadbeef;
  EXPECT_EQ((0xdeadbeef - 6) & 7, sroce_ring_pending(&ring));
}

TEST_F(Ring, NativeIndicesRunFreely) {
  init_native();
  native_sq.cursor = U32_MAX - 1;
  *native_sq.producer = 2;
  EXPECT_EQ(4u, sroce_ring_pending(&native_sq));
  *native_sq.producer = 3;
  EXPECT_EQ(0u, sroce_ring_pending(&native_sq)) << "beyond the capacity";
  *native_sq.producer = native_sq.cursor - 1;
  EXPECT_EQ(0u, sroce_ring_pending(&native_sq));
}

TEST_F(Ring, IndexIsReadOnce) {
  init_native();
  *native_sq.producer = 3;
  stand_in.argument = &native_sq;
  stand_in.process = [](void* ring) { *static_cast<sroce_ring*>(ring)->producer = 1u << 31; };
  EXPECT_EQ(3u, sroce_ring_pending(&native_sq));
}

TEST_F(Ring, FetchAndReleaseWrap) {
  ASSERT_EQ(0, sroce_ring_init(&ring, 3, 64));
  std::set<void*> slots;
  for (u32 i = 0; i < 6; i++) {
    slots.insert(sroce_ring_slot(&ring));
    sroce_ring_fetched(&ring);
  }
  EXPECT_EQ(4u, slots.size());
  EXPECT_EQ(2u, ring.cursor);
  EXPECT_EQ(0u, *ring.consumer) << "nothing is released yet";
  sroce_ring_release(&ring, 3);
  EXPECT_EQ(3u, *ring.consumer);
  sroce_ring_release(&ring, 0);
  EXPECT_EQ(2u, *ring.consumer);
}

TEST_F(Ring, NativeQueuesAreApart) {
  init_native();
  EXPECT_EQ(native_sq.memory, native_rq.memory);
  std::set<u8*> words;
  const auto mark = [&](u8* at, u32 bytes) {
    for (u32 i = 0; i < bytes; i++) {
      EXPECT_TRUE(words.insert(at + i).second);
      at[i] = 1;
    }
  };
  mark(reinterpret_cast<u8*>(native_sq.head), sizeof(sroce_queue_head));
  mark(reinterpret_cast<u8*>(native_rq.head), sizeof(sroce_queue_head));
  for (u32 i = 0; i < 4; i++) mark(static_cast<u8*>(sroce_ring_at(&native_sq, i)), 128);
  for (u32 i = 0; i < 8; i++) mark(static_cast<u8*>(sroce_ring_at(&native_rq, i)), 80);
  EXPECT_EQ(0, (native_sq.elements - static_cast<u8*>(native_sq.memory->buf)) % SROCE_QUEUE_LINE);
}

TEST_F(Ring, ResetClearsWhatTheProcessWrote) {
  init_native();
  *native_sq.producer = *native_sq.consumer = 77;
  native_sq.cursor = 5;
  native_sq.head->fetched = 5;
  native_sq.head->no_doorbell = 1;
  sroce_ring_reset(&native_sq);
  EXPECT_EQ(0u, sroce_ring_pending(&native_sq));
  EXPECT_EQ(0u, *native_sq.producer);
  EXPECT_EQ(0u, *native_sq.consumer);
  EXPECT_EQ(0u, native_sq.head->fetched);
  EXPECT_EQ(0u, native_sq.head->no_doorbell);
}

TEST_F(Ring, FullCqHasNoSlotLeft) {
  ASSERT_EQ(0, sroce_ring_init(&ring, 3, 64));
  for (u32 i = 0; i < 3; i++) sroce_ring_publish(&ring);
  EXPECT_EQ(3u, *ring.producer);
  EXPECT_EQ(ring.mask, sroce_ring_unread(&ring));
  EXPECT_EQ(3u, sroce_ring_filled(&ring));
  *ring.consumer = 2;
  EXPECT_EQ(1u, sroce_ring_unread(&ring));
  sroce_ring_publish(&ring);
  EXPECT_EQ(0u, *ring.producer);
}

TEST_F(Ring, SingleQueueHasItsHeadAndSlots) {
  ASSERT_EQ(0, sroce_ring_init_single(&ring, 32, 136));
  EXPECT_EQ(32u, sroce_ring_capacity(&ring));
  EXPECT_EQ(0u, sroce_ring_offset(&ring, ring.head));
  EXPECT_EQ(sizeof(sroce_queue_head), sroce_ring_offset(&ring, ring.elements));
  memset(sroce_ring_at(&ring, 31), 1, 136);
  EXPECT_LE(sizeof(sroce_queue_head) + 32 * 136, ring.memory->bytes);
}

TEST_F(Ring, StartsWhereItIsTold) {
  ASSERT_EQ(0, sroce_ring_init(&ring, 7, 64));
  EXPECT_EQ(7u, sroce_ring_capacity(&ring));
  sroce_ring_start(&ring, 13, 18);
  EXPECT_EQ(5u, sroce_ring_pending(&ring));
  EXPECT_EQ(5u, *ring.consumer);
  EXPECT_EQ(2u, *ring.producer);
  init_native();
  sroce_ring_start(&native_rq, 13, 18);
  EXPECT_EQ(5u, sroce_ring_pending(&native_rq));
  EXPECT_EQ(13u, *native_rq.consumer);
}

}  // namespace
