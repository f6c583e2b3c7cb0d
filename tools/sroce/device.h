// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The RDMA devices of the machine: the sources that describe them (netlink, sysfs, uverbs and the
// network namespaces), and the description that the tool builds from these sources.
//
// An empty optional means that the kernel did not report the value. The tool shows it as "-" or
// null and never guesses.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sroce/cm.h"
#include "sroce/host_facts.h"
#include "sroce/netlink.h"
#include "sroce/nldev.h"

struct in6_addr;

namespace sroce {

struct Gid {
  uint32_t index = 0;
  std::string type;     // as the kernel spells it: "RoCE v2"
  std::string gid;      // as in sysfs: eight groups of four digits
  std::string address;  // as people write it: "10.0.0.1", "fe80::1"
  std::optional<std::string> netdev;
};

struct Device {
  std::string name;
  uint32_t index = 0;
  std::string driver;  // "sroce" or "rdma_rxe"
  std::optional<std::string> netdev;
  std::optional<std::string> netns;  // name of the network namespace that the netdev is in
  bool in_current_netns = false;
  std::optional<std::string> state;
  std::optional<uint32_t> mtu_bytes;  // active path MTU of the port
  std::optional<uint64_t> qps;
  std::vector<Gid> gids;
  std::map<std::string, uint64_t> counters;  // only the nonzero ones
};

/// The usual notation of an address: dotted for an IPv4-mapped one, compressed IPv6 otherwise.
std::string address_text(const in6_addr& address);

/// The same for a GID as sysfs prints it. Text that is not an IPv6 address is returned unchanged.
std::string gid_address(const std::string& gid);

/// The contents of /sys/class/infiniband that netlink does not carry: whether a device is one of
/// sroce, its GID table, and its counters if they do not fit into a netlink message.
class Sysfs {
 public:
  /// The root is /sys; tests use a temporary directory.
  explicit Sysfs(std::filesystem::path root) : root_(std::move(root)) {}

  /// Only devices of the sroce module have a folder of that name.
  bool is_sroce(const std::string& device) const;

  /// The GID table entries that are in use, by index.
  std::vector<Gid> gids(const std::string& device, uint32_t port) const;

  std::map<std::string, uint64_t> counters(const std::string& device, uint32_t port) const;

  /// The MAC address of a network interface, in lower case; empty if it has none, or that of
  /// another interface, as a VLAN does.
  std::string mac(const std::string& interface) const;

  /// The MTU of a network interface; empty if there is no such interface.
  std::optional<size_t> mtu(const std::string& interface) const;

  /// Or built in: sroce, ib_uverbs, rdma_ucm, rdma_rxe.
  bool module_loaded(const std::string& module) const;

  /// Whether RDMA is that of MLNX_OFED or DOCA, whose ib_core needs a module of its own.
  bool has_ofed() const;

  /// Whether the kernel loads signed modules only.
  bool locked_down() const;

  /// A file of a loaded module: its version, or parameters/NAME. Empty if there is none.
  std::optional<std::string> module_text(const std::string& module, const std::string& file) const;

 private:
  std::filesystem::path port_path(const std::string& device, uint32_t port) const;

  std::filesystem::path root_;
};

/// The size of an enum ib_mtu value in bytes; empty if the standard does not define the value.
std::optional<uint32_t> mtu_bytes(uint8_t ib_mtu);

/// The active path MTU of a port, which neither netlink nor sysfs reports. Like ibv_devinfo, this
/// queries the port through the uverbs character device, but without libibverbs. Empty if the
/// device cannot be opened or rejects the query.
std::optional<uint32_t> query_active_mtu_bytes(const nldev::UverbsReply& uverbs, uint32_t port);

/// Called with a namespace's name and a channel opened in it; returns whether to continue.
using NetnsVisitor = std::function<bool(const std::string& name, Channel& channel)>;

/// The name that "ip netns" has for the caller's network namespace, if it has one.
std::optional<std::string> current_netns_name();

/// Visits every named network namespace except the caller's. RDMA netlink reports a device's
/// netdev only to a socket in the netdev's own namespace, so the tool must ask from inside each.
/// Namespaces that cannot be entered (this needs CAP_SYS_ADMIN) are skipped. The thread is back in
/// its own namespace when this function returns.
void visit_other_netns(const NetnsVisitor& visitor);

/// Everything that a subcommand needs from the machine, so that tests can replace it.
struct System {
  Channel& channel;  // RDMA netlink
  Channel& generic;  // generic netlink
  Channel& route;    // rtnetlink
  Sysfs sysfs;
  std::filesystem::path modules_alias;
  std::string kernel_release;
  bool is_root = false;
  /// Names of the network interfaces in the caller's namespace.
  std::function<std::vector<std::string>()> interfaces;
  std::function<std::optional<uint32_t>(const nldev::UverbsReply&, uint32_t port)> active_mtu_bytes;
  std::function<std::optional<std::string>()> current_netns_name;
  std::function<void(const NetnsVisitor&)> visit_other_netns;
  /// Loads modules with modprobe. Those that cannot be loaded are left out.
  std::function<void(const std::vector<std::string>& modules)> load_modules;
  /// Whether the kernel was configured with an option; empty if its configuration is not here.
  std::function<std::optional<bool>(const std::string& option)> kernel_has;
  std::function<void(std::chrono::milliseconds)> sleep;
  std::string version{};  // of the tool
  /// As the functions of host_facts.h.
  std::function<std::optional<uint64_t>()> memlock_bytes{};
  std::function<bool()> may_raise_memlock{};
  std::function<bool(const std::string& path)> may_open{};
  std::function<std::optional<ModuleFile>()> module_file{};
  std::function<bool()> port_is_free{};
  std::function<std::string()> nft_ruleset{};
  std::function<std::string()> iptables_rules{};
  std::function<uint64_t(const std::string& netdev)> reverse_path_drops{};
  std::function<std::optional<std::vector<VerbsDevice>>()> verbs_devices{};
  /// As the functions of cm.h, path_mtu.h and sigint.h.
  std::function<CmReply(const CmQuestion&)> request_connection{};
  std::function<int(const CmQuestion&)> probe_port{};
  std::function<size_t(const CmQuestion&, const std::vector<size_t>&)> find_largest_echo{};
  std::function<bool(std::chrono::milliseconds)> pause{};
  /// A clock that is not set back.
  std::function<std::chrono::nanoseconds()> now{};
};

/// As System::load_modules and System::kernel_has.
void load_modules(const std::vector<std::string>& modules);
std::optional<bool> kernel_has(const std::string& release, const std::string& option);

/// The identity of a device: enough to tell which driver it belongs to.
struct DeviceIdentity {
  uint32_t index = 0;
  std::string name;
  std::optional<nldev::UverbsReply> uverbs;
  bool is_sroce = false;
  bool is_rxe = false;  // a device of the in-tree rdma_rxe driver
};

/// Every RDMA device that the caller can see, in the kernel's order.
std::vector<DeviceIdentity> list_devices(System& system);

/// Throws SubsystemAbsent if the kernel has no RDMA, or has not loaded it.
void require_rdma(System& system);

/// The full state of the given devices, in the same order.
std::vector<Device> describe_devices(System& system, const std::vector<DeviceIdentity>& identities);

/// The state of a device's port, as ibv_devinfo prints it but without the prefix; empty if the
/// kernel does not report it.
std::optional<std::string> port_state(Channel& channel, uint32_t device_index);

/// The netdev of a device's first port, if it is in the channel's network namespace.
std::optional<std::string> netdev_of(Channel& channel, uint32_t device_index);

/// Every counter of a device, also those that are zero.
std::map<std::string, uint64_t> read_counters(System& system, const DeviceIdentity& identity);

std::vector<std::string> names_of(const std::vector<DeviceIdentity>& devices);

}  // namespace sroce
