// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>
#include <linux/types.h>

extern "C" {
#include "transport/yield_policy.h"
}

namespace {

constexpr u64 SLICE_NS = 10'000'000;

struct Yield : testing::Test {
  // A post at this time, and how long the yield took. Returns whether it has yielded.
  bool post(u64 took_ns, bool responded) {
    if (!sroce_yield_is_due(&yield, now)) return false;
    now += took_ns;
    sroce_yield_end(&yield, now - took_ns, now, responded);
    return true;
  }
  u64 pause() const { return yield.pause_until_ns - now; }

  sroce_yield yield = {};
  u64 now = 1'000'000'000;
};

TEST_F(Yield, SoonResponsesLetEachPostYield) {
  for (int i = 0; i < 100; i++) EXPECT_TRUE(post(10'000, true));
}

TEST_F(Yield, SilentPeerCausesPause) {
  EXPECT_TRUE(post(10'000, false));
  EXPECT_EQ(40'000u, pause());
  EXPECT_FALSE(post(10'000, true));
  now += 39'999;
  EXPECT_FALSE(post(10'000, true));
  now++;
  EXPECT_TRUE(post(10'000, true));
}

// Another process has used its time slice, and the response has come from elsewhere.
TEST_F(Yield, LateResponseCausesPause) {
  EXPECT_TRUE(post(SROCE_YIELD_SOON_NS - 1, true));
  EXPECT_TRUE(post(SROCE_YIELD_SOON_NS, true));
  EXPECT_FALSE(post(10'000, true));
}

TEST_F(Yield, PausesDoubleUpToALimit) {
  for (u64 slice : {SLICE_NS, u64{1'000}}) {
    for (u32 factor : {4, 8, 16, 32, 64, 64, 64}) {
      EXPECT_TRUE(post(slice, false));
      EXPECT_EQ(factor * slice, pause());
      now = yield.pause_until_ns;
    }
    EXPECT_TRUE(post(10'000, true));
  }
}

// It waited behind real-time processes, or its group had used up its time.
TEST_F(Yield, ProcessThatWasKeptFromRunningPausesNoLonger) {
  EXPECT_TRUE(post(20'000'000'000, false));
  EXPECT_EQ(64 * SLICE_NS, pause());
}

TEST_F(Yield, SoonResponseMakesTheNextPauseShort) {
  for (int i = 0; i < 5; i++) {
    post(SLICE_NS, false);
    now = yield.pause_until_ns;
  }
  EXPECT_TRUE(post(10'000, true));
  EXPECT_TRUE(post(SLICE_NS, false));
  EXPECT_EQ(4 * SLICE_NS, pause());
}

TEST_F(Yield, StreamLosesLittleTime) {
  u64 yielded = 0;
  const u64 begin = now;
  while (now - begin < 1000 * SLICE_NS) {
    if (post(SLICE_NS, false)) yielded += SLICE_NS;
    now += 1'000;
  }
  EXPECT_LT(yielded, (now - begin) / 40);
}

constexpr u32 MANY = 1000;

// The scheduler may pick the same task again, because it has had less of the CPU.
TEST_F(Yield, PostYieldsAgainUntilThePeerHasRun) {
  EXPECT_TRUE(sroce_yield_again(1, 1'000, false, MANY));
  EXPECT_FALSE(sroce_yield_again(1, 1'000, true, MANY));
  // Another process has used its time slice.
  EXPECT_TRUE(sroce_yield_again(1, SROCE_YIELD_SOON_NS - 1, false, MANY));
  EXPECT_FALSE(sroce_yield_again(1, SROCE_YIELD_SOON_NS, false, MANY));
}

TEST_F(Yield, PostYieldsALimitedNumberOfTimes) {
  unsigned tries = 1;
  while (sroce_yield_again(tries, 1'000 * tries, false, MANY)) tries++;
  EXPECT_EQ(32u, tries);
  // Slices of 0.7 ms make up for a tick of 10 ms and some slices.
  EXPECT_GE(tries * 700'000, SLICE_NS + 10 * 700'000);
}

TEST_F(Yield, PostOfAHandshakeYieldsOnce) {
  EXPECT_FALSE(sroce_yield_again(1, 1'000, false, 15));
  EXPECT_TRUE(sroce_yield_again(1, 1'000, false, 16));
}

}  // namespace
