// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/uverbs.h"

#include <gtest/gtest.h>

namespace sroce {
namespace {

TEST(MtuBytes, FollowsTheFiveValuesOfTheStandard) {
  EXPECT_EQ(mtu_bytes(1), 256u);
  EXPECT_EQ(mtu_bytes(3), 1024u);
  EXPECT_EQ(mtu_bytes(5), 4096u);
}

TEST(MtuBytes, KnowsNoOthers) {
  EXPECT_EQ(mtu_bytes(0), std::nullopt);
  EXPECT_EQ(mtu_bytes(6), std::nullopt);
  EXPECT_EQ(mtu_bytes(255), std::nullopt);
}

TEST(QueryActiveMtu, KnowsNothingWithoutTheCharacterFile) {
  EXPECT_EQ(query_active_mtu_bytes({"no-such-uverbs", 14}, 1), std::nullopt);
}

}  // namespace
}  // namespace sroce
