// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Rings shared with a process that may write anything: kernel/datapath/ring.c.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "stand_in/shmem.h"
#include "stand_in/verbs.h"

extern "C" {
#include "datapath/ring.h"
#include "uapi/sroce_abi.h"
}

namespace {

struct Ring : testing::Test {
  Ring() { stand_in = {}; }
  ~Ring() override {
    EXPECT_EQ(0u, stand_in.uncharged);
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
    slots.insert(sroce_ring_at(&ring, ring.cursor));
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

TEST_F(Ring, ElementIsCopiedFromItsOffset) {
  ASSERT_EQ(0, sroce_ring_init(&ring, 7, 64));
  ring.cursor = 3;
  for (u8 i = 0; i < 64; i++) static_cast<u8*>(sroce_ring_at(&ring, 3))[i] = i;
  u8 copy[2] = {};
  sroce_ring_copy(&ring, 40, copy, sizeof(copy));
  EXPECT_EQ(40, copy[0]);
  EXPECT_EQ(41, copy[1]);
}

TEST_F(Ring, ContiguousMemoryIsAlwaysThere) {
  ASSERT_EQ(0, sroce_ring_init(&ring, 7, 64));
  *ring.producer = 3;
  EXPECT_EQ(0, sroce_ring_add_posted(&ring));
  EXPECT_TRUE(sroce_ring_is_present(&ring));
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
  native_sq.head->needs_doorbell = 1;
  sroce_ring_reset(&native_sq);
  EXPECT_EQ(0u, sroce_ring_pending(&native_sq));
  EXPECT_EQ(0u, *native_sq.producer);
  EXPECT_EQ(0u, *native_sq.consumer);
  EXPECT_EQ(0u, native_sq.head->fetched);
  EXPECT_EQ(0u, native_sq.head->no_doorbell);
  EXPECT_EQ(0u, native_sq.head->needs_doorbell);
}

// The process may post meanwhile: it has seen the word, or its request is in the ring.
TEST_F(Ring, DoorbellIsRequiredBeforeTheRingIsRead) {
  init_native();
  stand_in.process = [](void* self) {
    EXPECT_EQ(1u, static_cast<Ring*>(self)->native_rq.head->needs_doorbell);
    stand_in.process = nullptr;
  };
  stand_in.argument = this;
  sroce_ring_require_doorbell(&native_rq);
  EXPECT_EQ(nullptr, stand_in.process) << "there is a barrier";
  native_rq.head->needs_doorbell = 0;
  sroce_queue_head* head = std::exchange(native_rq.head, nullptr);
  sroce_ring_require_doorbell(&native_rq);
  native_rq.head = head;
}

// A ring of librxe for 128 requests: 256 slots of 256 bytes behind the head.
struct SharedRing : Ring {
  SharedRing() {
    stand_in_shmem = {};
    EXPECT_EQ(0, sroce_ring_init_shmem(&ring, 128, 256));
  }
  ~SharedRing() override {
    sroce_ring_fini(&ring);
    EXPECT_EQ(0, stand_in_shmem.files);
  }
  // The process writes a byte.
  void write(size_t at, u8 value) {
    void* page = stand_in_write_page(ring.memory->file, static_cast<u32>(at / PAGE_SIZE));
    static_cast<u8*>(page)[at % PAGE_SIZE] = value;
  }
  static size_t at(u32 index) { return sizeof(rxe_queue_buf) + 256 * index; }
  // Those that the kernel has.
  std::vector<u32> pages() const {
    std::vector<u32> found;
    for (u32 i = 0; i < sroce_ring_memory_count(ring.memory); i++)
      if (ring.memory->pages[i]) found.push_back(i);
    return found;
  }
  u8 read(u32 index, u32 offset = 0) {
    u8 value = 0xff;
    ring.cursor = index;
    EXPECT_TRUE(sroce_ring_is_present(&ring));
    sroce_ring_copy(&ring, offset, &value, 1);
    return value;
  }
};

TEST_F(SharedRing, HasItsFirstPageOnly) {
  EXPECT_EQ(255u, ring.mask);
  EXPECT_EQ(nullptr, ring.elements);
  EXPECT_EQ(nullptr, ring.memory->buf);
  ASSERT_EQ(17u, sroce_ring_memory_count(ring.memory));
  EXPECT_EQ(17 * s64{PAGE_SIZE}, stand_in_shmem.bytes);
  for (u32 i = 1; i < 17; i++) EXPECT_EQ(nullptr, ring.memory->pages[i]);
  const auto* head = static_cast<rxe_queue_buf*>(stand_in_write_page(ring.memory->file, 0));
  EXPECT_EQ(head, ring.memory->pages[0]);
  EXPECT_EQ(8u, head->log2_elem_size);
  EXPECT_EQ(255u, head->index_mask);
  EXPECT_EQ(&head->producer_index, ring.producer);
  EXPECT_EQ(&head->consumer_index, ring.consumer);
}

TEST_F(SharedRing, PagesCanBeReadByAddressAtAnyTime) {
  EXPECT_TRUE(ring.memory->file->f_mapping->unevictable);
  EXPECT_EQ(GFP_KERNEL, ring.memory->file->f_mapping->gfp);
}

TEST_F(SharedRing, SmallOneIsContiguous) {
  sroce_ring_fini(&ring);
  ASSERT_EQ(0, sroce_ring_init_shmem(&ring, 15, 256));
  EXPECT_EQ(2u, sroce_ring_memory_count(ring.memory));
  EXPECT_TRUE(ring.elements);
  EXPECT_EQ(0, stand_in_shmem.files);
  sroce_ring_fini(&ring);
  ASSERT_EQ(0, sroce_ring_init_shmem(&ring, 16, 256));
  EXPECT_EQ(3u, sroce_ring_memory_count(ring.memory));
  EXPECT_EQ(1, stand_in_shmem.files);
}

TEST_F(SharedRing, ElementMayLieInTwoPages) {
  static_assert(PAGE_SIZE - 128 == sizeof(rxe_queue_buf) + 14 * 256);
  for (u32 i = 0; i < 256; i++) write(at(14) + i, static_cast<u8>(i));
  ring.cursor = 14;
  *ring.producer = 15;
  EXPECT_EQ(0, sroce_ring_add_posted(&ring));
  ASSERT_TRUE(sroce_ring_is_present(&ring));
  u8 copy[256];
  sroce_ring_copy(&ring, 0, copy, sizeof(copy));
  for (u32 i = 0; i < 256; i++) ASSERT_EQ(i, copy[i]);
  sroce_ring_copy(&ring, 100, copy, 56);
  for (u32 i = 0; i < 56; i++) ASSERT_EQ(100 + i, copy[i]);
  EXPECT_EQ(56, copy[56]) << "no byte more";
}

TEST_F(SharedRing, LastElementIsInside) {
  write(at(255) + 255, 9);
  sroce_ring_memory_add(ring.memory, 15, 2);
  EXPECT_EQ(9, read(255, 255));
  EXPECT_EQ(9, read(511, 255)) << "indices are masked";
}

TEST_F(SharedRing, PresentOnceTheDoorbellHasGotIt) {
  write(at(100), 7);
  ring.cursor = 100;
  EXPECT_FALSE(sroce_ring_is_present(&ring));
  *ring.producer = 101;
  EXPECT_EQ(0, sroce_ring_add_posted(&ring));
  EXPECT_TRUE(sroce_ring_is_present(&ring));
  EXPECT_EQ(7, read(100));
}

TEST_F(SharedRing, BothPagesMustBePresent) {
  ring.cursor = 14;
  EXPECT_FALSE(sroce_ring_is_present(&ring)) << "its first page has the indices, too";
  sroce_ring_memory_add(ring.memory, 1, 1);
  EXPECT_TRUE(sroce_ring_is_present(&ring));
  ring.cursor = 46;
  sroce_ring_memory_add(ring.memory, 3, 1);
  EXPECT_FALSE(sroce_ring_is_present(&ring)) << "its second page is there";
  sroce_ring_fini(&ring);
  ASSERT_EQ(0, sroce_ring_init_shmem(&ring, 256, 64));
  ring.cursor = (PAGE_SIZE - sizeof(rxe_queue_buf)) / 64 - 1;
  EXPECT_TRUE(sroce_ring_is_present(&ring)) << "it ends with the page";
}

TEST_F(SharedRing, PagesOfWhatIsPostedAreAdded) {
  *ring.producer = 40;
  EXPECT_EQ(0, sroce_ring_add_posted(&ring));
  EXPECT_EQ((std::vector<u32>{0, 1, 2}), pages());
  ring.cursor = 40;
  *ring.producer = 40;
  EXPECT_EQ(0, sroce_ring_add_posted(&ring));
  EXPECT_EQ(3u, pages().size()) << "nothing is posted";
  ring.cursor = *ring.producer = 62;
  *ring.producer = 63;
  EXPECT_EQ(0, sroce_ring_add_posted(&ring));
  EXPECT_EQ((std::vector<u32>{0, 1, 2, 3, 4}), pages()) << "one request in two pages";
}

TEST_F(SharedRing, NoPageIsAddedBehindWhatIsPosted) {
  ring.cursor = *ring.producer = 100;
  EXPECT_EQ(0, sroce_ring_add_posted(&ring));
  EXPECT_EQ((std::vector<u32>{0}), pages()) << "nothing is posted";
  sroce_ring_fini(&ring);
  ASSERT_EQ(0, sroce_ring_init_shmem(&ring, 256, 64));
  *ring.producer = (PAGE_SIZE - sizeof(rxe_queue_buf)) / 64;
  EXPECT_EQ(0, sroce_ring_add_posted(&ring));
  EXPECT_EQ((std::vector<u32>{0}), pages()) << "the last request ends with the page";
}

TEST_F(SharedRing, PagesOfWhatIsPostedAreAddedAroundTheEnd) {
  ring.cursor = 250;
  *ring.producer = 20;
  EXPECT_EQ(0, sroce_ring_add_posted(&ring));
  EXPECT_EQ((std::vector<u32>{0, 1, 15, 16}), pages());
  *ring.producer = 0xdeadbeef;
  EXPECT_EQ(0, sroce_ring_add_posted(&ring)) << "a wild index";
}

TEST_F(SharedRing, PagesOfWhatIsPostedMayBeMissing) {
  *ring.producer = 40;
  stand_in.fail_allocation = 2;
  EXPECT_EQ(-ENOMEM, sroce_ring_add_posted(&ring));
  EXPECT_EQ((std::vector<u32>{0, 1}), pages());
  ring.cursor = 250;
  *ring.producer = 45;  // its last page is behind the end of the ring
  sroce_ring_memory_add(ring.memory, 15, 2);
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, sroce_ring_add_posted(&ring));
  EXPECT_EQ(0, sroce_ring_add_posted(&ring));
  EXPECT_EQ((std::vector<u32>{0, 1, 2, 15, 16}), pages());
}

TEST_F(SharedRing, NothingIsMissingAfterALap) {
  for (u32 i = 0; i < 256; i++) {
    EXPECT_NE(0, atomic_read(&ring.memory->missing));
    ring.cursor = i;
    *ring.producer = (i + 1) & 255;
    EXPECT_EQ(0, sroce_ring_add_posted(&ring));
    if (i >= 254) break;  // the first element that ends in the last page
  }
  EXPECT_EQ(0, atomic_read(&ring.memory->missing));
  EXPECT_EQ(17u, pages().size());
}

// Another doorbell is faster.
TEST_F(SharedRing, PageThatTwoGetHasOneReference) {
  static SharedRing* test;
  test = this;
  stand_in_shmem.reading = [] {
    stand_in_shmem.reading = nullptr;
    EXPECT_TRUE(sroce_ring_memory_page(test->ring.memory, 6, GFP_KERNEL));
  };
  EXPECT_EQ(sroce_ring_memory_page(ring.memory, 6, GFP_KERNEL), ring.memory->pages[6]);
  EXPECT_EQ(1u, ring.memory->file->f_mapping->refs[6]);
}

TEST_F(SharedRing, PageThatTwoAddIsOne) {
  void* page = sroce_ring_memory_page(ring.memory, 5, GFP_KERNEL);
  ASSERT_TRUE(page);
  EXPECT_EQ(page, sroce_ring_memory_page(ring.memory, 5, GFP_KERNEL));
  EXPECT_EQ(1u, ring.memory->file->f_mapping->refs[5]);
}

TEST_F(SharedRing, PageThatTheProcessRemovesStaysTheKernels) {
  write(at(100), 7);
  sroce_ring_memory_add(ring.memory, at(100) / PAGE_SIZE, 1);
  EXPECT_EQ(7, read(100));
  stand_in_remove_page(ring.memory->file, at(100) / PAGE_SIZE);
  write(at(100), 8);
  EXPECT_EQ(7, read(100)) << "and is freed with the ring, as the sanitizer checks";
}

TEST_F(SharedRing, ResetClearsTheIndices) {
  *ring.producer = 5;
  EXPECT_EQ(5u, sroce_ring_pending(&ring));
  sroce_ring_reset(&ring);
  EXPECT_EQ(0u, *ring.producer);
}

TEST_F(SharedRing, EveryAllocationMayFail) {
  u32 n = 0;
  do {
    sroce_ring_fini(&ring);
    stand_in.fail_allocation = ++n;
  } while (sroce_ring_init_shmem(&ring, 128, 256) == -ENOMEM && !ring.memory);
  EXPECT_EQ(4u, n - 1) << "the object, the list, the file and its first page";
  stand_in.fail_allocation = 0;
  sroce_ring_fini(&ring);
  EXPECT_EQ(-EINVAL, sroce_ring_init_shmem(&ring, U32_MAX, 64));
  EXPECT_EQ(-EINVAL, sroce_ring_init_shmem(&ring, 16, PAGE_SIZE + 1)) << "in three pages";
}

TEST_F(Ring, FullCqHasNoSlotLeft) {
  ASSERT_EQ(0, sroce_ring_init_cq(&ring, 3, 64, true));
  for (u32 i = 0; i < 3; i++) sroce_ring_publish(&ring);
  EXPECT_EQ(3u, *ring.producer);
  EXPECT_EQ(ring.mask, sroce_ring_unread(&ring));
  EXPECT_EQ(3u, sroce_ring_filled(&ring));
  *ring.consumer = 2;
  EXPECT_EQ(1u, sroce_ring_unread(&ring));
  sroce_ring_publish(&ring);
  EXPECT_EQ(0u, *ring.producer);
}

TEST_F(Ring, CqHasTheLayoutOfAContiguousRing) {
  ASSERT_EQ(0, sroce_ring_init_cq(&ring, 100, 60, true));
  EXPECT_EQ(127u, ring.mask);
  EXPECT_EQ(3u, sroce_ring_memory_count(ring.memory)) << "the head, and 128 entries of 64 bytes";
  const auto* buf = static_cast<const rxe_queue_buf*>(ring.memory->pages[0]);
  EXPECT_EQ(6u, buf->log2_elem_size);
  EXPECT_EQ(127u, buf->index_mask);
  for (u32 index : {0u, 61u, 62u, 63u, 127u, 128u, U32_MAX}) {
    const size_t offset = sizeof(*buf) + 64 * (index & 127);
    EXPECT_EQ(static_cast<u8*>(ring.memory->pages[offset / PAGE_SIZE]) + offset % PAGE_SIZE,
              sroce_ring_entry(&ring, index));
  }
  ring.cursor = 63;
  EXPECT_EQ(sroce_ring_entry(&ring, 63), sroce_ring_next_entry(&ring));
  EXPECT_FALSE(sroce_ring_wants_pages(&ring));
}

TEST_F(Ring, OnlyALargeCqOfAProcessGrows) {
  constexpr u32 largest = 8191, pages = (8192 * 64 + PAGE_SIZE) / PAGE_SIZE;
  ASSERT_EQ(0, sroce_ring_init_cq(&ring, largest, 64, true));
  EXPECT_FALSE(ring.memory->grows);
  ASSERT_EQ(pages, sroce_ring_memory_count(ring.memory));
  EXPECT_TRUE(ring.memory->pages[pages - 1]);
  sroce_ring_fini(&ring);
  ASSERT_EQ(0, sroce_ring_init_cq(&ring, 2 * largest, 64, true));
  EXPECT_TRUE(ring.memory->grows);
  EXPECT_EQ(nullptr, ring.memory->pages[pages - 1]);
  EXPECT_EQ(nullptr, sroce_ring_entry(&ring, largest)) << "wrong indices find nothing";
  sroce_ring_fini(&ring);
  ASSERT_EQ(0, sroce_ring_init_cq(&ring, 2 * largest, 64, false));
  EXPECT_TRUE(ring.memory->pages[2 * pages - 2]);
}

TEST_F(Ring, PageThatTwoAddIsOne) {
  ASSERT_EQ(0, sroce_ring_init_cq(&ring, 1 << 15, 64, true));
  void* page = sroce_ring_memory_page(ring.memory, 300, GFP_KERNEL);
  ASSERT_TRUE(page);
  EXPECT_EQ(page, sroce_ring_memory_page(ring.memory, 300, GFP_KERNEL));
}

TEST_F(Ring, EveryAllocationOfACqMayFail) {
  for (u32 entries : {1000u, 20000u}) {
    u32 n = 0;
    do {
      sroce_ring_fini(&ring);
      stand_in.fail_allocation = ++n;
    } while (sroce_ring_init_cq(&ring, entries, 64, true) == -ENOMEM && !ring.memory);
    EXPECT_EQ(2u + 17, n - 1) << "the list and its pages";
    stand_in.fail_allocation = 0;
  }
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
