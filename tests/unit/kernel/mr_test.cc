// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Registering memory regions: kernel/verbs/mr.c. Peers and processes access them by
// kernel/memory/copy.c.
#include <gtest/gtest.h>

#include "stand_in/odp.h"
#include "stand_in/umem.h"
#include "unit/kernel/memory.h"

extern "C" {
#include "datapath/device.h"
#include "memory/odp.h"
#include "verbs/verbs.h"
}

namespace {

constexpr int ALL_ACCESS = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
                           IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND;
constexpr u64 START = 0x7f0000000000;
constexpr u64 VA = 0x123000;

struct Mr : testing::Test {
  Mr() {
    stand_in = {};
    stand_in_umem = {};
    sroce_memory_init(&dev.memory);
    pd.device = &dev.ibdev;
  }
  ~Mr() override {
    sroce_memory_fini(&dev.memory);  // warns of regions that are left
    EXPECT_EQ(stand_in_umem.pinned, stand_in.umems_released);
    EXPECT_EQ(0u, stand_in.uncharged);
    stand_in = {};
  }

  // Fields that ib_core sets in a new region.
  ib_mr* take(ib_mr* mr) {
    error = IS_ERR(mr) ? PTR_ERR(mr) : 0;
    if (error) return nullptr;
    mr->device = pd.device;
    mr->pd = &pd;
    return mr;
  }
  ib_mr* reg_user(u64 start, u64 length, u64 va, int access = ALL_ACCESS) {
    return take(sroce_reg_user_mr(&pd, start, length, va, access, nullptr, nullptr));
  }
  ib_mr* alloc(u32 pages, ib_mr_type type = IB_MR_TYPE_MEM_REG) {
    return take(sroce_alloc_mr(&pd, type, pages));
  }
  static void dereg(ib_mr* mr) { EXPECT_EQ(0, sroce_dereg_mr(mr, nullptr)); }

  void pages_are(std::vector<void*> addresses) {
    pages.clear();
    for (void* address : addresses) pages.push_back(reinterpret_cast<u64>(address));
    stand_in_umem.pages = pages.data();
  }
  sroce_mem_status write(u32 rkey, u64 va, const std::vector<u8>& bytes) {
    return place(rkey, va, bytes, SROCE_ACCESS_REMOTE_WRITE);
  }
  sroce_mem_status place(u32 key, u64 va, const std::vector<u8>& bytes, u32 access) {
    const sroce_mr_range to = {&dev.memory, &pd, 1, key, u32(bytes.size()), va, access};
    sroce_payload from = {};
    from.at = bytes.data();
    from.piece_bytes = from.left_bytes = bytes.size();
    return sroce_memory_place(&to, &from, bytes.size());
  }
  sroce_mem_status read(u32 rkey, u64 va, u32 bytes) {
    std::vector<u8> to(bytes);
    sroce_mr_ref mr_ref;
    sroce_crc_writer writer = {};
    writer.to = to.data();
    sroce_mr_ref_init(&mr_ref, &dev.memory, &pd, 1);
    const sroce_mem_status status = sroce_memory_fetch(&mr_ref, rkey, va, &writer, bytes);
    sroce_mr_ref_put(&mr_ref);
    return status;
  }
  sroce_mem_status enroll(const ib_mr* mr, u64 iova, int access = ALL_ACCESS) {
    return sroce_region_register(&dev.memory, &pd, mr->rkey, iova, access);
  }
  int map(ib_mr* mr, std::vector<scatterlist> list, unsigned int offset = 0) {
    return sroce_map_mr_sg(mr, list.data(), list.size(), &offset);
  }
  static scatterlist entry(const void* address, u32 length) {
    return {reinterpret_cast<u64>(address), length};
  }

  sroce_device dev = {};
  ib_pd pd = {};
  std::vector<u64> pages;
  int error = 0;
};

// Pages that are not adjacent.
struct ScatteredMr : Mr {
  ScatteredMr() {
    pages_are({blocks.blocks[2].get(), blocks.blocks[0].get(), blocks.blocks[1].get()});
  }
  Blocks blocks{3, PAGE_SIZE};
};

TEST_F(ScatteredMr, AddressInRequestsIsIndependentOfTheProcess) {
  ib_mr* mr = reg_user(START + 100, 2 * PAGE_SIZE, VA + 8);
  ASSERT_NE(nullptr, mr);
  EXPECT_EQ(START + 100, stand_in_umem.address);
  EXPECT_EQ(2 * PAGE_SIZE, stand_in_umem.length);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 8, {1, 2, 3}));
  EXPECT_EQ(1, blocks[2 * PAGE_SIZE + 100]);
  EXPECT_EQ(3, blocks[2 * PAGE_SIZE + 102]);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 8 + PAGE_SIZE - 101, {4, 5}));
  EXPECT_EQ(4, blocks[3 * PAGE_SIZE - 1]) << "end of the first page";
  EXPECT_EQ(5, blocks[0]) << "start of the second";
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 8 + 2 * PAGE_SIZE - 1, {6}));
  EXPECT_EQ(6, blocks[PAGE_SIZE + 99]) << "last byte";
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(mr->rkey, VA + 8 + 2 * PAGE_SIZE - 1, {7, 7}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(mr->rkey, VA + 7, {7}));
  dereg(mr);
}

TEST_F(ScatteredMr, StaysWhileAWindowIsBoundToIt) {
  ib_mr* mr = reg_user(START, 16, VA);
  sroce_region* region = sroce_region_open(&dev.memory, &pd, 1, mr->lkey);
  sroce_region_close(region);
  region->windows = 1;
  EXPECT_EQ(-EBUSY, sroce_dereg_mr(mr, nullptr));
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA, {1}));
  region->windows = 0;
  dereg(mr);
}

TEST_F(ScatteredMr, BothKeysNameTheRegionInItsDomainUntilItIsDeregistered) {
  ib_mr* mr = reg_user(START, 16, VA);
  const u32 key = mr->lkey;
  EXPECT_EQ(key, mr->rkey);
  EXPECT_NE(0u, key);
  EXPECT_EQ(SROCE_MEM_OK, write(key, VA, {1}));
  ib_pd other = pd;
  EXPECT_EQ(nullptr, sroce_region_open(&dev.memory, &other, 1, key));
  dereg(mr);
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(key, VA, {2}));
  EXPECT_EQ(1u, stand_in.umems_released);
  EXPECT_EQ(1, blocks[2 * PAGE_SIZE]);
}

TEST_F(ScatteredMr, EachAccessHasItsFlag) {
  for (int access : {0, int{IB_ACCESS_LOCAL_WRITE}, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
                     int{IB_ACCESS_REMOTE_READ}, int{IB_ACCESS_OPTIONAL}}) {
    ib_mr* mr = reg_user(START, 16, VA, access);
    ASSERT_NE(nullptr, mr) << access;
    const auto expected = [&](int flag) {
      return access & flag ? SROCE_MEM_OK : SROCE_MEM_BAD_ACCESS;
    };
    EXPECT_EQ(access, stand_in_umem.access)
        << "so that the pages of a read-only region are not written to";
    EXPECT_EQ(expected(IB_ACCESS_LOCAL_WRITE), place(mr->lkey, VA, {1}, SROCE_ACCESS_LOCAL_WRITE));
    EXPECT_EQ(expected(IB_ACCESS_REMOTE_WRITE), write(mr->rkey, VA, {1})) << access;
    EXPECT_EQ(expected(IB_ACCESS_REMOTE_READ), read(mr->rkey, VA, 1)) << access;
    dereg(mr);
  }
}

TEST_F(ScatteredMr, UnsupportedAccessIsRejectedBeforePinning) {
  for (int access : {1 << 5, 1 << 7, 1 << 10, 1 << 19, 1 << 30}) {
    EXPECT_EQ(nullptr, reg_user(START, 16, VA, IB_ACCESS_LOCAL_WRITE | access));
    EXPECT_EQ(-EOPNOTSUPP, error) << access;
  }
  auto* dmah = reinterpret_cast<ib_dmah*>(&pd);
  take(sroce_reg_user_mr(&pd, START, 16, VA, ALL_ACCESS, dmah, nullptr));
  EXPECT_EQ(-EOPNOTSUPP, error);
  EXPECT_EQ(0u, stand_in_umem.pinned);
}

TEST_F(ScatteredMr, AddressesDoNotWrap) {
  ib_mr* mr = reg_user(START, 100, U64_MAX - 99);
  ASSERT_NE(nullptr, mr) << "the last byte is the last address";
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, U64_MAX, {1}));
  EXPECT_EQ(1, blocks[2 * PAGE_SIZE + 99]);
  dereg(mr);
  EXPECT_EQ(nullptr, reg_user(START, 101, U64_MAX - 99));
  EXPECT_EQ(-EINVAL, error);
  EXPECT_EQ(nullptr, reg_user(START, U64_MAX, VA));
  EXPECT_EQ(-EINVAL, error);
  EXPECT_EQ(1u, stand_in_umem.pinned);
}

TEST_F(ScatteredMr, EmptyRegionPinsNothing) {
  ib_mr* mr = reg_user(0, 0, U64_MAX);
  ASSERT_NE(nullptr, mr);
  EXPECT_EQ(0u, stand_in_umem.pinned);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, U64_MAX, {}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(mr->rkey, U64_MAX, {1}));
  dereg(mr);
}

TEST_F(ScatteredMr, MemoryThatCannotBePinnedIsAnError) {
  stand_in_umem.error = -EFAULT;
  EXPECT_EQ(nullptr, reg_user(START, 16, VA));
  EXPECT_EQ(-EFAULT, error);
}

// The destructor finds what is left over.
TEST_F(ScatteredMr, EveryAllocationMayFail) {
  u32 failures = 0;
  ib_mr* mr;
  for (u32 n = 1;; n++) {
    stand_in.fail_allocation = n;
    mr = reg_user(START, 3 * PAGE_SIZE, VA);
    if (mr) break;
    EXPECT_EQ(-ENOMEM, error) << n;
    failures++;
  }
  EXPECT_LE(5u, failures) << "the region twice, its memory, its pages, its key";
  stand_in.fail_allocation = 0;
  dereg(mr);
}

TEST_F(ScatteredMr, DeregistrationWaitsForCopies) {
  ib_mr* mr = reg_user(START, 16, VA);
  sroce_region* copied = sroce_region_open(&dev.memory, &pd, 1, mr->lkey);
  stand_in.argument = copied;
  stand_in.waiting = [](void* region) {
    EXPECT_EQ(0u, stand_in.umems_released);
    sroce_region_close(static_cast<sroce_region*>(region));
  };
  dereg(mr);
  EXPECT_EQ(1u, stand_in.umems_released);
}

// A region that is changed. Each memory is a page of @blocks.
struct ChangedMr : Mr {
  ChangedMr() {
    other_pd.device = &dev.ibdev;
    memory_is(0);
    mr = reg_user(START, PAGE_SIZE, VA);
    key = mr->rkey;
  }
  ~ChangedMr() override { dereg(mr); }
  void memory_is(u32 block) { pages_are({blocks.blocks[block].get()}); }
  // The call, and the rest of ib_core's.
  int rereg(int flags, u64 start, u64 length, u64 va, int access, ib_pd* to) {
    ib_mr* changed = sroce_rereg_user_mr(mr, flags, start, length, va, access, to, nullptr);
    if (IS_ERR(changed)) return PTR_ERR(changed);
    EXPECT_EQ(nullptr, changed);
    mr->pd = to;
    EXPECT_EQ(key, mr->rkey);
    EXPECT_EQ(key, mr->lkey);
    return 0;
  }
  int move(u64 start, u64 length, u64 va) {
    return rereg(IB_MR_REREG_TRANS, start, length, va, 0, &pd);
  }
  int permit(int access) { return rereg(IB_MR_REREG_ACCESS, 0, 0, 0, access, &pd); }
  bool is_as_before() {
    return write(key, VA + 5, {++value}) == SROCE_MEM_OK && blocks[5] == value;
  }

  Blocks blocks{3, PAGE_SIZE};
  ib_pd other_pd = {};
  ib_mr* mr;
  u32 key;
  u8 value = 0;
};

TEST_F(ChangedMr, StaysWhileAWindowIsBoundToIt) {
  sroce_region* region = sroce_region_open(&dev.memory, &pd, 1, key);
  sroce_region_close(region);
  region->windows = 1;
  EXPECT_EQ(-EBUSY, permit(IB_ACCESS_REMOTE_READ));
  EXPECT_TRUE(is_as_before());
  region->windows = 0;
  EXPECT_EQ(0, permit(IB_ACCESS_REMOTE_READ));
}

TEST_F(ChangedMr, TranslationChangesMemoryAndAddress) {
  memory_is(1);
  ASSERT_EQ(0, move(START + PAGE_SIZE, 100, 2 * VA));
  EXPECT_EQ(START + PAGE_SIZE, stand_in_umem.address);
  EXPECT_EQ(ALL_ACCESS, stand_in_umem.access) << "the access stays";
  EXPECT_EQ(SROCE_MEM_OK, write(key, 2 * VA, {7}));
  EXPECT_EQ(7, blocks[PAGE_SIZE]);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(key, VA, {7}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(key, 2 * VA + 100, {7}));
  EXPECT_EQ(1u, stand_in.umems_released) << "the memory it was";
}

TEST_F(ChangedMr, DomainChangesAlone) {
  ASSERT_EQ(0, rereg(IB_MR_REREG_PD, 0, 0, 0, 0, &other_pd));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(key, VA, {7}));
  EXPECT_EQ(1u, stand_in_umem.pinned);
  EXPECT_EQ(0u, stand_in.umems_released);
  ASSERT_EQ(0, rereg(IB_MR_REREG_PD, 0, 0, 0, 0, &pd));
  EXPECT_TRUE(is_as_before());
}

TEST_F(ChangedMr, AccessChangesAlone) {
  ASSERT_EQ(0, permit(IB_ACCESS_REMOTE_READ));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, write(key, VA, {7}));
  EXPECT_EQ(SROCE_MEM_OK, read(key, VA, PAGE_SIZE));
  ASSERT_EQ(0, permit(ALL_ACCESS | IB_ACCESS_OPTIONAL));
  EXPECT_TRUE(is_as_before());
  EXPECT_EQ(1u, stand_in_umem.pinned) << "it was pinned for writing";
}

TEST_F(ChangedMr, AllChangesAtOnce) {
  memory_is(2);
  ASSERT_EQ(0, rereg(IB_MR_REREG_TRANS | IB_MR_REREG_PD | IB_MR_REREG_ACCESS, START, 10, VA,
                     IB_ACCESS_REMOTE_READ, &other_pd));
  EXPECT_EQ(int{IB_ACCESS_REMOTE_READ}, stand_in_umem.access);
  EXPECT_EQ(SROCE_MEM_BAD_KEY, read(key, VA, 10));
  ASSERT_EQ(0, rereg(IB_MR_REREG_PD, 0, 0, 0, 0, &pd));
  EXPECT_EQ(SROCE_MEM_OK, read(key, VA, 10));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, read(key, VA, 11));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, write(key, VA, {7}));
}

TEST_F(ChangedMr, FailureChangesNothing) {
  EXPECT_EQ(-EINVAL, move(START, 100, U64_MAX - 98));
  EXPECT_EQ(-EOPNOTSUPP, permit(1 << 5));
  stand_in_umem.error = -EFAULT;
  EXPECT_EQ(-EFAULT, move(START, 100, VA));
  stand_in_umem.error = 0;
  EXPECT_TRUE(is_as_before());
  EXPECT_EQ(1u, stand_in_umem.pinned);
}

TEST_F(ChangedMr, EveryAllocationMayFail) {
  u32 n = 0;
  int err;
  do {
    stand_in.fail_allocation = ++n;
    err = move(START, PAGE_SIZE, VA);
    if (err) {
      EXPECT_EQ(-ENOMEM, err);
      EXPECT_TRUE(is_as_before());
    }
  } while (err);
  EXPECT_EQ(4u, n) << "the region, its memory and its pages";
  stand_in.fail_allocation = 0;
}

TEST_F(ChangedMr, MemoryIsPinnedAgainToPermitWriting) {
  ib_mr* read_only = reg_user(START + 8, 16, VA, IB_ACCESS_REMOTE_READ);
  std::swap(mr, read_only);
  const u32 first = key;
  key = mr->rkey;
  EXPECT_EQ(0, permit(0));
  EXPECT_EQ(2u, stand_in_umem.pinned);
  ASSERT_EQ(0, permit(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE));
  EXPECT_EQ(3u, stand_in_umem.pinned);
  EXPECT_EQ(START + 8, stand_in_umem.address);
  EXPECT_EQ(16u, stand_in_umem.length);
  EXPECT_EQ(1u, stand_in.umems_released);
  EXPECT_EQ(SROCE_MEM_OK, write(key, VA, {9}));
  EXPECT_EQ(9, blocks[8]);
  dereg(mr);
  mr = read_only;
  key = first;
}

TEST_F(ChangedMr, AnotherProcessCannotPinAgain) {
  ib_mr* read_only = reg_user(START, 16, VA, IB_ACCESS_REMOTE_READ);
  std::swap(mr, read_only);
  const u32 first = key;
  key = mr->rkey;
  stand_in.mm = &pages;
  EXPECT_EQ(-EINVAL, permit(IB_ACCESS_LOCAL_WRITE));
  EXPECT_EQ(SROCE_MEM_OK, read(key, VA, 16));
  EXPECT_EQ(0, permit(0)) << "what needs no memory may be changed";
  dereg(mr);
  mr = read_only;
  key = first;
}

TEST_F(ChangedMr, EmptyRegionBecomesOneWithMemoryAndBack) {
  ASSERT_EQ(0, move(0, 0, 0));
  EXPECT_EQ(1u, stand_in.umems_released);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(key, 0, {1}));
  ASSERT_EQ(0, permit(ALL_ACCESS)) << "nothing has to be pinned";
  ASSERT_EQ(0, move(START, PAGE_SIZE, VA));
  EXPECT_TRUE(is_as_before());
}

TEST_F(ChangedMr, ReregistrationWaitsForCopies) {
  struct Copy {
    sroce_region* region;
    ChangedMr* test;
  } copy = {sroce_region_open(&dev.memory, &pd, 1, key), this};
  stand_in.argument = &copy;
  stand_in.waiting = [](void* argument) {
    const auto& copy = *static_cast<Copy*>(argument);
    EXPECT_EQ(0u, stand_in.umems_released);
    EXPECT_EQ(SROCE_MEM_OK, copy.test->write(copy.test->key, 2 * VA, {7})) << "others find the new";
    sroce_region_close(copy.region);
  };
  memory_is(1);
  ASSERT_EQ(0, move(START, PAGE_SIZE, 2 * VA));
  EXPECT_EQ(7, blocks[PAGE_SIZE]);
  EXPECT_EQ(1u, stand_in.umems_released);
}

// A huge page of 16 KiB: the second to fourth page of it are registered, then two of another.
struct HugePageMr : Mr {
  static constexpr u32 HUGE = 4 * PAGE_SIZE;
  u8* page(u32 index) { return &huge[index / 4 * HUGE] + index % 4 * PAGE_SIZE; }
  Blocks huge{2, HUGE};
};

TEST_F(HugePageMr, LargestBlocksAreListed) {
  pages_are({page(1), page(2), page(3), page(4), page(5)});
  ib_mr* mr = reg_user(START + PAGE_SIZE + 10, 5 * PAGE_SIZE - 20, VA);
  ASSERT_NE(nullptr, mr);
  sroce_region* region = sroce_region_open(&dev.memory, &pd, 1, mr->lkey);
  EXPECT_EQ(2u, region->pages.count);
  sroce_region_close(region);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA, {1}));
  EXPECT_EQ(1, page(1)[10]);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 3 * PAGE_SIZE - 11, {2, 3}));
  EXPECT_EQ(2, page(3)[PAGE_SIZE - 1]);
  EXPECT_EQ(3, page(4)[0]);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 5 * PAGE_SIZE - 21, {4}));
  EXPECT_EQ(4, page(5)[PAGE_SIZE - 11]);
  dereg(mr);
}

TEST_F(HugePageMr, PagesThatAreNotAlignedAlikeAreListedSingly) {
  pages_are({page(0), page(1), page(2)});
  ib_mr* mr = reg_user(START + PAGE_SIZE, 3 * PAGE_SIZE, VA);
  ASSERT_NE(nullptr, mr);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 2 * PAGE_SIZE + 5, {1}));
  EXPECT_EQ(1, page(2)[5]);
  dereg(mr);
}

TEST_F(Mr, AllKernelMemoryHasItsAccessToo) {
  std::vector<u8> memory(64);
  const u64 va = reinterpret_cast<u64>(memory.data());
  ib_mr* writable = take(sroce_get_dma_mr(&pd, ALL_ACCESS | IB_ACCESS_OPTIONAL));
  ib_mr* local = take(sroce_get_dma_mr(&pd, IB_ACCESS_LOCAL_WRITE));
  EXPECT_EQ(SROCE_MEM_OK, write(writable->rkey, va + 63, {9}));
  EXPECT_EQ(9, memory[63]);
  EXPECT_EQ(SROCE_MEM_OK, place(local->lkey, va, {8}, SROCE_ACCESS_LOCAL_WRITE));
  EXPECT_EQ(8, memory[0]);
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, write(local->rkey, va, {7}));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, read(local->rkey, va, 1));
  dereg(writable);
  dereg(local);
}

TEST_F(Mr, AllocationsOfOtherRegionsMayFail) {
  for (u32 n = 1; n <= 3; n++) {
    stand_in.fail_allocation = n;
    EXPECT_EQ(nullptr, take(sroce_get_dma_mr(&pd, 0))) << n;
    EXPECT_EQ(-ENOMEM, error);
  }
  for (u32 n = 1; n <= 5; n++) {
    stand_in.fail_allocation = n;
    EXPECT_EQ(nullptr, alloc(8)) << n;
    EXPECT_EQ(-ENOMEM, error);
  }
}

TEST_F(Mr, FastRegionHasALimitAndOneType) {
  dereg(alloc(SROCE_MAX_FAST_REG_PAGES));
  EXPECT_EQ(nullptr, alloc(SROCE_MAX_FAST_REG_PAGES + 1));
  EXPECT_EQ(-EINVAL, error);
  EXPECT_EQ(nullptr, alloc(1, IB_MR_TYPE_SG_GAPS));
  EXPECT_EQ(-EOPNOTSUPP, error);
}

struct FastMr : Mr {
  FastMr() {
    mr = alloc(3);
    mr->page_size = PAGE_SIZE;
  }
  ~FastMr() override { dereg(mr); }

  ib_mr* mr;
  Blocks blocks{4, PAGE_SIZE};
};

TEST_F(FastMr, OpensOnlyWhenRegistered) {
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(mr->rkey, VA, {1}));
  EXPECT_EQ(1, map(mr, {entry(&blocks[0], 100)}));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, write(mr->rkey, VA, {1}));
  EXPECT_EQ(SROCE_MEM_OK, enroll(mr, VA));
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 99, {1}));
  EXPECT_EQ(1, blocks[99]);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(mr->rkey, VA + 100, {1}));
}

TEST_F(FastMr, BeginsAtTheOffsetOfItsFirstEntry) {
  EXPECT_EQ(3, map(mr,
                   {entry(&blocks[2 * PAGE_SIZE + 96], PAGE_SIZE - 96),
                    entry(&blocks[0], PAGE_SIZE), entry(&blocks[3 * PAGE_SIZE], 50)},
                   4));
  EXPECT_EQ(SROCE_MEM_OK, enroll(mr, VA + 100));
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 100, {1}));
  EXPECT_EQ(1, blocks[2 * PAGE_SIZE + 100]);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + PAGE_SIZE - 1, {2, 3}));
  EXPECT_EQ(2, blocks[3 * PAGE_SIZE - 1]);
  EXPECT_EQ(3, blocks[0]);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 2 * PAGE_SIZE + 49, {4}));
  EXPECT_EQ(4, blocks[3 * PAGE_SIZE + 49]);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(mr->rkey, VA + 2 * PAGE_SIZE + 50, {5}));
}

TEST_F(FastMr, PagesMayBeLargerThanThoseOfTheHost) {
  Blocks huge{2, 4 * PAGE_SIZE};
  mr->page_size = 4 * PAGE_SIZE;
  EXPECT_EQ(2, map(mr, {entry(&huge[PAGE_SIZE], 3 * PAGE_SIZE), entry(&huge[4 * PAGE_SIZE], 10)}));
  EXPECT_EQ(SROCE_MEM_OK, enroll(mr, VA));
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 3 * PAGE_SIZE - 1, {1, 2}));
  EXPECT_EQ(1, huge[4 * PAGE_SIZE - 1]);
  EXPECT_EQ(2, huge[4 * PAGE_SIZE]);
}

TEST_F(FastMr, PageSizesThatCannotBeAreRejected) {
  for (unsigned int bytes : {0u, 1u, 2048u, 4095u, 4097u, 12288u}) {
    mr->page_size = bytes;
    EXPECT_EQ(-EINVAL, map(mr, {entry(&blocks[0], 16)})) << bytes;
  }
}

TEST_F(FastMr, TooManyPagesAreMappedInPart) {
  std::vector<scatterlist> list;
  for (u32 i = 0; i < 4; i++) list.push_back(entry(&blocks[i * PAGE_SIZE], PAGE_SIZE));
  EXPECT_EQ(3, map(mr, list));
  EXPECT_EQ(SROCE_MEM_OK, enroll(mr, VA));
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 3 * PAGE_SIZE - 1, {1}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(mr->rkey, VA + 3 * PAGE_SIZE, {1}));
}

TEST_F(FastMr, EntryThatDoesNotFitGivesNoAccess) {
  Blocks huge{1, 4 * PAGE_SIZE};
  EXPECT_EQ(0, map(mr, {entry(&huge[0], 4 * PAGE_SIZE)}));
  EXPECT_EQ(SROCE_MEM_OK, enroll(mr, VA));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(mr->rkey, VA, {1}));
}

TEST_F(FastMr, RegistrationInUseStaysWhileTheNextIsMapped) {
  map(mr, {entry(&blocks[0], 100)});
  EXPECT_EQ(SROCE_MEM_OK, enroll(mr, VA));
  EXPECT_EQ(2, map(mr, {entry(&blocks[2 * PAGE_SIZE], PAGE_SIZE), entry(&blocks[PAGE_SIZE], 8)}));
  EXPECT_EQ(1, map(mr, {entry(&blocks[3 * PAGE_SIZE], 8)})) << "instead of the two";
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA, {1}));
  EXPECT_EQ(1, blocks[0]);
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_invalidate(&dev.memory, &pd, 1, mr->rkey, false));
  EXPECT_EQ(SROCE_MEM_OK, enroll(mr, VA));
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA, {2}));
  EXPECT_EQ(2, blocks[3 * PAGE_SIZE]);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(mr->rkey, VA + 8, {2}));
}

struct OnDemandMr : Mr {
  OnDemandMr() {
    stand_in_odp = {};
    for (u32 i = 0; i < 3; i++) stand_in_odp.pages[i].address = blocks.blocks[i].get();
  }
  Blocks blocks{3, PAGE_SIZE};
};
constexpr int ON_DEMAND = IB_ACCESS_ON_DEMAND | (ALL_ACCESS & ~IB_ACCESS_MW_BIND);

TEST_F(OnDemandMr, PinsNothing) {
  ib_mr* mr = reg_user(START + 100, 2 * PAGE_SIZE, VA, ON_DEMAND);
  ASSERT_NE(nullptr, mr);
  EXPECT_EQ(0u, stand_in_umem.pinned);
  sroce_region* region = sroce_region_get(&dev.memory, mr->rkey);
  EXPECT_EQ(0, sroce_odp_fault(region, VA, 2 * PAGE_SIZE, SROCE_ODP_WRITE));
  sroce_region_put(region);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA, {1}));
  EXPECT_EQ(1, blocks[100]);
  dereg(mr);
  EXPECT_EQ(nullptr, stand_in_odp.umem);
}

TEST_F(OnDemandMr, IsNotForWindowsOrAllMemory) {
  EXPECT_EQ(nullptr, reg_user(START, PAGE_SIZE, VA, ON_DEMAND | IB_ACCESS_MW_BIND));
  EXPECT_EQ(-EOPNOTSUPP, error);
  EXPECT_EQ(nullptr, reg_user(0, U64_MAX, 0, ON_DEMAND));
  EXPECT_EQ(-EOPNOTSUPP, error);
  stand_in_odp.error = -ENOMEM;
  EXPECT_EQ(nullptr, reg_user(START, PAGE_SIZE, VA, ON_DEMAND));
  EXPECT_EQ(-ENOMEM, error);
}

TEST_F(OnDemandMr, EmptyRegionHasNoMemory) {
  ib_mr* mr = reg_user(START, 0, VA, ON_DEMAND);
  ASSERT_NE(nullptr, mr);
  EXPECT_EQ(nullptr, stand_in_odp.umem);
  dereg(mr);
}

TEST_F(OnDemandMr, IsNotReregistered) {
  ib_mr* mr = reg_user(START, PAGE_SIZE, VA, ON_DEMAND);
  ASSERT_NE(nullptr, mr);
  EXPECT_EQ(-EOPNOTSUPP, PTR_ERR(sroce_rereg_user_mr(mr, IB_MR_REREG_ACCESS, 0, 0, 0,
                                                     IB_ACCESS_REMOTE_READ, &pd, nullptr)));
  dereg(mr);
  pages_are({blocks.blocks[0].get()});
  mr = reg_user(START, PAGE_SIZE, VA);
  EXPECT_EQ(-EOPNOTSUPP,
            PTR_ERR(sroce_rereg_user_mr(mr, IB_MR_REREG_ACCESS, 0, 0, 0, ON_DEMAND, &pd, nullptr)));
  dereg(mr);
}

}  // namespace
