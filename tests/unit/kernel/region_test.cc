// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Keys of memory regions, fast registration and invalidation: kernel/memory/region.c.
#include <gtest/gtest.h>

#include "unit/kernel/memory.h"

namespace {

constexpr u32 ALL_ACCESS = SROCE_ACCESS_LOCAL_WRITE | SROCE_ACCESS_REMOTE_WRITE |
                           SROCE_ACCESS_REMOTE_READ | SROCE_ACCESS_REMOTE_ATOMIC;

struct Region : testing::Test {
  bool opens(u32 key, const void* pd) {
    sroce_region* region = sroce_region_open(&memory.table, pd, 1, key);
    if (region) sroce_region_close(region);
    return region;
  }
  bool opens(u32 key) { return opens(key, memory.pd); }

  // A FAST region, not registered yet.
  sroce_region* add_fast() {
    sroce_region* region = memory.add(blocks, 0x1000, blocks.block_bytes, 0, 0, SROCE_REGION_FAST);
    region->pages.count = 0;
    return region;
  }
  void stage(sroce_region* region, u64 length, u32 first_offset = 0) {
    Memory::list(&region->staged, blocks, first_offset);
    region->staged_length = length;
  }
  sroce_mem_status enroll(u32 key, u64 iova = 0x5000, u32 access = ALL_ACCESS) {
    return sroce_region_register(&memory.table, memory.pd, key, iova, access);
  }
  sroce_mem_status invalidate(u32 key, bool remote = false) {
    return sroce_memory_invalidate(&memory.table, memory.pd, 1, key, remote);
  }

  Blocks blocks{2, 4096};
  Memory memory;
};

TEST_F(Region, KeyOpensItsRegionOnly) {
  stand_in.random = 0x77;
  sroce_region* a = memory.add(blocks, 0, 16, 0);
  stand_in.random = 0x3a1;
  sroce_region* b = memory.add(blocks, 0, 16, 0);
  EXPECT_EQ(0x77u, a->key & 0xff);
  EXPECT_EQ(0xa1u, b->key & 0xff);
  EXPECT_NE(a->key >> 8, b->key >> 8);
  sroce_region* opened = sroce_region_open(&memory.table, memory.pd, 1, b->key);
  EXPECT_EQ(b, opened);
  sroce_region_close(opened);
}

TEST_F(Region, KeyIsNeverZeroAndIndicesAreCyclic) {
  constexpr u32 LAST_INDEX = 0x7fffff;
  const auto add = [this] {
    const u32 key = memory.add(blocks, 0, 16, 0)->key;
    EXPECT_TRUE(opens(key));
    return (key >> 8) - memory.table.first_number;
  };
  sroce_region* first = memory.add(blocks, 0, 16, 0);
  EXPECT_EQ(0u, (first->key >> 8) - memory.table.first_number);
  memory.remove(first);
  EXPECT_EQ(1u, add());
  memory.table.next_index = LAST_INDEX;
  EXPECT_EQ(LAST_INDEX, add());
  EXPECT_EQ(0u, add());
}

TEST_F(Region, NumbersOfADeviceAreRandom) {
  sroce_memory other;
  stand_in.random = 0x12345678;
  sroce_memory_init(&other);
  EXPECT_EQ(0x345679u, other.first_number);
  stand_in.random = 0x800000;
  sroce_memory_init(&other);
  EXPECT_EQ(1u, other.first_number) << "no key is 0";
}

TEST_F(Region, WrongVariantAndWrongDomainDoNotOpen) {
  const u32 key = memory.add(blocks, 0, 16, 0)->key;
  EXPECT_TRUE(opens(key));
  EXPECT_FALSE(opens(key ^ 1));
  EXPECT_FALSE(opens(key ^ 0x100));
  EXPECT_FALSE(opens(key, memory.other_pd));
  EXPECT_EQ(1u, memory.regions[0]->refs.count);
}

TEST_F(Region, DestroyedKeyDoesNotOpen) {
  sroce_region* region = memory.add(blocks, 0, 16, 0);
  region->umem = static_cast<ib_umem*>(stand_in_alloc(1));
  const u32 key = region->key;
  memory.remove(region);
  EXPECT_FALSE(opens(key));
  EXPECT_EQ(1u, stand_in.umems_released);
}

TEST_F(Region, DestructionWaitsForOpenRegion) {
  static sroce_region* opened;
  static bool was_found;
  sroce_region* region = memory.add(blocks, 0, 16, 0);
  opened = sroce_region_open(&memory.table, memory.pd, 1, region->key);
  stand_in.argument = this;
  stand_in.waiting = [](void* argument) {
    was_found = static_cast<Region*>(argument)->opens(opened->key);
    EXPECT_EQ(0u, stand_in.umems_released);
    sroce_region_close(opened);
    opened = nullptr;
  };
  region->umem = static_cast<ib_umem*>(stand_in_alloc(1));
  memory.remove(region);
  EXPECT_EQ(nullptr, opened);
  EXPECT_FALSE(was_found);
  EXPECT_EQ(1u, stand_in.umems_released);
}

// Between its lookup and its reference, a packet loses the region to reregistration.
TEST_F(Region, ReplacedRegionIsLookedUpAgain) {
  struct Both {
    sroce_memory* table;
    sroce_region *old, *other;
  } both = {&memory.table, memory.add(blocks, 0, 16, 0),
            sroce_region_create(SROCE_REGION_USER, memory.pd)};
  both.other->key = both.old->key;
  stand_in.argument = &both;
  stand_in.loaded = [](void* argument) {
    const auto& both = *static_cast<Both*>(argument);
    xa_store(&both.table->regions, (both.old->key >> 8) - both.table->first_number, both.other, 0);
    both.old->refs.count = 0;
  };
  sroce_region* opened = sroce_region_open(&memory.table, memory.pd, 1, both.old->key);
  EXPECT_EQ(both.other, opened);
  if (opened) sroce_region_close(opened);
  both.old->key = 0;
  both.old->refs.count = 1;
  memory.regions.push_back(both.other);
}

TEST_F(Region, FailedPublicationLeavesNoKey) {
  sroce_region* region = sroce_region_create(SROCE_REGION_USER, memory.pd);
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, sroce_region_publish(&memory.table, region));
  EXPECT_EQ(0u, region->key);
  sroce_region_destroy(&memory.table, region);
}

TEST_F(Region, PageListNeedsMemory) {
  sroce_page_list list = {};
  EXPECT_EQ(0, sroce_page_list_alloc(&list, 0));
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, sroce_page_list_alloc(&list, 3));
  EXPECT_EQ(0u, list.capacity);
}

TEST_F(Region, FastRegionOpensBetweenRegistrationAndInvalidation) {
  const u32 key = add_fast()->key;
  EXPECT_FALSE(opens(key));
  stage(memory.regions[0], 100);
  EXPECT_EQ(SROCE_MEM_OK, enroll(key));
  EXPECT_TRUE(opens(key));
  EXPECT_EQ(SROCE_MEM_OK, invalidate(key));
  EXPECT_FALSE(opens(key));
  EXPECT_EQ(1u, memory.regions[0]->refs.count);
}

TEST_F(Region, RegistrationInstallsKeyRangeAndStagedPages) {
  sroce_region* region = add_fast();
  const u32 key = region->key ^ 0x55;
  stage(region, 100, 7);
  EXPECT_EQ(SROCE_MEM_OK, enroll(key, 0x7007, SROCE_ACCESS_REMOTE_READ));
  EXPECT_EQ(key, region->key);
  EXPECT_FALSE(opens(key ^ 0x55));
  EXPECT_EQ(0x7007u, region->range.iova);
  EXPECT_EQ(100u, region->range.length);
  EXPECT_EQ(SROCE_ACCESS_REMOTE_READ, region->range.access);
  EXPECT_EQ(2u, region->pages.count);
  EXPECT_EQ(7u, region->pages.first_offset);
  EXPECT_EQ(0u, region->staged.count);
}

TEST_F(Region, RegistrationWithoutNewPagesKeepsTheOldOnes) {
  sroce_region* region = add_fast();
  stage(region, 100);
  EXPECT_EQ(SROCE_MEM_OK, enroll(region->key));
  EXPECT_EQ(SROCE_MEM_OK, invalidate(region->key));
  region->staged_length = 5;
  EXPECT_EQ(SROCE_MEM_OK, enroll(region->key));
  EXPECT_EQ(2u, region->pages.count);
  EXPECT_EQ(100u, region->range.length);
}

TEST_F(Region, RegisteredRegionIsNotRegisteredAgain) {
  sroce_region* region = add_fast();
  stage(region, 100);
  EXPECT_EQ(SROCE_MEM_OK, enroll(region->key));
  stage(region, 200);
  EXPECT_EQ(SROCE_MEM_BAD_KEY, enroll(region->key ^ 1, 0x9000));
  EXPECT_EQ(0x5000u, region->range.iova);
  EXPECT_EQ(100u, region->range.length);
  EXPECT_TRUE(opens(region->key));
}

TEST_F(Region, OnlyFastRegionOfItsDomainIsRegisteredOrInvalidated) {
  const u32 user = memory.add(blocks, 0, 16, ALL_ACCESS)->key, fast = add_fast()->key;
  stage(memory.regions[1], 100);
  EXPECT_EQ(SROCE_MEM_BAD_KEY, enroll(user));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, invalidate(user));
  EXPECT_TRUE(opens(user));
  EXPECT_EQ(SROCE_MEM_BAD_KEY,
            sroce_region_register(&memory.table, memory.other_pd, fast, 0, ALL_ACCESS));
  EXPECT_EQ(SROCE_MEM_OK, enroll(fast));
  EXPECT_EQ(SROCE_MEM_BAD_KEY,
            sroce_memory_invalidate(&memory.table, memory.other_pd, 1, fast, false));
  EXPECT_TRUE(opens(fast));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, enroll(0x1100));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, invalidate(0x1100));
  for (sroce_region* region : memory.regions) EXPECT_EQ(1u, region->refs.count);
}

TEST_F(Region, InvalidationNeedsTheWholeKeyAndMayBeRepeated) {
  sroce_region* region = add_fast();
  stage(region, 100);
  EXPECT_EQ(SROCE_MEM_OK, enroll(region->key));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, invalidate(region->key ^ 1));
  EXPECT_TRUE(opens(region->key));
  EXPECT_EQ(SROCE_MEM_OK, invalidate(region->key));
  EXPECT_EQ(SROCE_MEM_OK, invalidate(region->key));
}

TEST_F(Region, PeerInvalidatesOnlyWhatItMayAccess) {
  sroce_region* region = add_fast();
  stage(region, 100);
  EXPECT_EQ(SROCE_MEM_OK, enroll(region->key, 0, SROCE_ACCESS_LOCAL_WRITE));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, invalidate(region->key, true));
  EXPECT_TRUE(opens(region->key));
  EXPECT_EQ(SROCE_MEM_OK, invalidate(region->key, false));
  for (u32 access :
       {SROCE_ACCESS_REMOTE_READ, SROCE_ACCESS_REMOTE_WRITE, SROCE_ACCESS_REMOTE_ATOMIC}) {
    EXPECT_EQ(SROCE_MEM_OK, enroll(region->key, 0, access));
    EXPECT_EQ(SROCE_MEM_OK, invalidate(region->key, true));
    EXPECT_FALSE(opens(region->key));
  }
}

// Invalidation would spin for an open region: the lock aborts the test instead.
TEST_F(Region, OpenFastRegionIsLocked) {
  sroce_region* region = add_fast();
  stage(region, 100);
  EXPECT_EQ(SROCE_MEM_OK, enroll(region->key));
  sroce_region* opened = sroce_region_open(&memory.table, memory.pd, 1, region->key);
  EXPECT_EQ(1, region->busy.readers);
  EXPECT_DEATH(invalidate(region->key), "lock->readers");
  sroce_region_close(opened);
  EXPECT_EQ(0, region->busy.readers);
}

}  // namespace
