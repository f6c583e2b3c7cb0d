// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <span>
#include <string>

#include "sroce/device.h"

namespace sroce {

/// An array with one object per device; keys in a fixed order, null where the kernel did not say.
std::string render_json(std::span<const Device> devices);

}  // namespace sroce
