// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "port/engine.h"

namespace {

constexpr u32 kSpan = SROCE_PSN_MAP_SPAN;

sroce_psn_map map_of(u32 psn, u32 count) {
  sroce_psn_map map = {};
  sroce_psn_map_add_range(&map, psn, count);
  return map;
}

TEST(PsnMap, HasOnlyWhatWasAdded) {
  sroce_psn_map map = {};
  psn_map_add(&map, 1000);
  EXPECT_FALSE(psn_map_has(&map, 999));
  EXPECT_TRUE(psn_map_has(&map, 1000));
  EXPECT_FALSE(psn_map_has(&map, 1001));
}

TEST(PsnMap, DoesNotHaveWhatWasRemoved) {
  sroce_psn_map map = map_of(1000, 3);
  psn_map_remove(&map, 1001);
  EXPECT_TRUE(psn_map_has(&map, 1000));
  EXPECT_FALSE(psn_map_has(&map, 1001));
  EXPECT_TRUE(psn_map_has(&map, 1002));
}

TEST(PsnMap, AliasesPsnsOneSpanApart) {
  const sroce_psn_map map = map_of(1000, 1);
  EXPECT_TRUE(psn_map_has(&map, 1000 + kSpan));
  EXPECT_TRUE(psn_map_has(&map, psn_add(1000, 0x1000000 - kSpan)));
}

TEST(PsnMapRange, HasExactBounds) {
  for (u32 psn : {0u, 1u, 63u, 64u, 1000u, kSpan - 1}) {
    for (u32 count : {0u, 1u, 2u, 63u, 64u, 65u, 128u, 200u}) {
      const sroce_psn_map map = map_of(psn, count);
      EXPECT_EQ(sroce_psn_map_count(&map, psn, count), count);
      EXPECT_EQ(sroce_psn_map_count(&map, 0, kSpan), count) << psn << "+" << count;
    }
  }
}

TEST(PsnMapRange, CrossesThePsnWrap) {
  const sroce_psn_map map = map_of(0xfffff0, 32);
  for (u32 i = 0; i < 32; i++) EXPECT_TRUE(psn_map_has(&map, psn_add(0xfffff0, i))) << i;
  EXPECT_FALSE(psn_map_has(&map, 0xffffef));
  EXPECT_FALSE(psn_map_has(&map, 16));
  EXPECT_EQ(sroce_psn_map_leading_present(&map, 0xfffff0, 100), 32u);
}

TEST(PsnMapRange, FullSpanCoversEverything) {
  const sroce_psn_map map = map_of(777, kSpan);
  EXPECT_EQ(sroce_psn_map_count(&map, 0, kSpan), kSpan);
}

TEST(PsnMapRange, IsLimitedToOneSpan) {
  sroce_psn_map map = map_of(777, 1u << 23);
  EXPECT_EQ(sroce_psn_map_count(&map, 0, 1u << 23), kSpan);
  sroce_psn_map_remove_range(&map, 5, kSpan + 1);
  EXPECT_EQ(sroce_psn_map_count(&map, 0, kSpan), 0u);
}

TEST(PsnMapRange, MayBeRemovedFromTheMiddle) {
  sroce_psn_map map = map_of(100, 300);
  sroce_psn_map_remove_range(&map, 150, 100);
  EXPECT_EQ(sroce_psn_map_leading_present(&map, 100, kSpan), 50u);
  EXPECT_EQ(sroce_psn_map_leading_absent(&map, 150, kSpan), 100u);
  EXPECT_EQ(sroce_psn_map_leading_present(&map, 250, kSpan), 150u);
}

TEST(PsnMapExtent, IsZeroWhenTheFirstPsnDiffers) {
  const sroce_psn_map map = map_of(100, 1);
  EXPECT_EQ(sroce_psn_map_leading_absent(&map, 100, 10), 0u);
  EXPECT_EQ(sroce_psn_map_leading_present(&map, 101, 10), 0u);
}

TEST(PsnMapExtent, StopsAtItsLimit) {
  const sroce_psn_map map = map_of(60, 100);
  EXPECT_EQ(sroce_psn_map_leading_present(&map, 60, 7), 7u);
  EXPECT_EQ(sroce_psn_map_leading_present(&map, 60, 0), 0u);
}

TEST(PsnMapExtent, IsAtMostOneSpan) {
  const sroce_psn_map all = map_of(0, kSpan), none = {};
  EXPECT_EQ(sroce_psn_map_leading_present(&all, 5, 1u << 23), kSpan);
  EXPECT_EQ(sroce_psn_map_leading_absent(&none, 5, 1u << 23), kSpan);
}

// Compares with std::set, at PSNs around the wrap.
TEST(PsnMap, BehavesLikeASet) {
  std::mt19937 rng(1);
  sroce_psn_map map = {};
  std::set<u32> model;
  const u32 base = 0xfffc00;  // the span ends beyond the wrap
  for (int step = 0; step < 3000; step++) {
    const u32 from = rng() % kSpan, count = rng() % (step % 2 ? 10 : 300) % (kSpan - from + 1);
    const bool adds = rng() % 2;
    if (adds)
      sroce_psn_map_add_range(&map, psn_add(base, from), count);
    else
      sroce_psn_map_remove_range(&map, psn_add(base, from), count);
    for (u32 i = from; i < from + count; i++)
      if (adds)
        model.insert(i);
      else
        model.erase(i);
    const u32 at = rng() % kSpan, limit = rng() % (kSpan - at) + 1;
    const bool in = model.contains(at);
    u32 extent = 0, found = 0;
    while (extent < limit && model.contains(at + extent) == in) extent++;
    for (u32 i = at; i < at + limit; i++) found += model.contains(i);
    const u32 psn = psn_add(base, at);
    ASSERT_EQ(in ? sroce_psn_map_leading_present(&map, psn, limit)
                 : sroce_psn_map_leading_absent(&map, psn, limit),
              extent)
        << "step " << step;
    ASSERT_EQ(sroce_psn_map_count(&map, psn_add(base, at), limit), found) << "step " << step;
  }
}

}  // namespace
