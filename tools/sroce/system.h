// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Everything a subcommand needs from the machine, so that tests can put another one in its place.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sroce/netlink.h"
#include "sroce/netns.h"
#include "sroce/nldev.h"
#include "sroce/sysfs.h"

namespace sroce {

struct System {
  Channel& channel;  // RDMA netlink
  Channel& generic;  // generic netlink
  Sysfs sysfs;
  std::filesystem::path modules_alias;
  std::string kernel_release;
  bool is_root = false;
  /// Names of the network interfaces in the caller's namespace.
  std::function<std::vector<std::string>()> interfaces;
  std::function<std::optional<uint32_t>(const nldev::UverbsReply&, uint32_t port)> active_mtu_bytes;
  std::function<std::optional<std::string>()> current_netns_name;
  std::function<void(const NetnsVisitor&)> visit_other_netns;
};

}  // namespace sroce
