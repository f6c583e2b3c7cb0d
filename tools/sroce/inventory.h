// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Finds the RDMA devices of the machine and puts together what netlink, sysfs and uverbs say about
// each. The model they end up in is device.h.
#pragma once

#include <vector>

#include "sroce/device.h"
#include "sroce/system.h"

namespace sroce {

/// A device as far as it takes to know whose it is.
struct DeviceIdentity {
  uint32_t index = 0;
  std::string name;
  std::optional<nldev::UverbsReply> uverbs;
  std::optional<std::string> mode;  // set if and only if it is an sroce device
  bool is_rxe = false;              // a device of the in-tree rdma_rxe driver
};

/// Every RDMA device the caller can see, in the kernel's order.
std::vector<DeviceIdentity> list_devices(System& system);

/// The full state of the given devices, in the same order.
std::vector<Device> describe_devices(System& system, const std::vector<DeviceIdentity>& identities);

/// The netdev of a device's first port, if it is in the caller's network namespace.
std::optional<std::string> netdev_of(Channel& channel, uint32_t device_index);

std::vector<std::string> names_of(const std::vector<DeviceIdentity>& devices);

}  // namespace sroce
