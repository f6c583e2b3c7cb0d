// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Why a host does not respond to RoCE, as far as this host can find out.
#pragma once

#include <netinet/in.h>

#include <optional>
#include <string>
#include <vector>

#include "sroce/cm.h"
#include "sroce/device.h"
#include "sroce/firewall.h"
#include "sroce/nat.h"

namespace sroce {

/// All that is known after a request without a response.
struct UnansweredRequest {
  std::string peer;  // its address, with %IF if it is one of a link
  CmStage stage = CmStage::connect;
  int error = 0;             // that ended the stage
  std::string interface {};  // of the route to the peer; empty if there is none
  std::optional<std::string> gateway{};
  in6_addr next_hop{};                  // the gateway, or else the peer
  std::optional<std::string> source{};  // that the route prefers
  bool only_interface = false;          // no other may be taken
  std::string lower{};                  // the interface that an RDMA device attaches to
  std::optional<std::string> device{};  // that is there
  int icmp_error = 0;                   // as probe_port() returns it
  std::vector<Drop> drops{};            // by rules of this host
  std::vector<NatRule> nat{};           // ... too
  bool may_see_firewall = true;
  bool by_hardware = false;  // its packets pass no rule of this host
};

struct Cause {
  std::string name;  // for programs: "no_route"
  std::string text;
  std::string cure;  // commands, one per line; may be empty
};

/// Pure.
Cause explain_no_response(const UnansweredRequest& request);

/// Collects what is known about a request without a response, and explains it.
Cause find_cause(System& system, const CmQuestion& question, const CmReply& reply);

/// The interface that packets to the peer leave by, also a VLAN; empty if there is no route.
std::string interface_to(System& system, const CmQuestion& question);

/// The address of a socket address, mapped if it is IPv4, and as text.
in6_addr in6_of(const sockaddr_storage& address);
std::string address_text(const sockaddr_storage& address);
/// The same, with %IF after an address of a link.
std::string scoped_text(System& system, const sockaddr_storage& address);

/// The index of an interface; 0 if there is none.
uint32_t link_index(System& system, const std::string& name);

}  // namespace sroce
