// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>
#include <linux/types.h>

extern "C" {
#include "transport/tsq_policy.h"
}

namespace {

TEST(TsqLimit, Is128KiB) { EXPECT_EQ(sroce_tsq_limit(1024, 0), 128u); }

TEST(TsqLimit, SmallPacketsAreLimitedByNumber) { EXPECT_EQ(sroce_tsq_limit(64, 0), 256u); }

TEST(TsqLimit, LargePacketsAre64) { EXPECT_EQ(sroce_tsq_limit(4096, 0), 64u); }

TEST(TsqLimit, HalvesForEachRoundTripOfRecovery) {
  EXPECT_EQ(sroce_tsq_limit(1024, 1), 64u);
  EXPECT_EQ(sroce_tsq_limit(1024, 2), 32u);
}

TEST(TsqLimit, IsAtLeastTwiceTheRestartLevel) { EXPECT_EQ(sroce_tsq_limit(4096, 2), 32u); }

TEST(TsqIsFull, AtTheLimitOfPackets) {
  EXPECT_FALSE(sroce_tsq_is_full(127, 2, 64, 128));
  EXPECT_TRUE(sroce_tsq_is_full(128, 2, 1, 128));
}

TEST(TsqIsFull, BeforeAFlowOfFqOverflows) {
  EXPECT_FALSE(sroce_tsq_is_full(79, 79, 1, 128));
  EXPECT_TRUE(sroce_tsq_is_full(80, 80, 1, 128));
  EXPECT_TRUE(sroce_tsq_is_full(40, 40, 64, 128));
}

TEST(TsqIsFull, NotAtTheRestartLevel) {
  EXPECT_FALSE(sroce_tsq_is_full(SROCE_TSQ_PACKETS_LOW, SROCE_TSQ_PACKETS_LOW, 64, 128));
}

}  // namespace
