// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>
#include <linux/types.h>

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
  u32 round(u32 flight, u32 srtt_ns, u64 timeout_ns = kTimeoutNs) {
    sroce_window_round(&window, flight, srtt_ns, timeout_ns, kMax);
    return window.packets;
  }
  sroce_window window;
};

TEST(Window, StartsWithoutALimit) {
  sroce_window window = {1, 1, 1};
  sroce_window_start(&window, kMax);
  EXPECT_EQ(window.packets, kMax);
  EXPECT_EQ(window.ssthresh, kMax);
  EXPECT_EQ(window.credit, 0u);
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

TEST(Window, DoesNotGrowWhenItShrinks) { EXPECT_EQ(Window(8).round(256, 33 * kMillisecond), 8u); }

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

TEST(Window, RetryIsSmall) {
  Window window(256);
  sroce_window_retry(&window.window);
  EXPECT_EQ(window.window.packets, 16u);
  window.window.packets = 2;
  sroce_window_retry(&window.window);
  EXPECT_EQ(window.window.packets, 2u);
}

}  // namespace
