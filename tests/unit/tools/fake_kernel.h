// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A fake kernel that answers RDMA_NL_NLDEV requests as nldev.c does, from a list of devices, and a
// fake machine around it.
#pragma once

#include <cerrno>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "fake_module.h"
#include "fake_route.h"
#include "sroce/device.h"
#include "temporary_tree.h"

namespace sroce::test {

struct FakeDevice {
  uint32_t index = 0;
  std::string name{};
  uint32_t driver_id = 14;  // RDMA_DRIVER_RXE
  uint8_t state = 4;        // active
  std::string netdev{};
  std::string netns{};  // the netdev's namespace; "" is the initial one
  uint64_t qps = 1;
  std::map<std::string, uint64_t> counters{};
  bool visible = true;  // false: in another namespace, in exclusive mode
};

struct FakeKernel {
  std::vector<FakeDevice> devices;
  int newlink_error = 0;
  uint8_t new_device_state = 4;
  int name_clash_error = EEXIST;  // from the module; ib_core itself returns ENFILE
  int dellink_error = 0;
  int counters_error = 0;
  std::string extended_ack;
  bool has_rdma = true;
  std::optional<bool> shared = true;  // as Facts of the doctor; empty: the request fails
  std::vector<std::string> attached;  // netdevs of the newlink requests that succeeded; "NETDEV v1"
  std::function<void(const std::string& name)> on_new_link;
};

/// A socket in one network namespace of the fake kernel.
class FakeChannel : public Channel {
 public:
  explicit FakeChannel(FakeKernel& kernel, std::string netns = "")
      : kernel_(kernel), netns_(std::move(netns)) {}

  std::vector<Bytes> exchange(Request request) override;

 private:
  std::vector<Bytes> get_devices() const;
  std::vector<Bytes> get_ports(uint32_t index) const;
  std::vector<Bytes> get_resources() const;
  std::vector<Bytes> get_uverbs(uint32_t index) const;
  std::vector<Bytes> get_counters(uint32_t index) const;
  void new_link(const std::string& name, const std::string& type, const std::string& netdev);
  void delete_link(uint32_t index);
  const FakeDevice& find(uint32_t index) const;

  FakeKernel& kernel_;
  std::string netns_;
};

inline constexpr bool is_sroce = true;

/// The machine that tests run subcommands on: a fake kernel, a sysfs tree, and interfaces.
class FakeMachine {
 public:
  FakeMachine();

  FakeDevice& add_device(FakeDevice device, bool belongs_to_sroce = false);

  /// Adds an entry to the GID table of a device.
  void add_gid(const std::string& device, int index, const std::string& gid,
               const std::string& netdev);

  FakeKernel kernel;
  TemporaryTree sysfs;
  std::vector<std::string> interfaces{"lo", "eth0", "eth1"};
  std::optional<bool> configured_with_rdma;
  std::vector<std::string> loaded_modules;  // by System::load_modules
  int sleeps = 0;
  std::function<void()> on_sleep;
  std::optional<uint64_t> memlock_bytes;
  bool may_raise_memlock = true;
  std::vector<std::string> unreadable;  // the files that System::may_open refuses
  std::optional<ModuleFile> module_file;
  bool port_is_free = true;
  std::string nft_ruleset;
  std::string iptables_rules;
  uint64_t reverse_path_drops = 0;
  std::optional<std::vector<VerbsDevice>> verbs_devices{{{"sroce0", "librxe"}}};
  std::vector<std::string> other_netns;
  std::vector<CmReply> cm_replies;  // one for each request; the last one goes on
  std::vector<CmQuestion> cm_questions;
  int icmp_error = 0;
  std::vector<CmQuestion> probes;  // by System::probe_port
  size_t largest_echo = 0;         // that the peer answers
  std::vector<std::vector<size_t>> echo_sizes;
  std::chrono::nanoseconds now{};  // goes on by each pause
  std::function<void()> on_pause;
  int pauses = 0;
  int pauses_until_interrupt = 1000;
  FakeChannel channel{kernel};
  FakeModule module;
  FakeRoute route;
  System system;
};

}  // namespace sroce::test
