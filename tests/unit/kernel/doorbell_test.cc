// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Doorbell suppression, whose policy is in the engine: kernel/datapath/doorbell.c.
#include <gtest/gtest.h>

#include "unit/kernel/send_ring.h"

extern "C" {
#include "datapath/doorbell.h"
}

namespace {

constexpr u64 START_NS = 1'000'000;

struct Doorbell : testing::Test, SendRing {
  Doorbell() {
    use_native();
    stand_in.now_ns = START_NS;
    current = this;
  }

  u64 update(u64 deadline_ns = SROCE_NEVER) { return sroce_doorbell_update(&qp, deadline_ns); }
  // The process has posted two requests since the last round, so it posts ahead.
  void find(u32 requests = 2) {
    for (u32 i = 0; i < requests; i++) sroce_db_fetched(&qp.db, true);
  }
  void grant() {
    find();
    update();
    ASSERT_TRUE(qp.db.active);
  }
  // No request has come in the time of the grant.
  void expire() { stand_in.now_ns = qp.db.poll_until_ns; }
  u32 no_doorbell() { return qp.sq_ring.head->no_doorbell; }

  static inline Doorbell* current;
};

TEST_F(Doorbell, GrantIsInTheRingAndTheTimerPolls) {
  find();
  const u64 deadline = update();
  EXPECT_EQ(1u, no_doorbell());
  EXPECT_EQ(qp.db.poll_until_ns, deadline);
  EXPECT_GT(deadline, START_NS);
}

TEST_F(Doorbell, EarlierDeadlineOfTheQueueStays) {
  find();
  EXPECT_EQ(START_NS + 1, update(START_NS + 1));
}

TEST_F(Doorbell, QueueWithoutRequestsIsNotPolled) {
  EXPECT_EQ(START_NS + 7, update(START_NS + 7));
  EXPECT_EQ(0u, no_doorbell());
  EXPECT_EQ(0u, cq.fetches);
}

TEST_F(Doorbell, RoundsWithRequestsAreCounted) {
  grant();
  EXPECT_EQ(1u, cq.fetches);
  stand_in.now_ns++;
  update();
  EXPECT_EQ(1u, cq.fetches) << "a round without any";
  find(1);
  update();
  EXPECT_EQ(2u, cq.fetches);
}

TEST_F(Doorbell, ProcessThatSleepsRings) {
  sroce_cq_req_notify(&cq.ibcq, IB_CQ_NEXT_COMP);
  find();
  EXPECT_EQ(SROCE_NEVER, update());
  EXPECT_EQ(0u, no_doorbell());
}

TEST_F(Doorbell, ProcessThatSleepsForReceivesRings) {
  sroce_cq receives = {};
  ASSERT_EQ(0, sroce_ring_init_cq(&receives.ring, 7, sizeof(ib_wc), false));
  qp.recv_cq = &receives;
  sroce_cq_req_notify(&receives.ibcq, IB_CQ_NEXT_COMP);
  find();
  update();
  EXPECT_EQ(0u, no_doorbell());
  qp.recv_cq = &cq;
  sroce_ring_fini(&receives.ring);
}

TEST_F(Doorbell, ExpiredGrantIsRevoked) {
  grant();
  expire();
  EXPECT_EQ(SROCE_NEVER, update());
  EXPECT_EQ(0u, no_doorbell());
  EXPECT_FALSE(qp.sq.again);
}

// The process has read the word before it was cleared, so it does not ring. Its request is visible
// behind the barrier.
TEST_F(Doorbell, RequestPostedWhileTheGrantEndsIsFound) {
  grant();
  expire();
  stand_in.process = [](void*) {
    if (current->posted) return;
    EXPECT_EQ(0u, current->no_doorbell()) << "looks before the process knows";
    current->post(1);
  };
  update();
  EXPECT_EQ(1u, posted);
  EXPECT_TRUE(qp.sq.again);
}

// Then responses run the queue.
TEST_F(Doorbell, RequestBehindAFullStorageWaits) {
  grant();
  post(SLOTS);
  fetch();
  qp.req.send = qp.req.posted;
  qp.db.found = 0;
  post(1);
  expire();
  update();
  EXPECT_EQ(0u, no_doorbell());
  EXPECT_FALSE(qp.sq.again);
}

// Only a doorbell enlarges the storage.
TEST_F(Doorbell, FullStorageEndsTheGrant) {
  grant();
  post(SLOTS + 1);
  fetch();
  update();
  EXPECT_EQ(0u, no_doorbell());
  EXPECT_FALSE(qp.db.active);
}

TEST_F(Doorbell, FullStorageWithNothingBehindItKeepsTheGrant) {
  grant();
  post(SLOTS);
  fetch();
  update();
  EXPECT_EQ(1u, no_doorbell());
}

TEST_F(Doorbell, RequestsThatAreSentLaterNeedNoTimer) {
  post(2);
  fetch();
  EXPECT_EQ(SROCE_NEVER, update());
  EXPECT_EQ(1u, no_doorbell());
}

TEST_F(Doorbell, QueueThatDoesNotSendIsPolled) {
  sroce_requester_set_state(&qp.req, SROCE_SQ_DRAINING);
  post(2);
  fetch();
  EXPECT_NE(SROCE_NEVER, update());
}

// A full ring counts only if it cannot grow.
TEST_F(Doorbell, FullStorageNeedsTheTimerUntilItIsAsLargeAsTheRing) {
  post(SLOTS);
  fetch();
  qp.req.send = qp.req.posted;
  EXPECT_NE(SROCE_NEVER, update());
  qp.sq_ring.mask = SLOTS - 1;
  find();
  EXPECT_EQ(SROCE_NEVER, update());
}

TEST_F(Doorbell, UnreadCompletionsAreAHintOfTheCq) {
  cq.behind = true;
  find(1);
  update();
  EXPECT_EQ(1u, no_doorbell()) << "the process is busy";
}

TEST_F(Doorbell, PeerThatHasSentSomethingIsAwaited) {
  sroce_db_fetched(&qp.db, false);
  qp.db.epsn = sroce_responder_epsn(&qp.resp);
  update();
  EXPECT_EQ(1u, no_doorbell());
  expire();
  update();
  ASSERT_EQ(0u, no_doorbell());
  sroce_responder_start_psn(&qp.resp, 200);
  sroce_db_fetched(&qp.db, false);
  update();
  EXPECT_EQ(0u, no_doorbell()) << "one request for each message of the peer";
}

TEST_F(Doorbell, RoundWithoutADecisionSeesThePeerToo) {
  sroce_responder_start_psn(&qp.resp, 200);
  find(1);
  EXPECT_EQ(SROCE_NEVER, update());
  EXPECT_EQ(0u, no_doorbell());
  sroce_db_fetched(&qp.db, false);
  update();
  EXPECT_EQ(1u, no_doorbell()) << "the peer has sent nothing since";
}

}  // namespace
