// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/gids.h"

#include <algorithm>

#include "sroce/explain.h"

namespace sroce {
namespace {

constexpr uint32_t only_port = 1;

/// Why, one line for each program.
constexpr char reasons[] =
    "\n"
    "Unless a program is told a GID:\n"
    "  rdma_cm   takes the GID of the connection's own address\n"
    "  NCCL      the first of IPv4 and RoCE v2; before 2.21: 0 (NCCL_IB_GID_INDEX=N)\n"
    "  UCX       the first of IPv4 and RoCE v2 (UCX_IB_GID_INDEX=N)\n"
    "  perftest  the first of IPv4; RoCE v2 before v1 (-x N; with -R: rdma_cm)\n"
    "  ibv_*_pingpong take none and fail: they need -g N\n";

bool is_ipv4(const Gid& gid) { return gid.address.find(':') == std::string::npos; }
bool is_v2(const Gid& gid) { return gid.type == "RoCE v2"; }

/// The entry at index 0, at which NCCL and perftest begin; null if it is not in use.
const Gid* first_entry(std::span<const Gid> gids) {
  return !gids.empty() && gids.front().index == 0 ? &gids.front() : nullptr;
}

std::optional<uint32_t> index_of(const Gid* gid) {
  return gid ? std::optional(gid->index) : std::nullopt;
}

Json to_json(const std::string& device, std::span<const Gid> gids, const Gid& gid) {
  return {{"device", device},
          {"index", gid.index},
          {"type", gid.type},
          {"address", gid.address},
          {"gid", gid.gid},
          {"netdev", or_null(gid.netdev)},
          {"picked_by", users_of_gid(gids, gid)}};
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "-" : text;
}

}  // namespace

// ncclIbGetGidIndex() with its defaults: family AF_INET, any prefix, version 2.
std::optional<uint32_t> nccl_gid_index(std::span<const Gid> gids) {
  const Gid* best = first_entry(gids);
  for (const Gid& gid : gids) {
    if (&gid == best || !is_ipv4(gid)) continue;
    if (!best || !is_ipv4(*best) || (is_v2(gid) && !is_v2(*best))) best = &gid;
  }
  return index_of(best);
}

// uct_ib_device_select_gid(). Its versions differ where there is no IPv4.
std::optional<uint32_t> ucx_gid_index(std::span<const Gid> gids) {
  const auto found = std::find_if(gids.begin(), gids.end(),
                                  [](const Gid& gid) { return is_ipv4(gid) && is_v2(gid); });
  return found == gids.end() ? std::nullopt : std::optional(found->index);
}

// get_best_gid_index() without --ipv6.
std::optional<uint32_t> perftest_gid_index(std::span<const Gid> gids) {
  const Gid* best = first_entry(gids);
  for (const Gid& gid : gids) {
    if (&gid == best) continue;
    if (is_ipv4(gid) && (!best || !is_ipv4(*best)))
      best = &gid;
    else if (best && is_v2(gid) && !is_v2(*best))
      best = &gid;
  }
  return index_of(best);
}

std::vector<std::string> users_of_gid(std::span<const Gid> gids, const Gid& gid) {
  std::vector<std::string> users;
  if (is_v2(gid)) users.push_back("rdma_cm");  // its default_roce_mode
  if (nccl_gid_index(gids) == gid.index) users.push_back("NCCL");
  if (ucx_gid_index(gids) == gid.index) users.push_back("UCX");
  if (perftest_gid_index(gids) == gid.index) users.push_back("perftest");
  return users;
}

void run_gids(System& system, const GidsOptions& options, std::ostream& out) {
  std::vector<Row> rows{{"DEVICE", "GID", "TYPE", "NETDEV", "ADDRESS", "PICKED BY"}};
  Json list = Json::array();
  for (const DeviceIdentity& identity : chosen_devices(system, options.device)) {
    const std::string& device = identity.name;
    const auto gids = system.sysfs.gids(device, only_port);
    for (const Gid& gid : gids) {
      rows.push_back({device, std::to_string(gid.index), gid.type, gid.netdev.value_or("-"),
                      gid.address, joined(users_of_gid(gids, gid))});
      list.push_back(to_json(device, gids, gid));
    }
  }
  if (options.format == Format::json)
    out << json_text(list);
  else if (rows.size() == 1)
    out << "no GIDs; to see why: sroce doctor\n";
  else
    out << align_text(std::move(rows)) << reasons;
}

}  // namespace sroce
