// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "port/engine.h"

namespace {

constexpr u64 kMicrosecond = 1000;
constexpr u64 kSecond = 1'000'000'000;

sroce_rtt after(std::initializer_list<u64> samples_ns) {
  sroce_rtt rtt = {};
  u64 now_ns = 1;
  for (u64 sample_ns : samples_ns) sroce_rtt_sample(&rtt, sample_ns, now_ns++);
  return rtt;
}

TEST(RttSample, FirstSetsTheEstimateAndHalfAsDeviation) {
  const sroce_rtt rtt = after({8000});
  EXPECT_EQ(rtt.srtt_ns, 8000u);
  EXPECT_EQ(rtt.var_ns, 4000u);
  EXPECT_EQ(rtt.min_ns, 8000u);
}

TEST(RttSample, LaterSamplesMoveTheEstimateByAnEighth) {
  const sroce_rtt rtt = after({8000, 16000});
  EXPECT_EQ(rtt.srtt_ns, 9000u);
  EXPECT_EQ(rtt.var_ns, 3000u + 2000u);
}

TEST(RttSample, ShorterSamplesLowerTheEstimate) {
  const sroce_rtt rtt = after({16000, 8000});
  EXPECT_EQ(rtt.srtt_ns, 15000u);
  EXPECT_EQ(rtt.min_ns, 8000u);
}

TEST(RttSample, ZeroCountsAsOneNanosecond) {
  EXPECT_EQ(after({0}).srtt_ns, 1u);
  EXPECT_GE(after({1, 0, 0, 0}).srtt_ns, 1u);
}

TEST(RttSample, IsAtMostTwoSeconds) { EXPECT_EQ(after({100 * kSecond}).srtt_ns, 2'000'000'000u); }

TEST(RttMinimum, IsForgottenAfterTwoPeriods) {
  sroce_rtt rtt = {};
  sroce_rtt_sample(&rtt, 1000, 1);
  sroce_rtt_sample(&rtt, 5000, 1 + 10 * kSecond);
  EXPECT_EQ(rtt.min_ns, 1000u);
  sroce_rtt_sample(&rtt, 5000, 1 + 20 * kSecond);
  EXPECT_EQ(rtt.min_ns, 5000u);
}

TEST(RttTiming, ResponseBeforeTheDepartureIsNoSample) {
  sroce_rtt rtt = {};
  sroce_rtt_sent(&rtt, 100, false, 9000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 100, 8000), 0u);
  EXPECT_EQ(rtt.srtt_ns, 0u);
  EXPECT_FALSE(rtt.timing);
}

TEST(RttTiming, EndsWithTheResponseToItsPacket) {
  sroce_rtt rtt = {};
  sroce_rtt_sent(&rtt, 100, false, 1000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 100, 8000), 7000u);
  EXPECT_EQ(rtt.srtt_ns, 7000u);
  EXPECT_FALSE(rtt.timing);
}

sroce_rtt timing_since(u64 now_ns, std::initializer_list<u64> samples_ns) {
  sroce_rtt rtt = after(samples_ns);
  sroce_rtt_sent(&rtt, 100, false, now_ns);
  return rtt;
}

// The packet before the timed one took longer than from the timed one's departure to now.
TEST(RttLowerBound, LongerThanExpectedIsASample) {
  sroce_rtt rtt = timing_since(1000, {1000});
  EXPECT_EQ(sroce_rtt_acked(&rtt, 99, 1000 + 9000), 0u);
  EXPECT_EQ(rtt.srtt_ns, 2000u);
  EXPECT_TRUE(rtt.timing);
}

// No round trip was that short.
TEST(RttLowerBound, IsNoMinimum) {
  sroce_rtt rtt = {};
  sroce_rtt_sample(&rtt, 1000, 1);
  const u64 later_ns = 30 * kSecond;
  sroce_rtt_sent(&rtt, 100, false, later_ns);
  sroce_rtt_acked(&rtt, 99, later_ns + 9000);
  sroce_rtt_acked(&rtt, 100, later_ns + 50000);
  sroce_rtt_sample(&rtt, 50000, later_ns + 11 * kSecond);
  EXPECT_EQ(rtt.min_ns, 50000u);
}

TEST(RttLowerBound, WithinTheDeviationSaysNothing) {
  sroce_rtt rtt = timing_since(1000, {1000});
  sroce_rtt_acked(&rtt, 99, 1000 + 3000);
  EXPECT_EQ(rtt.srtt_ns, 1000u);
}

// The response may have waited for a retransmission.
TEST(RttLowerBound, AfterARetransmissionSaysNothing) {
  sroce_rtt rtt = timing_since(1000, {1000});
  sroce_rtt_retransmitted(&rtt, 90, 1);
  sroce_rtt_acked(&rtt, 99, 1000 + 9000);
  EXPECT_EQ(rtt.srtt_ns, 1000u);
}

TEST(RttLowerBound, CountsAgainForTheNextPacket) {
  sroce_rtt rtt = timing_since(1000, {1000});
  sroce_rtt_retransmitted(&rtt, 100, 1);
  sroce_rtt_sent(&rtt, 101, false, 2000);
  sroce_rtt_acked(&rtt, 100, 2000 + 9000);
  EXPECT_EQ(rtt.srtt_ns, 2000u);
}

TEST(RttLowerBound, OfAPacketWhoseResponseWaitsSaysNothing) {
  sroce_rtt rtt = after({1000});
  sroce_rtt_sent(&rtt, 100, true, 1000);
  sroce_rtt_acked(&rtt, 99, 1000 + 9000);
  EXPECT_EQ(rtt.srtt_ns, 1000u);
}

TEST(RttLowerBound, IsNotTheFirstSample) {
  sroce_rtt rtt = timing_since(1000, {});
  sroce_rtt_acked(&rtt, 99, 1000 + 9000);
  EXPECT_EQ(rtt.srtt_ns, 0u);
}

TEST(RttLowerBound, BeforeTheDepartureSaysNothing) {
  sroce_rtt rtt = timing_since(9000, {1000});
  sroce_rtt_acked(&rtt, 99, 1000);
  EXPECT_EQ(rtt.srtt_ns, 1000u);
}

TEST(RttSample, SilenceIsLossAfterTheSecond) {
  EXPECT_FALSE(after({}).silence_is_loss);
  EXPECT_FALSE(after({1000}).silence_is_loss);
  EXPECT_TRUE(after({1000, 1000}).silence_is_loss);
}

// A NAK has shown that the path loses packets before there was a sample.
TEST(RttSample, TheFirstDoesNotDenyThatSilenceIsLoss) {
  sroce_rtt rtt = {};
  rtt.silence_is_loss = true;
  sroce_rtt_sample(&rtt, 1000, 0);
  EXPECT_TRUE(rtt.silence_is_loss);
}

TEST(RttTiming, IgnoresTheResponseToAnEarlierPacket) {
  sroce_rtt rtt = {};
  sroce_rtt_sent(&rtt, 0, false, 1000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 0xffffff, 8000), 0u);
  EXPECT_TRUE(rtt.timing);
}

TEST(RttTiming, EndsWithTheResponseToALaterPacket) {
  sroce_rtt rtt = {};
  sroce_rtt_sent(&rtt, 0xffffff, false, 1000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 3, 8000), 7000u);
}

TEST(RttTiming, CoversOnePacketAtATime) {
  sroce_rtt rtt = {};
  sroce_rtt_sent(&rtt, 100, false, 1000);
  sroce_rtt_sent(&rtt, 101, false, 2000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 101, 8000), 7000u);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 101, 9000), 0u);
}

TEST(RttTiming, EndsWhenThePacketIsRetransmitted) {
  sroce_rtt rtt = after({5000});
  sroce_rtt_sent(&rtt, 2, false, 1000);
  sroce_rtt_retransmitted(&rtt, 0xfffffe, 5);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 2, 8000), 0u);
  EXPECT_EQ(rtt.srtt_ns, 5000u);
}

TEST(RttTiming, ContinuesWhenOthersAreRetransmitted) {
  sroce_rtt rtt = after({5000});
  sroce_rtt_sent(&rtt, 100, false, 1000);
  sroce_rtt_retransmitted(&rtt, 90, 10);
  sroce_rtt_retransmitted(&rtt, 101, 10);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 100, 8000), 7000u);
}

TEST(RttTiming, FirstSampleMayIncludeARetransmission) {
  sroce_rtt rtt = {};
  sroce_rtt_sent(&rtt, 100, false, 1000);
  sroce_rtt_retransmitted(&rtt, 100, 1);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 100, 8000), 7000u);
}

TEST(RttTiming, AnotherFirstSampleEndsTheTimingOfARetransmission) {
  sroce_rtt rtt = {};
  sroce_rtt_sent(&rtt, 100, false, 1000);
  sroce_rtt_retransmitted(&rtt, 100, 1);
  sroce_rtt_sample(&rtt, 5000, 8000);
  EXPECT_FALSE(rtt.timing);
}

TEST(RttMinimum, ShorterRoundTripReplacesIt) {
  sroce_rtt rtt = after({20'000});
  sroce_rtt_lower_min(&rtt, 5000, 30'000);
  EXPECT_EQ(rtt.min_ns, 5000u);
  EXPECT_EQ(rtt.srtt_ns, 20'000u);
}

TEST(RttTiming, NextSampleReplacesAnAmbiguousFirst) {
  sroce_rtt rtt = {};
  sroce_rtt_sent(&rtt, 100, false, 1000);
  sroce_rtt_retransmitted(&rtt, 100, 1);
  sroce_rtt_acked(&rtt, 100, 3'000'000);
  sroce_rtt_sent(&rtt, 101, false, 3'000'000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 101, 3'050'000), 50'000u);
  EXPECT_EQ(rtt.srtt_ns, 50'000u);
  sroce_rtt_sent(&rtt, 102, false, 3'050'000);
  sroce_rtt_acked(&rtt, 102, 3'150'000);
  EXPECT_EQ(rtt.srtt_ns, 50'000u - 6'250u + 12'500u);
}

TEST(RttTiming, DelayedResponseDoesNotRaiseTheEstimate) {
  sroce_rtt rtt = after({8000});
  sroce_rtt_sent(&rtt, 100, true, 1000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 100, 1000 + 80000), 0u);
  EXPECT_EQ(rtt.srtt_ns, 8000u);
  EXPECT_EQ(rtt.var_ns, 4000u);
}

TEST(RttTiming, DelayedResponseMayLowerTheEstimate) {
  sroce_rtt rtt = after({8000});
  sroce_rtt_sent(&rtt, 100, true, 1000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 100, 1000 + 7200), 0u);
  EXPECT_EQ(rtt.srtt_ns, 7900u);
  EXPECT_EQ(rtt.var_ns, 4000u) << "it says nothing about the deviation";
  EXPECT_EQ(rtt.min_ns, 7200u);
}

TEST(RttTiming, PromptResponseIsTimedInsteadOfADelayedOne) {
  sroce_rtt rtt = after({8000});
  sroce_rtt_sent(&rtt, 100, true, 1000);
  sroce_rtt_sent(&rtt, 101, true, 2000);
  EXPECT_EQ(rtt.timed_psn, 100u);
  sroce_rtt_sent(&rtt, 102, false, 3000);
  EXPECT_EQ(rtt.timed_psn, 102u);
  sroce_rtt_sent(&rtt, 103, true, 4000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 102, 3000 + 16000), 16000u);
}

TEST(RttTiming, MuchShorterDelayedResponseSetsTheEstimate) {
  sroce_rtt rtt = after({2'000'000});
  sroce_rtt_sent(&rtt, 100, true, 1000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 100, 1000 + 60'000), 0u);
  EXPECT_EQ(rtt.srtt_ns, 60'000u);
  EXPECT_EQ(rtt.var_ns, 30'000u);
}

TEST(RttTiming, DelayedResponseMaySetTheFirstEstimate) {
  sroce_rtt rtt = {};
  sroce_rtt_sent(&rtt, 100, true, 1000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 100, 8000), 0u) << "congestion control gets no sample";
  EXPECT_EQ(rtt.srtt_ns, 7000u);
  sroce_rtt_sent(&rtt, 101, false, 8000);
  EXPECT_EQ(sroce_rtt_acked(&rtt, 101, 8000 + 6000), 6000u);
  EXPECT_EQ(rtt.srtt_ns, 6000u) << "the first response that was not delayed";
}

TEST(RttProbe, AmbiguousFirstSampleDoesNotExceedTheDefault) {
  sroce_rtt rtt = {};
  sroce_rtt_sent(&rtt, 100, false, 1000);
  sroce_rtt_retransmitted(&rtt, 100, 1);
  sroce_rtt_acked(&rtt, 100, 9'000'000);
  EXPECT_EQ(sroce_rtt_probe_ns(&rtt), 2000 * kMicrosecond);
  // Not so for retransmissions: on a long path they would repeat before a response can arrive.
  EXPECT_GE(sroce_rtt_rtx_ns(&rtt), 8'999'000u);
}

TEST(RttProbe, HasADefaultBeforeTheFirstSample) {
  const sroce_rtt rtt = {};
  EXPECT_EQ(sroce_rtt_probe_ns(&rtt), 2000 * kMicrosecond);
  EXPECT_EQ(sroce_rtt_rtx_ns(&rtt), 2000 * kMicrosecond);
}

TEST(RttProbe, AllowsForTheDeviation) {
  const sroce_rtt rtt = after({8000});
  EXPECT_EQ(sroce_rtt_probe_ns(&rtt), 8000u + 4 * 4000u + 50000u);
  EXPECT_EQ(sroce_rtt_rtx_ns(&rtt), 8000u + 4 * 4000u);
}

TEST(RttProbe, ExceedsAConstantRoundTrip) {
  sroce_rtt rtt = {};
  for (u64 i = 0; i < 100; i++) sroce_rtt_sample(&rtt, 80000, 1 + i);
  EXPECT_EQ(rtt.srtt_ns, 80000u);
  EXPECT_GE(sroce_rtt_probe_ns(&rtt), 80000u + 40000u + 50000u);
  EXPECT_GE(sroce_rtt_rtx_ns(&rtt), 80000u + 20000u);
}

TEST(RttPath, BdpIsZeroBeforeTheFirstSample) {
  sroce_rtt rtt = {};
  sroce_rtt_count(&rtt, 1000, 1000);
  EXPECT_EQ(rtt.path_packets, 0u);
}

TEST(RttPath, BdpIsWhatIsDeliveredInARoundTrip) {
  sroce_rtt rtt = after({10000});
  for (u64 now_ns = 10000; now_ns < 200000; now_ns += 1000) sroce_rtt_count(&rtt, 3, now_ns);
  EXPECT_NEAR(rtt.path_packets, 30, 4);
}

TEST(RttPath, BdpExcludesQueues) {
  sroce_rtt rtt = after({10000});
  for (u64 i = 0; i < 100; i++) sroce_rtt_sample(&rtt, 40000, 2 + i);
  for (u64 now_ns = 10000; now_ns < 2000000; now_ns += 1000) sroce_rtt_count(&rtt, 3, now_ns);
  EXPECT_NEAR(rtt.path_packets, 30, 6);
}

TEST(RttPath, ShortSlowdownKeepsTheBdp) {
  sroce_rtt rtt = after({10000});
  u64 now_ns = 10000;
  for (; now_ns < 200000; now_ns += 1000) sroce_rtt_count(&rtt, 3, now_ns);
  // A third of the speed, for three rounds.
  for (; now_ns < 230000; now_ns += 1000) sroce_rtt_count(&rtt, 1, now_ns);
  EXPECT_GE(rtt.path_packets, 22u);
}

TEST(RttPath, LastingSlowdownLowersTheBdp) {
  sroce_rtt rtt = after({10000});
  u64 now_ns = 10000;
  for (; now_ns < 200000; now_ns += 1000) sroce_rtt_count(&rtt, 6, now_ns);
  for (; now_ns < 1000000; now_ns += 1000) sroce_rtt_count(&rtt, 1, now_ns);
  EXPECT_NEAR(rtt.path_packets, 10, 2);
}

TEST(RttPath, PauseKeepsThePacketCount) {
  sroce_rtt rtt = after({10000});
  for (u64 now_ns = 10000; now_ns < 200000; now_ns += 1000) sroce_rtt_count(&rtt, 3, now_ns);
  const u32 packets = rtt.packets;
  sroce_rtt_count(&rtt, 1, 5000000);
  EXPECT_EQ(rtt.packets, packets);
}

}  // namespace
