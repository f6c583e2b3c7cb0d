// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <span>
#include <string>

#include "sroce/device.h"

namespace sroce {

/// Three aligned tables for people: devices, their GIDs, their counters that are not zero. A table
/// without rows is left out.
std::string render_table(std::span<const Device> devices);

}  // namespace sroce
