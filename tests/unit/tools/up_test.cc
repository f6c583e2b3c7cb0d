// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/up.h"

#include <gmock/gmock.h>

#include <cerrno>
#include <sstream>

#include "fake_kernel.h"
#include "sroce/explain.h"
#include "sroce/genl.h"

namespace sroce {
namespace {

using test::FakeMachine;
using test::is_sroce;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr char storage[] = "[device]\ninterface = eth0\nname = storage\nparam.cc = delay\n";

/// A machine with a file of devices, whose module shows new devices in sysfs.
struct Up {
  explicit Up(const std::string& text) {
    files.write("a.conf", text);
    machine.kernel.on_new_link = [this](const std::string& name) {
      machine.sysfs.write("class/infiniband/" + name + "/sroce/abi_version", "103\n");
    };
  }

  UpOptions options(unsigned wait_seconds = 0) const {
    return {.files = {(files.root() / "a.conf").string()}, .wait_seconds = wait_seconds};
  }
  std::string up(const UpOptions& options) {
    std::ostringstream out, err;
    EXPECT_EQ(run_up(machine.system, options, out, err), ExitCode::success) << err.str();
    return out.str();
  }
  std::string up() { return up(options()); }
  std::string down() {
    std::ostringstream out, err;
    EXPECT_EQ(run_down(machine.system, options(), out, err), ExitCode::success) << err.str();
    return out.str();
  }
  /// The first code, and all that is reported.
  Failure failure_of(const UpOptions& options) {
    std::ostringstream out, err;
    const ExitCode code = run_up(machine.system, options, out, err);
    return {code, err.str(), ""};
  }

  test::TemporaryTree files;
  FakeMachine machine;
};

TEST(Up, AddsADeviceWithRoceV1) {
  Up test("[device]\ninterface = eth0\nv1 = yes\n");
  test.up();
  EXPECT_EQ(test.machine.kernel.attached, std::vector<std::string>{"eth0 v1"});
}

TEST(Up, AddsTheDeviceAndSetsItsParameters) {
  Up test(storage);
  EXPECT_EQ(test.up(), "storage on eth0\nstorage: cc delay\n");
  EXPECT_THAT(test.machine.kernel.attached, ElementsAre("eth0"));
  const std::vector<genl::Setting> settings{{"cc", "delay"}};
  const Request expected = genl::set_request(test::fake_family, "storage", settings);
  ASSERT_EQ(test.machine.module.requests.size(), 1u);
  EXPECT_EQ(test.machine.module.requests[0],
            Bytes(expected.bytes().begin(), expected.bytes().end()));
}

TEST(Up, SaysThatThereIsNothingToDo) {
  Up test("# nothing yet\n");
  EXPECT_THAT(test.up(), AllOf(StartsWith("there is no [device] in /"), EndsWith("/a.conf\n")));
  EXPECT_EQ(test.down(), test.up());
  UpOptions options = test.options();
  options.interface_ = "eth0";
  EXPECT_EQ(test.up(options), "") << "udev asks for each interface";
}

TEST(Up, KeepsADeviceThatIsThere) {
  Up test(storage);
  test.up();
  EXPECT_EQ(test.up(), "storage on eth0 already\nstorage: cc delay\n");
  EXPECT_THAT(test.machine.kernel.attached, ElementsAre("eth0"));
}

TEST(Up, NeedsNoRdmaIfTheInterfaceIsAbsent) {
  Up test("[device]\ninterface = eth9\n");
  std::filesystem::remove_all(test.machine.sysfs.root() / "module/sroce");
  test.machine.kernel.has_rdma = false;
  EXPECT_EQ(test.up(), "eth9: no such interface yet\n");
  EXPECT_THAT(test.machine.loaded_modules, IsEmpty());
}

TEST(Up, WaitsForAnInterface) {
  Up test("[device]\ninterface = eth9\n");
  const Failure failure = test.failure_of(test.options(2));
  EXPECT_EQ(failure.code(), ExitCode::no_such_interface);
  EXPECT_THAT(failure.what(), HasSubstr("a.conf:1: there is no interface eth9"));
  EXPECT_EQ(test.machine.sleeps, 20);
  test.machine.on_sleep = [&] {
    test.machine.interfaces.push_back("eth9");
    test.machine.route.links.push_back({"eth9"});
  };
  EXPECT_EQ(test.up(test.options(2)), "sroce0 on eth9\n");
}

TEST(Up, TakesEachInterfaceThatMatches) {
  Up test("[device]\ninterface = eth*\n");
  EXPECT_EQ(test.up(), "sroce0 on eth0\nsroce1 on eth1\n");
}

TEST(Up, TakesAnInterfaceByItsMacAddress) {
  Up test("[device]\ninterface = 52:54:00:AB:00:01\n");
  test.machine.sysfs.write("class/net/eth1/address", "52:54:00:ab:00:01\n");
  EXPECT_EQ(test.up(), "sroce0 on eth1\n");
}

TEST(Up, TakesNoInterfaceThatHasTheMacAddressOfAnother) {
  Up test("[device]\ninterface = 52:54:00:ab:00:01\n");
  for (const char* name : {"eth0", "eth1", "lo"})
    test.machine.sysfs.write(std::string("class/net/") + name + "/address", "52:54:00:ab:00:01\n");
  test.machine.sysfs.write("class/net/eth0/addr_assign_type", "2\n");
  test.machine.sysfs.write("class/net/eth1/addr_assign_type", "0\n");
  test.machine.sysfs.write("class/net/lo/bridge/bridge_id", "\n");
  EXPECT_EQ(test.up(), "sroce0 on eth1\n");
}

constexpr char by_mac[] = "[device]\ninterface = 52:54:00:ab:00:01\n";
const std::vector<unsigned char> first_mac{0x52, 0x54, 0, 0xab, 0, 1};
const std::vector<unsigned char> second_mac{0x52, 0x54, 0, 0xab, 0, 2};

TEST(Up, TakesTheMemberOfABondByItsPermanentMacAddress) {
  Up test(by_mac);
  for (const char* name : {"eth0", "eth1"})  // the bond gives its members the address of one
    test.machine.sysfs.write(std::string("class/net/") + name + "/address", "52:54:00:ab:00:02\n");
  test.machine.route.links = {{.name = "lo"},
                              {.name = "eth0", .permanent_mac = second_mac},
                              {.name = "eth1", .permanent_mac = first_mac}};
  EXPECT_EQ(test.up(), "sroce0 on eth1\n");
}

TEST(Up, TakesTheMasterOfAnInterfaceThatHasItsMacAddress) {
  Up test(by_mac);
  test.machine.route.links = {{.name = "lo"},
                              {.name = "eth0", .master_index = 3, .permanent_mac = first_mac},
                              {.name = "eth1", .permanent_mac = first_mac}};
  EXPECT_EQ(test.up(), "sroce0 on eth1\n");
}

TEST(Up, TakesTheInterfaceBelowThoseThatHaveItsMacAddress) {
  Up test(by_mac);
  test.machine.route.links = {
      {.name = "lo"},
      {.name = "sec0", .kind = "macsec", .lower_index = 3, .permanent_mac = first_mac},
      {.name = "eth1", .permanent_mac = first_mac},
      {.name = "on_sec0", .kind = "macvlan", .lower_index = 2, .permanent_mac = first_mac}};
  EXPECT_EQ(test.up(), "sroce0 on eth1\n");
}

TEST(Up, TakesAnInterfaceOnOneWithAnotherMacAddress) {
  Up test(by_mac);
  test.machine.route.links = {
      {.name = "lo"},
      {.name = "eth0", .permanent_mac = second_mac},
      {.name = "eth1", .kind = "macvlan", .lower_index = 2, .permanent_mac = first_mac}};
  EXPECT_EQ(test.up(), "sroce0 on eth1\n");
}

TEST(Up, RejectsAMacAddressOfSeveralInterfaces) {
  Up test(by_mac);
  for (size_t i : {1, 2}) test.machine.route.links[i].permanent_mac = first_mac;
  const Failure failure = test.failure_of(test.options());
  EXPECT_EQ(failure.code(), ExitCode::bad_file);
  EXPECT_THAT(failure.what(), HasSubstr("a.conf:1: several interfaces have the address "
                                        "52:54:00:ab:00:01: eth0, eth1"));
  EXPECT_THAT(test.machine.kernel.attached, IsEmpty());
}

TEST(Up, FollowsAnInterfaceThatGetsAnotherName) {
  Up test(storage);
  test.machine.kernel.on_new_link = [&](const std::string& name) {
    test.machine.sysfs.write("class/infiniband/" + name + "/sroce/abi_version", "103\n");
    test.machine.route.links[1].name = "ens3";
    test.machine.kernel.devices.back().netdev = "ens3";
  };
  EXPECT_EQ(test.up(), "storage on eth0\nstorage on ens3 already\nstorage: cc delay\n");
}

/// The interface eth0 is called ens3 as soon as "up" has listed it.
void rename_after_listing(FakeMachine& machine) {
  machine.route.on_links_listed = [&machine] {
    machine.route.links[1].name = machine.interfaces[1] = "ens3";
  };
}

TEST(Up, AsksAgainWhetherASectionMeansAnInterfaceThatGetsAnotherName) {
  Up exact(storage);
  rename_after_listing(exact.machine);
  EXPECT_EQ(exact.up(), "eth0: it is ens3 now\n");
  EXPECT_THAT(exact.machine.kernel.attached, IsEmpty());
  Up pattern("[device]\ninterface = e*\n");
  rename_after_listing(pattern.machine);
  EXPECT_EQ(pattern.up(), "sroce0 on ens3\nsroce1 on eth1\n");
}

TEST(Up, ReportsAnInterfaceThatGoes) {
  Up test(storage);
  test.machine.kernel.on_new_link = [&](const std::string&) {
    test.machine.route.links[1].name = "";
    test.machine.kernel.devices.clear();
  };
  EXPECT_EQ(test.failure_of(test.options()).code(), ExitCode::no_such_device);
}

TEST(Up, LeavesOutWhatAPatternMatchesButCannotCarryRoce) {
  Up test("[device]\ninterface = eth*\n");
  test.machine.kernel.newlink_error = EOPNOTSUPP;
  EXPECT_EQ(test.up(),
            "eth0: left out, because it cannot carry RoCE\n"
            "eth1: left out, because it cannot carry RoCE\n");
  Up exact("[device]\ninterface = eth0\n");
  exact.machine.kernel.newlink_error = EOPNOTSUPP;
  EXPECT_EQ(exact.failure_of(exact.options()).code(), ExitCode::interface_unsupported);
}

TEST(Up, TakesOnlyTheInterfaceThatTheCallerNames) {
  Up test("[device]\ninterface = eth*\n");
  UpOptions options = test.options(5);
  options.interface_ = "eth1";
  EXPECT_EQ(test.up(options), "sroce0 on eth1\n");
  options.interface_ = "wlan0";
  EXPECT_EQ(test.up(options), "");
  EXPECT_EQ(test.machine.sleeps, 0);
}

TEST(Up, HasOneInterfaceForAName) {
  Up test("[device]\ninterface = eth*\nname = storage\n");
  const Failure failure = test.failure_of(test.options());
  EXPECT_EQ(failure.code(), ExitCode::bad_file);
  EXPECT_THAT(failure.what(), HasSubstr("a.conf:1: one name for several interfaces: eth0, eth1"));
  EXPECT_THAT(test.machine.kernel.attached, IsEmpty());
}

TEST(Up, HasOneInterfaceForANameAlsoIfTheCallerNamesOne) {
  Up test("[device]\ninterface = eth*\nname = storage\n");
  UpOptions options = test.options();
  options.interface_ = "eth1";
  const Failure failure = test.failure_of(options);
  EXPECT_EQ(failure.code(), ExitCode::bad_file);
  EXPECT_THAT(failure.what(), HasSubstr("a.conf:1: one name for several interfaces: eth0, eth1"));
  EXPECT_THAT(test.machine.kernel.attached, IsEmpty());
  options.interface_ = "lo";
  EXPECT_EQ(test.up(options), "");
}

TEST(Up, GoesOnAfterAFailure) {
  Up test(
      "[device]\ninterface = eth0\nname = storage\n"
      "[device]\ninterface = eth*\nparam.ecn = 0\n"
      "[device]\ninterface = eth9\n");
  test.machine.add_device({.name = "other", .netdev = "eth0"}, is_sroce);
  test.machine.module.error = EINVAL;
  const Failure failure = test.failure_of(test.options(1));
  EXPECT_EQ(failure.code(), ExitCode::interface_in_use);
  EXPECT_THAT(failure.what(), HasSubstr("a.conf:1: interface 'eth0' has the device other"));
  EXPECT_THAT(failure.what(), HasSubstr("a.conf:4: cannot set 'other'"));
  EXPECT_THAT(failure.what(), HasSubstr("a.conf:4: cannot set 'sroce0'"));
  EXPECT_THAT(failure.what(), HasSubstr("a.conf:7: there is no interface eth9"));
  EXPECT_THAT(test.machine.kernel.attached, ElementsAre("eth1"));
}

TEST(Up, DoesNotRenameADevice) {
  Up test(storage);
  test.machine.add_device({.name = "other", .netdev = "eth0"}, is_sroce);
  const Failure failure = test.failure_of(test.options());
  EXPECT_EQ(failure.code(), ExitCode::interface_in_use);
  EXPECT_THAT(failure.what(),
              HasSubstr("a.conf:1: interface 'eth0' has the device other, not storage"));
}

TEST(Up, TakesTheDeviceThatAnotherProcessAdds) {
  Up test(storage);
  test.machine.kernel.newlink_error = EEXIST;
  // The module is absent until "add" loads it. Meanwhile udev adds the device.
  std::filesystem::remove_all(test.machine.sysfs.root() / "module/sroce");
  test.machine.system.load_modules = [&](const std::vector<std::string>&) {
    test.machine.sysfs.write("module/sroce/refcnt", "0\n");
    test.machine.add_device({.name = "udevs", .netdev = "eth0"}, is_sroce);
  };
  EXPECT_EQ(test.failure_of(test.options()).code(), ExitCode::interface_in_use);
  Up unnamed("[device]\ninterface = eth0\nparam.ecn = 0\n");
  unnamed.machine.kernel.newlink_error = EEXIST;
  std::filesystem::remove_all(unnamed.machine.sysfs.root() / "module/sroce");
  unnamed.machine.system.load_modules = [&](const std::vector<std::string>&) {
    unnamed.machine.sysfs.write("module/sroce/refcnt", "0\n");
    unnamed.machine.add_device({.name = "udevs", .netdev = "eth0"}, is_sroce);
  };
  EXPECT_EQ(unnamed.up(), "udevs: ecn 0\n");
}

TEST(Up, TakesTheNamedDeviceThatAnotherProcessAdds) {
  Up test(storage);
  std::filesystem::remove_all(test.machine.sysfs.root() / "module/sroce");
  test.machine.system.load_modules = [&](const std::vector<std::string>&) {
    test.machine.sysfs.write("module/sroce/refcnt", "0\n");
    test.machine.add_device({.name = "storage", .netdev = "eth0"}, is_sroce);
  };
  EXPECT_EQ(test.up(), "storage: cc delay\n");
  Up elsewhere(storage);
  elsewhere.machine.add_device({.name = "storage", .netdev = "eth1"}, is_sroce);
  EXPECT_EQ(elsewhere.failure_of(elsewhere.options()).code(), ExitCode::name_taken);
}

TEST(Up, NamesThePlaceOfABadParameter) {
  Up test(storage);
  test.machine.module.error = EINVAL;
  const Failure failure = test.failure_of(test.options());
  EXPECT_EQ(failure.code(), ExitCode::bad_parameter);
  EXPECT_THAT(failure.what(), HasSubstr("a.conf:1: cannot set 'storage'"));
}

TEST(Down, RemovesTheDevicesOfTheFiles) {
  Up test("[device]\ninterface = eth*\n");
  test.up();
  EXPECT_EQ(test.down(), "sroce0 removed\nsroce1 removed\n");
  EXPECT_EQ(test.down(), "");
}

TEST(Down, GoesOnAfterAFailure) {
  Up test("[device]\ninterface = eth*\n");
  test.up();
  test.machine.kernel.dellink_error = EPERM;
  std::ostringstream out, err;
  EXPECT_EQ(run_down(test.machine.system, test.options(), out, err), ExitCode::no_permission);
  EXPECT_THAT(err.str(), HasSubstr("'sroce0'"));
  EXPECT_THAT(err.str(), HasSubstr("'sroce1'"));
}

TEST(Down, LeavesOtherDevices) {
  Up test(storage);
  test.machine.add_device({.index = 0, .name = "other", .netdev = "eth0"}, is_sroce);
  test.machine.add_device({.index = 1, .name = "mine", .netdev = "eth1"}, is_sroce);
  EXPECT_EQ(test.down(), "");
  EXPECT_EQ(test.machine.kernel.devices.size(), 2u);
}

}  // namespace
}  // namespace sroce
