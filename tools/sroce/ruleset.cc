// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/ruleset.h"

#include "sroce/iptables.h"
#include "sroce/text.h"

namespace sroce {
namespace {

using nlohmann::json;

std::string name_of(const json& object, const char* key = "name") {
  return text_of(object, "family") + ' ' + text_of(object, "table") + ' ' + text_of(object, key);
}

/// The same in a command.
std::string words_of(const json& object, const char* key) {
  return shell_word(text_of(object, "family")) + ' ' + shell_word(text_of(object, "table")) + ' ' +
         shell_word(text_of(object, key));
}

void add_chain(const json& object, Ruleset& ruleset) {
  const std::string name = name_of(object);
  Chain& chain = ruleset.chains[name];
  chain.family = text_of(object, "family");
  chain.type = text_of(object, "type");
  chain.hook = text_of(object, "hook");
  chain.policy = text_of(object, "policy");
  chain.devices = texts_of(member(object, "dev"));
  chain.acceptance = "nft insert rule " + words_of(object, "name") + " udp dport 4791 accept";
}

/// Packets may change the elements of a dynamic set, which not all versions of nft say.
void add_set(const json& object, Ruleset& ruleset) {
  for (const std::string& flag : texts_of(member(object, "flags"))) {
    if (flag == "dynamic") return;
  }
  const json& elements = member(object, "elem");
  ruleset.sets[name_of(object)] = {{"set", elements.is_array() ? elements : json::array()}};
}

void add_rule(const json& object, Ruleset& ruleset) {
  const json& statements = member(object, "expr");
  if (!statements.is_array()) return;
  const json& handle = member(object, "handle");
  const std::string number = handle.is_number_integer() ? std::to_string(handle.get<int>()) : "N";
  const std::string chain = name_of(object, "chain");
  ruleset.chains[chain].rules.push_back(
      {statements, "nft delete rule " + words_of(object, "chain") + " handle " + number});
}

/// Statements that change what conditions of other rules see.
void read_effects(Ruleset& ruleset) {
  for (const auto& [name, chain] : ruleset.chains) {
    for (const Rule& rule : chain.rules) {
      for (const json& statement : rule.statements) {
        ruleset.has_notrack |= statement.is_object() && statement.contains("notrack");
        const std::string changed = text_of(member(statement, "set"), "set");
        if (changed.starts_with('@')) ruleset.sets.erase(table_of(name) + changed.substr(1));
      }
    }
  }
}

}  // namespace

std::vector<std::string> texts_of(const json& texts) {
  if (texts.is_string()) return {texts.get<std::string>()};
  std::vector<std::string> all;
  if (!texts.is_array()) return all;
  for (const json& text : texts) {
    if (text.is_string()) all.push_back(text.get<std::string>());
  }
  return all;
}

std::string table_of(const std::string& chain) { return chain.substr(0, chain.rfind(' ') + 1); }

Ruleset read_ruleset(const std::string& nft, const std::string& iptables) {
  Ruleset ruleset;
  const json parsed = json::parse(nft, nullptr, false);
  const json& objects = member(parsed, "nftables");
  if (objects.is_array()) {
    for (const json& object : objects) {
      if (const json& chain = member(object, "chain"); chain.is_object()) add_chain(chain, ruleset);
      for (const char* kind : {"set", "map"}) {
        if (const json& set = member(object, kind); set.is_object()) add_set(set, ruleset);
      }
      if (const json& rule = member(object, "rule"); rule.is_object()) add_rule(rule, ruleset);
    }
  }
  add_iptables(iptables, ruleset);
  read_effects(ruleset);
  return ruleset;
}

}  // namespace sroce
