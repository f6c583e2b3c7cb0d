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

TEST(Firewall, RuleForForwardedPacketsIsNot) {
  const std::string drop = rule("4791", "drop");
  EXPECT_TRUE(
      find_drops(ruleset(chain(R"(, "type": "filter", "hook": "forward")") + ", " + drop)).empty());
  EXPECT_EQ(
      find_drops(ruleset(chain(R"(, "type": "filter", "hook": "input")") + ", " + drop)).size(),
      1u);
  EXPECT_TRUE(find_iptables_drops("i *filter\ni -A FORWARD -p udp --dport 4791 -j DROP\n").empty());
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

std::string saved(const std::string& policy, const std::string& rule,
                  const std::string& table = "filter") {
  return "iptables-legacy # Generated\niptables-legacy *" + table + "\niptables-legacy :INPUT " +
         policy + " [0:0]\niptables-legacy " + rule + "\niptables-legacy COMMIT\n";
}

TEST(Firewall, RuleOfIptablesIsFound) {
  for (const char* port : {"--dport 4791", "--dport 4000:5000", "-m multiport --dports 53,4791"}) {
    for (const char* target : {"DROP", "REJECT --reject-with icmp-port-unreachable"}) {
      const std::string rule = std::string("INPUT -p udp -m udp ") + port + " -j " + target;
      const auto drops = find_iptables_drops(saved("ACCEPT", "-A " + rule));
      ASSERT_EQ(drops.size(), 1u) << rule;
      EXPECT_TRUE(drops[0].certain);
      EXPECT_EQ(drops[0].chain, "iptables-legacy INPUT");
      EXPECT_EQ(drops[0].cure, "iptables-legacy -D " + rule);
    }
  }
}

TEST(Firewall, OtherRulesOfIptablesAreNot) {
  for (const char* rule :
       {"-A INPUT -p tcp --dport 4791 -j DROP", "-A INPUT -p udp --dport 4790 -j DROP",
        "-A INPUT -p udp --dport 4791 -j ACCEPT", "-A INPUT -p udp --sport 4791 -j DROP", "-A", ""})
    EXPECT_TRUE(find_iptables_drops(saved("ACCEPT", rule)).empty()) << rule;
  EXPECT_TRUE(
      find_iptables_drops(saved("ACCEPT", "-A INPUT -p udp --dport 4791 -j DROP", "raw")).empty());
  EXPECT_TRUE(find_iptables_drops("").empty());
}

TEST(Firewall, PolicyOfIptablesIsFoundUnlessARuleAccepts) {
  const auto drops = find_iptables_drops(saved("DROP", "-A INPUT -p tcp --dport 22 -j ACCEPT"));
  ASSERT_EQ(drops.size(), 1u);
  EXPECT_FALSE(drops[0].certain);
  EXPECT_EQ(drops[0].cure, "iptables-legacy -I INPUT -p udp --dport 4791 -j ACCEPT");
  EXPECT_TRUE(find_iptables_drops(saved("DROP", "-A INPUT -p udp --dport 4791 -j ACCEPT")).empty());
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
