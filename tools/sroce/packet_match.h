// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Conditions of rules, as "nft -j" prints them, and whether RoCE packets meet them.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace sroce {

/// In order: the condition of several is the least of theirs.
enum class Match { never, maybe, always };

/// Ports from one to another, both included.
struct Ports {
  int from = 0, to = 0;
};

/// The source ports that RoCE takes (rdma_get_udp_sport() of the kernel).
inline constexpr Ports roce_sources{0xC000, 0xFFFF};

/// Packets of this host: they leave and arrive by this interface.
struct PacketQuestion {
  std::string interface;               // empty: any but lo
  std::vector<std::string> addresses;  // of this host; empty: any
  std::optional<std::string> peer{};   // empty: any
  /// The address that masquerading gives; empty: the first IPv4 address, and any IPv6 address
  /// stays.
  std::optional<std::string> masquerade{};
  /// The address that a redirect gives to what arrives; empty: as above.
  std::optional<std::string> redirect{};
};

/// RoCE packets from one address of this host or to it.
struct Packets {
  bool leave = false;     // else they arrive
  std::string interface;  // empty: any but lo
  std::string own;        // empty: any
  bool ipv4 = true;       // else IPv6
  std::optional<std::string> peer{};
  bool may_be_untracked = false;
};

/// Those that leave and those that arrive, of each address.
std::vector<Packets> packets_of(const PacketQuestion& question, bool may_be_untracked);

bool is_ipv4(const std::string& address);

/// Whether all ports are among those of the right side of a condition.
Match match_ports(const nlohmann::json& right, const Ports& ports);

/// Do the packets meet a condition? It has its named sets replaced by their elements, as far as
/// these are known.
Match match_packets(const nlohmann::json& left, const std::string& op, const nlohmann::json& right,
                    const Packets& packets);

/// Whether a condition is that the destination port of UDP is the one of RoCE, or among others.
bool names_port(const nlohmann::json& left, const std::string& op, const nlohmann::json& right);

/// Whether a condition that names the port names no other.
bool names_only_port(const nlohmann::json& left, const nlohmann::json& right);

}  // namespace sroce
