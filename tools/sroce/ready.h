// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Whether programs can use a device: its port is active, and it has the GID of each address of its
// interface.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sroce/device.h"
#include "sroce/explain.h"
#include "sroce/rtnl.h"

namespace sroce {

/// The state of a device and its interface at one moment.
struct Readiness {
  std::string device;
  std::string netdev;
  rtnl::Link link;
  bool port_is_active = false;
  std::vector<rtnl::Address> addresses;
  std::vector<Gid> gids;
};

Readiness query_readiness(System& system, const DeviceIdentity& device, const std::string& netdev);

/// An address that another host on the link has, too, so that the kernel does not use it.
struct Duplicate {
  std::string text;
  std::string cure;
};

std::vector<Duplicate> find_duplicates(const Readiness& state);

/// The first thing that the device lacks; empty if programs can use it, if only with some of the
/// addresses of its interface.
std::optional<Failure> explain_not_ready(const Readiness& state);

/// A command that tries the device without a peer; empty if it has no GID.
std::string command_to_try(const Readiness& state);

}  // namespace sroce
