// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>
#include <linux/types.h>

#include <algorithm>

extern "C" {
#include "transport/window_policy.h"
}

namespace {

constexpr u32 kMax = 8192;
constexpr u32 kMillisecond = 1'000'000;
constexpr u64 kTimeoutNs = 32 * kMillisecond;

struct Window {
  explicit Window(u32 packets, u32 ssthresh = kMax) {
    sroce_window_start(&window, kMax);
    window.packets = packets;
    window.ssthresh = ssthresh;
  }
  u32 acked(u32 packets) {
    sroce_window_acked(&window, packets, kMax);
    return window.packets;
  }
  u32 retry(bool needs_sample = true) {
    sroce_window_retry(&window, needs_sample);
    return window.packets;
  }
  u32 round(u32 flight, u32 srtt_ns, u64 timeout_ns = kTimeoutNs) {
    return round_of(flight, srtt_ns, srtt_ns, timeout_ns);
  }
  u32 round_of(u32 flight, u32 rtt_ns, u32 srtt_ns, u64 timeout_ns = kTimeoutNs) {
    window.rtt_ns = rtt_ns;
    sroce_window_round(&window, flight, srtt_ns, timeout_ns, kMax);
    return window.packets;
  }
  sroce_window window;
};

TEST(Window, StartsWithoutALimit) {
  sroce_window window = {};
  window.credit = 1;
  window.needs_sample = true;
  sroce_window_start(&window, kMax);
  EXPECT_EQ(window.packets, kMax);
  EXPECT_EQ(window.ssthresh, kMax);
  EXPECT_EQ(window.credit, 0u);
  EXPECT_FALSE(window.needs_sample);
}

TEST(Window, DoublesInSlowStart) {
  Window window(16);
  EXPECT_EQ(window.acked(16), 32u);
  EXPECT_EQ(window.acked(32), 64u);
}

TEST(Window, GrowsToItsMaximum) { EXPECT_EQ(Window(kMax - 2).acked(16), kMax); }

TEST(Window, GrowsByOneInARoundTripOfCongestionAvoidance) {
  Window window(4, 4);
  EXPECT_EQ(window.acked(3), 4u);
  EXPECT_EQ(window.acked(1), 5u);
  EXPECT_EQ(window.acked(4), 5u);
  EXPECT_EQ(window.acked(1), 6u);
}

TEST(Window, ShrinksToWhatIsAcknowledgedBeforeTheTimeout) {
  Window window(kMax);
  EXPECT_EQ(window.round(256, 128 * kMillisecond), 64u);
  EXPECT_EQ(window.window.ssthresh, 64u) << "slow start would fill the peer's queue again";
}

TEST(Window, IsAtLeastTwoPackets) { EXPECT_EQ(Window(kMax).round(4, 2000 * kMillisecond), 2u); }

TEST(Window, DoesNotGrowWhenItShrinks) { EXPECT_EQ(Window(9).round(256, 33 * kMillisecond), 6u); }

// Otherwise it would stay above its minimum if the path is a little longer than the timeout.
TEST(Window, ShrinksByAQuarterAtLeast) {
  Window window(64);
  for (int i = 0; i < 30; i++) {
    window.round(window.window.packets, 33 * kMillisecond);
    window.acked(window.window.packets);
  }
  EXPECT_EQ(window.window.path_ns, 33 * kMillisecond);
}

TEST(Window, StaysWhileTheRoundTripIsShortEnough) {
  Window window(64, 64);
  EXPECT_EQ(window.round(64, 32 * kMillisecond), 64u);
  EXPECT_EQ(window.window.ssthresh, 64u);
}

TEST(Window, ShortRoundTripEndsCongestionAvoidance) {
  Window window(64, 64);
  window.round(64, 8 * kMillisecond);
  EXPECT_EQ(window.acked(64), 128u);
}

TEST(Window, HasNoTargetWithoutAnAckTimeout) {
  EXPECT_EQ(Window(256).round(256, 2000 * kMillisecond, 0), 256u);
}

// The path's round trip is known three rounds after the limit has come to its minimum. Acknowledged
// packets raise the limit meanwhile.
Window on_a_long_path() {
  Window window(256);
  window.round(4, 48 * kMillisecond);
  for (int i = 0; i < 3; i++) {
    EXPECT_EQ(window.window.packets, 2u);
    window.acked(2);
    window.round(2, 48 * kMillisecond);
  }
  return window;
}

TEST(Window, GrowsOnAPathLongerThanTheTimeout) {
  Window window = on_a_long_path();
  EXPECT_EQ(window.window.path_ns, 48 * kMillisecond);
  EXPECT_EQ(window.acked(2), 5u);
  window.round(5, 48 * kMillisecond);
  EXPECT_EQ(window.acked(5), 10u);
}

TEST(Window, RoundInWhichTheQueueDrainsSaysNothingAboutThePath) {
  Window window(256);
  window.round(4, 48 * kMillisecond);
  window.window.packets = 256;
  window.round(128, 48 * kMillisecond);
  window.round(4, 48 * kMillisecond);
  window.round(2, 48 * kMillisecond);
  EXPECT_EQ(window.window.path_ns, 0u) << "these rounds were not in a row";
}

TEST(Window, QueueOnALongPathLimitsThePackets) {
  Window window = on_a_long_path();
  window.window.packets = 256;
  EXPECT_EQ(window.round(256, 128 * kMillisecond), 128u) << "twice the timeout";
  EXPECT_EQ(window.window.ssthresh, 128u);
  EXPECT_EQ(window.window.path_ns, 48 * kMillisecond);
}

TEST(Window, QueueOnALongPathEndsSlowStart) {
  Window window = on_a_long_path();
  window.window.packets = 16;
  window.round(16, 54 * kMillisecond);
  EXPECT_EQ(window.window.ssthresh, kMax);
  window.round_of(16, 55 * kMillisecond, 48 * kMillisecond);
  EXPECT_EQ(window.window.ssthresh, 16u) << "the average would show it later";
}

TEST(Window, PathMayBeTwiceAsLongAsTheTimeout) {
  Window window(256);
  for (int i = 0; i < 5; i++) window.round(4, 65 * kMillisecond);
  EXPECT_EQ(window.window.path_ns, 65 * kMillisecond);
  EXPECT_EQ(window.window.packets, 2u) << "there might be 2 of each of many QPs in a queue";
}

TEST(Window, PathMayBecomeShorter) {
  Window window = on_a_long_path();
  window.window.packets = 256;
  window.round(256, 40 * kMillisecond);
  EXPECT_EQ(window.window.path_ns, 40 * kMillisecond);
  window.round(256, 32 * kMillisecond);
  EXPECT_EQ(window.window.path_ns, 0u);
}

TEST(Window, PathIsLearntFromSamplesAndNotFromTheirAverage) {
  Window window = on_a_long_path();
  window.window.packets = 2;
  for (int i = 0; i < 3; i++) window.round_of(2, 40 * kMillisecond, 900 * kMillisecond);
  EXPECT_EQ(window.window.path_ns, 40 * kMillisecond);
  window.round_of(2, 0, 700 * kMillisecond);
  EXPECT_EQ(window.window.path_ns, 40 * kMillisecond) << "there was no sample in this round";
}

TEST(Window, EachRetryIsSmaller) {
  Window window(256);
  for (const u32 packets : {16u, 8u, 4u, 2u, 2u}) EXPECT_EQ(window.retry(), packets);
  EXPECT_EQ(Window(20).retry(), 10u);
  EXPECT_EQ(Window(3).retry(), 2u);
}

TEST(Window, DoesNotGrowAfterARetryUntilASample) {
  Window slow_start(256), avoidance(256, 2);
  slow_start.retry();
  avoidance.retry();
  EXPECT_EQ(slow_start.acked(256), 16u);
  EXPECT_EQ(avoidance.acked(256), 16u);
  sroce_window_sample(&slow_start.window);
  sroce_window_sample(&avoidance.window);
  EXPECT_EQ(slow_start.acked(16), 32u);
  EXPECT_EQ(avoidance.acked(15), 16u);
  EXPECT_EQ(avoidance.acked(1), 17u);
}

TEST(Window, GrowsAtOnceAfterARetryOfLostPackets) {
  Window window(256);
  window.retry(false);
  EXPECT_EQ(window.acked(16), 32u);
}

TEST(Window, SecondRetryDoesNotReplaceTheSample) {
  Window window(256);
  window.retry(true);
  window.retry(false);
  EXPECT_EQ(window.acked(8), 8u);
}

TEST(Window, RetryForgetsWhatWasAcknowledgedBefore) {
  Window window(16, 2);
  window.acked(15);
  window.retry();
  sroce_window_sample(&window.window);
  EXPECT_EQ(window.acked(7), 8u);
}

// Otherwise a long path with loss would need minutes to fill.
TEST(Window, RetryDoesNotEndSlowStart) {
  Window window(256);
  for (int i = 0; i < 5; i++) window.retry();
  EXPECT_EQ(window.window.ssthresh, kMax);
}

}  // namespace
