// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A fake kernel behind rtnetlink: interfaces with their flags and addresses.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sroce/netlink.h"

namespace sroce::test {

struct FakeAddress {
  std::string text;    // "10.0.0.1", "fd00::1"
  uint32_t flags = 0;  // IFA_F_...
  uint8_t prefix_length = 24;
  uint8_t scope = 0;  // RT_SCOPE_UNIVERSE
};

struct FakeLink {
  std::string name;
  bool up = true;
  bool carrier = true;
  std::vector<FakeAddress> addresses{};
  std::string kind{};
  std::string alias{};
  uint32_t lower_index = 0;  // a VLAN, for example, is on this interface
  uint32_t master_index = 0;
  std::vector<unsigned char> permanent_mac{};
  bool is_lower_elsewhere = false;  // in another network namespace
};

/// The route to one destination.
struct FakeDestination {
  uint32_t link_index = 0;
  std::string gateway{};
  std::string source{};
};

class FakeRoute : public Channel {
 public:
  std::vector<Bytes> exchange(Request request) override;

  std::function<void()> on_links_listed;  // the reply has the links from before
  /// The index of a link is its place here, plus 1. A deleted one has no name.
  std::vector<FakeLink> links{{"lo"}, {"eth0"}, {"eth1"}};
  /// By address; there is no route to others.
  std::map<std::string, FakeDestination> destinations{};
  uint32_t only_link = 0;  // of the last question for a route
  int newlink_error = 0;
  int newaddr_error = 0;

 private:
  std::vector<Bytes> get_link(const std::string& name) const;
  std::vector<Bytes> get_link(size_t index) const;
  std::vector<Bytes> get_links() const;
  std::vector<Bytes> get_addresses() const;
  std::vector<Bytes> get_route(ByteView attributes, int family);
};

}  // namespace sroce::test
