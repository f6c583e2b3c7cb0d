// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/iptables.h"

#include <gmock/gmock.h>

#include "sroce/firewall.h"
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
       {"-m addrtype --dst-type LOCAL", "-m socket", "-p udp -m udp --sport 50000",
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

/// The output of a -save command for the table of filters, with a policy for what arrives.
std::string filter(const std::string& policy, const std::vector<std::string>& rules,
                   const std::string& command = "iptables-legacy",
                   const std::string& table = "filter") {
  std::string text = command + " *" + table + '\n';
  for (const std::string& chain : {"INPUT " + policy, std::string("FORWARD DROP"),
                                   std::string("OUTPUT ACCEPT"), std::string("SUB -")})
    text += command + " :" + chain + " [0:0]\n";
  for (const std::string& rule : rules) text += command + " -A " + rule + '\n';
  return text + command + " COMMIT\n";
}
/// The only drop, as a sentence; with its cure.
std::pair<std::string, std::string> drop_in(const std::string& rules,
                                            const PacketQuestion& question = to_peer) {
  const auto found = find_drops(read_ruleset("", rules), question);
  if (found.empty()) return {"none", ""};
  EXPECT_EQ(found.size(), 1u);
  const std::string text = drop_text(found[0], "");
  return {text.substr(0, std::min(text.find(" incoming"), text.find(" outgoing"))), found[0].cure};
}
using Found = std::pair<std::string, std::string>;
constexpr char accepts[] = "iptables-legacy -I INPUT -p udp --dport 4791 -j ACCEPT";
const Found by_policy{"the policy of 'iptables-legacy INPUT' drops", accepts};

TEST(Iptables, RuleThatDropsIsFound) {
  for (const char* port : {"--dport 4791", "--dport 4000:5000", "-m multiport --dports 53,4791"}) {
    for (const char* target : {"DROP", "REJECT --reject-with icmp-port-unreachable"}) {
      const std::string rule = std::string("INPUT -p udp -m udp ") + port + " -j " + target;
      EXPECT_EQ(drop_in(filter("ACCEPT", {rule})),
                Found("a rule of 'iptables-legacy INPUT' drops",
                      port == std::string("--dport 4791") ? "iptables-legacy -D " + rule : accepts))
          << "a rule for other ports, too, stays";
    }
  }
  for (const char* rule :
       {"INPUT -p tcp --dport 4791 -j DROP", "INPUT -p udp --dport 4790 -j DROP",
        "INPUT -p udp --dport 4791 -j ACCEPT", "INPUT -p udp --sport 4791 -j DROP",
        "FORWARD -p udp --dport 4791 -j DROP", "SUB -p udp --dport 4791 -j DROP", ""})
    EXPECT_EQ(drop_in(filter("ACCEPT", {rule})).first, "none") << rule;
  EXPECT_EQ(drop_in(filter("ACCEPT", {"INPUT -j SUB", "SUB -j DROP"})),
            Found("a rule of 'iptables-legacy SUB' drops", accepts));
  EXPECT_EQ(drop_in(filter("ACCEPT", {"OUTPUT -j REJECT"})),
            Found("a rule of 'iptables-legacy OUTPUT' drops",
                  "iptables-legacy -I OUTPUT -p udp --dport 4791 -j ACCEPT"));
  EXPECT_EQ(drop_in(filter("ACCEPT", {"INPUT -j DROP"}, "iptables-nft", "mangle")),
            Found("a rule of 'iptables-nft mangle INPUT' drops",
                  "iptables-nft -t mangle -I INPUT -p udp --dport 4791 -j ACCEPT"));
  EXPECT_EQ(drop_in(filter("DROP", {}, "ip6tables-nft"), ipv6),
            Found("the policy of 'ip6tables-nft INPUT' drops",
                  "ip6tables-nft -I INPUT -p udp --dport 4791 -j ACCEPT"));
}

TEST(Iptables, RuleThatAShellWouldChangeIsDeletedByItsNumber) {
  for (const char* condition : {"-m comment --comment \"$(x)\"", "-m comment --comment a;id"}) {
    const std::string rule =
        "INPUT -p udp -m udp --dport 4791 " + std::string(condition) + " -j DROP";
    EXPECT_EQ(drop_in(filter("ACCEPT", {"INPUT -i lo -j ACCEPT", rule})).second,
              "iptables-legacy -D INPUT 2");
  }
}

TEST(Iptables, PolicyDropsWhatNoRuleAccepts) {
  EXPECT_EQ(drop_in(filter("DROP", {})), by_policy);
  for (const char* other :
       {"-p tcp -m tcp --dport 22", "-i lo", "-m conntrack --ctstate RELATED,ESTABLISHED",
        "-m state --state ESTABLISHED", "-m conntrack ! --ctstate NEW",
        "-m conntrack --ctstate DNAT", "-m addrtype --dst-type BROADCAST",
        "-m pkttype --pkt-type multicast"})
    EXPECT_EQ(drop_in(filter("DROP", {std::string("INPUT ") + other + " -j ACCEPT"})), by_policy)
        << other;
  for (const char* met :
       {"-p udp -m udp --dport 4791", "-m conntrack --ctstate NEW,ESTABLISHED",
        "-m addrtype --dst-type LOCAL", "-m pkttype --pkt-type unicast", "-d 10.0.0.1/32",
        "-p udp -m udp --dport 4791 -m limit --limit 9/sec", "-p udp -m recent --set --dport 4791"})
    EXPECT_EQ(drop_in(filter("DROP", {std::string("INPUT ") + met + " -j ACCEPT"})).first, "none")
        << met;
  EXPECT_EQ(drop_in(filter("DROP", {"INPUT -m set --match-set x src -j ACCEPT"})),
            Found("the policy of 'iptables-legacy INPUT' may drop", accepts));
  EXPECT_EQ(drop_in(filter("DROP", {"INPUT -j NFQUEUE --queue-num 1"})).first, "none");
  EXPECT_EQ(drop_in(filter("ACCEPT", {"INPUT -m rt --rt-type 0 -j DROP"})).first, "none");
  EXPECT_EQ(drop_in(filter("ACCEPT", {"INPUT -m rpfilter --invert -j DROP"})).first, "none");
}

TEST(Iptables, CureOfUfwIsItsCommand) {
  constexpr char allows[] = "ufw allow 4791/udp";
  const std::string user = "INPUT -j ufw-user-input", reject = "INPUT -j ufw-reject-input";
  const auto cure = [](const std::string& policy, const std::vector<std::string>& rules) {
    std::string text = filter(policy, rules);
    for (const char* chain : {"user-input", "before-input", "reject-input", "user-limit"})
      text.insert(text.find("iptables-legacy :SUB"),
                  std::string("iptables-legacy :ufw-") + chain + " - [0:0]\n");
    return drop_in(text).second;
  };
  EXPECT_EQ(cure("DROP", {user}), allows);
  EXPECT_EQ(cure("DROP", {user, "ufw-user-input -p udp -m udp --dport 4791 -j ACCEPT"}), "");
  EXPECT_EQ(cure("ACCEPT", {user, reject, "ufw-reject-input -j REJECT"}), allows);
  EXPECT_EQ(cure("ACCEPT", {"OUTPUT -j ufw-reject-input", "ufw-reject-input -j REJECT"}),
            "ufw allow out 4791/udp");
  const std::string port = "ufw-user-input -p udp -m udp --dport 4791 ";
  EXPECT_EQ(cure("DROP", {user, port + "-m recent --update -j ufw-user-limit", port + "-j ACCEPT",
                          "ufw-user-limit -j REJECT"}),
            allows);
  EXPECT_EQ(cure("ACCEPT", {user, port + "-j REJECT --reject-with icmp-port-unreachable"}), allows)
      << "it changes that rule";
  for (const char* rule : {"-j DROP", "-p udp -m multiport --dports 4000:5000 -j DROP",
                           "-d 10.0.0.1/32 -p udp -m udp --dport 4791 -j DROP"})
    EXPECT_EQ(cure("ACCEPT", {user, std::string("ufw-user-input ") + rule}),
              "ufw prepend allow 4791/udp")
        << rule;
  EXPECT_EQ(cure("ACCEPT", {"INPUT -j ufw-before-input", user, "ufw-before-input -j DROP"}),
            accepts);
  EXPECT_EQ(cure("ACCEPT", {user, "INPUT -j DROP"}), accepts);
}

TEST(Iptables, BadTextHasNone) {
  for (const char* text : {"", "x", "iptables-legacy", "iptables-legacy *nat\niptables-legacy -A",
                           "iptables-legacy *nat\niptables-legacy :POSTROUTING\niptables-legacy -A "
                           "POSTROUTING -s -d ! -m -j\n"}) {
    EXPECT_TRUE(find_in(text, to_peer).empty()) << text;
    EXPECT_EQ(drop_in(text).first, "none") << text;
  }
  EXPECT_EQ(
      change({"POSTROUTING -s 10.0.0.0/99999999999999999999 " + std::string(snat)}).find("maybe "),
      0u);
  EXPECT_NE(change({std::string("POSTROUTING -m comment --comment \"\xff ") + snat}), "");
}

}  // namespace
}  // namespace sroce
