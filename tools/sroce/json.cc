// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/json.h"

#include <nlohmann/json.hpp>

namespace sroce {
namespace {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
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
  return {{"device", device.name},
          {"index", device.index},
          {"driver", device.driver},
          {"mode", or_null(device.mode)},
          {"netdev", or_null(device.netdev)},
          {"netns", or_null(device.netns)},
          {"in_current_netns", device.in_current_netns},
          {"state", or_null(device.state)},
          {"mtu", or_null(device.mtu_bytes)},
          {"qps", or_null(device.qps)},
          {"gids", std::move(gids)},
          {"counters", std::move(counters)}};
}

}  // namespace

std::string render_json(std::span<const Device> devices) {
  Json array = Json::array();
  for (const Device& device : devices) array.push_back(to_json(device));
  // Interface names may hold any bytes; invalid UTF-8 must not stop the report.
  return array.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace sroce
