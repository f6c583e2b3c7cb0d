// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Rules of this host that change addresses or ports of RoCE packets (NAT). Such packets are lost,
// because their check value (ICRC) covers both.
#pragma once

#include <string>
#include <vector>

#include "sroce/packet_match.h"
#include "sroce/ruleset.h"

namespace sroce {

/// A rule that changes packets, which a base chain leads to.
struct NatRule {
  std::string chain;     // of the rule: "ip nat postrouting"
  std::string change;    // "the source address of RoCE packets (snat to 192.0.2.1)"
  bool certain = false;  // all conditions are understood and met
  std::string cure;      // commands, one per line
};

/// The last line of a cure: the kernel goes on to change flows that it tracks already.
inline constexpr char end_of_flows[] =
    "to end flows that it has changed: conntrack -D -p udp --dport 4791";

/// The rules that may apply to the packets and change them; for each base chain, the first one that
/// is certain, or else the first. A rule with a condition that is not understood may apply.
std::vector<NatRule> find_nat(const Ruleset& ruleset, const PacketQuestion& question);

/// A sentence about the rule; the place is "" or " of this host".
std::string nat_text(const NatRule& rule, const std::string& place);

}  // namespace sroce
