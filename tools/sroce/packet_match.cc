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

Match match_if(bool is) { return is ? Match::always : Match::never; }

/// Compares with the right side, or with each element if that is a set.
Match match_any(const json& right, const std::function<Match(const json&)>& compare) {
  const json& set = member(right, "set");
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

/// RoCE packets have no mark. Rules that set one are not looked at.
Match match_mark(const json& right) {
  return match_any(right, [](const json& value) {
    return value.is_number_integer() ? match_if(value.get<int64_t>() == 0) : Match::maybe;
  });
}

Match match_meta(const std::string& key, const json& right, const Packets& packets) {
  const bool ipv4 = is_ipv4(packets.own);
  if (key == "oifname" || key == "oif")
    return match_name(right, packets.leave ? packets.interface : "");
  if (key == "iifname" || key == "iif")
    return match_name(right, packets.leave ? "" : packets.interface);
  if (key == "l4proto") return match_udp(right);
  if (key == "mark") return match_mark(right);
  if (key == "nfproto") return match_name(right, ipv4 ? "ipv4" : "ipv6");
  if (key == "protocol") return match_name(right, ipv4 ? "ip" : "ip6");
  return Match::maybe;
}

Match match_ip(const std::string& field, const json& right, const Packets& packets) {
  if (field == "protocol" || field == "nexthdr") return match_udp(right);
  if (field != "saddr" && field != "daddr") return Match::maybe;
  if ((field == "saddr") == packets.leave) return match_address(right, packets.own);
  return packets.peer ? match_address(right, *packets.peer) : Match::maybe;
}

/// Packets of another protocol than that of the field do not meet the condition, nor its opposite.
bool is_other_protocol(const std::string& protocol, const Packets& packets) {
  static constexpr std::array others{"tcp",    "sctp", "dccp", "udplite", "icmp",
                                     "icmpv6", "igmp", "ah",   "esp",     "comp"};
  if (protocol == "ip" || protocol == "ip6") return (protocol == "ip") != is_ipv4(packets.own);
  return std::find(others.begin(), others.end(), protocol) != others.end();
}

Match match_payload(const json& payload, const json& right, const Packets& packets) {
  const std::string protocol = text_of(payload, "protocol"), field = text_of(payload, "field");
  if (protocol == "ip" || protocol == "ip6") return match_ip(field, right, packets);
  if (protocol != "udp" && protocol != "th") return Match::maybe;
  if (field == "dport") return match_ports(right, {roce_port, roce_port});
  if (field == "sport") return match_ports(right, roce_sources);
  return Match::maybe;
}

}  // namespace

std::vector<Packets> packets_of(const PacketQuestion& question) {
  std::vector<Packets> all;
  for (const std::string& own : question.addresses) {
    for (const bool leave : {true, false})
      all.push_back({leave, question.interface, own, question.peer});
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
  const json& payload = member(left, "payload");
  if (is_other_protocol(text_of(payload, "protocol"), packets)) return Match::never;
  if (op != "==" && op != "!=") return Match::maybe;
  const json& operands = member(left, "&");
  const json& whole = operands.is_array() && operands.size() == 2 ? operands[0] : left;
  const std::string key = text_of(member(whole, "meta"), "key");
  if (&whole != &left && key != "mark") return Match::maybe;  // a part of another value
  const Match match =
      payload.is_null() ? match_meta(key, right, packets) : match_payload(payload, right, packets);
  if (op == "==" || match == Match::maybe) return match;
  return match == Match::always ? Match::never : Match::always;
}

}  // namespace sroce
