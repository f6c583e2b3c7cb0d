// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Allocating memory windows: kernel/verbs/mw.c.
#include <gtest/gtest.h>

#include "unit/kernel/memory.h"

extern "C" {
#include "datapath/device.h"
#include "verbs/verbs.h"
}

namespace {

struct Mw : testing::Test {
  Mw() {
    stand_in = {};
    sroce_memory_init(&dev.memory);
    mw.ibmw.device = &dev.ibdev;
    mw.ibmw.pd = &pd;
  }
  ~Mw() override {
    sroce_memory_fini(&dev.memory);  // warns of windows that are left
    EXPECT_EQ(0u, stand_in.uncharged);
    stand_in = {};
  }

  sroce_device dev = {};
  ib_pd pd = {};
  sroce_mw mw = {};
};

TEST_F(Mw, TypeAndDomainAreTaken) {
  for (ib_mw_type type : {IB_MW_TYPE_1, IB_MW_TYPE_2}) {
    mw.ibmw.type = type;
    ASSERT_EQ(0, sroce_alloc_mw(&mw.ibmw, nullptr));
    EXPECT_EQ(type == IB_MW_TYPE_1 ? SROCE_REGION_WINDOW_1 : SROCE_REGION_WINDOW_2,
              mw.region->kind);
    EXPECT_EQ(&pd, mw.region->pd);
    EXPECT_EQ(mw.ibmw.rkey, mw.region->key);
    EXPECT_NE(0u, mw.ibmw.rkey);
    EXPECT_EQ(0, sroce_dealloc_mw(&mw.ibmw));
  }
}

TEST_F(Mw, UnknownTypeIsRejected) {
  for (int type : {0, 3}) {
    mw.ibmw.type = ib_mw_type(type);
    EXPECT_EQ(-EINVAL, sroce_alloc_mw(&mw.ibmw, nullptr));
  }
}

TEST_F(Mw, NeedsMemory) {
  mw.ibmw.type = IB_MW_TYPE_2;
  for (int i : {1, 2}) {
    stand_in.fail_allocation = i;
    EXPECT_EQ(-ENOMEM, sroce_alloc_mw(&mw.ibmw, nullptr));
  }
}

}  // namespace
