// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Routes of QPs when their namespace ends: kernel/datapath/route_release.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

extern "C" {
#include "datapath/route_release.h"
}

namespace {

struct Routes : testing::Test, QueuePair {
  Routes() {
    qp.sq.dst = qp.rq.dst = &route;
    stand_in.dst_refs = 2;
  }
  void queue_cnp(sroce_wq* wq) { __skb_queue_tail(&wq->out, alloc_skb(0, 0)); }

  dst_entry route = {};
};

TEST_F(Routes, BothQueuesReleaseTheirs) {
  sroce_routes_release(&dev.ep);
  EXPECT_EQ(nullptr, qp.sq.dst);
  EXPECT_EQ(nullptr, qp.rq.dst);
  EXPECT_EQ(0, stand_in.dst_refs);
  sroce_routes_release(&dev.ep);
  EXPECT_EQ(0, stand_in.dst_refs);
}

TEST_F(Routes, PacketsThatWaitForTheTimerAreDropped) {
  for (sroce_wq* wq : {&qp.sq, &qp.rq}) queue_cnp(wq);
  sroce_routes_release(&dev.ep);
  EXPECT_TRUE(skb_queue_empty(&qp.sq.out));
  EXPECT_TRUE(skb_queue_empty(&qp.rq.out));
}

TEST_F(Routes, RunnerKeepsItsPackets) {
  qp.rq.running = true;
  queue_cnp(&qp.rq);
  sroce_routes_release(&dev.ep);
  EXPECT_EQ(nullptr, qp.rq.dst);
  EXPECT_FALSE(skb_queue_empty(&qp.rq.out));
  __skb_queue_purge(&qp.rq.out);
}

TEST_F(Routes, WithoutQueuePairsNothingHappens) {
  stand_in_datapath.qp = nullptr;
  sroce_routes_release(&dev.ep);
  EXPECT_EQ(2, stand_in.dst_refs);
}

}  // namespace
