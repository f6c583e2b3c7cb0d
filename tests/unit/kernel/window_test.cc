// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Memory windows: kernel/memory/window.c. Peers access them by kernel/memory/copy.c.
#include <gtest/gtest.h>

#include "unit/kernel/memory.h"

namespace {

constexpr u32 PARENT_ACCESS = SROCE_ACCESS_LOCAL_WRITE | SROCE_ACCESS_MW_BIND;
constexpr u32 ALL_ACCESS =
    SROCE_ACCESS_REMOTE_WRITE | SROCE_ACCESS_REMOTE_READ | SROCE_ACCESS_REMOTE_ATOMIC;
constexpr u64 IOVA = 0x10000;
constexpr u32 BLOCK = 4096, FIRST = 100;
constexpr u64 QP = 5, OTHER_QP = 6;

struct Window : testing::Test {
  Window() {
    parent = memory.add(blocks, IOVA, 2 * BLOCK + 8, PARENT_ACCESS, FIRST);
    one = memory.add_window(SROCE_REGION_WINDOW_1);
    two = memory.add_window(SROCE_REGION_WINDOW_2);
  }

  sroce_bind_mw request(const sroce_region* window, u64 addr, u64 length, u32 access = ALL_ACCESS) {
    return {.addr = addr,
            .rkey = window->key,
            .new_rkey = window->key ^ 0x55,
            .length = length,
            .lkey = parent->key,
            .access = access};
  }
  sroce_mem_status bind(const sroce_bind_mw& request, u64 qp = QP, const void* pd = nullptr) {
    return sroce_mw_bind(&memory.table, pd ? pd : memory.pd, qp, &request);
  }
  sroce_mem_status bind(const sroce_region* window, u64 addr = IOVA, u64 length = 64,
                        u32 access = ALL_ACCESS) {
    return bind(request(window, addr, length, access));
  }
  sroce_mem_status invalidate(u32 key, bool remote = false, u64 qp = QP) {
    return sroce_memory_invalidate(&memory.table, memory.pd, qp, key, remote);
  }
  sroce_mem_status write(u32 key, u64 va, std::vector<u8> bytes, u64 qp = QP) {
    const sroce_mr_range to = {
        .mem = &memory.table,
        .pd = memory.pd,
        .qp_serial = qp,
        .key = key,
        .bytes = static_cast<u32>(bytes.size()),
        .va = va,
        .access = SROCE_ACCESS_REMOTE_WRITE,
    };
    sroce_payload from = {};
    from.at = bytes.data();
    from.piece_bytes = from.left_bytes = bytes.size();
    return sroce_memory_place(&to, &from, bytes.size());
  }

  Blocks blocks{4, BLOCK};
  Memory memory;
  sroce_region *parent, *one, *two;
};

TEST_F(Window, GivesAccessToItsRangeOnly) {
  // From the last byte of the first block to the first of the third.
  const u64 start = IOVA + BLOCK - FIRST - 1;
  ASSERT_EQ(SROCE_MEM_OK, bind(two, start, BLOCK + 2));
  EXPECT_EQ(SROCE_MEM_OK, write(two->key, start, {1, 2}));
  EXPECT_EQ(1, blocks[BLOCK - 1]);
  EXPECT_EQ(2, blocks[BLOCK]);
  EXPECT_EQ(SROCE_MEM_OK, write(two->key, start + BLOCK, {3, 4}));
  EXPECT_EQ(3, blocks[2 * BLOCK - 1]);
  EXPECT_EQ(4, blocks[2 * BLOCK]);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(two->key, start - 1, {9}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(two->key, start + BLOCK + 1, {9, 9}));
}

TEST_F(Window, ZeroBasedAddressesBeginAtZero) {
  ASSERT_EQ(SROCE_MEM_OK, bind(two, IOVA + BLOCK, 8, ALL_ACCESS | SROCE_ACCESS_ZERO_BASED));
  EXPECT_EQ(SROCE_MEM_OK, write(two->key, 7, {5}));
  EXPECT_EQ(5, blocks[FIRST + BLOCK + 7]);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(two->key, 8, {9}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(two->key, IOVA + BLOCK, {9}));
}

TEST_F(Window, HasPermissionsOfItsOwn) {
  ASSERT_EQ(SROCE_MEM_OK, bind(two, IOVA, 64, SROCE_ACCESS_REMOTE_READ));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, write(two->key, IOVA, {9}));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, write(parent->key, IOVA, {9})) << "the region permits nothing";
}

TEST_F(Window, KeyIsUselessBeforeItIsBound) {
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(one->key, IOVA, {9}));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(two->key, IOVA, {9}));
}

TEST_F(Window, IsNoLocalKey) {
  ASSERT_EQ(SROCE_MEM_OK, bind(one));
  ASSERT_EQ(SROCE_MEM_OK, bind(two));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(one->key, IOVA, {9}, 0));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(two->key, IOVA, {9}, 0));
  EXPECT_EQ(SROCE_MEM_OK, write(one->key, IOVA, {9}));
}

TEST_F(Window, Type2ServesTheQpItWasBoundWith) {
  ASSERT_EQ(SROCE_MEM_OK, bind(one));
  ASSERT_EQ(SROCE_MEM_OK, bind(two));
  EXPECT_EQ(SROCE_MEM_OK, write(two->key, IOVA, {1}));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(two->key, IOVA, {9}, OTHER_QP));
  EXPECT_EQ(SROCE_MEM_OK, write(one->key, IOVA, {1}, OTHER_QP));
}

TEST_F(Window, Type1IsBoundAgainAndItsOldKeyIsUseless) {
  ASSERT_EQ(SROCE_MEM_OK, bind(one, IOVA, 64));
  const u32 old_key = one->key;
  ASSERT_EQ(SROCE_MEM_OK, bind(one, IOVA + 64, 64));
  EXPECT_EQ(old_key ^ 0x55, one->key);
  EXPECT_EQ(1u, parent->windows);
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(old_key, IOVA, {9}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(one->key, IOVA, {9}));
  EXPECT_EQ(SROCE_MEM_OK, write(one->key, IOVA + 64, {1}));
}

TEST_F(Window, Type1OfNoLengthIsUnbound) {
  ASSERT_EQ(SROCE_MEM_OK, bind(one));
  sroce_bind_mw unbind = request(one, 0, 0);
  unbind.lkey = 0;
  EXPECT_EQ(SROCE_MEM_OK, bind(unbind));
  EXPECT_EQ(unbind.new_rkey, one->key);
  EXPECT_EQ(0u, parent->windows);
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(one->key, IOVA, {9}));
  EXPECT_EQ(SROCE_MEM_OK, bind(one));
}

TEST_F(Window, Type2IsInvalidatedBeforeItIsBoundAgain) {
  ASSERT_EQ(SROCE_MEM_OK, bind(two));
  const u32 key = two->key;
  EXPECT_EQ(SROCE_MEM_BAD_KEY, bind(two, IOVA + 64));
  EXPECT_EQ(SROCE_MEM_OK, write(key, IOVA, {1})) << "still bound";
  EXPECT_EQ(SROCE_MEM_OK, invalidate(key));
  EXPECT_EQ(0u, parent->windows);
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(key, IOVA, {9}));
  EXPECT_EQ(SROCE_MEM_OK, invalidate(key)) << "peer and owner may both do it";
  EXPECT_EQ(0u, parent->windows);
  EXPECT_EQ(SROCE_MEM_OK, bind(request(two, IOVA, 64), OTHER_QP));
  EXPECT_EQ(SROCE_MEM_OK, write(two->key, IOVA, {1}, OTHER_QP));
}

TEST_F(Window, Type2IsBoundAgainByAnyKeyItHad) {
  sroce_bind_mw again = request(two, IOVA, 64);
  ASSERT_EQ(SROCE_MEM_OK, bind(again));
  EXPECT_EQ(SROCE_MEM_OK, invalidate(two->key));
  again.new_rkey ^= 0xff;
  EXPECT_EQ(SROCE_MEM_OK, bind(again));
  EXPECT_EQ(again.new_rkey, two->key);
}

TEST_F(Window, LocalWritesAreAskedForInVain) {
  ASSERT_EQ(SROCE_MEM_OK, bind(two, IOVA, 64, SROCE_ACCESS_LOCAL_WRITE | SROCE_ACCESS_OPTIONAL));
  EXPECT_EQ(0u, two->range.access);
}

TEST_F(Window, OnlyItsQpInvalidatesType2) {
  EXPECT_EQ(SROCE_MEM_BAD_KEY, invalidate(two->key)) << "never bound";
  ASSERT_EQ(SROCE_MEM_OK, bind(two));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, invalidate(two->key, false, OTHER_QP));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, invalidate(two->key ^ 1));
  EXPECT_EQ(SROCE_MEM_OK, write(two->key, IOVA, {1}));
}

TEST_F(Window, PeerInvalidatesWhatItMayAccess) {
  ASSERT_EQ(SROCE_MEM_OK, bind(two, IOVA, 64, 0));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, invalidate(two->key, true));
  EXPECT_EQ(SROCE_MEM_OK, invalidate(two->key));
  ASSERT_EQ(SROCE_MEM_OK, bind(two, IOVA, 64, SROCE_ACCESS_REMOTE_READ));
  EXPECT_EQ(SROCE_MEM_OK, invalidate(two->key, true));
}

TEST_F(Window, Type1AndRegionsAreNotInvalidated) {
  ASSERT_EQ(SROCE_MEM_OK, bind(one));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, invalidate(one->key));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, invalidate(parent->key));
  EXPECT_EQ(SROCE_MEM_OK, write(one->key, IOVA, {1}));
}

TEST_F(Window, FailedBindChangesNothing) {
  ASSERT_EQ(SROCE_MEM_OK, bind(one));
  const u32 key = one->key;
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, bind(one, IOVA - 1));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, bind(one, IOVA, 64, SROCE_ACCESS_ZERO_BASED));
  EXPECT_EQ(key, one->key);
  EXPECT_EQ(1u, parent->windows);
  EXPECT_EQ(SROCE_MEM_OK, write(key, IOVA, {1}));
}

TEST_F(Window, KeysMustNameAWindowAndARegionOfTheDomain) {
  sroce_bind_mw wrong = request(one, IOVA, 64);
  wrong.rkey ^= 1;
  EXPECT_EQ(SROCE_MEM_BAD_KEY, bind(wrong)) << "old variant";
  wrong = request(two, IOVA, 64);
  EXPECT_EQ(SROCE_MEM_BAD_KEY, bind(wrong, QP, memory.other_pd));
  wrong.new_rkey ^= 0x100;
  EXPECT_EQ(SROCE_MEM_BAD_KEY, bind(wrong)) << "the index is not the consumer's";
  wrong = request(two, IOVA, 64);
  wrong.rkey = wrong.new_rkey = parent->key;
  EXPECT_EQ(SROCE_MEM_BAD_KEY, bind(wrong)) << "a region is no window";
  wrong.rkey = wrong.new_rkey = 0;
  EXPECT_EQ(SROCE_MEM_BAD_KEY, bind(wrong));
  for (u32 lkey : {0u, parent->key ^ 1, one->key, two->key}) {
    wrong = request(two, IOVA, 64);
    wrong.lkey = lkey;
    EXPECT_EQ(SROCE_MEM_BAD_KEY, bind(wrong)) << lkey;
  }
  EXPECT_EQ(0u, parent->windows);
  parent->pd = memory.other_pd;
  EXPECT_EQ(SROCE_MEM_BAD_KEY, bind(two)) << "the region is of another domain";
  parent->pd = memory.pd;
  EXPECT_EQ(SROCE_MEM_OK, bind(two));
}

TEST_F(Window, KernelRegionsCannotBeBound) {
  sroce_region* dma = sroce_region_create(SROCE_REGION_DMA, memory.pd);
  dma->range = {0, ~0ull, ~0u};
  ASSERT_EQ(0, sroce_region_publish(&memory.table, dma));
  memory.regions.push_back(dma);
  sroce_bind_mw wrong = request(two, IOVA, 64);
  wrong.lkey = dma->key;
  EXPECT_EQ(SROCE_MEM_BAD_KEY, bind(wrong));
}

TEST_F(Window, BoundRegionIsNotDeregistered) {
  ASSERT_EQ(SROCE_MEM_OK, bind(one));
  EXPECT_EQ(-EBUSY, sroce_region_retire(parent));
  EXPECT_EQ(SROCE_MEM_OK, write(one->key, IOVA, {1}));
  memory.remove(one);
  EXPECT_EQ(0u, parent->windows);
  EXPECT_EQ(0, sroce_region_retire(parent));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, bind(two)) << "deregistration has begun";
  EXPECT_EQ(0u, parent->windows);
}

TEST_F(Window, ReferencesAreDropped) {
  bind(one);
  bind(two, IOVA - 1);
  invalidate(two->key);
  EXPECT_EQ(1u, parent->refs.count);
  EXPECT_EQ(1u, one->refs.count);
  EXPECT_EQ(1u, two->refs.count);
}

TEST_F(Window, IsNoFastRegistration) {
  EXPECT_EQ(SROCE_MEM_BAD_KEY,
            sroce_region_register(&memory.table, memory.pd, two->key, IOVA, ALL_ACCESS));
}

}  // namespace
