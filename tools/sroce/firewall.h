// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Rules of nftables and of iptables-legacy that drop RoCE packets (UDP port 4791) on their way to
// this host.
#pragma once

#include <string>
#include <vector>

namespace sroce {

struct FirewallRule {
  std::string chain;     // "inet filter input"
  bool certain = false;  // a rule names the port; else the chain drops what no rule accepts
  std::string cure;      // the command that lets the packets pass
};

/// The rules in the output of "nft -j list ruleset". Text that is no such output has none.
std::vector<FirewallRule> find_drops(const std::string& ruleset);

/// The same in the output of iptables_rules() of host_facts.h.
std::vector<FirewallRule> find_iptables_drops(const std::string& rules);

}  // namespace sroce
