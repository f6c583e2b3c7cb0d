// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/up.h"

#include <algorithm>

#include "sroce/add.h"
#include "sroce/del.h"
#include "sroce/explain.h"
#include "sroce/rtnl.h"
#include "sroce/set.h"

namespace sroce {
namespace {

constexpr std::chrono::milliseconds poll_interval{100};

std::string joined(const std::vector<rtnl::Link>& links) {
  std::string text;
  for (const rtnl::Link& link : links) text += (text.empty() ? "" : ", ") + link.name;
  return text;
}

std::vector<DeviceConfig> sections_of(const UpOptions& options) {
  return read_configs(options.files.empty() ? config_files(config_folder) : options.files);
}

/// Says that there is nothing to do, but not to udev, which asks for one interface at a time.
void report_empty(const std::vector<DeviceConfig>& sections, const UpOptions& options,
                  std::ostream& out) {
  if (!sections.empty() || options.interface_) return;
  out << "there is no [device] in ";
  if (options.files.empty()) out << config_folder << "/*.conf";
  for (size_t i = 0; i < options.files.size(); ++i) out << (i ? ", " : "") << options.files[i];
  out << '\n';
}

/// Reports failures, so that the rest is done all the same.
class Failures {
 public:
  explicit Failures(std::ostream& err) : err_(err) {}

  /// Does this for a section.
  template <typename Action>
  void attempt(const DeviceConfig& config, const Action& action) {
    try {
      action();
    } catch (const Failure& failure) {
      write_failure(err_, in_section(config, failure));
      if (first_ == ExitCode::success) first_ = failure.code();
    }
  }

  ExitCode first() const { return first_; }

 private:
  std::ostream& err_;
  ExitCode first_ = ExitCode::success;
};

/// The interfaces. With their indices, because any of them may get another name at any time.
std::vector<rtnl::Link> list_links(System& system) {
  std::vector<rtnl::Link> links;
  for (const Bytes& payload : system.route.exchange(rtnl::links_request()))
    links.push_back(rtnl::decode_link(payload));
  return links;
}

/// Asks for an interface by its index; empty if it is not there any more.
std::optional<rtnl::Link> find_link(System& system, uint32_t index) try {
  const auto replies = system.route.exchange(rtnl::link_request(index));
  return replies.empty() ? std::nullopt : std::optional(rtnl::decode_link(replies.front()));
} catch (const KernelError&) {
  return std::nullopt;
}

/// The permanent address, because a bond gives its members another.
std::string mac_of(System& system, const rtnl::Link& link) {
  return link.permanent_mac.empty() ? system.sysfs.mac(link.name) : link.permanent_mac;
}

/// Keeps one of several interfaces with the MAC address of one NIC. Of an interface and its
/// master, such as the two that Azure makes of one NIC, the master is meant, because it has the IP
/// addresses. One on another, such as macsec, has a copy of the address, also as its permanent one.
void keep_meant(std::vector<rtnl::Link>& links) {
  const std::vector<rtnl::Link> all = links;
  std::erase_if(links, [&](const rtnl::Link& link) {
    return std::any_of(all.begin(), all.end(), [&](const rtnl::Link& other) {
      return other.index == link.master_index || other.index == link.lower_index;
    });
  });
}

/// The interfaces that a section means, among those that are here.
std::vector<rtnl::Link> interfaces_of(System& system, const DeviceConfig& config) {
  const bool by_mac = is_by_mac(config);
  std::vector<rtnl::Link> found = list_links(system);
  std::erase_if(found, [&](const rtnl::Link& link) {
    return !matches(config, link.name, by_mac ? mac_of(system, link) : "");
  });
  if (by_mac) keep_meant(found);
  return found;
}

/// Those that the caller asks for.
std::vector<rtnl::Link> wanted(std::vector<rtnl::Link> interfaces, const UpOptions& options) {
  if (options.interface_)
    std::erase_if(interfaces, [&](const auto& link) { return link.name != *options.interface_; });
  return interfaces;
}

/// The interfaces of a section, once there is one or the time is over. How many a pattern will have
/// is not known, and udev runs "up" for each that comes later. With --interface, there
/// is nothing to wait for: the caller knows that it is here.
std::vector<rtnl::Link> wait_for_interfaces(System& system, const DeviceConfig& config,
                                            const UpOptions& options) {
  const auto limit = std::chrono::seconds(options.interface_ ? 0 : options.wait_seconds);
  for (std::chrono::milliseconds waited{0};; waited += poll_interval) {
    const auto found = interfaces_of(system, config);
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
    run_add(system,
            {.netdev = interface, .name = config.name, .roce_v1 = config.roce_v1, .wait = false},
            out);
  } catch (const Failure& failure) {
    // Another process, such as udev's, may have been faster. Then it has also taken the name.
    const bool is_attached =
        failure.code() == ExitCode::interface_in_use ||
        (failure.code() == ExitCode::name_taken && device_on(system, interface));
    if (!is_attached) throw;
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

/// The interfaces of a section that get a device now. Throws Failure.
std::vector<rtnl::Link> interfaces_to_set_up(System& system, const DeviceConfig& config,
                                             const UpOptions& options, std::ostream& out) {
  const auto all = wait_for_interfaces(system, config, options);
  auto interfaces = wanted(all, options);
  if (is_by_mac(config) && all.size() > 1 && !interfaces.empty())
    throw Failure(ExitCode::bad_file,
                  "several interfaces have the address " + config.interface + ": " + joined(all),
                  "name the interface instead");
  if (config.name && all.size() > 1 && !interfaces.empty())
    throw Failure(ExitCode::bad_file,
                  "one name for several interfaces: " + joined({all[0], all[1]}),
                  "use a pattern that only one interface has");
  if (interfaces.empty() && !options.interface_) {
    if (options.wait_seconds > 0)
      throw Failure(ExitCode::no_such_interface, "there is no interface " + config.interface,
                    "to go on without it: sroce up --wait 0");
    out << config.interface << ": no such interface yet\n";
  }
  return interfaces;
}

/// The same, if the interface has got another name since it was listed. Throws Failure.
void set_up_renamed(System& system, const DeviceConfig& config, const rtnl::Link& listed,
                    std::ostream& out) {
  try {
    set_up(system, config, listed.name, out);
  } catch (const Failure& failure) {
    const bool is_absent = failure.code() == ExitCode::no_such_interface;
    if (!is_absent && failure.code() != ExitCode::no_such_device) throw;
    const auto now = find_link(system, listed.index);
    if (!now || now->name == listed.name) throw;
    // Without a device yet, the section may not mean it any more.
    if (is_absent && !is_by_mac(config) && !matches(config, now->name, ""))
      out << listed.name << ": it is " << now->name << " now\n";
    else
      set_up(system, config, now->name, out);
  }
}

/// Throws Failure.
void set_up_match(System& system, const DeviceConfig& config, const rtnl::Link& link,
                  std::ostream& out) try {
  set_up_renamed(system, config, link, out);
} catch (const Failure& failure) {
  // A pattern may match a VLAN, too.
  if (failure.code() != ExitCode::interface_unsupported || link.name == config.interface) throw;
  out << link.name << ": left out, because it cannot carry RoCE\n";
}

}  // namespace

ExitCode run_up(System& system, const UpOptions& options, std::ostream& out, std::ostream& err) {
  Failures failures(err);
  const std::vector<DeviceConfig> sections = sections_of(options);
  report_empty(sections, options, out);
  for (const DeviceConfig& config : sections) {
    std::vector<rtnl::Link> interfaces;
    failures.attempt(config,
                     [&] { interfaces = interfaces_to_set_up(system, config, options, out); });
    for (const rtnl::Link& link : interfaces)
      failures.attempt(config, [&] { set_up_match(system, config, link, out); });
  }
  return failures.first();
}

ExitCode run_down(System& system, const UpOptions& options, std::ostream& out, std::ostream& err) {
  Failures failures(err);
  const std::vector<DeviceConfig> sections = sections_of(options);
  report_empty(sections, options, out);
  for (const DeviceConfig& config : sections) {
    for (const rtnl::Link& link : wanted(interfaces_of(system, config), options)) {
      failures.attempt(config, [&] {
        const auto device = device_on(system, link.name);
        if (device && (!config.name || *device == *config.name)) run_del(system, *device, out);
      });
    }
  }
  return failures.first();
}

}  // namespace sroce
