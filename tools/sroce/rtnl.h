// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Encodes the rtnetlink requests that the tool sends, and decodes their replies: interfaces, their
// addresses, routes, and dummy interfaces of the tool's own.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <optional>
#include <string>

#include "sroce/netlink.h"

namespace sroce::rtnl {

struct Link {
  uint32_t index = 0;
  bool is_up = false;        // the administrator has set it up
  bool has_carrier = false;  // ... and it can transmit
  std::string kind{};        // "dummy", "veth"; empty for hardware
  std::string alias{};
  std::string name{};
  uint32_t lower_index = 0;     // of the one that a VLAN or macsec is on, if it is here; of a peer
  uint32_t master_index = 0;    // of the bridge or bond that it is a member of
  std::string permanent_mac{};  // in lower case, perhaps of the lower interface; empty without one
};

struct Address {
  in6_addr address{};      // an IPv4 address is mapped
  bool tentative = false;  // duplicate address detection is running
  bool duplicate = false;  // ... and has found another host
  uint8_t prefix_length = 0;
  bool secondary = false;  // another IPv4 address of the same network came before
  bool global = true;      // not only for this link or this host
};

/// Where packets to an address go.
struct Route {
  uint32_t link_index = 0;
  std::optional<in6_addr> gateway{};  // mapped if it is IPv4
  std::optional<in6_addr> source{};   // the address of this host that they get
};

/// An address with the length of its prefix, as in "10.99.0.1/24".
struct Prefix {
  in6_addr address{};
  uint8_t length = 0;
};

/// Empty if the text is not ADDRESS/LENGTH.
std::optional<Prefix> parse_prefix(const std::string& text);

Request link_request(const std::string& name);
Request link_request(uint32_t link_index);
/// All interfaces.
Request links_request();
Request addresses_request();
/// The route to an address; link_index is 0 unless only one interface may be taken.
Request route_request(const in6_addr& address, uint32_t link_index);
/// Creates a dummy interface, which is up.
Request add_dummy_request(const std::string& name);
/// The kernel ignores an alias in the request that creates an interface.
Request set_alias_request(uint32_t link_index, const std::string& alias);
Request add_address_request(uint32_t link_index, const Prefix& prefix);
Request delete_link_request(uint32_t link_index);

/// Each throws MalformedMessage if the message is too short.
Link decode_link(ByteView payload);
Route decode_route(ByteView payload);
/// Whether two addresses begin with the same bits.
bool same_prefix(const uint8_t* first, const uint8_t* second, unsigned bits);
/// Whether an address lies in the network of another.
bool is_in_network(const in6_addr& address, const Address& network);
/// Empty if the address is not one of this interface.
std::optional<Address> decode_address(ByteView payload, uint32_t link_index);

}  // namespace sroce::rtnl
