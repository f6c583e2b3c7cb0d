// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "doorbell.h"

#include <gtest/gtest.h>

#include "bell.h"
#include "kernel_ring.h"

namespace {

using sroce::DeferredDoorbell;
using sroce::DoorbellList;

/// A send queue with meaningless requests: only its indices matter.
struct Queue {
  explicit Queue(DoorbellList& send, DoorbellList& receive)
      : ring(*shared.open<sroce_send_slot>()), doorbell(bell.doorbell(), ring, send, receive) {}

  int post(std::uint32_t count = 1) {
    ring.publish(count);
    EXPECT_EQ(doorbell.ring_or_defer(), 0);
    return bell.rings();
  }

  SharedQueue shared{256, 64};
  Bell bell;
  sroce::ProducerRing<sroce_send_slot> ring;
  DeferredDoorbell doorbell;
};

class DeferredDoorbellTest : public testing::Test {
 protected:
  DoorbellList send, receive;
  Queue queue{send, receive};
};

TEST_F(DeferredDoorbellTest, RingsWithoutSuppression) {
  EXPECT_EQ(queue.post(), 1);
  EXPECT_EQ(queue.post(), 1);
  EXPECT_TRUE(send.is_empty());
}

TEST_F(DeferredDoorbellTest, PollerOfEitherCqRingsOnce) {
  queue.shared.suppress_doorbell(true);
  for (DoorbellList* list : {&send, &receive}) {
    EXPECT_EQ(queue.post(), 0);
    EXPECT_EQ(queue.post(), 0);
    EXPECT_FALSE(list->is_empty());
    list->ring_idle();
    EXPECT_EQ(queue.bell.rings(), 1);
    EXPECT_TRUE(list->is_empty());
    (list == &send ? receive : send).ring_idle();
    EXPECT_EQ(queue.bell.rings(), 0) << "it is no longer due";
  }
}

TEST_F(DeferredDoorbellTest, FetchedRequestsNeedNoDoorbell) {
  queue.shared.suppress_doorbell(true);
  EXPECT_EQ(queue.post(3), 0);
  queue.shared.fetch(3);
  send.ring_idle();
  EXPECT_EQ(queue.bell.rings(), 0);
  EXPECT_TRUE(send.is_empty());
}

TEST_F(DeferredDoorbellTest, PollerWaitsWhileKernelIsBusy) {
  queue.shared.suppress_doorbell(true);
  queue.post(100);
  queue.shared.fetch(100);
  EXPECT_EQ(queue.post(), 0);
  send.ring_idle();
  EXPECT_EQ(queue.bell.rings(), 0) << "an acknowledgement will make the kernel poll";
  EXPECT_FALSE(send.is_empty());
  queue.shared.consume(98);
  send.ring_idle();
  EXPECT_EQ(queue.bell.rings(), 1) << "the kernel may run out of work";
}

TEST_F(DeferredDoorbellTest, SleeperRingsEvenIfKernelIsBusy) {
  queue.shared.suppress_doorbell(true);
  queue.post(100);
  queue.shared.fetch(100);
  queue.post();
  receive.ring_all();
  EXPECT_EQ(queue.bell.rings(), 1);
}

TEST_F(DeferredDoorbellTest, EveryPostRingsWhileCqIsArmed) {
  queue.shared.suppress_doorbell(true);
  receive.set_armed(true);
  EXPECT_EQ(queue.post(), 1);
  receive.set_armed(false);
  EXPECT_EQ(queue.post(), 0);
}

TEST_F(DeferredDoorbellTest, RungDoorbellIsNoLongerDue) {
  queue.shared.suppress_doorbell(true);
  EXPECT_EQ(queue.post(), 0);
  queue.shared.suppress_doorbell(false);
  EXPECT_EQ(queue.post(), 1);
  send.ring_idle();
  EXPECT_EQ(queue.bell.rings(), 0);
}

TEST_F(DeferredDoorbellTest, DestroyedQueueLeavesTheLists) {
  Queue other(send, send);
  for (Queue* each : {&queue, &other}) {
    each->shared.suppress_doorbell(true);
    EXPECT_EQ(each->post(), 0);
  }
  queue.doorbell.leave_lists();
  EXPECT_TRUE(receive.is_empty());
  send.ring_idle();
  EXPECT_EQ(queue.bell.rings(), 0);
  EXPECT_EQ(other.bell.rings(), 1) << "the other queue stays listed";
}

TEST_F(DeferredDoorbellTest, IndicesMayWrap) {
  queue.shared.suppress_doorbell(true);
  queue.shared.head().producer = queue.shared.head().fetched = queue.shared.head().consumer =
      0xffffffff;
  EXPECT_EQ(queue.post(2), 0);
  EXPECT_EQ(queue.ring.unfetched(), 2u);
  queue.shared.fetch(2);
  EXPECT_EQ(queue.ring.unfetched(), 0u);
  EXPECT_EQ(queue.ring.unfinished(), 2u);
}

}  // namespace
