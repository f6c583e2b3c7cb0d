// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sroce/config.h"
#include "sroce/device.h"

namespace sroce {

struct UpOptions {
  std::vector<std::string> files{};         // none: those of /etc/sroce.d
  std::optional<std::string> interface_{};  // only the device of this one
  unsigned wait_seconds = 5;                // for interfaces to appear
};

/// Gives each interface that the files name its device and parameters, unless it has them already.
/// Throws Failure.
void run_up(System& system, const UpOptions& options, std::ostream& out);

/// Removes these devices. Throws Failure.
void run_down(System& system, const UpOptions& options, std::ostream& out);

}  // namespace sroce
