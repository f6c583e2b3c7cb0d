// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Loading and unloading the module: kernel/main.c.
#include <gtest/gtest.h>

#include "stand_in/attach.h"
#include "stand_in/load.h"
#include "stand_in/wait.h"

extern "C" {
#include "control/attach.h"
#include "datapath/device.h"
}

namespace {

struct Main : testing::Test {
  Main() {
    stand_in = {};
    stand_in_attach = {};
    stand_in_control = {};
    stand_in_load = {};
    stand_in_wait = {};
    stand_in_load.at_step = [](char) {
      EXPECT_EQ(1, stand_in.workqueues) << "page faults need it while there is a device";
      EXPECT_EQ(0u, stand_in_wait.barriers) << "packets outlive everything else";
    };
  }
  ~Main() override {
    EXPECT_EQ(0, stand_in.workqueues);
    stand_in = {};
    stand_in_load = {};
    stand_in_wait = {};
  }
};

TEST_F(Main, LinksComeLastAndGoFirst) {
  ASSERT_EQ(0, stand_in_init());
  EXPECT_STREQ("negll", stand_in_load.steps);
  stand_in_exit();
  EXPECT_STREQ("negllLLGEN", stand_in_load.steps);
  EXPECT_EQ(1u, stand_in_wait.barriers) << "it has waited for packets";
}

TEST_F(Main, FailureAtAnyStepUndoesTheOthers) {
  const struct {
    char fails;
    const char* steps;
  } failures[] = {{'n', "n"}, {'e', "neN"}, {'g', "negEN"}};
  for (const auto& failure : failures) {
    memset(stand_in_load.steps, 0, sizeof(stand_in_load.steps));
    stand_in_load.fails = failure.fails;
    EXPECT_EQ(-EBUSY, stand_in_init());
    EXPECT_STREQ(failure.steps, stand_in_load.steps);
    EXPECT_EQ(0, stand_in.workqueues);
  }
}

TEST_F(Main, WithoutMemoryNothingIsRegistered) {
  stand_in.fail_allocation = 2;
  EXPECT_EQ(-ENOMEM, stand_in_init());
  EXPECT_STREQ("", stand_in_load.steps);
  stand_in.fail_allocation = 1;
  EXPECT_EQ(0, stand_in_init()) << "the CRC does without";
  stand_in_exit();
}

// Nothing attaches any more, and neither netlink nor events find a device.
TEST_F(Main, DevicesGoBetweenTheirUsersAndTheNetwork) {
  ASSERT_EQ(0, stand_in_init());
  ::net net = {};
  net_device netdev = {};
  netdev.net = &net;
  stand_in_control.speed_error = -EOPNOTSUPP;
  ASSERT_EQ(0, sroce_device_attach("sroce0", &netdev, false));
  stand_in_load.at_step = [](char step) { EXPECT_EQ(step != 'N', stand_in_attach.devices); };
  stand_in_exit();
  EXPECT_EQ(0, stand_in_attach.devices);
}

}  // namespace
