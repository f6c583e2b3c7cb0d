// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/output.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "sroce/text.h"

namespace sroce {
namespace {

constexpr size_t column_gap = 2;

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
  std::vector<Row> rows{{"DEVICE", "DRIVER", "NETDEV", "NETNS", "STATE", "MTU", "QPS"}};
  for (const Device& device : devices) {
    rows.push_back({device.name, device.driver, or_dash(device.netdev), netns_text(device),
                    or_dash(device.state), number_or_dash(device.mtu_bytes),
                    number_or_dash(device.qps)});
  }
  return align_text(std::move(rows));
}

std::string gid_table(std::span<const Device> devices) {
  std::vector<Row> rows{{"DEVICE", "GID", "TYPE", "NETDEV", "ADDRESS"}};
  for (const Device& device : devices) {
    for (const Gid& gid : device.gids)
      rows.push_back(
          {device.name, std::to_string(gid.index), gid.type, or_dash(gid.netdev), gid.address});
  }
  return align_text(std::move(rows));
}

std::string counter_table(std::span<const Device> devices) {
  std::vector<Row> rows{{"DEVICE", "COUNTER", "VALUE"}};
  for (const Device& device : devices) {
    for (const auto& [name, value] : device.counters)
      rows.push_back({device.name, name, std::to_string(value)});
  }
  return align_text(std::move(rows));
}

Json to_json(const Gid& gid) {
  return {{"index", gid.index},
          {"type", gid.type},
          {"address", gid.address},
          {"gid", gid.gid},
          {"netdev", or_null(gid.netdev)}};
}

Json to_json(const Device& device) {
  Json gids = Json::array();
  for (const Gid& gid : device.gids) gids.push_back(to_json(gid));
  Json counters = Json::object();
  for (const auto& [name, value] : device.counters) counters[name] = value;
  return {{"device", device.name},          {"index", device.index},
          {"driver", device.driver},        {"netdev", or_null(device.netdev)},
          {"netns", or_null(device.netns)}, {"in_current_netns", device.in_current_netns},
          {"state", or_null(device.state)}, {"mtu", or_null(device.mtu_bytes)},
          {"qps", or_null(device.qps)},     {"gids", std::move(gids)},
          {"counters", std::move(counters)}};
}

}  // namespace

std::vector<std::string> align(std::vector<Row> rows) {
  if (rows.size() < 2) return {};
  std::vector<size_t> widths(rows.front().size());
  for (Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = printable(std::move(row[i]));
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i + 1 < row.size(); ++i)
      line += row[i] + std::string(widths[i] - row[i].size() + column_gap, ' ');
    lines.push_back(line + row.back());
  }
  return lines;
}

std::string align_text(std::vector<Row> rows) {
  std::string text;
  for (const std::string& line : align(std::move(rows))) text += line + '\n';
  return text;
}

std::string decimal_text(double number, int digits) {
  std::array<char, 64> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                          std::chars_format::fixed, digits);
  std::string text(buffer.data(), end);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string rate_text(uint64_t bytes_per_second) {
  const double bits = static_cast<double>(bytes_per_second) * 8;
  if (bits >= 1e9) return decimal_text(bits / 1e9, 2) + "Gbps";
  if (bits >= 1e6) return decimal_text(bits / 1e6, 2) + "Mbps";
  if (bits >= 1e3) return decimal_text(bits / 1e3, 2) + "Kbps";
  return decimal_text(bits, 0) + "bps";
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string render_table(std::span<const Device> devices) {
  std::string text;
  for (const std::string& table :
       {device_table(devices), gid_table(devices), counter_table(devices)}) {
    if (!text.empty() && !table.empty()) text += '\n';
    text += table;
  }
  return text;
}

std::string render_json(std::span<const Device> devices) {
  Json array = Json::array();
  for (const Device& device : devices) array.push_back(to_json(device));
  return json_text(array);
}

}  // namespace sroce
