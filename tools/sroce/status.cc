// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/status.h"

#include <algorithm>

#include "sroce/device.h"
#include "sroce/explain.h"

namespace sroce {
namespace {

bool is_shown(const DeviceIdentity& device, const StatusOptions& options) {
  if (options.name && *options.name != device.name) return false;
  return device.is_sroce || (options.all && device.is_rxe);
}

/// The reason why the device that was asked for is not shown.
Failure explain_missing(const std::string& name, const std::vector<DeviceIdentity>& devices) {
  const auto names = names_of(devices);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return no_such_device(name, names);
  const bool is_rxe = devices[static_cast<size_t>(found - names.begin())].is_rxe;
  return {ExitCode::not_sroce, "'" + name + "' is not an sroce device",
          is_rxe ? "to see a device of rdma_rxe: sroce status --all " + name
                 : "to see it: rdma link show " + name};
}

}  // namespace

void run_status(System& system, const StatusOptions& options, std::ostream& out) {
  const auto devices = list_devices(system);
  std::vector<DeviceIdentity> shown;
  std::copy_if(devices.begin(), devices.end(), std::back_inserter(shown),
               [&](const DeviceIdentity& device) { return is_shown(device, options); });
  if (shown.empty() && options.name) throw explain_missing(*options.name, devices);

  const auto described = describe_devices(system, shown);
  if (options.format == Format::json)
    out << render_json(described);
  else if (described.empty())
    out << (options.all ? "no software RoCE devices" : "no sroce devices")
        << "; to add one: sroce add IF\n";
  else
    out << render_table(described);
}

}  // namespace sroce
