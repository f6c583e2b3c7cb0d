// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/inventory.h"

#include <rdma/ib_user_ioctl_verbs.h>

#include <algorithm>
#include <map>

namespace sroce {
namespace {

constexpr uint32_t driver_id_native = 0x53524f43;  // "SROC"
constexpr uint32_t only_port = 1;                  // software RoCE devices have one port

/// The state names of the standard, as ibv_devinfo prints them without their prefix.
std::string port_state_text(uint8_t state) {
  static constexpr const char* names[] = {"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "ACTIVE_DEFER"};
  if (state < std::size(names)) return names[state];
  return "UNKNOWN(" + std::to_string(state) + ")";
}

/// Sends a request about a device that may vanish, or decline, while we look: no answer is an
/// answer there.
std::vector<Bytes> try_exchange(Channel& channel, Request request) {
  try {
    return channel.exchange(std::move(request));
  } catch (const KernelError&) {
    return {};
  }
}

std::optional<nldev::PortReply> query_port(Channel& channel, uint32_t device_index) {
  for (const Bytes& payload : try_exchange(channel, nldev::ports_request(device_index))) {
    nldev::PortReply port = nldev::decode_port(payload);
    if (port.port == only_port) return port;
  }
  return std::nullopt;
}

std::map<uint32_t, uint64_t> query_qp_counts(Channel& channel) {
  std::map<uint32_t, uint64_t> counts;
  for (const Bytes& payload : try_exchange(channel, nldev::resources_request())) {
    const nldev::ResourcesReply reply = nldev::decode_resources(payload);
    if (reply.qps) counts[reply.device_index] = *reply.qps;
  }
  return counts;
}

std::map<std::string, uint64_t> query_counters(System& system, const DeviceIdentity& identity) {
  // Netlink works in every namespace, but answers in one page; sysfs has no such limit.
  const auto replies =
      try_exchange(system.channel, nldev::counters_request(identity.index, only_port));
  auto counters = replies.empty() ? system.sysfs.counters(identity.name, only_port)
                                  : nldev::decode_counters(replies.front());
  std::erase_if(counters, [](const auto& counter) { return counter.second == 0; });
  return counters;
}

Device describe(System& system, const DeviceIdentity& identity) {
  Device device;
  device.name = identity.name;
  device.index = identity.index;
  device.driver = identity.mode ? "sroce" : "rdma_rxe";
  device.mode = identity.mode;
  if (const auto port = query_port(system.channel, identity.index)) {
    device.state = port_state_text(port->state);
    device.netdev = port->netdev;
    device.in_current_netns = port->netdev.has_value();
  }
  device.gids = system.sysfs.gids(identity.name, only_port);
  device.counters = query_counters(system, identity);
  if (identity.uverbs) device.mtu_bytes = system.active_mtu_bytes(*identity.uverbs, only_port);
  return device;
}

/// Fills in the netdev and the namespace of devices whose netdev is in another one.
void locate_elsewhere(System& system, std::vector<Device>& devices) {
  const auto is_lost = [](const Device& device) { return !device.netdev; };
  if (std::none_of(devices.begin(), devices.end(), is_lost)) return;
  system.visit_other_netns([&](const std::string& netns, Channel& channel) {
    for (Device& device : devices) {
      if (!is_lost(device)) continue;
      device.netdev = netdev_of(channel, device.index);
      if (device.netdev) device.netns = netns;
    }
    return std::any_of(devices.begin(), devices.end(), is_lost);
  });
}

}  // namespace

std::optional<std::string> netdev_of(Channel& channel, uint32_t device_index) {
  const auto port = query_port(channel, device_index);
  return port ? port->netdev : std::nullopt;
}

std::vector<DeviceIdentity> list_devices(System& system) {
  std::vector<DeviceIdentity> devices;
  for (const Bytes& payload : system.channel.exchange(nldev::devices_request())) {
    const nldev::DeviceReply reply = nldev::decode_device(payload);
    DeviceIdentity identity{reply.index, reply.name, {}, system.sysfs.sroce_mode(reply.name)};
    const auto uverbs = try_exchange(system.channel, nldev::uverbs_request(reply.index));
    if (!uverbs.empty()) identity.uverbs = nldev::decode_uverbs(uverbs.front());
    const uint32_t driver_id = identity.uverbs ? identity.uverbs->driver_id : 0;
    if (driver_id == driver_id_native && !identity.mode) identity.mode = "native";
    // In rxe mode an sroce device reports this id too.
    identity.is_rxe = driver_id == RDMA_DRIVER_RXE && !identity.mode;
    devices.push_back(std::move(identity));
  }
  return devices;
}

std::vector<Device> describe_devices(System& system,
                                     const std::vector<DeviceIdentity>& identities) {
  const auto qp_counts = query_qp_counts(system.channel);
  const auto own_netns = system.current_netns_name();
  std::vector<Device> devices;
  for (const DeviceIdentity& identity : identities) {
    Device device = describe(system, identity);
    if (const auto count = qp_counts.find(identity.index); count != qp_counts.end())
      device.qps = count->second;
    if (device.in_current_netns) device.netns = own_netns;
    devices.push_back(std::move(device));
  }
  locate_elsewhere(system, devices);
  return devices;
}

std::vector<std::string> names_of(const std::vector<DeviceIdentity>& devices) {
  std::vector<std::string> names;
  for (const DeviceIdentity& device : devices) names.push_back(device.name);
  return names;
}

}  // namespace sroce
