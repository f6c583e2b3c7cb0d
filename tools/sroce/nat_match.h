// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Conditions of the rules of nftables, as "nft -j" prints them, and whether RoCE packets meet them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace sroce {

/// In order: the condition of several is the least of theirs.
enum class Match { never, maybe, always };

/// Ports from one to another, both included.
struct Ports {
  int from = 0, to = 0;
};

/// The source ports that RoCE takes (rdma_get_udp_sport() of the kernel).
inline constexpr Ports roce_sources{0xC000, 0xFFFF};

/// RoCE packets from one address of this host or to it.
struct NatPackets {
  bool leave = false;  // else they arrive
  std::string interface;
  std::string own;
  std::optional<std::string> peer;  // empty: any
};

bool is_ipv4(const std::string& address);

/// Whether all ports are among those of the right side of a condition.
Match match_ports(const nlohmann::json& right, const Ports& ports);

/// Do the packets meet the condition, the value of "match"?
Match match_packets(const nlohmann::json& condition, const NatPackets& packets);

}  // namespace sroce
