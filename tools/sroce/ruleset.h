// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The rules of nftables and of iptables on this host, in the words of "nft -j list ruleset". No
// function here throws, whatever the text is.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace sroce {

/// The member of an object, or null.
inline const nlohmann::json& member(const nlohmann::json& object, const char* key) {
  static const nlohmann::json null;
  if (!object.is_object()) return null;
  const auto found = object.find(key);
  return found == object.end() ? null : *found;
}

/// The member of an object if it is a string, or "".
inline std::string text_of(const nlohmann::json& object, const char* key) {
  const nlohmann::json& text = member(object, key);
  return text.is_string() ? text.get<std::string>() : std::string();
}

/// The strings of an array, or the only string.
std::vector<std::string> texts_of(const nlohmann::json& texts);

struct Rule {
  nlohmann::json statements = nlohmann::json::array();
  std::string deletion{};  // the command that deletes it
};

struct Chain {
  std::string family;                  // of its table: "ip", "ip6", "inet", "netdev"
  std::string type, hook, policy;      // of a base chain, or else empty
  std::vector<std::string> devices{};  // of a base chain with the hook ingress or egress
  std::string acceptance{};            // the command that makes a base chain accept RoCE packets
  std::vector<Rule> rules{};
};

/// Names have that of the table before them: "inet filter input", or "iptables-nft nat OUTPUT",
/// without the table "filter" for commands of iptables.
struct Ruleset {
  std::map<std::string, Chain> chains;
  /// Named sets and maps whose elements are known, as anonymous ones: {"set": [...]}.
  std::map<std::string, nlohmann::json> sets;
  bool has_notrack = false;
};

/// The table in the name of a chain, with the space behind it.
std::string table_of(const std::string& chain);

/// Reads the output of "nft -j list ruleset", and that of iptables_rules() of host_facts.h. Of
/// chains that both have, "nft" does not print all that the rules say. Text that is no such output
/// has no rules.
Ruleset read_ruleset(const std::string& nft, const std::string& iptables = "");

}  // namespace sroce
