// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "poll_backoff.h"

#include <gtest/gtest.h>

#include "fake_cpu.h"

namespace {

using sroce::PollBackoff;

class PollBackoffTest : public testing::Test {
 protected:
  /// Poll in vain until a yield, at most @p limit times. The yield produces completions if @p
  /// found. Returns the number of empty polls, or 0 if there was no yield.
  std::uint32_t polls(bool found, std::uint32_t limit = 2 * PollBackoff::kMaxPolls) {
    for (std::uint32_t count = 1; count <= limit; count++) {
      if (!poll_backoff.should_yield()) continue;
      poll_backoff.yielded(poll_backoff.yield(), found);
      return count;
    }
    return 0;
  }

  FakeCpu fake;
  PollBackoff poll_backoff{&fake.cpu};
};

TEST_F(PollBackoffTest, CompletionsHalvePollsToMinimum) {
  EXPECT_EQ(polls(true), 64u);
  EXPECT_EQ(polls(true), 32u);
  EXPECT_EQ(polls(true), 16u);
  EXPECT_EQ(polls(true), 16u);
  EXPECT_EQ(fake.yields, 4u);
}

TEST_F(PollBackoffTest, UselessYieldsDoublePollsToMaximum) {
  for (std::uint32_t expected = 64; expected < PollBackoff::kMaxPolls; expected *= 2)
    EXPECT_EQ(polls(false), expected);
  EXPECT_EQ(polls(false), PollBackoff::kMaxPolls);
  EXPECT_EQ(polls(false), PollBackoff::kMaxPolls);
}

TEST_F(PollBackoffTest, CompletionRestartsTheCount) {
  for (int round = 0; round < 10; round++) {
    EXPECT_EQ(polls(false, 63), 0u);
    poll_backoff.found();
  }
  EXPECT_EQ(fake.yields, 0u);
}

TEST_F(PollBackoffTest, LongUselessYieldPausesSixteenfold) {
  fake.duration = 10 * FakeCpu::kLongYield;
  EXPECT_EQ(polls(false), 64u);
  EXPECT_EQ(polls(false), 0u) << "the pause begins";
  fake.time += 160 * FakeCpu::kLongYield - 1;
  EXPECT_EQ(polls(false), 0u) << "the pause goes on";
  fake.time += 1;
  EXPECT_NE(polls(false), 0u) << "the pause was 16 times as long as the yield";
}

TEST_F(PollBackoffTest, LongUsefulYieldPausesForItsDuration) {
  fake.duration = 4 * FakeCpu::kLongYield - 1;
  EXPECT_NE(polls(true), 0u);
  EXPECT_NE(polls(true), 0u);
  fake.duration = 4 * FakeCpu::kLongYield;
  EXPECT_NE(polls(true), 0u);
  EXPECT_EQ(polls(true), 0u);
  fake.time += 4 * FakeCpu::kLongYield - 1;
  EXPECT_EQ(polls(true), 0u);
  fake.time += 1;
  EXPECT_NE(polls(true), 0u) << "the pause was as long as the yield";
}

TEST_F(PollBackoffTest, ClockJumpDoesNotProlongPause) {
  fake.time = 1'000'000;
  fake.duration = -std::uint64_t{500'000};
  EXPECT_NE(polls(false), 0u);
  EXPECT_NE(polls(false), 0u) << "a negative duration counts as 0";

  fake.duration = 1'000'000'000;
  EXPECT_NE(polls(false), 0u);
  EXPECT_EQ(polls(false), 0u);
  fake.time += 16 * 1000 * FakeCpu::kLongYield;
  EXPECT_NE(polls(false), 0u) << "the pause is bounded";

  EXPECT_EQ(polls(false), 0u);
  fake.time = 5;
  EXPECT_NE(polls(false), 0u) << "the clock has restarted";
}

TEST(PollBackoffDisabled, NeverYields) {
  PollBackoff poll_backoff(nullptr);
  for (std::uint32_t i = 0; i < 3 * PollBackoff::kMaxPolls; i++)
    ASSERT_FALSE(poll_backoff.should_yield());
}

TEST(PollBackoffHostCpu, ClockAdvancesAcrossYield) {
  const PollBackoff::Cpu& cpu = PollBackoff::host_cpu();
  const std::uint64_t before = cpu.now();
  EXPECT_GT(cpu.long_yield, 0u);
  cpu.yield();
  EXPECT_GT(cpu.now(), before);
}

}  // namespace
