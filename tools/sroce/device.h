// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// What sroce status knows about one RDMA device. An empty optional means that the kernel did not
// say; it is shown as "-" or null and never guessed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sroce {

struct Gid {
  uint32_t index = 0;
  std::string type;     // as the kernel spells it: "RoCE v2"
  std::string gid;      // as in sysfs: eight groups of four digits
  std::string address;  // for people: "10.0.0.1", "fe80::1"
  std::optional<std::string> netdev;
};

struct Device {
  std::string name;
  uint32_t index = 0;
  std::string driver;               // "sroce" or "rdma_rxe"
  std::optional<std::string> mode;  // "rxe" or "native"; only sroce devices have one
  std::optional<std::string> netdev;
  std::optional<std::string> netns;  // name of the namespace the netdev is in
  bool in_current_netns = false;
  std::optional<std::string> state;
  std::optional<uint32_t> mtu_bytes;  // active path MTU of the port
  std::optional<uint64_t> qps;
  std::vector<Gid> gids;
  std::map<std::string, uint64_t> counters;  // only those that are not zero
};

}  // namespace sroce
