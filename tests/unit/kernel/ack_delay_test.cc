// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Delayed and piggybacked ACKs: kernel/datapath/ack_delay.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

extern "C" {
#include "datapath/ack_delay.h"
#include "datapath/tx.h"
#include "transport/reorder.h"
}

namespace {

// A QP of a consumer in the kernel that has received a SEND, and is about to be called back.
struct AckDelay : testing::Test, QueuePair {
  AckDelay() {
    refcount_set(&ref.users, 1);
    refcount_set(&other.users, 1);
    ref.qp = &qp;
    qp.ref = &ref;
    qp.rq.wake = true;
    qp.consumer_replies = true;
    current = this;
  }
  ~AckDelay() override {
    EXPECT_EQ(1u, ref.users.count);
    qp.ref = nullptr;
  }
  void receive_send() {
    qp.resp.ack_psn = 100;
    qp.resp.ack_pending = true;
  }
  sroce_response_plan plan() {
    sroce_response_plan plan = {};
    EXPECT_TRUE(sroce_response_plan_next(&qp.resp, 1, &plan));
    return plan;
  }
  bool begin() {
    const sroce_response_plan next = plan();
    spin_lock_bh(&qp.rq.lock);
    const bool delayed = sroce_ack_delay_begin(&qp, &next);
    spin_unlock_bh(&qp.rq.lock);
    return delayed;
  }
  bool ack_is_due() {
    sroce_response_plan plan = {};
    return sroce_response_plan_next(&qp.resp, 1, &plan);
  }
  // A round of the send queue.
  void piggyback() {
    sroce_tx tx;
    spin_lock_bh(&qp.sq.lock);
    sroce_tx_init(&tx, &qp, &qp.sq);
    sroce_ack_piggyback(&tx);
    spin_unlock_bh(&qp.sq.lock);
    EXPECT_FALSE(qp.rq.lock.locked);
    __skb_queue_purge(&qp.sq.out);
  }
  u32 reserved() {
    sroce_tx tx;
    sroce_tx_init(&tx, &qp, &qp.sq);
    sroce_ack_piggyback_reserve(&tx);
    return tx.builder.piggyback_bytes;
  }

  static inline AckDelay* current;
  sroce_qp_ref ref = {};
  sroce_qp_ref other = {};
};

TEST_F(AckDelay, AckWaitsForAConsumerThatReplies) {
  receive_send();
  ASSERT_TRUE(begin());
  EXPECT_TRUE(qp.ack_delayed);
  EXPECT_EQ(&ref, cq.delayed_ack_qp);
  EXPECT_EQ(1u, count(SROCE_CTR_ACK_DEFERRED));
  EXPECT_FALSE(qp.consumer_replies) << "until it sends again";
  EXPECT_TRUE(ack_is_due()) << "for the engine it has not been sent";
  sroce_ack_delay_cancel(&qp);
}

TEST_F(AckDelay, ConsumerThatOnlyReceivesDelaysOneAck) {
  receive_send();
  ASSERT_TRUE(begin());
  sroce_ack_delay_cancel(&qp);
  EXPECT_FALSE(begin());
}

TEST_F(AckDelay, NobodyIsCalledBack) {
  receive_send();
  qp.rq.wake = false;
  EXPECT_FALSE(begin());
  qp.rq.wake = true;
  cq.is_user = true;
  EXPECT_FALSE(begin()) << "a process is scheduled, which takes too long";
  EXPECT_TRUE(qp.consumer_replies);
  EXPECT_EQ(nullptr, cq.delayed_ack_qp);
}

TEST_F(AckDelay, UrgentResponsesDoNotWait) {
  receive_send();
  sroce_response_plan read = plan();
  read.kind = SROCE_RESPONSE_READ;
  EXPECT_FALSE(sroce_ack_delay_begin(&qp, &read));
  EXPECT_TRUE(qp.consumer_replies);
}

TEST_F(AckDelay, OneQpOfACqAtATime) {
  receive_send();
  cq.delayed_ack_qp = &other;
  EXPECT_FALSE(begin());
  EXPECT_FALSE(qp.ack_delayed);
  EXPECT_EQ(&other, cq.delayed_ack_qp);
  EXPECT_EQ(0u, count(SROCE_CTR_ACK_DEFERRED));
}

TEST_F(AckDelay, DuplicatesPauseIt) {
  receive_send();
  qp.rq.timer_defer_ns = 1000;
  sroce_ack_delay_suspend(&qp);
  EXPECT_EQ(0u, qp.rq.timer_defer_ns);
  EXPECT_FALSE(begin());
}

// A reset has forgotten the ACK, and the queue has nothing to do.
TEST_F(AckDelay, EndsWithTheNextRound) {
  receive_send();
  ASSERT_TRUE(begin());
  qp.resp.ack_pending = false;
  u32 budget = 1;
  sroce_rq_work(&qp, &budget);
  EXPECT_FALSE(qp.ack_delayed);
  EXPECT_EQ(nullptr, cq.delayed_ack_qp);
}

TEST_F(AckDelay, CancelForgetsOnlyItsOwnQp) {
  receive_send();
  ASSERT_TRUE(begin());
  cq.delayed_ack_qp = &other;
  sroce_ack_delay_cancel(&qp);
  EXPECT_FALSE(qp.ack_delayed);
  EXPECT_EQ(&other, cq.delayed_ack_qp);
}

TEST_F(AckDelay, CancelDoesNotTouchAnIdleCq) {
  cq.delayed_ack_qp = &ref;
  sroce_ack_delay_cancel(&qp);
  EXPECT_EQ(&ref, cq.delayed_ack_qp);
}

TEST_F(AckDelay, RequestTakesTheAckAlong) {
  receive_send();
  ASSERT_TRUE(begin());
  piggyback();
  EXPECT_EQ(1u, stand_in_datapath.packets);
  EXPECT_EQ(SROCE_OP_ACK, stand_in_datapath.packet.opcode);
  EXPECT_EQ(100u, stand_in_datapath.packet.psn);
  EXPECT_FALSE(ack_is_due());
  EXPECT_FALSE(qp.ack_delayed);
  EXPECT_EQ(nullptr, cq.delayed_ack_qp);
  EXPECT_TRUE(qp.consumer_replies);
}

TEST_F(AckDelay, RequestWithoutADelayedAckOnlyNotesTheReply) {
  receive_send();
  qp.consumer_replies = false;
  piggyback();
  EXPECT_EQ(0u, stand_in_datapath.packets);
  EXPECT_TRUE(qp.consumer_replies);
}

// The receive queue sends what is due itself, and in order.
TEST_F(AckDelay, RunningReceiveQueueKeepsItsAck) {
  receive_send();
  ASSERT_TRUE(begin());
  qp.rq.running = true;
  piggyback();
  qp.rq.running = false;
  EXPECT_EQ(0u, stand_in_datapath.packets);
  EXPECT_TRUE(qp.ack_delayed);
  sroce_ack_delay_cancel(&qp);
}

// Between the look and the lock the receive queue has sent it.
TEST_F(AckDelay, AckThatIsSentMeanwhileIsNotSentAgain) {
  receive_send();
  ASSERT_TRUE(begin());
  spin_lock_bh(&qp.sq.lock);
  sroce_tx tx;
  sroce_tx_init(&tx, &qp, &qp.sq);
  stand_in.locking = [](void*) { sroce_ack_delay_cancel(&current->qp); };
  sroce_ack_piggyback(&tx);
  spin_unlock_bh(&qp.sq.lock);
  EXPECT_EQ(0u, stand_in_datapath.packets);
}

TEST_F(AckDelay, PacketThatCannotBeBuiltLeavesTheAck) {
  receive_send();
  ASSERT_TRUE(begin());
  stand_in_datapath.tx_error = -ENOMEM;
  piggyback();
  EXPECT_TRUE(ack_is_due());
  EXPECT_TRUE(qp.ack_delayed);
  sroce_ack_delay_cancel(&qp);
}

// A later request has made a NAK due.
TEST_F(AckDelay, UrgentResponseIsNotTaken) {
  receive_send();
  ASSERT_TRUE(begin());
  qp.resp.nak_pending = true;
  piggyback();
  EXPECT_EQ(0u, stand_in_datapath.packets);
  qp.resp.nak_pending = false;
  sroce_ack_delay_cancel(&qp);
}

TEST_F(AckDelay, NothingIsDueAnyMore) {
  qp.ack_delayed = true;
  piggyback();
  EXPECT_EQ(0u, stand_in_datapath.packets);
  qp.ack_delayed = false;
}

// READ responses that are paced must not be overtaken.
TEST_F(AckDelay, AckDepartsWithTheResponses) {
  receive_send();
  ASSERT_TRUE(begin());
  qp.resp.cc.edt_ns = 777;
  stand_in_datapath.edt_ns = 0;
  piggyback();
  EXPECT_EQ(sroce_cc_edt_ns(&qp.resp.cc), stand_in_datapath.edt_ns);
  EXPECT_NE(0u, stand_in_datapath.edt_ns);
}

TEST_F(AckDelay, SpaceForAnAck) {
  EXPECT_EQ(12u + 4 + 4, reserved());
  qp.req.sent_psn++;
  EXPECT_EQ(0u, reserved()) << "a retransmission has an skb of its own";
}

TEST_F(AckDelay, TurnOfTheConsumerEndsIt) {
  receive_send();
  ASSERT_TRUE(begin());
  rounds = 0;
  qp.rq.wake = false;
  on_work = [this](u32*) {
    EXPECT_EQ(2u, ref.users.count) << "the QP cannot go meanwhile";
    sroce_ack_delay_cancel(&qp);
    return SROCE_NEVER;
  };
  sroce_ack_delay_end(&cq);
  EXPECT_EQ(1u, rounds);
  EXPECT_EQ(nullptr, cq.delayed_ack_qp);
  EXPECT_EQ(0u, stand_in.scheduled);
  sroce_ack_delay_end(&cq);
  EXPECT_EQ(1u, rounds) << "nothing is delayed";
}

// It would be called back from its own call.
TEST_F(AckDelay, ConsumerIsNotCalledBackFromItsTurn) {
  receive_send();
  ASSERT_TRUE(begin());
  cq.ibcq.comp_handler = [](ib_cq*, void*) { FAIL(); };
  sroce_ack_delay_end(&cq);
  EXPECT_TRUE(qp.rq.wake);
  sroce_ack_delay_cancel(&qp);
}

TEST_F(AckDelay, HardInterruptLetsABhWorkSend) {
  for (bool* context : {&stand_in.hardirq, &stand_in.irqs_off}) {
    cq.delayed_ack_qp = &ref;
    *context = true;
    rounds = 0;
    sroce_ack_delay_end(&cq);
    *context = false;
    EXPECT_EQ(0u, rounds);
  }
  EXPECT_EQ(2u, stand_in.scheduled);
}

TEST_F(AckDelay, QpThatGoesIsLeftAlone) {
  cq.delayed_ack_qp = &ref;
  ref.users.count = 0;
  rounds = 0;
  sroce_ack_delay_end(&cq);
  EXPECT_EQ(0u, rounds);
  EXPECT_EQ(nullptr, cq.delayed_ack_qp);
  ref.users.count = 1;
}

}  // namespace
