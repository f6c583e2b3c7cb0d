// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <ostream>
#include <string>

#include "sroce/device.h"

namespace sroce {

/// Removes an sroce device, and the dummy interface that "add" made for it. Throws Failure, for
/// example if the device belongs to another driver.
void run_del(System& system, const std::string& name, std::ostream& out);

}  // namespace sroce
