// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The table of counters agrees with the module, and the manual with the table.
#include "sroce/counter_meanings.h"

#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <vector>

namespace sroce {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(std::string(SOURCE_ROOT) + '/' + path);
  std::ostringstream text;
  text << file.rdbuf();
  EXPECT_FALSE(text.str().empty()) << path;
  return text.str();
}

TEST(CounterMeanings, AreThoseOfTheModuleInItsOrder) {
  const std::string list = contents("kernel/net/counter_list.h");
  const std::regex line(R"(\nSROCE_COUNTER\(\w+, (\w+)\))");
  std::vector<std::string> of_module, ours;
  for (std::sregex_iterator at(list.begin(), list.end(), line), end; at != end; ++at)
    of_module.push_back((*at)[1]);
  for (const auto& [name, meaning] : counter_meanings()) ours.push_back(name);
  EXPECT_EQ(ours, of_module);
}

TEST(CounterMeanings, FitIntoALineWithTheName) {
  for (const auto& [name, meaning] : counter_meanings())
    EXPECT_LE(std::string(meaning).size(), 52u) << name;
}

TEST(CounterMeanings, AreInTheManual) {
  const std::string page = contents("tools/sroce/sroce.8");
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
