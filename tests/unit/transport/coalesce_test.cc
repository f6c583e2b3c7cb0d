// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Adjacent middle packets of a message, handled as one.
#include <gtest/gtest.h>

#include "receive_queue.h"
#include "send_queue.h"

namespace {

using namespace sroce_test;

// @count packets that begin with @pkt.
sroce_packet coalesced(sroce_packet pkt, u32 count) {
  pkt.count = count;
  pkt.payload_bytes *= count;
  return pkt;
}

TEST(ResponderCoalesce, WriteMiddlesArePlacedLikeSinglePackets) {
  ReceiveQueue together, alone;
  for (ReceiveQueue* rq : {&together, &alone}) rq->receive(write_first(2000, 0x10000, 8 * 1024));
  for (u32 i = 1; i < 7; i++) alone.receive(request(SROCE_OP_WRITE_MIDDLE, 2000 + i, 1024));

  const sroce_packet middle = request(SROCE_OP_WRITE_MIDDLE, 2001, 1024);
  ASSERT_TRUE(sroce_responder_can_coalesce(&together.resp, &middle));
  const sroce_recv_plan plan = together.receive(coalesced(middle, 6));
  EXPECT_EQ(plan.va, 0x10000u + 1024);
  EXPECT_EQ(plan.place_bytes, 6u * 1024);
  EXPECT_EQ(plan.check_bytes, 6u * 1024);
  EXPECT_EQ(together.resp.epsn, alone.resp.epsn);
  EXPECT_EQ(together.resp.write_va, alone.resp.write_va);
  EXPECT_EQ(together.resp.write_left, alone.resp.write_left);
  EXPECT_EQ(together.receive(request(SROCE_OP_WRITE_LAST, 2007, 1024)).verdict, SROCE_RECV_PLACE);
}

TEST(ResponderCoalesce, SendMiddlesArePlacedLikeSinglePackets) {
  ResponderMidSend rq(8 * 1024);
  const sroce_recv_plan plan = rq.receive(coalesced(request(SROCE_OP_SEND_MIDDLE, 2001, 1024), 3));
  EXPECT_EQ(plan.offset, 1024u);
  EXPECT_EQ(plan.place_bytes, 3u * 1024);
  rq.receive(request(SROCE_OP_SEND_LAST, 2004, 100));
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].byte_len, 4u * 1024 + 100);
}

TEST(ResponderCoalesce, DataBeyondTheReceiveIsRejected) {
  ResponderMidSend rq(3 * 1024);
  const sroce_recv_plan plan = rq.receive(coalesced(request(SROCE_OP_SEND_MIDDLE, 2001, 1024), 3));
  EXPECT_EQ(plan.verdict, SROCE_RECV_NAK);
  EXPECT_EQ(plan.wc_status, SROCE_WC_LOC_LEN_ERR);
}

TEST(ResponderCoalesce, DataBeyondTheWriteIsRejected) {
  ReceiveQueue rq;
  rq.receive(write_first(2000, 0x10000, 4 * 1024));
  EXPECT_EQ(rq.receive(coalesced(request(SROCE_OP_WRITE_MIDDLE, 2001, 1024), 3)).verdict,
            SROCE_RECV_NAK);
}

TEST(ResponderCoalesce, PartialPacketsAreRejected) {
  ReceiveQueue rq;
  rq.receive(write_first(2000, 0x10000, 64 * 1024));
  EXPECT_EQ(rq.receive(coalesced(request(SROCE_OP_WRITE_MIDDLE, 2001, 512), 2)).verdict,
            SROCE_RECV_NAK);
}

TEST(ResponderCoalesce, OnlyTheExpectedMiddlePacketCoalesces) {
  ReceiveQueue rq;
  const auto can_coalesce = [&rq](const sroce_packet& pkt) {
    return sroce_responder_can_coalesce(&rq.resp, &pkt);
  };
  EXPECT_FALSE(can_coalesce(write_first(2000, 0x10000, 64 * 1024)));
  rq.receive(write_first(2000, 0x10000, 64 * 1024));
  EXPECT_TRUE(can_coalesce(request(SROCE_OP_WRITE_MIDDLE, 2001, 1024)));
  EXPECT_FALSE(can_coalesce(request(SROCE_OP_WRITE_MIDDLE, 2000, 1024)));
  EXPECT_FALSE(can_coalesce(request(SROCE_OP_WRITE_MIDDLE, 2002, 1024)));
  EXPECT_FALSE(can_coalesce(request(SROCE_OP_WRITE_LAST, 2001, 1024)));
  EXPECT_FALSE(can_coalesce(request(SROCE_OP_READ_RESPONSE_MIDDLE, 2001, 1024)));
}

TEST(ResponderCoalesce, NothingCoalescesWhilePacketsAreQueued) {
  ReceiveQueue rq({.reorder_packets = 64});
  rq.receive(write_first(2000, 0x10000, 64 * 1024));
  rq.receive(request(SROCE_OP_WRITE_MIDDLE, 2003, 1024));
  ASSERT_EQ(rq.resp.reorder.count, 1u);
  const sroce_packet pkt = request(SROCE_OP_WRITE_MIDDLE, 2001, 1024);
  EXPECT_FALSE(sroce_responder_can_coalesce(&rq.resp, &pkt));
}

// Packets 2003 to 2007 of a WRITE of ten, queued; 2002 is expected.
struct QueuedCoalesce : ::testing::Test {
  QueuedCoalesce() {
    rq.receive(write_first(2000, 0x10000, 10 * 1024));
    rq.receive(middle(2001));
    for (u32 psn = 2003; psn < 2008; psn++) rq.receive(middle(psn));
    EXPECT_EQ(rq.resp.reorder.count, 5u);
  }
  static sroce_packet middle(u32 psn) { return request(SROCE_OP_WRITE_MIDDLE, psn, 1024); }
  u32 behind(const sroce_packet& pkt) { return sroce_reorder_queued_behind(&rq.resp, &pkt); }
  // Unlike ReceiveQueue::receive(), releases no queued packets.
  void commit(const sroce_packet& pkt) {
    const sroce_recv_plan plan = rq.plan(pkt);
    const sroce_recv_result result{};
    sroce_responder_commit(&rq.resp, &pkt, &plan, &result, rq.now);
  }

  ReceiveQueue rq{{.reorder_packets = 64}};
};

TEST_F(QueuedCoalesce, QueuedPacketsCoalesceWithTheFirst) {
  commit(middle(2002));
  u32 psn;
  ASSERT_TRUE(sroce_reorder_next_queued(&rq.resp, &psn));
  EXPECT_EQ(psn, 2003u);
  EXPECT_EQ(behind(middle(2003)), 4u);
  EXPECT_EQ(behind(middle(2004)), 0u);
  EXPECT_EQ(behind(request(SROCE_OP_WRITE_LAST, 2003, 1024)), 0u);
}

TEST_F(QueuedCoalesce, CoalescedPacketsLeaveTheQueue) {
  commit(middle(2002));
  u32 psn;
  ASSERT_TRUE(sroce_reorder_next_queued(&rq.resp, &psn));
  commit(coalesced(middle(2003), 4));
  EXPECT_EQ(rq.resp.epsn, 2007u);
  EXPECT_EQ(rq.resp.write_va, 0x10000u + 7 * 1024);
  EXPECT_EQ(rq.resp.write_left, 3u * 1024);
  EXPECT_EQ(rq.resp.reorder.count, 1u);
  ASSERT_TRUE(sroce_reorder_next_queued(&rq.resp, &psn));
  EXPECT_EQ(psn, 2007u);
  EXPECT_EQ(behind(middle(2007)), 0u);
}

// A WRITE of thirty packets across the PSN wrap. All are queued behind the missing second one.
struct QueuedBatches : ::testing::Test {
  static constexpr u32 kFirst = 0xfffff0;
  static u32 psn_at(u32 i) { return psn_add(kFirst, i); }
  static sroce_packet middle(u32 i) { return request(SROCE_OP_WRITE_MIDDLE, psn_at(i), 1024); }
  static sroce_packet last() {
    sroce_packet pkt = request(SROCE_OP_WRITE_LAST, psn_at(29), 1024);
    pkt.ack_req = true;
    return pkt;
  }
  static void queue_all(ReceiveQueue& rq) {
    sroce_responder_start_psn(&rq.resp, kFirst);
    rq.receive(write_first(kFirst, 0x10000, 30 * 1024));
    for (u32 i = 2; i < 29; i++) rq.receive(middle(i));
    rq.receive(last());
  }
};

TEST_F(QueuedBatches, ArePlacedLikeSinglePackets) {
  ReceiveQueue alone({.reorder_packets = 64}), together({.reorder_packets = 64});
  queue_all(alone);
  queue_all(together);
  alone.receive(middle(1));  // releases the others, one by one

  const auto commit = [&together](const sroce_packet& pkt) {
    const sroce_recv_plan plan = together.plan(pkt);
    const sroce_recv_result result{};
    sroce_responder_commit(&together.resp, &pkt, &plan, &result, together.now);
    return plan;
  };
  commit(middle(1));
  u32 psn;
  for (u32 i = 2; i < 29; i += 9) {
    ASSERT_TRUE(sroce_reorder_next_queued(&together.resp, &psn));
    ASSERT_EQ(psn, psn_at(i));
    const sroce_packet first = middle(i);
    EXPECT_EQ(sroce_reorder_queued_behind(&together.resp, &first), 29 - i);
    const sroce_recv_plan plan = commit(coalesced(middle(i), 9));
    EXPECT_EQ(plan.va, 0x10000u + i * 1024);
    EXPECT_EQ(plan.place_bytes, 9u * 1024);
  }
  ASSERT_TRUE(sroce_reorder_next_queued(&together.resp, &psn));
  commit(last());
  EXPECT_EQ(together.resp.epsn, alone.resp.epsn);
  EXPECT_EQ(together.resp.msn, alone.resp.msn);
  EXPECT_EQ(together.resp.write_left, alone.resp.write_left);
  EXPECT_EQ(together.resp.reorder.count, 0u);
  EXPECT_EQ(together.resp.ack_pending, alone.resp.ack_pending);
  EXPECT_EQ(together.resp.ack_psn, alone.resp.ack_psn);
  EXPECT_EQ(together.resp.reorder.reo_wnd_ns, alone.resp.reorder.reo_wnd_ns);
}

TEST_F(QueuedCoalesce, GapLimitsCoalescing) {
  rq.receive(request(SROCE_OP_WRITE_LAST, 2009, 1024));
  commit(middle(2002));
  u32 psn;
  ASSERT_TRUE(sroce_reorder_next_queued(&rq.resp, &psn));
  EXPECT_EQ(behind(middle(2003)), 4u);
}

// A READ of ten responses from PSN 1000. The first has arrived. The parameter is
// whether the peer is selective.
struct CompleterCoalesce : ::testing::TestWithParam<bool> {
  CompleterCoalesce() : sq({.selective = GetParam()}) {
    sq.post(read_of(10 * 1024));
    sq.send_all();
    sq.receive(response_of(SROCE_OP_READ_RESPONSE_FIRST, 0));
  }
  sroce_packet response_of(u8 opcode, u32 number) const {
    sroce_packet pkt = read_response(opcode, 1000 + number, 1024);
    pkt.selective = GetParam();
    return pkt;
  }
  sroce_packet middle(u32 number) const {
    return response_of(SROCE_OP_READ_RESPONSE_MIDDLE, number);
  }
  bool can_coalesce(const sroce_packet& pkt, u32 count = 8) const {
    return sroce_completer_can_coalesce(&sq.req, &pkt, count);
  }

  SendQueue sq;
};
INSTANTIATE_TEST_SUITE_P(EitherPeer, CompleterCoalesce, ::testing::Bool());

TEST_P(CompleterCoalesce, ResponsesArePlacedLikeSinglePackets) {
  ASSERT_TRUE(can_coalesce(middle(1)));
  const sroce_ack_plan plan = sq.receive(coalesced(middle(1), 8));
  EXPECT_EQ(plan.action, SROCE_ACK_ACCEPT);
  EXPECT_EQ(plan.place_offset, 1024u);
  EXPECT_EQ(plan.place_bytes, 8u * 1024);
  EXPECT_EQ(sq.req.unacked_psn, 1009u);
  EXPECT_FALSE(sq.completion());
  sq.receive(response_of(SROCE_OP_READ_RESPONSE_LAST, 9));
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->status, SROCE_WC_SUCCESS);
}

TEST_P(CompleterCoalesce, ResponsesBeyondTheReadAreRejected) {
  EXPECT_EQ(sq.receive(coalesced(middle(1), 9)).action, SROCE_ACK_FAIL);
}

TEST_P(CompleterCoalesce, ResponsesBeyondAnEmptyReadAreRejected) {
  sq.receive(coalesced(middle(1), 8));
  sq.receive(response_of(SROCE_OP_READ_RESPONSE_LAST, 9));
  sq.post(read_of(0));
  sq.send_all();
  sroce_packet pkt = middle(10);
  pkt.payload_bytes = 0;
  EXPECT_EQ(sq.receive(coalesced(pkt, 8)).action, SROCE_ACK_FAIL);
  EXPECT_EQ(sq.req.unacked_psn, 1010u);
}

TEST_P(CompleterCoalesce, PartialResponsesAreRejected) {
  sroce_packet pkt = coalesced(middle(1), 4);
  pkt.payload_bytes -= 4;
  EXPECT_EQ(sq.receive(pkt).action, SROCE_ACK_FAIL);
}

TEST_P(CompleterCoalesce, FailedPlacementMakesNoProgress) {
  sq.receive(coalesced(middle(1), 4), SROCE_MEM_BAD_LOCAL);
  EXPECT_EQ(sq.req.unacked_psn, 1001u);
  EXPECT_TRUE(sq.failed());
}

TEST_P(CompleterCoalesce, OnlyTheExpectedMiddleResponseCoalesces) {
  EXPECT_FALSE(can_coalesce(middle(0)));
  EXPECT_FALSE(can_coalesce(middle(2)));
  EXPECT_FALSE(can_coalesce(response_of(SROCE_OP_READ_RESPONSE_LAST, 1)));
  EXPECT_FALSE(can_coalesce(ack(1001)));
}

// Only the first of the coalesced packets is checked for having been placed already.
TEST_P(CompleterCoalesce, CoalescingStopsBeforePlacedResponses) {
  sq.receive(middle(3));
  EXPECT_FALSE(can_coalesce(middle(1)));
  EXPECT_FALSE(can_coalesce(middle(1), 3));
  EXPECT_TRUE(can_coalesce(middle(1), 2)) << "the two before it";
}

TEST(CompleterCoalesceOffered, NothingCoalescesBeforeTheFirstResponse) {
  SendQueue sq({.selective = true});
  sq.post(read_of(10 * 1024));
  sq.send_all();
  const sroce_packet pkt = read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1000, 1024);
  EXPECT_FALSE(sroce_completer_can_coalesce(&sq.req, &pkt, 2));
}

}  // namespace
