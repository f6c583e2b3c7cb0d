// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The counters of a port: kernel/control/stats.c, net/counters.c.
#include <gtest/gtest.h>

#include "unit/kernel/packets.h"

extern "C" {
#include "control/stats.h"
#include "datapath/device.h"
}

namespace {

struct Stats : testing::Test {
  Stats() {
    stand_in = {};
    dev.ep.counters = counters;
    stats = sroce_alloc_hw_port_stats(&dev.ibdev, 1);
  }
  ~Stats() override { free(stats); }
  int get(int index, u32 port = 1) { return sroce_get_hw_stats(&dev.ibdev, stats, port, index); }

  sroce_device dev = {};
  sroce_counters counters[STAND_IN_CPUS] = {};
  rdma_hw_stats* stats;
};

TEST_F(Stats, AllCountersHaveANameAndAValue) {
  EXPECT_EQ(SROCE_CTR_COUNT, stats->num_counters);
  EXPECT_EQ(sroce_counter_descs, stats->descs);
  for (const rdma_stat_desc& desc : sroce_counter_descs) EXPECT_TRUE(desc.name && *desc.name);
  stats->value[SROCE_CTR_COUNT] = 77;
  counters[0].value[SROCE_CTR_COUNT - 1] = 5;
  for (int index : {0, 3, int{SROCE_CTR_COUNT}}) {
    stats->value[SROCE_CTR_COUNT - 1] = 0;
    EXPECT_EQ(SROCE_CTR_COUNT, get(index));
    EXPECT_EQ(5u, stats->value[SROCE_CTR_COUNT - 1]);
  }
  EXPECT_EQ(77u, stats->value[SROCE_CTR_COUNT]) << "behind the last";
}

TEST_F(Stats, CpusAreAddedUp) {
  for (u32 cpu = 0; cpu < STAND_IN_CPUS; cpu++)
    counters[cpu].value[SROCE_CTR_DROP_LENGTH] = (1ull << 40) + cpu;
  get(0);
  EXPECT_EQ((2ull << 40) + 1, stats->value[SROCE_CTR_DROP_LENGTH]);
}

TEST_F(Stats, MemoryOfReorderQueuesIsThatOfNow) {
  counters[0].value[SROCE_CTR_REORDER_BYTES] = 9;
  dev.reorder_bytes.counter = 4000;
  get(0);
  EXPECT_EQ(4000u, stats->value[SROCE_CTR_REORDER_BYTES]);
  dev.reorder_bytes.counter = 100;
  get(0);
  EXPECT_EQ(100u, stats->value[SROCE_CTR_REORDER_BYTES]);
}

TEST_F(Stats, ThereIsOnePort) {
  counters[0].value[0] = 5;
  for (u32 port : {0u, 2u}) EXPECT_EQ(-EINVAL, get(0, port));
  EXPECT_EQ(0u, stats->value[0]);
}

TEST_F(Stats, AllocationMayFail) {
  stand_in.fail_allocation = 1;
  EXPECT_EQ(nullptr, sroce_alloc_hw_port_stats(&dev.ibdev, 1));
}

}  // namespace
