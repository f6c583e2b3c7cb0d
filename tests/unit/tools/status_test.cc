// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/status.h"

#include <gmock/gmock.h>

#include <sstream>

#include "fake_kernel.h"
#include "sroce/explain.h"

namespace sroce {
namespace {

using test::FakeMachine;
using test::is_sroce;
using ::testing::HasSubstr;
using ::testing::Not;

std::string status(FakeMachine& machine, const StatusOptions& options) {
  std::ostringstream out;
  run_status(machine.system, options, out);
  return out.str();
}

class Status : public ::testing::Test {
 protected:
  Status() {
    machine.add_device({.index = 0, .name = "sroce0", .netdev = "eth0"}, is_sroce);
    machine.add_device({.index = 1, .name = "rxe_b", .netdev = "eth1"});
    machine.add_device({.index = 2, .name = "mlx5_0", .driver_id = 1, .netdev = "eth2"});
  }

  FakeMachine machine;
};

TEST_F(Status, ShowsOnlySroceDevices) {
  EXPECT_EQ(status(machine, {}),
            "DEVICE  DRIVER  NETDEV  NETNS      STATE   MTU   QPS\n"
            "sroce0  sroce   eth0    (current)  ACTIVE  1024  1\n");
}

TEST_F(Status, AllIncludesRxeButNotHardware) {
  const std::string text = status(machine, {.all = true});
  EXPECT_THAT(text, HasSubstr("sroce0"));
  EXPECT_THAT(text, HasSubstr("rxe_b   rdma_rxe"));
  EXPECT_THAT(text, Not(HasSubstr("mlx5_0")));
}

TEST_F(Status, ShowsOnlyTheNamedDevice) {
  const std::string text = status(machine, {.name = "rxe_b", .all = true, .format = Format::json});
  EXPECT_THAT(text, HasSubstr("\"device\": \"rxe_b\""));
  EXPECT_THAT(text, Not(HasSubstr("sroce0")));
}

TEST_F(Status, ExplainsWhyTheNamedDeviceIsNotShown) {
  const std::pair<const char*, ExitCode> table[] = {{"rxe_b", ExitCode::not_sroce},
                                                    {"mlx5_0", ExitCode::not_sroce},
                                                    {"sroce1", ExitCode::no_such_device}};
  for (const auto& [name, code] : table) {
    try {
      status(machine, {.name = name});
      ADD_FAILURE() << name;
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.code(), code) << name;
    }
  }
}

TEST_F(Status, SucceedsWithoutDevices) {
  machine.kernel.devices.clear();
  EXPECT_THAT(status(machine, {}), HasSubstr("no sroce devices"));
  EXPECT_EQ(status(machine, {.format = Format::json}), "[]\n");
}

}  // namespace
}  // namespace sroce
