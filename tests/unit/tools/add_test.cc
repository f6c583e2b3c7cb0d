// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/add.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <sstream>

#include "fake_kernel.h"
#include "sroce/explain.h"

namespace sroce {
namespace {

using test::FakeMachine;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string add(FakeMachine& machine, const AddOptions& options) {
  std::ostringstream out;
  run_add(machine.system, options, out);
  return out.str();
}

ExitCode failure_of(FakeMachine& machine, const AddOptions& options) {
  try {
    add(machine, options);
  } catch (const Failure& failure) {
    return failure.code();
  }
  return ExitCode::success;
}

TEST(Add, PicksTheNextFreeName) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "sroce0"}, "rxe");
  EXPECT_EQ(add(machine, {"eth1", {}}), "sroce1 on eth1\n");
  EXPECT_THAT(machine.kernel.attached, ElementsAre("eth1"));
}

TEST(Add, UsesTheGivenName) {
  FakeMachine machine;
  EXPECT_EQ(add(machine, {"eth0", "storage"}), "storage on eth0\n");
  EXPECT_EQ(machine.kernel.devices.at(0).name, "storage");
}

TEST(Add, SkipsNamesHiddenInOtherNamespaces) {
  for (const int error : {EEXIST, ENFILE}) {
    FakeMachine machine;
    machine.kernel.name_clash_error = error;
    machine.add_device({.index = 0, .name = "sroce0", .visible = false});
    machine.add_device({.index = 1, .name = "sroce1", .visible = false});
    EXPECT_EQ(add(machine, {"eth0", {}}), "sroce2 on eth0\n");
  }
}

TEST(Add, RejectsAnExplicitNameHiddenInAnotherNamespace) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "storage", .visible = false});
  EXPECT_EQ(failure_of(machine, {"eth0", "storage"}), ExitCode::name_taken);
}

TEST(Add, ChecksArgumentsBeforeAskingTheKernel) {
  FakeMachine machine;
  machine.kernel.has_rdma = false;  // any exchange would throw SubsystemAbsent
  EXPECT_EQ(failure_of(machine, {"eth9", {}}), ExitCode::no_such_interface);
  EXPECT_EQ(failure_of(machine, {"eth0", "rxe0"}), ExitCode::bad_name);
  EXPECT_THROW(add(machine, {"eth0", {}}), SubsystemAbsent);
}

TEST(Add, RejectsATakenNameWithoutAskingTheKernel) {
  FakeMachine machine;
  machine.add_device({.name = "storage"});
  EXPECT_EQ(failure_of(machine, {"eth0", "storage"}), ExitCode::name_taken);
  EXPECT_THAT(machine.kernel.attached, IsEmpty());
}

TEST(Add, ReportsAMissingModule) {
  FakeMachine machine;
  std::filesystem::remove_all(machine.sysfs.root() / "module/sroce");
  machine.kernel.newlink_error = EINVAL;
  EXPECT_EQ(failure_of(machine, {"eth0", {}}), ExitCode::module_absent);
}

TEST(Add, ReportsAnInterfaceInUse) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0", .netdev = "eth0"}, "rxe");
  machine.kernel.newlink_error = EEXIST;
  try {
    add(machine, {"eth0", {}});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::interface_in_use);
    EXPECT_THAT(failure.what(), HasSubstr("already has the device sroce0"));
  }
}

TEST(Add, NamesTheRxeDeviceIfThePortIsTaken) {
  FakeMachine machine;
  machine.add_device({.name = "rxe_wan", .netdev = "eth1"});
  machine.kernel.newlink_error = EADDRINUSE;
  try {
    add(machine, {"eth0", {}});
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::port_taken);
    EXPECT_THAT(failure.cure(), HasSubstr("rdma link delete rxe_wan"));
  }
}

}  // namespace
}  // namespace sroce
