// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Requests and responses while a page fault lasts long: kernel/datapath/receive.c and rq_work.c.
#include <gtest/gtest.h>

#include "unit/kernel/on_demand.h"

namespace {

constexpr u64 LONG_NS = 10'000'000'000;

// It cannot go back to the shared queue, and no other message may come for it.
TEST(LongFault, SharedReceiveOfALostMessageCompletes) {
  for (const bool shared : {false, true}) {
    OnDemand qp(SROCE_SERVICE_UC);
    qp.qp.resp.attr.shares_rwqes = shared;
    qp.post_receive(IOVA, 50, qp.key);
    qp.receive({qp.bytes_of(packet_of(qp.of_service(SROCE_OP_SEND_ONLY), 100), Bytes(8, 3))});
    ASSERT_TRUE(qp.qp.rq.paging.pending);
    EXPECT_TRUE(qp.completions().empty());
    u32 budget = 64;
    spin_lock_bh(&qp.qp.rq.lock);
    sroce_receive_backlog(&qp.qp, LONG_NS, &budget);
    spin_unlock_bh(&qp.qp.rq.lock);
    EXPECT_EQ(1u, qp.count(SROCE_CTR_DROP_NOT_PRESENT));
    EXPECT_EQ(0u, qp.qp.backlog_bytes);
    const auto all = qp.completions();
    ASSERT_EQ(shared, all.size());
    if (shared) EXPECT_EQ(u32{SROCE_WC_REM_INV_REQ_ERR}, u32(all[0].status));
    EXPECT_EQ(shared, !qp.qp.resp.has_recv_wqe);
  }
}

// Its receive queue does all its work.
struct Responder : OnDemand {
  Responder() : OnDemand(SROCE_SERVICE_RC) {
    on_work = [this](u32* budget) { return sroce_rq_work(&qp, budget); };
  }
  // PSN 100
  void receive_read(u32 rkey) {
    sroce_packet pkt = write_only(100, IOVA, 8);
    pkt.opcode = SROCE_OP_READ_REQUEST;
    pkt.info = sroce_opcode_lookup(pkt.opcode);
    pkt.rkey = rkey;
    receive({bytes_of(pkt, Bytes())});
  }
  void round() {
    u32 budget = 64;
    spin_lock_bh(&qp.rq.lock);
    sroce_rq_work(&qp, &budget);
    spin_unlock_bh(&qp.rq.lock);
  }
};

// The pages of the READ are there. Its requester takes the silence for loss.
TEST(LongFault, OfARequestDelaysNoResponse) {
  Responder qp;
  qp.qp.rq.paging.of_response = true;  // at an earlier time
  stand_in_datapath.throttled = true;
  qp.receive_read(qp.regions[0]->key);
  qp.receive({qp.bytes_of(qp.write_only(101, IOVA, 8), Bytes(8, 7))});
  ASSERT_TRUE(qp.qp.rq.paging.pending);
  EXPECT_EQ(0u, stand_in_datapath.packets);
  stand_in_datapath.throttled = false;
  stand_in.now_ns += 1'000'000'000;  // the RNR NAK is due, and the request waits no more
  qp.round();
  EXPECT_EQ(2u, stand_in_datapath.packets) << "the response and the RNR NAK";
  EXPECT_EQ(SROCE_OP_ACK, stand_in_datapath.packet.opcode);
  __skb_queue_purge(&qp.qp.rq.out);
}

// Its own pages are missing.
TEST(LongFault, OfAResponseIsNotTriedInVain) {
  Responder qp;
  qp.receive_read(qp.key);
  ASSERT_TRUE(qp.qp.rq.paging.pending);
  const u32 begun = stand_in_datapath.packets;
  qp.round();
  EXPECT_EQ(begun, stand_in_datapath.packets);
  __skb_queue_purge(&qp.qp.rq.out);
}

}  // namespace
