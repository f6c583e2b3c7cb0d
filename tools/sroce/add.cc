// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/add.h"

#include <algorithm>
#include <set>

#include "sroce/device.h"
#include "sroce/explain.h"
#include "sroce/name.h"

namespace sroce {
namespace {

// Devices in other namespaces may have names that are hidden from this one.
constexpr int hidden_names_max = 256;

void check_arguments(System& system, const AddOptions& options) {
  if (options.name) {
    if (const auto objection = name_objection(*options.name))
      throw bad_name(*options.name, *objection);
  }
  const auto interfaces = system.interfaces();
  if (std::find(interfaces.begin(), interfaces.end(), options.netdev) == interfaces.end())
    throw no_such_interface(options.netdev, options.name.value_or(""), interfaces);
}

AddAttempt circumstances(System& system, const std::string& netdev, const std::string& name) {
  AddAttempt attempt;
  attempt.name = name;
  attempt.netdev = netdev;
  attempt.is_root = system.is_root;
  attempt.module = module_state(system.sysfs, system.modules_alias);
  attempt.kernel_release = system.kernel_release;
  attempt.rxe_loaded = system.sysfs.module_loaded("rdma_rxe");
  for (const DeviceIdentity& device : list_devices(system)) {
    if (device.name == name) attempt.name_exists = true;
    if (device.is_rxe) attempt.rxe_devices.push_back(device.name);
    if (device.mode && netdev_of(system.channel, device.index) == netdev)
      attempt.device_on_netdev = device.name;
  }
  return attempt;
}

/// Creates the device. Returns false if the name is taken.
bool attach(System& system, const std::string& netdev, const std::string& name) {
  try {
    system.channel.exchange(nldev::newlink_request(name, netdev));
    return true;
  } catch (const KernelError& error) {
    const Failure failure = explain_add(error, circumstances(system, netdev, name));
    if (failure.code() == ExitCode::name_taken) return false;
    throw failure;
  }
}

std::string attach_under_free_name(System& system, const std::string& netdev,
                                   std::set<std::string> taken) {
  for (int tries = 0; tries < hidden_names_max; ++tries) {
    const std::string name = next_free_name(taken);
    if (attach(system, netdev, name)) return name;
    taken.insert(name);
  }
  throw name_taken(next_free_name({}));
}

}  // namespace

void run_add(System& system, const AddOptions& options, std::ostream& out) {
  check_arguments(system, options);
  const auto names = names_of(list_devices(system));
  const std::set<std::string> taken(names.begin(), names.end());
  if (!options.name) {
    const std::string name = attach_under_free_name(system, options.netdev, taken);
    out << name << " on " << options.netdev << '\n';
    return;
  }
  if (taken.contains(*options.name) || !attach(system, options.netdev, *options.name))
    throw name_taken(*options.name);
  out << *options.name << " on " << options.netdev << '\n';
}

}  // namespace sroce
