// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/del.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <sstream>

#include "fake_kernel.h"
#include "sroce/add.h"
#include "sroce/explain.h"

namespace sroce {
namespace {

using test::FakeMachine;
using test::is_sroce;

ExitCode failure_of(FakeMachine& machine, const std::string& name) {
  std::ostringstream out;
  try {
    run_del(machine.system, name, out);
  } catch (const Failure& failure) {
    return failure.code();
  }
  return ExitCode::success;
}

TEST(Del, RemovesOnlyTheNamedDevice) {
  FakeMachine machine;
  machine.add_device({.index = 3, .name = "sroce0"}, is_sroce);
  machine.add_device({.index = 7, .name = "sroce1"}, is_sroce);
  std::ostringstream out;
  run_del(machine.system, "sroce1", out);
  EXPECT_EQ(out.str(), "sroce1 removed\n");
  ASSERT_EQ(machine.kernel.devices.size(), 1u);
  EXPECT_EQ(machine.kernel.devices[0].name, "sroce0");
}

TEST(Del, RemovesTheDummyInterfaceThatAddMade) {
  FakeMachine machine;
  std::ostringstream out;
  run_add(machine.system, {.dummy = "10.99.0.1/24", .wait = false}, out);
  machine.sysfs.write("class/infiniband/sroce0/sroce/abi_version", "103\n");  // as the module does
  run_del(machine.system, "sroce0", out);
  EXPECT_EQ(out.str(), "sroce0 on rdma0\nsroce0 removed, with its dummy interface rdma0\n");
  EXPECT_EQ(machine.route.links.at(3).name, "");
}

TEST(Del, LeavesOtherInterfacesAlone) {
  FakeMachine machine;
  machine.route.links[1].kind = "dummy";               // the administrator's
  machine.route.links[2].alias = "made by sroce add";  // a copy of the alias
  machine.add_device({.index = 0, .name = "sroce0", .netdev = "eth0"}, is_sroce);
  machine.add_device({.index = 1, .name = "sroce1", .netdev = "eth1"}, is_sroce);
  for (const char* name : {"sroce0", "sroce1"}) {
    std::ostringstream out;
    run_del(machine.system, name, out);
    EXPECT_EQ(out.str(), std::string(name) + " removed\n");
  }
  EXPECT_EQ(machine.route.links[1].name, "eth0");
  EXPECT_EQ(machine.route.links[2].name, "eth1");
}

TEST(Del, RejectsDevicesOfOtherDrivers) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "rxe0"});
  EXPECT_EQ(failure_of(machine, "rxe0"), ExitCode::not_sroce);
  EXPECT_EQ(machine.kernel.devices.size(), 1u);
}

TEST(Del, ReportsAnUnknownName) {
  FakeMachine machine;
  EXPECT_EQ(failure_of(machine, "sroce0"), ExitCode::no_such_device);
}

TEST(Del, ReportsMissingPermission) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0"}, is_sroce);
  machine.kernel.dellink_error = EPERM;
  EXPECT_EQ(failure_of(machine, "sroce0"), ExitCode::no_permission);
}

}  // namespace
}  // namespace sroce
