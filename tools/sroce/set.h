// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "sroce/system.h"

namespace sroce {

struct SetOptions {
  std::string device;
  std::vector<std::string> pairs;  // NAME VALUE NAME VALUE ...
};

/// Sets parameters of a device, all of them or none. Throws Failure.
void run_set(System& system, const SetOptions& options, std::ostream& out);

}  // namespace sroce
