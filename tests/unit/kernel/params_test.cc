// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The parameters of a device: kernel/control/params.c.
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "stand_in/verbs.h"

extern "C" {
#include "control/params.h"
}

namespace {

struct Params : testing::Test {
  Params() { sroce_params_init(dev.get()); }

  std::unique_ptr<sroce_device> dev{new sroce_device{}};
};

TEST_F(Params, EachHasItsOwnFieldAndItsDefault) {
  std::set<std::string> names;
  u32 count = 0;
  while (const sroce_cc_param* param = sroce_param_at(count)) {
    EXPECT_TRUE(names.insert(param->name).second) << param->name;
    EXPECT_LE(param->min, param->initial) << param->name;
    EXPECT_LE(param->initial, param->max) << param->name;
    EXPECT_LT(0u, strlen(param->doc)) << param->name;
    EXPECT_EQ(param->initial, sroce_param_get(dev.get(), count)) << param->name;
    count++;
  }
  EXPECT_LT(10u, count);
  for (u32 i = 0; i < count; i++) {
    const sroce_cc_param* param = sroce_param_at(i);
    const u32 other = param->initial == param->max ? param->min : param->max;
    sroce_param_set(dev.get(), i, other);
    for (u32 j = 0; j < count; j++)
      EXPECT_EQ(j == i ? other : sroce_param_at(j)->initial, sroce_param_get(dev.get(), j))
          << param->name << " " << sroce_param_at(j)->name;
    sroce_param_set(dev.get(), i, param->initial);
  }
}

TEST_F(Params, OwnFieldsComeFirst) {
  const char* const names[] = {"cc", "ecn", "udp_checksum", "selective"};
  u32* const fields[] = {&dev->cc.algorithm, &dev->ecn, &dev->ep.udp_checksum, &dev->selective};
  for (u32 i = 0; i < 4; i++) {
    EXPECT_STREQ(names[i], sroce_param_at(i)->name);
    sroce_param_set(dev.get(), i, 77);
    EXPECT_EQ(77u, *fields[i]) << names[i];
  }
}

TEST_F(Params, EveryValueOfAChoiceHasAName) {
  for (u32 i = 0; sroce_param_at(i); i++) {
    const sroce_cc_param* param = sroce_param_at(i);
    if (!sroce_param_choice(i, param->min)) continue;
    std::set<std::string> names;
    for (u32 value = param->min; value <= param->max; value++) {
      ASSERT_TRUE(sroce_param_choice(i, value)) << param->name << value;
      EXPECT_TRUE(names.insert(sroce_param_choice(i, value)).second);
    }
    EXPECT_FALSE(sroce_param_choice(i, param->max + 1)) << param->name;
    EXPECT_FALSE(sroce_param_choice(i, U32_MAX)) << param->name;
  }
  EXPECT_STREQ("auto", sroce_param_choice(2, SROCE_UDP_CHECKSUM_AUTO));
  EXPECT_STREQ("off", sroce_param_choice(2, SROCE_UDP_CHECKSUM_OFF));
  EXPECT_FALSE(sroce_param_choice(1, 0)) << "a plain number";
}

}  // namespace
