// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>
#include <linux/types.h>

extern "C" {
#include "transport/ack_delay_policy.h"
}

namespace {

TEST(AckDelay, AckWaitsForAConsumerThatReplies) {
  sroce_delayed_ack ack = {};
  EXPECT_TRUE(sroce_delayed_ack_decide(&ack, true, true, true));
}

TEST(AckDelay, AckIsSentAtOnceIfNoConsumerWakes) {
  sroce_delayed_ack ack = {};
  EXPECT_FALSE(sroce_delayed_ack_decide(&ack, false, true, true));
}

TEST(AckDelay, AckDoesNotWaitForAConsumerThatOnlyReceives) {
  sroce_delayed_ack ack = {};
  EXPECT_FALSE(sroce_delayed_ack_decide(&ack, true, false, true));
}

TEST(AckDelay, NakDoesNotWait) {
  sroce_delayed_ack ack = {};
  EXPECT_FALSE(sroce_delayed_ack_decide(&ack, true, true, false));
}

TEST(AckDelay, DuplicateDisablesItFor255Acks) {
  sroce_delayed_ack ack = {};
  sroce_delayed_ack_duplicate(&ack);
  for (int i = 0; i < 255; i++) ASSERT_FALSE(sroce_delayed_ack_decide(&ack, true, true, true));
  EXPECT_TRUE(sroce_delayed_ack_decide(&ack, true, true, true));
}

TEST(AckDelay, PauseCountsOnlyAcksThatCouldWait) {
  sroce_delayed_ack ack = {};
  sroce_delayed_ack_duplicate(&ack);
  sroce_delayed_ack_decide(&ack, true, false, true);
  EXPECT_EQ(ack.pause, 255);
}

}  // namespace
