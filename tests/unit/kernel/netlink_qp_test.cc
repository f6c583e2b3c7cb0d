// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A QP as netlink shows it: kernel/control/netlink_qp.c, datapath/qp_stats.c.
#include <gtest/gtest.h>

#include "unit/kernel/attributes.h"
#include "unit/kernel/queue_pair.h"

extern "C" {
#include "control/netlink.h"
}

namespace {

struct NetlinkQp : testing::Test, QueuePair {
  // A message with room for @bytes.
  int put(u32 bytes, u32 first_qpn = 0) {
    kfree_skb(skb);
    skb = alloc_skb(bytes, GFP_KERNEL);
    qpn = first_qpn;
    return sroce_netlink_put_qp(skb, &dev, &qpn);
  }
  Attributes shown() {
    EXPECT_EQ(0, put(4096));
    return Attributes(skb->data, skb->len);
  }
  Attributes sq() { return shown().nest(SROCE_A_SQ); }
  Attributes rq() { return shown().nest(SROCE_A_RQ); }
  ~NetlinkQp() override { kfree_skb(skb); }

  sk_buff* skb = nullptr;
  u32 qpn = 0;
};

struct NetlinkDatagramQp : testing::Test, QueuePair {
  NetlinkDatagramQp() : QueuePair(SROCE_SERVICE_UD) {}
};

struct NetlinkUcQp : testing::Test, QueuePair {
  NetlinkUcQp() : QueuePair(SROCE_SERVICE_UC) {}
};

TEST_F(NetlinkQp, QpIsFoundByTheSmallestNumber) {
  const Attributes all = shown();
  EXPECT_EQ(QPN, qpn);
  EXPECT_EQ(QPN, all.u32_of(SROCE_A_QPN));
  EXPECT_EQ(u32{STAND_IN_DEV_INDEX}, all.u32_of(SROCE_A_DEV_INDEX));
  EXPECT_EQ(u32{IB_QPT_RC}, all.u8_of(SROCE_A_QP_TYPE));
  EXPECT_EQ(u32{IB_QPS_RTS}, all.u8_of(SROCE_A_QP_STATE));
  EXPECT_EQ(0, put(4096, QPN));
}

TEST_F(NetlinkQp, BehindTheLastQpNothingIsWritten) {
  EXPECT_EQ(-ENOENT, put(4096, QPN + 1));
  EXPECT_EQ(0u, skb->len);
}

TEST_F(NetlinkQp, PeerIsShownWhileThereIsOne) {
  qp.req.sb.mode = SROCE_SELECTIVE_WITHDRAWN;
  for (int state = IB_QPS_RESET; state <= IB_QPS_ERR; state++) {
    qp.state = static_cast<ib_qp_state>(state);
    const Attributes all = shown();
    EXPECT_EQ(u32(state), all.u8_of(SROCE_A_QP_STATE));
    const bool connected = state == IB_QPS_RTR || state == IB_QPS_RTS || state == IB_QPS_SQD;
    for (int type :
         {SROCE_A_PEER_QPN, SROCE_A_LOCAL_ADDRESS, SROCE_A_PEER_ADDRESS, SROCE_A_SELECTIVE})
      EXPECT_EQ(connected, all.has(type)) << state << " " << type;
    if (!connected) continue;
    EXPECT_EQ(PEER_QPN, all.u32_of(SROCE_A_PEER_QPN));
    EXPECT_EQ(2, all.get<in6_addr>(SROCE_A_LOCAL_ADDRESS).s6_addr[15]);
    EXPECT_EQ(1, all.get<in6_addr>(SROCE_A_PEER_ADDRESS).s6_addr[15]);
    EXPECT_EQ(u32{SROCE_NL_SELECTIVE_WITHDRAWN}, all.u8_of(SROCE_A_SELECTIVE));
  }
}

TEST_F(NetlinkUcQp, HasAPeerThatIsOfferedNothing) {
  sk_buff* skb = alloc_skb(4096, GFP_KERNEL);
  u32 qpn = 0;
  EXPECT_EQ(0, sroce_netlink_put_qp(skb, &dev, &qpn));
  const Attributes all(skb->data, skb->len);
  EXPECT_EQ(PEER_QPN, all.u32_of(SROCE_A_PEER_QPN));
  EXPECT_TRUE(all.has(SROCE_A_PEER_ADDRESS));
  EXPECT_EQ(u32{SROCE_NL_SELECTIVE_OFF}, all.u8_of(SROCE_A_SELECTIVE));
  kfree_skb(skb);
}

TEST_F(NetlinkDatagramQp, HasNoPeer) {
  sk_buff* skb = alloc_skb(4096, GFP_KERNEL);
  u32 qpn = 0;
  EXPECT_EQ(0, sroce_netlink_put_qp(skb, &dev, &qpn));
  const Attributes all(skb->data, skb->len);
  EXPECT_EQ(u32{IB_QPT_UD}, all.u8_of(SROCE_A_QP_TYPE));
  EXPECT_FALSE(all.has(SROCE_A_PEER_QPN));
  EXPECT_FALSE(all.has(SROCE_A_PEER_ADDRESS));
  EXPECT_TRUE(all.has(SROCE_A_SQ));
  kfree_skb(skb);
}

TEST_F(NetlinkQp, RequesterHasItsCounters) {
  qp.req.sent_psn += 3;
  set_requester_counters();
  const Attributes queue = sq();
  EXPECT_EQ(3u, queue.u32_of(SROCE_A_WQ_INFLIGHT));
  EXPECT_EQ(1ull << 40, queue.u64_of(SROCE_A_WQ_RETRANSMITS));
  EXPECT_EQ(5u, queue.u64_of(SROCE_A_WQ_TIMEOUTS));
  EXPECT_EQ(6u, queue.u64_of(SROCE_A_WQ_PROBES));
  EXPECT_EQ(7u, queue.u32_of(SROCE_A_WQ_SRTT_NS));
  EXPECT_EQ(8u, queue.u32_of(SROCE_A_WQ_RTTVAR_NS));
  EXPECT_EQ(9u, queue.u32_of(SROCE_A_WQ_MIN_RTT_NS));
  for (int type : {SROCE_A_WQ_REORDER_PACKETS, SROCE_A_WQ_ECN_MARKED, SROCE_A_WQ_CNP_SENT})
    EXPECT_FALSE(queue.has(type)) << type;
}

TEST_F(NetlinkQp, EachQueueHasItsWorkRequests) {
  post_receive(0, 0, 0);
  post_receive(0, 0, 0);
  qp.sq_posted = qp.req.retired + 3;
  EXPECT_EQ(3u, sq().u32_of(SROCE_A_WQ_WQES));
  EXPECT_EQ(2u, rq().u32_of(SROCE_A_WQ_WQES));
  EXPECT_FALSE(shown().has(SROCE_A_SRQN));
}

TEST_F(NetlinkQp, RequestsInTheRingOfAProcessCount) {
  ASSERT_EQ(0, sroce_ring_init(&qp.sq_ring, 7, 64));
  qp.is_user = true;
  qp.req.posted += 2;
  *qp.sq_ring.producer = 4;
  EXPECT_EQ(6u, sq().u32_of(SROCE_A_WQ_WQES));
  qp.req.retired++;
  EXPECT_EQ(5u, sq().u32_of(SROCE_A_WQ_WQES));
  sroce_ring_fini(&qp.sq_ring);
}

TEST_F(NetlinkQp, SharedReceiveQueueHasItsNumberInsteadOfRequests) {
  sroce_srq srq = {};
  srq.ibsrq.res.id = 6;
  qp.srq = &srq;
  EXPECT_EQ(6u, shown().u32_of(SROCE_A_SRQN));
  EXPECT_FALSE(rq().has(SROCE_A_WQ_WQES));
  qp.srq = nullptr;
}

TEST_F(NetlinkQp, UnknownRttIsAbsentAndZeroCountersAreNot) {
  const Attributes queue = sq();
  for (int type : {SROCE_A_WQ_SRTT_NS, SROCE_A_WQ_RTTVAR_NS, SROCE_A_WQ_MIN_RTT_NS})
    EXPECT_FALSE(queue.has(type)) << type;
  EXPECT_EQ(0u, queue.u32_of(SROCE_A_WQ_INFLIGHT));
  EXPECT_EQ(0u, queue.u64_of(SROCE_A_WQ_TIMEOUTS));
}

TEST_F(NetlinkQp, ResponderHasItsCounters) {
  sroce_reorder_queue queue = {};
  queue.bytes = 4000;
  qp.reorder_queue = &queue;
  qp.resp.reorder.count = 4;
  qp.np.ecn_marked = 1ull << 41;
  qp.np.cnps = 6;
  const Attributes shown = rq();
  qp.reorder_queue = nullptr;
  qp.resp.reorder.count = 0;
  EXPECT_EQ(4u, shown.u32_of(SROCE_A_WQ_REORDER_PACKETS));
  EXPECT_EQ(4000u, shown.u32_of(SROCE_A_WQ_REORDER_BYTES));
  EXPECT_EQ(1ull << 41, shown.u64_of(SROCE_A_WQ_ECN_MARKED));
  EXPECT_EQ(6u, shown.u64_of(SROCE_A_WQ_CNP_SENT));
  for (int type : {SROCE_A_WQ_INFLIGHT, SROCE_A_WQ_RETRANSMITS, SROCE_A_WQ_PROBES})
    EXPECT_FALSE(shown.has(type)) << type;
  EXPECT_EQ(0u, rq().u32_of(SROCE_A_WQ_REORDER_BYTES)) << "no queue yet";
}

TEST_F(NetlinkQp, CongestionControlIsShownOnceItHasStarted) {
  for (const Attributes& queue : {sq(), rq()})
    for (int type : {SROCE_A_WQ_CC, SROCE_A_WQ_CC_STATE, SROCE_A_WQ_RATE, SROCE_A_WQ_CWND,
                     SROCE_A_WQ_CNP_HANDLED, SROCE_A_WQ_CUTS})
      EXPECT_FALSE(queue.has(type)) << type;
  sroce_cc_start(&qp.req.cc, &dev.cc, 1000000, 1024, 0);
  const Attributes queue = sq();
  EXPECT_EQ("dcqcn", queue.string_of(SROCE_A_WQ_CC));
  EXPECT_TRUE(queue.has(SROCE_A_WQ_CC_STATE));
  EXPECT_FALSE(queue.has(SROCE_A_WQ_RATE)) << "no limit";
  EXPECT_FALSE(queue.has(SROCE_A_WQ_CWND)) << "no limit";
  EXPECT_FALSE(queue.has(SROCE_A_WQ_CC_INFO));
  EXPECT_EQ(0u, queue.u64_of(SROCE_A_WQ_CNP_HANDLED));
  EXPECT_FALSE(rq().has(SROCE_A_WQ_CC)) << "it has its own";
}

TEST_F(NetlinkQp, RateIsThatOfNowAndHasItsDetails) {
  sroce_cc_start(&qp.resp.cc, &dev.cc, 1000000000, 1024, 0);
  EXPECT_TRUE(sroce_cc_cnp(&qp.resp.cc, 0, 1000));
  stand_in.now_ns = 1000;
  const Attributes cut = rq();
  const u64 rate = cut.u64_of(SROCE_A_WQ_RATE);
  EXPECT_EQ(qp.resp.cc.rate, rate);
  EXPECT_GT(1000000000u, rate);
  EXPECT_EQ(1u, cut.u64_of(SROCE_A_WQ_CNP_HANDLED));
  EXPECT_EQ(1u, cut.u64_of(SROCE_A_WQ_CUTS));
  const std::vector<Attributes> details = cut.nests(SROCE_A_WQ_CC_INFO);
  ASSERT_EQ(2u, details.size());
  EXPECT_EQ("target", details[0].string_of(SROCE_A_CC_INFO_KEY));
  EXPECT_EQ(1000000000u, details[0].u64_of(SROCE_A_CC_INFO_VALUE));
  EXPECT_EQ(u32{SROCE_NL_CC_RATE}, details[0].u8_of(SROCE_A_CC_INFO_FORMAT));
  EXPECT_EQ("alpha", details[1].string_of(SROCE_A_CC_INFO_KEY));
  EXPECT_EQ(u32{SROCE_NL_CC_FRACTION}, details[1].u8_of(SROCE_A_CC_INFO_FORMAT));
  stand_in.now_ns = 300000;
  EXPECT_LT(rate, rq().u64_of(SROCE_A_WQ_RATE)) << "it has risen meanwhile";
}

TEST_F(NetlinkQp, WindowIsShown) {
  sroce_cc_start(&qp.req.cc, &dev.cc, 1000000000, 1024, 0);
  qp.req.cc.cwnd = 3 * SROCE_CC_PACKET;
  EXPECT_EQ(3u * SROCE_CC_PACKET, sq().u32_of(SROCE_A_WQ_CWND));
}

TEST_F(NetlinkQp, EachQueueIsReadUnderItsOwnLock) {
  static bool sq_locked, rq_locked;
  sq_locked = rq_locked = false;
  ASSERT_EQ(0, sroce_ring_init(&qp.sq_ring, 7, 64));
  qp.is_user = true;
  // Called when an index of a ring is loaded.
  stand_in.argument = this;
  stand_in.process = [](void* argument) {
    const auto* self = static_cast<NetlinkQp*>(argument);
    sq_locked |= self->qp.sq.lock.locked;
    rq_locked |= self->qp.rq.lock.locked;
    EXPECT_FALSE(self->qp.sq.lock.locked && self->qp.rq.lock.locked);
  };
  shown();
  stand_in.process = nullptr;
  sroce_ring_fini(&qp.sq_ring);
  EXPECT_TRUE(sq_locked);
  EXPECT_TRUE(rq_locked);
}

// The fixture checks that locks are free and no reference is left.
TEST_F(NetlinkQp, MessageOfAnySizeThatIsTooShortIsAnError) {
  qp.req.rtt.srtt_ns = qp.req.rtt.var_ns = qp.req.rtt.min_ns = 9;
  for (sroce_cc* cc : {&qp.req.cc, &qp.resp.cc}) {
    sroce_cc_start(cc, &dev.cc, 1000000000, 1024, 0);
    EXPECT_TRUE(sroce_cc_cnp(cc, 0, 1000));
    cc->cwnd = 3 * SROCE_CC_PACKET;
  }
  ASSERT_EQ(0, put(4096));
  const u32 bytes = skb->len;
  for (u32 room = 0; room < bytes; room += NLA_ALIGNTO) {
    EXPECT_EQ(-EMSGSIZE, put(room)) << room;
    EXPECT_EQ(0, stand_in_datapath.users);
  }
  EXPECT_EQ(0, put(bytes));
}

}  // namespace
