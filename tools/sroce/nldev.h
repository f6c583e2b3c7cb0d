// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Encodes the RDMA_NL_NLDEV requests that the tool sends, and decodes their replies. The rdma
// command of iproute2 uses the same netlink family.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sroce/netlink.h"

namespace sroce::nldev {

Request newlink_request(const std::string& name, const std::string& netdev, bool roce_v1);
Request dellink_request(uint32_t device_index);
Request devices_request();
Request ports_request(uint32_t device_index);
Request resources_request();
Request uverbs_request(uint32_t device_index);
Request counters_request(uint32_t device_index, uint32_t port);
Request system_request();

struct DeviceReply {
  uint32_t index = 0;
  std::string name;
};

struct PortReply {
  uint32_t port = 0;
  uint8_t state = 0;
  std::optional<std::string> netdev;  // only if it is in the socket's network namespace
};

struct ResourcesReply {
  uint32_t device_index = 0;
  std::optional<uint64_t> qps;
};

struct UverbsReply {
  std::string chardev;  // "uverbs0"
  uint32_t driver_id = 0;
};

using Counters = std::map<std::string, uint64_t>;

/// Each throws MalformedMessage if a required attribute is absent.
DeviceReply decode_device(ByteView payload);
PortReply decode_port(ByteView payload);
ResourcesReply decode_resources(ByteView payload);
UverbsReply decode_uverbs(ByteView payload);
Counters decode_counters(ByteView payload);

/// Whether each network namespace sees the RDMA devices of all; empty if the kernel does not tell.
std::optional<bool> decode_shared(ByteView payload);

}  // namespace sroce::nldev
