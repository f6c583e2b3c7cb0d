// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/nat.h"

#include <gtest/gtest.h>

namespace sroce {
namespace {

const NatQuestion question{"eth0", {"10.0.0.1", "fd00::1"}};
const NatQuestion two_addresses{"eth0", {"10.0.0.1", "10.0.1.1"}};

std::string rule(const std::string& expressions) {
  return R"({"nftables": [{"rule": {"family": "ip", "table": "nat", "chain": "out", "expr": [)" +
         expressions + "]}}]}";
}
std::string match(const std::string& left, const std::string& right, const std::string& op = "==") {
  return R"({"match": {"op": ")" + op + R"(", "left": )" + left + R"(, "right": )" + right + "}}, ";
}
constexpr char oifname[] = R"({"meta": {"key": "oifname"}})";
constexpr char l4proto[] = R"({"meta": {"key": "l4proto"}})";
constexpr char saddr[] = R"({"payload": {"protocol": "ip", "field": "saddr"}})";
constexpr char daddr[] = R"({"payload": {"protocol": "ip", "field": "daddr"}})";
constexpr char tcp[] = R"({"payload": {"protocol": "tcp", "field": "dport"}})";
constexpr char snat[] = R"({"snat": {"addr": "192.0.2.1"}})";
constexpr char masquerade[] = R"({"masquerade": null})";

TEST(Nat, RuleThatGivesAnotherAddressIsFound) {
  const auto rules = find_nat(rule(snat), question);
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].chain, "ip nat out");
  EXPECT_EQ(rules[0].address, "192.0.2.1");
  EXPECT_EQ(rules[0].cure, "nft insert rule ip nat out udp dport 4791 accept");
  EXPECT_TRUE(find_nat(rule(R"({"snat": {"addr": "10.0.0.1"}})"), question).empty());
  EXPECT_TRUE(find_nat(rule(R"({"accept": null})"), question).empty());
}

TEST(Nat, MasqueradingChangesOnlySecondaryAddresses) {
  EXPECT_TRUE(find_nat(rule(masquerade), question).empty());
  EXPECT_EQ(find_nat(rule(masquerade), two_addresses).size(), 1u);
  EXPECT_EQ(
      find_nat(rule(R"({"xt": {"type": "target", "name": "MASQUERADE"}})"), two_addresses).size(),
      1u);
}

TEST(Nat, RuleForOtherPacketsIsNot) {
  for (const std::string& condition :
       {match(oifname, "\"eth1\""), match(oifname, "\"eth0\"", "!="), match(l4proto, "\"tcp\""),
        match(saddr, "\"10.0.0.2\""), match(tcp, "80"),
        match(saddr, R"({"prefix": {"addr": "172.17.0.0", "len": 16}})"),
        match(saddr, R"({"set": ["10.0.0.3", "10.0.0.4"]})")})
    EXPECT_TRUE(find_nat(rule(condition + snat), question).empty()) << condition;
}

TEST(Nat, RuleThatMayApplyIs) {
  for (const std::string& condition :
       {match(oifname, "\"eth0\""), match(oifname, "\"eth*\""), match(oifname, "\"eth1\"", "!="),
        match(l4proto, "\"udp\""), match(saddr, "\"10.0.0.1\""), match(daddr, "\"10.0.0.9\""),
        match(saddr, R"({"prefix": {"addr": "10.0.0.0", "len": 30}})"), match(saddr, "\"@some\""),
        match(saddr, R"({"set": ["10.0.0.3", "10.0.0.1"]})"), match(oifname, "7")})
    EXPECT_FALSE(find_nat(rule(condition + snat), question).empty()) << condition;
}

TEST(Nat, TableOfAnotherFamilyIsNot) {
  EXPECT_TRUE(find_nat(rule(snat), {"eth0", {"fd00::1"}}).empty());
  std::string ipv6 = rule(R"({"snat": {"addr": "fd00::9"}})");
  ipv6.replace(ipv6.find(R"("ip")"), 4, R"("ip6")");
  EXPECT_EQ(find_nat(ipv6, question).size(), 1u);
  EXPECT_TRUE(find_nat(ipv6, two_addresses).empty());
}

TEST(Nat, AddressThatIsNotKnownIsAnother) {
  const auto rules =
      find_nat(rule(R"({"snat": {"addr": {"range": ["192.0.2.1", "192.0.2.9"]}}})"), question);
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].address, "one of several");
  EXPECT_TRUE(find_nat(rule(R"({"snat": {"port": 5000}})"), question).empty());
}

TEST(Nat, EthernetAddressExcludesNothing) {
  constexpr char ether[] = R"({"payload": {"protocol": "ether", "field": "saddr"}})";
  EXPECT_EQ(find_nat(rule(match(ether, R"("02:00:00:00:00:01")") + snat), question).size(), 1u);
}

TEST(Nat, BadInputHasNoRules) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"nftables": 1})", R"({"nftables": [1]})",
        R"({"nftables": [{"rule": 1}]})", R"({"nftables": [{"rule": {"expr": 1}}]})",
        R"({"nftables": [{"rule": {"expr": [1, {"match": 1}]}}]})"})
    EXPECT_TRUE(find_nat(text, question).empty()) << text;
}

}  // namespace
}  // namespace sroce
