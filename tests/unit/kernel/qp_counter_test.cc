// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Sets of counters that QPs are bound to: kernel/control/qp_counter.c.
#include <gtest/gtest.h>

#include "stand_in/rdma_counter.h"
#include "unit/kernel/queue_pair.h"

extern "C" {
#include "control/qp_counter.h"
}

namespace {

struct QpCounter : testing::Test, QueuePair {
  QpCounter() {
    xa_init_flags(&dev.counter_sets, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
    for (rdma_counter* each : {&first, &second}) {
      each->device = &dev.ibdev;
      each->stats = sroce_qp_counter_alloc_stats(each);
    }
  }
  ~QpCounter() override {
    sroce_qp_counters_fini(&dev);
    free(first.stats);
    free(second.stats);
  }
  void count(u64 n) { sroce_count_add(sroce_qp_counters(&qp), SROCE_CTR_RDMA_SEND, n); }
  u64 of_device() { return sroce_counter_sum(dev.ep.counters, SROCE_CTR_RDMA_SEND); }
  u64 of(rdma_counter& counter) {
    stand_in.loaded = [](void*) { EXPECT_EQ(1u, stand_in.rcu_readers) << "it may be freed"; };
    EXPECT_EQ(0, sroce_qp_counter_update_stats(&counter));
    EXPECT_EQ(0u, stand_in.rcu_readers);
    return counter.stats->value[SROCE_CTR_RDMA_SEND];
  }

  rdma_counter first = {};
  rdma_counter second = {};
};

TEST_F(QpCounter, BoundQpCountsInItsSetOnly) {
  count(1);
  ASSERT_EQ(0, sroce_qp_counter_bind(&first, &qp.ibqp));
  EXPECT_EQ(&first, qp.ibqp.counter);
  EXPECT_EQ(SROCE_CTR_COUNT, first.stats->num_counters);
  count(10);
  EXPECT_EQ(10u, of(first));
  EXPECT_EQ(1u, of_device());
  EXPECT_EQ(0, sroce_qp_counter_unbind(&qp.ibqp));
  EXPECT_EQ(nullptr, qp.ibqp.counter);
  count(100);
  EXPECT_EQ(10u, of(first));
  EXPECT_EQ(101u, of_device());
  EXPECT_EQ(0, sroce_qp_counter_dealloc(&first));
  EXPECT_TRUE(xa_empty(&dev.counter_sets));
}

TEST_F(QpCounter, EachCounterHasItsOwnNumberAndSet) {
  ASSERT_EQ(0, sroce_qp_counter_bind(&first, &qp.ibqp));
  count(1);
  sroce_qp_counter_unbind(&qp.ibqp);
  ASSERT_EQ(0, sroce_qp_counter_bind(&second, &qp.ibqp));
  count(20);
  EXPECT_NE(0u, first.id);
  EXPECT_NE(first.id, second.id);
  sroce_qp_counter_unbind(&qp.ibqp);
  const u32 id = first.id;
  ASSERT_EQ(0, sroce_qp_counter_bind(&first, &qp.ibqp)) << "another QP";
  EXPECT_EQ(id, first.id);
  count(3);
  EXPECT_EQ(4u, of(first));
  EXPECT_EQ(20u, of(second));
  sroce_qp_counter_unbind(&qp.ibqp);
}

TEST_F(QpCounter, SetIsFreedWhenNobodyCountsInItAnyMore) {
  ASSERT_EQ(0, sroce_qp_counter_bind(&first, &qp.ibqp));
  static sroce_counters* counters;
  static u32 waits;
  of(first);
  counters = sroce_qp_counters(&qp);
  waits = 0;
  sroce_qp_counter_unbind(&qp.ibqp);
  // A packet that found the set before counts in it meanwhile.
  stand_in.process = [](void*) {
    waits++;
    sroce_count(counters, SROCE_CTR_RDMA_SEND);
  };
  EXPECT_EQ(0, sroce_qp_counter_dealloc(&first));
  stand_in.process = nullptr;
  EXPECT_EQ(1u, waits);
  EXPECT_EQ(1u, of_device()) << "ib_core has not seen it in the set";
}

TEST_F(QpCounter, QpIsBoundToOneCounterOnly) {
  ASSERT_EQ(0, sroce_qp_counter_bind(&first, &qp.ibqp));
  EXPECT_EQ(-EINVAL, sroce_qp_counter_bind(&second, &qp.ibqp)) << "ib_core looked before";
  EXPECT_EQ(0u, second.id) << "ib_core frees it at once";
  EXPECT_EQ(nullptr, xa_load(&dev.counter_sets, first.id + 1));
  EXPECT_EQ(-EINVAL, sroce_qp_counter_bind(&first, &qp.ibqp));
  EXPECT_NE(0u, first.id);
  EXPECT_EQ(&first, qp.ibqp.counter);
  count(5);
  EXPECT_EQ(5u, of(first));
  EXPECT_EQ(0, sroce_qp_counter_unbind(&qp.ibqp));
  EXPECT_EQ(-EINVAL, sroce_qp_counter_unbind(&qp.ibqp));
}

TEST_F(QpCounter, ListedCounterKeepsItsValuesWhenItsSetHasGone) {
  ASSERT_EQ(0, sroce_qp_counter_bind(&first, &qp.ibqp));
  count(5);
  EXPECT_EQ(5u, of(first));
  sroce_qp_counter_unbind(&qp.ibqp);
  EXPECT_EQ(0, sroce_qp_counter_dealloc(&first));
  ASSERT_EQ(0, sroce_qp_counter_bind(&second, &qp.ibqp));
  count(7);
  EXPECT_EQ(-ENOENT, sroce_qp_counter_update_stats(&first)) << "the port has its values";
  EXPECT_EQ(5u, first.stats->value[SROCE_CTR_RDMA_SEND]) << "not those of the next counter";
  EXPECT_EQ(0u, of_device());
  sroce_qp_counter_unbind(&qp.ibqp);
}

// It is listed until its last readers have gone.
TEST_F(QpCounter, CounterThatIsGoingTakesNoQp) {
  ASSERT_EQ(0, sroce_qp_counter_bind(&first, &qp.ibqp));
  sroce_qp_counter_unbind(&qp.ibqp);
  EXPECT_EQ(0, sroce_qp_counter_dealloc(&first));
  EXPECT_EQ(-EINVAL, sroce_qp_counter_bind(&first, &qp.ibqp));
  EXPECT_EQ(nullptr, qp.ibqp.counter);
  EXPECT_EQ(dev.ep.counters, sroce_qp_counters(&qp));
}

TEST_F(QpCounter, WithoutMemoryNothingIsBound) {
  for (u32 failing = 1; failing <= 3; failing++) {
    stand_in.fail_allocation = failing;
    EXPECT_EQ(-ENOMEM, sroce_qp_counter_bind(&first, &qp.ibqp)) << failing;
    EXPECT_EQ(nullptr, qp.ibqp.counter);
    EXPECT_EQ(dev.ep.counters, sroce_qp_counters(&qp));
    EXPECT_TRUE(xa_empty(&dev.counter_sets));
  }
}

}  // namespace
