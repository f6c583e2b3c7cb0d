// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "poll_backoff.h"

#include <gtest/gtest.h>

#include "fake_processor.h"

namespace {

using sroce::PollBackoff;

class PollBackoffTest : public testing::Test {
 protected:
  /// So many polls find nothing until the processor is given away, no more than @p most of them;
  /// then there is something if @p found.
  std::uint32_t polls(bool found, std::uint32_t most = 2 * PollBackoff::kMostPolls) {
    for (std::uint32_t count = 1; count <= most; count++) {
      if (!poll_backoff.is_due()) continue;
      const std::uint64_t away = poll_backoff.yield();
      poll_backoff.judge(away, found);
      return count;
    }
    return 0;
  }

  FakeProcessor fake;
  PollBackoff poll_backoff{&fake.processor};
};

TEST_F(PollBackoffTest, GivesWaySoonerWhereItBringsCompletions) {
  EXPECT_EQ(polls(true), 64u);
  EXPECT_EQ(polls(true), 32u);
  EXPECT_EQ(polls(true), 16u);
  EXPECT_EQ(polls(true), 16u);
  EXPECT_EQ(fake.yields, 4u);
}

TEST_F(PollBackoffTest, GivesWaySeldomWhereItBringsNothing) {
  for (std::uint32_t expected = 64; expected < PollBackoff::kMostPolls; expected *= 2)
    EXPECT_EQ(polls(false), expected);
  EXPECT_EQ(polls(false), PollBackoff::kMostPolls);
  EXPECT_EQ(polls(false), PollBackoff::kMostPolls);
}

TEST_F(PollBackoffTest, CountsPollsThatFindNothingInARow) {
  for (int round = 0; round < 10; round++) {
    EXPECT_EQ(polls(false, 63), 0u);
    poll_backoff.found();
  }
  EXPECT_EQ(fake.yields, 0u);
}

TEST_F(PollBackoffTest, WhoComputesDoesNotLiveOnIt) {
  fake.kept = 10 * FakeProcessor::kSlice;
  EXPECT_EQ(polls(false), 64u);
  EXPECT_EQ(polls(false), 0u) << "stays";
  fake.time += 160 * FakeProcessor::kSlice - 1;
  EXPECT_EQ(polls(false), 0u) << "still";
  fake.time += 1;
  EXPECT_NE(polls(false), 0u) << "16 times as long as it was away";
}

TEST_F(PollBackoffTest, WhoWorksForUsMayTakeSomeTime) {
  fake.kept = 4 * FakeProcessor::kSlice - 1;
  EXPECT_NE(polls(true), 0u);
  EXPECT_NE(polls(true), 0u);
  fake.kept = 4 * FakeProcessor::kSlice;
  EXPECT_NE(polls(true), 0u);
  EXPECT_EQ(polls(true), 0u);
  fake.time += 4 * FakeProcessor::kSlice - 1;
  EXPECT_EQ(polls(true), 0u);
  fake.time += 1;
  EXPECT_NE(polls(true), 0u) << "as long as it was away";
}

TEST_F(PollBackoffTest, ClockThatJumpsIsNotBelieved) {
  fake.time = 1'000'000;
  fake.kept = -std::uint64_t{500'000};
  EXPECT_NE(polls(false), 0u);
  EXPECT_NE(polls(false), 0u) << "away for less than no time";

  fake.kept = 1'000'000'000;
  EXPECT_NE(polls(false), 0u);
  EXPECT_EQ(polls(false), 0u);
  fake.time += 16 * 1000 * FakeProcessor::kSlice;
  EXPECT_NE(polls(false), 0u) << "no longer than that";

  EXPECT_EQ(polls(false), 0u);
  fake.time = 5;
  EXPECT_NE(polls(false), 0u) << "the clock has begun anew";
}

TEST(PollBackoffOff, NeverGivesWay) {
  PollBackoff poll_backoff(nullptr);
  for (std::uint32_t i = 0; i < 3 * PollBackoff::kMostPolls; i++)
    ASSERT_FALSE(poll_backoff.is_due());
}

TEST(PollBackoffReal, ClockGoesOnAndAYieldReturns) {
  const PollBackoff::Processor& processor = PollBackoff::processor();
  const std::uint64_t before = processor.now();
  EXPECT_GT(processor.slice, 0u);
  processor.yield();
  EXPECT_GT(processor.now(), before);
}

}  // namespace
