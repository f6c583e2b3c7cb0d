// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/iptables.h"

#include <gmock/gmock.h>

#include "sroce/nat.h"

namespace sroce {
namespace {

using ::testing::HasSubstr;

const PacketQuestion to_peer{"eth0", {"10.0.0.1"}, "10.0.0.2", "10.0.0.1"};
const PacketQuestion ipv6{"eth0", {"fd00::1"}, "fd00::2", "fd00::1"};

std::vector<NatRule> find_in(const std::string& rules, const PacketQuestion& question) {
  return find_nat(read_ruleset("", rules), question);
}

/// The output of iptables-legacy-save with these rules, each after the name of the command.
std::string saved(const std::vector<std::string>& rules,
                  const std::string& command = "iptables-legacy") {
  std::string text;
  for (const char* line : {"# Generated", "*nat", ":PREROUTING ACCEPT [0:0]", ":INPUT ACCEPT [0:0]",
                           ":OUTPUT ACCEPT [0:0]", ":POSTROUTING ACCEPT [0:0]", ":SUB - [0:0]"})
    text += command + ' ' + line + '\n';
  for (const std::string& rule : rules) text += command + " -A " + rule + '\n';
  return text + command + " COMMIT\n";
}

/// The change that the only rule found makes; "maybe" before it unless it is certain.
std::string change(const std::vector<std::string>& rules, const PacketQuestion& question = to_peer,
                   const std::string& command = "iptables-legacy") {
  const auto found = find_in(saved(rules, command), question);
  if (found.empty()) return "none";
  EXPECT_EQ(found.size(), 1u);
  return (found[0].certain ? "" : "maybe ") + found[0].change;
}

constexpr char snat[] = "-j SNAT --to-source 192.0.2.1";

TEST(Iptables, RuleIsNamedWithACommand) {
  const auto found = find_in(saved({"POSTROUTING -j SUB", std::string("SUB ") + snat}), to_peer);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].chain, "iptables-legacy nat SUB");
  EXPECT_EQ(found[0].change, "the source address of RoCE packets (snat to 192.0.2.1)");
  EXPECT_TRUE(found[0].certain);
  EXPECT_THAT(found[0].cure, ::testing::StartsWith("iptables-legacy -t nat -I POSTROUTING -p udp"
                                                   " --dport 4791 -j ACCEPT\n"));
  EXPECT_THAT(found[0].cure, HasSubstr("conntrack -D"));
  EXPECT_THAT(
      find_in(saved({std::string("POSTROUTING ") + snat}, "ip6tables-legacy"), ipv6).at(0).cure,
      HasSubstr("ip6tables-legacy -t nat"));
}

TEST(Iptables, TargetsHaveTheirArguments) {
  EXPECT_EQ(change({"POSTROUTING -j SNAT --to-source 10.0.0.1:1024-2048"}),
            "the source port of RoCE packets (snat to 10.0.0.1:1024-2048)");
  EXPECT_EQ(change({"POSTROUTING -j SNAT --to-source 10.0.0.1"}), "none");
  EXPECT_EQ(change({"POSTROUTING -j SNAT --to-source 10.0.0.1-10.0.0.9"}).find("maybe "), 0u);
  EXPECT_EQ(change({"POSTROUTING -j MASQUERADE"}), "none");
  EXPECT_EQ(change({"POSTROUTING -j MASQUERADE --random-fully"}),
            "the source port of RoCE packets (masquerade random)");
  EXPECT_EQ(change({"POSTROUTING -p udp -j MASQUERADE --to-ports 1024-2048"}),
            "the source port of RoCE packets (masquerade to :1024-2048)");
  EXPECT_EQ(change({"PREROUTING -p udp -j REDIRECT --to-ports 5000"}),
            "the destination port of RoCE packets (redirect to :5000)");
  EXPECT_EQ(change({"OUTPUT -p udp -j DNAT --to-destination 192.0.2.1:4791"}),
            "the destination address of RoCE packets (dnat to 192.0.2.1:4791)");
  EXPECT_EQ(
      change({"OUTPUT -p udp -j DNAT --to-destination [fd00::9]:4791"}, ipv6, "ip6tables-legacy"),
      "the destination address of RoCE packets (dnat to [fd00::9]:4791)");
  EXPECT_EQ(change({"OUTPUT -j DNAT --to-destination fd00::9"}, ipv6, "ip6tables-legacy"),
            "the destination address of RoCE packets (dnat to [fd00::9])");
  EXPECT_EQ(change({"POSTROUTING -j LOG --log-prefix \"-j SNAT \""}), "none");
}

TEST(Iptables, ConditionsOfOtherPacketsAreUnderstood) {
  const auto changes = [](const std::string& condition) {
    return change({"POSTROUTING " + condition + ' ' + snat});
  };
  for (const char* met :
       {"-s 10.0.0.0/24", "-d 10.0.0.2/32", "! -d 10.9.0.0/16", "-o eth0", "-o eth+", "! -o eth1",
        "-p udp", "-p udp -m udp --dport 4791", "-p udp -m udp --dport 4000:5000",
        "-p udp -m multiport --dports 53,4791", "-m comment --comment \"-p tcp -j ACCEPT\"",
        "-m mark ! --mark 0x4000/0x4000", "-m mark --mark 0x0"})
    EXPECT_EQ(changes(met).find("the "), 0u) << met;
  for (const char* other : {"-s 10.9.0.0/16", "! -s 10.0.0.0/24", "-o eth1", "! -o eth0", "-p tcp",
                            "! -p udp", "-p tcp -m tcp --dport 4791", "-p udp -m udp --dport 53",
                            "-p udp -m udp ! --dport 4000:5000", "-m mark --mark 0x4000/0x4000"})
    EXPECT_EQ(changes(other), "none") << other;
  for (const char* unknown :
       {"-m addrtype --dst-type LOCAL", "-m conntrack --ctstate NEW", "-p udp -m udp --sport 50000",
        "-m addrtype ! --src-type LOCAL -s 10.0.0.0/24", "-p udp -m udp --dport x"})
    EXPECT_EQ(changes(unknown).find("maybe "), 0u) << unknown;
}

TEST(Iptables, VerdictsEndPackets) {
  const std::string rule = std::string("POSTROUTING ") + snat;
  EXPECT_EQ(change({"POSTROUTING -p udp -j ACCEPT", rule}), "none");
  EXPECT_EQ(change({"POSTROUTING -p tcp -j ACCEPT", rule}).find("the "), 0u);
  EXPECT_EQ(change({"POSTROUTING -p udp -g SUB", "SUB -j RETURN", rule}), "none");
  EXPECT_EQ(change({"POSTROUTING -p udp -j SUB", "SUB -j RETURN", rule}).find("the "), 0u);
  EXPECT_EQ(change({"POSTROUTING -p udp -j SUB", "SUB -j ACCEPT", rule}), "none");
}

TEST(Iptables, OnlyTheTableNatChangesPackets) {
  const std::string rule = std::string("POSTROUTING ") + snat;
  std::string other = saved({rule});
  other.replace(other.find("*nat"), 4, "*mangle");
  EXPECT_TRUE(find_in(other, to_peer).empty());
  const std::string raw = "iptables-legacy *raw\niptables-legacy -A OUTPUT -p udp -j NOTRACK\n";
  EXPECT_FALSE(find_in(raw + saved({rule}), to_peer).at(0).certain);
}

// nft prints the chains of the nft variant, too, but not the arguments of their rules.
TEST(Iptables, NftVariantReplacesWhatNftPrints) {
  const auto nft = [](const std::string& chain) {
    return R"({"nftables": [{"chain": {"family": "ip", "table": "nat", "name": ")" + chain +
           R"(", "type": "nat", "hook": "postrouting"}}, {"rule": {"family": "ip", "table": "nat",)"
           R"( "chain": ")" +
           chain + R"(", "expr": [{"xt": {"type": "target", "name": "SNAT"}}]}}]})";
  };
  const std::string same = saved({"POSTROUTING -j SNAT --to-source 10.0.0.1"}, "iptables-nft");
  EXPECT_EQ(find_nat(read_ruleset(nft("POSTROUTING")), to_peer).size(), 1u);
  EXPECT_TRUE(find_nat(read_ruleset(nft("POSTROUTING"), same), to_peer).empty());
  EXPECT_EQ(find_nat(read_ruleset(nft("other"), same), to_peer).size(), 1u);
  const std::string legacy = saved({"POSTROUTING -j SNAT --to-source 10.0.0.1"});
  EXPECT_EQ(find_nat(read_ruleset(nft("POSTROUTING"), legacy), to_peer).size(), 1u);
  const std::string only =
      "iptables # Generated by iptables-save v1.8.9 (nf_tables) on Monday\n" +
      saved({}, "iptables").substr(std::string("iptables # Generated\n").size());
  EXPECT_TRUE(find_nat(read_ruleset(nft("POSTROUTING"), only), to_peer).empty());
}

TEST(Iptables, BadTextHasNone) {
  for (const char* text : {"", "x", "iptables-legacy", "iptables-legacy *nat\niptables-legacy -A",
                           "iptables-legacy *nat\niptables-legacy :POSTROUTING\niptables-legacy -A "
                           "POSTROUTING -s -d ! -m -j\n"})
    EXPECT_TRUE(find_in(text, to_peer).empty()) << text;
  EXPECT_EQ(
      change({"POSTROUTING -s 10.0.0.0/99999999999999999999 " + std::string(snat)}).find("maybe "),
      0u);
  EXPECT_NE(change({std::string("POSTROUTING -m comment --comment \"\xff ") + snat}), "");
}

}  // namespace
}  // namespace sroce
