// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/firewall.h"

#include <gmock/gmock.h>

#include "nft_text.h"

namespace sroce {
namespace {

using namespace test;
using ::testing::HasSubstr;

const PacketQuestion question{"eth0", {"10.0.0.1"}};
const PacketQuestion any_packets{"", {}};

std::string chain(const std::string& name, const std::string& hook, const std::string& policy,
                  const std::string& family = "inet", const std::string& more = "") {
  return R"({"chain": {"family": ")" + family + R"(", "table": "t", "name": ")" + name +
         R"(", "type": "filter", "hook": ")" + hook + R"(", "policy": ")" + policy + '"' + more +
         "}}, ";
}
std::string rule(const std::string& statements, const std::string& chain = "in",
                 const std::string& family = "inet") {
  return R"({"rule": {"family": ")" + family + R"(", "table": "t", "chain": ")" + chain +
         R"(", "handle": 7, "expr": [)" + statements + "]}}, ";
}
const std::string input = chain("in", "input", "accept");
const std::string dropping = chain("in", "input", "drop");
const std::string to_port = match(dport, "4791");
const std::string state = R"({"ct": {"key": "state"}})";

/// Each place as "[may ]rule|policy CHAIN[ leave]".
std::string places(const std::string& objects, const PacketQuestion& asked = question) {
  std::string text;
  for (const Drop& drop : find_drops(read_ruleset(ruleset(objects)), asked))
    text += (text.empty() ? "" : ", ") + std::string(drop.certain ? "" : "may ") +
            (drop.by_policy ? "policy " : "rule ") + drop.chain.substr(drop.chain.rfind(' ') + 1) +
            (drop.leave ? " leave" : "");
  return text.empty() ? "none" : text;
}
std::string cure(const std::string& objects, const PacketQuestion& asked = question) {
  const auto found = find_drops(read_ruleset(ruleset(objects)), asked);
  return found.size() == 1 ? found[0].cure : std::to_string(found.size()) + " drops";
}

TEST(Firewall, RuleThatNamesThePortIsFound) {
  for (const char* right : {"4791", R"({"set": [53, 4791]})", R"({"range": [4000, 5000]})",
                            R"({"set": [{"range": [4791, 4791]}]})"}) {
    for (const char* verdict :
         {drops, R"({"reject": null})", R"({"reject": {"type": "tcp reset"}})"})
      EXPECT_EQ(places(input + rule(match(dport, right) + verdict)), "rule in") << right;
  }
  for (const char* right : {"4790", R"({"set": [53]})", R"({"range": [1, 4790]})", R"("@ports")"})
    EXPECT_EQ(places(input + rule(match(dport, right) + drops)), "none") << right;
  EXPECT_EQ(places(input + rule(to_port + accepts)), "none");
  EXPECT_EQ(places(input + rule(match(field("udp", "sport"), "4791") + drops)), "none");
}

TEST(Firewall, RuleForAllPacketsIsFound) {
  EXPECT_EQ(places(input + rule(drops)), "rule in");
  EXPECT_EQ(places(input + rule(match(meta("l4proto"), R"("tcp")") + drops)), "none");
  EXPECT_EQ(places(input + rule(R"({"counter": {"packets": 0}}, )" + std::string(drops))),
            "rule in");
  EXPECT_EQ(places(input + rule(target("REJECT"))), "rule in");
  EXPECT_EQ(places(input + rule(target("LOG"))), "none");
  EXPECT_EQ(places(input + rule(R"({"notrack": null}, )" + std::string(drops))), "rule in");
}

TEST(Firewall, HookTellsWhichPacketsPass) {
  const auto at = [](const std::string& hook, const std::string& family = "inet") {
    return places(chain("c", hook, "accept", family) + rule(to_port + drops, "c", family));
  };
  EXPECT_EQ(at("input"), "rule c");
  EXPECT_EQ(at("prerouting"), "rule c");
  EXPECT_EQ(at("output"), "rule c leave");
  EXPECT_EQ(at("postrouting"), "rule c leave");
  EXPECT_EQ(at("forward"), "none");
  EXPECT_EQ(at("input", "ip"), "rule c");
  for (const char* other : {"ip6", "arp", "bridge"}) EXPECT_EQ(at("input", other), "none") << other;
  EXPECT_EQ(places(rule(to_port + drops)), "none") << "no base chain leads there";
  std::string other = chain("c", "output", "accept") + rule(drops, "c");
  other.replace(other.find(R"("filter")"), 8, R"("route")");
  EXPECT_EQ(places(other), "rule c leave");
  other.replace(other.find(R"("route")"), 7, R"("nat")");
  EXPECT_EQ(places(other), "none");
}

TEST(Firewall, ChainOfAnInterfaceIsOnlyForThat) {
  const auto at = [](const std::string& hook, const std::string& device,
                     const PacketQuestion& asked = question) {
    return places(chain("c", hook, "accept", "netdev", R"(, "dev": )" + device) +
                      rule(to_port + drops, "c", "netdev"),
                  asked);
  };
  EXPECT_EQ(at("ingress", R"("eth0")"), "rule c");
  EXPECT_EQ(at("ingress", R"(["eth1", "eth0"])"), "rule c");
  EXPECT_EQ(at("ingress", R"("eth*")"), "rule c");
  EXPECT_EQ(at("egress", R"("eth0")"), "rule c leave");
  for (const char* other : {R"("eth1")", R"("eth")", R"(["eth1"])"})
    EXPECT_EQ(at("ingress", other), "none") << other;
  EXPECT_EQ(at("ingress", "null"), "may rule c") << "nft 1.0.6 prints none";
  EXPECT_EQ(at("ingress", R"("eth1")", any_packets), "may rule c");
  EXPECT_EQ(places(chain("c", "ingress", "drop", "netdev", R"(, "dev": "eth1")"), any_packets),
            "none");
  EXPECT_EQ(places(chain("c", "ingress", "drop", "netdev", R"(, "dev": "eth0")")), "policy c");
}

TEST(Firewall, PolicyDropsWhatNoRuleAccepts) {
  EXPECT_EQ(places(dropping), "policy in");
  EXPECT_EQ(places(input), "none");
  EXPECT_EQ(places(chain("c", "output", "drop")), "policy c leave");
  EXPECT_EQ(places(chain("c", "forward", "drop")), "none");
  for (const std::string& other :
       {match(field("tcp", "dport"), "22"), match(meta("iifname"), R"("lo")"),
        match(state, R"({"set": ["established", "related"]})"),
        match(meta("l4proto"), R"({"set": ["icmp", "ipv6-icmp"]})")})
    EXPECT_EQ(places(dropping + rule(other + accepts)), "policy in") << other;
  for (const std::string& met :
       {to_port, std::string(), match(meta("iifname"), R"("eth*")"), match(daddr, R"("10.0.0.1")"),
        match(meta("l4proto"), R"("udp")"), match(state, R"("new")")})
    EXPECT_EQ(places(dropping + rule(met + accepts)), "none") << met;
  EXPECT_EQ(places(dropping + rule(R"({"queue": null})")), "none");
}

TEST(Firewall, RuleThatMayAcceptMakesTheRestUncertain) {
  EXPECT_EQ(places(dropping + rule(unknown + accepts)), "may policy in");
  EXPECT_EQ(places(input + rule(unknown + accepts) + rule(drops)), "may rule in");
  EXPECT_EQ(places(dropping + rule(match(saddr, R"("10.0.0.2")") + accepts)), "may policy in");
  EXPECT_EQ(places(dropping + rule(match(saddr, R"("10.0.0.2")") + accepts),
                   {"eth0", {"10.0.0.1"}, "10.0.0.2"}),
            "none");
  EXPECT_EQ(places(dropping + rule(match(saddr, R"("10.0.0.3")") + accepts),
                   {"eth0", {"10.0.0.1"}, "10.0.0.2"}),
            "policy in");
}

TEST(Firewall, RuleThatAcceptsThePortUnderAConditionCounts) {
  EXPECT_EQ(places(dropping + rule(to_port + unknown + accepts)), "none");
  EXPECT_EQ(places(dropping + rule(unknown + to_port + accepts)), "none");
  EXPECT_EQ(places(input + rule(to_port + unknown + returns) + rule(drops)), "none");
  EXPECT_EQ(places(dropping + rule(to_port + unknown + returns)), "policy in");
  EXPECT_EQ(places(dropping + rule(to_port + unknown + call("jump", "s")) + rule(accepts, "s")),
            "none");
  EXPECT_EQ(places(dropping + rule(unknown + call("jump", "s")) + rule(to_port + accepts, "s")),
            "none");
  EXPECT_EQ(places(dropping + rule(to_port + call("jump", "s")) + rule(unknown + accepts, "s")),
            "none");
  EXPECT_EQ(places(dropping + rule(match(dport, R"({"range": [4000, 5000]})") + unknown + accepts)),
            "none");
  EXPECT_EQ(places(dropping + rule(match(dport, "53") + unknown + accepts)), "policy in");
  EXPECT_EQ(places(dropping + rule(match(dport, "4791", ">=") + unknown + accepts)),
            "may policy in");
}

TEST(Firewall, DropUnderAConditionCountsIfItNamesThePort) {
  const std::string limit = R"({"limit": {"rate": 10, "per": "second"}}, )";
  const std::string fib =
      match(R"({"fib": {"result": "oif", "flags": ["saddr", "iif"]}})", "false");
  for (const std::string& condition :
       {unknown, limit, fib, match(saddr, R"("@blocked")"), match(saddr, R"("10.9.0.0")"),
        std::string(R"({"xt": {"type": "match", "name": "recent"}}, )")}) {
    EXPECT_EQ(places(input + rule(condition + drops)), "none") << condition;
    EXPECT_EQ(places(input + rule(condition + to_port + drops)), "may rule in") << condition;
    EXPECT_EQ(places(dropping + rule(condition + drops)), "policy in") << condition;
  }
  EXPECT_EQ(places(input + rule(to_port + call("jump", "s")) + rule(unknown + drops, "s")),
            "may rule s");
  EXPECT_EQ(places(input + rule(unknown + to_port + call("jump", "s")) + rule(drops, "s")),
            "may rule s");
  EXPECT_EQ(places(input + rule(unknown + call("jump", "s")) + rule(drops, "s")), "none");
}

TEST(Firewall, ChainsAreFollowed) {
  const std::string jump = rule(call("jump", "s"));
  EXPECT_EQ(places(input + jump + rule(drops, "s")), "rule s");
  EXPECT_EQ(places(dropping + jump + rule(accepts, "s")), "none");
  EXPECT_EQ(places(dropping + jump + rule(returns, "s") + rule(accepts, "s")), "policy in");
  EXPECT_EQ(places(dropping + rule(call("goto", "s")) + rule(accepts)), "policy in");
  EXPECT_EQ(places(dropping + jump + rule(unknown + returns, "s") + rule(accepts, "s")),
            "may policy in");
  EXPECT_EQ(places(dropping + jump + rule(unknown + returns, "s") + rule(drops, "s")), "policy in");
  EXPECT_EQ(places(input + jump + rule(unknown + returns, "s") + rule(drops, "s")), "may rule s");
  EXPECT_EQ(places(input + jump + rule(unknown + accepts, "s") + rule(drops)), "may rule in");
  EXPECT_EQ(places(input + jump + rule(unknown + returns, "s") + rule(drops)), "rule in");
  EXPECT_EQ(places(input + rule(unknown + to_port + drops) + rule(drops)), "rule in")
      << "the certain one";
  const std::string both = chain("in", "input", "accept") + chain("pre", "prerouting", "drop");
  EXPECT_EQ(places(both + rule(drops)), "rule in, policy pre") << "each base chain";
}

TEST(Firewall, PacketsAreNewToTheTrackingOfFlows) {
  for (const std::string& right : {std::string(R"("new")"), std::string(R"(["new", "related"])"),
                                   std::string(R"({"set": ["established", "new"]})")}) {
    for (const char* op : {"==", "in"})
      EXPECT_EQ(places(input + rule(match(state, right, op) + drops)), "rule in") << op << right;
    EXPECT_EQ(places(input + rule(match(state, right, "!=") + drops)), "none") << right;
  }
  for (const std::string& right :
       {std::string(R"("invalid")"), std::string(R"(["established", "related"])"),
        std::string(R"({"set": ["untracked", "invalid"]})")}) {
    EXPECT_EQ(places(input + rule(match(state, right, "in") + drops)), "none") << right;
    EXPECT_EQ(places(input + rule(match(state, right, "!=") + drops)), "rule in") << right;
  }
  const std::string status = R"({"ct": {"key": "status"}})";
  EXPECT_EQ(places(dropping + rule(match(status, R"("dnat")", "in") + accepts)), "policy in");
  EXPECT_EQ(places(dropping + rule(match(status, R"("confirmed")", "in") + accepts)),
            "may policy in");
  const auto by_state = [&](const std::string& pairs) {
    return places(dropping + rule(vmap(state, R"({"set": [)" + pairs + "]}")));
  };
  EXPECT_EQ(by_state(R"(["established", {"accept": null}], ["invalid", {"drop": null}])"),
            "policy in");
  EXPECT_EQ(by_state(R"(["established", {"accept": null}], ["new", {"accept": null}])"), "none");
  EXPECT_EQ(by_state(R"(["invalid", {"drop": null}], ["*", {"accept": null}])"), "none");
}

TEST(Firewall, PacketsMayBeUntracked) {
  const std::string notrack = rule(to_port + R"({"notrack": null})", "other");
  const auto accepted = [&](const char* word) {
    return places(notrack + dropping + rule(match(state, word, "in") + accepts));
  };
  EXPECT_EQ(accepted(R"("untracked")"), "may policy in");
  EXPECT_EQ(accepted(R"("new")"), "may policy in");
  EXPECT_EQ(accepted(R"("established")"), "policy in");
}

TEST(Firewall, KindsOfPacketsAreUnderstood) {
  const auto accepted = [](const std::string& left, const std::string& right,
                           const std::string& hook = "input") {
    return places(chain("in", hook, "drop") + rule(match(left, right) + accepts));
  };
  EXPECT_EQ(accepted(meta("pkttype"), R"("host")"), "none");
  EXPECT_EQ(accepted(meta("pkttype"), R"({"set": ["broadcast", "multicast"]})"), "policy in");
  const std::string type = R"({"fib": {"result": "type", "flags": ["daddr"]}})";
  EXPECT_EQ(accepted(type, R"("local")"), "none");
  EXPECT_EQ(accepted(type, R"({"set": ["broadcast", "multicast"]})"), "policy in");
  EXPECT_EQ(accepted(type, R"("local")", "output"), "may policy in leave");
  EXPECT_EQ(accepted(R"({"fib": {"result": "type", "flags": "daddr"}})", R"("local")"), "none");
  EXPECT_EQ(accepted(R"({"fib": {"result": "type", "flags": ["saddr"]}})", R"("local")"),
            "may policy in");
}

TEST(Firewall, NamedSetsHaveTheirElements) {
  const auto with = [](const std::string& elements, const std::string& more = "",
                       const std::string& rules = "") {
    const std::string set =
        R"({"set": {"family": "inet", "table": "t", "name": "ports", "type": "inet_service")" +
        more + R"(, "elem": [)" + elements + "]}}, ";
    return places(set + rules + dropping + rule(match(dport, R"("@ports")") + accepts));
  };
  EXPECT_EQ(with("53, 4791"), "none");
  EXPECT_EQ(with(R"({"elem": {"val": 4791, "timeout": 60}})"), "none");
  EXPECT_EQ(with(R"({"range": [4000, 5000]})"), "none");
  EXPECT_EQ(with("53"), "policy in");
  EXPECT_EQ(with(""), "policy in");
  EXPECT_EQ(with("4791", R"(, "flags": ["dynamic"])"), "may policy in");
  const std::string adds = R"({"set": {"op": "add", "elem": 1, "set": "@ports"}})";
  EXPECT_EQ(with("53", "", rule(adds, "other")), "may policy in");
  EXPECT_EQ(places(dropping + rule(match(dport, R"("@other")") + accepts)), "may policy in");
  EXPECT_EQ(
      places(R"({"set": {"family": "inet", "table": "t", "name": "ports", "elem": [4791]}}, )" +
             input + rule(match(dport, R"("@ports")") + drops)),
      "rule in");
}

TEST(Firewall, SeveralKeysAtOnceAreCompared) {
  const std::string keys = R"({"concat": [)" + daddr + ", " + dport + "]}";
  const auto with = [&](const std::string& values, const std::string& verdict = drops) {
    return places(input +
                  rule(match(keys, R"({"set": [{"concat": [)" + values + "]}]}") + verdict));
  };
  EXPECT_EQ(with(R"("10.0.0.1", 4791)"), "rule in");
  EXPECT_EQ(with(R"("10.0.0.2", 4791)"), "none");
  EXPECT_EQ(with(R"({"prefix": {"addr": "10.0.0.0", "len": 8}}, 53)"), "none");
  EXPECT_EQ(with(R"("10.0.0.1")"), "none") << "not understood";
  const std::string source = R"({"concat": [)" + saddr + ", " + dport + "]}";
  const std::string right = R"({"set": [{"elem": {"val": {"concat": ["10.0.0.2", 4791]}}}]})";
  EXPECT_EQ(places(dropping + rule(match(source, right) + accepts)), "none") << "it names the port";
  EXPECT_EQ(places(input + rule(match(source, right) + drops)), "may rule in");
  EXPECT_EQ(places(input + rule(vmap(keys, R"({"set": [[{"concat": ["10.0.0.1", 4791]}, )" +
                                               std::string(drops) + "]]}"))),
            "rule in");
  const std::string tcp = R"({"concat": [)" + daddr + ", " + field("tcp", "dport") + "]}";
  EXPECT_EQ(places(input + rule(match(tcp, R"({"concat": ["10.0.0.1", 22]})", "!=") + drops)),
            "none");
}

TEST(Firewall, InterfaceMayBeUnknown) {
  const auto accepted = [](const std::string& right, const std::string& op = "==") {
    return places(dropping + rule(match(meta("iifname"), right, op) + accepts), any_packets);
  };
  EXPECT_EQ(accepted(R"("lo")"), "policy in");
  EXPECT_EQ(accepted(R"("lo")", "!="), "none");
  EXPECT_EQ(accepted(R"("eth0")"), "may policy in");
  EXPECT_EQ(accepted(R"({"set": ["lo", "eth0"]})"), "may policy in");
}

TEST(Firewall, AddressMayBeUnknown) {
  const PacketQuestion any{"eth0", {}};
  EXPECT_EQ(places(chain("in", "input", "drop", "ip6"), any), "policy in");
  EXPECT_EQ(places(chain("in", "input", "drop", "ip"), any), "policy in");
  EXPECT_EQ(places(chain("in", "input", "drop", "ip6"), {"eth0", {}, "10.0.0.2"}), "none");
  EXPECT_EQ(places(chain("in", "input", "drop", "ip6"), {"eth0", {}, "fd00::2"}), "policy in");
  EXPECT_EQ(places(chain("in", "input", "drop", "ip") +
                       rule(match(daddr, R"("10.0.0.1")") + accepts, "in", "ip"),
                   any),
            "may policy in");
  const std::string ipv4 = match(meta("nfproto"), R"("ipv4")");
  EXPECT_EQ(places(dropping + rule(ipv4 + accepts), any), "policy in") << "of IPv6";
  EXPECT_EQ(places(dropping + rule(ipv4 + accepts)), "none");
  EXPECT_EQ(places(dropping + rule(ipv4 + accepts), {"eth0", {"10.0.0.1", "fd00::1"}}),
            "policy in");
}

TEST(Firewall, CureDeletesARuleForThePortOrInsertsAnother) {
  constexpr char deletes[] = "nft delete rule inet t in handle 7";
  constexpr char inserts[] = "nft insert rule inet t in udp dport 4791 accept";
  EXPECT_EQ(cure(input + rule(to_port + drops)), deletes);
  EXPECT_EQ(cure(input + rule(drops)), inserts);
  EXPECT_EQ(cure(dropping), inserts);
  EXPECT_EQ(cure(input + rule(call("jump", "s")) + rule(drops, "s")), inserts);
  EXPECT_EQ(cure(input + rule(to_port + call("jump", "s")) + rule(drops, "s")), inserts);
  EXPECT_EQ(cure(input + rule(call("jump", "s")) + rule(to_port + drops, "s")),
            "nft delete rule inet t s handle 7");
  EXPECT_EQ(cure(input + rule(vmap(dport, R"({"set": [[4791, )" + std::string(drops) + "]]}"))),
            inserts)
      << "the rule is for other ports, too";
}

/// A rule, or the base chain, of firewalld.
std::string firewalld(std::string objects) {
  for (size_t at = 0; (at = objects.find(R"("table": "t")", at)) != std::string::npos;)
    objects.replace(at, 12, R"("table": "firewalld")");
  return objects;
}

// Others may not change its table, and would not keep the change.
TEST(Firewall, CureOfFirewalldIsItsCommand) {
  constexpr char shows[] =
      "to see its rules: firewall-cmd --list-all-zones; firewall-cmd --list-all-policies";
  const std::string base =
      chain("filter_INPUT", "input", "accept") +
      rule(match(state, R"({"set": ["established"]})") + accepts, "filter_INPUT");
  const std::string zones =
      rule(call("jump", "zones"), "filter_INPUT") + rule(R"({"reject": null})", "filter_INPUT");
  const auto in_zone = [&](const std::string& zone, const std::string& rules) {
    return cure(firewalld(base + zones + rule(call("goto", zone), "zones") + rules));
  };
  const std::string reject = R"({"reject": {"type": "icmpx", "expr": "admin-prohibited"}})";
  EXPECT_EQ(in_zone("filter_IN_my_zone", rule(reject, "filter_IN_my_zone")),
            "firewall-cmd --zone=my_zone --add-port=4791/udp\n"
            "to keep it: firewall-cmd --permanent --zone=my_zone --add-port=4791/udp");
  EXPECT_EQ(in_zone("filter_IN_policy_mine", rule(drops, "filter_IN_policy_mine")),
            "firewall-cmd --policy=mine --add-port=4791/udp\n"
            "to keep it: firewall-cmd --permanent --policy=mine --add-port=4791/udp");
  EXPECT_EQ(
      cure(firewalld(base + zones)),
      "firewall-cmd --add-port=4791/udp\nto keep it: firewall-cmd --permanent --add-port=4791/udp");
  const std::string rich = rule(call("jump", "filter_IN_x_deny"), "filter_IN_x");
  EXPECT_EQ(in_zone("filter_IN_x", rich + rule(drops, "filter_IN_x_deny")), shows)
      << "opened ports come behind it";
  EXPECT_EQ(in_zone("filter_IN_x", rich + rule(to_port + drops, "filter_IN_x_deny")), shows);
  EXPECT_EQ(cure(firewalld(chain("filter_OUTPUT", "output", "drop"))), shows);
  EXPECT_EQ(in_zone("filter_IN_x", rule(to_port + accepts, "filter_IN_x")), "0 drops");
}

TEST(Firewall, RuleForOtherPortsTooIsNotDeleted) {
  for (const char* right : {R"({"set": [53, 4791]})", R"({"range": [4000, 5000]})"})
    EXPECT_EQ(cure(input + rule(match(dport, right) + drops)),
              "nft insert rule inet t in udp dport 4791 accept");
  EXPECT_EQ(cure(input + rule(match(dport, R"({"set": [{"range": [4791, 4791]}]})") + drops)),
            "nft delete rule inet t in handle 7");
}

TEST(Firewall, DropOfOneFamilyIsNamed) {
  const auto only = [](const std::string& objects, const PacketQuestion& asked) {
    const auto found = find_drops(read_ruleset(ruleset(objects)), asked);
    return found.size() == 1 ? found[0].only : std::to_string(found.size()) + " drops";
  };
  const PacketQuestion both{"eth0", {"10.0.0.1", "fd00::1"}};
  const std::string ipv4 = match(meta("nfproto"), R"("ipv4")");
  EXPECT_EQ(only(dropping + rule(ipv4 + accepts), both), "IPv6");
  EXPECT_EQ(only(chain("in", "input", "drop", "ip"), both), "IPv4");
  EXPECT_EQ(only(dropping, both), "");
  EXPECT_EQ(only(dropping + rule(match(daddr, R"("10.0.0.1")") + accepts),
                 {"eth0", {"10.0.0.1", "10.0.0.2"}}),
            "10.0.0.2");
  EXPECT_EQ(only(chain("c", "input", "drop", "ip") + chain("d", "input", "drop", "ip6"), both),
            "2 drops");
  EXPECT_EQ(only(dropping + rule(ipv4 + accepts), {"eth0", {"10.0.0.1", "fe80::1"}}), "0 drops")
      << "no program takes the address of the link";
  EXPECT_EQ(only(dropping, {"eth0", {"fe80::1"}}), "") << "unless there is no other";
  EXPECT_EQ(cure(dropping + rule(ipv4 + accepts), both),
            "nft insert rule inet t in meta nfproto ipv6 udp dport 4791 accept");
}

// A key that is not understood returns, so the caller's rules count.
TEST(Firewall, MapMayReturnToTheCaller) {
  const std::string sub =
      rule(vmap(R"({"meta": {"key": "cgroup"}})", R"({"set": [[1, {"return": null}]]})"), "s") +
      rule(drops, "s");
  EXPECT_EQ(places(dropping + rule(call("jump", "s")) + sub), "policy in");
}

TEST(Firewall, TextSaysAllThatIsKnown) {
  const Drop drop{"inet t in", false, true, false};
  EXPECT_EQ(drop_text(drop, ""),
            "a rule of 'inet t in' drops incoming RoCE packets (UDP port 4791)");
  EXPECT_EQ(drop_text({"c", false, false, true}, " of this host"),
            "a rule of 'c' of this host may drop outgoing RoCE packets (UDP port 4791)");
  EXPECT_EQ(drop_text({"c", true, true, true}, ""),
            "the policy of 'c' drops outgoing RoCE packets (UDP port 4791)");
  EXPECT_EQ(drop_text({"c", true, true, false, "", "IPv6"}, ""),
            "the policy of 'c' drops incoming IPv6 RoCE packets (UDP port 4791)");
  EXPECT_EQ(drop_text({"c", true, true, true, "", "10.0.0.1"}, ""),
            "the policy of 'c' drops outgoing RoCE packets (UDP port 4791) from 10.0.0.1");
  EXPECT_EQ(drop_text({"c", true, true, false, "", "fd00::1"}, ""),
            "the policy of 'c' drops incoming RoCE packets (UDP port 4791) to fd00::1");
  EXPECT_EQ(
      drop_text({"c", true, false, false}, ""),
      "the policy of 'c' may drop incoming RoCE packets (UDP port 4791): no rule names the port");
}

TEST(Firewall, LoopsEnd) {
  EXPECT_EQ(places(dropping + rule(call("jump", "in"))), "policy in");
  std::string all = dropping;
  for (int i = 0; i < 8; i++) all += rule(call("jump", "in"));
  EXPECT_EQ(places(all), "may policy in") << "too many rules to follow";
}

TEST(Firewall, BadInputHasNoDrops) {
  for (const char* text :
       {"", "no JSON", "[]", "{}", R"({"nftables": 1})", R"({"nftables": [1, {"rule": 2}]})",
        R"({"nftables": [{"chain": []}]})", R"({"nftables": [{"rule": {"expr": [1]}}]})",
        R"({"nftables": [{"set": {"flags": 1, "elem": 2}}, {"map": 1}]})"})
    EXPECT_TRUE(find_drops(read_ruleset(text), question).empty()) << text;
  for (const char* statement :
       {"1", R"({"match": 1})", R"({"match": {"op": ">", "left": 1, "right": 2}}, {"drop": null})",
        R"({"match": {"op": "==", "left": {"concat": [1]}, "right": [[1]]}}, {"drop": null})",
        R"({"match": {"op": "in", "left": {"ct": 1}, "right": {"elem": 1}}}, {"drop": null})",
        R"({"match": {"op": "==", "left": {"fib": 1}, "right": "@"}}, {"drop": null})",
        R"({"vmap": {"key": 1, "data": "@x"}})", R"({"vmap": {"data": {"set": [[1, 2]]}}})"})
    EXPECT_EQ(places(input + rule(statement)), "none") << statement;
}

}  // namespace
}  // namespace sroce
