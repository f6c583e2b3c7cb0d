// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/add.h"

#include <gmock/gmock.h>
#include <linux/if_addr.h>

#include <cerrno>
#include <functional>
#include <sstream>

#include "fake_kernel.h"
#include "sroce/explain.h"

namespace sroce {
namespace {

using test::FakeMachine;
using test::is_sroce;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string run(FakeMachine& machine, const AddOptions& options) {
  std::ostringstream out;
  run_add(machine.system, options, out);
  return out.str();
}

/// Without waiting.
std::string add(FakeMachine& machine, const std::string& netdev,
                const std::optional<std::string>& name = {}) {
  return run(machine, {.netdev = netdev, .name = name, .wait = false});
}

Failure failure_of(FakeMachine& machine, const AddOptions& options) {
  try {
    run(machine, options);
  } catch (const Failure& failure) {
    return failure;
  }
  return {ExitCode::success, "", ""};
}

ExitCode code_of(FakeMachine& machine, const std::string& netdev,
                 const std::optional<std::string>& name = {}) {
  return failure_of(machine, {.netdev = netdev, .name = name, .wait = false}).code();
}

/// A machine whose eth0 has two addresses, and whose first device gets the GIDs of both.
void set_up_ready(FakeMachine& machine) {
  machine.route.links[1].addresses = {{"10.0.0.2"}, {"fd00::2"}};
  machine.add_gid("sroce0", 0, "fe80:0000:0000:0000:5054:00ff:fe00:0001", "eth0");
  machine.add_gid("sroce0", 1, "0000:0000:0000:0000:0000:ffff:0a00:0002", "eth0");
  machine.add_gid("sroce0", 2, "fd00:0000:0000:0000:0000:0000:0000:0002", "eth0");
  for (const char* module : {"ib_uverbs", "rdma_ucm"})
    machine.sysfs.write(std::string("module/") + module + "/refcnt", "0\n");
}

TEST(Add, PicksTheNextFreeName) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "sroce0"}, is_sroce);
  EXPECT_EQ(add(machine, "eth1"), "sroce1 on eth1\n");
  EXPECT_THAT(machine.kernel.attached, ElementsAre("eth1"));
}

TEST(Add, UsesTheGivenName) {
  FakeMachine machine;
  EXPECT_EQ(add(machine, "eth0", "storage"), "storage on eth0\n");
  EXPECT_EQ(machine.kernel.devices.at(0).name, "storage");
}

TEST(Add, AsksForRoceV1) {
  FakeMachine machine;
  run(machine, {.netdev = "eth0", .roce_v1 = true, .wait = false});
  run(machine, {.netdev = "eth1", .name = "storage", .roce_v1 = true, .wait = false});
  EXPECT_THAT(machine.kernel.attached, ElementsAre("eth0 v1", "eth1 v1"));
}

TEST(Add, SkipsNamesHiddenInOtherNamespaces) {
  for (const int error : {EEXIST, ENFILE}) {
    FakeMachine machine;
    machine.kernel.name_clash_error = error;
    machine.add_device({.index = 0, .name = "sroce0", .visible = false});
    machine.add_device({.index = 1, .name = "sroce1", .visible = false});
    EXPECT_EQ(add(machine, "eth0"), "sroce2 on eth0\n");
  }
}

TEST(Add, RejectsAnExplicitNameHiddenInAnotherNamespace) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "storage", .visible = false});
  EXPECT_EQ(code_of(machine, "eth0", "storage"), ExitCode::name_taken);
}

TEST(Add, ChecksArgumentsBeforeAskingTheKernel) {
  FakeMachine machine;
  machine.kernel.has_rdma = false;  // any exchange would throw SubsystemAbsent
  EXPECT_EQ(code_of(machine, "eth9"), ExitCode::no_such_interface);
  EXPECT_EQ(code_of(machine, "eth0", "siw0"), ExitCode::bad_name);
  EXPECT_THROW(add(machine, "eth0"), SubsystemAbsent);
}

TEST(Add, RejectsATakenNameWithoutAskingTheKernel) {
  FakeMachine machine;
  machine.add_device({.name = "storage"});
  EXPECT_EQ(code_of(machine, "eth0", "storage"), ExitCode::name_taken);
  EXPECT_THAT(machine.kernel.attached, IsEmpty());
}

TEST(Add, ReportsAMissingModule) {
  FakeMachine machine;
  std::filesystem::remove_all(machine.sysfs.root() / "module/sroce");
  machine.kernel.newlink_error = EINVAL;
  EXPECT_EQ(code_of(machine, "eth0"), ExitCode::module_absent);
}

TEST(Add, ReportsAnInterfaceInUse) {
  FakeMachine machine;
  machine.add_device({.name = "sroce0", .netdev = "eth0"}, is_sroce);
  machine.kernel.newlink_error = EEXIST;
  try {
    add(machine, "eth0");
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
    add(machine, "eth0");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.code(), ExitCode::port_taken);
    EXPECT_THAT(failure.cure(), HasSubstr("rdma link delete rxe_wan"));
  }
}

TEST(Add, AllowsANameOfRxe) {
  FakeMachine machine;
  EXPECT_EQ(add(machine, "eth0", "rxe0"), "rxe0 on eth0\n");
}

TEST(Add, LoadsTheModulesThatAreMissing) {
  FakeMachine machine;
  machine.sysfs.write("module/ib_uverbs/refcnt", "0\n");
  add(machine, "eth0");
  EXPECT_THAT(machine.loaded_modules, ElementsAre("rdma_ucm"));
  machine.loaded_modules.clear();
  machine.sysfs.write("module/rdma_ucm/refcnt", "0\n");
  add(machine, "eth1");
  EXPECT_THAT(machine.loaded_modules, IsEmpty());
}

TEST(Add, SaysWhichModuleIsMissing) {
  FakeMachine machine;
  set_up_ready(machine);
  std::filesystem::remove_all(machine.sysfs.root() / "module/rdma_ucm");
  const std::string out = run(machine, {.netdev = "eth0"});
  EXPECT_THAT(out, HasSubstr("missing: module rdma_ucm, which programs that use rdma_cm"));
  EXPECT_THAT(out, testing::Not(HasSubstr("try:")));
}

TEST(Add, PrintsTheGidsAndACommandToTry) {
  FakeMachine machine;
  set_up_ready(machine);
  EXPECT_EQ(run(machine, {.netdev = "eth0"}),
            "sroce0 on eth0, MTU 1024\n"
            "  GID 0  RoCE v2  fe80::5054:ff:fe00:1\n"
            "  GID 1  RoCE v2  10.0.0.2\n"
            "  GID 2  RoCE v2  fd00::2\n"
            "try: ibv_rc_pingpong -e -d sroce0 -g 1 & sleep 1; "
            "ibv_rc_pingpong -e -d sroce0 -g 1 10.0.0.2\n");
  EXPECT_EQ(machine.sleeps, 0);
}

TEST(Add, SuggestsNoGidOfRoceV1) {
  FakeMachine machine;
  set_up_ready(machine);
  machine.sysfs.write("class/infiniband/sroce0/ports/1/gid_attrs/types/1", "IB/RoCE v1\n");
  machine.on_sleep = [&] {
    machine.add_gid("sroce0", 3, "0000:0000:0000:0000:0000:ffff:0a00:0002", "eth0");
  };
  EXPECT_THAT(run(machine, {.netdev = "eth0", .roce_v1 = true}), HasSubstr("-g 3 10.0.0.2\n"));
  EXPECT_EQ(machine.sleeps, 1) << "it waits for the GID of RoCE v2";
}

TEST(Add, SuggestsAnIpv6AddressIfThereIsNoOther) {
  FakeMachine machine;
  set_up_ready(machine);
  machine.route.links[1].addresses = {{"fd00::2"}};
  std::filesystem::remove(machine.sysfs.root() / "class/infiniband/sroce0/ports/1/gids/1");
  EXPECT_THAT(run(machine, {.netdev = "eth0"}), HasSubstr("-g 2 fd00::2\n"));
  FakeMachine local;
  set_up_ready(local);
  local.route.links[1].addresses = {{"fe80::5054:ff:fe00:1"}};
  for (const char* index : {"1", "2"})
    std::filesystem::remove(local.sysfs.root() / "class/infiniband/sroce0/ports/1/gids" / index);
  EXPECT_THAT(run(local, {.netdev = "eth0"}), HasSubstr("-g 0 fe80::5054:ff:fe00:1%eth0\n"));
}

TEST(Add, WaitsForTheGidOfEachAddress) {
  FakeMachine machine;
  set_up_ready(machine);
  machine.route.links[1].addresses.push_back({"10.0.0.3"});
  machine.on_sleep = [&] {
    if (machine.sleeps == 3)
      machine.add_gid("sroce0", 3, "0000:0000:0000:0000:0000:ffff:0a00:0003", "eth0");
  };
  EXPECT_THAT(run(machine, {.netdev = "eth0"}), HasSubstr("GID 3  RoCE v2  10.0.0.3"));
  EXPECT_EQ(machine.sleeps, 3);
}

TEST(Add, DoesNotWaitIfAskedNotTo) {
  FakeMachine machine;
  EXPECT_EQ(add(machine, "eth0"), "sroce0 on eth0\n");
  EXPECT_EQ(machine.sleeps, 0);
}

/// The failure after waiting two seconds for a device whose machine was changed.
Failure failure_to_wait(const std::function<void(FakeMachine&)>& change) {
  FakeMachine machine;
  set_up_ready(machine);
  change(machine);
  const Failure failure = failure_of(machine, {.netdev = "eth0", .wait_seconds = 2});
  EXPECT_EQ(failure.code(), ExitCode::not_ready);
  EXPECT_THAT(failure.what(), HasSubstr("device sroce0 is added but not ready"));
  EXPECT_EQ(machine.kernel.devices.size(), 1u);
  EXPECT_EQ(machine.sleeps, 100);
  return failure;
}

TEST(Add, NamesTheCauseIfTheDeviceDoesNotBecomeReady) {
  const auto down = failure_to_wait([](FakeMachine& m) { m.route.links[1].up = false; });
  EXPECT_THAT(down.what(), HasSubstr("interface 'eth0' is down"));
  EXPECT_EQ(down.cure(), "to set it up: ip link set eth0 up");
  const auto cut = failure_to_wait([](FakeMachine& m) { m.route.links[1].carrier = false; });
  EXPECT_THAT(cut.what(), HasSubstr("no carrier"));
  const auto bare = failure_to_wait([](FakeMachine& m) { m.route.links[1].addresses.clear(); });
  EXPECT_THAT(bare.what(), HasSubstr("has no IP address"));
  const auto tentative = failure_to_wait([](FakeMachine& m) {
    m.route.links[1].addresses = {{"fd00::2", IFA_F_TENTATIVE}};
  });
  EXPECT_THAT(tentative.what(), HasSubstr("(DAD) of fd00::2 has not ended"));
  const auto duplicate = failure_to_wait([](FakeMachine& m) {
    m.route.links[1].addresses = {{"fd00::2", IFA_F_TENTATIVE | IFA_F_DADFAILED}};
  });
  EXPECT_THAT(duplicate.what(), HasSubstr("another host has its address fd00::2"));
  const auto lost =
      failure_to_wait([](FakeMachine& m) { m.route.links[1].addresses.push_back({"10.0.0.9"}); });
  EXPECT_THAT(lost.what(), HasSubstr("no GID of the address 10.0.0.9"));
  const auto inactive = failure_to_wait([](FakeMachine& m) {
    m.kernel.new_device_state = 1; /* down */
  });
  EXPECT_THAT(inactive.what(), HasSubstr("its port is not active"));
}

TEST(Add, IgnoresADuplicateAddressBesideAGoodOne) {
  FakeMachine machine;
  set_up_ready(machine);
  machine.route.links[1].addresses.push_back({"fd00::9", IFA_F_TENTATIVE | IFA_F_DADFAILED});
  EXPECT_THAT(run(machine, {.netdev = "eth0"}), HasSubstr("sroce0 on eth0"));
}

TEST(AddDummy, MakesAnInterfaceWithTheAddress) {
  FakeMachine machine;
  machine.interfaces.push_back("rdma0");
  EXPECT_EQ(run(machine, {.dummy = "10.99.0.1/24", .wait = false}), "sroce0 on rdma1\n");
  const test::FakeLink& link = machine.route.links.at(3);
  EXPECT_EQ(link.name, "rdma1");
  EXPECT_EQ(link.kind, "dummy");
  EXPECT_TRUE(link.up);
  EXPECT_EQ(link.addresses.at(0).text, "10.99.0.1");
}

TEST(AddDummy, TakesTheNextNameIfAnotherProcessWasFaster) {
  FakeMachine machine;
  machine.route.links.push_back({"rdma0"});
  EXPECT_EQ(run(machine, {.dummy = "10.99.0.1/24", .wait = false}), "sroce0 on rdma1\n");
}

TEST(AddDummy, TakesANameForTheDevice) {
  FakeMachine machine;
  EXPECT_EQ(run(machine, {.name = "storage", .dummy = "fd99::1/64", .wait = false}),
            "storage on rdma0\n");
}

TEST(AddDummy, LeavesNoInterfaceAfterAFailure) {
  for (const auto& fail : std::vector<std::function<void(FakeMachine&)>>{
           [](FakeMachine& m) { m.kernel.newlink_error = EADDRINUSE; },
           [](FakeMachine& m) { m.route.newaddr_error = EPERM; }}) {
    FakeMachine machine;
    fail(machine);
    EXPECT_NE(failure_of(machine, {.dummy = "10.99.0.1/24"}).code(), ExitCode::success);
    EXPECT_EQ(machine.route.links.at(3).name, "");
  }
}

TEST(AddDummy, RejectsAMalformedAddress) {
  FakeMachine machine;
  EXPECT_EQ(failure_of(machine, {.dummy = "10.99.0.1"}).code(), ExitCode::usage);
  EXPECT_EQ(machine.route.links.size(), 3u);
}

}  // namespace
}  // namespace sroce
