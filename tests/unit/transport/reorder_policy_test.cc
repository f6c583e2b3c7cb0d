// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>
#include <linux/types.h>

extern "C" {
#include "transport/reorder_policy.h"
}

namespace {

constexpr u32 kGuaranteed = SROCE_REORDER_GUARANTEED_BYTES;
constexpr u32 kOfQp = SROCE_REORDER_QP_BYTES;
constexpr u32 kOfDevice = SROCE_REORDER_DEVICE_BYTES;

TEST(ReorderPolicy, AQpMayTakeMuchOfAnEmptyPool) {
  EXPECT_TRUE(sroce_reorder_may_queue(kOfQp, kOfQp));
}

TEST(ReorderPolicy, AQpMayNotTakeTheWholePool) {
  EXPECT_FALSE(sroce_reorder_may_queue(kOfQp + 1, kOfQp + 1));
}

TEST(ReorderPolicy, ThePoolIsLimited) {
  EXPECT_TRUE(sroce_reorder_may_queue(kOfQp, kOfDevice));
  EXPECT_FALSE(sroce_reorder_may_queue(kOfQp, kOfDevice + 1));
  EXPECT_FALSE(sroce_reorder_may_queue(kGuaranteed + 1, kOfDevice + 1));
}

TEST(ReorderPolicy, OtherQpsCannotTakeWhatIsGuaranteed) {
  EXPECT_TRUE(sroce_reorder_may_queue(kGuaranteed, kOfDevice + 1));
  EXPECT_TRUE(sroce_reorder_may_queue(kGuaranteed, ~u64{0}));
}

// An skb of MTU 4096 has 8 KiB and a header. The first SACK comes after four packets.
TEST(ReorderPolicy, MoreIsGuaranteedThanTheFirstSackNeeds) {
  constexpr u32 skb_bytes = 8192 + 512;
  EXPECT_GE(kGuaranteed / skb_bytes, 5u);
  EXPECT_EQ(kGuaranteed % SROCE_REORDER_PIECE_BYTES, 0u);
}

}  // namespace
