// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/nat.h"

#include <gmock/gmock.h>

#include "nft_text.h"

namespace sroce {
namespace {

using namespace test;
using ::testing::HasSubstr;

const PacketQuestion question{"eth0", {"10.0.0.1", "fd00::1"}};
const PacketQuestion two_addresses{"eth0", {"10.0.0.1", "10.0.1.1"}};
const PacketQuestion to_peer{"eth0", {"10.0.0.1"}, "10.0.0.2", "10.0.0.1"};

std::string base(const std::string& hook, const std::string& family = "ip") {
  return R"({"chain": {"family": ")" + family +
         R"(", "table": "nat", "name": "base", "type": "nat")" + R"(, "hook": ")" + hook +
         R"("}}, )";
}
std::string rule(const std::string& statements, const std::string& chain = "base",
                 const std::string& family = "ip") {
  return R"({"rule": {"family": ")" + family + R"(", "table": "nat", "chain": ")" + chain +
         R"(", "expr": [)" + statements + "]}}, ";
}
/// The ruleset of a base chain with one rule.
std::string leaves(const std::string& statements) {
  return ruleset(base("postrouting") + rule(statements));
}
std::string at(const std::string& hook, const std::string& statements) {
  return ruleset(base(hook) + rule(statements));
}
constexpr char snat[] = R"({"snat": {"addr": "192.0.2.1"}})";
constexpr char masquerade[] = R"({"masquerade": null})";

/// The change that the only rule found makes; "maybe" before it unless it is certain.
std::string change(const std::string& ruleset, const PacketQuestion& asked = to_peer) {
  const auto rules = find_nat(read_ruleset(ruleset), asked);
  if (rules.empty()) return "none";
  EXPECT_EQ(rules.size(), 1u) << ruleset;
  return (rules[0].certain ? "" : "maybe ") + rules[0].change;
}

TEST(Nat, RuleThatGivesAnotherAddressIsFound) {
  const auto rules = find_nat(read_ruleset(leaves(snat)), question);
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].chain, "ip nat base");
  EXPECT_EQ(rules[0].change, "the source address of RoCE packets (snat to 192.0.2.1)");
  EXPECT_TRUE(rules[0].certain);
  EXPECT_THAT(rules[0].cure,
              ::testing::StartsWith("nft insert rule ip nat base udp dport 4791 accept"));
  EXPECT_EQ(change(leaves(R"({"snat": {"addr": "10.0.0.1"}})"), question), "none");
  EXPECT_EQ(change(leaves(accepts), question), "none");
}

TEST(Nat, TextSaysWhetherItIsCertain) {
  const NatRule rule{"ip nat base", "the source port of RoCE packets (masquerade)", true, ""};
  EXPECT_EQ(nat_text(rule, " of this host"),
            "'ip nat base' of this host changes the source port of RoCE packets (masquerade); "
            "these are lost, as the ICRC covers it");
  EXPECT_THAT(nat_text({"ip nat base", "", false, ""}, ""), HasSubstr("'ip nat base' may change "));
}

TEST(Nat, MasqueradingChangesOnlySecondaryAddresses) {
  EXPECT_EQ(change(leaves(masquerade), question), "none");
  EXPECT_EQ(change(leaves(masquerade), two_addresses),
            "maybe the source address of RoCE packets (masquerade)")
      << "not if the next hop is in the network of the second";
  EXPECT_EQ(change(leaves(masquerade), {"eth0", {"10.0.0.1"}, "10.0.0.2", "10.0.0.9"}),
            "maybe the source address of RoCE packets (masquerade)");
  EXPECT_EQ(change(leaves(masquerade)), "none");
  EXPECT_NE(change(leaves(target("MASQUERADE")), two_addresses), "none");
}

// nft does not print the arguments of a rule of iptables.
TEST(Nat, RuleOfIptablesMayGiveAnotherPort) {
  EXPECT_EQ(change(at("prerouting", target("REDIRECT"))),
            "maybe the destination port of RoCE packets (redirect)");
  EXPECT_EQ(change(at("prerouting", match(dport, "53") + target("REDIRECT"))), "none");
  EXPECT_EQ(change(leaves(target("MASQUERADE"))), "none") << "few give a port";
}

TEST(Nat, RedirectMayGiveAnotherAddressOfIpv6) {
  const PacketQuestion ipv6{"eth0", {"fd00::1"}};
  EXPECT_EQ(
      change(ruleset(base("prerouting", "ip6") + rule(R"({"redirect": null})", "base", "ip6")),
             ipv6),
      "maybe the destination address of RoCE packets (redirect)");
}

TEST(Nat, SourcePortIsChangedUnlessItIsInTheRange) {
  constexpr char port[] = "the source port of RoCE packets ";
  EXPECT_EQ(change(leaves(R"({"snat": {"port": 5000}})")), port + std::string("(snat to :5000)"));
  EXPECT_EQ(change(leaves(R"({"masquerade": {"port": {"range": [1024, 2048]}}})")),
            port + std::string("(masquerade to :1024-2048)"));
  EXPECT_EQ(change(leaves(R"({"masquerade": {"flags": "fully-random"}})")),
            port + std::string("(masquerade random)"));
  EXPECT_EQ(change(leaves(R"({"masquerade": {"flags": ["random", "persistent"]}})")),
            port + std::string("(masquerade random)"));
  EXPECT_EQ(change(leaves(R"({"masquerade": {"flags": "persistent"}})")), "none");
  EXPECT_EQ(change(leaves(R"({"masquerade": {"port": {"range": [1024, 65535]}}})")), "none");
  EXPECT_EQ(change(leaves(R"({"snat": {"port": {"range": [50000, 65535]}}})")),
            "maybe " + std::string(port) + "(snat to :50000-65535)");
}

TEST(Nat, DestinationOfWhatLeavesIsChanged) {
  EXPECT_EQ(change(at("output", R"({"dnat": {"addr": "10.9.9.9"}})")),
            "the destination address of RoCE packets (dnat to 10.9.9.9)");
  EXPECT_EQ(change(at("output", R"({"dnat": {"port": 4000}})")),
            "the destination port of RoCE packets (dnat to :4000)");
  EXPECT_EQ(change(at("output", R"({"redirect": null})")),
            "the destination address of RoCE packets (redirect)");
  EXPECT_EQ(change(at("output", R"({"redirect": {"port": 4000}})")),
            "the destination address of RoCE packets (redirect to :4000)");
  EXPECT_NE(change(at("output", R"({"redirect": null})"), {"lo", {"10.0.0.1"}, "10.0.0.1", {}}),
            "none")
      << "it gives 127.0.0.1";
  EXPECT_EQ(change(at("output", R"({"dnat": {"addr": "10.0.0.2", "port": 4791}})")), "none");
  EXPECT_EQ(change(at("output", R"({"dnat": {"addr": "10.0.0.2"}})"), question),
            "maybe the destination address of RoCE packets (dnat to 10.0.0.2)");
}

TEST(Nat, WhatArrivesIsChanged) {
  EXPECT_EQ(change(at("prerouting", R"({"dnat": {"addr": "172.17.0.2", "port": 4791}})")),
            "the destination address of RoCE packets (dnat to 172.17.0.2:4791)");
  EXPECT_EQ(change(at("prerouting", R"({"dnat": {"port": 4000}})"), question),
            "the destination port of RoCE packets (dnat to :4000)");
  EXPECT_EQ(change(at("prerouting", R"({"redirect": {"port": 4000}})")),
            "the destination port of RoCE packets (redirect to :4000)");
  EXPECT_EQ(change(at("prerouting", R"({"redirect": null})")), "none");
  EXPECT_NE(change(at("prerouting", R"({"redirect": null})"), two_addresses), "none");
  EXPECT_EQ(change(at("input", snat)), "the source address of RoCE packets (snat to 192.0.2.1)");
  EXPECT_EQ(change(at("prerouting",
                      match(meta("iifname"), "\"eth1\"") + R"({"dnat": {"addr": "172.17.0.2"}})")),
            "none");
}

TEST(Nat, SourceOfWhatArrivesIsThePeer) {
  const auto changes = [](const std::string& condition) {
    return change(at("prerouting", condition + R"({"dnat": {"port": 4000}})"));
  };
  EXPECT_EQ(changes(match(saddr, "\"10.0.0.2\"")).find("the "), 0u);
  EXPECT_EQ(changes(match(daddr, "\"10.0.0.1\"")).find("the "), 0u);
  EXPECT_EQ(changes(match(saddr, "\"10.0.0.1\"")), "none");
  EXPECT_EQ(changes(match(daddr, "\"10.0.0.2\"")), "none");
  EXPECT_EQ(changes(match(meta("oifname"), "\"eth0\"")), "none");
}

TEST(Nat, RuleForOtherPacketsIsNot) {
  for (const std::string& condition :
       {match(meta("oifname"), "\"eth1\""),
        match(meta("oif"), "\"eth1\""),
        match(meta("mark"), "7"),
        match(R"({"&": [{"meta": {"key": "mark"}}, 16384]})", "0", "!="),
        match(meta("oifname"), "\"eth0\"", "!="),
        match(meta("iifname"), "\"docker0\""),
        match(meta("l4proto"), "\"tcp\""),
        match(meta("l4proto"), "6"),
        match(meta("nfproto"), "\"ipv6\""),
        match(saddr, "\"10.0.0.2\""),
        match(field("tcp", "dport"), "80"),
        match(field("tcp", "dport"), "80", "!="),
        match(field("ip", "protocol"), "\"tcp\""),
        match(dport, "53"),
        match(dport, "4791", "!="),
        match(dport, "4791", ">"),
        match(dport, "4791", "<"),
        match(dport, "4790", "<="),
        match(field("th", "dport"), R"({"set": [53, {"range": [5000, 6000]}]})"),
        match(field("udp", "sport"), "500"),
        match(daddr, "\"10.0.0.2\"", "!="),
        match(daddr, R"({"range": ["10.0.0.3", "10.0.0.9"]})"),
        match(field("ip6", "saddr"), "\"::\""),
        match(saddr, R"({"prefix": {"addr": "172.17.0.0", "len": 16}})"),
        match(saddr, R"({"set": ["10.0.0.3", "10.0.0.4"]})")})
    EXPECT_EQ(change(leaves(condition + snat)), "none") << condition;
}

TEST(Nat, RuleWithConditionsThatAreMetIsCertain) {
  for (const std::string& condition :
       {match(meta("oifname"), "\"eth0\""), match(meta("oifname"), "\"eth*\""),
        match(meta("oifname"), "\"eth1\"", "!="), match(meta("l4proto"), "\"udp\""),
        match(meta("l4proto"), "17"), match(meta("l4proto"), R"({"set": ["tcp", "udp"]})"),
        match(saddr, "\"10.0.0.1\""), match(daddr, "\"10.0.0.2\""),
        match(daddr, R"({"range": ["10.0.0.1", "10.0.0.9"]})"), match(dport, "4791"),
        match(dport, R"({"range": [4000, 5000]})"), match(field("th", "dport"), "4791"),
        match(saddr, R"({"prefix": {"addr": "10.0.0.0", "len": 30}})"),
        match(saddr, R"({"set": ["10.0.0.3", "10.0.0.1"]})"),
        std::string(R"({"counter": {"packets": 0}}, )")})
    EXPECT_EQ(change(leaves(condition + snat)).find("the "), 0u) << condition;
}

TEST(Nat, RuleThatMayApplyIsNotCertain) {
  for (const std::string& condition :
       {match(saddr, "\"@some\""), match(meta("oifname"), "7"),
        match(R"({"ct": {"key": "mark"}})", "0"),
        match(R"({"&": [{"meta": {"key": "oifname"}}, 1]})", "0"), match(meta("mark"), "\"@some\""),
        match(field("ether", "saddr"), R"("02:00:00:00:00:01")"),
        match(field("udp", "sport"), R"({"range": [50000, 65535]})"),
        std::string(R"({"limit": {"rate": 1}}, )"),
        std::string(R"({"xt": {"type": "match", "name": "addrtype"}}, )")})
    EXPECT_EQ(change(leaves(condition + snat)).find("maybe "), 0u) << condition;
  EXPECT_EQ(change(leaves(match(daddr, "\"10.0.0.2\"") + snat), question).find("maybe "), 0u);
}

TEST(Nat, RuleBehindOneThatExceptsThePacketsIsNot) {
  const std::string excepted = match(dport, "4791");
  for (const std::string& first :
       {rule(excepted + accepts), rule(excepted + returns), rule(excepted + R"({"drop": null})"),
        rule(match(dport, R"({"set": [53, 4791]})") + R"({"counter": {}}, )" + accepts),
        rule(match(saddr, R"({"prefix": {"addr": "10.0.0.0", "len": 8}})") + returns),
        rule(R"({"snat": {"addr": "10.0.0.1"}})")})
    EXPECT_EQ(change(ruleset(base("postrouting") + first + rule(snat))), "none") << first;
  for (const std::string& first :
       {rule(match(dport, "4790") + accepts), rule(match(meta("mark"), "7") + accepts)})
    EXPECT_EQ(change(ruleset(base("postrouting") + first + rule(snat))).find("the "), 0u) << first;
  for (const char* verdict : {accepts, returns})
    EXPECT_EQ(
        change(ruleset(base("postrouting") + rule(unknown + verdict) + rule(snat))).find("maybe "),
        0u)
        << verdict;
  EXPECT_NE(change(ruleset(base("postrouting") + rule(snat) + rule(excepted + accepts))), "none");
}

TEST(Nat, JumpsAreFollowed) {
  const std::string jump = rule(call("jump", "sub")), nat = rule(snat, "sub");
  const auto rules = find_nat(read_ruleset(ruleset(base("postrouting") + jump + nat)), to_peer);
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].chain, "ip nat sub");
  EXPECT_THAT(rules[0].cure, HasSubstr("rule ip nat base udp")) << "of the base chain";
  EXPECT_TRUE(rules[0].certain);
  EXPECT_EQ(change(ruleset(base("postrouting") + nat)), "none") << "nothing leads there";

  const std::string last = rule(snat);
  const auto changes = [&](const std::string& call, const std::string& sub) {
    return change(ruleset(base("postrouting") + rule(call) + rule(sub, "sub") + last));
  };
  EXPECT_EQ(changes(call("jump", "sub"), accepts), "none");
  EXPECT_NE(changes(call("jump", "sub"), returns), "none");
  EXPECT_NE(changes(call("jump", "sub"), match(dport, "53") + accepts), "none");
  EXPECT_EQ(changes(call("goto", "sub"), returns), "none");
  EXPECT_NE(changes(match(dport, "53") + call("goto", "sub"), returns), "none");
  EXPECT_EQ(changes(unknown + call("jump", "sub"), accepts).find("maybe "), 0u);
  EXPECT_EQ(changes(call("jump", "sub"), unknown + accepts).find("maybe "), 0u);
  EXPECT_EQ(changes(call("jump", "sub"), unknown + returns).find("the "), 0u)
      << "the packets come back";
  EXPECT_EQ(change(ruleset(base("postrouting") + rule(unknown + call("jump", "sub")) + nat))
                .find("maybe "),
            0u);
  EXPECT_EQ(change(ruleset(base("postrouting") + rule(call("jump", "base")))), "none") << "a loop";
}

TEST(Nat, VerdictMapLeadsToTheChainsOfThePackets) {
  const auto changes = [](const std::string& key, const std::string& element) {
    const std::string pairs = "[[" + element + ", " + call("jump", "sub") + "]]";
    const std::string named =
        R"({"map": {"family": "ip", "table": "nat", "name": "m", "elem": )" + pairs + "}}, ";
    const std::string found = change(ruleset(
        base("postrouting") + rule(vmap(key, R"({"set": )" + pairs + "}")) + rule(snat, "sub")));
    EXPECT_EQ(change(ruleset(base("postrouting") + named + rule(vmap(key, R"("@m")")) +
                             rule(snat, "sub"))),
              found)
        << "a named map";
    return found;
  };
  EXPECT_EQ(changes(meta("oifname"), R"("eth0")").find("the "), 0u);
  EXPECT_EQ(changes(meta("oifname"), R"("eth1")"), "none");
  EXPECT_EQ(changes(field("tcp", "dport"), "80"), "none");
  EXPECT_EQ(changes(field("ether", "saddr"), R"("02:00:00:00:00:01")").find("maybe "), 0u);
}

TEST(Nat, VerdictMapMayExceptThePackets) {
  const auto changes = [](const std::string& key, const std::string& element,
                          const std::string& verdict) {
    return change(ruleset(base("postrouting") +
                          rule(vmap(key, R"({"set": [[)" + element + ", " + verdict + "]]}")) +
                          rule(snat)));
  };
  for (const char* verdict : {accepts, returns}) {
    EXPECT_EQ(changes(dport, "4791", verdict), "none");
    EXPECT_EQ(changes(dport, "53", verdict).find("the "), 0u);
    EXPECT_EQ(changes(field("ether", "type"), "8", verdict).find("maybe "), 0u);
  }
}

TEST(Nat, ChangeByAMapNeedsAKeyOfThePackets) {
  const auto changes = [](const std::string& key, const std::string& pairs) {
    return change(at("output", R"({"dnat": {"addr": {"map": {"key": )" + key +
                                   R"(, "data": {"set": [)" + pairs + "]}}}}}"));
  };
  EXPECT_EQ(changes(field("tcp", "dport"), R"([80, "192.0.2.1"])"), "none");
  EXPECT_EQ(changes(dport, R"([53, "192.0.2.1"])"), "none");
  EXPECT_EQ(changes(dport, ""), "none");
  EXPECT_EQ(changes(dport, R"([53, "192.0.2.1"], [4791, "192.0.2.2"])"),
            "maybe the destination address of RoCE packets (dnat to one of several)");
}

// As kube-proxy with nftables, and with iptables.
TEST(Nat, MasqueradingOfKubernetesIsNot) {
  const std::string marked = R"({"&": [{"meta": {"key": "mark"}}, 16384]})";
  constexpr char random[] = R"({"masquerade": {"flags": "fully-random"}})";
  const std::string set_mark = R"({"mangle": {"key": {"meta": {"key": "mark"}}, "value": 0}})";
  for (const std::string& unmarked :
       {match(marked, "0") + returns, match(marked, "16384", "!=") + returns})
    EXPECT_EQ(change(ruleset(base("postrouting") + rule(call("jump", "sub")) +
                             rule(unmarked, "sub") + rule(set_mark, "sub") + rule(random, "sub"))),
              "none");
}

TEST(Nat, PacketsThatMayBeUntrackedAreNotCertainToChange) {
  std::string raw = base("output") + rule(match(dport, "4791") + R"({"notrack": null})");
  raw.replace(raw.find(R"("type": "nat")"), 13, R"("type": "filter")");
  EXPECT_EQ(change(ruleset(raw + R"({"chain": {"family": "ip", "table": "nat", "name": "c",)" +
                           R"( "type": "nat", "hook": "postrouting"}}, )" + rule(snat, "c")))
                .find("maybe "),
            0u);
}

TEST(Nat, CertainRuleIsPreferred) {
  const std::string other = match(meta("mark"), "7") + R"({"snat": {"addr": "192.0.2.7"}})";
  EXPECT_EQ(change(ruleset(base("postrouting") + rule(other) + rule(snat))),
            "the source address of RoCE packets (snat to 192.0.2.1)");
}

TEST(Nat, OtherChainsAreNot) {
  const std::string objects = base("postrouting") + rule(snat);
  std::string filter = ruleset(objects);
  filter.replace(filter.find(R"("type": "nat")"), 13, R"("type": "filter")");
  EXPECT_EQ(change(filter), "none");
  EXPECT_EQ(change(at("forward", snat)), "none");
}

TEST(Nat, TableOfAnotherFamilyIsNot) {
  EXPECT_EQ(change(leaves(snat), {"eth0", {"fd00::1"}}), "none");
  const std::string ipv6 =
      ruleset(base("postrouting", "ip6") +
              rule(R"({"snat": {"addr": "fd00::9", "port": 5000}})", "base", "ip6"));
  EXPECT_EQ(change(ipv6, question), "the source address of RoCE packets (snat to [fd00::9]:5000)");
  EXPECT_EQ(change(ipv6, two_addresses), "none");
  EXPECT_EQ(find_nat(read_ruleset(ruleset(base("output", "inet") +
                                          rule(R"({"dnat": {"port": 4000}})", "base", "inet"))),
                     question)
                .size(),
            1u);
}

TEST(Nat, ChangeOfAnotherFamilyLeavesThePackets) {
  const std::string first = R"({"snat": {"family": "ip", "addr": "10.0.0.1"}})";
  const std::string second = R"({"snat": {"family": "ip6", "addr": "fd00::9"}})";
  const std::string both = ruleset(base("postrouting", "inet") + rule(first, "base", "inet") +
                                   rule(second, "base", "inet"));
  EXPECT_EQ(change(both, {"eth0", {"10.0.0.1"}}), "none");
  EXPECT_EQ(change(both, {"eth0", {"fd00::1"}}),
            "the source address of RoCE packets (snat to [fd00::9])");
  EXPECT_EQ(change(both, {"eth0", {"fd00::9"}}), "none");
}

TEST(Nat, AddressThatIsNotKnownMayBeAnother) {
  EXPECT_EQ(change(leaves(R"({"snat": {"addr": {"range": ["192.0.2.1", "192.0.2.9"]}}})")),
            "maybe the source address of RoCE packets (snat to one of several)");
}

TEST(Nat, RuleOfIptablesIsFound) {
  EXPECT_EQ(change(leaves(target("SNAT"))), "maybe the source address of RoCE packets (snat)");
  EXPECT_EQ(change(at("output", target("DNAT"))),
            "maybe the destination address of RoCE packets (dnat)");
  EXPECT_EQ(change(leaves(target("LOG") + ", " + snat)).find("the "), 0u);
  EXPECT_EQ(change(leaves(match(field("ip", "protocol"), "\"tcp\"") + target("SNAT"))), "none");
}

TEST(Nat, BadInputHasNoRules) {
  for (const char* text :
       {"", "{", "[]", "{}", R"({"nftables": 1})", R"({"nftables": [1]})",
        R"({"nftables": [{"rule": 1}]})", R"({"nftables": [{"rule": {"expr": 1}}]})",
        R"({"nftables": [{"rule": {"expr": [1, {"match": 1}]}}]})"})
    EXPECT_TRUE(find_nat(read_ruleset(text), question).empty()) << text;
  for (const char* statement :
       {"1", R"({"match": 1})", R"({"jump": 1})", R"({"vmap": 1})", R"({"xt": 1})",
        R"({"vmap": {"data": {"set": [1, [1, 2]]}}})", R"({"match": {"op": "==", "left": 1}})"})
    EXPECT_EQ(change(leaves(statement)), "none") << statement;
}

}  // namespace
}  // namespace sroce
