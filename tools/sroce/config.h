// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The files of /etc/sroce.d, which say what devices this machine has:
//
//   [device]
//   # a name, a pattern of names such as eth*, or a MAC address
//   interface = eth0
//   # optional; only if one interface matches
//   name = storage
//   # optional: GIDs of RoCE v1, too
//   v1 = yes
//   # optional, as of "sroce set"
//   param.cc = dcqcn
#pragma once

#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <vector>

#include "sroce/explain.h"

namespace sroce {

inline constexpr char config_folder[] = "/etc/sroce.d";

/// A section of a file.
struct DeviceConfig {
  std::string file;
  unsigned line = 0;      // of its heading
  std::string interface;  // in lower case if it is a MAC address
  std::optional<std::string> name{};
  bool roce_v1 = false;
  std::vector<std::string> parameters{};  // NAME VALUE NAME VALUE ...
};

/// The sections of a file. Throws Failure, which names the file and the line.
std::vector<DeviceConfig> parse_config(std::istream& text, const std::string& file);

/// Those of all these files, in this order. Throws Failure.
std::vector<DeviceConfig> read_configs(const std::vector<std::string>& files);

/// The files *.conf of a folder, by name, without hidden ones; none if there is no such folder.
/// Throws Failure.
std::vector<std::string> config_files(const std::filesystem::path& folder);

/// Whether a section means an interface by its MAC address.
bool is_by_mac(const DeviceConfig& config);

/// Whether a section means this interface. The address is read only for is_by_mac().
bool matches(const DeviceConfig& config, const std::string& interface, const std::string& mac);

/// The same failure, with the place of the section in its message.
Failure in_section(const DeviceConfig& config, const Failure& failure);

}  // namespace sroce
