// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Large pages that each CPU keeps for GSO batches: kernel/net/batch_pages.c.
#include <gtest/gtest.h>

#include "stand_in/pages.h"

extern "C" {
#include "net/batch_pages.h"
}

#include <set>

namespace {

constexpr u32 PAGES = 8;
constexpr unsigned long TEN_SECONDS = 10 * HZ, A_TENTH = HZ / 10;

struct BatchPages : testing::Test {
  BatchPages() {
    stand_in = {};
    stand_in_pages = {};
    static unsigned long now = INITIAL_JIFFIES;
    stand_in.ticks = now;
    now += TEN_SECONDS;  // a pause of an earlier test has ended
    stand_in_delayed = nullptr;
    stand_in_on_cpu1 = false;
  }
  ~BatchPages() override {
    stand_in = {};
    while (!taken.empty()) release(*taken.begin());
    sroce_batch_pages_fini();
    EXPECT_EQ(0, stand_in_pages.live);
  }
  void* get() {
    void* memory = sroce_batch_page_get();
    if (memory) taken.insert(memory);
    return memory;
  }
  // As the stack does with the fragment of an skb.
  void release(void* memory) {
    ASSERT_TRUE(taken.contains(memory));
    taken.erase(taken.find(memory));
    put_page(virt_to_head_page(memory));
  }
  static bool will_be_emptied() { return stand_in_delayed && stand_in_delayed->queued; }
  // The kernel clears the pending bit first.
  static void empty() {
    ASSERT_TRUE(will_be_emptied());
    stand_in_delayed->queued = false;
    stand_in_delayed->function(stand_in_delayed);
  }

  std::multiset<void*> taken;
};

// The first test, because the others leave a time there.
TEST_F(BatchPages, FirstAllocationsAfterBootAreNotPaused) {
  EXPECT_NE(nullptr, get());
  stand_in_on_cpu1 = true;
  EXPECT_NE(nullptr, get());
}

TEST_F(BatchPages, PageIsAsLongAsABatch) {
  void* memory = get();
  ASSERT_NE(nullptr, memory);
  memset(memory, 1, SROCE_CACHED_PAGE_BYTES);
  EXPECT_EQ(16u * PAGE_SIZE, PAGE_SIZE << stand_in_pages.order);
  EXPECT_EQ(2, virt_to_head_page(memory)->refs) << "the cache's and the caller's";
}

TEST_F(BatchPages, FirstFreePageIsUsedAgain) {
  void *first = get(), *second = get(), *third = get();
  EXPECT_EQ(3u, (std::set<void*>{first, second, third}).size());
  release(third);
  release(first);
  EXPECT_EQ(first, get());
  EXPECT_EQ(third, get());
  EXPECT_EQ(3u, stand_in_pages.allocations);
}

TEST_F(BatchPages, PageInUseIsNobodyElses) {
  void* memory = get();
  get_page(virt_to_head_page(memory));  // a clone of the skb
  release(memory);
  EXPECT_NE(memory, get());
  put_page(virt_to_head_page(memory));
  EXPECT_EQ(memory, get());
}

TEST_F(BatchPages, KeepsEightPages) {
  for (u32 i = 0; i < PAGES; i++) EXPECT_NE(nullptr, get());
  EXPECT_EQ(nullptr, get());
  EXPECT_EQ(PAGES, stand_in_pages.allocations);
  void* last = *taken.rbegin();
  release(last);
  EXPECT_EQ(last, get());
}

// The allocator is slow where it fails, and each batch would ask it.
TEST_F(BatchPages, FailedAllocationPausesTheNext) {
  stand_in.fail_allocation = 1;
  EXPECT_EQ(nullptr, get());
  EXPECT_EQ(nullptr, get());
  stand_in.ticks += A_TENTH - 1;
  EXPECT_EQ(nullptr, get());
  EXPECT_EQ(1u, stand_in_pages.allocations);
  stand_in.ticks++;
  EXPECT_NE(nullptr, get());
  EXPECT_NE(nullptr, get()) << "success ends it";
}

TEST_F(BatchPages, PauseConcernsOnlyAllocations) {
  void* memory = get();
  stand_in.fail_allocation = 1;
  EXPECT_EQ(nullptr, get());
  release(memory);
  EXPECT_EQ(memory, get());
}

TEST_F(BatchPages, EmptiedTenSecondsAfterItsFirstUse) {
  release(get());
  ASSERT_TRUE(will_be_emptied());
  EXPECT_EQ(TEN_SECONDS, stand_in_pages.delay);
  EXPECT_EQ(1, stand_in_pages.live);
  empty();
  EXPECT_EQ(0, stand_in_pages.live);
  EXPECT_FALSE(will_be_emptied()) << "an idle system does nothing";
  EXPECT_NE(nullptr, get());
  EXPECT_TRUE(will_be_emptied());
}

TEST_F(BatchPages, UseDoesNotPutItOff) {
  release(get());
  stand_in_pages.delay = 0;
  release(get());
  EXPECT_EQ(0u, stand_in_pages.delay);
}

TEST_F(BatchPages, PageInUseIsFreedByItsLastUser) {
  void* memory = get();
  empty();
  EXPECT_EQ(1, stand_in_pages.live);
  memset(memory, 2, SROCE_CACHED_PAGE_BYTES);
  release(memory);
  EXPECT_EQ(0, stand_in_pages.live);
}

TEST_F(BatchPages, EachCpuHasItsOwn) {
  void* memory = get();
  stand_in_on_cpu1 = true;
  void* other = get();
  ASSERT_NE(nullptr, other);
  release(memory);
  EXPECT_NE(memory, get());
  EXPECT_EQ(3, stand_in_pages.live);
  while (!taken.empty()) release(*taken.begin());
  empty();
  EXPECT_EQ(0, stand_in_pages.live) << "those of all CPUs";
}

// Another CPU empties the caches while this one looks at the page of a slot.
TEST_F(BatchPages, PageLookedAtWhileTheCachesAreEmptied) {
  void* memory = get();
  void* other = get();
  release(memory);
  release(other);
  stand_in_pages.counting = empty;
  EXPECT_EQ(memory, get());
  EXPECT_EQ(1, stand_in_pages.live) << "only what was in its slot has gone";
  EXPECT_EQ(2, virt_to_head_page(memory)->refs);
  release(memory);
  EXPECT_TRUE(will_be_emptied()) << "or an idle CPU keeps it for ever";
  empty();
  EXPECT_EQ(0, stand_in_pages.live);
}

TEST_F(BatchPages, PageInUseLookedAtWhileTheCachesAreEmptied) {
  for (u32 i = 0; i < PAGES; i++) get();
  stand_in_pages.counting = empty;
  EXPECT_NE(nullptr, get()) << "the second slot is empty now";
  EXPECT_TRUE(will_be_emptied());
  while (!taken.empty()) release(*taken.begin());
  EXPECT_EQ(2, stand_in_pages.live);
}

// The work begins as soon as it was found pending, while the store of the page is under way.
TEST_F(BatchPages, PageIsInItsSlotBeforeTheWorkIsFoundPending) {
  release(get());
  stand_in_pages.delays_stores = true;
  stand_in_pages.looked = empty;
  void* memory = get();
  ASSERT_EQ(nullptr, stand_in_pages.looked);
  stand_in_see_stores();
  EXPECT_EQ(1, virt_to_head_page(memory)->refs) << "or nothing empties its slot";
  release(memory);
  EXPECT_EQ(0, stand_in_pages.live);
}

TEST_F(BatchPages, EndStopsTheWork) {
  void* memory = get();
  sroce_batch_pages_fini();
  EXPECT_FALSE(will_be_emptied());
  EXPECT_EQ(1, stand_in_pages.live);
  release(memory);
  EXPECT_EQ(0, stand_in_pages.live);
}

}  // namespace
