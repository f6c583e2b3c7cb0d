// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <ostream>
#include <string>

#include "sroce/system.h"

namespace sroce {

/// Removes an sroce device. Throws Failure, also for a device of another driver.
void run_del(System& system, const std::string& name, std::ostream& out);

}  // namespace sroce
