// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What only /sys/class/infiniband tells: the mode of an sroce device, its GID table, and its
// counters where netlink cannot carry them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sroce/device.h"

namespace sroce {

class Sysfs {
 public:
  /// root stands for /sys; tests give a tree of their own.
  explicit Sysfs(std::filesystem::path root) : root_(std::move(root)) {}

  /// The text of the attribute sroce/mode, which only devices of the sroce module have.
  std::optional<std::string> sroce_mode(const std::string& device) const;

  /// The entries of the GID table that are in use, by index.
  std::vector<Gid> gids(const std::string& device, uint32_t port) const;

  std::map<std::string, uint64_t> counters(const std::string& device, uint32_t port) const;

  bool module_loaded(const std::string& module) const;

 private:
  std::filesystem::path port_path(const std::string& device, uint32_t port) const;

  std::filesystem::path root_;
};

/// A GID as people write it: dotted for an IPv4-mapped one, compressed IPv6 otherwise.
/// Text that is not an IPv6 address is returned unchanged.
std::string gid_address(const std::string& gid);

}  // namespace sroce
