// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Life and states of a QP in the datapath: kernel/datapath/qp.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

extern "C" {
#include "datapath/av.h"
#include "datapath/route_release.h"
#include "stand_in/wait.h"
}

namespace {

struct QpState : testing::Test, QueuePair {
  explicit QpState(sroce_service service = SROCE_SERVICE_RC) : QueuePair(service) {
    stand_in_wait = {};
    netdev.mtu = 1500;
    dev.ep.netdev = &netdev;
    dev.selective = true;
    EXPECT_EQ(0, sroce_qp_datapath_init(&qp));
    sroce_requester_reset(&qp.req);
    sroce_responder_reset(&qp.resp);
    qp.state = IB_QPS_RESET;
    stand_in.scheduled = 0;
  }
  ~QpState() override {
    if (qp.ref) quiesce();
    EXPECT_EQ(0u, sroce_qp_count());
  }
  int set(ib_qp_state from, ib_qp_state to, int mask = 0) {
    const int err = sroce_qp_set_state(&qp, from, to, &attr, mask);
    EXPECT_FALSE(qp.sq.lock.locked || qp.rq.lock.locked || qp.sq_post_lock.locked);
    return err;
  }
  void reach(ib_qp_state state) {
    for (const auto next : {IB_QPS_INIT, IB_QPS_RTR, IB_QPS_RTS}) {
      if (qp.state == state) return;
      ASSERT_EQ(0, set(qp.state, next));
    }
    stand_in.scheduled = 0;
  }
  void quiesce() {
    if (!qp.sq.dying) sroce_qp_stop(&qp);
    sroce_qp_quiesce(&qp);
    stand_in_grace_period();
  }
  ib_qp_attr attr = {};
};

TEST_F(QpState, MustBeThatOfTheCheck) {
  EXPECT_EQ(-EINVAL, set(IB_QPS_INIT, IB_QPS_RTR));
  EXPECT_EQ(IB_QPS_RESET, qp.state);
  EXPECT_EQ(0u, stand_in.scheduled);
  EXPECT_EQ(0, set(IB_QPS_RESET, IB_QPS_INIT));
  EXPECT_EQ(IB_QPS_INIT, qp.state);
  EXPECT_EQ(2u, stand_in.scheduled) << "both queues look for work";
}

TEST_F(QpState, OnlyAttributesOfTheMaskAreApplied) {
  attr.dest_qp_num = 0xff000009;
  attr.path_mtu = IB_MTU_2048;
  attr.qp_access_flags = 3;
  attr.min_rnr_timer = 1;
  attr.rq_psn = 500;
  ASSERT_EQ(0, set(IB_QPS_RESET, IB_QPS_INIT));
  EXPECT_NE(9u, qp.resp.attr.dest_qpn);
  EXPECT_NE(3u, qp.resp.attr.access);
  ASSERT_EQ(0, set(IB_QPS_INIT, IB_QPS_RTR,
                   IB_QP_DEST_QPN | IB_QP_PATH_MTU | IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER |
                       IB_QP_RQ_PSN));
  EXPECT_EQ(9u, qp.resp.attr.dest_qpn);
  EXPECT_EQ(9u, qp.req.attr.dest_qpn);
  EXPECT_EQ(2048u, qp.resp.attr.mtu_bytes);
  EXPECT_EQ(2048u, qp.req.attr.mtu_bytes);
  EXPECT_EQ(3u, qp.resp.attr.access);
  EXPECT_EQ(1u, qp.resp.attr.min_rnr_timer);
  EXPECT_EQ(10'000u, qp.resp.attr.rnr_delay_ns);
  EXPECT_EQ(500u, sroce_responder_epsn(&qp.resp));
  attr.timeout = 1;
  attr.retry_cnt = 6;
  attr.rnr_retry = 5;
  attr.max_rd_atomic = 3;
  attr.sq_psn = 700;
  ASSERT_EQ(0, set(IB_QPS_RTR, IB_QPS_RTS,
                   IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC |
                       IB_QP_SQ_PSN));
  EXPECT_EQ(8192u, qp.req.attr.ack_timeout_ns);
  EXPECT_EQ(6u, qp.req.attr.retry_cnt);
  EXPECT_EQ(5u, qp.req.attr.rnr_retry);
  EXPECT_EQ(3u, qp.req.attr.max_rd_atomic);
  EXPECT_EQ(700u, qp.req.next_psn);
}

TEST_F(QpState, LongRnrDelayIsCut) {
  attr.min_rnr_timer = 31;  // 491 ms
  ASSERT_EQ(0, set(IB_QPS_RESET, IB_QPS_INIT, IB_QP_MIN_RNR_TIMER));
  EXPECT_EQ(1'000'000u, qp.resp.attr.rnr_delay_ns);
}

TEST_F(QpState, SelectiveRepeatIsDecidedBeforeThePeerIsKnown) {
  reach(IB_QPS_RTR);
  dev.selective = false;
  attr.timeout = attr.retry_cnt = 1;
  ASSERT_EQ(0, set(IB_QPS_RTR, IB_QPS_RTS, IB_QP_SQ_PSN | IB_QP_TIMEOUT | IB_QP_RETRY_CNT));
  EXPECT_TRUE(qp.req.attr.selective && qp.resp.attr.selective);
  EXPECT_EQ(1u, count(SROCE_CTR_SELECTIVE_OFFERED));
  ASSERT_EQ(0, set(IB_QPS_RTS, IB_QPS_RTS));
  EXPECT_EQ(1u, count(SROCE_CTR_SELECTIVE_OFFERED)) << "once for a connection";
}

TEST_F(QpState, DrainEventBelongsToItsDrain) {
  reach(IB_QPS_RTS);
  attr.en_sqd_async_notify = 1;
  ASSERT_EQ(0, set(IB_QPS_RTS, IB_QPS_SQD, IB_QP_EN_SQD_ASYNC_NOTIFY));
  EXPECT_TRUE(qp.sq_draining_notify);
  ASSERT_EQ(0, set(IB_QPS_SQD, IB_QPS_SQD)) << "attributes";
  EXPECT_TRUE(qp.sq_draining_notify);
  ASSERT_EQ(0, set(IB_QPS_SQD, IB_QPS_RTS));
  EXPECT_FALSE(qp.sq_draining_notify);
  ASSERT_EQ(0, set(IB_QPS_RTS, IB_QPS_SQD));
  EXPECT_FALSE(qp.sq_draining_notify);
}

TEST_F(QpState, FailingQueueIsNotStartedAgain) {
  reach(IB_QPS_RTS);
  sroce_requester_set_state(&qp.req, SROCE_SQ_ERROR);
  ASSERT_TRUE(sroce_requester_has_failed(&qp.req));
  EXPECT_EQ(-EBUSY, set(IB_QPS_RTS, IB_QPS_RTS));
  EXPECT_EQ(0u, stand_in.scheduled);
  qp.state = IB_QPS_SQE;
  EXPECT_EQ(0, set(IB_QPS_SQE, IB_QPS_RTS)) << "nothing is left in it";
  sroce_requester_set_state(&qp.req, SROCE_SQ_ERROR);
  qp.state = IB_QPS_RTS;
  EXPECT_EQ(0, set(IB_QPS_RTS, IB_QPS_ERR));
}

TEST_F(QpState, ErrorStopsBothEnds) {
  reach(IB_QPS_RTS);
  ASSERT_EQ(0, set(IB_QPS_RTS, IB_QPS_ERR));
  EXPECT_EQ(IB_QPS_ERR, qp.state);
  EXPECT_TRUE(sroce_requester_has_failed(&qp.req));
  EXPECT_EQ(SROCE_RQ_ERROR, qp.resp.state);
  EXPECT_EQ(2u, stand_in.scheduled) << "they flush";
  EXPECT_FALSE(qp.last_wqe_due) << "it has no shared queue";
}

TEST_F(QpState, ReceivesAreAnnouncedInErr) {
  sroce_queue_head head = {};
  qp.recv_queue->ring.head = &head;
  reach(IB_QPS_RTS);
  EXPECT_EQ(0u, head.needs_doorbell);
  ASSERT_EQ(0, set(IB_QPS_RTS, IB_QPS_ERR));
  EXPECT_EQ(1u, head.needs_doorbell);
  qp.recv_queue->ring.head = nullptr;
}

TEST_F(QpState, ErrorReportsTheLastRequestOfASharedQueueOnce) {
  sroce_srq srq = {};
  qp.srq = &srq;
  reach(IB_QPS_RTS);
  ASSERT_EQ(0, set(IB_QPS_RTS, IB_QPS_ERR));
  EXPECT_TRUE(qp.last_wqe_due);
  qp.last_wqe_due = false;
  ASSERT_EQ(0, set(IB_QPS_ERR, IB_QPS_ERR));
  EXPECT_FALSE(qp.last_wqe_due);
  qp.srq = nullptr;
}

// A queue has failed, and its lock has been dropped.
TEST_F(QpState, FollowsAQueueIntoError) {
  reach(IB_QPS_RTS);
  qp.sq.ops->failed(&qp, SROCE_SQ);
  EXPECT_EQ(IB_QPS_RTS, qp.state) << "it has been reset meanwhile";
  qp.resp.state = SROCE_RQ_FAILED;
  qp.rq.ops->failed(&qp, SROCE_RQ);
  EXPECT_EQ(IB_QPS_ERR, qp.state);
  EXPECT_EQ(2u, stand_in.scheduled);
  qp.rq.ops->failed(&qp, SROCE_RQ);
  EXPECT_EQ(2u, stand_in.scheduled) << "it is there already";
}

// The consumer has polled the completions of a queue that still has its lock.
TEST_F(QpState, StateFollowsWhatCompletionsHaveShown) {
  reach(IB_QPS_RTS);
  sroce_qp_settle_state(&qp);
  EXPECT_EQ(IB_QPS_RTS, qp.state);
  sroce_requester_set_state(&qp.req, SROCE_SQ_ERROR);
  sroce_qp_settle_state(&qp);
  EXPECT_EQ(IB_QPS_ERR, qp.state);
  EXPECT_EQ(2u, stand_in.scheduled);
  sroce_qp_settle_state(&qp);
  EXPECT_EQ(2u, stand_in.scheduled);
}

TEST_F(QpState, StateFollowsAFailedReceiveQueue) {
  reach(IB_QPS_RTS);
  qp.resp.state = SROCE_RQ_FAILED;
  sroce_qp_settle_state(&qp);
  EXPECT_EQ(IB_QPS_ERR, qp.state);
}

// Draining a queue moves the QP to ERR, whatever has happened to it meanwhile.
TEST_F(QpState, ErrorAndResetCanBeReachedFromAllStates) {
  reach(IB_QPS_RTS);
  qp.state = IB_QPS_SQE;
  EXPECT_EQ(0, set(IB_QPS_RTS, IB_QPS_ERR));
  EXPECT_EQ(IB_QPS_ERR, qp.state);
  EXPECT_EQ(0, set(IB_QPS_RTS, IB_QPS_RESET));
  EXPECT_EQ(IB_QPS_RESET, qp.state);
}

// They have no ACKs, so `delay` would keep them slow for ever after a few local drops.
TEST_F(QpState, ReadResponsesUseAnAlgorithmWithoutAcks) {
  sroce_cc_params_init(&dev.cc);
  dev.cc.algorithm = SROCE_CC_delay;
  reach(IB_QPS_RTS);
  sroce_cc_info info;
  sroce_cc_get_info(&qp.resp.cc, 0, &info);
  EXPECT_STREQ("dcqcn", info.algorithm);
  sroce_cc_get_info(&qp.req.cc, 0, &info);
  EXPECT_STREQ("delay", info.algorithm);
}

TEST_F(QpState, SettingAttributesDoesNotRestartARetry) {
  attr.retry_cnt = 6;
  reach(IB_QPS_RTR);
  ASSERT_EQ(0, set(IB_QPS_RTR, IB_QPS_RTS, IB_QP_RETRY_CNT));
  qp.req.retry_left = 2;
  ASSERT_EQ(0, set(IB_QPS_RTS, IB_QPS_RTS));
  EXPECT_EQ(2u, qp.req.retry_left);
}

TEST_F(QpState, OverflowOfTheCqIsAnError) {
  reach(IB_QPS_RTS);
  cq.overflowed = true;
  qp.sq.ops->failed(&qp, SROCE_SQ);
  EXPECT_EQ(IB_QPS_ERR, qp.state);
}

TEST_F(QpState, ResetForgetsButKeepsWhatOthersNeed) {
  reach(IB_QPS_RTS);
  qp.sq.failed = qp.rq.failed = qp.last_wqe_due = qp.sq_draining_notify = true;
  qp.fatal_reported = 1;
  qp.db.supported = true;
  qp.db.active = true;
  qp.sq_posted = qp.sq_retired = 3;
  qp.req.retired = qp.req.posted = qp.req.send = 3;
  qp.rq.wake = true;
  qp.rq.events = BIT(IB_EVENT_QP_FATAL) | BIT(IB_EVENT_SRQ_LIMIT_REACHED);
  qp.sq.timer_defer_ns = qp.rq.ignore_timeout_until_ns = 5;
  ASSERT_EQ(0, set(IB_QPS_RTS, IB_QPS_RESET));
  EXPECT_EQ(IB_QPS_RESET, qp.state);
  EXPECT_FALSE(qp.sq.failed || qp.rq.failed || qp.last_wqe_due || qp.sq_draining_notify);
  EXPECT_EQ(0u, qp.fatal_reported + qp.sq_posted + qp.sq_retired);
  EXPECT_EQ(0u, sroce_requester_posted(&qp.req));
  EXPECT_TRUE(qp.db.supported);
  EXPECT_FALSE(qp.db.active);
  EXPECT_TRUE(qp.rq.wake) << "the completions are still there";
  EXPECT_EQ(BIT(IB_EVENT_SRQ_LIMIT_REACHED), qp.rq.events);
  EXPECT_EQ(0u, qp.sq.timer_defer_ns + qp.rq.ignore_timeout_until_ns);
  qp.rq.events = 0;
}

TEST_F(QpState, StoppedQpSendsNothing) {
  dst_entry route = {};
  stand_in.dst_refs = 1;
  qp.sq.dst = &route;
  sroce_qp_stop(&qp);
  EXPECT_TRUE(qp.sq.dying && qp.rq.dying);
  EXPECT_EQ(nullptr, qp.sq.dst);
  EXPECT_EQ(0, stand_in.dst_refs);
}

TEST_F(QpState, DestroyedQpWakesItsConsumers) {
  static u32 calls;
  calls = 0;
  cq.ibcq.comp_handler = [](ib_cq*, void*) { calls++; };
  qp.sq.wake = qp.rq.wake = true;
  qp.sq.timer.started = qp.rq.timer.started = true;
  quiesce();
  EXPECT_EQ(2u, calls);
  EXPECT_FALSE(qp.sq.timer.started || qp.rq.timer.started);
  EXPECT_EQ(nullptr, qp.ref);
}

// The lock is dropped to wake the consumer. The budget is spent, so no other round sends the CNP.
TEST_F(QpState, CnpQueuedWhileTheLastRunEndsIsFreed) {
  static const sroce_wq_ops spender = {.work = [](sroce_qp*, u32* budget) -> u64 {
    *budget = 1;
    return SROCE_NEVER;
  }};
  reach(IB_QPS_RTR);
  stand_in.now_ns = 1'000'000'000;
  start({packet_bytes(flow, packet_of(SROCE_OP_SEND_ONLY, 100), {}, flow.ip_id)});
  qp.rq.ops = &spender;
  qp.rq.wake = true;
  cq.ibcq.comp_handler = [](ib_cq*, void*) {
    sroce_cnp_marked(&current->qp, &current->rx, 1);
    sroce_qp_stop(&current->qp);
  };
  spin_lock_bh(&qp.rq.lock);
  sroce_wq_run(&qp, &qp.rq, true);
  EXPECT_EQ(1u, skb_queue_len(&qp.rq.out));
  quiesce();
  EXPECT_TRUE(skb_queue_empty(&qp.rq.out));
}

TEST_F(QpState, DestroyedQpWithoutCompletionsWakesNobody) {
  cq.ibcq.comp_handler = [](ib_cq*, void*) { FAIL(); };
  quiesce();
}

TEST_F(QpState, DestroyedQpWaitsForItsUsers) {
  static sroce_qp_ref* ref;
  static bool waited;
  ref = qp.ref;
  waited = false;
  refcount_inc(&ref->users);
  stand_in.waiting = [](void*) {
    waited = true;
    if (refcount_dec_and_test(&ref->users)) complete(&ref->released);
  };
  quiesce();
  EXPECT_TRUE(waited);
}

TEST_F(QpState, DestroyedQpReportsTheLimitOfItsSharedQueue) {
  static u32 calls;
  calls = 0;
  sroce_srq srq = {};
  srq.ibsrq.event_handler = [](ib_event* event, void*) {
    EXPECT_EQ(IB_EVENT_SRQ_LIMIT_REACHED, event->event);
    calls++;
  };
  qp.srq = &srq;
  qp.rq.events = BIT(IB_EVENT_SRQ_LIMIT_REACHED);
  quiesce();
  EXPECT_EQ(1u, calls);
  qp.srq = nullptr;
}

struct DatagramState : QpState {
  DatagramState() : QpState(SROCE_SERVICE_UD) {}
  // Datagrams that name an address handle, posted and not completed.
  void post(u32 count) {
    refcount_set(&av.refs, 1 + count);
    for (u32 i = 0; i < count; i++) sroce_requester_wqe(&qp.req, i)->ud.ah = &av;
    qp.sq_posted = count;
  }
  sroce_av av = {};
};

TEST_F(DatagramState, ResetReleasesHandles) {
  reach(IB_QPS_RTS);
  post(3);
  ASSERT_EQ(0, set(IB_QPS_RTS, IB_QPS_RESET));
  EXPECT_EQ(1u, av.refs.count);
}

TEST_F(DatagramState, DestroyedQpReleasesHandles) {
  reach(IB_QPS_RTS);
  post(2);
  quiesce();
  EXPECT_EQ(1u, av.refs.count);
}

TEST_F(DatagramState, HasTheMtuOfThePort) {
  ASSERT_EQ(0, set(IB_QPS_RESET, IB_QPS_INIT));
  EXPECT_EQ(1024u, qp.req.attr.mtu_bytes);
  EXPECT_EQ(4096u, qp.resp.attr.mtu_bytes);
  reach(IB_QPS_RTS);
  netdev.mtu = 9000;
  ASSERT_EQ(0, set(IB_QPS_RTS, IB_QPS_RTS));
  EXPECT_EQ(1024u, qp.req.attr.mtu_bytes) << "datagrams have been checked against it";
}

TEST_F(DatagramState, GsiHasItsOwnKey) {
  attr.qkey = 5;
  ASSERT_EQ(0, set(IB_QPS_RESET, IB_QPS_INIT, IB_QP_QKEY));
  EXPECT_EQ(5u, qp.resp.attr.qkey);
  qp.ibqp.qp_type = IB_QPT_GSI;
  ASSERT_EQ(0, set(IB_QPS_INIT, IB_QPS_INIT, IB_QP_QKEY));
  EXPECT_EQ(0x80010000u, qp.resp.attr.qkey);
  EXPECT_EQ(256u, qp.resp.attr.mad_bytes);
}

TEST_F(DatagramState, FailedSendQueueIsSqe) {
  reach(IB_QPS_RTS);
  sroce_requester_set_state(&qp.req, SROCE_SQ_ERROR);
  qp.sq.ops->failed(&qp, SROCE_SQ);
  EXPECT_EQ(IB_QPS_SQE, qp.state);
}

TEST_F(DatagramState, OverflowOfTheCqIsAnError) {
  reach(IB_QPS_RTS);
  cq.overflowed = true;
  sroce_requester_set_state(&qp.req, SROCE_SQ_ERROR);
  qp.sq.ops->failed(&qp, SROCE_SQ);
  EXPECT_EQ(IB_QPS_ERR, qp.state);
}

TEST_F(DatagramState, SqeFollowsWhatCompletionsHaveShown) {
  reach(IB_QPS_RTS);
  sroce_requester_set_state(&qp.req, SROCE_SQ_ERROR);
  sroce_qp_settle_state(&qp);
  EXPECT_EQ(IB_QPS_SQE, qp.state);
  EXPECT_EQ(0, set(IB_QPS_SQE, IB_QPS_RTS));
}

}  // namespace
