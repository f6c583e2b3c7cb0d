// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/add.h"

#include <algorithm>
#include <set>

#include "sroce/device.h"
#include "sroce/explain.h"
#include "sroce/name.h"
#include "sroce/ready.h"
#include "sroce/rtnl.h"

namespace sroce {
namespace {

constexpr uint32_t only_port = 1;

// Devices in other namespaces may have names that are hidden from this one.
constexpr int hidden_names_max = 256;

constexpr std::chrono::milliseconds poll_interval{20};

std::string users_of(const std::string& module) {
  return module == "ib_uverbs" ? "all RDMA programs" : "programs that use rdma_cm, such as rping,";
}

void check_name(const std::string& name) {
  if (const auto objection = name_objection(name)) throw bad_name(name, *objection);
}

void check_interface(System& system, const std::string& netdev, const std::string& name) {
  const auto interfaces = system.interfaces();
  if (std::find(interfaces.begin(), interfaces.end(), netdev) == interfaces.end())
    throw no_such_interface(netdev, name, interfaces);
}

/// Loads the modules that programs need, and sroce itself.
/// Returns those that are still missing.
std::vector<std::string> load_missing_modules(System& system) {
  const auto missing = [&](std::vector<std::string> modules) {
    std::erase_if(modules, [&](const auto& module) { return system.sysfs.module_loaded(module); });
    return modules;
  };
  const auto before = missing({"sroce", "ib_uverbs", "rdma_ucm"});
  if (!before.empty()) system.load_modules(before);
  return missing({"ib_uverbs", "rdma_ucm"});
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
    if (device.is_sroce && netdev_of(system.channel, device.index) == netdev)
      attempt.device_on_netdev = device.name;
  }
  return attempt;
}

/// Creates the device. Returns false if the name is taken.
bool attach(System& system, const std::string& netdev, const std::string& name, bool roce_v1) {
  try {
    system.channel.exchange(nldev::newlink_request(name, netdev, roce_v1));
    return true;
  } catch (const KernelError& error) {
    const Failure failure = explain_add(error, circumstances(system, netdev, name));
    if (failure.code() == ExitCode::name_taken) return false;
    throw failure;
  }
}

std::string attach_under_free_name(System& system, const AddOptions& options,
                                   std::set<std::string> taken) {
  for (int tries = 0; tries < hidden_names_max; ++tries) {
    const std::string name = next_free_name("sroce", taken);
    if (attach(system, options.netdev, name, options.roce_v1)) return name;
    taken.insert(name);
  }
  throw name_taken(next_free_name("sroce", {}));
}

/// Creates the device and returns its name.
std::string attach_device(System& system, const AddOptions& options) {
  const auto names = names_of(list_devices(system));
  const std::set<std::string> taken(names.begin(), names.end());
  if (!options.name) return attach_under_free_name(system, options, taken);
  const std::string& name = *options.name;
  if (taken.contains(name) || !attach(system, options.netdev, name, options.roce_v1))
    throw name_taken(name);
  return name;
}

/// A dummy interface, deleted with the object unless keep() was called.
class Dummy {
 public:
  Dummy(System& system, const rtnl::Prefix& prefix) : system_(system) {
    try {
      make();
      for (const Bytes& payload : system.route.exchange(rtnl::link_request(name_)))
        index_ = rtnl::decode_link(payload).index;
      system.route.exchange(rtnl::set_alias_request(index_, dummy_alias));
      system.route.exchange(rtnl::add_address_request(index_, prefix));
    } catch (const KernelError& error) {
      remove();
      throw explain_dummy(error, name_, system.is_root);
    }
  }
  ~Dummy() { remove(); }
  Dummy(const Dummy&) = delete;
  Dummy& operator=(const Dummy&) = delete;

  const std::string& name() const { return name_; }
  void keep() { index_ = 0; }

 private:
  /// Another process may take the free name first.
  void make() {
    const auto interfaces = system_.interfaces();
    std::set<std::string> taken(interfaces.begin(), interfaces.end());
    for (int tries = 1;; ++tries) {
      name_ = next_free_name("rdma", taken);
      try {
        system_.route.exchange(rtnl::add_dummy_request(name_));
        return;
      } catch (const KernelError& error) {
        if (error.error() != EEXIST || tries == hidden_names_max) throw;
      }
      taken.insert(name_);
    }
  }

  void remove() try {
    if (index_ != 0) system_.route.exchange(rtnl::delete_link_request(index_));
    index_ = 0;
  } catch (const KernelError&) {  // the failure that led here matters more
  }

  System& system_;
  std::string name_;
  uint32_t index_ = 0;
};

/// Sets the interface, too.
std::string attach_to_dummy(System& system, AddOptions& options) {
  const auto prefix = rtnl::parse_prefix(*options.dummy);
  if (!prefix)
    throw Failure(ExitCode::usage, "'" + *options.dummy + "' is not ADDRESS/LENGTH",
                  "for example: sroce add --dummy 10.99.0.1/24");
  Dummy dummy(system, *prefix);
  options.netdev = dummy.name();
  std::string name = attach_device(system, options);
  dummy.keep();
  return name;
}

DeviceIdentity identity_of(System& system, const std::string& name) {
  for (const DeviceIdentity& device : list_devices(system)) {
    if (device.name == name) return device;
  }
  throw no_such_device(name, {});
}

Readiness wait_until_ready(System& system, const DeviceIdentity& device,
                           const AddOptions& options) {
  const auto limit = std::chrono::seconds(options.wait_seconds);
  for (std::chrono::milliseconds waited{0};; waited += poll_interval) {
    Readiness state = query_readiness(system, device, options.netdev);
    const auto failure = explain_not_ready(state);
    if (!failure) return state;
    if (waited >= limit) throw *failure;
    system.sleep(poll_interval);
  }
}

void print_ready(System& system, const DeviceIdentity& device, const Readiness& state,
                 std::ostream& out) {
  if (device.uverbs) {
    if (const auto mtu = system.active_mtu_bytes(*device.uverbs, only_port))
      out << ", MTU " << *mtu;
  }
  out << '\n';
  for (const Gid& gid : state.gids)
    out << "  GID " << gid.index << "  " << gid.type << "  " << gid.address << '\n';
}

}  // namespace

void run_add(System& system, const AddOptions& given, std::ostream& out) {
  AddOptions options = given;
  if (options.name) check_name(*options.name);
  if (!options.dummy) check_interface(system, options.netdev, options.name.value_or(""));
  const auto missing = load_missing_modules(system);
  if (system.sysfs.has_ofed() && !system.sysfs.module_loaded("sroce")) throw explain_ofed();

  const std::string name =
      options.dummy ? attach_to_dummy(system, options) : attach_device(system, options);
  const std::string line = name + " on " + options.netdev;
  if (!options.wait) {
    out << line << '\n';
    return;
  }
  const DeviceIdentity device = identity_of(system, name);
  const Readiness state = wait_until_ready(system, device, options);
  out << line;
  print_ready(system, device, state, out);
  for (const std::string& module : missing)
    out << "missing: module " << module << ", which " << users_of(module) << " need\n";
  if (missing.empty()) out << "try: " << command_to_try(state) << '\n';
}

}  // namespace sroce
