// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// "sroce gids": the GID table of a device, and which entry programs take that are not told one.
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "sroce/device.h"
#include "sroce/output.h"

namespace sroce {

/// The index that a program takes. Each looks at the whole table, in the order of the index.
/// Empty if the program takes none, or one that is in no use.
std::optional<uint32_t> nccl_gid_index(std::span<const Gid> gids);
std::optional<uint32_t> ucx_gid_index(std::span<const Gid> gids);
std::optional<uint32_t> perftest_gid_index(std::span<const Gid> gids);

/// The programs that take the entry, by their names.
std::vector<std::string> users_of_gid(std::span<const Gid> gids, const Gid& gid);

struct GidsOptions {
  std::optional<std::string> device{};  // absent: every sroce device
  Format format = Format::table;
};

/// Throws Failure.
void run_gids(System& system, const GidsOptions& options, std::ostream& out);

}  // namespace sroce
