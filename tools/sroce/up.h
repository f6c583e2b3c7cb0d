// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "sroce/config.h"
#include "sroce/device.h"
#include "sroce/explain.h"

namespace sroce {

struct UpOptions {
  std::vector<std::string> files{};         // none: those of /etc/sroce.d
  std::optional<std::string> interface_{};  // only the device of this one
  unsigned wait_seconds = 5;                // for interfaces to appear
};

/// Gives each interface that the files name its device, unless it has one, and the parameters.
/// A failure of one is printed to err, and the others are done. Returns the code of the first.
/// Throws Failure if a file is bad.
ExitCode run_up(System& system, const UpOptions& options, std::ostream& out, std::ostream& err);

/// Removes these devices, in the same way.
ExitCode run_down(System& system, const UpOptions& options, std::ostream& out, std::ostream& err);

}  // namespace sroce
