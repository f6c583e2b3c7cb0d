// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The rules that the commands of iptables print, in the words of nftables.
#pragma once

#include <string>

#include "sroce/ruleset.h"

namespace sroce {

/// Adds the tables in the output of iptables_rules() of host_facts.h. Those of the nft variant
/// replace what nft prints of the same chains. A condition without a form in nftables becomes one
/// that may be met.
void add_iptables(const std::string& rules, Ruleset& ruleset);

}  // namespace sroce
