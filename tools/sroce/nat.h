// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Rules of nftables that change the source address of RoCE packets. Then the peer drops them,
// because their check value (ICRC) covers the addresses.
#pragma once

#include <string>
#include <vector>

namespace sroce {

/// A device's packets: they leave by this interface, from one of these addresses.
struct NatQuestion {
  std::string interface;
  std::vector<std::string> addresses;  // the first is the one that masquerading takes
};

struct NatRule {
  std::string chain;  // "ip nat postrouting"
  /// That packets get; empty: the first one of the interface (masquerade).
  std::string address;
  std::string cure;  // the command that excepts RoCE
};

/// The rules in the output of "nft -j list ruleset" that may apply to the packets and change them.
/// A rule with a condition that is not understood may apply. Text that is no such output has none.
std::vector<NatRule> find_nat(const std::string& ruleset, const NatQuestion& question);

}  // namespace sroce
