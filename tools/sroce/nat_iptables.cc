// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/nat_iptables.h"

#include <charconv>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

namespace sroce {
namespace {

using nlohmann::json;

/// The base chains of a table "nat", and their hooks.
const std::map<std::string, std::string> hooks{{"PREROUTING", "prerouting"},
                                               {"INPUT", "input"},
                                               {"OUTPUT", "output"},
                                               {"POSTROUTING", "postrouting"}};

/// A decimal number, or one with 0x; null if the text is neither.
json number_of(std::string text) {
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.erase(0, 2);
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, base);
  return error == std::errc{} && rest == end ? json(number) : json();
}

/// The parts before and behind the first of these characters. Without it, the second is empty.
std::pair<std::string, std::string> split(const std::string& text, char at) {
  const size_t place = text.find(at);
  if (place == std::string::npos) return {text, ""};
  return {text.substr(0, place), text.substr(place + 1)};
}

/// One value, or two with the character between them.
json range_of(const std::string& text, char between) {
  const auto [from, to] = split(text, between);
  return to.empty() ? number_of(from) : json{{"range", {number_of(from), number_of(to)}}};
}

/// "53", "1000:2000", or a list of these.
json ports_of(const std::string& text) {
  std::istringstream items(text);
  json all = json::array();
  for (std::string item; std::getline(items, item, ',');) all.push_back(range_of(item, ':'));
  return {{"set", all}};
}

json address_of(const std::string& text) {
  const auto [address, length] = split(text, '/');
  if (length.empty()) return address;
  return {{"prefix", {{"addr", address}, {"len", number_of(length)}}}};
}

json interface_of(const std::string& name) {
  return name.ends_with('+') ? name.substr(0, name.size() - 1) + '*' : name;
}

json meta(const std::string& key) { return {{"meta", {{"key", key}}}}; }
json payload(const std::string& protocol, const std::string& field) {
  return {{"payload", {{"protocol", protocol}, {"field", field}}}};
}

/// The arguments of a target, such as "--to-source 192.0.2.1:1024-2048 --random".
json arguments_of(std::istringstream& words) {
  json arguments = json::object();
  for (std::string word, value; words >> word;) {
    if (word == "--random" || word == "--random-fully") arguments["flags"] = "random";
    if (word == "--to-ports" && words >> value) arguments["port"] = range_of(value, '-');
    if ((word != "--to-source" && word != "--to-destination") || !(words >> value)) continue;
    const bool is_ipv6 = value.find(':') != value.rfind(':');
    std::string address = value, port;
    if (value.starts_with('['))
      std::tie(address, port) = split(value.substr(1), ']');
    else if (!is_ipv6)
      std::tie(address, port) = split(value, ':');
    if (port.starts_with(':')) port.erase(0, 1);
    const auto [first, last] = split(address, '-');
    if (!first.empty())
      arguments["addr"] = last.empty() ? json(first) : json{{"range", {first, last}}};
    if (!port.empty()) arguments["port"] = range_of(port, '-');
  }
  return arguments;
}

/// Reads the words of a rule behind its chain.
class RuleReader {
 public:
  RuleReader(std::istringstream& words, const std::string& family,
             const std::set<std::string>& chains)
      : words_(words), family_(family), chains_(chains) {}

  json expressions() {
    for (std::string word; words_ >> word;) {
      if (word == "!") {
        operator_ = "!=";
        continue;
      }
      if (word == "-j" || word == "-g") {
        add_target(word == "-j" ? "jump" : "goto", value());
        break;
      }
      if (word.starts_with('-')) add_condition(word);
    }
    return expressions_;
  }

 private:
  std::string value() {
    std::string text;
    words_ >> std::quoted(text);
    return text;
  }

  void add_match(const json& left, const json& right) {
    expressions_.push_back({{"match", {{"op", operator_}, {"left", left}, {"right", right}}}});
    operator_ = "==";
  }

  void add_condition(const std::string& option) {
    if (option == "-m" || option == "--comment") {
      value();
    } else if (option == "-s" || option == "-d") {
      add_match(payload(family_, option == "-s" ? "saddr" : "daddr"), address_of(value()));
    } else if (option == "-i" || option == "-o") {
      add_match(meta(option == "-i" ? "iifname" : "oifname"), interface_of(value()));
    } else if (option == "-p") {
      protocol_ = value();
      add_match(meta("l4proto"), protocol_);
    } else if (option == "--dport" || option == "--dports") {
      add_match(payload(protocol_, "dport"), ports_of(value()));
    } else if (option == "--sport" || option == "--sports") {
      add_match(payload(protocol_, "sport"), ports_of(value()));
    } else if (option == "--mark") {
      const auto [mark, mask] = split(value(), '/');
      add_match({{"&", {meta("mark"), number_of(mask)}}}, number_of(mark));
    } else {
      add_match({{"option", option}}, json());  // its values do not begin with a hyphen
    }
  }

  void add_target(const char* call, const std::string& target) {
    static const std::map<std::string, std::string> changes{
        {"SNAT", "snat"}, {"DNAT", "dnat"}, {"MASQUERADE", "masquerade"}, {"REDIRECT", "redirect"}};
    static const std::map<std::string, std::string> verdicts{
        {"ACCEPT", "accept"}, {"DROP", "drop"}, {"RETURN", "return"}};
    if (const auto change = changes.find(target); change != changes.end())
      expressions_.push_back({{change->second, arguments_of(words_)}});
    else if (const auto verdict = verdicts.find(target); verdict != verdicts.end())
      expressions_.push_back({{verdict->second, nullptr}});
    else if (chains_.contains(target))
      expressions_.push_back({{call, {{"target", target}}}});
    else
      expressions_.push_back({{"xt", {{"type", "target"}, {"name", target}}}});
  }

  std::istringstream& words_;
  const std::string family_;
  const std::set<std::string>& chains_;
  std::string operator_ = "==", protocol_;
  json expressions_ = json::array();
};

json rule_of(const std::string& family, const std::string& chain, json expressions) {
  return {
      {"rule",
       {{"family", family}, {"table", "nat"}, {"chain", chain}, {"expr", std::move(expressions)}}}};
}

std::string last_word(const std::string& text) { return text.substr(text.rfind(' ') + 1); }

}  // namespace

std::string nft_of_iptables(const std::string& rules) {
  json objects = json::array();
  std::set<std::string> chains;
  std::istringstream lines(rules);
  std::string table;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string command, word;
    words >> command >> word;
    const std::string family = command.starts_with("ip6") ? "ip6" : "ip";
    if (word.starts_with('*')) {
      table = word.substr(1);
      chains.clear();
    }
    if (table == "raw" && (line.find(" NOTRACK") != std::string::npos ||
                           line.find(" --notrack") != std::string::npos))
      objects.push_back(rule_of(family, "raw", json::array({{{"notrack", nullptr}}})));
    if (table != "nat") continue;
    if (word.starts_with(':')) {
      const std::string name = word.substr(1);
      chains.insert(name);
      if (const auto hook = hooks.find(name); hook != hooks.end())
        objects.push_back({{"chain",
                            {{"family", family},
                             {"table", "nat"},
                             {"name", name},
                             {"type", "nat"},
                             {"hook", hook->second}}}});
    }
    if (word != "-A") continue;
    std::string chain;
    words >> chain;
    objects.push_back(rule_of(family, chain, RuleReader(words, family, chains).expressions()));
  }
  return json{{"nftables", objects}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<NatRule> find_iptables_nat(const std::string& rules, const NatQuestion& question) {
  std::vector<NatRule> found = find_nat(nft_of_iptables(rules), question);
  for (NatRule& rule : found) {
    const std::string command =
        rule.base.starts_with("ip6 ") ? "ip6tables-legacy" : "iptables-legacy";
    rule.chain = command + " nat " + last_word(rule.chain);
    rule.cure = command + " -t nat -I " + last_word(rule.base) +
                " -p udp --dport 4791 -j ACCEPT\n" + end_of_flows;
  }
  return found;
}

}  // namespace sroce
