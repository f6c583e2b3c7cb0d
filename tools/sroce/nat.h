// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Rules of nftables that change addresses or ports of RoCE packets (NAT). Such packets are lost,
// because their check value (ICRC) covers both.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sroce {

/// Packets of this host: they leave and arrive by this interface.
struct NatQuestion {
  std::string interface;
  std::vector<std::string> addresses;  // of this host
  std::optional<std::string> peer{};   // empty: any
  /// The address that masquerading gives; empty: the first IPv4 address, and any IPv6 address
  /// stays.
  std::optional<std::string> masquerade{};
  /// The address that a redirect gives to what arrives; empty: as above.
  std::optional<std::string> redirect{};
};

/// A base chain that leads to a rule which changes packets.
struct NatRule {
  std::string chain;     // of the rule: "ip nat postrouting"
  std::string change;    // "the source address of RoCE packets (snat to 192.0.2.1)"
  bool certain = false;  // all conditions are understood and met
  std::string cure;      // commands, one per line
  std::string base{};    // the base chain
};

/// The last line of a cure: the kernel goes on to change flows that it tracks already.
inline constexpr char end_of_flows[] =
    "to end flows that it has changed: conntrack -D -p udp --dport 4791";

/// The rules in the output of "nft -j list ruleset" that may apply to the packets and change them;
/// for each base chain, the first one that is certain, or else the first. A rule with a condition
/// that is not understood may apply. Text that is no such output has none.
std::vector<NatRule> find_nat(const std::string& ruleset, const NatQuestion& question);

/// A sentence about the rule; the place is "" or " of this host".
std::string nat_text(const NatRule& rule, const std::string& place);

}  // namespace sroce
