// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/inventory.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "fake_kernel.h"

namespace sroce {
namespace {

using test::FakeDevice;
using test::FakeMachine;

TEST(ListDevices, TellsOursFromRxeAndFromHardware) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "sroce0", .driver_id = 14}, "rxe");
  machine.add_device({.index = 1, .name = "rxe0", .driver_id = 14});
  machine.add_device({.index = 2, .name = "mlx5_0", .driver_id = 1});
  machine.add_device({.index = 3, .name = "fast", .driver_id = 0x53524f43}, "native");
  machine.add_device({.index = 4, .name = "bare", .driver_id = 0x53524f43});

  const auto devices = list_devices(machine.system);
  ASSERT_EQ(devices.size(), 5u);
  EXPECT_EQ(devices[0].mode, "rxe");
  EXPECT_FALSE(devices[0].is_rxe);
  EXPECT_EQ(devices[1].mode, std::nullopt);
  EXPECT_TRUE(devices[1].is_rxe);
  EXPECT_EQ(devices[2].mode, std::nullopt);
  EXPECT_FALSE(devices[2].is_rxe);
  EXPECT_EQ(devices[3].mode, "native");
  EXPECT_EQ(devices[4].mode, "native");
}

TEST(DescribeDevices, PutsTogetherWhatTheSourcesSay) {
  FakeMachine machine;
  machine.add_device({.index = 6,
                      .name = "sroce0",
                      .netdev = "eth0",
                      .qps = 5,
                      .counters = {{"sent_pkts", 9}, {"send_err", 0}}},
                     "rxe");
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
  machine.add_device({.index = 0, .name = "here", .netdev = "eth0"}, "rxe");
  machine.add_device({.index = 1, .name = "there", .netdev = "veth1", .netns = "red"}, "rxe");
  machine.add_device({.index = 2, .name = "nowhere", .netdev = "veth2", .netns = "hidden"}, "rxe");
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

TEST(DescribeDevices, EntersNoNamespaceIfNothingIsMissing) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0", .netdev = "eth0"}, "rxe");
  machine.system.visit_other_netns = [](const NetnsVisitor&) { FAIL(); };
  describe_devices(machine.system, list_devices(machine.system));
}

TEST(DescribeDevices, TakesCountersFromSysfsIfTheyDoNotFitAMessage) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0", .netdev = "eth0"}, "rxe");
  machine.kernel.counters_error = EMSGSIZE;
  machine.sysfs.write("class/infiniband/sroce0/ports/1/hw_counters/sent_pkts", "31\n");
  const auto devices = describe_devices(machine.system, list_devices(machine.system));
  EXPECT_EQ(devices[0].counters, (std::map<std::string, uint64_t>{{"sent_pkts", 31}}));
}

TEST(DescribeDevices, SurvivesADeviceThatVanishes) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0", .netdev = "eth0"}, "rxe");
  const auto identities = list_devices(machine.system);
  machine.kernel.devices.clear();
  const auto devices = describe_devices(machine.system, identities);
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].state, std::nullopt);
  EXPECT_EQ(devices[0].qps, std::nullopt);
}

TEST(DescribeDevices, NamesPortStatesAsTheStandardDoes) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "down", .state = 1}, "rxe");
  machine.add_device({.index = 1, .name = "odd", .state = 99}, "rxe");
  const auto devices = describe_devices(machine.system, list_devices(machine.system));
  EXPECT_EQ(devices[0].state, "DOWN");
  EXPECT_EQ(devices[1].state, "UNKNOWN(99)");
}

}  // namespace
}  // namespace sroce
