// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <cmath>

#include "port/engine.h"
#include "unit/transport/bottleneck.h"
#include "unit/transport/cc_probe.h"

namespace {

constexpr u64 kMicrosecond = 1000;
constexpr u64 kMillisecond = 1000000;
constexpr u64 kSecond = 1000000000;
constexpr u64 kGigabit = 1000 * SROCE_CC_MBPS;
constexpr u64 kLine = 10 * kGigabit;
// The default of rp_time_reset.
constexpr u64 kTimer = 150 * kMicrosecond;
constexpr double kFirstAlpha = 1023 / 1024.;

class Dcqcn : public ::testing::Test {
 protected:
  Dcqcn() {
    sroce_cc_params_init(&params_);
    start(kLine);
  }

  void start(u64 line_rate) { sroce_cc_start(&cc_, &params_, line_rate, 1024, now_); }
  void cnp(u64 srtt_ns = 0) { sroce_cc_cnp(&cc_, srtt_ns, now_); }
  void cnp_after(u64 wait) {
    now_ += wait;
    cnp();
  }
  // Advances the clock and accounts for @bytes, as if they were sent.
  void advance(u64 wait, u32 bytes = 0) {
    now_ += wait;
    sroce_cc_sent(&cc_, bytes, now_);
  }
  void round_trip(u64 ns) {
    const sroce_cc_ack ack = {now_, 1, 1, ns, ns, ns};
    sroce_cc_acked(&cc_, &ack);
  }
  bool limited() const { return cc_.rate != SROCE_CC_UNLIMITED; }
  struct sroce_cc_info info() const {
    struct sroce_cc_info info;
    sroce_cc_get_info(&cc_, now_, &info);
    return info;
  }

  void set_param(const char* name, u32 value) { set_cc_param(params_, name, value); }
  u32 param(const char* name) const { return get_cc_param(params_, name); }
  // As of the last event.
  u64 target() const { return cc_detail(cc_, "target"); }
  double alpha() const { return static_cast<double>(cc_detail(cc_, "alpha")) / SROCE_CC_ONE; }

  u32 count(const sroce_cc_events& events, const std::string& name) const {
    const struct sroce_cc_info names = info();
    for (u32 i = 0; i < SROCE_CC_EVENT_COUNTS; i++)
      if (names.count_names[i] && names.count_names[i] == name) return events.counts[i];
    ADD_FAILURE() << name;
    return 0;
  }
  sroce_cc_events take_events() {
    sroce_cc_events events;
    sroce_cc_take_events(&cc_, &events);
    return events;
  }

  sroce_cc_params params_;
  sroce_cc cc_;
  u64 now_ = kSecond;
};

using DcqcnCut = Dcqcn;
using DcqcnTarget = Dcqcn;
using DcqcnAlpha = Dcqcn;
using DcqcnIncrease = Dcqcn;
using DcqcnLoss = Dcqcn;
using DcqcnEvents = Dcqcn;

TEST_F(DcqcnCut, RateIsUnlimitedWithoutACnp) {
  for (int i = 0; i < 1000; i++) {
    advance(kMicrosecond, 1 << 20);
    round_trip(kMillisecond);
  }
  EXPECT_FALSE(limited());
  EXPECT_EQ(sroce_cc_window_packets(&cc_), SROCE_CC_NO_WINDOW);
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "line rate");
  EXPECT_EQ(info().detail_count, 0u);
}

TEST_F(DcqcnCut, FirstCnpCutsFiftyPercentOfTheLineRate) {
  cnp();
  EXPECT_NEAR(static_cast<double>(cc_.rate), kLine / 2., kLine / 1000.);
  EXPECT_EQ(target(), kLine);
  EXPECT_EQ(cc_.cnp_handled, 1u);
  EXPECT_EQ(cc_.cuts, 1u);
  EXPECT_EQ(alpha(), kFirstAlpha);
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "fast recovery");
}

TEST_F(DcqcnCut, UnknownLineRateCountsAsTenGigabit) {
  start(0);
  cnp();
  EXPECT_EQ(target(), kLine);
  EXPECT_EQ(info().line_rate, kLine);
}

TEST_F(DcqcnCut, MaximumRateReplacesTheLineRate) {
  set_param("rp_max_rate", 4000);
  cnp();
  EXPECT_EQ(target(), 4 * kGigabit);
}

TEST_F(DcqcnCut, FirstCnpSetsTheConfiguredRate) {
  set_param("rp_rate_to_set_on_first_cnp", 1500);
  cnp();
  EXPECT_EQ(cc_.rate, 1500u * SROCE_CC_MBPS);
  EXPECT_EQ(target(), kLine);
  set_param("rp_rate_to_set_on_first_cnp", 800000);
  start(kLine);
  cnp();
  EXPECT_EQ(cc_.rate, kLine);
}

TEST_F(DcqcnCut, RateIsCutOncePerMonitorPeriod) {
  cnp();
  const u64 rate = cc_.rate;
  cnp_after(49 * kMicrosecond);
  EXPECT_EQ(cc_.rate, rate);
  EXPECT_EQ(cc_.cnp_handled, 2u);
  cnp_after(kMicrosecond);
  EXPECT_LT(cc_.rate, rate * 51 / 100);
  EXPECT_EQ(cc_.cuts, 2u);
}

TEST_F(DcqcnCut, RateIsCutOncePerRoundTrip) {
  cnp();
  round_trip(400 * kMicrosecond);
  for (int i = 0; i < 7; i++) cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.cuts, 1u);
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.cuts, 2u);
}

// A queue without ACKs learns it from the requester. CNPs that do not know it change nothing.
TEST_F(DcqcnCut, RoundTripMayComeWithACnp) {
  cnp(400 * kMicrosecond);
  for (int i = 0; i < 7; i++) cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.cuts, 1u);
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.cuts, 2u);
}

TEST_F(DcqcnCut, RoundTripCountsUpToTenMilliseconds) {
  cnp();
  round_trip(kSecond);
  for (int i = 0; i < 200; i++) cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.cuts, 2u);
}

TEST_F(DcqcnCut, CutRespectsTheMinimumDecreaseFactor) {
  set_param("rp_min_dec_fac", 80);
  cnp();
  EXPECT_EQ(cc_.rate, kLine * 80 / 100);
  set_param("rp_min_dec_fac", 100);
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.rate, kLine * 80 / 100);
}

TEST_F(DcqcnCut, ExponentOfTenCutsByAllOfAlpha) {
  set_param("rp_gd", 10);
  set_param("rp_min_dec_fac", 0);
  set_param("rp_initial_alpha_value", 768);
  cnp();
  EXPECT_EQ(cc_.rate, kLine / 4);
}

TEST_F(DcqcnCut, RateStopsAtTheMinimum) {
  for (int i = 0; i < 100; i++) cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.rate, 10u * SROCE_CC_MBPS);
}

TEST_F(DcqcnCut, MinimumRateIsCappedAtTheLineRate) {
  set_param("rp_min_rate", 800000);
  cnp();
  EXPECT_EQ(cc_.rate, kLine);
  advance(kTimer);
  EXPECT_FALSE(limited());
}

TEST_F(DcqcnTarget, ConsecutiveCutsKeepTheTarget) {
  cnp();
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(target(), kLine);
}

TEST_F(DcqcnTarget, ClampSetsTheTargetAtEveryCut) {
  set_param("rp_clamp_tgt_rate", 1);
  cnp();
  const u64 rate = cc_.rate;
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(target(), rate);
}

TEST_F(DcqcnTarget, CutAfterATimerIncreaseSetsTheTarget) {
  cnp();
  advance(kTimer);
  const u64 rate = cc_.rate;
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(target(), rate);
}

TEST_F(DcqcnTarget, TimerIncreaseCanBeExcludedFromTheClamp) {
  set_param("rp_clamp_tgt_rate_ati", 0);
  cnp();
  advance(kTimer);
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(target(), kLine);
}

TEST_F(DcqcnTarget, CutAfterAByteIncreaseAlwaysSetsTheTarget) {
  set_param("rp_clamp_tgt_rate_ati", 0);
  cnp();
  advance(0, param("rp_byte_reset"));
  const u64 rate = cc_.rate;
  EXPECT_GT(rate, kLine * 7 / 10);
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(target(), rate);
}

TEST_F(DcqcnTarget, TargetFarAboveTheRateIsDividedByEight) {
  for (int i = 0; i < 4; i++) cnp_after(50 * kMicrosecond);
  const u64 rate = cc_.rate;
  ASSERT_LT(rate, kLine / 10);
  advance(kTimer);
  EXPECT_EQ(target(), kLine / 8);
  EXPECT_EQ(cc_.rate, kLine / 8 - (kLine / 8 - rate) / 2);
  advance(kTimer);
  EXPECT_EQ(target(), kLine / 8);
}

TEST_F(DcqcnTarget, LowerMaximumRateLowersTheTarget) {
  cnp();
  set_param("rp_max_rate", 2000);
  advance(kTimer);
  EXPECT_FALSE(limited());
  cnp();
  EXPECT_EQ(target(), 2 * kGigabit);
}

// Alpha after a CNP and @periods periods, computed period by period.
double alpha_by_loop(double alpha, double keep, u32 periods) {
  for (u32 i = 0; i < periods; i++) alpha = alpha * keep + (i ? 0 : 1 - keep);
  return alpha;
}

TEST_F(DcqcnAlpha, ClosedFormMatchesTheLoop) {
  set_param("rp_dce_tcp_rtt", 1);
  set_param("rp_time_reset", 131071);
  set_param("rp_initial_alpha_value", 512);
  for (u32 g : {0u, 1u, 512u, 1000u, 1020u, 1023u}) {
    set_param("rp_dce_tcp_g", g);
    for (u32 periods : {1u, 2u, 3u, 4u, 7u, 63u, 64u, 65u, 1000u, 4095u, 100000u}) {
      start(kLine);
      cnp();
      advance(periods * kMicrosecond);
      const double expected = alpha_by_loop(.5, g / 1024., periods);
      EXPECT_NEAR(alpha(), expected, 1e-7) << g << " " << periods;
    }
  }
}

TEST_F(DcqcnAlpha, ManyUpdatesEqualOne) {
  set_param("rp_time_reset", 131071);
  cnp();
  for (int i = 0; i < 1000; i++) advance(17 * kMicrosecond);
  const double expected = alpha_by_loop(1023 / 1024., 1020 / 1024., 17000 / 55);
  EXPECT_NEAR(alpha(), expected, 1e-6);
}

TEST_F(DcqcnAlpha, GrowsWhileCnpsArrive) {
  set_param("rp_initial_alpha_value", 1);
  double before = 0;
  for (int i = 0; i < 200; i++) {
    cnp_after(55 * kMicrosecond);
    EXPECT_GT(alpha(), before);
    before = alpha();
  }
  EXPECT_NEAR(before, 1 - std::pow(1020 / 1024., 199), 2e-3);
}

TEST_F(DcqcnAlpha, PeriodIsAtLeastARoundTrip) {
  set_param("rp_initial_alpha_value", 1);
  cnp();
  round_trip(2 * kMillisecond);
  for (int i = 0; i < 19; i++) cnp_after(100 * kMicrosecond);
  const double before = alpha();
  cnp_after(100 * kMicrosecond);
  EXPECT_NEAR(alpha() - before, 4 / 1024., 1e-4);
}

TEST_F(DcqcnAlpha, IsResetWhenTheLimitEnds) {
  cnp();
  advance(kSecond);
  ASSERT_FALSE(limited());
  cnp();
  EXPECT_EQ(alpha(), kFirstAlpha);
}

TEST_F(DcqcnIncrease, FastRecoveryClosesHalfOfTheGap) {
  cnp();
  u64 gap = kLine - cc_.rate;
  for (int i = 1; i < 5; i++) {
    advance(kTimer);
    gap /= 2;
    EXPECT_NEAR(static_cast<double>(kLine - cc_.rate), static_cast<double>(gap), 8);
    EXPECT_EQ(target(), kLine);
    EXPECT_STREQ(sroce_cc_state_name(&cc_), "fast recovery");
  }
}

TEST_F(DcqcnIncrease, TimerPeriodIsAtLeastARoundTrip) {
  cnp();
  round_trip(2 * kMillisecond);
  const u64 rate = cc_.rate;
  for (int i = 0; i < 19; i++) advance(100 * kMicrosecond);
  EXPECT_EQ(cc_.rate, rate);
  advance(100 * kMicrosecond);
  EXPECT_NEAR(static_cast<double>(kLine - cc_.rate), (kLine - rate) / 2., 8);
}

TEST_F(DcqcnIncrease, TimerPeriodIsAtMostTenMilliseconds) {
  cnp();
  round_trip(kSecond);
  const u64 rate = cc_.rate;
  advance(10 * kMillisecond);
  EXPECT_GT(cc_.rate, rate);
}

// A rate far below the line rate. The target is the rate before the last cut.
class DcqcnLowRate : public Dcqcn {
 protected:
  DcqcnLowRate() {
    set_param("rp_clamp_tgt_rate", 1);
    for (int i = 0; i < 6; i++) cnp_after(50 * kMicrosecond);
    set_param("rp_clamp_tgt_rate", 0);
  }
};

TEST_F(DcqcnLowRate, AdditiveIncreaseRaisesTheTarget) {
  advance(4 * kTimer);
  const u64 before = target();
  for (u64 i = 1; i <= 10; i++) {
    advance(kTimer);
    EXPECT_EQ(target(), before + i * kLine / 1000);
    EXPECT_STREQ(sroce_cc_state_name(&cc_), "additive increase");
  }
}

TEST_F(DcqcnLowRate, IncreaseIsConfigurableInMegabits) {
  set_param("rp_ai_rate", 5);
  advance(4 * kTimer);
  const u64 before = target();
  advance(kTimer);
  EXPECT_EQ(target(), before + 5 * SROCE_CC_MBPS);
}

TEST_F(DcqcnLowRate, HyperIncreaseNeedsBothTimerAndBytes) {
  set_param("rp_hai_rate", 20);
  for (int i = 0; i < 5; i++) advance(kTimer, param("rp_byte_reset"));
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "additive increase");
  advance(kTimer);
  u64 before = target();
  advance(0, param("rp_byte_reset"));
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "hyper increase");
  EXPECT_EQ(target(), before + 20 * SROCE_CC_MBPS);
  advance(kTimer);
  before = target();
  advance(0, param("rp_byte_reset"));
  EXPECT_EQ(target(), before + 40 * SROCE_CC_MBPS);
}

TEST_F(DcqcnLowRate, OneUpdateEqualsManyPeriods) {
  for (u64 periods : {1ull, 2ull, 4ull, 5ull, 10ull, 300ull, 900ull, 950ull}) {
    sroce_cc lump = cc_, steps = cc_;
    sroce_cc_sent(&lump, 0, now_ + periods * kTimer);
    for (u64 i = 1; i <= periods; i++) sroce_cc_sent(&steps, 0, now_ + i * kTimer);
    EXPECT_EQ(cc_detail(lump, "target"), cc_detail(steps, "target")) << periods;
    EXPECT_NEAR(static_cast<double>(lump.rate), static_cast<double>(steps.rate), 16) << periods;
  }
}

TEST_F(DcqcnLowRate, CnpPostponesIncreases) {
  const u64 rate = cc_.rate;
  round_trip(kMillisecond);
  for (int i = 0; i < 9; i++) {
    now_ += 100 * kMicrosecond;
    advance(0);
    cnp();
  }
  EXPECT_EQ(cc_.rate, rate);
}

TEST_F(DcqcnLowRate, OnlyTimeCountsWithoutAByteCounter) {
  set_param("rp_byte_reset", 0);
  const u64 rate = cc_.rate;
  for (int i = 0; i < 100; i++) advance(0, 1 << 30);
  EXPECT_EQ(cc_.rate, rate);
}

TEST_F(DcqcnLowRate, RateReturnsToTheLineRate) {
  u64 last = cc_.rate;
  for (int i = 0; i < 1200 && limited(); i++) {
    EXPECT_GE(cc_.rate, last);
    last = cc_.rate;
    advance(kTimer, 10000);
  }
  EXPECT_FALSE(limited());
  EXPECT_EQ(sroce_cc_sendable_bytes(&cc_, now_), U32_MAX);
}

TEST_F(DcqcnIncrease, LimitOfOneCnpEndsWithinTenPeriods) {
  cnp();
  for (int i = 0; i < 10; i++) advance(kTimer);
  EXPECT_FALSE(limited());
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "line rate");
}

TEST_F(DcqcnIncrease, InfoShowsTheCurrentRate) {
  cnp();
  const u64 rate = cc_.rate;
  now_ += kSecond;
  EXPECT_EQ(info().rate, SROCE_CC_UNLIMITED);
  EXPECT_STREQ(info().state, "line rate");
  EXPECT_EQ(cc_.rate, rate);
}

TEST_F(DcqcnIncrease, ClockAtItsMaximumGivesTheLineRate) {
  for (int i = 0; i < 20; i++) cnp_after(50 * kMicrosecond);
  now_ = U64_MAX;
  advance(0);
  EXPECT_FALSE(limited());
}

TEST_F(DcqcnLoss, RetransmittedLossIsNotCongestion) {
  for (int i = 0; i < 10; i++) sroce_cc_lost(&cc_, SROCE_CC_RETRANSMIT, now_ += kMillisecond);
  EXPECT_FALSE(limited());
}

TEST_F(DcqcnLoss, TimeoutCutsAQuarter) {
  sroce_cc_lost(&cc_, SROCE_CC_TIMEOUT, now_);
  EXPECT_EQ(cc_.rate, kLine * 3 / 4);
  sroce_cc_lost(&cc_, SROCE_CC_TIMEOUT, now_);
  EXPECT_EQ(cc_.rate, kLine * 3 / 4);
  sroce_cc_lost(&cc_, SROCE_CC_TIMEOUT, now_ += 100 * kMicrosecond);
  EXPECT_EQ(cc_.rate, kLine * 9 / 16);
}

TEST_F(DcqcnLoss, FullQueueOfThisHostCountsAsACnp) {
  sroce_cc_lost(&cc_, SROCE_CC_LOCAL_DROP, now_);
  EXPECT_NEAR(static_cast<double>(cc_.rate), kLine / 2., kLine / 1000.);
  EXPECT_EQ(cc_.cnp_handled, 0u);
}

TEST_F(DcqcnLoss, LimitOfATimeoutEndsWithinTenPeriods) {
  sroce_cc_lost(&cc_, SROCE_CC_TIMEOUT, now_);
  for (int i = 0; i < 10; i++) advance(kTimer);
  EXPECT_FALSE(limited());
}

TEST_F(DcqcnEvents, AreAbsentWithoutACnp) {
  for (int i = 0; i < 100; i++) {
    advance(kMicrosecond, 1 << 20);
    round_trip(kMillisecond);
    sroce_cc_lost(&cc_, SROCE_CC_RETRANSMIT, now_);
  }
  EXPECT_EQ(cc_.events.mask, 0u);
}

TEST_F(DcqcnEvents, CnpCutsTheRateOrComesTooSoon) {
  cnp();
  EXPECT_EQ(take_events().mask,
            u32{SROCE_CC_EV_BY_CNP | SROCE_CC_EV_LIMIT_BEGAN | SROCE_CC_EV_CUT});
  EXPECT_EQ(cc_.events.mask, 0u);
  cnp_after(49 * kMicrosecond);
  EXPECT_EQ(take_events().mask, u32{SROCE_CC_EV_BY_CNP | SROCE_CC_EV_CUT_SKIPPED});
  cnp_after(kMicrosecond);
  EXPECT_EQ(take_events().mask, u32{SROCE_CC_EV_BY_CNP | SROCE_CC_EV_CUT});
}

TEST_F(DcqcnEvents, CountElapsedPeriods) {
  cnp();
  take_events();
  advance(54 * kMicrosecond);
  EXPECT_EQ(cc_.events.mask, 0u);
  advance(56 * kMicrosecond);
  EXPECT_EQ(cc_.events.mask, u32{SROCE_CC_EV_ESTIMATED});
  // Counts add up until they are taken.
  advance(55 * kMicrosecond);
  const sroce_cc_events events = take_events();
  EXPECT_EQ(events.mask, u32{SROCE_CC_EV_ESTIMATED | SROCE_CC_EV_RAISED});
  EXPECT_EQ(count(events, "alpha_periods"), 3u);
  EXPECT_EQ(count(events, "fast"), 1u);
  EXPECT_EQ(count(events, "additive") + count(events, "hyper"), 0u);
  EXPECT_EQ(count(take_events(), "alpha_periods"), 0u);
}

TEST_F(DcqcnEvents, EndOfTheLimitIsReported) {
  cnp();
  take_events();
  advance(kSecond);
  const sroce_cc_events events = take_events();
  EXPECT_EQ(events.mask, u32{SROCE_CC_EV_ESTIMATED | SROCE_CC_EV_RAISED | SROCE_CC_EV_LIMIT_ENDED});
  EXPECT_EQ(count(events, "fast"), 4u);
  EXPECT_EQ(count(events, "additive"), kSecond / kTimer - 4);
}

TEST_F(DcqcnEvents, CountsSaturate) {
  set_param("rp_time_reset", 1);
  set_param("rp_ai_rate", 1);
  for (int i = 0; i < 2; i++) {
    cnp();
    advance(u64{1} << 44);
  }
  EXPECT_EQ(count(take_events(), "additive"), U32_MAX);
}

TEST_F(DcqcnEvents, TimeoutCutsTheRateOrComesTooSoon) {
  sroce_cc_lost(&cc_, SROCE_CC_TIMEOUT, now_);
  EXPECT_EQ(take_events().mask,
            u32{SROCE_CC_EV_BY_TIMEOUT | SROCE_CC_EV_LIMIT_BEGAN | SROCE_CC_EV_CUT});
  sroce_cc_lost(&cc_, SROCE_CC_TIMEOUT, now_);
  EXPECT_EQ(take_events().mask, u32{SROCE_CC_EV_BY_TIMEOUT | SROCE_CC_EV_CUT_SKIPPED});
}

TEST_F(DcqcnEvents, ParameterChangeIsReported) {
  cnp();
  set_param("rp_max_rate", 2000);
  take_events();
  advance(kTimer);
  EXPECT_TRUE(take_events().mask & SROCE_CC_EV_ADAPTED);
}

TEST_F(DcqcnEvents, FarTargetIsCutOnce) {
  for (int i = 0; i < 4; i++) cnp_after(50 * kMicrosecond);
  take_events();
  advance(kTimer);
  EXPECT_EQ(take_events().mask,
            u32{SROCE_CC_EV_ESTIMATED | SROCE_CC_EV_RAISED | SROCE_CC_EV_TARGET_CUT});
  advance(kTimer);
  EXPECT_EQ(take_events().mask, u32{SROCE_CC_EV_ESTIMATED | SROCE_CC_EV_RAISED});
}

TEST_F(DcqcnLowRate, IncreaseStageIsReported) {
  for (int i = 0; i < 6; i++) advance(kTimer, param("rp_byte_reset"));
  take_events();
  advance(0, param("rp_byte_reset"));
  EXPECT_EQ(count(take_events(), "hyper"), 1u);
}

TEST_F(DcqcnEvents, InfoDoesNotConsumeEvents) {
  cnp();
  const u64 rate = cc_.rate;
  const sroce_cc_events before = cc_.events;
  now_ += kSecond;
  info();
  EXPECT_EQ(cc_.events.mask, before.mask);
  // With a time of 0 it reports the state as of the last event.
  struct sroce_cc_info then;
  sroce_cc_get_info(&cc_, 0, &then);
  EXPECT_EQ(then.rate, rate);
  EXPECT_EQ(alpha(), kFirstAlpha);
}

TEST(DcqcnNetwork, LateFlowGetsItsShareInAHundredTimerPeriods) {
  sroce_cc_params params;
  sroce_cc_params_init(&params);
  Bottleneck link(params, kLine, 55 * kMicrosecond);
  link.add(link.now_ns);
  link.add(link.now_ns + 2 * kMillisecond);
  link.run_until(link.now_ns + 2 * kMillisecond + 90 * kTimer);
  link.count();
  link.run_until(link.now_ns + 10 * kTimer);
  EXPECT_GE(link.fairness(), 95u);
  EXPECT_GE(link.utilisation(), 90u);
}

TEST(DcqcnNetwork, LostShareIsRegained) {
  sroce_cc_params params;
  sroce_cc_params_init(&params);
  Bottleneck link(params, kLine, 55 * kMicrosecond);
  link.add();
  link.add();
  const u64 from = link.now_ns;
  // Only one of them gets CNPs, and loses nearly all of its rate.
  for (u64 i = 0; i < 40; i++) {
    sroce_cc_cnp(&link.flows[0].cc, 0, link.now_ns);
    link.run_until(from + i * 100 * kMicrosecond);
  }
  ASSERT_LT(link.flows[0].cc.rate, kLine / 100);
  // Both get the same cuts. Only the additive steps between cuts make them equal.
  link.run_until(link.now_ns + 120 * kMillisecond);
  link.count();
  link.run_until(link.now_ns + 5 * kMillisecond);
  EXPECT_GE(link.fairness(), 95u);
  EXPECT_GE(link.utilisation(), 95u);
}

TEST(DcqcnNetwork, IncastConverges) {
  sroce_cc_params params;
  sroce_cc_params_init(&params);
  Bottleneck link(params, kLine, 55 * kMicrosecond);
  for (int i = 0; i < 8; i++) link.add();
  link.run_until(link.now_ns + 10 * kMillisecond);
  link.count();
  link.run_until(link.now_ns + 20 * kMillisecond);
  EXPECT_GE(link.fairness(), 95u);
  EXPECT_GE(link.utilisation(), 90u);
  EXPECT_LE(link.max_queue, link.mark_all);
}

}  // namespace
