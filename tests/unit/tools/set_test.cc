// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/set.h"

#include <gmock/gmock.h>

#include <sstream>

#include "fake_kernel.h"
#include "sroce/explain.h"
#include "sroce/genl.h"
#include "sroce_netlink.h"

namespace sroce {
namespace {

using test::Attributes;
using test::FakeMachine;
using ::testing::HasSubstr;

std::string set(FakeMachine& machine, const std::vector<std::string>& pairs) {
  std::ostringstream out;
  run_set(machine.system, {"sroce0", pairs}, out);
  return out.str();
}

Failure failure_of(FakeMachine& machine, const std::vector<std::string>& pairs) {
  try {
    set(machine, pairs);
  } catch (const Failure& failure) {
    return failure;
  }
  return {ExitCode::success, "", ""};
}

TEST(Set, SendsAllParametersInOneRequest) {
  FakeMachine machine;
  EXPECT_EQ(set(machine, {"cc", "dcqcn", "rp_ai_rate", "5"}), "sroce0: cc dcqcn, rp_ai_rate 5\n");
  const std::vector<genl::Setting> settings{{"cc", "dcqcn"}, {"rp_ai_rate", 5u}};
  const Request expected = genl::set_request(test::fake_family, "sroce0", settings);
  ASSERT_EQ(machine.module.requests.size(), 1u);
  EXPECT_EQ(machine.module.requests[0], Bytes(expected.bytes().begin(), expected.bytes().end()));
}

TEST(Set, RequiresAValueForEachName) {
  FakeMachine machine;
  const Failure failure = failure_of(machine, {"ecn", "1", "cc"});
  EXPECT_EQ(failure.code(), ExitCode::usage);
  EXPECT_STREQ(failure.what(), "'cc' has no value");
  EXPECT_TRUE(machine.module.requests.empty());
}

TEST(Set, RejectsNumbersThatAreTooLarge) {
  FakeMachine machine;
  EXPECT_EQ(failure_of(machine, {"ecn", "4294967296"}).code(), ExitCode::bad_parameter);
  EXPECT_TRUE(machine.module.requests.empty());
}

TEST(Set, PrintsTheMessageOfTheKernel) {
  FakeMachine machine;
  machine.module.error = ERANGE;
  machine.module.extended_ack = "rp_gd: 12 is not in 10 to 11";
  const Failure failure = failure_of(machine, {"rp_gd", "12"});
  EXPECT_EQ(failure.code(), ExitCode::bad_parameter);
  EXPECT_STREQ(failure.what(), "cannot set 'sroce0': rp_gd: 12 is not in 10 to 11");
  EXPECT_EQ(failure.cure(), "to see the ranges: sroce show sroce0");
}

Bytes device_with_cc() {
  Attributes cc;
  cc.text(SROCE_A_PARAM_NAME, "cc");
  for (const int number :
       {SROCE_A_PARAM_VALUE, SROCE_A_PARAM_MIN, SROCE_A_PARAM_MAX, SROCE_A_PARAM_DEFAULT})
    cc.u32(static_cast<uint16_t>(number), 1);
  cc.text(SROCE_A_PARAM_CHOICE, "none").text(SROCE_A_PARAM_CHOICE, "dcqcn");
  return test::family_payload(Attributes()
                                  .u32(SROCE_A_DEV_INDEX, 0)
                                  .text(SROCE_A_DEV_NAME, "sroce0")
                                  .nest(SROCE_A_PARAM | NLA_F_NESTED, cc));
}

TEST(Set, SaysWhatTheParameterTakesInstead) {
  constexpr char see[] = "to see the parameters: sroce show sroce0";
  FakeMachine machine;
  machine.module.error = EINVAL;
  machine.module.replies = {device_with_cc()};
  EXPECT_EQ(failure_of(machine, {"cc", "cubic"}).cure(),
            std::string("cc takes none, dcqcn\n") + see);
  EXPECT_EQ(failure_of(machine, {"cd", "dcqcn"}).cure(), std::string("did you mean cc?\n") + see);
  EXPECT_EQ(failure_of(machine, {"rp_ai_rate", "1"}).cure(), see);
  EXPECT_EQ(failure_of(machine, {"cc", "dcqcn"}).cure(), see);
  machine.module.replies = {{}};
  EXPECT_EQ(failure_of(machine, {"cc", "cubic"}).cure(), see) << "the reply is no device";
}

TEST(Set, AddsAReasonIfAnOlderKernelOnlyNamesTheParameter) {
  FakeMachine machine;
  machine.module.error = EINVAL;
  machine.module.extended_ack = "rp_xyz";
  EXPECT_STREQ(
      failure_of(machine, {"rp_xyz", "12"}).what(),
      "cannot set 'sroce0': the kernel does not accept this parameter or value (kernel: rp_xyz)");
}

TEST(Set, MapsEveryErrnoToAnExitCode) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "rxe0"});
  const std::vector<std::pair<int, ExitCode>> causes{{EPERM, ExitCode::no_permission},
                                                     {EINVAL, ExitCode::bad_parameter},
                                                     {ENODEV, ExitCode::no_such_device},
                                                     {EIO, ExitCode::other}};
  for (const auto& [error, code] : causes) {
    machine.module.error = error;
    EXPECT_EQ(failure_of(machine, {"ecn", "1"}).code(), code) << error;
  }
}

TEST(Set, ReportsADeviceOfAnotherDriver) {
  FakeMachine machine;
  machine.add_device({.index = 0, .name = "sroce0"});
  machine.module.error = ENODEV;
  EXPECT_EQ(failure_of(machine, {"ecn", "1"}).code(), ExitCode::not_sroce);
}

TEST(Set, ReportsAnAbsentModule) {
  FakeMachine machine;
  machine.module.loaded = false;
  const Failure failure = failure_of(machine, {"ecn", "1"});
  EXPECT_EQ(failure.code(), ExitCode::module_absent);
  EXPECT_THAT(failure.what(), HasSubstr("module"));
}

}  // namespace
}  // namespace sroce
