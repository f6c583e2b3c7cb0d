// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "sroce/device.h"

namespace sroce {

struct SetOptions {
  std::string device;
  std::vector<std::string> pairs;  // NAME VALUE NAME VALUE ...
};

/// Sets all of the parameters, or none of them if one is invalid. Throws Failure.
void run_set(System& system, const SetOptions& options, std::ostream& out);

}  // namespace sroce
