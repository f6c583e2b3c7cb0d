// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/firewall.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "sroce/ruleset.h"
#include "sroce/udp_port.h"

namespace sroce {
namespace {

using nlohmann::json;

std::string chain_of(const json& object, const char* name_key) {
  return text_of(object, "family") + ' ' + text_of(object, "table") + ' ' +
         text_of(object, name_key);
}

/// A port, {"range": [FROM, TO]}, or {"set": [...]} of these.
bool includes_port(const json& right) {
  if (right.is_number_integer()) return right.get<int>() == roce_port;
  const json& range = member(right, "range");
  if (range.is_array() && range.size() == 2 && range[0].is_number_integer() &&
      range[1].is_number_integer())
    return range[0].get<int>() <= roce_port && roce_port <= range[1].get<int>();
  const json& set = member(right, "set");
  return set.is_array() && std::any_of(set.begin(), set.end(), includes_port);
}

/// Does the expression compare the destination port of UDP with the one of RoCE?
bool matches_port(const json& expression) {
  const json& match = member(expression, "match");
  const json& payload = member(member(match, "left"), "payload");
  return text_of(match, "op") == "==" && text_of(payload, "protocol") == "udp" &&
         text_of(payload, "field") == "dport" && includes_port(member(match, "right"));
}

bool has(const json& expressions, const char* verdict) {
  for (const json& expression : expressions) {
    if (expression.is_object() && expression.contains(verdict)) return true;
  }
  return false;
}

bool names_port(const json& expressions) {
  for (const json& expression : expressions) {
    if (matches_port(expression)) return true;
  }
  return false;
}

bool drops_the_rest(const json& chain) {
  return text_of(chain, "hook") == "input" && text_of(chain, "type") == "filter" &&
         text_of(chain, "policy") == "drop";
}

/// The chains of packets that are not for this host, nor from it.
std::set<std::string> other_chains(const json& objects) {
  std::set<std::string> others;
  for (const json& object : objects) {
    if (!object.is_object() || !object.contains("chain") || !object["chain"].is_object()) continue;
    const json& chain = object["chain"];
    const std::string hook = text_of(chain, "hook"), family = text_of(chain, "family");
    if (hook == "forward" || family == "arp" || family == "bridge")
      others.insert(chain_of(chain, "name"));
  }
  return others;
}

std::string handle_of(const json& rule) {
  const auto handle = rule.find("handle");
  return handle != rule.end() && handle->is_number() ? std::to_string(handle->get<int>()) : "N";
}

/// "4791", "4000:5000", or a list of these.
bool lists_port(const std::string& text) {
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    int from = 0, to = 0;
    const char* end = item.data() + item.size();
    auto [rest, error] = std::from_chars(item.data(), end, from);
    if (error != std::errc{}) continue;
    to = from;
    if (rest != end && *rest == ':') std::from_chars(rest + 1, end, to);
    if (from <= roce_port && roce_port <= to) return true;
  }
  return false;
}

/// A line "-A CHAIN [CONDITION]... -j TARGET".
struct IptablesRule {
  std::string chain, target;
  bool names_port = false;
};

IptablesRule parse_rule(std::istringstream& words) {
  IptablesRule rule;
  words >> rule.chain;
  bool is_udp = false, has_port = false;
  for (std::string word, last; words >> word; last = word) {
    if (last == "-p") is_udp = word == "udp";
    if (last == "--dport" || last == "--dports") has_port = lists_port(word);
    if (last == "-j") rule.target = word;
  }
  rule.names_port = is_udp && has_port;
  return rule;
}

}  // namespace

std::vector<FirewallRule> find_iptables_drops(const std::string& rules) {
  std::vector<FirewallRule> drops;
  std::set<std::string> dropping, accepting;  // commands, by their policy and their rules
  std::istringstream lines(rules);
  std::string table;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string command, word;
    words >> command >> word;
    if (word.starts_with('*')) table = word.substr(1);
    if (table != "filter") continue;
    if (std::string policy; word == ":INPUT" && words >> policy && policy == "DROP")
      dropping.insert(command);
    if (word != "-A") continue;
    const IptablesRule rule = parse_rule(words);
    if (!rule.names_port || rule.chain == "FORWARD") continue;
    if (rule.target == "ACCEPT") accepting.insert(command);
    if (rule.target == "DROP" || rule.target == "REJECT")
      drops.push_back(
          {command + ' ' + rule.chain, true, command + " -D" + line.substr(line.find(" -A ") + 3)});
  }
  for (const std::string& command : dropping) {
    if (!accepting.contains(command))
      drops.push_back(
          {command + " INPUT", false, command + " -I INPUT -p udp --dport 4791 -j ACCEPT"});
  }
  return drops;
}

std::vector<FirewallRule> find_drops(const std::string& ruleset) {
  const json parsed = json::parse(ruleset, nullptr, false);
  if (!parsed.is_object() || !parsed.contains("nftables") || !parsed["nftables"].is_array())
    return {};
  std::vector<FirewallRule> drops;
  std::set<std::string> accepting;
  const auto others = other_chains(parsed["nftables"]);
  for (const json& object : parsed["nftables"]) {
    if (!object.is_object() || !object.contains("rule")) continue;
    const json& rule = object["rule"];
    if (!rule.is_object() || !rule.contains("expr") || !names_port(rule["expr"])) continue;
    const std::string chain = chain_of(rule, "chain");
    if (others.contains(chain)) continue;
    if (has(rule["expr"], "accept")) accepting.insert(chain);
    if (has(rule["expr"], "drop") || has(rule["expr"], "reject"))
      drops.push_back({chain, true, "nft delete rule " + chain + " handle " + handle_of(rule)});
  }
  for (const json& object : parsed["nftables"]) {
    if (!object.is_object() || !object.contains("chain")) continue;
    const json& chain = object["chain"];
    const std::string name = chain.is_object() ? chain_of(chain, "name") : "";
    if (!chain.is_object() || !drops_the_rest(chain) || accepting.contains(name)) continue;
    drops.push_back({name, false, "nft insert rule " + name + " udp dport 4791 accept"});
  }
  return drops;
}

}  // namespace sroce
