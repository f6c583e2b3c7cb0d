// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Running a work queue, its completions and the address check: kernel/datapath/wq.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

namespace {

struct Wq : testing::Test, QueuePair {
  void run(bool may_call_back = true) {
    spin_lock_bh(&qp.rq.lock);
    sroce_wq_run(&qp, &qp.rq, may_call_back);
  }
  u32 vendor_err_of(sroce_wq* wq, sroce_wc_status status) {
    sroce_completion wc = {};
    wc.status = status;
    sroce_wq_post_cqe(&qp, wq, &wc, nullptr);
    return completions().at(0).vendor_err;
  }
};

TEST_F(Wq, BothAddressesMustBeThoseOfTheConnection) {
  rx.saddr = flow.saddr;
  rx.daddr = flow.daddr;
  EXPECT_TRUE(sroce_wq_path_matches(&qp, &qp.rq, &rx));
  rx.saddr = Flow::address(9);
  EXPECT_FALSE(sroce_wq_path_matches(&qp, &qp.rq, &rx));
  rx.saddr = flow.saddr;
  rx.daddr = Flow::address(9);
  EXPECT_FALSE(sroce_wq_path_matches(&qp, &qp.rq, &rx));
  rx.daddr = flow.daddr;
  rx.is_v1 = true;
  EXPECT_FALSE(sroce_wq_path_matches(&qp, &qp.rq, &rx)) << "the other version of RoCE";
  qp.rq.path.is_v1 = true;
  EXPECT_TRUE(sroce_wq_path_matches(&qp, &qp.rq, &rx));
  rx.is_v1 = false;
  EXPECT_FALSE(sroce_wq_path_matches(&qp, &qp.rq, &rx));
  qp.service = SROCE_SERVICE_UD;
  EXPECT_TRUE(sroce_wq_path_matches(&qp, &qp.rq, &rx));
}

TEST_F(Wq, VendorErrorNamesTheCause) {
  qp.sq.fault = SROCE_MEM_BAD_RANGE;
  qp.rq.fault = SROCE_MEM_BAD_ACCESS;
  EXPECT_EQ(SROCE_VENDOR_RANGE, vendor_err_of(&qp.sq, SROCE_WC_LOC_PROT_ERR));
  EXPECT_EQ(SROCE_VENDOR_ACCESS, vendor_err_of(&qp.rq, SROCE_WC_LOC_PROT_ERR));
  EXPECT_EQ(SROCE_VENDOR_ACCESS, vendor_err_of(&qp.rq, SROCE_WC_REM_INV_REQ_ERR));
  qp.rq.fault = 0;
  EXPECT_EQ(u32{SROCE_NAK_INVALID_REQUEST}, vendor_err_of(&qp.rq, SROCE_WC_REM_INV_REQ_ERR))
      << "the peer has broken a rule";
  EXPECT_EQ(u32{SROCE_NAK_INVALID_REQUEST}, vendor_err_of(&qp.sq, SROCE_WC_REM_INV_REQ_ERR));
  EXPECT_EQ(u32{SROCE_NAK_REMOTE_ACCESS}, vendor_err_of(&qp.sq, SROCE_WC_REM_ACCESS_ERR));
  EXPECT_EQ(SROCE_VENDOR_TIMEOUT, vendor_err_of(&qp.sq, SROCE_WC_RETRY_EXC_ERR));
  qp.sq.fault = SROCE_VENDOR_NAK;
  EXPECT_EQ(SROCE_VENDOR_NAK, vendor_err_of(&qp.sq, SROCE_WC_RETRY_EXC_ERR));
  EXPECT_EQ(SROCE_VENDOR_FLUSHED, vendor_err_of(&qp.sq, SROCE_WC_WR_FLUSH_ERR));
  EXPECT_EQ(0u, vendor_err_of(&qp.sq, SROCE_WC_SUCCESS));
  EXPECT_EQ(6u, count(SROCE_CTR_REQ_CQE_ERROR));
  EXPECT_EQ(3u, count(SROCE_CTR_RESP_CQE_ERROR));
}

TEST_F(Wq, ConsumerIsCalledWithoutTheLock) {
  static u32 calls;
  calls = 0;
  cq.ibcq.cq_context = &qp.rq;
  cq.ibcq.comp_handler = [](ib_cq*, void* wq) {
    calls++;
    EXPECT_FALSE(static_cast<sroce_wq*>(wq)->lock.locked);
  };
  sroce_cq_req_notify(&cq.ibcq, IB_CQ_NEXT_COMP);
  sroce_completion wc = {};
  sroce_wq_post_cqe(&qp, &qp.rq, &wc, nullptr);
  run(false);
  EXPECT_EQ(0u, calls) << "the BH work calls it";
  EXPECT_EQ(1u, stand_in.scheduled);
  run();
  run();
  EXPECT_EQ(1u, calls);
}

TEST_F(Wq, OverflowFailsTheQueueAndIsReportedOnce) {
  static u32 events, fatal;
  events = fatal = 0;
  cq.ibcq.event_handler = [](ib_event* event, void*) { events += event->event == IB_EVENT_CQ_ERR; };
  qp.ibqp.event_handler = [](ib_event* event, void*) {
    fatal += event->event == IB_EVENT_QP_FATAL;
  };
  sroce_completion wc = {};
  for (u32 i = 0; i < 9; i++) sroce_wq_post_cqe(&qp, &qp.rq, &wc, nullptr);
  run();
  EXPECT_EQ(1u, failures);
  EXPECT_EQ(1u, events);
  EXPECT_EQ(1u, fatal) << "the QP cannot report completions";
  sroce_wq_post_cqe(&qp, &qp.sq, &wc, nullptr);
  spin_lock_bh(&qp.sq.lock);
  sroce_wq_run(&qp, &qp.sq, true);
  EXPECT_EQ(2u, failures) << "another queue whose completion is lost";
  EXPECT_EQ(1u, fatal) << "of one failure";
  qp.fatal_reported = 0;  // RESET
  sroce_wq_post_cqe(&qp, &qp.rq, &wc, nullptr);
  run();
  EXPECT_EQ(2u, fatal);
  qp.fatal_reported = 0;
  qp.state = IB_QPS_ERR;
  sroce_wq_post_cqe(&qp, &qp.rq, &wc, nullptr);
  run();
  EXPECT_EQ(2u, fatal) << "of a QP in error no other";
}

TEST_F(Wq, OneRunnerDoesTheWorkOfAll) {
  u32 runners = 0;
  on_work = [&](u32*) {
    EXPECT_EQ(1u, ++runners);
    if (rounds < 3) {
      sroce_wq_run(&qp, &qp.rq, true);  // another context brings work
      spin_lock_bh(&qp.rq.lock);
    }
    runners--;
    return SROCE_NEVER;
  };
  run();
  EXPECT_EQ(3u, rounds);
  EXPECT_FALSE(qp.rq.running);
}

TEST_F(Wq, SpentBudgetWaitsForTheTimer) {
  stand_in.now_ns = 5000;
  on_work = [&](u32* budget) {
    *budget = 0;
    return SROCE_NEVER;
  };
  run();
  run();
  EXPECT_EQ(1u, rounds) << "nothing but the timer goes on";
  ASSERT_TRUE(qp.rq.timer.started);
  EXPECT_EQ(25'000u, qp.rq.timer.expires_ns);
  qp.rq.timer.function(&qp.rq.timer);
  EXPECT_EQ(2u, rounds);
  EXPECT_EQ(1u, timers);
}

TEST_F(Wq, BudgetLimitsRoundsThatAreCheap) {
  on_work = [&](u32*) {
    qp.rq.again = true;
    return SROCE_NEVER;
  };
  run();
  EXPECT_EQ(u32{SROCE_WQ_BUDGET}, rounds);
}

TEST_F(Wq, OnlyAnEarlierDeadlineMovesTheTimer) {
  u64 deadline = 1000;
  on_work = [&](u32*) { return deadline; };
  run();
  EXPECT_EQ(1000u, qp.rq.timer.expires_ns);
  deadline = 2000;
  run();
  EXPECT_EQ(1000u, qp.rq.timer.expires_ns);
  deadline = 500;
  run();
  EXPECT_EQ(500u, qp.rq.timer.expires_ns);
}

TEST_F(Wq, ShortageIsTriedAgain) {
  on_work = [&](u32*) {
    qp.rq.retry = true;
    return SROCE_NEVER;
  };
  run();
  EXPECT_EQ(1'000'000u, qp.rq.timer.expires_ns);
}

TEST_F(Wq, DyingQueueDoesNothing) {
  qp.rq.dying = true;
  run();
  sroce_wq_kick(&qp.rq);
  EXPECT_EQ(0u, rounds);
  EXPECT_EQ(0u, stand_in.scheduled);
}

TEST_F(Wq, PacketsLeaveInOrderWithoutTheLock) {
  __skb_queue_tail(&qp.rq.out, alloc_skb(0, 0));
  __skb_queue_tail(&qp.rq.out, alloc_skb(0, 0));
  run();
  EXPECT_EQ(2u, stand_in_datapath.skbs);
  EXPECT_TRUE(skb_queue_empty(&qp.rq.out));
}

}  // namespace
