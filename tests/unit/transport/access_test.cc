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

TEST(AccessCheck, EveryNeededPermissionMustBeGranted) {
  EXPECT_EQ(check(0x1000, 8, kReadWrite), SROCE_MEM_OK);
  EXPECT_EQ(check(0x1000, 8, kReadWrite | SROCE_ACCESS_LOCAL_WRITE), SROCE_MEM_BAD_ACCESS);
}

}  // namespace
