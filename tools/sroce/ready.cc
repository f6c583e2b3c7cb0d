// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/ready.h"

#include <algorithm>
#include <array>

#include "sroce/text.h"

namespace sroce {
namespace {

constexpr uint32_t only_port = 1;
constexpr char roce_v1_type[] = "IB/RoCE v1";

bool has_gid(const Readiness& state, const std::string& address) {
  return std::any_of(state.gids.begin(), state.gids.end(), [&](const Gid& gid) {
    return gid.address == address && gid.type != roce_v1_type;
  });
}

bool is_link_local(const std::string& address) { return address.starts_with("fe80:"); }

/// The GID that most programs should use: not of RoCE v1; IPv4 if there is one, link-local only if
/// there is no other.
const Gid* preferred_gid(const std::vector<Gid>& gids) {
  const auto rank = [](const Gid& gid) {
    if (gid.type == roce_v1_type) return 3;
    if (gid.address.find(':') == std::string::npos) return 0;
    return is_link_local(gid.address) ? 2 : 1;
  };
  const auto found = std::min_element(
      gids.begin(), gids.end(), [&](const Gid& a, const Gid& b) { return rank(a) < rank(b); });
  return found == gids.end() ? nullptr : &*found;
}

Failure failure(const Readiness& state, const std::string& cause, const std::string& cure) {
  return {ExitCode::not_ready, "device " + state.device + " is added but not ready: " + cause,
          cure};
}

std::optional<Failure> explain_addresses(const Readiness& state) {
  const std::string see = "to see it: ip address show dev " + shell_word(state.netdev);
  bool any = false;
  for (const rtnl::Address& address : state.addresses) {
    const std::string text = address_text(address.address);
    if (address.duplicate) continue;
    any = true;
    if (address.tentative)
      return failure(state, "duplicate address detection (DAD) of " + text + " has not ended", see);
    if (!has_gid(state, text))
      return failure(state, "it has no GID of the address " + text,
                     "to see its GIDs: sroce status " + shell_word(state.device));
  }
  if (any) return std::nullopt;
  const auto duplicates = find_duplicates(state);
  if (!duplicates.empty()) return failure(state, duplicates.front().text, duplicates.front().cure);
  return failure(state, "interface '" + state.netdev + "' has no IP address",
                 "to add one: ip address add ADDRESS/LENGTH dev " + shell_word(state.netdev));
}

}  // namespace

Readiness query_readiness(System& system, const DeviceIdentity& device, const std::string& netdev) {
  Readiness state;
  state.device = device.name;
  state.netdev = netdev;
  for (const Bytes& payload : system.route.exchange(rtnl::link_request(netdev)))
    state.link = rtnl::decode_link(payload);
  for (const Bytes& payload : system.route.exchange(rtnl::addresses_request())) {
    if (const auto address = rtnl::decode_address(payload, state.link.index))
      state.addresses.push_back(*address);
  }
  state.port_is_active = port_state(system.channel, device.index) == "ACTIVE";
  state.gids = system.sysfs.gids(device.name, only_port);
  return state;
}

std::optional<Failure> explain_not_ready(const Readiness& state) {
  if (!state.link.is_up)
    return failure(state, "interface '" + state.netdev + "' is down",
                   "to set it up: ip link set " + shell_word(state.netdev) + " up");
  if (!state.link.has_carrier)
    return failure(state, "interface '" + state.netdev + "' has no carrier",
                   "set its other end up, or see: ip link show " + shell_word(state.netdev));
  if (!state.port_is_active)
    return failure(state, "its port is not active",
                   "to see it: rdma link show " + shell_word(state.device));
  return explain_addresses(state);
}

std::vector<Duplicate> find_duplicates(const Readiness& state) {
  std::vector<Duplicate> duplicates;
  for (const rtnl::Address& address : state.addresses) {
    if (!address.duplicate) continue;
    const std::string text = address_text(address.address);
    duplicates.push_back(
        {"another host has its address " + text + " (duplicate address detection, DAD, has failed)",
         "ip address flush to " + text + " dev " + shell_word(state.netdev) +
             "\nto add another: ip address add ADDRESS/LENGTH dev " + shell_word(state.netdev)});
  }
  return duplicates;
}

std::string command_to_try(const Readiness& state) {
  const Gid* gid = preferred_gid(state.gids);
  if (!gid) return {};
  const std::string command =
      "ibv_rc_pingpong -e -d " + shell_word(state.device) + " -g " + std::to_string(gid->index);
  const std::string scope = is_link_local(gid->address) ? "%" + shell_word(state.netdev) : "";
  return command + " & sleep 1; " + command + ' ' + gid->address + scope;
}

}  // namespace sroce
