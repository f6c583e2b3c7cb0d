// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "port/engine.h"
#include "unit/transport/bottleneck.h"
#include "unit/transport/cc_probe.h"

namespace {

constexpr u64 kMicrosecond = 1000;
constexpr u64 kMillisecond = 1000000;
constexpr u64 kSecond = 1000000000;
constexpr u64 kLine = 10000 * SROCE_CC_MBPS;
constexpr u64 kBase = 50 * kMicrosecond;

class Delay : public ::testing::Test {
 protected:
  Delay() {
    sroce_cc_params_init(&params_);
    params_.algorithm = SROCE_CC_delay;
    set_param("delay_flow_scaling", 0);
    start();
  }

  void start() { sroce_cc_start(&cc_, &params_, kLine, 1024, now_); }
  void ack(u32 packets, u64 rtt, u32 inflight = 1 << 20) {
    const sroce_cc_ack ack = {now_, packets, inflight, rtt, kBase, rtt};
    sroce_cc_acked(&cc_, &ack);
  }
  void ack_after(u64 wait, u32 packets, u64 rtt) {
    now_ += wait;
    ack(packets, rtt);
  }
  // A loss ends slow start. The window then has @packets packets.
  void settle(u32 packets) {
    sroce_cc_lost(&cc_, SROCE_CC_RETRANSMIT, now_);
    take_events();
    cc_.cwnd = packets * SROCE_CC_PACKET;
    cc_.cuts = 0;
    now_ += kSecond;
  }
  void set_param(const char* name, u32 value) { set_cc_param(params_, name, value); }
  u32 param(const char* name) const { return get_cc_param(params_, name); }
  u64 target() const { return cc_detail(cc_, "target"); }
  u32 take_events() {
    sroce_cc_events events;
    sroce_cc_take_events(&cc_, &events);
    return events.mask;
  }
  u32 window() const { return sroce_cc_window_packets(&cc_); }
  // A round-trip time of which @percent exceeds the target.
  u64 above_target(u32 percent) const { return (kBase + kAllowed) * 100 / (100 - percent); }

  static constexpr u64 kAllowed = 100 * kMicrosecond;
  static constexpr u64 kGood = kBase + 20 * kMicrosecond;
  sroce_cc_params params_;
  sroce_cc cc_;
  u64 now_ = kSecond;
};

using DelayGrowth = Delay;
using DelayDecrease = Delay;
using DelaySmallWindow = Delay;
using DelayLoss = Delay;
using DelayEvents = Delay;

TEST_F(DelayGrowth, StartsUnpacedWithTheInitialWindow) {
  EXPECT_EQ(window(), 16u);
  EXPECT_EQ(cc_.rate, SROCE_CC_UNLIMITED);
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "slow start");
}

TEST_F(DelayGrowth, SlowStartDoublesTheWindowPerRoundTrip) {
  for (u32 expected = 32; expected <= 4096; expected *= 2) {
    ack_after(kGood, window(), kGood);
    EXPECT_EQ(window(), expected);
  }
  ack_after(kGood, window(), kGood);
  EXPECT_EQ(window(), param("delay_max_cwnd"));
}

TEST_F(DelayGrowth, FirstDelayAboveTargetEndsSlowStart) {
  ack_after(kSecond, 16, above_target(1));
  const u32 cwnd = cc_.cwnd;
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "above target");
  ack_after(kGood, 16, kGood);
  EXPECT_LE(cc_.cwnd, cwnd + SROCE_CC_PACKET * 11 / 10);
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "below target");
}

TEST_F(DelayGrowth, AdditiveIncreaseIsOnePacketPerRoundTrip) {
  settle(20);
  ack_after(kGood, 20, kGood);
  EXPECT_EQ(window(), 21u);
  set_param("delay_ai", 512);
  ack_after(kGood, 21, kGood);
  EXPECT_EQ(window(), 23u);
}

TEST_F(DelayGrowth, FractionsOfAPacketAddUp) {
  settle(2000);
  for (int i = 0; i < 2000; i++) ack(1, kGood);
  EXPECT_NEAR(cc_.cwnd, 2001 * SROCE_CC_PACKET, 2);
}

TEST_F(DelayGrowth, UnusedWindowDoesNotGrow) {
  ack(1, kGood, 6);
  EXPECT_EQ(window(), 16u);
  ack(1, kGood, 7);
  EXPECT_EQ(window(), 17u);
}

TEST_F(DelayGrowth, PacketsWithoutRttCountWithTheNextSample) {
  settle(20);
  for (int i = 0; i < 19; i++) ack(1, 0);
  EXPECT_EQ(cc_.cwnd, 20 * SROCE_CC_PACKET);
  ack(1, kGood);
  EXPECT_NEAR(cc_.cwnd, 21 * SROCE_CC_PACKET, 2);
}

TEST_F(DelayDecrease, IsProportionalToTheExcess) {
  settle(100);
  ack(1, above_target(25));
  // 80 % of 25 %
  EXPECT_NEAR(cc_.cwnd, 80 * SROCE_CC_PACKET, 2);
  EXPECT_EQ(cc_.cuts, 1u);
}

TEST_F(DelayDecrease, IsAtMostFiftyPercent) {
  settle(100);
  ack(1, kSecond);
  EXPECT_EQ(window(), 50u);
}

TEST_F(DelayDecrease, HappensOncePerRoundTrip) {
  settle(100);
  const u64 rtt = above_target(50);
  for (u64 i = 0; i < 10; i++) ack_after(rtt / 10 - 1, 1, rtt);
  EXPECT_EQ(cc_.cuts, 1u);
  ack_after(rtt, 1, rtt);
  EXPECT_EQ(cc_.cuts, 2u);
}

TEST_F(DelayDecrease, TargetIsTheBasePlusTheAllowedDelay) {
  settle(100);
  ack(1, kBase + kAllowed - 1);
  EXPECT_EQ(target(), kBase + kAllowed);
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "below target");
  ack(1, kBase + kAllowed);
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "above target");
}

TEST_F(DelayDecrease, ConfiguredBaseReplacesTheMinimumRtt) {
  set_param("delay_base", 20);
  ack(1, kGood);
  EXPECT_EQ(target(), 20 * kMicrosecond + kAllowed);
}

TEST_F(DelayDecrease, SmallWindowsHaveAHigherTarget) {
  set_param("delay_flow_scaling", 400);
  u64 last = U64_MAX;
  for (u32 packets : {1u, 4u, 16u, 100u, 2500u}) {
    settle(packets);
    ack(0, kGood, 0);
    EXPECT_LT(target(), last);
    last = target();
  }
  EXPECT_EQ(last, kBase + kAllowed + 8 * kMicrosecond);
  settle(16);
  ack(0, kGood, 0);
  EXPECT_EQ(target(), kBase + kAllowed + 100 * kMicrosecond);
}

TEST_F(DelaySmallWindow, FractionOfAPacketIsOnePacedPacket) {
  settle(1);
  const u64 rtt = kMillisecond;
  ack(1, rtt);
  EXPECT_EQ(cc_.cwnd, SROCE_CC_PACKET / 2);
  EXPECT_EQ(window(), 1u);
  // Half a packet in a millisecond.
  EXPECT_NEAR(static_cast<double>(cc_.rate), 1084 * 500., 1250000. * 2);
  set_param("rp_min_rate", 1);
  ack(0, 0);
  ack_after(rtt, 1, rtt);
  EXPECT_NEAR(static_cast<double>(cc_.rate), 1084 * 250., 1000);
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "less than a packet");
}

TEST_F(DelaySmallWindow, StopsAtTheMinimumWindowAndRate) {
  settle(1);
  for (int i = 0; i < 50; i++) ack_after(kSecond, 1, kMillisecond);
  EXPECT_EQ(cc_.cwnd, param("delay_min_cwnd"));
  EXPECT_EQ(cc_.rate, 10u * SROCE_CC_MBPS);
}

TEST_F(DelaySmallWindow, GrowsBackUntilPacingEnds) {
  settle(1);
  for (int i = 0; i < 50; i++) ack_after(kSecond, 1, kMillisecond);
  for (int i = 0; i < 20; i++) ack_after(kMillisecond, window(), kGood);
  EXPECT_GE(window(), 4u);
  EXPECT_EQ(cc_.rate, SROCE_CC_UNLIMITED);
}

TEST_F(DelaySmallWindow, FractionAboveWholePacketsIsPaced) {
  settle(2);
  ack(1, kGood);
  EXPECT_EQ(cc_.cwnd, 2 * SROCE_CC_PACKET + SROCE_CC_PACKET / 2);
  EXPECT_EQ(window(), 3u);
  EXPECT_NEAR(static_cast<double>(cc_.rate), 2.5 * 1084 / 70e-6, 1000);
}

TEST_F(DelayLoss, CutsByTheMaximumOncePerRoundTrip) {
  settle(100);
  ack(1, kGood);
  for (int i = 0; i < 10; i++) sroce_cc_lost(&cc_, SROCE_CC_RETRANSMIT, now_);
  EXPECT_EQ(window(), 51u);
  sroce_cc_lost(&cc_, SROCE_CC_RETRANSMIT, now_ += kGood);
  EXPECT_EQ(window(), 26u);
}

TEST_F(DelayLoss, FiveTimeoutsInARowSetTheMinimumWindow) {
  settle(4096);
  for (int i = 0; i < 4; i++) sroce_cc_lost(&cc_, SROCE_CC_TIMEOUT, now_ += kSecond);
  EXPECT_EQ(window(), 256u);
  sroce_cc_lost(&cc_, SROCE_CC_TIMEOUT, now_ += kSecond);
  EXPECT_EQ(cc_.cwnd, param("delay_min_cwnd"));
}

TEST_F(DelayLoss, AckResetsTheTimeoutCount) {
  settle(4096);
  for (int i = 0; i < 5; i++) {
    sroce_cc_lost(&cc_, SROCE_CC_TIMEOUT, now_ += kSecond);
    ack(1, 0);
  }
  EXPECT_EQ(window(), 128u);
}

TEST_F(DelayLoss, CnpsAreIgnored) {
  EXPECT_FALSE(sroce_cc_cnp(&cc_, 0, now_));
  EXPECT_EQ(window(), 16u);
}

TEST_F(DelayEvents, GrowthAndCutsAreReported) {
  EXPECT_EQ(take_events(), 0u);
  ack_after(kGood, 16, kGood);
  EXPECT_EQ(take_events(), u32{SROCE_CC_EV_WINDOW_RAISED});
  ack(1, 0);
  ack(1, kGood, 0);
  EXPECT_EQ(take_events(), 0u);
  ack_after(kSecond, 1, above_target(20));
  EXPECT_EQ(take_events(),
            u32{SROCE_CC_EV_BY_DELAY | SROCE_CC_EV_CUT | SROCE_CC_EV_SLOW_START_ENDED});
  ack_after(kMicrosecond, 1, above_target(20));
  EXPECT_EQ(take_events(), u32{SROCE_CC_EV_BY_DELAY | SROCE_CC_EV_CUT_SKIPPED});
}

TEST_F(DelayEvents, MaximumWindowReportsNoGrowth) {
  settle(param("delay_max_cwnd"));
  ack(1, kGood);
  EXPECT_EQ(take_events(), 0u);
}

TEST_F(DelayEvents, DistinguishLossesFromTimeouts) {
  settle(4096);
  sroce_cc_lost(&cc_, SROCE_CC_RETRANSMIT, now_);
  EXPECT_EQ(take_events(), u32{SROCE_CC_EV_BY_LOSS | SROCE_CC_EV_CUT});
  sroce_cc_lost(&cc_, SROCE_CC_RETRANSMIT, now_);
  EXPECT_EQ(take_events(), u32{SROCE_CC_EV_BY_LOSS | SROCE_CC_EV_CUT_SKIPPED});
  for (int i = 0; i < 5; i++) {
    sroce_cc_lost(&cc_, SROCE_CC_TIMEOUT, now_ += kSecond);
    EXPECT_EQ(take_events(), u32{SROCE_CC_EV_BY_TIMEOUT | SROCE_CC_EV_CUT});
  }
  EXPECT_EQ(cc_.cwnd, param("delay_min_cwnd"));
}

TEST_F(DelayEvents, ParameterChangeIsReported) {
  settle(100);
  set_param("delay_max_cwnd", 50);
  ack(1, kGood, 0);
  EXPECT_EQ(take_events(), u32{SROCE_CC_EV_ADAPTED});
  settle(100);
  ack(1, kGood);
  EXPECT_EQ(take_events(), u32{SROCE_CC_EV_ADAPTED});
}

class DelayNetwork : public ::testing::Test {
 protected:
  DelayNetwork() {
    sroce_cc_params_init(&params_);
    params_.algorithm = SROCE_CC_delay;
  }

  void set_param(const char* name, u32 value) { set_cc_param(params_, name, value); }

  sroce_cc_params params_;
};

TEST_F(DelayNetwork, LateFlowGetsItsShareInAHundredRoundTrips) {
  Bottleneck link(params_, kLine, kBase);
  link.add(link.now_ns);
  link.add(link.now_ns + 2 * kMillisecond);
  // A round trip includes the allowed delay, about 150 us more than the base.
  link.run_until(link.now_ns + 2 * kMillisecond + 90 * 200 * kMicrosecond);
  link.count();
  link.run_until(link.now_ns + 10 * 200 * kMicrosecond);
  EXPECT_GE(link.fairness(), 95u);
  EXPECT_GE(link.utilisation(), 95u);
}

TEST_F(DelayNetwork, IncastConvergesToTheTarget) {
  Bottleneck link(params_, kLine, kBase);
  for (int i = 0; i < 8; i++) link.add();
  link.run_until(link.now_ns + 10 * kMillisecond);
  link.count();
  link.run_until(link.now_ns + 20 * kMillisecond);
  EXPECT_GE(link.fairness(), 95u);
  EXPECT_GE(link.utilisation(), 95u);
  EXPECT_LE(link.max_queue, 300 * kMicrosecond / link.step_ns);
}

TEST_F(DelayNetwork, ManyFlowsGetLessThanAPacketEach) {
  // 100 flows at 1 Gb/s: the link holds less than 40 packets within the target.
  set_param("delay_base", 50);
  Bottleneck link(params_, kLine / 10, kBase);
  for (int i = 0; i < 100; i++) link.add();
  link.run_until(link.now_ns + 50 * kMillisecond);
  link.count();
  link.run_until(link.now_ns + 50 * kMillisecond);
  EXPECT_GE(link.fairness(), 80u);
  EXPECT_GE(link.utilisation(), 95u);
  EXPECT_LE(link.max_queue, 200u);
}

TEST_F(DelayNetwork, RemainingFlowTakesTheFreedShare) {
  Bottleneck link(params_, kLine, kBase);
  link.add();
  link.add();
  link.run_until(link.now_ns + 10 * kMillisecond);
  link.flows[1].start_ns = U64_MAX;
  link.run_until(link.now_ns + 5 * kMillisecond);
  link.count();
  link.run_until(link.now_ns + 5 * kMillisecond);
  EXPECT_GE(link.utilisation(), 98u);
}

}  // namespace
