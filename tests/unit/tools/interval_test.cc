// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/interval.h"

#include <gmock/gmock.h>

#include <sstream>

#include "fake_kernel.h"

namespace sroce {
namespace {

using ::testing::ElementsAre;

TEST(Interval, SamplesAtOnceAndAtTheIntervalUntilAnInterrupt) {
  test::FakeMachine machine;
  std::ostringstream out;
  machine.pauses_until_interrupt = 3;
  std::vector<double> times;
  call_at_interval(machine.system, 2, out, [&](double seconds) {
    times.push_back(seconds);
    machine.now += std::chrono::milliseconds(500);  // the time that it takes
  });
  EXPECT_THAT(times, ElementsAre(0, 2, 2));
  EXPECT_EQ(machine.now, std::chrono::milliseconds(6000));
}

TEST(Interval, MakesUpForNoIntervalsOfAStop) {
  test::FakeMachine machine;
  std::ostringstream out;
  machine.pauses_until_interrupt = 4;
  std::vector<double> times;
  call_at_interval(machine.system, 1, out, [&](double seconds) {
    if (times.empty()) machine.now += std::chrono::seconds(10);  // stopped
    times.push_back(seconds);
  });
  EXPECT_THAT(times, ElementsAre(0, 10, 1, 1));
}

TEST(Interval, EndsIfTheOutputIsLost) {
  test::FakeMachine machine;
  std::ostringstream out;
  machine.pauses_until_interrupt = 9;
  int samples = 0;
  call_at_interval(machine.system, 1, out, [&](double) {
    if (++samples == 2) out.setstate(std::ios::badbit);
  });
  EXPECT_EQ(samples, 2);
}

TEST(Interval, EndsBeforeTheFirstSampleIfInterrupted) {
  test::FakeMachine machine;
  std::ostringstream out;
  machine.pauses_until_interrupt = 0;
  call_at_interval(machine.system, 1, out, [](double) { FAIL(); });
}

}  // namespace
}  // namespace sroce
