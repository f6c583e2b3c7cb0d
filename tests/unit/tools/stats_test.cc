// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/stats.h"

#include <gmock/gmock.h>

#include <sstream>

#include "fake_kernel.h"
#include "sroce/counter_meanings.h"
#include "sroce/explain.h"

namespace sroce {
namespace {

using test::FakeMachine;
using test::is_sroce;
using ::testing::HasSubstr;
using ::testing::Not;

class Stats : public ::testing::Test {
 protected:
  Stats() {
    machine.add_device({.index = 0,
                        .name = "sroce0",
                        .netdev = "eth0",
                        .counters = {{"rcvd_pkts", 50}, {"sent_pkts", 100}, {"send_err", 0}}},
                       is_sroce);
  }
  std::string stats(const StatsOptions& options) {
    std::ostringstream out;
    run_stats(machine.system, options, out);
    return out.str();
  }
  std::map<std::string, uint64_t>& counters() { return machine.kernel.devices[0].counters; }
  /// From the second pause on, which ends the first interval, the counters increase.
  void change_in_each_interval(std::function<void()> change) {
    machine.on_pause = [this, change] {
      if (machine.pauses > 0) change();
    };
  }

  FakeMachine machine;
};

TEST_F(Stats, PrintsCountersThatAreNotZero) {
  EXPECT_EQ(stats({}),
            "DEVICE  COUNTER    VALUE\n"
            "sroce0  sent_pkts  100\n"
            "sroce0  rcvd_pkts  50\n");
  EXPECT_THAT(stats({.all = true}), HasSubstr("sroce0  send_err   0\n"));
  counters() = {{"sent_pkts", 0}};
  EXPECT_EQ(stats({}), "all counters are zero\n");
  counters().clear();
  EXPECT_EQ(stats({}), "no counters\n");
}

TEST_F(Stats, ExplainsCounters) {
  EXPECT_THAT(stats({.device = "sroce0", .explain = true}),
              HasSubstr("sroce0  sent_pkts  100    packets sent\n"));
  const std::string all = stats({.explain = true});
  for (const auto& [name, meaning] : counter_meanings()) EXPECT_THAT(all, HasSubstr(meaning));
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
  machine.kernel.has_rdma = false;
  EXPECT_EQ(stats({.explain = true}), all) << "no device is needed";
}

TEST_F(Stats, TakesDevicesOfOtherDriversByName) {
  machine.add_device({.index = 1, .name = "rxe0", .netdev = "eth1", .counters = {{"phy", 3}}});
  EXPECT_THAT(stats({}), Not(HasSubstr("rxe0")));
  EXPECT_THAT(stats({.device = "rxe0"}), HasSubstr("rxe0    phy      3\n"));
  EXPECT_THROW(stats({.device = "rxe1"}), Failure);
  machine.kernel.devices.clear();
  EXPECT_EQ(stats({}), "no sroce devices; to add one: sroce add IF\n");
}

TEST_F(Stats, IntervalPrintsChangesAndRates) {
  machine.pauses_until_interrupt = 3;
  change_in_each_interval([this] {
    counters()["sent_pkts"] += 30;
    counters()["reorder_bytes"] = 4096;
  });
  EXPECT_EQ(stats({.interval_seconds = 2}),
            "DEVICE  COUNTER        PER SECOND  CHANGE  VALUE\n"
            "sroce0  sent_pkts      15          30      130\n"
            "sroce0  reorder_bytes  -           -       4096\n"
            "\n"
            "DEVICE  COUNTER        PER SECOND  CHANGE  VALUE\n"
            "sroce0  sent_pkts      15          30      160\n"
            "sroce0  reorder_bytes  -           -       4096\n"
            "\n");
}

TEST_F(Stats, IntervalSaysThatNothingChanges) {
  machine.pauses_until_interrupt = 2;
  EXPECT_EQ(stats({.interval_seconds = 1}), "no change\n\n");
  machine.pauses = 0;
  EXPECT_THAT(stats({.all = true, .interval_seconds = 1}),
              HasSubstr("sroce0  send_err   0           0       0\n"));
}

TEST_F(Stats, IntervalSaysThatThereIsNoDevice) {
  machine.pauses_until_interrupt = 2;
  machine.kernel.devices.clear();
  EXPECT_EQ(stats({.interval_seconds = 1}), "no sroce devices; to add one: sroce add IF\n\n");
}

TEST_F(Stats, IntervalTakesADeviceThatWasAddedAgain) {
  machine.pauses_until_interrupt = 2;
  change_in_each_interval([this] { counters()["sent_pkts"] = 7; });
  EXPECT_THAT(stats({.interval_seconds = 1}), HasSubstr("sent_pkts  7           7       7\n"));
}

TEST_F(Stats, PrintsJson) {
  const Json meanings = Json::parse(stats({.explain = true, .format = Format::json}));
  EXPECT_EQ(meanings["sent_pkts"], "packets sent");
  const Json list =
      Json::parse(stats({.device = "sroce0", .explain = true, .format = Format::json}));
  EXPECT_EQ(list[0]["device"], "sroce0");
  EXPECT_EQ(list[0]["counters"]["sent_pkts"], 100);
  EXPECT_EQ(list[0]["counters"]["send_err"], 0);
  EXPECT_EQ(list[0]["meanings"]["sent_pkts"], "packets sent");
}

TEST_F(Stats, IntervalPrintsAnObjectALine) {
  machine.pauses_until_interrupt = 3;
  change_in_each_interval([this] { counters()["sent_pkts"] += 10; });
  std::istringstream lines(stats({.interval_seconds = 0.5, .format = Format::json}));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json object = Json::parse(line);
    EXPECT_EQ(object["seconds"], 0.5);
    const Json& sent = object["devices"][0]["counters"]["sent_pkts"];
    EXPECT_EQ(sent["change"], 10);
    EXPECT_EQ(sent["per_second"], 20);
    EXPECT_EQ(sent["value"], 110 + 10 * count);
  }
  EXPECT_EQ(count, 2);
}

}  // namespace
}  // namespace sroce
