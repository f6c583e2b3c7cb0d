// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// kernel/datapath/xrc.c, and what receive.c, rx_copy.c and wq.c do with an XRC target.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

extern "C" {
#include "datapath/xrc.h"
}

namespace {

constexpr u32 SLOT_BYTES = sizeof(rxe_recv_wqe) + 2 * sizeof(rxe_sge);
constexpr u32 LAST_NUMBER = 1000;

// A shared receive queue of a domain, with a protection domain and a CQ of its own.
struct XrcQueue {
  explicit XrcQueue(ib_xrcd* xrcd) {
    srq.queue.pd = &pd;
    srq.queue.max_sge = 2;
    srq.max_wr = 7;
    srq.ibsrq.ext.xrc.xrcd = xrcd;
    srq.ibsrq.ext.cq = &cq.ibcq;
    cq.ibcq.comp_handler = [](ib_cq*, void* context) { ++*static_cast<u32*>(context); };
    cq.ibcq.event_handler = [](ib_event*, void* context) { *static_cast<u32*>(context) += 100; };
    cq.ibcq.cq_context = &calls;
    EXPECT_EQ(0, sroce_ring_init(&srq.queue.ring, 7, SLOT_BYTES));
    EXPECT_EQ(0, sroce_ring_init_cq(&cq.ring, 3, sizeof(ib_wc), false));
    EXPECT_EQ(0, sroce_srq_table_add(&srq, LAST_NUMBER));
  }
  ~XrcQueue() {
    sroce_srq_table_remove(&srq);
    sroce_ring_fini(&srq.queue.ring);
    sroce_ring_fini(&cq.ring);
  }
  void post(u64 wr_id, u32 lkey) {
    ib_sge sge = {0x70000, 1000, lkey};
    const ib_recv_wr wr = {wr_id, &sge, 1};
    ASSERT_EQ(0, sroce_recv_queue_post(&srq.queue, &wr));
  }
  std::vector<ib_wc> completions() {
    std::vector<ib_wc> all(8);
    all.resize(sroce_cq_poll(&cq.ibcq, 8, all.data()));
    return all;
  }

  ib_pd pd = {};
  sroce_srq srq = {};
  sroce_cq cq = {};
  u32 calls = 0;
};

struct XrcTarget : testing::Test, WriteReceiver {
  XrcTarget() : WriteReceiver(SROCE_SERVICE_XRC) {
    stand_in = {};
    qp.ibqp.qp_type = IB_QPT_XRC_TGT;
    qp.ibqp.xrcd = &xrcd;
    qp.ibqp.pd = nullptr;
    qp.send_cq = qp.recv_cq = nullptr;
    EXPECT_EQ(0, sroce_srq_table_publish(&queue.srq));
    queue_key = add_region_of(&queue.pd, others, IOVA, 4096);
  }
  void request(u8 opcode, u32 psn, u32 srqn, u32 rkey, u32 bytes = 100) {
    sroce_packet pkt = packet_of(SROCE_SERVICE_XRC | opcode, psn);
    pkt.srqn = srqn;
    pkt.va = IOVA;
    pkt.rkey = rkey;
    pkt.dma_length = bytes;
    receive({bytes_of(pkt, Bytes(pkt.info->flags & SROCE_OPF_PAYLOAD ? bytes : 0, 7))});
  }
  void send(u32 psn, u32 srqn) { request(SROCE_OP_SEND_ONLY, psn, srqn, 0); }
  u32 number() const { return queue.srq.number; }
  bool failed_with(u8 syndrome) const {
    return qp.resp.state == SROCE_RQ_FAILED && qp.resp.nak_syndrome == syndrome;
  }

  ib_xrcd xrcd = {}, other_domain = {};
  XrcQueue queue{&xrcd};
  Blocks others{1, 4096};
  u32 queue_key;
};

TEST_F(XrcTarget, FindsQueuesOfItsDomainOnly) {
  XrcQueue foreign(&other_domain), hidden(&xrcd);
  ASSERT_EQ(0, sroce_srq_table_publish(&foreign.srq));
  sroce_srq* found = sroce_xrc_get_srq(&qp, number());
  EXPECT_EQ(&queue.srq, found);
  sroce_xrc_put_srq(found);
  EXPECT_EQ(nullptr, sroce_xrc_get_srq(&qp, foreign.srq.number));
  EXPECT_EQ(nullptr, sroce_xrc_get_srq(&qp, hidden.srq.number)) << "it is not published";
  EXPECT_EQ(nullptr, sroce_xrc_get_srq(&qp, LAST_NUMBER));
}

TEST_F(XrcTarget, NumbersAreChargedToTheirCreator) {
  stand_in.uncharged = 0;
  const XrcQueue another(&xrcd);
  EXPECT_EQ(0u, stand_in.uncharged);
}

// A packet names a queue just when it is created.
TEST_F(XrcTarget, QueueIsCompleteOncePacketsFindIt) {
  XrcQueue other(&xrcd);
  std::pair<sroce_qp*, sroce_srq*> packet = {&qp, &other.srq};
  stand_in.argument = &packet;
  stand_in.stored = [](void* argument) {
    const auto [target, srq] = *static_cast<std::pair<sroce_qp*, sroce_srq*>*>(argument);
    EXPECT_EQ(srq, sroce_xrc_get_srq(target, srq->number));
    ASSERT_TRUE(srq->ref);
    sroce_xrc_put_srq(srq);
  };
  EXPECT_EQ(0, sroce_srq_table_publish(&other.srq));
}

TEST_F(XrcTarget, NumbersAreNotReusedSoon) {
  u32 last = number();
  for (int i = 0; i < 5; i++) {
    XrcQueue next(&xrcd);
    EXPECT_GT(next.srq.number, last);
    last = next.srq.number;
  }
}

TEST_F(XrcTarget, RemovingAQueueWaitsForItsUsers) {
  static sroce_srq* found;
  static u32 waits;
  found = sroce_xrc_get_srq(&qp, number());
  waits = 0;
  stand_in.waiting = [](void*) {
    waits++;
    sroce_xrc_put_srq(found);
  };
  sroce_srq_table_remove(&queue.srq);
  stand_in.waiting = nullptr;
  EXPECT_EQ(1u, waits);
  EXPECT_EQ(nullptr, sroce_xrc_get_srq(&qp, number()));
}

TEST_F(XrcTarget, SendTakesAReceiveOfTheQueueAndCompletesInItsCq) {
  queue.post(7, queue_key);
  send(100, number());
  const auto all = queue.completions();
  ASSERT_EQ(1u, all.size());
  EXPECT_EQ(7u, all[0].wr_id);
  EXPECT_EQ(SROCE_WC_SUCCESS, all[0].status);
  EXPECT_EQ(&qp.ibqp, all[0].qp);
  EXPECT_EQ(7, others[99]);
  EXPECT_EQ(101u, epsn());
  EXPECT_EQ(nullptr, rx.srq) << "no reference stays";
}

TEST_F(XrcTarget, BuffersAreThoseOfTheQueuesProtectionDomain) {
  queue.post(7, key);
  send(100, number());
  ASSERT_EQ(1u, queue.completions().size());
  EXPECT_TRUE(failed_with(SROCE_NAK_REMOTE_OPERATION));
}

TEST_F(XrcTarget, ConsumerIsWokenWhenItHasArmedTheCq) {
  queue.post(7, queue_key);
  queue.cq.armed = IB_CQ_NEXT_COMP;
  send(100, number());
  EXPECT_EQ(1u, queue.calls);
}

TEST_F(XrcTarget, LimitOfTheQueueIsReported) {
  queue.post(7, queue_key);
  static u32 events;
  events = 0;
  queue.srq.ibsrq.event_handler = [](ib_event* event, void*) {
    events += event->event == IB_EVENT_SRQ_LIMIT_REACHED;
  };
  sroce_srq_set_limit(&queue.srq, 1);
  send(100, number());
  EXPECT_EQ(1u, events);
  EXPECT_EQ(0u, qp.rq.events & BIT(IB_EVENT_SRQ_LIMIT_REACHED)) << "the QP has no queue";
}

TEST_F(XrcTarget, RegionsAreThoseOfTheQueuesProtectionDomain) {
  request(SROCE_OP_WRITE_ONLY, 100, number(), queue_key);
  EXPECT_EQ(7, others[99]);
  request(SROCE_OP_READ_REQUEST, 101, number(), queue_key);
  EXPECT_EQ(102u, epsn());
  request(SROCE_OP_WRITE_ONLY, 102, number(), key);
  EXPECT_TRUE(failed_with(SROCE_NAK_REMOTE_ACCESS));
}

TEST_F(XrcTarget, UnknownQueueGetsANak) {
  request(SROCE_OP_WRITE_ONLY, 100, number() + 1, queue_key);
  EXPECT_TRUE(failed_with(SROCE_NAK_INVALID_REQUEST));
  EXPECT_EQ(0, others[0]);
}

TEST_F(XrcTarget, CompletionForAQueueThatHasGoneIsForgotten) {
  queue.post(7, queue_key);
  sroce_packet first = packet_of(SROCE_SERVICE_XRC | SROCE_OP_SEND_FIRST, 100);
  first.srqn = number();
  receive({bytes_of(first, Bytes(1024, 7))});
  EXPECT_EQ(100u, epsn()) << "longer than the receive";
  sroce_srq_table_remove(&queue.srq);
  const sroce_completion wc = {};
  const sroce_wc_extra extra = {.qp = &qp.ibqp};
  EXPECT_TRUE(sroce_xrc_complete(&qp, &wc, &extra));
}

TEST_F(XrcTarget, FullCqFailsTheTarget) {
  for (u32 i = 0; i < 4; i++) {
    EXPECT_EQ(SROCE_RQ_READY, qp.resp.state) << i;
    queue.post(i, queue_key);
    send(100 + i, number());
  }
  EXPECT_EQ(100u, queue.calls) << "IB_EVENT_CQ_ERR";
  EXPECT_EQ(SROCE_RQ_FAILED, qp.resp.state);
  EXPECT_EQ(1u, failures);
}

TEST_F(XrcTarget, RequestWaitsForTheQueueThatItNames) {
  qp.resp.reorder.waiting_srqn = number();
  EXPECT_FALSE(sroce_xrc_has_posted(&qp));
  queue.post(7, queue_key);
  EXPECT_TRUE(sroce_xrc_has_posted(&qp));
  qp.resp.reorder.waiting_srqn = number() + 1;
  EXPECT_TRUE(sroce_xrc_has_posted(&qp)) << "it gets a NAK";
}

TEST_F(XrcTarget, TakesNoResponses) {
  receive({bytes_of(packet_of(SROCE_SERVICE_XRC | SROCE_OP_ACK, 100), {})});
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_SERVICE));
  receive({bytes_of(packet_of(SROCE_OP_SACK, 100), Bytes(8, 0))});
  EXPECT_EQ(2u, count(SROCE_CTR_DROP_SERVICE));
}

TEST_F(XrcTarget, InitiatorTakesNoRequests) {
  qp.ibqp.qp_type = IB_QPT_XRC_INI;
  send(100, number());
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_SERVICE));
  receive({bytes_of(packet_of(SROCE_SERVICE_XRC | SROCE_OP_ACK, 100), {})});
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_SERVICE));
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_UNSENT)) << "its requester sees the response";
}

}  // namespace
