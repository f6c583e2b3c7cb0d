// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Rules of this host that drop RoCE packets (UDP port 4791), which arrive or leave.
#pragma once

#include <string>
#include <vector>

#include "sroce/packet_match.h"
#include "sroce/ruleset.h"

namespace sroce {

/// A rule or a policy that drops packets or rejects them.
struct Drop {
  std::string chain;       // "inet filter input"
  bool by_policy = false;  // of the chain, else by one of its rules
  bool certain = false;    // all conditions are understood and met
  bool leave = false;      // the packets do, else they arrive
  std::string cure{};      // the commands that let the packets pass, one per line
  std::string only{};      // "IPv6", or an address of this host, if packets of others pass
};

/// For each base chain that drops packets, the first place that is certain to do so, or else the
/// first that may. A rule with a condition that is not understood counts only if it names the port:
/// many hosts limit rates, and have lists of strangers.
std::vector<Drop> find_drops(const Ruleset& ruleset, const PacketQuestion& question);

/// A sentence about the rule or policy; the place is "" or " of this host".
std::string drop_text(const Drop& drop, const std::string& place);

}  // namespace sroce
