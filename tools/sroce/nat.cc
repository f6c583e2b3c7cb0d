// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/nat.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "sroce/ruleset.h"

namespace sroce {
namespace {

using nlohmann::json;

bool in_prefix(const std::string& address, const std::string& prefix, int length) {
  unsigned char a[sizeof(in6_addr)]{}, b[sizeof(in6_addr)]{};
  const int family = address.find(':') == std::string::npos ? AF_INET : AF_INET6;
  if (inet_pton(family, address.c_str(), a) != 1 || inet_pton(family, prefix.c_str(), b) != 1)
    return false;
  for (int bit = 0; bit < length && bit < 128; ++bit) {
    const auto mask = static_cast<unsigned char>(0x80 >> bit % 8);
    if ((a[bit / 8] & mask) != (b[bit / 8] & mask)) return false;
  }
  return true;
}

bool is_name(const std::string& name, const std::string& pattern) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return name == pattern;
}

/// Does the right side of a match include one of the words? Empty if it is not understood.
std::optional<bool> includes(const json& right, const std::vector<std::string>& words) {
  const auto any = [&](const auto& matches) {
    return std::any_of(words.begin(), words.end(), matches);
  };
  if (right.is_string()) {
    const auto pattern = right.get<std::string>();
    if (pattern.starts_with('@')) return std::nullopt;  // a named set
    return any([&](const std::string& word) { return is_name(word, pattern); });
  }
  if (const json& prefix = member(right, "prefix"); !prefix.is_null()) {
    const json& length = member(prefix, "len");
    if (!length.is_number_integer()) return std::nullopt;
    return any([&](const std::string& word) {
      return in_prefix(word, text_of(prefix, "addr"), length.get<int>());
    });
  }
  const json& set = member(right, "set");
  if (!set.is_array()) return std::nullopt;
  bool found = false;
  for (const json& element : set) {
    const auto one = includes(element, words);
    if (!one) return std::nullopt;
    found = found || *one;
  }
  return found;
}

/// Is it a condition that these packets do not meet?
bool excludes(const json& match, const NatQuestion& question) {
  const json& left = member(match, "left");
  const std::string key = text_of(member(left, "meta"), "key");
  const std::string protocol = text_of(member(left, "payload"), "protocol");
  const std::string field = text_of(member(left, "payload"), "field");
  std::vector<std::string> words;
  if (key == "oifname")
    words = {question.interface};
  else if (key == "l4proto")
    words = {"udp"};
  else if (protocol == "tcp")
    return true;
  else if (field == "saddr" && (protocol == "ip" || protocol == "ip6"))
    words = question.addresses;
  else
    return false;
  const auto found = includes(member(match, "right"), words);
  if (!found) return false;
  return text_of(match, "op") == "!=" ? *found : !*found;
}

/// The address that a rule gives to packets; "" for masquerading; none if it changes no source.
std::optional<std::string> new_source(const json& expression) {
  if (!expression.is_object()) return std::nullopt;
  if (expression.contains("masquerade")) return "";
  if (const json& snat = member(expression, "snat"); snat.is_object()) {
    const json& address = member(snat, "addr");
    if (address.is_null()) return std::nullopt;  // only another port
    return address.is_string() ? address.get<std::string>() : "one of several";
  }
  // A rule of iptables.
  if (text_of(member(expression, "xt"), "name") == "MASQUERADE") return "";
  return std::nullopt;
}

bool is_ipv4(const std::string& address) { return address.find(':') == std::string::npos; }

/// The packets that a table of the family sees.
NatQuestion part_of(const NatQuestion& question, const std::string& family) {
  NatQuestion part = question;
  std::erase_if(part.addresses, [&](const std::string& address) {
    return (family == "ip" && !is_ipv4(address)) || (family == "ip6" && is_ipv4(address));
  });
  return part;
}

/// Does the rule give the packets another address than they have?
bool changes(const std::string& source, const NatQuestion& question) {
  if (source.empty()) {
    // Each family has its own first address.
    return std::count_if(question.addresses.begin(), question.addresses.end(), is_ipv4) > 1;
  }
  return std::find(question.addresses.begin(), question.addresses.end(), source) ==
         question.addresses.end();
}

}  // namespace

std::vector<NatRule> find_nat(const std::string& ruleset, const NatQuestion& question) {
  const json parsed = json::parse(ruleset, nullptr, false);
  std::vector<NatRule> found;
  const json& objects = member(parsed, "nftables");
  if (!objects.is_array()) return found;
  for (const json& object : objects) {
    const json& rule = member(object, "rule");
    const json& expressions = member(rule, "expr");
    if (!expressions.is_array()) continue;
    const NatQuestion part = part_of(question, text_of(rule, "family"));
    std::optional<std::string> source;
    bool excluded = part.addresses.empty();
    for (const json& expression : expressions) {
      const json& match = member(expression, "match");
      excluded = excluded || (!match.is_null() && excludes(match, part));
      if (const auto address = new_source(expression)) source = address;
    }
    if (excluded || !source || !changes(*source, part)) continue;
    const std::string chain =
        text_of(rule, "family") + ' ' + text_of(rule, "table") + ' ' + text_of(rule, "chain");
    found.push_back({chain, *source, "nft insert rule " + chain + " udp dport 4791 accept"});
  }
  return found;
}

}  // namespace sroce
