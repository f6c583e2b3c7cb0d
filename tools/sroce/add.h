// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "sroce/device.h"

namespace sroce {

/// The alias of the dummy interfaces that "add" makes. "del" removes them with their device.
constexpr char dummy_alias[] = "made by sroce add";

struct AddOptions {
  std::string netdev{};                // empty with a dummy interface, which gets the next rdmaN
  std::optional<std::string> name{};   // absent: the next free sroceN
  std::optional<std::string> dummy{};  // ADDRESS/LENGTH of a dummy interface to make first
  bool roce_v1 = false;                // with GIDs of RoCE v1, too
  bool wait = true;
  unsigned wait_seconds = 5;
};

/// Attaches a new device to an interface, waits until programs can use it, and prints how. Throws
/// Failure; if that is not_ready, the device stays.
void run_add(System& system, const AddOptions& options, std::ostream& out);

}  // namespace sroce
