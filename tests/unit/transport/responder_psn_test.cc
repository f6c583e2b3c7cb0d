// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "receive_queue.h"

namespace {

using namespace sroce_test;

// ---------------------------------------------------------------- PSN

TEST(ResponderPsn, GapIsReportedOnce) {
  ReceiveQueue rq;
  rq.post(100);
  EXPECT_EQ(rq.receive(send_only(2001, 10)).verdict, SROCE_RECV_NAK);
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2000);
  expect_dropped(rq, send_only(2002, 10), SROCE_DROP_SEQUENCE);
  EXPECT_TRUE(rq.respond().empty());
  EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
}

TEST(ResponderPsn, MissingPacketAllowsTheNextNak) {
  ReceiveQueue rq;
  for (int i = 0; i < 3; i++) rq.post(100);
  rq.receive(send_only(2001, 10));
  rq.respond();
  rq.receive(send_only(2000, 10));
  expect_nak(rq, kAckSyndrome, 2000);
  rq.receive(send_only(2002, 10));
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2001);
}

TEST(ResponderPsn, GapExecutesNothing) {
  ReceiveQueue rq;
  rq.post(100);
  const sroce_recv_plan plan = rq.receive(send_only(2005, 10));
  EXPECT_EQ(plan.place_bytes, 0u);
  EXPECT_TRUE(rq.completions.empty());
  EXPECT_EQ(rq.resp.epsn, 2000u);
}

TEST(ResponderPsn, HalfACircleSeparatesGapsFromDuplicates) {
  ReceiveQueue rq;
  EXPECT_EQ(rq.plan(send_only(psn_add(2000, SROCE_PSN_SPAN - 1), 4)).verdict, SROCE_RECV_NAK);
  EXPECT_EQ(rq.plan(send_only(psn_add(2000, SROCE_PSN_SPAN + 1), 4)).verdict, SROCE_RECV_ACK_AGAIN);
}

TEST(ResponderPsn, ExpectedPsnCrossesTheWrap) {
  ReceiveQueue rq({.psn = 0xffffff});
  rq.post(100);
  rq.post(100);
  rq.receive(send_only(0xffffff, 10));
  EXPECT_EQ(rq.resp.epsn, 0u);
  rq.receive(send_only(0, 10));
  EXPECT_EQ(rq.completions.size(), 2u);
}

TEST(ResponderPsn, ReadConsumesOnePsnForEachResponse) {
  for (u32 mtu : {256u, 512u, 1024u, 2048u, 4096u}) {
    for (u32 length : {0u, 1u, mtu - 1, mtu, mtu + 1, 5 * mtu, 1u << 31}) {
      ReceiveQueue rq({.mtu_bytes = mtu});
      rq.receive(read_request(2000, 0x10000, length));
      const u32 expected = length ? length / mtu + (length % mtu ? 1 : 0) : 1;
      EXPECT_EQ(rq.resp.epsn, psn_add(2000, expected)) << mtu << " " << length;
    }
  }
}

// ---------------------------------------------------------------- duplicates

TEST(ResponderDuplicate, SendIsAcknowledgedAgainAndNotExecuted) {
  ReceiveQueue rq;
  rq.post(100);
  rq.post(100);
  rq.receive(send_only(2000, 10));
  rq.respond();
  EXPECT_EQ(rq.receive(send_only(2000, 10)).verdict, SROCE_RECV_ACK_AGAIN);
  EXPECT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.buffers_left(), 1u);
  expect_nak(rq, kAckSyndrome, 2000);
}

TEST(ResponderDuplicate, IsAcknowledgedWithTheNewestPsn) {
  ReceiveQueue rq;
  for (u32 i = 0; i < 3; i++) rq.receive(write_only(2000 + i, 0x10000, 4));
  rq.respond();
  rq.receive(write_only(2000, 0x10000, 4));
  expect_nak(rq, kAckSyndrome, 2002);
}

TEST(ResponderDuplicate, DoesNotDisturbTheCurrentMessage) {
  ResponderMidWrite rq;
  EXPECT_EQ(rq.receive(write_first(2000, 0x10000, 3000)).verdict, SROCE_RECV_ACK_AGAIN);
  EXPECT_EQ(rq.receive(request(SROCE_OP_WRITE_MIDDLE, 2001, 1024)).va, 0x10000u + 1024);
}

TEST(ResponderDuplicate, AckStopsBeforeALaterRead) {
  ReceiveQueue rq;
  rq.receive(write_only(2000, 0x10000, 4));
  rq.receive(read_request(2001, 0x10000, 4));
  rq.receive(write_only(2002, 0x10000, 4));
  rq.respond();
  rq.receive(write_only(2000, 0x10000, 4));
  const auto responses = rq.respond();
  ASSERT_FALSE(responses.empty());
  EXPECT_EQ(responses.back().opcode, SROCE_OP_ACK);
  EXPECT_EQ(responses.back().psn, 2000u);
}

TEST(ResponderDuplicate, DoesNotLowerAPendingAck) {
  ReceiveQueue rq;
  rq.receive(write_only(2000, 0x10000, 4));
  rq.receive(read_request(2001, 0x10000, 4));
  rq.respond();
  rq.receive(write_only(2002, 0x10000, 4));
  rq.receive(write_only(2000, 0x10000, 4));
  expect_nak(rq, kAckSyndrome, 2002);
}

TEST(ResponderDuplicate, UnsupportedOperationIsDropped) {
  ReceiveQueue rq;
  rq.receive(write_only(2000, 0x10000, 4));
  rq.respond();
  expect_dropped(rq, request(0x1b, 2000, 20), SROCE_DROP_DUPLICATE);
  EXPECT_TRUE(rq.respond().empty());
}

TEST(ResponderDuplicateRead, IsExecutedAgain) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 3000));
  EXPECT_EQ(rq.respond().size(), 3u);
  const sroce_recv_plan plan = rq.receive(read_request(2000, 0x10000, 3000));
  EXPECT_EQ(plan.verdict, SROCE_RECV_REPLAY);
  EXPECT_EQ(plan.check_bytes, 3000u);
  EXPECT_EQ(rq.respond().size(), 3u);
  EXPECT_EQ(rq.resp.epsn, 2003u);
}

TEST(ResponderDuplicateRead, MayStartInTheMiddle) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 3000));
  rq.respond();
  rq.receive(read_request(2001, 0x10000 + 1024, 3000 - 1024));
  const auto made = rq.next_response();
  ASSERT_TRUE(made);
  EXPECT_EQ(made->va, 0x10000u + 1024);
  EXPECT_EQ(made->payload_bytes, 3000u - 1024);
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(responses[0].psn, 2001u);
  EXPECT_EQ(responses[0].opcode, SROCE_OP_READ_RESPONSE_FIRST);
  EXPECT_EQ(responses[1].opcode, SROCE_OP_READ_RESPONSE_LAST);
}

TEST(ResponderDuplicateRead, ShorterRangeGetsOnlyThatRange) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 4096));
  rq.respond();
  EXPECT_EQ(rq.receive(read_request(2001, 0x10000 + 1024, 2048)).verdict, SROCE_RECV_REPLAY);
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(responses[0].psn, 2001u);
  EXPECT_EQ(responses[0].opcode, SROCE_OP_READ_RESPONSE_FIRST);
  EXPECT_EQ(responses[1].psn, 2002u);
  EXPECT_EQ(responses[1].opcode, SROCE_OP_READ_RESPONSE_LAST);
  EXPECT_EQ(rq.resp.epsn, 2004u);
}

TEST(ResponderDuplicateRead, IsDroppedBeyondTheOriginalRange) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 3000));
  rq.respond();
  expect_dropped(rq, read_request(2000, 0x10000, 3001), SROCE_DROP_REPLAY);
  expect_dropped(rq, read_request(2001, 0x10000 + 1024, 3000), SROCE_DROP_REPLAY);
  expect_dropped(rq, read_request(2000, 0x0f000, 3000), SROCE_DROP_REPLAY);
}

TEST(ResponderDuplicateRead, IsDroppedWithAnotherKey) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 10));
  rq.respond();
  expect_dropped(rq, with_reth(request(SROCE_OP_READ_REQUEST, 2000), 0x10000, 10, 0xdead),
                 SROCE_DROP_REPLAY);
}

// A peer that has its data may have said so, and the region been deregistered because of that.
TEST(ResponderDuplicateRead, GetsANakWhenItsRegionIsGone) {
  RespondedRead rq(1);
  rq.repeat(0, 1, kBadKey);
  expect_nak(rq, SROCE_NAK_REMOTE_ACCESS, 2000);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
  EXPECT_EQ(rq.event(), SROCE_EVENT_COMM_EST);
}

TEST(ResponderDuplicateRead, NakKeepsAPendingAck) {
  RespondedRead rq(1);
  rq.receive(write_only(2001, 0x10000, 16));
  rq.repeat(0, 1, kBadKey);
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(responses[0].syndrome, SROCE_NAK_REMOTE_ACCESS);
  EXPECT_EQ(responses[1].psn, 2001u);
}

TEST(ResponderDuplicateRead, NakSurvivesALaterRequest) {
  RespondedRead rq(1);
  rq.repeat(0, 1, kBadKey);
  auto quiet = write_only(2001, 0x10000, 16);
  quiet.ack_req = false;
  rq.receive(quiet);
  expect_nak(rq, SROCE_NAK_REMOTE_ACCESS, 2000);
}

TEST(ResponderDuplicateRead, NakIsForgottenHalfACircleLater) {
  RespondedRead rq(1, {.mtu_bytes = 256});
  rq.repeat(0, 1, kBadKey);
  rq.receive(read_request(2001, 0x10000, 1u << 31));
  EXPECT_FALSE(rq.resp.dup_nak_pending);
}

TEST(ResponderDuplicateRead, NakKeepsAnotherPendingNak) {
  RespondedRead rq(1);
  rq.receive(request(SROCE_OP_SEND_ONLY, 2001, 10));
  rq.repeat(0, 1, kBadKey);
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(responses[0].psn, 2000u);
  EXPECT_EQ(responses[1].psn, 2001u);
  EXPECT_EQ(responses[1].syndrome & SROCE_AETH_KIND_MASK, SROCE_AETH_RNR_NAK);
}

// The peer may need the first NAK and not know of the second. Nothing follows the second.
TEST(ResponderDuplicateRead, NakPrecedesThatOfALaterRequest) {
  RespondedRead rq(4);
  rq.repeat(0, 4);
  rq.receive(write_only(2004, 0x10000, 16), kBadKey);
  rq.sent(*rq.next_response(1), SROCE_MEM_BAD_KEY);
  EXPECT_FALSE(sroce_response_is_dead(&rq.resp));
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(responses[0].psn, 2000u);
  EXPECT_EQ(responses[1].psn, 2004u);
  EXPECT_TRUE(sroce_response_is_dead(&rq.resp));
}

TEST(ResponderDuplicateRead, GetsANakWhenItsRegionGoesDuringReplay) {
  RespondedRead rq(4);
  rq.repeat(0, 4);
  rq.sent(*rq.next_response(1));
  rq.sent(*rq.next_response(1), SROCE_MEM_BAD_KEY);
  expect_nak(rq, SROCE_NAK_REMOTE_ACCESS, 2001);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
}

TEST(ResponderDuplicateRead, RegionGoneDuringTheFirstResponseIsFatal) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 4096));
  rq.sent(*rq.next_response(3));
  rq.receive(read_request(2000, 0x10000, 4096), kBadKey);
  rq.sent(*rq.next_response(1), SROCE_MEM_BAD_KEY);
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(responses[0].psn, 2000u);
  EXPECT_EQ(responses[1].psn, 2003u);
  EXPECT_EQ(responses[1].syndrome, SROCE_NAK_REMOTE_ACCESS);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_FAILED);
}

TEST(ResponderDuplicateRead, RestartsAnUnfinishedResponse) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 4096));
  rq.sent(*rq.next_response(3));
  rq.receive(read_request(2000, 0x10000, 4096));
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 4u);
  EXPECT_EQ(responses[0].psn, 2000u);
}

TEST(ResponderDuplicateRead, KeepsLaterResponsesInOrder) {
  ReceiveQueue rq;
  rq.receive(fetch_add_request(2000, 1), original(42));
  rq.respond();
  rq.receive(read_request(2001, 0x10000, 2048));
  rq.receive(write_only(2003, 0x10000, 4));
  rq.receive(fetch_add_request(2000, 1));
  const auto responses = rq.respond(1);
  ASSERT_EQ(responses.size(), 4u);
  for (u32 i = 0; i < 4; i++) EXPECT_EQ(responses[i].psn, 2000 + i);
  EXPECT_EQ(responses[3].opcode, SROCE_OP_ACK) << "the ACK overtakes none of them";
}

TEST(ResponderDuplicateRead, DoesNotCountAgainstTheLimit) {
  ReceiveQueue rq({.max_dest_rd_atomic = 1});
  rq.receive(read_request(2000, 0x10000, 10));
  rq.respond();
  rq.receive(read_request(2000, 0x10000, 10));
  EXPECT_EQ(rq.receive(read_request(2001, 0x10000, 10)).verdict, SROCE_RECV_READ)
      << "a peer that requests the next has the response to the first";
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].psn, 2001u);
}

TEST(ResponderDuplicateAtomic, ReturnsTheSavedResultWithoutExecution) {
  ReceiveQueue rq;
  EXPECT_EQ(rq.receive(fetch_add_request(2000, 1), original(42)).verdict, SROCE_RECV_ATOMIC);
  rq.respond();
  EXPECT_EQ(rq.receive(fetch_add_request(2000, 1), original(43)).verdict, SROCE_RECV_REPLAY);
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].opcode, SROCE_OP_ATOMIC_ACK);
  EXPECT_EQ(responses[0].psn, 2000u);
  EXPECT_EQ(responses[0].atomic_original, 42u);
}

TEST(ResponderDuplicateAtomic, IsDroppedWhenForgotten) {
  ReceiveQueue rq({.max_dest_rd_atomic = 2});
  for (u32 i = 0; i < 3; i++) {
    rq.receive(fetch_add_request(2000 + i, 1), original(i));
    rq.respond();
  }
  expect_dropped(rq, fetch_add_request(2000, 1), SROCE_DROP_REPLAY);
  EXPECT_TRUE(rq.respond().empty());
  EXPECT_EQ(rq.receive(fetch_add_request(2001, 1)).verdict, SROCE_RECV_REPLAY);
}

TEST(ResponderDuplicate, ReadAtThePsnOfAnAtomicIsDropped) {
  ReceiveQueue rq;
  rq.receive(fetch_add_request(2000, 1));
  rq.receive(read_request(2001, 0x10000, 8));
  rq.respond();
  expect_dropped(rq, read_request(2000, 0x20000, 8), SROCE_DROP_REPLAY);
  expect_dropped(rq, fetch_add_request(2001, 1), SROCE_DROP_REPLAY);
}

TEST(ResponderDuplicate, OldReadsDoNotLimitItsAck) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 8));
  rq.respond();
  // The longest READ advances half of the PSN circle with one packet.
  for (int i = 0; i < 3; i++) {
    rq.receive(read_request(rq.resp.epsn, 0x10000, 1u << 31));
    while (auto made = rq.next_response()) rq.sent(*made);
  }
  const u32 psn = rq.resp.epsn;
  rq.receive(write_only(psn, 0x10000, 4));
  rq.respond();
  rq.receive(write_only(psn, 0x10000, 4));
  expect_nak(rq, kAckSyndrome, psn);
}

// WRITEs without AckReq for all PSNs up to and including @last.
void write_up_to(ReceiveQueue& rq, u32 last) {
  while (rq.resp.epsn != psn_add(last, 1))
    rq.receive(with_reth(request(SROCE_OP_WRITE_ONLY, rq.resp.epsn, 4), 0x10000, 4));
}

TEST(ResponderDuplicate, ReadOfACircleAgoDoesNotLimitItsAck) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 8));
  rq.respond();
  rq.resp.epsn = psn_add(2000, SROCE_PSN_SPAN - 10);
  write_up_to(rq, psn_add(2000, SROCE_PSN_SPAN + 10));
  rq.resp.epsn = 1990;
  write_up_to(rq, 2000);
  rq.receive(write_only(2000, 0x10000, 4));
  expect_nak(rq, kAckSyndrome, 2000);
}

// ---------------------------------------------------------------- MSN

TEST(ResponderMsn, CountsMessagesNotPackets) {
  ResponderMidSend rq;
  EXPECT_EQ(rq.resp.msn, 0u);
  rq.receive(with_ack_req(request(SROCE_OP_SEND_LAST, 2001, 4)));
  EXPECT_EQ(rq.respond().back().msn, 1u);
  rq.receive(write_only(2002, 0x10000, 4));
  EXPECT_EQ(rq.respond().back().msn, 2u);
  rq.receive(read_request(2003, 0x10000, 4));
  EXPECT_EQ(rq.respond().back().msn, 3u);
  rq.receive(fetch_add_request(2004, 1));
  EXPECT_EQ(rq.respond().back().msn, 4u);
}

TEST(ResponderMsn, DuplicatesDoNotCount) {
  ReceiveQueue rq;
  rq.receive(write_only(2000, 0x10000, 4));
  rq.receive(write_only(2000, 0x10000, 4));
  EXPECT_EQ(rq.respond().back().msn, 1u);
}

TEST(ResponderMsn, HasTwentyFourBits) {
  ReceiveQueue rq;
  rq.resp.msn = 0xffffff;
  rq.receive(write_only(2000, 0x10000, 4));
  EXPECT_EQ(rq.respond().back().msn, 0u);
}

}  // namespace
