// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/up.h"

#include <algorithm>

#include "sroce/add.h"
#include "sroce/del.h"
#include "sroce/explain.h"
#include "sroce/set.h"

namespace sroce {
namespace {

constexpr std::chrono::milliseconds poll_interval{100};

std::vector<DeviceConfig> sections_of(const UpOptions& options) {
  return read_configs(options.files.empty() ? config_files(config_folder) : options.files);
}

/// The interfaces that a section means, among those that are here and that the caller asks for.
std::vector<std::string> interfaces_of(System& system, const DeviceConfig& config,
                                       const UpOptions& options) {
  std::vector<std::string> found;
  for (const std::string& interface : system.interfaces()) {
    if (options.interface_ && interface != *options.interface_) continue;
    if (matches(config, interface, system.sysfs.mac(interface))) found.push_back(interface);
  }
  return found;
}

/// The same, once there are any or the time is over. With --interface, there is nothing to wait
/// for: the caller knows that it is here.
std::vector<std::string> wait_for_interfaces(System& system, const DeviceConfig& config,
                                             const UpOptions& options) {
  const auto limit = std::chrono::seconds(options.interface_ ? 0 : options.wait_seconds);
  for (std::chrono::milliseconds waited{0};; waited += poll_interval) {
    const auto found = interfaces_of(system, config, options);
    if (!found.empty() || waited >= limit) return found;
    system.sleep(poll_interval);
  }
}

/// The sroce device on an interface. Without the module there is none, and no RDMA to ask for it.
std::optional<std::string> device_on(System& system, const std::string& interface) {
  if (!system.sysfs.module_loaded("sroce")) return std::nullopt;
  for (const DeviceIdentity& device : list_devices(system)) {
    if (device.is_sroce && netdev_of(system.channel, device.index) == interface) return device.name;
  }
  return std::nullopt;
}

/// Attaches a device to the interface and returns its name.
std::string attach(System& system, const DeviceConfig& config, const std::string& interface,
                   std::ostream& out) {
  try {
    run_add(system, {.netdev = interface, .name = config.name, .wait = false}, out);
  } catch (const Failure& failure) {
    // Another process, such as udev's, may have been faster.
    if (failure.code() != ExitCode::interface_in_use) throw;
  }
  const auto device = device_on(system, interface);
  if (!device)
    throw Failure(ExitCode::no_such_device, "the device on " + interface + " has gone", "");
  return *device;
}

void set_up(System& system, const DeviceConfig& config, const std::string& interface,
            std::ostream& out) {
  auto device = device_on(system, interface);
  if (device)
    out << *device << " on " << interface << " already\n";
  else
    device = attach(system, config, interface, out);
  if (config.name && *device != *config.name)
    throw Failure(
        ExitCode::interface_in_use,
        "interface '" + interface + "' has the device " + *device + ", not " + *config.name,
        "to rename it: rdma dev set " + *device + " name " + *config.name);
  if (!config.parameters.empty()) run_set(system, {*device, config.parameters}, out);
}

void set_up_section(System& system, const DeviceConfig& config, const UpOptions& options,
                    std::ostream& out) {
  const auto interfaces = wait_for_interfaces(system, config, options);
  if (config.name && interfaces.size() > 1)
    throw Failure(ExitCode::bad_file,
                  "one name for several interfaces: " + interfaces[0] + ", " + interfaces[1],
                  "use a pattern that only one interface has");
  if (interfaces.empty() && !options.interface_) {
    if (options.wait_seconds > 0)
      throw Failure(ExitCode::no_such_interface, "there is no interface " + config.interface,
                    "to go on without it: sroce up --wait 0");
    out << config.interface << ": no such interface yet\n";
  }
  for (const std::string& interface : interfaces) try {
      set_up(system, config, interface, out);
    } catch (const Failure& failure) {
      // A pattern may match a VLAN, too.
      if (failure.code() != ExitCode::interface_unsupported || interface == config.interface) throw;
      out << interface << ": left out, because it cannot carry RoCE\n";
    }
}

}  // namespace

void run_up(System& system, const UpOptions& options, std::ostream& out) {
  for (const DeviceConfig& config : sections_of(options)) try {
      set_up_section(system, config, options, out);
    } catch (const Failure& failure) {
      throw in_section(config, failure);
    }
}

void run_down(System& system, const UpOptions& options, std::ostream& out) {
  for (const DeviceConfig& config : sections_of(options)) {
    for (const std::string& interface : interfaces_of(system, config, options)) {
      const auto device = device_on(system, interface);
      if (device && (!config.name || *device == *config.name)) run_del(system, *device, out);
    }
  }
}

}  // namespace sroce
