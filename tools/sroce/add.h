// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "sroce/device.h"

namespace sroce {

struct AddOptions {
  std::string netdev;
  std::optional<std::string> name{};  // absent: the next free sroceN
};

/// Attaches a new device to an interface and prints its name. Throws Failure.
void run_add(System& system, const AddOptions& options, std::ostream& out);

}  // namespace sroce
