// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/del.h"

#include <algorithm>

#include "sroce/device.h"
#include "sroce/explain.h"

namespace sroce {

void run_del(System& system, const std::string& name, std::ostream& out) {
  const auto devices = list_devices(system);
  const auto device = std::find_if(devices.begin(), devices.end(),
                                   [&](const DeviceIdentity& d) { return d.name == name; });
  if (device == devices.end()) throw no_such_device(name, names_of(devices));
  if (!device->mode)
    throw Failure(ExitCode::not_sroce, "'" + name + "' is not an sroce device",
                  "to remove it anyway: rdma link delete " + name);
  try {
    system.channel.exchange(nldev::dellink_request(device->index));
  } catch (const KernelError& error) {
    throw explain_del(error, name, system.is_root);
  }
  out << name << " removed\n";
}

}  // namespace sroce
