// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/del.h"

#include <algorithm>

#include "sroce/add.h"
#include "sroce/device.h"
#include "sroce/explain.h"
#include "sroce/rtnl.h"

namespace sroce {
namespace {

/// The dummy interface that "sroce add" made for the device, if it did so in this namespace.
std::optional<rtnl::Link> own_dummy(System& system, const std::optional<std::string>& netdev) {
  if (!netdev) return std::nullopt;
  try {
    for (const Bytes& payload : system.route.exchange(rtnl::link_request(*netdev))) {
      const rtnl::Link link = rtnl::decode_link(payload);
      if (link.kind == "dummy" && link.alias == dummy_alias) return link;
    }
  } catch (const KernelError&) {  // the interface has just gone
  }
  return std::nullopt;
}

}  // namespace

void run_del(System& system, const std::string& name, std::ostream& out) {
  const auto devices = list_devices(system);
  const auto device = std::find_if(devices.begin(), devices.end(),
                                   [&](const DeviceIdentity& d) { return d.name == name; });
  if (device == devices.end()) throw no_such_device(name, names_of(devices));
  if (!device->is_sroce)
    throw Failure(ExitCode::not_sroce, "'" + name + "' is not an sroce device",
                  "to remove it anyway: rdma link delete " + name);
  const auto netdev = netdev_of(system.channel, device->index);
  const auto dummy = own_dummy(system, netdev);
  try {
    system.channel.exchange(nldev::dellink_request(device->index));
    if (dummy) system.route.exchange(rtnl::delete_link_request(dummy->index));
  } catch (const KernelError& error) {
    throw explain_del(error, name, system.is_root);
  }
  out << name << " removed" << (dummy ? ", with its dummy interface " + *netdev : "") << '\n';
}

}  // namespace sroce
