// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <cmath>

#include "port/engine.h"
#include "unit/transport/bottleneck.h"

namespace {

constexpr u64 kMicrosecond = 1000;
constexpr u64 kMillisecond = 1000000;
constexpr u64 kSecond = 1000000000;
constexpr u64 kGigabit = 1000 * SROCE_CC_MBPS;
constexpr u64 kLine = 10 * kGigabit;
// The default of rp_time_reset.
constexpr u64 kTimer = 150 * kMicrosecond;
constexpr double kAlphaOne = 1 << 30;

class Dcqcn : public ::testing::Test {
 protected:
  Dcqcn() {
    sroce_cc_params_init(&params_);
    start(kLine);
  }

  void start(u64 line_rate) { sroce_cc_start(&cc_, &params_, line_rate, 1024, now_); }
  void cnp() { sroce_cc_cnp(&cc_, now_); }
  void cnp_after(u64 wait) {
    now_ += wait;
    cnp();
  }
  // Nothing is sent, but time and bytes are taken note of.
  void look_after(u64 wait, u32 bytes = 0) {
    now_ += wait;
    sroce_cc_sent(&cc_, bytes, now_);
  }
  void round_trip(u64 ns) {
    const sroce_cc_ack ack = {now_, 1024, 1, 1, ns, ns, ns};
    sroce_cc_acked(&cc_, &ack);
  }
  bool limited() const { return cc_.rate != SROCE_CC_UNLIMITED; }
  struct sroce_cc_info info() const {
    struct sroce_cc_info info;
    sroce_cc_get_info(&cc_, now_, &info);
    return info;
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

TEST_F(DcqcnCut, WithoutACnpThereIsNoLimit) {
  for (int i = 0; i < 1000; i++) {
    look_after(kMicrosecond, 1 << 20);
    round_trip(kMillisecond);
  }
  EXPECT_FALSE(limited());
  EXPECT_EQ(sroce_cc_window_packets(&cc_), SROCE_CC_NO_WINDOW);
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "line rate");
  EXPECT_EQ(info().target_rate, 0u);
}

TEST_F(DcqcnCut, TheFirstCnpHalvesTheLineRate) {
  cnp();
  EXPECT_NEAR(static_cast<double>(cc_.rate), kLine / 2., kLine / 1000.);
  EXPECT_EQ(cc_.dcqcn.target_rate, kLine);
  EXPECT_EQ(cc_.cnp_handled, 1u);
  EXPECT_EQ(cc_.cuts, 1u);
  EXPECT_EQ(info().alpha, 1023u);
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "fast recovery");
}

TEST_F(DcqcnCut, AnUnknownLineRateIsTakenForTenGigabit) {
  start(0);
  cnp();
  EXPECT_EQ(cc_.dcqcn.target_rate, kLine);
  EXPECT_EQ(info().line_rate, kLine);
}

TEST_F(DcqcnCut, AMaximumRateReplacesTheLineRate) {
  params_.rp_max_rate = 4000;
  cnp();
  EXPECT_EQ(cc_.dcqcn.target_rate, 4 * kGigabit);
}

TEST_F(DcqcnCut, TheFirstCnpMaySetARate) {
  params_.rp_rate_to_set_on_first_cnp = 1500;
  cnp();
  EXPECT_EQ(cc_.rate, 1500u * SROCE_CC_MBPS);
  EXPECT_EQ(cc_.dcqcn.target_rate, kLine);
  params_.rp_rate_to_set_on_first_cnp = 800000;
  start(kLine);
  cnp();
  EXPECT_EQ(cc_.rate, kLine);
}

TEST_F(DcqcnCut, ThereIsOneCutInAMonitorPeriod) {
  cnp();
  const u64 rate = cc_.rate;
  cnp_after(49 * kMicrosecond);
  EXPECT_EQ(cc_.rate, rate);
  EXPECT_EQ(cc_.cnp_handled, 2u);
  cnp_after(kMicrosecond);
  EXPECT_LT(cc_.rate, rate * 51 / 100);
  EXPECT_EQ(cc_.cuts, 2u);
}

TEST_F(DcqcnCut, ThereIsOneCutInARoundTrip) {
  cnp();
  round_trip(400 * kMicrosecond);
  for (int i = 0; i < 7; i++) cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.cuts, 1u);
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.cuts, 2u);
}

TEST_F(DcqcnCut, ARoundTripOfMoreThanTenMillisecondsIsNotWaitedFor) {
  cnp();
  round_trip(kSecond);
  for (int i = 0; i < 200; i++) cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.cuts, 2u);
}

TEST_F(DcqcnCut, ACutLeavesTheShareThatItMustLeave) {
  params_.rp_min_dec_fac = 80;
  cnp();
  EXPECT_EQ(cc_.rate, kLine * 80 / 100);
  params_.rp_min_dec_fac = 100;
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.rate, kLine * 80 / 100);
}

TEST_F(DcqcnCut, AnExponentOfTenCutsByAllOfAlpha) {
  params_.rp_gd = 10;
  params_.rp_min_dec_fac = 0;
  params_.rp_initial_alpha_value = 768;
  cnp();
  EXPECT_EQ(cc_.rate, kLine / 4);
}

TEST_F(DcqcnCut, TheLowestRateIsKept) {
  for (int i = 0; i < 100; i++) cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.rate, 10u * SROCE_CC_MBPS);
}

TEST_F(DcqcnCut, ALowestRateAboveTheLineIsTheLine) {
  params_.rp_min_rate = 800000;
  cnp();
  EXPECT_EQ(cc_.rate, kLine);
  look_after(kTimer);
  EXPECT_FALSE(limited());
}

TEST_F(DcqcnTarget, CutsInARowKeepTheTarget) {
  cnp();
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.dcqcn.target_rate, kLine);
}

TEST_F(DcqcnTarget, ClampingSetsTheTargetAtEveryCut) {
  params_.rp_clamp_tgt_rate = 1;
  cnp();
  const u64 rate = cc_.rate;
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.dcqcn.target_rate, rate);
}

TEST_F(DcqcnTarget, ACutAfterAnIncreaseByTheTimerSetsTheTarget) {
  cnp();
  look_after(kTimer);
  const u64 rate = cc_.rate;
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.dcqcn.target_rate, rate);
}

TEST_F(DcqcnTarget, NotSoWhenTheTimerDoesNotCount) {
  params_.rp_clamp_tgt_rate_ati = 0;
  cnp();
  look_after(kTimer);
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.dcqcn.target_rate, kLine);
}

TEST_F(DcqcnTarget, ACutAfterAnIncreaseByTheByteCounterAlwaysDoes) {
  params_.rp_clamp_tgt_rate_ati = 0;
  cnp();
  look_after(0, params_.rp_byte_reset);
  const u64 rate = cc_.rate;
  EXPECT_GT(rate, kLine * 7 / 10);
  cnp_after(50 * kMicrosecond);
  EXPECT_EQ(cc_.dcqcn.target_rate, rate);
}

TEST_F(DcqcnTarget, AFarTargetIsNotTrusted) {
  for (int i = 0; i < 4; i++) cnp_after(50 * kMicrosecond);
  const u64 rate = cc_.rate;
  ASSERT_LT(rate, kLine / 10);
  look_after(kTimer);
  EXPECT_EQ(cc_.dcqcn.target_rate, kLine / 8);
  EXPECT_EQ(cc_.rate, kLine / 8 - (kLine / 8 - rate) / 2);
  look_after(kTimer);
  EXPECT_EQ(cc_.dcqcn.target_rate, kLine / 8);
}

TEST_F(DcqcnTarget, ALowerMaximumRateTakesItAlong) {
  cnp();
  params_.rp_max_rate = 2000;
  look_after(kTimer);
  EXPECT_FALSE(limited());
  cnp();
  EXPECT_EQ(cc_.dcqcn.target_rate, 2 * kGigabit);
}

// Alpha after a CNP and that many periods, a period at a time.
double alpha_by_loop(double alpha, double keep, u32 periods) {
  for (u32 i = 0; i < periods; i++) alpha = alpha * keep + (i ? 0 : 1 - keep);
  return alpha;
}

TEST_F(DcqcnAlpha, TheClosedFormEqualsTheLoop) {
  params_.rp_dce_tcp_rtt = 1;
  params_.rp_time_reset = 131071;
  params_.rp_initial_alpha_value = 512;
  for (u32 g : {0u, 1u, 512u, 1000u, 1020u, 1023u}) {
    params_.rp_dce_tcp_g = g;
    for (u32 periods : {1u, 2u, 3u, 4u, 7u, 63u, 64u, 65u, 1000u, 4095u, 100000u}) {
      start(kLine);
      cnp();
      look_after(periods * kMicrosecond);
      const double expected = alpha_by_loop(.5, g / 1024., periods);
      EXPECT_NEAR(cc_.dcqcn.alpha / kAlphaOne, expected, 1e-7) << g << " " << periods;
    }
  }
}

TEST_F(DcqcnAlpha, ManyLooksAreAsGoodAsOne) {
  params_.rp_time_reset = 131071;
  cnp();
  for (int i = 0; i < 1000; i++) look_after(17 * kMicrosecond);
  const double expected = alpha_by_loop(1023 / 1024., 1020 / 1024., 17000 / 55);
  EXPECT_NEAR(cc_.dcqcn.alpha / kAlphaOne, expected, 1e-6);
}

TEST_F(DcqcnAlpha, GrowsWhileCnpsCome) {
  params_.rp_initial_alpha_value = 1;
  u32 alpha = 0;
  for (int i = 0; i < 200; i++) {
    cnp_after(55 * kMicrosecond);
    EXPECT_GT(cc_.dcqcn.alpha, alpha);
    alpha = cc_.dcqcn.alpha;
  }
  EXPECT_NEAR(alpha / kAlphaOne, 1 - std::pow(1020 / 1024., 199), 2e-3);
}

TEST_F(DcqcnAlpha, APeriodIsNotShorterThanARoundTrip) {
  params_.rp_initial_alpha_value = 1;
  cnp();
  round_trip(2 * kMillisecond);
  for (int i = 0; i < 19; i++) cnp_after(100 * kMicrosecond);
  const u32 alpha = cc_.dcqcn.alpha;
  cnp_after(100 * kMicrosecond);
  EXPECT_NEAR((cc_.dcqcn.alpha - alpha) / kAlphaOne, 4 / 1024., 1e-4);
}

TEST_F(DcqcnAlpha, StartsAnewWhenTheLimitEnded) {
  cnp();
  look_after(kSecond);
  ASSERT_FALSE(limited());
  cnp();
  EXPECT_EQ(info().alpha, 1023u);
}

TEST_F(DcqcnIncrease, FastRecoveryHalvesTheGap) {
  cnp();
  u64 gap = kLine - cc_.rate;
  for (int i = 1; i < 5; i++) {
    look_after(kTimer);
    gap /= 2;
    EXPECT_NEAR(static_cast<double>(kLine - cc_.rate), static_cast<double>(gap), 8);
    EXPECT_EQ(cc_.dcqcn.target_rate, kLine);
    EXPECT_STREQ(sroce_cc_state_name(&cc_), "fast recovery");
  }
}

TEST_F(DcqcnIncrease, TheTimersPeriodIsNotShorterThanARoundTrip) {
  cnp();
  round_trip(2 * kMillisecond);
  const u64 rate = cc_.rate;
  for (int i = 0; i < 19; i++) look_after(100 * kMicrosecond);
  EXPECT_EQ(cc_.rate, rate);
  look_after(100 * kMicrosecond);
  EXPECT_NEAR(static_cast<double>(kLine - cc_.rate), (kLine - rate) / 2., 8);
}

TEST_F(DcqcnIncrease, ALongRoundTripPutsOffNothingForMoreThanTenMilliseconds) {
  cnp();
  round_trip(kSecond);
  const u64 rate = cc_.rate;
  look_after(10 * kMillisecond);
  EXPECT_GT(cc_.rate, rate);
}

// A rate far below the line, with the target at the rate of before the last cut.
class DcqcnLowRate : public Dcqcn {
 protected:
  DcqcnLowRate() {
    params_.rp_clamp_tgt_rate = 1;
    for (int i = 0; i < 6; i++) cnp_after(50 * kMicrosecond);
    params_.rp_clamp_tgt_rate = 0;
  }
};

TEST_F(DcqcnLowRate, AdditiveIncreaseRaisesTheTarget) {
  look_after(4 * kTimer);
  const u64 target = cc_.dcqcn.target_rate;
  for (u64 i = 1; i <= 10; i++) {
    look_after(kTimer);
    EXPECT_EQ(cc_.dcqcn.target_rate, target + i * kLine / 1000);
    EXPECT_STREQ(sroce_cc_state_name(&cc_), "additive increase");
  }
}

TEST_F(DcqcnLowRate, IncreasesCanBeGivenInMegabits) {
  params_.rp_ai_rate = 5;
  look_after(4 * kTimer);
  const u64 target = cc_.dcqcn.target_rate;
  look_after(kTimer);
  EXPECT_EQ(cc_.dcqcn.target_rate, target + 5 * SROCE_CC_MBPS);
}

TEST_F(DcqcnLowRate, HyperIncreaseNeedsBothTimerAndBytes) {
  params_.rp_hai_rate = 20;
  for (int i = 0; i < 5; i++) look_after(kTimer, params_.rp_byte_reset);
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "additive increase");
  look_after(kTimer);
  u64 target = cc_.dcqcn.target_rate;
  look_after(0, params_.rp_byte_reset);
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "hyper increase");
  EXPECT_EQ(cc_.dcqcn.target_rate, target + 20 * SROCE_CC_MBPS);
  look_after(kTimer);
  target = cc_.dcqcn.target_rate;
  look_after(0, params_.rp_byte_reset);
  EXPECT_EQ(cc_.dcqcn.target_rate, target + 40 * SROCE_CC_MBPS);
}

TEST_F(DcqcnLowRate, ALumpOfTimeIsWorthItsPeriods) {
  for (u64 periods : {1ull, 2ull, 4ull, 5ull, 10ull, 300ull, 900ull, 950ull}) {
    sroce_cc lump = cc_, steps = cc_;
    sroce_cc_sent(&lump, 0, now_ + periods * kTimer);
    for (u64 i = 1; i <= periods; i++) sroce_cc_sent(&steps, 0, now_ + i * kTimer);
    EXPECT_EQ(lump.dcqcn.target_rate, steps.dcqcn.target_rate) << periods;
    EXPECT_NEAR(static_cast<double>(lump.rate), static_cast<double>(steps.rate), 16) << periods;
  }
}

TEST_F(DcqcnLowRate, ACnpPutsOffIncreases) {
  const u64 rate = cc_.rate;
  round_trip(kMillisecond);
  for (int i = 0; i < 9; i++) {
    now_ += 100 * kMicrosecond;
    look_after(0);
    cnp();
  }
  EXPECT_EQ(cc_.rate, rate);
}

TEST_F(DcqcnLowRate, WithoutAByteCounterOnlyTimeCounts) {
  params_.rp_byte_reset = 0;
  const u64 rate = cc_.rate;
  for (int i = 0; i < 100; i++) look_after(0, 1 << 30);
  EXPECT_EQ(cc_.rate, rate);
}

TEST_F(DcqcnLowRate, TheLineRateComesBack) {
  u64 last = cc_.rate;
  for (int i = 0; i < 1200 && limited(); i++) {
    EXPECT_GE(cc_.rate, last);
    last = cc_.rate;
    look_after(kTimer, 10000);
  }
  EXPECT_FALSE(limited());
  EXPECT_EQ(sroce_cc_sendable_bytes(&cc_, now_), U32_MAX);
}

TEST_F(DcqcnIncrease, OneCnpIsForgottenInTenPeriods) {
  cnp();
  for (int i = 0; i < 10; i++) look_after(kTimer);
  EXPECT_FALSE(limited());
  EXPECT_STREQ(sroce_cc_state_name(&cc_), "line rate");
}

TEST_F(DcqcnIncrease, WhoLooksSeesTheRateOfNow) {
  cnp();
  const u64 rate = cc_.rate;
  now_ += kSecond;
  EXPECT_EQ(info().rate, SROCE_CC_UNLIMITED);
  EXPECT_STREQ(info().state, "line rate");
  EXPECT_EQ(cc_.rate, rate);
}

TEST_F(DcqcnIncrease, AClockThatJumpsToItsEndGivesTheLineRate) {
  for (int i = 0; i < 20; i++) cnp_after(50 * kMicrosecond);
  now_ = U64_MAX;
  look_after(0);
  EXPECT_FALSE(limited());
}

TEST_F(DcqcnLoss, ARepairedLossIsNoCongestion) {
  for (int i = 0; i < 10; i++) sroce_cc_lost(&cc_, false, now_ += kMillisecond);
  EXPECT_FALSE(limited());
  EXPECT_EQ(cc_.losses, 10u);
}

TEST_F(DcqcnLoss, ATimeoutTakesAQuarter) {
  sroce_cc_lost(&cc_, true, now_);
  EXPECT_EQ(cc_.rate, kLine * 3 / 4);
  sroce_cc_lost(&cc_, true, now_);
  EXPECT_EQ(cc_.rate, kLine * 3 / 4);
  sroce_cc_lost(&cc_, true, now_ += 100 * kMicrosecond);
  EXPECT_EQ(cc_.rate, kLine * 9 / 16);
}

TEST_F(DcqcnLoss, ATimeoutIsForgottenInTenPeriods) {
  sroce_cc_lost(&cc_, true, now_);
  for (int i = 0; i < 10; i++) look_after(kTimer);
  EXPECT_FALSE(limited());
}

TEST_F(DcqcnEvents, NoneAreMadeWithoutACnp) {
  for (int i = 0; i < 100; i++) {
    look_after(kMicrosecond, 1 << 20);
    round_trip(kMillisecond);
    sroce_cc_lost(&cc_, false, now_);
  }
  EXPECT_EQ(cc_.events.mask, 0u);
}

TEST_F(DcqcnEvents, ACnpCutsOrIsTooSoon) {
  cnp();
  EXPECT_EQ(take_events().mask,
            u32{SROCE_CC_EV_BY_CNP | SROCE_CC_EV_LIMIT_BEGAN | SROCE_CC_EV_CUT});
  EXPECT_EQ(cc_.events.mask, 0u);
  cnp_after(49 * kMicrosecond);
  EXPECT_EQ(take_events().mask, u32{SROCE_CC_EV_BY_CNP | SROCE_CC_EV_CUT_SKIPPED});
  cnp_after(kMicrosecond);
  EXPECT_EQ(take_events().mask, u32{SROCE_CC_EV_BY_CNP | SROCE_CC_EV_CUT});
}

TEST_F(DcqcnEvents, PeriodsAreCountedWhenTheyAreMadeUpFor) {
  cnp();
  take_events();
  look_after(54 * kMicrosecond);
  EXPECT_EQ(cc_.events.mask, 0u);
  look_after(56 * kMicrosecond);
  EXPECT_EQ(cc_.events.mask, u32{SROCE_CC_EV_ALPHA});
  // Nobody took note yet: it adds up.
  look_after(55 * kMicrosecond);
  const sroce_cc_events events = take_events();
  EXPECT_EQ(events.mask, u32{SROCE_CC_EV_ALPHA | SROCE_CC_EV_RAISED});
  EXPECT_EQ(events.alpha_periods, 3u);
  EXPECT_EQ(events.fast, 1u);
  EXPECT_EQ(events.additive + events.hyper, 0u);
  EXPECT_EQ(take_events().alpha_periods, 0u);
}

TEST_F(DcqcnEvents, TheLimitEnds) {
  cnp();
  take_events();
  look_after(kSecond);
  const sroce_cc_events events = take_events();
  EXPECT_EQ(events.mask, u32{SROCE_CC_EV_ALPHA | SROCE_CC_EV_RAISED | SROCE_CC_EV_LIMIT_ENDED});
  EXPECT_EQ(events.fast, 4u);
  EXPECT_EQ(events.additive, kSecond / kTimer - 4);
}

TEST_F(DcqcnEvents, MoreThanCanBeCountedAreAsManyAsCan) {
  params_.rp_time_reset = 1;
  params_.rp_ai_rate = 1;
  for (int i = 0; i < 2; i++) {
    cnp();
    look_after(u64{1} << 44);
  }
  EXPECT_EQ(take_events().additive, U32_MAX);
}

TEST_F(DcqcnEvents, ATimeoutCutsOrIsTooSoon) {
  sroce_cc_lost(&cc_, true, now_);
  EXPECT_EQ(take_events().mask,
            u32{SROCE_CC_EV_BY_TIMEOUT | SROCE_CC_EV_LIMIT_BEGAN | SROCE_CC_EV_CUT});
  sroce_cc_lost(&cc_, true, now_);
  EXPECT_EQ(take_events().mask, u32{SROCE_CC_EV_BY_TIMEOUT | SROCE_CC_EV_CUT_SKIPPED});
}

TEST_F(DcqcnEvents, AParameterMovesTheRate) {
  cnp();
  params_.rp_max_rate = 2000;
  take_events();
  look_after(kTimer);
  EXPECT_TRUE(take_events().mask & SROCE_CC_EV_ADAPTED);
}

TEST_F(DcqcnEvents, AFarTargetIsGivenUpOnce) {
  for (int i = 0; i < 4; i++) cnp_after(50 * kMicrosecond);
  take_events();
  look_after(kTimer);
  EXPECT_EQ(take_events().mask,
            u32{SROCE_CC_EV_ALPHA | SROCE_CC_EV_RAISED | SROCE_CC_EV_TARGET_CUT});
  look_after(kTimer);
  EXPECT_EQ(take_events().mask, u32{SROCE_CC_EV_ALPHA | SROCE_CC_EV_RAISED});
}

TEST_F(DcqcnLowRate, TheStageOfAnIncreaseIsTold) {
  for (int i = 0; i < 6; i++) look_after(kTimer, params_.rp_byte_reset);
  take_events();
  look_after(0, params_.rp_byte_reset);
  EXPECT_EQ(take_events().hyper, 1u);
}

TEST_F(DcqcnEvents, WhoLooksTakesNoNote) {
  cnp();
  const u64 rate = cc_.rate;
  const sroce_cc_events before = cc_.events;
  now_ += kSecond;
  info();
  EXPECT_EQ(cc_.events.mask, before.mask);
  // And may ask for what was, not for what is.
  struct sroce_cc_info then;
  sroce_cc_get_info(&cc_, 0, &then);
  EXPECT_EQ(then.rate, rate);
  EXPECT_EQ(then.alpha, 1023u);
}

TEST(DcqcnNetwork, ALateFlowGetsItsShareInAHundredTimerPeriods) {
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

TEST(DcqcnNetwork, AShareThatWasTakenAwayComesBack) {
  sroce_cc_params params;
  sroce_cc_params_init(&params);
  Bottleneck link(params, kLine, 55 * kMicrosecond);
  link.add();
  link.add();
  const u64 from = link.now_ns;
  // Only one of them hears of congestion: it is left with next to nothing.
  for (u64 i = 0; i < 40; i++) {
    sroce_cc_cnp(&link.flows[0].cc, link.now_ns);
    link.run_until(from + i * 100 * kMicrosecond);
  }
  ASSERT_LT(link.flows[0].cc.rate, kLine / 100);
  // Both are cut alike; only the small steps between cuts make them equal.
  link.run_until(link.now_ns + 120 * kMillisecond);
  link.count();
  link.run_until(link.now_ns + 5 * kMillisecond);
  EXPECT_GE(link.fairness(), 95u);
  EXPECT_GE(link.utilisation(), 95u);
}

TEST(DcqcnNetwork, AnIncastSettles) {
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
