// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Rules of iptables-legacy that change addresses or ports, which nftables does not list.
#pragma once

#include <string>
#include <vector>

#include "sroce/nat.h"

namespace sroce {

/// The tables "nat" in the output of iptables_rules() of host_facts.h, in the words of "nft -j list
/// ruleset". A condition without such a form becomes one that may be met.
std::string nft_of_iptables(const std::string& rules);

/// As find_nat(), in the output of iptables_rules().
std::vector<NatRule> find_iptables_nat(const std::string& rules, const NatQuestion& question);

}  // namespace sroce
