// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The manual that the build makes has the counters of the table.
#include "sroce/counter_meanings.h"

#include <gmock/gmock.h>

#include <fstream>
#include <sstream>

namespace sroce {
namespace {

std::string manual() {
  std::ifstream file(MANUAL);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(CounterMeanings, FitIntoALineWithTheName) {
  for (const auto& [name, meaning] : counter_meanings())
    EXPECT_LE(std::string(meaning).size(), 52u) << name;
}

TEST(CounterMeanings, AreInTheManual) {
  const std::string page = manual();
  const size_t from = page.find("\n.SH COUNTERS\n");
  ASSERT_NE(from, std::string::npos);
  const std::string section = page.substr(from, page.find("\n.SH ", from + 1) - from);
  std::string wanted;
  for (const auto& [name, meaning] : counter_meanings())
    wanted += std::string(".TP\n.B ") + name + '\n' + meaning + '\n';
  EXPECT_EQ(section.substr(std::min(section.find(".TP"), section.size())) + '\n', wanted);
}

TEST(CounterMeanings, KnowNoCounterOfOtherDrivers) {
  EXPECT_EQ(meaning_of("rx_bytes_phy"), "");
  EXPECT_EQ(meaning_of("sent_pkts"), "packets sent");
  EXPECT_TRUE(is_gauge("reorder_bytes"));
  EXPECT_FALSE(is_gauge("sent_pkts"));
}

}  // namespace
}  // namespace sroce
