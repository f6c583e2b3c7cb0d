// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/nat.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sroce/chain_walk.h"
#include "sroce/udp_port.h"

namespace sroce {
namespace {

using nlohmann::json;

/// A statement that changes packets. The name is empty if it changes nothing.
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
std::string given_of(const PacketQuestion& question, const std::optional<std::string>& given,
                     const std::string& own) {
  if (given) return *given;
  if (!is_ipv4(own)) return own;
  return *std::find_if(question.addresses.begin(), question.addresses.end(), is_ipv4);
}

/// Follows packets through a base chain for NAT.
class NatWalk : public ChainWalk {
 public:
  NatWalk(const Ruleset& ruleset, const Packets& packets, const PacketQuestion& question)
      : ChainWalk(ruleset, packets, false),
        masquerade_(given_of(question, question.masquerade, packets.own)),
        redirect_(given_of(question, question.redirect, packets.own)) {}

  std::optional<NatRule> find(const std::string& base) {
    const Chain& chain = ruleset_.chains.at(base);
    hook_ = chain.hook;
    found_.reset();
    walk(base);
    if (!found_) return found_;
    found_->cure = chain.acceptance + '\n' + end_of_flows;
    found_->certain &= !ruleset_.has_notrack;  // those are not changed
    return found_;
  }

 private:
  std::optional<End> execute(const Step& step) override {
    if (step.statement.contains("accept") || step.statement.contains("drop")) return End::pass;
    const Change change = change_of(step.statement, hook_);
    if (change.name.empty()) return std::nullopt;
    if (!concerns(step.chain, change)) return End::none;
    record(step.chain, change, step.reach == Reach::certain);
    return End::pass;
  }

  /// A change of one family, or one that takes its values from a map without the packets' key,
  /// leaves others as they are.
  bool concerns(const std::string& chain, const Change& change) const {
    const std::string family = text_of(change.arguments, "family");
    if (!family.empty() && (family == "ip") != packets_.ipv4) return false;
    for (const char* name : {"addr", "port"}) {
      const json& map = member(member(change.arguments, name), "map");
      if (map.is_null()) continue;
      const json& pairs = member(resolved(chain, member(map, "data")), "set");
      if (!pairs.is_array()) return false;
      const auto may_have = [&](const json& pair) {
        return pair.is_array() && pair.size() == 2 && match_key(map, pair) != Match::never;
      };
      if (std::none_of(pairs.begin(), pairs.end(), may_have)) return false;
    }
    return true;
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
      return packets_.ipv4 && now == redirect_ ? Match::never : Match::maybe;
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

  const std::string masquerade_, redirect_;
  std::string hook_;
  std::optional<NatRule> found_;
};

bool sees(const Chain& chain, const Packets& packets) {
  if (chain.type != "nat" || chain.family == (packets.ipv4 ? "ip6" : "ip")) return false;
  if (packets.leave) return chain.hook == "output" || chain.hook == "postrouting";
  return chain.hook == "prerouting" || chain.hook == "input";
}

}  // namespace

std::vector<NatRule> find_nat(const Ruleset& ruleset, const PacketQuestion& question) {
  std::vector<NatRule> found;
  for (const auto& [name, chain] : ruleset.chains) {
    std::optional<NatRule> first;
    for (const Packets& packets : packets_of(question, ruleset.has_notrack)) {
      if (packets.own.empty() || !sees(chain, packets)) continue;
      const auto rule = NatWalk(ruleset, packets, question).find(name);
      if (rule && (!first || (rule->certain && !first->certain))) first = rule;
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
