// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/nat.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sroce/nat_match.h"
#include "sroce/ruleset.h"
#include "sroce/udp_port.h"

namespace sroce {
namespace {

using nlohmann::json;

constexpr int most_jumps = 16;  // as in the kernel

struct Chain {
  std::string hook;         // of a base chain for NAT
  std::vector<json> rules;  // each the list of its expressions
};

/// Chains and the elements of named maps, both by "FAMILY TABLE NAME".
struct Ruleset {
  std::map<std::string, Chain> chains;
  std::map<std::string, json> maps;
  bool has_notrack = false;
};

std::string table_of(const json& object) {
  return text_of(object, "family") + ' ' + text_of(object, "table") + ' ';
}

/// The table of a chain, with the space behind it.
std::string table_of(const std::string& chain) { return chain.substr(0, chain.rfind(' ') + 1); }

Ruleset read_ruleset(const std::string& text) {
  Ruleset ruleset;
  const json parsed = json::parse(text, nullptr, false);
  const json& objects = member(parsed, "nftables");
  if (!objects.is_array()) return ruleset;
  for (const json& object : objects) {
    const json& chain = member(object, "chain");
    if (text_of(chain, "type") == "nat")
      ruleset.chains[table_of(chain) + text_of(chain, "name")].hook = text_of(chain, "hook");
    const json& map = member(object, "map");
    if (map.is_object()) ruleset.maps[table_of(map) + text_of(map, "name")] = member(map, "elem");
    const json& rule = member(object, "rule");
    const json& expressions = member(rule, "expr");
    if (!expressions.is_array()) continue;
    ruleset.chains[table_of(rule) + text_of(rule, "chain")].rules.push_back(expressions);
    for (const json& statement : expressions)
      ruleset.has_notrack |= statement.is_object() && statement.contains("notrack");
  }
  return ruleset;
}

/// A statement that changes packets. Its name is empty if it is none.
struct Change {
  std::string name;
  bool source = false;  // else the destination
  json arguments{};
  bool complete = true;  // the arguments are all that there are
};

/// "nft" prints a rule of iptables without its arguments.
Change change_of_iptables(const json& target, const std::string& hook) {
  const std::string name = text_of(target, "name");
  if (name == "MASQUERADE") return {"masquerade", true, {}, false};
  if (name == "SNAT") return {"snat", true, {}, false};
  if (name == "DNAT") return {"dnat", false, {}, false};
  if (name == "REDIRECT") return {"redirect", false, {}, false};
  if (name == "NETMAP") return {"netmap", hook == "postrouting" || hook == "input", {}, false};
  return {};
}

Change change_of(const json& statement, const std::string& hook) {
  for (const char* name : {"snat", "masquerade", "dnat", "redirect"}) {
    if (statement.is_object() && statement.contains(name))
      return {name, name == std::string("snat") || name == std::string("masquerade"),
              statement[name]};
  }
  return change_of_iptables(member(statement, "xt"), hook);
}

bool is_random(const json& arguments) {
  const json& flags = member(arguments, "flags");
  return flags.dump().find("random") != std::string::npos;
}

std::string port_text(const json& port) {
  if (port.is_number_integer()) return ":" + std::to_string(port.get<int>());
  const json& range = member(port, "range");
  if (range.is_array() && range.size() == 2) return ":" + range[0].dump() + "-" + range[1].dump();
  return port.is_null() ? "" : ":one of several";
}

std::string text_of_change(const Change& change) {
  const json& address = member(change.arguments, "addr");
  std::string to = address.is_string() ? address.get<std::string>() : "one of several";
  if (address.is_null()) to.clear();
  if (!is_ipv4(to)) to = '[' + to + ']';
  to += port_text(member(change.arguments, "port"));
  return change.name + (to.empty() ? "" : " to " + to) +
         (is_random(change.arguments) ? " random" : "");
}

/// The address that masquerading or a redirect gives to packets of an address.
std::string given_of(const NatQuestion& question, const std::optional<std::string>& given,
                     const std::string& own) {
  if (given) return *given;
  if (!is_ipv4(own)) return own;
  return *std::find_if(question.addresses.begin(), question.addresses.end(), is_ipv4);
}

/// Follows the packets of one address through the base chains.
class Walker {
 public:
  Walker(const Ruleset& ruleset, const NatPackets& packets, const NatQuestion& question)
      : ruleset_(ruleset),
        packets_(packets),
        masquerade_(given_of(question, question.masquerade, packets.own)),
        redirect_(given_of(question, question.redirect, packets.own)) {}

  std::optional<NatRule> walk(const std::string& base) {
    hook_ = ruleset_.chains.at(base).hook;
    found_.reset();
    follow(base, true, 0);
    if (found_) {
      found_->base = base;
      found_->cure = "nft insert rule " + base + " udp dport 4791 accept\n" + end_of_flows;
    }
    return found_;
  }

 private:
  /// Returns whether all packets that get here end here, so that none goes back to the caller.
  bool follow(const std::string& name, bool certain, int depth) {
    const auto chain = ruleset_.chains.find(name);
    if (chain == ruleset_.chains.end() || depth > most_jumps) return false;
    for (const json& rule : chain->second.rules) {
      Match match = Match::always;
      for (const json& statement : rule) {
        if (match == Match::never) break;
        const int before = ends_;
        const End end = execute(name, statement, match, certain, depth);
        if (end != End::none && match == Match::always) return end == End::packets;
        // Packets that may have left before do not reach the next rule.
        if (end != End::none || ends_ != before) certain = false;
      }
    }
    return false;
  }

  /// The end of the packets that a statement applies to.
  enum class End { none, chain, packets };

  End execute(const std::string& chain, const json& statement, Match& match, bool certain,
              int depth) {
    if (!statement.is_object()) return End::none;
    const bool applies = certain && match == Match::always;
    if (statement.contains("match")) {
      match = std::min(match, match_packets(statement["match"], packets_));
      return End::none;
    }
    if (statement.contains("accept") || statement.contains("drop")) return end_packets();
    if (statement.contains("return")) return End::chain;
    if (statement.contains("vmap")) return execute_map(chain, statement["vmap"], applies, depth);
    for (const char* call : {"jump", "goto"}) {
      if (!statement.contains(call)) continue;
      if (follow(table_of(chain) + text_of(statement[call], "target"), applies, depth + 1))
        return end_packets();
      return call == std::string("goto") ? End::chain : End::none;
    }
    if (const Change change = change_of(statement, hook_); !change.name.empty()) {
      if (!concerns(chain, change)) return End::none;
      record(chain, change, applies);
      return end_packets();
    }
    if (!is_neutral(statement)) match = std::min(match, Match::maybe);
    return End::none;
  }

  End end_packets() {
    ends_++;
    return End::packets;
  }

  /// Packets take the verdict of the first key that they have, or of any that they may have.
  End execute_map(const std::string& chain, const json& map, bool certain, int depth) {
    for (const json& pair : elements_of(chain, map)) {
      if (!pair.is_array() || pair.size() != 2) continue;
      const Match key = match_key(map, pair);
      if (key == Match::never) continue;
      Match match = key;
      const End end = execute(chain, pair[1], match, certain && key == Match::always, depth);
      if (key == Match::always) return end;
      if (end == End::chain) ends_++;
    }
    return End::none;
  }

  /// The pairs of a map, which has them or the name of another.
  json elements_of(const std::string& chain, const json& map) const {
    const json& data = member(map, "data");
    const json& set = member(data, "set");
    if (set.is_array()) return set;
    const std::string name = data.is_string() ? data.get<std::string>() : "";
    const auto named = ruleset_.maps.find(table_of(chain) + name.substr(name.starts_with('@')));
    return named != ruleset_.maps.end() && named->second.is_array() ? named->second : json::array();
  }

  Match match_key(const json& map, const json& pair) const {
    return match_packets({{"op", "=="}, {"left", member(map, "key")}, {"right", pair[0]}},
                         packets_);
  }

  /// A change of one family, or one that takes its values from a map without the packets' key,
  /// leaves others as they are.
  bool concerns(const std::string& chain, const Change& change) const {
    const std::string family = text_of(change.arguments, "family");
    if (!family.empty() && (family == "ip") != is_ipv4(packets_.own)) return false;
    for (const char* name : {"addr", "port"}) {
      const json& map = member(member(change.arguments, name), "map");
      if (map.is_null()) continue;
      const json pairs = elements_of(chain, map);
      const auto may_have = [&](const json& pair) {
        return pair.is_array() && pair.size() == 2 && match_key(map, pair) != Match::never;
      };
      if (std::none_of(pairs.begin(), pairs.end(), may_have)) return false;
    }
    return true;
  }

  /// All packets that get to the statement pass it.
  static bool is_neutral(const json& statement) {
    for (const char* name : {"counter", "log", "mangle", "continue"}) {
      if (statement.contains(name)) return true;
    }
    return text_of(member(statement, "xt"), "type") == "target";
  }

  void record(const std::string& chain, const Change& change, bool applies) {
    const Match address = changes_address(change), port = changes_port(change);
    const Match most = std::max(address, port);
    if (most == Match::never) return;
    const bool certain = applies && most == Match::always;
    if (found_ && (found_->certain || !certain)) return;
    const std::string side = change.source ? "source" : "destination";
    found_ = NatRule{chain,
                     "the " + side + (address == Match::never ? " port" : " address") +
                         " of RoCE packets (" + text_of_change(change) + ")",
                     certain, ""};
  }

  Match changes_address(const Change& change) const {
    const std::optional<std::string> now =
        change.source == packets_.leave ? std::optional(packets_.own) : packets_.peer;
    if (change.name == "redirect" && packets_.leave) return Match::always;  // to 127.0.0.1
    if (change.name == "redirect")
      return is_ipv4(packets_.own) && now == redirect_ ? Match::never : Match::maybe;
    if (change.name == "masquerade") return now == masquerade_ ? Match::never : Match::maybe;
    const json& address = member(change.arguments, "addr");
    if (address.is_null()) return change.complete ? Match::never : Match::maybe;
    if (!address.is_string() || !now) return Match::maybe;
    return address.get<std::string>() == *now ? Match::never : Match::always;
  }

  /// A source port in the range that a rule gives stays. A rule of iptables whose arguments are not
  /// known is taken to give none if it masquerades: many hosts with containers have such rules.
  Match changes_port(const Change& change) const {
    if (is_random(change.arguments)) return Match::always;
    const json& port = member(change.arguments, "port");
    if (port.is_null()) return change.complete || change.source ? Match::never : Match::maybe;
    const Match within =
        match_ports(port, change.source ? roce_sources : Ports{roce_port, roce_port});
    if (within == Match::maybe) return Match::maybe;
    return within == Match::always ? Match::never : Match::always;
  }

  const Ruleset& ruleset_;
  const NatPackets& packets_;
  const std::string masquerade_, redirect_;
  std::string hook_;
  int ends_ = 0;  // how often packets may have ended
  std::optional<NatRule> found_;
};

bool sees(const std::string& base, const Chain& chain, const NatPackets& packets) {
  const std::string other = is_ipv4(packets.own) ? "ip6 " : "ip ";
  if (base.starts_with(other)) return false;
  if (packets.leave) return chain.hook == "output" || chain.hook == "postrouting";
  return chain.hook == "prerouting" || chain.hook == "input";
}

}  // namespace

std::vector<NatRule> find_nat(const std::string& ruleset, const NatQuestion& question) {
  std::vector<NatRule> found;
  const Ruleset rules = read_ruleset(ruleset);
  for (const auto& [name, chain] : rules.chains) {
    std::optional<NatRule> first;
    for (const std::string& own : question.addresses) {
      for (const bool leave : {true, false}) {
        const NatPackets packets{leave, question.interface, own, question.peer};
        if (!sees(name, chain, packets)) continue;
        auto rule = Walker(rules, packets, question).walk(name);
        if (rule && rules.has_notrack) rule->certain = false;  // those are not changed
        if (rule && (!first || (rule->certain && !first->certain))) first = rule;
      }
    }
    if (first) found.push_back(*first);
  }
  return found;
}

std::string nat_text(const NatRule& rule, const std::string& place) {
  return "'" + rule.chain + "'" + place + (rule.certain ? " changes " : " may change ") +
         rule.change + "; these are lost, as the ICRC covers it";
}

}  // namespace sroce
