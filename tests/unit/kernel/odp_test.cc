// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Memory that is paged on demand: kernel/memory/odp.c, and the copies to and from it.
#include <gtest/gtest.h>

#include "unit/kernel/memory.h"

extern "C" {
#include "memory/odp.h"
#include "stand_in/odp.h"
}

#include <array>

namespace {

constexpr u64 START = 0x7f0000000000;
constexpr u64 IOVA = 0x100000;
constexpr u32 SKEW = 100;
constexpr u32 PAGES = 40;
constexpr u64 LENGTH = PAGES * PAGE_SIZE - SKEW;
constexpr u32 ACCESS = SROCE_ACCESS_LOCAL_WRITE | SROCE_ACCESS_REMOTE_WRITE |
                       SROCE_ACCESS_REMOTE_READ | SROCE_ACCESS_REMOTE_ATOMIC;

// A region that begins SKEW bytes into its first page.
struct Odp : testing::Test, Memory {
  explicit Odp(u32 access = ACCESS) {
    stand_in_odp = {};
    for (u32 i = 0; i < PAGES; i++) stand_in_odp.pages[i].address = blocks.blocks[i].get();
    region = sroce_region_create(SROCE_REGION_ODP, pd);
    region->range = {IOVA, LENGTH, access};
    EXPECT_EQ(0, sroce_odp_init(&table, region, nullptr, START + SKEW, LENGTH,
                                access | IB_ACCESS_ON_DEMAND));
    EXPECT_EQ(0, sroce_region_publish(&table, region));
    regions.push_back(region);
  }

  sroce_mem_status write(u64 va, const std::vector<u8>& bytes) {
    const sroce_mr_range to = {
        &table, pd, 1, region->key, u32(bytes.size()), va, SROCE_ACCESS_REMOTE_WRITE, &wait};
    sroce_payload from = {};
    from.at = bytes.data();
    from.piece_bytes = from.left_bytes = bytes.size();
    return sroce_memory_place(&to, &from, bytes.size());
  }
  sroce_mem_status read(u64 va, u32 bytes) {
    std::vector<u8> to(bytes);
    sroce_mr_ref mr_ref;
    sroce_crc_writer writer = {};
    writer.to = to.data();
    sroce_mr_ref_init(&mr_ref, &table, pd, 1);
    mr_ref.wait = &wait;
    const sroce_mem_status status = sroce_memory_fetch(&mr_ref, region->key, va, &writer, bytes);
    sroce_mr_ref_put(&mr_ref);
    return status;
  }
  sroce_mem_status fetch_add(u64 va) {
    const sroce_mr_range at = {&table, pd, 1, region->key, 8, va, SROCE_ACCESS_REMOTE_ATOMIC,
                               &wait};
    u64 original;
    return sroce_memory_atomic(&at, SROCE_OP_FETCH_ADD, 0, 1, &original);
  }
  int fault_in() { return sroce_odp_fault_in(&table, &wait.missing); }
  bool invalidate(u32 first, u32 count, bool blockable = true) {
    const mmu_notifier_range range = {START + first * PAGE_SIZE,
                                      START + (first + count) * PAGE_SIZE, blockable};
    auto* notifier = &stand_in_odp.umem->notifier;
    return notifier->ops->invalidate(notifier, &range, ++seq);
  }

  Blocks blocks{PAGES, PAGE_SIZE};
  sroce_region* region;
  sroce_page_wait wait = {};
  unsigned long seq = 0;
};

constexpr u64 SECOND_PAGE = IOVA + PAGE_SIZE - SKEW;

TEST_F(Odp, CopyMissesAPageUntilItIsFaultedIn) {
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, write(IOVA, {1, 2}));
  EXPECT_EQ(region->key, wait.missing.key);
  EXPECT_EQ(IOVA, wait.missing.va);
  EXPECT_EQ(2u, wait.missing.bytes);
  EXPECT_TRUE(wait.missing.write);
  EXPECT_EQ(0, fault_in());
  EXPECT_EQ(SROCE_MEM_OK, write(IOVA, {1, 2}));
  EXPECT_EQ(1, blocks[SKEW]);
  EXPECT_EQ(2, blocks[SKEW + 1]);
  EXPECT_EQ(SROCE_MEM_OK, read(IOVA, 2));
}

TEST_F(Odp, PageForReadingIsMissedByWrites) {
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, read(SECOND_PAGE, 4));
  EXPECT_EQ(SECOND_PAGE, wait.missing.va);
  EXPECT_FALSE(wait.missing.write);
  EXPECT_EQ(0, fault_in());
  EXPECT_EQ(SROCE_MEM_OK, read(SECOND_PAGE, 4));
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, write(SECOND_PAGE, {1}));
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, fetch_add(IOVA + 4096));
  EXPECT_EQ(0, fault_in());
  EXPECT_EQ(SROCE_MEM_OK, write(SECOND_PAGE, {1}));
}

TEST_F(Odp, AtomicsMissPages) {
  const u64 va = IOVA + 8;
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, fetch_add(va));
  EXPECT_EQ(8u, wait.missing.bytes);
  EXPECT_TRUE(wait.missing.write);
  EXPECT_EQ(0, fault_in());
  // 108 bytes into the page.
  EXPECT_EQ(SROCE_MEM_MISALIGNED, fetch_add(va));
}

TEST_F(Odp, WithoutAWaiterAMissingPageIsAnError) {
  const sroce_mr_range to = {&table, pd, 1, region->key, 1, IOVA, SROCE_ACCESS_REMOTE_WRITE};
  sroce_payload from = {};
  const u8 byte = 1;
  from.at = &byte;
  from.piece_bytes = from.left_bytes = 1;
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, sroce_memory_place(&to, &from, 1));
}

TEST_F(Odp, ScatterAndGatherListsMissPages) {
  const sroce_sge sge = {.addr = IOVA, .length = 64, .lkey = region->key};
  u8 bytes[8] = {1};
  sroce_payload from = {};
  from.at = bytes;
  from.piece_bytes = from.left_bytes = 8;
  from.wait = &wait;
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, sroce_memory_scatter(&table, pd, &sge, 1, 4, &from, 8));
  EXPECT_EQ(IOVA + 4, wait.missing.va);
  sroce_mr_ref mr_ref;
  sroce_mr_ref_init(&mr_ref, &table, pd, 0);
  mr_ref.wait = &wait;
  sroce_crc_writer writer = {};
  writer.to = bytes;
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, sroce_memory_gather(&mr_ref, &sge, 1, 0, &writer, 8));
  EXPECT_FALSE(wait.missing.write);
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, sroce_memory_check_sges(&mr_ref, &sge, 1, 0, 8));
  EXPECT_TRUE(wait.missing.write);
  sroce_mr_ref_put(&mr_ref);
  EXPECT_EQ(0, fault_in());
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_check_sges(&mr_ref, &sge, 1, 0, 8));
  EXPECT_EQ(SROCE_MEM_BAD_LOCAL, sroce_memory_check_sges(&mr_ref, &sge, 1, 60, 8));
  sroce_mr_ref_put(&mr_ref);
  EXPECT_EQ(0, blocks[SKEW]) << "a check writes nothing";
}

TEST_F(Odp, InvalidationTakesItsPagesOnly) {
  ASSERT_EQ(0, sroce_odp_fault(region, IOVA, LENGTH, SROCE_ODP_WRITE));
  EXPECT_TRUE(invalidate(1, 2));
  EXPECT_EQ(2u, stand_in_odp.dirty);
  EXPECT_EQ(1u, stand_in_odp.umem->notifier.seq);
  EXPECT_FALSE(stand_in_odp.present[1] || stand_in_odp.present[2]);
  EXPECT_EQ(SROCE_MEM_OK, write(SECOND_PAGE - 1, {1}));
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, write(SECOND_PAGE, {1}));
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, read(SECOND_PAGE + 2 * PAGE_SIZE - 1, 1));
  EXPECT_EQ(SROCE_MEM_OK, write(SECOND_PAGE + 2 * PAGE_SIZE, {1}));
  EXPECT_EQ(0, blocks[PAGE_SIZE]);
}

TEST_F(Odp, PageStaysWritableUntilItIsInvalidated) {
  ASSERT_EQ(0, sroce_odp_fault(region, IOVA, 1, SROCE_ODP_WRITE));
  ASSERT_EQ(0, sroce_odp_fault(region, IOVA, 1, SROCE_ODP_READ));
  EXPECT_EQ(SROCE_MEM_OK, write(IOVA, {1}));
  EXPECT_TRUE(invalidate(0, 1));
  EXPECT_EQ(1u, stand_in_odp.dirty);
  ASSERT_EQ(0, sroce_odp_fault(region, IOVA, 1, SROCE_ODP_READ));
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, write(IOVA, {1}));
}

TEST_F(Odp, LongFaultIsInPieces) {
  ASSERT_EQ(0, sroce_odp_fault(region, IOVA, LENGTH, SROCE_ODP_WRITE));
  EXPECT_EQ(33u, stand_in_odp.most_pages);
  EXPECT_EQ(2u, stand_in_odp.faults);
  EXPECT_EQ(SROCE_MEM_OK, write(IOVA + LENGTH - 1, {1}));
}

TEST_F(Odp, ListedPagesAreCounted) {
  ASSERT_EQ(0, sroce_odp_fault(region, IOVA, LENGTH, SROCE_ODP_READ));
  ASSERT_EQ(0, sroce_odp_fault(region, IOVA, LENGTH, SROCE_ODP_WRITE));
  EXPECT_EQ(PAGES, region->listed);
  EXPECT_TRUE(invalidate(1, 2));
  EXPECT_EQ(PAGES - 2, region->listed);
  EXPECT_TRUE(invalidate(0, PAGES));
  EXPECT_EQ(0u, region->listed);
}

TEST_F(Odp, PagesThatWereOnlyReadAreNotDirty) {
  ASSERT_EQ(0, sroce_odp_fault(region, IOVA, LENGTH, SROCE_ODP_READ));
  EXPECT_TRUE(invalidate(0, PAGES));
  EXPECT_EQ(0u, stand_in_odp.dirty);
  EXPECT_TRUE(invalidate(0, PAGES)) << "again";
}

TEST_F(Odp, InvalidationThatMayNotSleepDoesNothing) {
  ASSERT_EQ(0, sroce_odp_fault(region, IOVA, 1, SROCE_ODP_WRITE));
  EXPECT_FALSE(invalidate(0, 1, false));
  EXPECT_EQ(SROCE_MEM_OK, write(IOVA, {1}));
}

TEST_F(Odp, PagesBehindAreFaultedInToRead) {
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, read(SECOND_PAGE, 1));
  EXPECT_EQ(0, fault_in());
  EXPECT_EQ(SROCE_MEM_OK, read(SECOND_PAGE + 32 * PAGE_SIZE, 1));
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, read(SECOND_PAGE + 33 * PAGE_SIZE, 1));
  EXPECT_EQ(0, fault_in()) << "not beyond the region";
  EXPECT_EQ(SROCE_MEM_OK, read(IOVA + LENGTH - 1, 1));
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, read(IOVA, 1)) << "none before";
}

TEST_F(Odp, PagesBehindAreFaultedInToWriteOnlyIfWritesFollowEachOther) {
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, write(SECOND_PAGE, {1}));
  EXPECT_EQ(0, fault_in());
  EXPECT_EQ(SROCE_MEM_OK, write(SECOND_PAGE, {1}));
  EXPECT_FALSE(stand_in_odp.present[2]);
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, write(SECOND_PAGE + PAGE_SIZE, {1}));
  EXPECT_EQ(0, fault_in());
  EXPECT_EQ(SROCE_MEM_OK, write(SECOND_PAGE + 33 * PAGE_SIZE, {1}));
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, write(SECOND_PAGE + 34 * PAGE_SIZE, {1}));
  EXPECT_EQ(0, fault_in()) << "not beyond the region";
  EXPECT_EQ(SROCE_MEM_OK, write(IOVA + LENGTH - 1, {1}));
}

TEST_F(Odp, HoleBehindThePagesDoesNotMatter) {
  stand_in_odp.pages[3].address = nullptr;
  stand_in_odp.present[2] = true;
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, read(SECOND_PAGE, 1));
  EXPECT_EQ(0, fault_in());
  EXPECT_EQ(SROCE_MEM_OK, read(SECOND_PAGE, 1));
  EXPECT_EQ(SROCE_MEM_OK, read(SECOND_PAGE + PAGE_SIZE, 1)) << "the process has it";
  EXPECT_EQ(1u, stand_in_odp.faults);
}

TEST_F(Odp, FailedFaultIsAnErrorUntilItIsReported) {
  stand_in_odp.pages[0].address = nullptr;
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, write(IOVA, {1}));
  EXPECT_EQ(-EFAULT, fault_in());
  wait.failed = wait.missing;
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, write(IOVA + 1, {1})) << "another range";
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, read(IOVA, 1)) << "another access";
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(IOVA, {1}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(IOVA, {1}));
  wait.failed.bytes = 0;
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, write(IOVA, {1})) << "it may be there by now";
}

TEST_F(Odp, OnlyThePagesOfTheKeyAreFaultedIn) {
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, write(IOVA, {1}));
  const sroce_page_range good = wait.missing;
  wait.missing.pd = other_pd;
  EXPECT_EQ(-EINVAL, fault_in());
  wait.missing = good;
  wait.missing.key ^= 1;
  EXPECT_EQ(-EINVAL, fault_in());
  wait.missing.key ^= 1 ^ 0x5500;
  EXPECT_EQ(-EINVAL, fault_in());
  wait.missing = good;
  wait.missing.va = IOVA + LENGTH;
  EXPECT_EQ(-EINVAL, fault_in());
  EXPECT_EQ(0u, stand_in_odp.faults);
}

TEST_F(Odp, MappingWithoutPermissionFails) {
  stand_in_odp.read_only = true;
  EXPECT_EQ(0, sroce_odp_fault(region, IOVA, 1, SROCE_ODP_READ));
  EXPECT_EQ(-EFAULT, sroce_odp_fault(region, IOVA, 1, SROCE_ODP_WRITE));
}

TEST_F(Odp, PageThatTheKernelHasNoAccessToIsAnError) {
  stand_in_odp.secret = stand_in_odp.pages[1].address;
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, read(SECOND_PAGE, 1));
  EXPECT_EQ(-EFAULT, fault_in());
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, read(SECOND_PAGE, 1));
  EXPECT_EQ(-EFAULT, sroce_odp_fault(region, IOVA, LENGTH, SROCE_ODP_READ));
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, read(SECOND_PAGE, 1));
  EXPECT_EQ(SROCE_MEM_OK, read(SECOND_PAGE + PAGE_SIZE, 1)) << "the next one";
}

TEST_F(Odp, PresentPagesAreListedWithoutAFault) {
  stand_in_odp.present[1] = true;
  EXPECT_EQ(0, sroce_odp_fault(region, IOVA, LENGTH, SROCE_ODP_PRESENT));
  EXPECT_EQ(0u, stand_in_odp.faults);
  EXPECT_EQ(SROCE_MEM_OK, read(SECOND_PAGE, 1));
  EXPECT_EQ(SROCE_MEM_NOT_PRESENT, read(IOVA, 1));
}

TEST_F(Odp, DestructionGivesTheMemoryBack) {
  ASSERT_EQ(0, sroce_odp_fault(region, IOVA, 1, SROCE_ODP_WRITE));
  EXPECT_EQ(1, table.odp_regions.counter);
  remove(region);
  EXPECT_EQ(nullptr, stand_in_odp.umem);
  EXPECT_EQ(1u, stand_in_odp.dirty);
  EXPECT_EQ(0, table.odp_regions.counter);
}

struct ReadOnlyOdp : Odp {
  ReadOnlyOdp() : Odp(SROCE_ACCESS_REMOTE_READ) {}
};

TEST_F(ReadOnlyOdp, IsNotFaultedInForWriting) {
  EXPECT_EQ(-EPERM, sroce_odp_fault(region, IOVA, 1, SROCE_ODP_WRITE));
  EXPECT_EQ(0, sroce_odp_fault(region, IOVA, 1, SROCE_ODP_READ));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, write(IOVA, {1}));
}

TEST(OdpInit, ErrorsLeaveNothing) {
  Memory memory;
  stand_in_odp = {};
  const auto init = [&](u64 start, u64 length) {
    sroce_region* region = sroce_region_create(SROCE_REGION_ODP, memory.pd);
    const int err =
        sroce_odp_init(&memory.table, region, nullptr, start, length, IB_ACCESS_ON_DEMAND);
    sroce_region_destroy(&memory.table, region);
    return err;
  };
  EXPECT_EQ(-EINVAL, init(~0ull - 10, 100)) << "wraps";
  EXPECT_EQ(-EINVAL, init(0, 1ull << 50)) << "more pages than 32 bits count";
  stand_in_odp.error = -ENOMEM;
  EXPECT_EQ(-ENOMEM, init(START, PAGE_SIZE));
  EXPECT_EQ(0, memory.table.odp_regions.counter);
}

}  // namespace
