// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/table.h"

#include <optional>
#include <utility>
#include <vector>

#include "sroce/columns.h"

namespace sroce {
namespace {

std::string text_of(std::vector<Row> rows) {
  std::string text;
  for (const std::string& line : align(std::move(rows))) text += line + '\n';
  return text;
}

std::string or_dash(const std::optional<std::string>& text) { return text.value_or("-"); }

template <typename T>
std::string number_or_dash(const std::optional<T>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string netns_text(const Device& device) {
  if (device.netns) return *device.netns;
  return device.in_current_netns ? "(current)" : "-";
}

std::string device_table(std::span<const Device> devices) {
  std::vector<Row> rows{{"DEVICE", "DRIVER", "MODE", "NETDEV", "NETNS", "STATE", "MTU", "QPS"}};
  for (const Device& device : devices) {
    rows.push_back({device.name, device.driver, or_dash(device.mode), or_dash(device.netdev),
                    netns_text(device), or_dash(device.state), number_or_dash(device.mtu_bytes),
                    number_or_dash(device.qps)});
  }
  return text_of(std::move(rows));
}

std::string gid_table(std::span<const Device> devices) {
  std::vector<Row> rows{{"DEVICE", "GID", "TYPE", "NETDEV", "ADDRESS"}};
  for (const Device& device : devices) {
    for (const Gid& gid : device.gids)
      rows.push_back(
          {device.name, std::to_string(gid.index), gid.type, or_dash(gid.netdev), gid.address});
  }
  return text_of(std::move(rows));
}

std::string counter_table(std::span<const Device> devices) {
  std::vector<Row> rows{{"DEVICE", "COUNTER", "VALUE"}};
  for (const Device& device : devices) {
    for (const auto& [name, value] : device.counters)
      rows.push_back({device.name, name, std::to_string(value)});
  }
  return text_of(std::move(rows));
}

}  // namespace

std::string render_table(std::span<const Device> devices) {
  std::string text;
  for (const std::string& table :
       {device_table(devices), gid_table(devices), counter_table(devices)}) {
    if (!text.empty() && !table.empty()) text += '\n';
    text += table;
  }
  return text;
}

}  // namespace sroce
