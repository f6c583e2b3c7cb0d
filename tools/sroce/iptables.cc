// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/iptables.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <iomanip>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

#include "sroce/text.h"

namespace sroce {
namespace {

using nlohmann::json;

/// Base chains that packets of this host pass, and their hooks.
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

/// "NEW,RELATED" as a set of words in lower case.
json words_of(const std::string& text) {
  std::istringstream items(text);
  json all = json::array();
  for (std::string item; std::getline(items, item, ',');) {
    std::transform(item.begin(), item.end(), item.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    all.push_back(item);
  }
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
  RuleReader(std::istringstream& words, const std::string& family, const std::string& table,
             const Ruleset& ruleset)
      : words_(words), family_(family), table_(table), ruleset_(ruleset) {}

  json statements() {
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
    return statements_;
  }

 private:
  std::string value() {
    std::string text;
    words_ >> std::quoted(text);
    return text;
  }

  void add_match(const json& left, const json& right) {
    statements_.push_back({{"match", {{"op", operator_}, {"left", left}, {"right", right}}}});
    operator_ = "==";
  }

  void add_unknown() { add_match(json(), json()); }

  /// Other modules may add a condition even without options.
  void add_module(const std::string& name) {
    static const std::set<std::string> known{"addrtype", "comment",   "conntrack", "mark", "state",
                                             "pkttype",  "multiport", "tcp",       "udp"};
    if (!known.contains(name)) add_unknown();
  }

  void add_condition(const std::string& option) {
    if (option == "-m") {
      add_module(value());
    } else if (option == "--comment") {
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
    } else if (option == "--ctstate" || option == "--state") {
      add_match({{"ct", {{"key", "state"}}}}, words_of(value()));
    } else if (option == "--dst-type") {
      add_match({{"fib", {{"result", "type"}, {"flags", "daddr"}}}}, words_of(value()));
    } else if (option == "--pkt-type") {
      add_match(meta("pkttype"), words_of(value()));
    } else if (option == "--mark") {
      const auto [mark, mask] = split(value(), '/');
      add_match({{"&", {meta("mark"), number_of(mask)}}}, number_of(mark));
    } else {
      add_unknown();  // the values of an option do not begin with a hyphen
    }
  }

  void add_target(const char* call, const std::string& target) {
    static const std::map<std::string, std::string> changes{
        {"SNAT", "snat"}, {"DNAT", "dnat"}, {"MASQUERADE", "masquerade"}, {"REDIRECT", "redirect"}};
    static const std::map<std::string, std::string> verdicts{
        {"ACCEPT", "accept"}, {"DROP", "drop"},     {"REJECT", "reject"},
        {"RETURN", "return"}, {"NFQUEUE", "queue"}, {"QUEUE", "queue"}};
    if (const auto change = changes.find(target); change != changes.end())
      statements_.push_back({{change->second, arguments_of(words_)}});
    else if (const auto verdict = verdicts.find(target); verdict != verdicts.end())
      statements_.push_back({{verdict->second, nullptr}});
    else if (target == "NOTRACK" || (target == "CT" && rest_has("--notrack")))
      statements_.push_back({{"notrack", nullptr}});
    else if (ruleset_.chains.contains(table_ + target))
      statements_.push_back({{call, {{"target", target}}}});
    else
      statements_.push_back({{"xt", {{"type", "target"}, {"name", target}}}});
  }

  bool rest_has(const char* option) {
    for (std::string word; words_ >> word;) {
      if (word == option) return true;
    }
    return false;
  }

  std::istringstream& words_;
  const std::string family_, table_;
  const Ruleset& ruleset_;
  std::string operator_ = "==", protocol_;
  json statements_ = json::array();
};

/// Reads the lines of one table after another.
class TableReader {
 public:
  explicit TableReader(Ruleset& ruleset) : ruleset_(ruleset) {}

  void read(const std::string& line) {
    std::istringstream words(line);
    std::string word;
    words >> command_ >> word;
    family_ = command_.starts_with("ip6") ? "ip6" : "ip";
    if (word == "#") is_nft_ = line.find("(nf_tables)") != std::string::npos;
    if (word.starts_with('*')) table_ = word.substr(1);
    const bool is_filter = table_ == "filter";
    prefix_ = command_ + (is_filter ? " " : ' ' + table_ + ' ');
    call_ = command_ + (is_filter ? " " : " -t " + table_ + ' ');
    if (word.starts_with(':')) add_chain(word.substr(1), words);
    if (word == "-A") add_rule(words);
  }

 private:
  void add_chain(const std::string& name, std::istringstream& words) {
    const auto hook = hooks.find(name);
    Chain& chain = ruleset_.chains[prefix_ + name] = {};
    if (hook == hooks.end()) return;
    if (is_nft_ || command_.ends_with("-nft"))
      ruleset_.chains.erase(family_ + ' ' + table_ + ' ' + name);
    std::string policy;
    words >> policy;
    chain = {family_, table_ == "nat" ? "nat" : "filter", hook->second,
             policy == "DROP" ? "drop" : "accept"};
    chain.acceptance = call_ + "-I " + shell_word(name) + " -p udp --dport 4791 -j ACCEPT";
  }

  void add_rule(std::istringstream& words) {
    std::string name, rest;
    words >> name;
    const auto place = words.tellg();
    if (place >= 0) std::getline(words, rest);
    std::istringstream conditions(rest);
    std::vector<Rule>& rules = ruleset_.chains[prefix_ + name].rules;
    // Shells would expand or obey these, some of them within the quotes of a comment, too.
    const bool is_plain = rest.find_first_of("$`\\;&|<>(){}[]*?#~'") == std::string::npos;
    const std::string number = ' ' + std::to_string(rules.size() + 1);
    rules.push_back({RuleReader(conditions, family_, prefix_, ruleset_).statements(),
                     call_ + "-D " + shell_word(name) + (is_plain ? rest : number)});
  }

  Ruleset& ruleset_;
  std::string command_, family_, table_;
  std::string prefix_, call_;  // before the name of a chain, and before what is done with it
  bool is_nft_ = false;
};

}  // namespace

void add_iptables(const std::string& rules, Ruleset& ruleset) {
  TableReader reader(ruleset);
  std::istringstream lines(rules);
  for (std::string line; std::getline(lines, line);) reader.read(line);
}

}  // namespace sroce
