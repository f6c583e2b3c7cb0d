// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "port/engine.h"

namespace {

TEST(PsnAdd, CountsForward) { EXPECT_EQ(psn_add(10, 5), 15u); }

TEST(PsnAdd, WrapsAfterTheLastOf24Bits) {
  EXPECT_EQ(psn_add(0xffffff, 1), 0u);
  EXPECT_EQ(psn_add(0xfffffe, 5), 3u);
}

TEST(PsnAdd, FullCircleEndsWhereItBegan) { EXPECT_EQ(psn_add(0x123456, 1u << 24), 0x123456u); }

TEST(PsnDistance, IsZeroToItself) {
  EXPECT_EQ(psn_distance(0, 0), 0);
  EXPECT_EQ(psn_distance(0xffffff, 0xffffff), 0);
}

TEST(PsnDistance, IsPositiveForLaterAndNegativeForEarlier) {
  EXPECT_EQ(psn_distance(7, 3), 4);
  EXPECT_EQ(psn_distance(3, 7), -4);
}

TEST(PsnDistance, IsMeasuredAcrossTheWrap) {
  EXPECT_EQ(psn_distance(2, 0xfffffe), 4);
  EXPECT_EQ(psn_distance(0xfffffe, 2), -4);
}

TEST(PsnDistance, ReachesHalfOfTheCircleInBothDirections) {
  const s32 span = SROCE_PSN_SPAN;
  EXPECT_EQ(psn_distance(SROCE_PSN_SPAN - 1, 0), span - 1);
  EXPECT_EQ(psn_distance(0, SROCE_PSN_SPAN - 1), 1 - span);
  EXPECT_EQ(psn_distance(SROCE_PSN_SPAN, 0), -span);
}

TEST(PsnDistance, UndoesAdditionFromEveryStart) {
  for (u32 psn = 0; psn <= SROCE_PSN_MASK; psn += 4097)
    for (u32 count : {0u, 1u, 255u, 65536u, SROCE_PSN_SPAN - 1})
      ASSERT_EQ(psn_distance(psn_add(psn, count), psn), static_cast<s32>(count));
}

TEST(PsnBefore, IsStrict) {
  EXPECT_TRUE(psn_before(4, 5));
  EXPECT_FALSE(psn_before(5, 5));
  EXPECT_FALSE(psn_before(6, 5));
}

TEST(PsnBefore, OrdersAcrossTheWrap) {
  EXPECT_TRUE(psn_before(0xffffff, 0));
  EXPECT_FALSE(psn_before(0, 0xffffff));
}

}  // namespace
