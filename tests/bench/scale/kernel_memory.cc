// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "scale/kernel_memory.h"

#include <fstream>
#include <map>
#include <string>

namespace scale {

double kernel_memory() {
  std::ifstream file("/proc/meminfo");
  std::map<std::string, double> fields;
  for (std::string name, unit; file >> name;) {
    file >> fields[name];
    std::getline(file, unit);
  }
  // Whatever is neither free nor a process's nor a file's. "Slab:" and others omit pages of rings,
  // and "Cached:" has those in shared memory.
  return fields["MemTotal:"] - fields["MemFree:"] - fields["Buffers:"] - fields["Cached:"] +
         fields["Shmem:"] - fields["AnonPages:"];
}

}  // namespace scale
