// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/device.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <vector>

#include "fake_kernel.h"
#include "temporary_tree.h"

namespace sroce {
namespace {

using test::FakeMachine;
using test::is_sroce;

const std::string port = "class/infiniband/sroce0/ports/1/";

TEST(GidAddress, UsesTheUsualNotation) {
  EXPECT_EQ(gid_address("fe80:0000:0000:0000:5054:00ff:fe12:3456"), "fe80::5054:ff:fe12:3456");
  EXPECT_EQ(gid_address("0000:0000:0000:0000:0000:ffff:0a00:0001"), "10.0.0.1");
  EXPECT_EQ(gid_address("2001:0db8:0000:0000:0000:0000:0000:0001"), "2001:db8::1");
}

TEST(GidAddress, KeepsTextThatIsNotAnAddress) { EXPECT_EQ(gid_address("bogus"), "bogus"); }

TEST(Sysfs, KnowsDevicesOfSroce) {
  test::TemporaryTree tree;
  tree.write("class/infiniband/sroce0/sroce/abi_version", "103\n");
  tree.write("class/infiniband/rxe0/parent", "eth0\n");
  EXPECT_TRUE(Sysfs(tree.root()).is_sroce("sroce0"));
  EXPECT_FALSE(Sysfs(tree.root()).is_sroce("rxe0"));
  EXPECT_FALSE(Sysfs(tree.root()).is_sroce("none"));
}

TEST(Sysfs, SortsGidsByIndexAndOmitsUnusedEntries) {
  test::TemporaryTree tree;
  for (const auto& [index, gid] : {std::pair{"10", "2001:0db8:0000:0000:0000:0000:0000:0001\n"},
                                   std::pair{"2", "0000:0000:0000:0000:0000:ffff:0a00:0001\n"},
                                   std::pair{"3", "0000:0000:0000:0000:0000:0000:0000:0000\n"}}) {
    tree.write(port + "gids/" + index, gid);
    tree.write(port + "gid_attrs/types/" + index, "RoCE v2\n");
    tree.write(port + "gid_attrs/ndevs/" + index, "eth0\n");
  }
  const auto gids = Sysfs(tree.root()).gids("sroce0", 1);
  ASSERT_EQ(gids.size(), 2u);
  EXPECT_EQ(gids[0].index, 2u);
  EXPECT_EQ(gids[0].address, "10.0.0.1");
  EXPECT_EQ(gids[0].gid, "0000:0000:0000:0000:0000:ffff:0a00:0001");
  EXPECT_EQ(gids[0].type, "RoCE v2");
  EXPECT_EQ(gids[0].netdev, "eth0");
  EXPECT_EQ(gids[1].index, 10u);
}

TEST(Sysfs, ToleratesMissingGidAttributesAndUnexpectedNames) {
  test::TemporaryTree tree;
  tree.write(port + "gids/0", "fe80:0000:0000:0000:0000:0000:0000:0001\n");
  tree.write(port + "gids/x1", "fe80:0000:0000:0000:0000:0000:0000:0001\n");
  tree.write(port + "gids/1", "");
  const auto gids = Sysfs(tree.root()).gids("sroce0", 1);
  ASSERT_EQ(gids.size(), 1u);
  EXPECT_EQ(gids[0].type, "-");
  EXPECT_EQ(gids[0].netdev, std::nullopt);
  EXPECT_TRUE(Sysfs(tree.root()).gids("sroce9", 1).empty());
}

TEST(Sysfs, ReadsTheNumbersInHwCounters) {
  test::TemporaryTree tree;
  tree.write(port + "hw_counters/sent_pkts", "18446744073709551615\n");
  tree.write(port + "hw_counters/send_err", "0\n");
  tree.write(port + "hw_counters/lifespan", "10\n");
  tree.write(port + "hw_counters/odd", "12 apples\n");
  const std::map<std::string, uint64_t> expected{{"send_err", 0}, {"sent_pkts", UINT64_MAX}};
  EXPECT_EQ(Sysfs(tree.root()).counters("sroce0", 1), expected);
  EXPECT_TRUE(Sysfs(tree.root()).counters("sroce0", 2).empty());
}

TEST(Sysfs, ReportsAModuleAsLoadedIfItHasADirectory) {
  test::TemporaryTree tree;
  tree.write("module/sroce/refcnt", "0\n");
  EXPECT_TRUE(Sysfs(tree.root()).module_loaded("sroce"));
  EXPECT_FALSE(Sysfs(tree.root()).module_loaded("rdma_rxe"));
  for (const auto& [module, path] : {std::pair{"ib_uverbs", "class/infiniband_verbs/abi_version"},
                                     {"rdma_ucm", "class/misc/rdma_cm/dev"}}) {
    EXPECT_FALSE(Sysfs(tree.root()).module_loaded(module));
    tree.write(path, "");
    EXPECT_TRUE(Sysfs(tree.root()).module_loaded(module)) << "it is built in";
  }
}

TEST(MtuBytes, ConvertsTheValuesOfTheStandard) {
  EXPECT_EQ(mtu_bytes(1), 256u);
  EXPECT_EQ(mtu_bytes(3), 1024u);
  EXPECT_EQ(mtu_bytes(5), 4096u);
}

TEST(MtuBytes, RejectsOtherValues) {
  EXPECT_EQ(mtu_bytes(0), std::nullopt);
  EXPECT_EQ(mtu_bytes(6), std::nullopt);
  EXPECT_EQ(mtu_bytes(255), std::nullopt);
}

TEST(QueryActiveMtu, IsEmptyWithoutACharacterDevice) {
  EXPECT_EQ(query_active_mtu_bytes({"no-such-uverbs", 14}, 1), std::nullopt);
}

enum ChildStatus { passed = 0, wrong_names = 1, wrong_visit = 2, not_home = 3, no_permission = 77 };

bool pin_netns(const char* path) {
  const int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
  if (fd < 0) return false;
  close(fd);
  return mount("/proc/self/ns/net", path, nullptr, MS_BIND, nullptr) == 0;
}

bool write_file(const char* path, const std::string& text) {
  std::ofstream file(path);
  file << text << std::flush;
  return file.good();
}

/// Makes the caller root of a new user namespace, so that the test needs no privileges.
bool become_private_root() {
  const std::string uid = std::to_string(getuid()), gid = std::to_string(getgid());
  return unshare(CLONE_NEWUSER) == 0 && write_file("/proc/self/setgroups", "deny") &&
         write_file("/proc/self/uid_map", "0 " + uid + " 1") &&
         write_file("/proc/self/gid_map", "0 " + gid + " 1");
}

/// Moves the process into new mount and network namespaces. There, /run/netns lists "away", a file
/// that is not a namespace, and "home", which the process is in afterwards.
bool enter_private_namespaces() {
  return become_private_root() && unshare(CLONE_NEWNS | CLONE_NEWNET) == 0 &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", "/run", "tmpfs", 0, nullptr) == 0 && mkdir("/run/netns", 0755) == 0 &&
         pin_netns("/run/netns/away") && unshare(CLONE_NEWNET) == 0 &&
         pin_netns("/run/netns/home") && close(creat("/run/netns/broken", 0600)) == 0;
}

ino_t netns_inode() {
  struct stat status {};
  return stat("/proc/self/ns/net", &status) == 0 ? status.st_ino : 0;
}

ChildStatus check_in_child() {
  if (!enter_private_namespaces()) return no_permission;
  if (current_netns_name() != "home") return wrong_names;
  const ino_t home = netns_inode();
  std::vector<std::string> visited;
  bool was_away = true;
  visit_other_netns([&](const std::string& name, Channel&) {
    visited.push_back(name);
    was_away = was_away && netns_inode() != home;
    return true;
  });
  if (visited != std::vector<std::string>{"away"} || !was_away) return wrong_visit;
  return netns_inode() == home ? passed : not_home;
}

TEST(Netns, VisitsOtherNamespacesAndReturnsToItsOwn) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(check_in_child());
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == no_permission) GTEST_SKIP() << "cannot make namespaces here";
  EXPECT_EQ(WEXITSTATUS(status), passed);
}

TEST(ListDevices, DistinguishesSroceFromRxeAndHardware) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "sroce0", .driver_id = 14}, is_sroce);
  machine.add_device({.index = 1, .name = "rxe0", .driver_id = 14});
  machine.add_device({.index = 2, .name = "mlx5_0", .driver_id = 1});

  const auto devices = list_devices(machine.system);
  ASSERT_EQ(devices.size(), 3u);
  EXPECT_TRUE(devices[0].is_sroce);
  EXPECT_FALSE(devices[0].is_rxe);
  EXPECT_FALSE(devices[1].is_sroce);
  EXPECT_TRUE(devices[1].is_rxe);
  EXPECT_FALSE(devices[2].is_sroce);
  EXPECT_FALSE(devices[2].is_rxe);
}

TEST(DescribeDevices, CombinesNetlinkSysfsAndUverbs) {
  FakeMachine machine;
  machine.add_device({.index = 6,
                      .name = "sroce0",
                      .netdev = "eth0",
                      .qps = 5,
                      .counters = {{"sent_pkts", 9}, {"send_err", 0}}},
                     is_sroce);
  machine.add_gid("sroce0", 1, "0000:0000:0000:0000:0000:ffff:0a00:0001", "eth0");
  machine.system.current_netns_name = [] { return "blue"; };

  const auto devices = describe_devices(machine.system, list_devices(machine.system));
  ASSERT_EQ(devices.size(), 1u);
  const Device& device = devices[0];
  EXPECT_EQ(device.name, "sroce0");
  EXPECT_EQ(device.index, 6u);
  EXPECT_EQ(device.driver, "sroce");
  EXPECT_EQ(device.netdev, "eth0");
  EXPECT_EQ(device.netns, "blue");
  EXPECT_TRUE(device.in_current_netns);
  EXPECT_EQ(device.state, "ACTIVE");
  EXPECT_EQ(device.mtu_bytes, 1024u);
  EXPECT_EQ(device.qps, 5u);
  ASSERT_EQ(device.gids.size(), 1u);
  EXPECT_EQ(device.gids[0].address, "10.0.0.1");
  EXPECT_EQ(device.counters, (std::map<std::string, uint64_t>{{"sent_pkts", 9}}));
}

TEST(DescribeDevices, FindsTheNetdevInANamedNamespace) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "here", .netdev = "eth0"}, is_sroce);
  machine.add_device({.index = 1, .name = "there", .netdev = "veth1", .netns = "red"}, is_sroce);
  machine.add_device({.index = 2, .name = "nowhere", .netdev = "veth2", .netns = "hidden"},
                     is_sroce);
  machine.other_netns = {"blue", "red", "green"};

  const auto devices = describe_devices(machine.system, list_devices(machine.system));
  EXPECT_EQ(devices[0].netns, std::nullopt);
  EXPECT_TRUE(devices[0].in_current_netns);
  EXPECT_EQ(devices[1].netdev, "veth1");
  EXPECT_EQ(devices[1].netns, "red");
  EXPECT_FALSE(devices[1].in_current_netns);
  EXPECT_EQ(devices[2].netdev, std::nullopt);
  EXPECT_EQ(devices[2].netns, std::nullopt);
}

TEST(DescribeDevices, EntersNoNamespaceIfAllNetdevsAreKnown) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0", .netdev = "eth0"}, is_sroce);
  machine.system.visit_other_netns = [](const NetnsVisitor&) { FAIL(); };
  describe_devices(machine.system, list_devices(machine.system));
}

TEST(DescribeDevices, ReadsCountersFromSysfsIfNetlinkFails) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0", .netdev = "eth0"}, is_sroce);
  machine.kernel.counters_error = EMSGSIZE;
  machine.sysfs.write("class/infiniband/sroce0/ports/1/hw_counters/sent_pkts", "31\n");
  const auto devices = describe_devices(machine.system, list_devices(machine.system));
  EXPECT_EQ(devices[0].counters, (std::map<std::string, uint64_t>{{"sent_pkts", 31}}));
}

TEST(DescribeDevices, ToleratesADeviceThatDisappears) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0", .netdev = "eth0"}, is_sroce);
  const auto identities = list_devices(machine.system);
  machine.kernel.devices.clear();
  const auto devices = describe_devices(machine.system, identities);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].state, std::nullopt);
  EXPECT_EQ(devices[0].qps, std::nullopt);
}

TEST(DescribeDevices, UsesThePortStateNamesOfTheStandard) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "down", .state = 1}, is_sroce);
  machine.add_device({.index = 1, .name = "odd", .state = 99}, is_sroce);
  const auto devices = describe_devices(machine.system, list_devices(machine.system));
  EXPECT_EQ(devices[0].state, "DOWN");
  EXPECT_EQ(devices[1].state, "UNKNOWN(99)");
}

}  // namespace
}  // namespace sroce
