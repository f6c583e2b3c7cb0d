// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/firewall.h"

#include <gtest/gtest.h>

namespace sroce {
namespace {

std::string ruleset(const std::string& objects) {
  return R"({"nftables": [{"metainfo": {"version": "1.0.6"}}, )" + objects + "]}";
}
std::string chain(const std::string& more) {
  return R"({"chain": {"family": "inet", "table": "filter", "name": "input", "handle": 1)" + more +
         "}}";
}
std::string rule(const std::string& right, const std::string& verdict,
                 const std::string& field = "dport") {
  return R"({"rule": {"family": "inet", "table": "filter", "chain": "input", "handle": 7, "expr": [)"
         R"({"match": {"op": "==", "left": {"payload": {"protocol": "udp", "field": ")" +
         field + R"("}}, "right": )" + right + "}}, {\"" + verdict + "\": null}]}}";
}
constexpr char drops_the_rest[] =
    R"(, "type": "filter", "hook": "input", "prio": 0, "policy": "drop")";

TEST(Firewall, RuleThatNamesThePortIsFound) {
  for (const char* right : {"4791", R"({"set": [53, 4791]})", R"({"range": [4000, 5000]})",
                            R"({"set": [{"range": [4791, 4791]}]})"}) {
    for (const char* verdict : {"drop", "reject"}) {
      const auto drops = find_drops(ruleset(rule(right, verdict)));
      ASSERT_EQ(drops.size(), 1u) << right;
      EXPECT_TRUE(drops[0].certain);
      EXPECT_EQ(drops[0].cure, "nft delete rule inet filter input handle 7");
    }
  }
}

TEST(Firewall, OtherRulesAreNot) {
  for (const char* right : {"4790", R"({"set": [53]})", R"({"range": [1, 4790]})", "\"@ports\""})
    EXPECT_TRUE(find_drops(ruleset(rule(right, "drop"))).empty()) << right;
  EXPECT_TRUE(find_drops(ruleset(rule("4791", "accept"))).empty());
  EXPECT_TRUE(find_drops(ruleset(rule("4791", "drop", "sport"))).empty());
}

TEST(Firewall, ChainThatDropsTheRestIsFoundUnlessARuleAccepts) {
  const auto drops = find_drops(ruleset(chain(drops_the_rest)));
  ASSERT_EQ(drops.size(), 1u);
  EXPECT_FALSE(drops[0].certain);
  EXPECT_EQ(drops[0].cure, "nft insert rule inet filter input udp dport 4791 accept");
  EXPECT_TRUE(find_drops(ruleset(chain(drops_the_rest) + ", " + rule("4791", "accept"))).empty());
  EXPECT_TRUE(
      find_drops(ruleset(chain(R"(, "type": "filter", "hook": "output", "policy": "drop")")))
          .empty());
  EXPECT_TRUE(
      find_drops(ruleset(chain(R"(, "type": "filter", "hook": "input", "policy": "accept")")))
          .empty());
  EXPECT_TRUE(find_drops(ruleset(chain(""))).empty());
}

TEST(Firewall, BadInputHasNoRules) {
  for (const char* text :
       {"", "no JSON", "[]", "{}", R"({"nftables": 1})", R"({"nftables": [1, {"rule": 2}]})",
        R"({"nftables": [{"chain": []}]})", R"({"nftables": [{"rule": {"expr": [1]}}]})",
        R"({"nftables": [{"rule": {"expr": [{"match": {"op": "==", "left": 1, "right": 1}}]}}]})"})
    EXPECT_TRUE(find_drops(text).empty()) << text;
}

}  // namespace
}  // namespace sroce
