// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>
#include <linux/types.h>

extern "C" {
#include "transport/moderation_policy.h"
}

namespace {

TEST(Moderation, OffByEitherZero) {
  for (sroce_moderation moderation : {sroce_moderation{0, 0, 0}, {16, 0, 0}, {0, 100, 0}}) {
    for (int i = 0; i < 3; i++) EXPECT_EQ(SROCE_REPORT_NOW, sroce_moderation_add(&moderation));
    EXPECT_FALSE(sroce_moderation_flush(&moderation));
  }
}

TEST(Moderation, ReportsEachCount) {
  sroce_moderation moderation = {3, 100, 0};
  for (int i = 0; i < 4; i++) {
    EXPECT_EQ(SROCE_REPORT_WITH_TIMER, sroce_moderation_add(&moderation));
    EXPECT_EQ(SROCE_REPORT_LATER, sroce_moderation_add(&moderation));
    EXPECT_EQ(SROCE_REPORT_NOW, sroce_moderation_add(&moderation));
  }
  EXPECT_FALSE(sroce_moderation_flush(&moderation)) << "the timer comes too late";
}

TEST(Moderation, ReportsTheRestOnce) {
  sroce_moderation moderation = {3, 100, 0};
  sroce_moderation_add(&moderation);
  sroce_moderation_add(&moderation);
  EXPECT_TRUE(sroce_moderation_flush(&moderation));
  EXPECT_FALSE(sroce_moderation_flush(&moderation));
  EXPECT_EQ(SROCE_REPORT_WITH_TIMER, sroce_moderation_add(&moderation)) << "counts from 0 again";
}

TEST(Moderation, CountOfOneNeverWaits) {
  sroce_moderation moderation = {1, 100, 0};
  for (int i = 0; i < 3; i++) EXPECT_EQ(SROCE_REPORT_NOW, sroce_moderation_add(&moderation));
}

TEST(Moderation, LargestCountIsReached) {
  sroce_moderation moderation = {U16_MAX, U16_MAX, 0};
  for (int i = 1; i < U16_MAX; i++) ASSERT_NE(SROCE_REPORT_NOW, sroce_moderation_add(&moderation));
  EXPECT_EQ(SROCE_REPORT_NOW, sroce_moderation_add(&moderation));
}

}  // namespace
