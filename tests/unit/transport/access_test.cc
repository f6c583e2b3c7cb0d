// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "port/engine.h"

namespace {

constexpr u32 kReadWrite = SROCE_ACCESS_REMOTE_READ | SROCE_ACCESS_REMOTE_WRITE;
constexpr sroce_access_range kRegion = {.iova = 0x1000, .length = 0x100, .access = kReadWrite};

sroce_mem_status check(u64 va, u64 bytes, u32 needed = SROCE_ACCESS_REMOTE_WRITE) {
  return sroce_access_check(&kRegion, va, bytes, needed);
}

TEST(AccessCheck, WholeRegionIsAccessible) { EXPECT_EQ(check(0x1000, 0x100), SROCE_MEM_OK); }

TEST(AccessCheck, LastByteIsAccessible) { EXPECT_EQ(check(0x10ff, 1), SROCE_MEM_OK); }

TEST(AccessCheck, ByteBeforeTheRegionIsRejected) {
  EXPECT_EQ(check(0xfff, 1), SROCE_MEM_BAD_RANGE);
  EXPECT_EQ(check(0xfff, 2), SROCE_MEM_BAD_RANGE);
}

TEST(AccessCheck, ByteBehindTheRegionIsRejected) {
  EXPECT_EQ(check(0x1100, 1), SROCE_MEM_BAD_RANGE);
  EXPECT_EQ(check(0x10ff, 2), SROCE_MEM_BAD_RANGE);
  EXPECT_EQ(check(0x1000, 0x101), SROCE_MEM_BAD_RANGE);
}

TEST(AccessCheck, RangeThatWrapsTheAddressSpaceIsRejected) {
  EXPECT_EQ(check(~0ull, 0x1101), SROCE_MEM_BAD_RANGE);
  EXPECT_EQ(check(0x1080, ~0ull), SROCE_MEM_BAD_RANGE);
  EXPECT_EQ(check(0x1080, ~0ull - 0x7f), SROCE_MEM_BAD_RANGE);
}

TEST(AccessCheck, RegionMayEndAtTheLastAddress) {
  const sroce_access_range top = {.iova = ~0ull - 15, .length = 16, .access = kReadWrite};
  EXPECT_EQ(sroce_access_check(&top, ~0ull - 15, 16, 0), SROCE_MEM_OK);
  EXPECT_EQ(sroce_access_check(&top, ~0ull, 1, 0), SROCE_MEM_OK);
  EXPECT_EQ(sroce_access_check(&top, ~0ull, 2, 0), SROCE_MEM_BAD_RANGE);
  EXPECT_EQ(sroce_access_check(&top, 0, 1, 0), SROCE_MEM_BAD_RANGE);
}

TEST(AccessCheck, RegionMayCoverTheWholeAddressSpace) {
  const sroce_access_range all = {.iova = 0, .length = ~0ull, .access = kReadWrite};
  EXPECT_EQ(sroce_access_check(&all, 0, 1ull << 63, 0), SROCE_MEM_OK);
  EXPECT_EQ(sroce_access_check(&all, ~0ull - 1, 1, 0), SROCE_MEM_OK);
}

TEST(AccessCheck, ZeroLengthIgnoresTheAddress) {
  EXPECT_EQ(check(0, 0), SROCE_MEM_OK);
  EXPECT_EQ(check(~0ull, 0), SROCE_MEM_OK);
}

TEST(AccessCheck, EmptyRegionHasNoByte) {
  const sroce_access_range empty = {.iova = 0x1000, .length = 0, .access = kReadWrite};
  EXPECT_EQ(sroce_access_check(&empty, 0x1000, 0, 0), SROCE_MEM_OK);
  EXPECT_EQ(sroce_access_check(&empty, 0x1000, 1, 0), SROCE_MEM_BAD_RANGE);
}

TEST(AccessCheck, MissingPermissionIsRejected) {
  EXPECT_EQ(check(0x1000, 8, SROCE_ACCESS_REMOTE_ATOMIC), SROCE_MEM_BAD_ACCESS);
}

TEST(AccessCheck, NoBytesNeedPermissionToo) {
  EXPECT_EQ(check(0, 0, kReadWrite), SROCE_MEM_OK);
  EXPECT_EQ(check(0, 0, SROCE_ACCESS_REMOTE_ATOMIC), SROCE_MEM_BAD_ACCESS);
}

TEST(AccessCheck, EveryNeededPermissionMustBeGranted) {
  EXPECT_EQ(check(0x1000, 8, kReadWrite), SROCE_MEM_OK);
  EXPECT_EQ(check(0x1000, 8, kReadWrite | SROCE_ACCESS_LOCAL_WRITE), SROCE_MEM_BAD_ACCESS);
}

// A region at 0x1000 of 0x100 bytes.
sroce_mem_status check_bind(u32 window, u32 region, u64 addr = 0x1000, u64 length = 0x100,
                            bool is_type_2 = true) {
  const sroce_access_range range = {.iova = 0x1000, .length = 0x100, .access = region};
  sroce_bind_mw bind = {};
  bind.addr = addr;
  bind.length = length;
  bind.access = window;
  return sroce_bind_check(&bind, &range, is_type_2);
}

constexpr u32 kBindable = SROCE_ACCESS_LOCAL_WRITE | SROCE_ACCESS_MW_BIND;

TEST(BindCheck, RegionMustPermitWindows) {
  EXPECT_EQ(check_bind(SROCE_ACCESS_REMOTE_READ, SROCE_ACCESS_MW_BIND), SROCE_MEM_OK);
  EXPECT_EQ(check_bind(SROCE_ACCESS_REMOTE_READ, ~u32{SROCE_ACCESS_MW_BIND}), SROCE_MEM_BAD_ACCESS);
}

TEST(BindCheck, RemoteWritesAndAtomicsNeedLocalWrites) {
  for (u32 access : {SROCE_ACCESS_REMOTE_WRITE, SROCE_ACCESS_REMOTE_ATOMIC}) {
    EXPECT_EQ(check_bind(access, kBindable), SROCE_MEM_OK);
    EXPECT_EQ(check_bind(access, ~u32{SROCE_ACCESS_LOCAL_WRITE}), SROCE_MEM_BAD_ACCESS);
  }
  EXPECT_EQ(check_bind(0, SROCE_ACCESS_MW_BIND), SROCE_MEM_OK);
}

TEST(BindCheck, FlushNeedsTheSameOfTheRegion) {
  for (const u32 flush : {SROCE_ACCESS_FLUSH_GLOBAL, SROCE_ACCESS_FLUSH_PERSISTENT}) {
    EXPECT_EQ(check_bind(flush, SROCE_ACCESS_MW_BIND | flush), SROCE_MEM_OK);
    EXPECT_EQ(check_bind(flush, ~flush), SROCE_MEM_BAD_ACCESS);
  }
}

TEST(BindCheck, WindowPermitsRemoteAccessOnly) {
  for (u32 access : {u32{SROCE_ACCESS_MW_BIND}, 1u << 6, 1u << 19, 1u << 30, 1u << 31})
    EXPECT_EQ(check_bind(access, ~0u), SROCE_MEM_BAD_ACCESS) << access;
  for (u32 access : {SROCE_ACCESS_LOCAL_WRITE, SROCE_ACCESS_OPTIONAL})
    EXPECT_EQ(check_bind(access, kBindable), SROCE_MEM_OK) << access;
}

TEST(BindCheck, OnlyType2IsZeroBased) {
  EXPECT_EQ(check_bind(SROCE_ACCESS_ZERO_BASED, kBindable), SROCE_MEM_OK);
  EXPECT_EQ(check_bind(SROCE_ACCESS_ZERO_BASED, kBindable, 0x1000, 1, false), SROCE_MEM_BAD_ACCESS);
}

TEST(BindCheck, RangeLiesInTheRegionAndIsNotEmpty) {
  EXPECT_EQ(check_bind(0, kBindable, 0x10ff, 1), SROCE_MEM_OK);
  EXPECT_EQ(check_bind(0, kBindable, 0x10ff, 2), SROCE_MEM_BAD_RANGE);
  EXPECT_EQ(check_bind(0, kBindable, 0xfff, 2), SROCE_MEM_BAD_RANGE);
  EXPECT_EQ(check_bind(0, kBindable, 0x1000, ~0ull), SROCE_MEM_BAD_RANGE);
  EXPECT_EQ(check_bind(0, kBindable, 0x1000, 0), SROCE_MEM_BAD_RANGE);
}

}  // namespace
