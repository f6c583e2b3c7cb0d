// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/table.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

namespace sroce {
namespace {

using Row = std::vector<std::string>;

constexpr size_t gap = 2;

/// Interface names may hold terminal control characters.
std::string printable(std::string text) {
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  return text;
}

/// Left-aligned columns as wide as their widest cell; nothing at all if only the heading is there.
std::string align(std::vector<Row> rows) {
  if (rows.size() < 2) return {};
  std::vector<size_t> widths(rows.front().size());
  for (Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = printable(std::move(row[i]));
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i)
      text += row[i] + std::string(widths[i] - row[i].size() + gap, ' ');
    text += row.back() + '\n';
  }
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
  return align(std::move(rows));
}

std::string gid_table(std::span<const Device> devices) {
  std::vector<Row> rows{{"DEVICE", "GID", "TYPE", "NETDEV", "ADDRESS"}};
  for (const Device& device : devices) {
    for (const Gid& gid : device.gids)
      rows.push_back(
          {device.name, std::to_string(gid.index), gid.type, or_dash(gid.netdev), gid.address});
  }
  return align(std::move(rows));
}

std::string counter_table(std::span<const Device> devices) {
  std::vector<Row> rows{{"DEVICE", "COUNTER", "VALUE"}};
  for (const Device& device : devices) {
    for (const auto& [name, value] : device.counters)
      rows.push_back({device.name, name, std::to_string(value)});
  }
  return align(std::move(rows));
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
