// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/show.h"

#include <gtest/gtest.h>

#include <sstream>

#include "fake_kernel.h"
#include "sroce_netlink.h"

namespace sroce {
namespace {

using test::Attributes;
using test::FakeMachine;

genl::DeviceReply device() {
  return {4,
          "sroce0",
          1250000000,
          {{"cc", 2, 0, 2, 1, "", {"none", "dcqcn", "delay"}},
           {"ecn", 1, 0, 1, 1, "", {}},
           {"rp_ai_rate", 5, 0, 800000, 0, "Mb/s", {}}}};
}

TEST(Show, PrintsNamesValuesAndRanges) {
  EXPECT_EQ(parameter_table(device()),
            "sroce0: line rate 10Gbps\n"
            "\n"
            "PARAMETER   VALUE  DEFAULT  RANGE             UNIT\n"
            "cc          delay  dcqcn    none|dcqcn|delay  -\n"
            "ecn         1      1        0..1              -\n"
            "rp_ai_rate  5      0        0..800000         Mb/s\n");
}

TEST(Show, PrintsUnknownIfTheInterfaceHasNoLineRate) {
  genl::DeviceReply silent = device();
  silent.line_rate.reset();
  EXPECT_EQ(parameter_table(silent).substr(0, 26), "sroce0: line rate unknown\n");
}

TEST(Show, JsonNamesTheParameters) {
  genl::DeviceReply silent = device();
  silent.line_rate.reset();
  silent.parameters.erase(silent.parameters.begin() + 1);
  EXPECT_EQ(parameter_json(silent), R"({
  "device": "sroce0",
  "index": 4,
  "line_rate": null,
  "parameters": {
    "cc": {
      "value": "delay",
      "default": "dcqcn",
      "choices": [
        "none",
        "dcqcn",
        "delay"
      ]
    },
    "rp_ai_rate": {
      "value": 5,
      "default": 0,
      "min": 0,
      "max": 800000,
      "unit": "Mb/s"
    }
  }
}
)");
}

TEST(Show, AsksTheModuleForTheDevice) {
  FakeMachine machine;
  machine.module.replies = {test::family_payload(
      Attributes().u32(SROCE_A_DEV_INDEX, 4).text(SROCE_A_DEV_NAME, "sroce0"))};
  std::ostringstream out;
  run_show(machine.system, {.device = "sroce0"}, out);
  EXPECT_EQ(out.str(), "sroce0: line rate unknown\n\n");
  ASSERT_EQ(machine.module.requests.size(), 1u);
  EXPECT_EQ(machine.module.requests[0],
            test::family_request(test::fake_family, SROCE_CMD_DEV_GET, NLM_F_ACK,
                                 Attributes().text(SROCE_A_DEV_NAME, "sroce0")));
}

TEST(Show, ThrowsIfTheKernelSendsNoReply) {
  FakeMachine machine;
  std::ostringstream out;
  EXPECT_THROW(run_show(machine.system, {.device = "sroce0"}, out), MalformedMessage);
}

}  // namespace
}  // namespace sroce
