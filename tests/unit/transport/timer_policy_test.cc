// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>
#include <linux/types.h>

extern "C" {
#include "transport/time.h"
#include "transport/timer_policy.h"
}

namespace {

constexpr u64 kLeast = 250000;

TEST(TimerDefer, StartsAtTheMinimum) { EXPECT_EQ(sroce_timer_defer_longer(0, kLeast), kLeast); }

TEST(TimerDefer, GrowsByASixteenth) {
  EXPECT_EQ(sroce_timer_defer_longer(320000, kLeast), 340000u);
}

TEST(TimerDefer, EndsAtTwoMilliseconds) {
  EXPECT_EQ(sroce_timer_defer_longer(1999999, kLeast), 2000000u);
}

TEST(TimerSlack, IsAMicrosecondForEachQp) { EXPECT_EQ(sroce_timer_slack(kLeast, 100), 100000u); }

TEST(TimerSlack, IsAtLeastAQuarterOfTheWait) {
  EXPECT_EQ(sroce_timer_slack(kLeast, 1), kLeast / 4);
}

TEST(TimerSlack, IsAtMostTwiceTheWait) {
  EXPECT_EQ(sroce_timer_slack(kLeast, 1000000), 2 * kLeast);
}

TEST(TimerEarliest, ExactDeadlineBeforeTheOtherHasNoSlack) {
  u64 slack_ns = 500;
  EXPECT_EQ(sroce_timer_earliest(2000, &slack_ns, 1000), 1000u);
  EXPECT_EQ(slack_ns, 0u);
}

TEST(TimerEarliest, ExactDeadlineWithinTheSlackEndsIt) {
  u64 slack_ns = 500;
  EXPECT_EQ(sroce_timer_earliest(2000, &slack_ns, 2100), 2000u);
  EXPECT_EQ(slack_ns, 100u);
}

TEST(TimerEarliest, LaterDeadlineLeavesTheSlack) {
  u64 slack_ns = 500;
  EXPECT_EQ(sroce_timer_earliest(2000, &slack_ns, SROCE_NEVER), 2000u);
  EXPECT_EQ(slack_ns, 500u);
}

TEST(TimerResponseWait, FollowsTheDeferral) {
  EXPECT_EQ(sroce_timer_response_wait(700000, 0, kLeast), 700000u);
}

TEST(TimerResponseWait, IsNoLongerThanTheAckTimeout) {
  EXPECT_EQ(sroce_timer_response_wait(700000, 500000, kLeast), 500000u);
}

TEST(TimerResponseWait, IsNotShorterThanTheMinimum) {
  EXPECT_EQ(sroce_timer_response_wait(0, 100000, kLeast), kLeast);
}

}  // namespace
