// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Middle packets of a message that follow each other, looked at as one.
#include <gtest/gtest.h>

#include "receive_queue.h"
#include "send_queue.h"

namespace {

using namespace sroce_test;

// @count packets that begin with @pkt.
sroce_packet merged(sroce_packet pkt, u32 count) {
  pkt.count = count;
  pkt.payload_bytes *= count;
  return pkt;
}

TEST(ResponderCoalesce, MiddlePacketsOfAWriteLandAsIfOneByOne) {
  ReceiveQueue together, alone;
  for (ReceiveQueue* rq : {&together, &alone}) rq->receive(write_first(2000, 0x10000, 8 * 1024));
  for (u32 i = 1; i < 7; i++) alone.receive(request(SROCE_OP_WRITE_MIDDLE, 2000 + i, 1024));

  const sroce_packet middle = request(SROCE_OP_WRITE_MIDDLE, 2001, 1024);
  ASSERT_TRUE(sroce_responder_can_coalesce(&together.resp, &middle));
  const sroce_recv_plan plan = together.receive(merged(middle, 6));
  EXPECT_EQ(plan.va, 0x10000u + 1024);
  EXPECT_EQ(plan.place_bytes, 6u * 1024);
  EXPECT_EQ(plan.check_bytes, 6u * 1024);
  EXPECT_EQ(together.resp.epsn, alone.resp.epsn);
  EXPECT_EQ(together.resp.write_va, alone.resp.write_va);
  EXPECT_EQ(together.resp.write_left, alone.resp.write_left);
  EXPECT_EQ(together.receive(request(SROCE_OP_WRITE_LAST, 2007, 1024)).verdict, SROCE_RECV_PLACE);
}

TEST(ResponderCoalesce, MiddlePacketsOfASendLandAsIfOneByOne) {
  ResponderMidSend rq(8 * 1024);
  const sroce_recv_plan plan = rq.receive(merged(request(SROCE_OP_SEND_MIDDLE, 2001, 1024), 3));
  EXPECT_EQ(plan.offset, 1024u);
  EXPECT_EQ(plan.place_bytes, 3u * 1024);
  rq.receive(request(SROCE_OP_SEND_LAST, 2004, 100));
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].byte_len, 4u * 1024 + 100);
}

TEST(ResponderCoalesce, WhatIsLongerThanTheReceiveIsRefused) {
  ResponderMidSend rq(3 * 1024);
  const sroce_recv_plan plan = rq.receive(merged(request(SROCE_OP_SEND_MIDDLE, 2001, 1024), 3));
  EXPECT_EQ(plan.verdict, SROCE_RECV_NAK);
  EXPECT_EQ(plan.wc_status, SROCE_WC_LOC_LEN_ERR);
}

TEST(ResponderCoalesce, WhatIsLongerThanTheWriteIsRefused) {
  ReceiveQueue rq;
  rq.receive(write_first(2000, 0x10000, 4 * 1024));
  EXPECT_EQ(rq.receive(merged(request(SROCE_OP_WRITE_MIDDLE, 2001, 1024), 3)).verdict,
            SROCE_RECV_NAK);
}

TEST(ResponderCoalesce, PacketsThatAreNotFullAreRefused) {
  ReceiveQueue rq;
  rq.receive(write_first(2000, 0x10000, 64 * 1024));
  EXPECT_EQ(rq.receive(merged(request(SROCE_OP_WRITE_MIDDLE, 2001, 512), 2)).verdict,
            SROCE_RECV_NAK);
}

TEST(ResponderCoalesce, OnlyTheExpectedMiddlePacketIsFollowedByMore) {
  ReceiveQueue rq;
  const auto merges = [&rq](const sroce_packet& pkt) {
    return sroce_responder_can_coalesce(&rq.resp, &pkt);
  };
  EXPECT_FALSE(merges(write_first(2000, 0x10000, 64 * 1024)));
  rq.receive(write_first(2000, 0x10000, 64 * 1024));
  EXPECT_TRUE(merges(request(SROCE_OP_WRITE_MIDDLE, 2001, 1024)));
  EXPECT_FALSE(merges(request(SROCE_OP_WRITE_MIDDLE, 2000, 1024)));
  EXPECT_FALSE(merges(request(SROCE_OP_WRITE_MIDDLE, 2002, 1024)));
  EXPECT_FALSE(merges(request(SROCE_OP_WRITE_LAST, 2001, 1024)));
  EXPECT_FALSE(merges(request(SROCE_OP_READ_RESPONSE_MIDDLE, 2001, 1024)));
}

TEST(ResponderCoalesce, NothingThatArrivesIsLookedAtAsOneWhilePacketsAreHeld) {
  ReceiveQueue rq({.reorder_packets = 64});
  rq.receive(write_first(2000, 0x10000, 64 * 1024));
  rq.receive(request(SROCE_OP_WRITE_MIDDLE, 2003, 1024));
  ASSERT_EQ(rq.resp.reorder.count, 1u);
  const sroce_packet pkt = request(SROCE_OP_WRITE_MIDDLE, 2001, 1024);
  EXPECT_FALSE(sroce_responder_can_coalesce(&rq.resp, &pkt));
}

// Packets 2003 to 2007 of a WRITE of ten, held; 2002 is expected.
struct QueuedCoalesce : ::testing::Test {
  QueuedCoalesce() {
    rq.receive(write_first(2000, 0x10000, 10 * 1024));
    rq.receive(middle(2001));
    for (u32 psn = 2003; psn < 2008; psn++) rq.receive(middle(psn));
    EXPECT_EQ(rq.resp.reorder.count, 5u);
  }
  static sroce_packet middle(u32 psn) { return request(SROCE_OP_WRITE_MIDDLE, psn, 1024); }
  u32 behind(const sroce_packet& pkt) { return sroce_responder_queued_behind(&rq.resp, &pkt); }
  // By hand, without what ReceiveQueue does with what is held.
  void commit(const sroce_packet& pkt) {
    const sroce_recv_plan plan = rq.plan(pkt);
    const sroce_recv_result result{};
    sroce_responder_commit(&rq.resp, &pkt, &plan, &result, rq.now);
  }

  ReceiveQueue rq{{.reorder_packets = 64}};
};

TEST_F(QueuedCoalesce, WhatIsHeldInARowMayComeWithTheFirst) {
  commit(middle(2002));
  u32 psn;
  ASSERT_TRUE(sroce_responder_next_queued(&rq.resp, &psn));
  EXPECT_EQ(psn, 2003u);
  EXPECT_EQ(behind(middle(2003)), 4u);
  EXPECT_EQ(behind(middle(2004)), 0u);
  EXPECT_EQ(behind(request(SROCE_OP_WRITE_LAST, 2003, 1024)), 0u);
}

TEST_F(QueuedCoalesce, WhatWasExecutedWithTheFirstIsNotHeldAnyMore) {
  commit(middle(2002));
  u32 psn;
  ASSERT_TRUE(sroce_responder_next_queued(&rq.resp, &psn));
  commit(merged(middle(2003), 4));
  EXPECT_EQ(rq.resp.epsn, 2007u);
  EXPECT_EQ(rq.resp.write_va, 0x10000u + 7 * 1024);
  EXPECT_EQ(rq.resp.write_left, 3u * 1024);
  EXPECT_EQ(rq.resp.reorder.count, 1u);
  ASSERT_TRUE(sroce_responder_next_queued(&rq.resp, &psn));
  EXPECT_EQ(psn, 2007u);
  EXPECT_EQ(behind(middle(2007)), 0u);
}

// Thirty packets of a WRITE from just before the end of the PSNs, the first of which comes last.
struct QueuedBatches : ::testing::Test {
  static constexpr u32 kFirst = 0xfffff0;
  static u32 psn_at(u32 i) { return psn_add(kFirst, i); }
  static sroce_packet middle(u32 i) { return request(SROCE_OP_WRITE_MIDDLE, psn_at(i), 1024); }
  static sroce_packet last() {
    sroce_packet pkt = request(SROCE_OP_WRITE_LAST, psn_at(29), 1024);
    pkt.ack_req = true;
    return pkt;
  }
  static void hold_all(ReceiveQueue& rq) {
    sroce_responder_start_psn(&rq.resp, kFirst);
    rq.receive(write_first(kFirst, 0x10000, 30 * 1024));
    for (u32 i = 2; i < 29; i++) rq.receive(middle(i));
    rq.receive(last());
  }
};

TEST_F(QueuedBatches, LandAsIfOneByOne) {
  ReceiveQueue alone({.reorder_packets = 64}), rows({.reorder_packets = 64});
  hold_all(alone);
  hold_all(rows);
  alone.receive(middle(1));  // takes up the others, one by one

  const auto commit = [&rows](const sroce_packet& pkt) {
    const sroce_recv_plan plan = rows.plan(pkt);
    const sroce_recv_result result{};
    sroce_responder_commit(&rows.resp, &pkt, &plan, &result, rows.now);
    return plan;
  };
  commit(middle(1));
  u32 psn;
  for (u32 i = 2; i < 29; i += 9) {
    ASSERT_TRUE(sroce_responder_next_queued(&rows.resp, &psn));
    ASSERT_EQ(psn, psn_at(i));
    const sroce_packet first = middle(i);
    EXPECT_EQ(sroce_responder_queued_behind(&rows.resp, &first), 29 - i);
    const sroce_recv_plan plan = commit(merged(middle(i), 9));
    EXPECT_EQ(plan.va, 0x10000u + i * 1024);
    EXPECT_EQ(plan.place_bytes, 9u * 1024);
  }
  ASSERT_TRUE(sroce_responder_next_queued(&rows.resp, &psn));
  commit(last());
  EXPECT_EQ(rows.resp.epsn, alone.resp.epsn);
  EXPECT_EQ(rows.resp.msn, alone.resp.msn);
  EXPECT_EQ(rows.resp.write_left, alone.resp.write_left);
  EXPECT_EQ(rows.resp.reorder.count, 0u);
  EXPECT_EQ(rows.resp.ack_pending, alone.resp.ack_pending);
  EXPECT_EQ(rows.resp.ack_psn, alone.resp.ack_psn);
  EXPECT_EQ(rows.resp.reorder.reo_wnd_ns, alone.resp.reorder.reo_wnd_ns);
}

TEST_F(QueuedCoalesce, AGapEndsTheRow) {
  rq.receive(request(SROCE_OP_WRITE_LAST, 2009, 1024));
  commit(middle(2002));
  u32 psn;
  ASSERT_TRUE(sroce_responder_next_queued(&rq.resp, &psn));
  EXPECT_EQ(behind(middle(2003)), 4u);
}

// A READ of ten responses from PSN 1000, the first of which has come; the peer is selective or not.
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
  bool merges(const sroce_packet& pkt, u32 count = 8) const {
    return sroce_completer_can_coalesce(&sq.req, &pkt, count);
  }

  SendQueue sq;
};
INSTANTIATE_TEST_SUITE_P(EitherPeer, CompleterCoalesce, ::testing::Bool());

TEST_P(CompleterCoalesce, ResponsesLandAsIfOneByOne) {
  ASSERT_TRUE(merges(middle(1)));
  const sroce_ack_plan plan = sq.receive(merged(middle(1), 8));
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

TEST_P(CompleterCoalesce, MoreThanTheReadHasIsRefused) {
  EXPECT_EQ(sq.receive(merged(middle(1), 9)).action, SROCE_ACK_FAIL);
}

TEST_P(CompleterCoalesce, MoreThanAReadOfNothingHasIsRefused) {
  sq.receive(merged(middle(1), 8));
  sq.receive(response_of(SROCE_OP_READ_RESPONSE_LAST, 9));
  sq.post(read_of(0));
  sq.send_all();
  sroce_packet pkt = middle(10);
  pkt.payload_bytes = 0;
  EXPECT_EQ(sq.receive(merged(pkt, 8)).action, SROCE_ACK_FAIL);
  EXPECT_EQ(sq.req.unacked_psn, 1010u);
}

TEST_P(CompleterCoalesce, WhatIsNotFullIsRefused) {
  sroce_packet pkt = merged(middle(1), 4);
  pkt.payload_bytes -= 4;
  EXPECT_EQ(sq.receive(pkt).action, SROCE_ACK_FAIL);
}

TEST_P(CompleterCoalesce, NothingIsAnsweredThatCouldNotBePlaced) {
  sq.receive(merged(middle(1), 4), SROCE_MEM_BAD_LOCAL);
  EXPECT_EQ(sq.req.unacked_psn, 1001u);
  EXPECT_TRUE(sq.failed());
}

TEST_P(CompleterCoalesce, OnlyTheExpectedMiddleResponseIsFollowedByMore) {
  EXPECT_FALSE(merges(middle(0)));
  EXPECT_FALSE(merges(middle(2)));
  EXPECT_FALSE(merges(response_of(SROCE_OP_READ_RESPONSE_LAST, 1)));
  EXPECT_FALSE(merges(ack(1001)));
}

// Of a second copy of them only the first is checked before it is placed.
TEST_P(CompleterCoalesce, ResponsesThatWerePlacedAlreadyAreNotFollowedInto) {
  sq.receive(middle(3));
  EXPECT_FALSE(merges(middle(1)));
  EXPECT_FALSE(merges(middle(1), 3));
  EXPECT_TRUE(merges(middle(1), 2)) << "the two before it";
}

TEST(CompleterCoalesceBefore, ThePeerHasAnsweredNothingIsLookedAtAsOne) {
  SendQueue sq({.selective = true});
  sq.post(read_of(10 * 1024));
  sq.send_all();
  const sroce_packet pkt = read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1000, 1024);
  EXPECT_FALSE(sroce_completer_can_coalesce(&sq.req, &pkt, 2));
}

}  // namespace
