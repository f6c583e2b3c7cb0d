// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/kernel_module.h"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>

namespace sroce {
namespace {

bool is_installed(const std::filesystem::path& modules_alias) {
  std::ifstream file(modules_alias);
  for (std::string line; std::getline(file, line);) {
    // modprobe takes '-' and '_' for the same.
    std::replace(line.begin(), line.end(), '_', '-');
    if (line.starts_with("alias rdma-link-sroce ")) return true;
  }
  return false;
}

}  // namespace

ModuleState module_state(const Sysfs& sysfs, const std::filesystem::path& modules_alias) {
  if (sysfs.module_loaded("sroce")) return ModuleState::loaded;
  return is_installed(modules_alias) ? ModuleState::installed : ModuleState::missing;
}

std::string kernel_release() {
  utsname names{};
  return uname(&names) == 0 ? names.release : "unknown";
}

}  // namespace sroce
