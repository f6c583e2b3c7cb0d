// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Whether sroce.ko is loaded, or could be: the kernel hides the answer behind a bare EINVAL when a
// link type is unknown.
#pragma once

#include <filesystem>
#include <string>

#include "sroce/sysfs.h"

namespace sroce {

enum class ModuleState { loaded, installed, missing };

/// modules_alias is depmod's list, in which an installed module offers the link type sroce.
ModuleState module_state(const Sysfs& sysfs, const std::filesystem::path& modules_alias);

/// The release of the running kernel, as in /lib/modules/RELEASE.
std::string kernel_release();

}  // namespace sroce
