// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/packet_match.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>

#include "sroce/rtnl.h"
#include "sroce/ruleset.h"
#include "sroce/udp_port.h"

namespace sroce {
namespace {

using nlohmann::json;
using AddressBytes = std::array<unsigned char, sizeof(in6_addr)>;

constexpr Ports roce_destinations{roce_port, roce_port};

Match match_if(bool is) { return is ? Match::always : Match::never; }

/// Compares with the right side, or with each element if that is a set or a list.
Match match_any(const json& right, const std::function<Match(const json&)>& compare) {
  if (const json& value = member(member(right, "elem"), "val"); !value.is_null())
    return match_any(value, compare);
  if (right == "*") return Match::always;  // all others
  const json& set = right.is_array() ? right : member(right, "set");
  if (!set.is_array()) return compare(right);
  Match best = Match::never;
  for (const json& element : set) best = std::max(best, match_any(element, compare));
  return best;
}

/// The ends of {"range": [FROM, TO]}, or null twice.
std::array<json, 2> ends_of(const json& right) {
  const json& range = member(right, "range");
  if (!range.is_array() || range.size() != 2) return {};
  return {range[0], range[1]};
}

/// A name, as of an interface, which may be a pattern "eth*".
Match match_name(const json& right, const std::string& name) {
  return match_any(right, [&](const json& value) {
    if (!value.is_string()) return Match::maybe;
    const auto pattern = value.get<std::string>();
    if (pattern.starts_with('@')) return Match::maybe;  // a named set
    if (pattern.ends_with('*'))
      return match_if(name.starts_with(pattern.substr(0, pattern.size() - 1)));
    return match_if(name == pattern);
  });
}

/// A protocol above IP is a number where there is no /etc/protocols.
Match match_udp(const json& right) {
  return match_any(right, [](const json& value) {
    if (value.is_number_integer()) return match_if(value.get<int>() == IPPROTO_UDP);
    return match_name(value, "udp");
  });
}

std::optional<AddressBytes> bytes_of(const std::string& text) {
  AddressBytes bytes{};
  const int family = is_ipv4(text) ? AF_INET : AF_INET6;
  if (inet_pton(family, text.c_str(), bytes.data()) != 1) return std::nullopt;
  return bytes;
}

std::optional<AddressBytes> bytes_of(const json& value) {
  return value.is_string() ? bytes_of(value.get<std::string>()) : std::nullopt;
}

Match match_address(const json& right, const std::string& text) {
  const auto address = bytes_of(text);
  return match_any(right, [&](const json& value) {
    const auto same = bytes_of(value);
    if (address && same) return match_if(*address == *same);
    const json& prefix = member(value, "prefix");
    const auto start = bytes_of(member(prefix, "addr"));
    const json& length = member(prefix, "len");
    if (address && start && length.is_number_integer())
      return match_if(
          rtnl::same_prefix(address->data(), start->data(), std::clamp(length.get<int>(), 0, 128)));
    const auto ends = ends_of(value);
    const auto from = bytes_of(ends[0]), to = bytes_of(ends[1]);
    if (address && from && to) return match_if(*from <= *address && *address <= *to);
    return Match::maybe;
  });
}

/// A word, such as the state of a flow.
Match match_word(const json& right, const std::vector<std::string>& met,
                 const std::vector<std::string>& others) {
  return match_any(right, [&](const json& value) {
    if (!value.is_string()) return Match::maybe;
    const auto is_in = [word = value.get<std::string>()](const std::vector<std::string>& words) {
      return std::find(words.begin(), words.end(), word) != words.end();
    };
    return is_in(met) ? Match::always : is_in(others) ? Match::never : Match::maybe;
  });
}

/// Packets of both directions go to the port of RoCE, and so are all new to the tracking of flows.
Match match_flow(const std::string& key, const json& right, const Packets& packets) {
  if (key == "status") return match_word(right, {}, {"dnat", "snat"});
  if (key != "state") return Match::maybe;
  if (packets.may_be_untracked) return match_word(right, {}, {"established", "related", "invalid"});
  return match_word(right, {"new"},
                    {"established", "related", "invalid", "untracked", "dnat", "snat"});
}

/// The kind of the destination.
Match match_route(const json& fib, const json& right, const Packets& packets) {
  const auto flags = texts_of(member(fib, "flags"));
  const auto has = [&](const char* flag) {
    return std::find(flags.begin(), flags.end(), flag) != flags.end();
  };
  if (text_of(fib, "result") != "type" || !has("daddr") || has("saddr")) return Match::maybe;
  if (packets.leave) return match_word(right, {}, {"broadcast", "multicast", "anycast"});
  return match_word(right, {"local"}, {"unicast", "broadcast", "multicast", "anycast"});
}

Match match_interface(const json& right, bool leaves, const Packets& packets) {
  if (leaves != packets.leave) return match_name(right, "");
  if (packets.interface.empty()) return match_word(right, {}, {"lo"});
  return match_name(right, packets.interface);
}

/// RoCE packets have no mark. Rules that set one are not looked at.
Match match_mark(const json& right) {
  return match_any(right, [](const json& value) {
    return value.is_number_integer() ? match_if(value.get<int64_t>() == 0) : Match::maybe;
  });
}

Match match_meta(const std::string& key, const json& right, const Packets& packets) {
  if (key == "oifname" || key == "oif") return match_interface(right, true, packets);
  if (key == "iifname" || key == "iif") return match_interface(right, false, packets);
  if (key == "pkttype")
    return match_word(right, {"host", "unicast"}, {"broadcast", "multicast", "other"});
  if (key == "l4proto") return match_udp(right);
  if (key == "mark") return match_mark(right);
  if (key == "nfproto") return match_name(right, packets.ipv4 ? "ipv4" : "ipv6");
  if (key == "protocol") return match_name(right, packets.ipv4 ? "ip" : "ip6");
  return Match::maybe;
}

Match match_ip(const std::string& field, const json& right, const Packets& packets) {
  if (field == "protocol" || field == "nexthdr") return match_udp(right);
  if (field != "saddr" && field != "daddr") return Match::maybe;
  if ((field == "saddr") == packets.leave) return match_address(right, packets.own);
  return packets.peer ? match_address(right, *packets.peer) : Match::maybe;
}

bool is_other_protocol(const std::string& protocol, const Packets& packets) {
  static constexpr std::array others{"tcp",    "sctp", "dccp", "udplite", "icmp",
                                     "icmpv6", "igmp", "ah",   "esp",     "comp"};
  if (protocol == "ip" || protocol == "ip6") return (protocol == "ip") != packets.ipv4;
  return std::find(others.begin(), others.end(), protocol) != others.end();
}

Match match_payload(const json& payload, const json& right, const Packets& packets) {
  const std::string protocol = text_of(payload, "protocol"), field = text_of(payload, "field");
  if (protocol == "ip" || protocol == "ip6") return match_ip(field, right, packets);
  if (protocol != "udp" && protocol != "th") return Match::maybe;
  if (field == "dport") return match_ports(right, roce_destinations);
  if (field == "sport") return match_ports(right, roce_sources);
  return Match::maybe;
}

/// The keys of a condition on several values at once, or null.
const json& keys_of(const json& left) { return member(left, "concat"); }

/// An element has a value for each key.
const json& value_at(const json& element, size_t number) {
  static const json null;
  const json& value = member(member(element, "elem"), "val");
  const json& values = member(value.is_null() ? element : value, "concat");
  return values.is_array() && number < values.size() ? values[number] : null;
}

Match match_all(const json& keys, const json& element, const Packets& packets) {
  Match match = Match::always;
  for (size_t i = 0; i < keys.size(); i++)
    match = std::min(match, match_packets(keys[i], "==", value_at(element, i), packets));
  return match;
}

Match match_equal(const json& left, const json& right, const Packets& packets) {
  if (const json& keys = keys_of(left); keys.is_array())
    return match_any(right, [&](const json& element) { return match_all(keys, element, packets); });
  if (const json& payload = member(left, "payload"); !payload.is_null())
    return match_payload(payload, right, packets);
  if (const json& flow = member(left, "ct"); !flow.is_null())
    return match_flow(text_of(flow, "key"), right, packets);
  if (const json& fib = member(left, "fib"); !fib.is_null())
    return match_route(fib, right, packets);
  const json& operands = member(left, "&");
  const json& whole = operands.is_array() && operands.size() == 2 ? operands[0] : left;
  const std::string key = text_of(member(whole, "meta"), "key");
  if (&whole != &left && key != "mark") return Match::maybe;  // a part of another value
  return match_meta(key, right, packets);
}

/// Packets of another protocol meet neither the condition nor its opposite.
bool is_other(const json& left, const Packets& packets) {
  const json& keys = keys_of(left);
  if (keys.is_array())
    return std::any_of(keys.begin(), keys.end(),
                       [&](const json& key) { return is_other(key, packets); });
  return is_other_protocol(text_of(member(left, "payload"), "protocol"), packets);
}

/// The ports that an operator such as "<" selects.
json range_of(const std::string& op, const json& right) {
  constexpr int most = 0xffff;
  if (!right.is_number_integer()) return right;
  const int more = op.size() == 1, value = std::clamp(right.get<int>(), 0, most);
  return {{"range", op[0] == '<' ? json{0, value - more} : json{value + more, most}}};
}

bool is_port(const json& left) {
  const std::string protocol = text_of(member(left, "payload"), "protocol");
  return (protocol == "udp" || protocol == "th") &&
         text_of(member(left, "payload"), "field") == "dport";
}

}  // namespace

std::vector<Packets> packets_of(const PacketQuestion& question, bool may_be_untracked) {
  std::vector<Packets> all;
  const auto add = [&](const std::string& own, bool ipv4) {
    for (const bool leave : {true, false})
      all.push_back({leave, question.interface, own, ipv4, question.peer, may_be_untracked});
  };
  for (const std::string& own : question.addresses) add(own, is_ipv4(own));
  for (const bool ipv4 : {true, false}) {
    if (question.addresses.empty() && (!question.peer || is_ipv4(*question.peer) == ipv4))
      add("", ipv4);
  }
  return all;
}

bool is_ipv4(const std::string& address) { return address.find(':') == std::string::npos; }

Match match_ports(const json& right, const Ports& ports) {
  return match_any(right, [&](const json& value) {
    const auto ends = ends_of(value);
    const json& from = value.is_number_integer() ? value : ends[0];
    const json& to = value.is_number_integer() ? value : ends[1];
    if (!from.is_number_integer() || !to.is_number_integer()) return Match::maybe;
    if (to.get<int>() < ports.from || ports.to < from.get<int>()) return Match::never;
    return from.get<int>() <= ports.from && ports.to <= to.get<int>() ? Match::always
                                                                      : Match::maybe;
  });
}

Match match_packets(const json& left, const std::string& op, const json& right,
                    const Packets& packets) {
  if (is_other(left, packets)) return Match::never;
  const bool is_opposite = op == "!=" || op == "!";
  const bool is_ordered = op.starts_with('<') || op.starts_with('>');
  if (!is_opposite && !is_ordered && op != "==" && op != "in") return Match::maybe;
  if (is_ordered && member(left, "payload").is_null()) return Match::maybe;
  const json range = is_ordered ? range_of(op, right) : json();
  const Match match = match_equal(left, is_ordered ? range : right, packets);
  if (!is_opposite || match == Match::maybe) return match;
  return match == Match::always ? Match::never : Match::always;
}

bool names_port(const json& left, const std::string& op, const json& right) {
  if (op != "==" && op != "in") return false;
  if (is_port(left)) return match_ports(right, roce_destinations) == Match::always;
  const json& keys = keys_of(left);
  for (size_t i = 0; keys.is_array() && i < keys.size(); i++) {
    if (is_port(keys[i]) && match_any(right, [&](const json& element) {
                              return match_ports(value_at(element, i), roce_destinations);
                            }) == Match::always)
      return true;
  }
  return false;
}

bool names_only_port(const json& left, const json& right) {
  if (!is_port(left)) return false;
  return match_any(right, [](const json& value) {
           return match_ports(value, roce_destinations) == Match::always &&
                          ends_of(value)[0] == ends_of(value)[1]
                      ? Match::never
                      : Match::always;
         }) == Match::never;
}

}  // namespace sroce
