// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/netlink.h>
#include <net/if.h>
#include <unistd.h>

#include <iostream>
#include <memory>
#include <thread>

#include "sroce/cm.h"
#include "sroce/command_line.h"
#include "sroce/device.h"
#include "sroce/explain.h"
#include "sroce/host_facts.h"
#include "sroce/netlink.h"
#include "sroce/path_mtu.h"
#include "sroce/sigint.h"
#include "sroce/wrap.h"

namespace {

std::vector<std::string> interface_names() {
  const auto free_list = [](struct if_nameindex* list) { if_freenameindex(list); };
  const std::unique_ptr<struct if_nameindex, decltype(free_list)> list(if_nameindex(), free_list);
  std::vector<std::string> names;
  for (const auto* entry = list.get(); entry && entry->if_index != 0; ++entry)
    names.emplace_back(entry->if_name);
  return names;
}

}  // namespace

int main(int argc, char** argv) {
  sroce::NetlinkSocket socket(NETLINK_RDMA);
  sroce::NetlinkSocket generic(NETLINK_GENERIC);
  sroce::NetlinkSocket route(NETLINK_ROUTE);
  const std::string release = sroce::kernel_release();
  sroce::System system{
      .channel = socket,
      .generic = generic,
      .route = route,
      .sysfs = sroce::Sysfs("/sys"),
      .modules_alias = "/lib/modules/" + release + "/modules.alias",
      .kernel_release = release,
      .is_root = geteuid() == 0,
      .interfaces = interface_names,
      .active_mtu_bytes = sroce::query_active_mtu_bytes,
      .current_netns_name = sroce::current_netns_name,
      .visit_other_netns = sroce::visit_other_netns,
      .load_modules = sroce::load_modules,
      .kernel_has = [&](const std::string& option) { return sroce::kernel_has(release, option); },
      .sleep = [](std::chrono::milliseconds time) { std::this_thread::sleep_for(time); },
      .version = SROCE_VERSION,
      .memlock_bytes = sroce::memlock_bytes,
      .may_raise_memlock = sroce::may_raise_memlock,
      .may_open = sroce::may_open,
      .module_file = sroce::module_file,
      .port_is_free = sroce::port_is_free,
      .nft_ruleset = sroce::nft_ruleset,
      .iptables_rules = sroce::iptables_rules,
      .reverse_path_drops = sroce::reverse_path_drops,
      .verbs_devices = sroce::verbs_devices,
      .request_connection = sroce::request_connection,
      .probe_port = sroce::probe_port,
      .find_largest_echo = sroce::find_largest_echo,
      .pause = sroce::pause,
      .now = [] { return std::chrono::steady_clock::now().time_since_epoch(); },
  };
  const sroce::WrappedStream out(std::cout, [] { return sroce::terminal_width(STDOUT_FILENO); });
  const sroce::WrappedStream errors(std::cerr, [] { return sroce::terminal_width(STDERR_FILENO); });
  const int status = sroce::run_command_line(argc, argv, system, std::cout, std::cerr);
  if (std::cout.flush()) return status;
  sroce::write_failure(std::cerr, {sroce::ExitCode::other, "the output could not be written", ""});
  return status ? status : static_cast<int>(sroce::ExitCode::other);
}
