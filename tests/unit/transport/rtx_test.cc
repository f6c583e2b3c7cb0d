// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "scoreboard_queue.h"

namespace {

using namespace sroce_test;

// A READ of 8 responses from a standard peer, and SENDs behind it from PSN 1008. The responses from
// 1002 on have been requested again, because that one is missing.
struct StandardRtx : SendQueue {
  explicit StandardRtx(u32 sends = 6) {
    post(read_of(8 * 1024));
    for (u32 i = 0; i < sends; i++) post(send_of(10));
    send_all();
    for (u32 number : {0, 1, 3, 4, 5, 6}) respond(number);
    EXPECT_EQ(psns_of(send_all()), Psns{1002});
  }
  void respond(u32 number) {
    receive(read_response(number ? SROCE_OP_READ_RESPONSE_MIDDLE : SROCE_OP_READ_RESPONSE_FIRST,
                          1000 + number, 1024));
  }
};

// The network loses packets, and with one READ at a time after a NAK only a probe would tell.
TEST(Retransmission, OfAReadIsRepeatedAfterANakOfALaterRequest) {
  StandardRtx sq;
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1009));
  Psns expected = range(1009, 5);
  expected.insert(expected.begin(), 1002);
  EXPECT_EQ(psns_of(sq.send_all()), expected);
}

// The peer has executed the READ, so the response is on its way.
TEST(Retransmission, OfAReadIsNotRepeatedAfterAnRnrNakOfALaterRequest) {
  StandardRtx sq;
  sq.receive(rnr_nak(1009));
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), range(1009, 5));
  EXPECT_TRUE(sq.req.sb.response_time.timing) << "of the response that is due";
}

// The SEND that gets the second one was sent behind the request for the response.
TEST(Retransmission, OfAReadIsLostAtTheSecondRnrNak) {
  StandardRtx sq;
  for (int i = 0; i < 3; i++) {
    sq.receive(rnr_nak(1008));
    sq.expire();
    EXPECT_EQ(psns_of(sq.send_all()).front(), i ? 1002u : 1008u) << i;
    if (i) EXPECT_EQ(psns_of(sq.send_all()), Psns{}) << i;
  }
}

TEST(Retransmission, ToASelectivePeerIsNotLostAtTheSecondRnrNak) {
  SelectiveQueue sq;
  sq.post(read_of(8 * 1024));
  for (int i = 0; i < 6; i++) sq.post(send_of(10));
  sq.send_all();
  for (u32 psn : {1000, 1001, 1003, 1004, 1005, 1006})
    sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, psn, 1024)));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
  for (int i = 0; i < 2; i++) {
    sroce_rtx_restart(&sq.req, 1008);
    EXPECT_TRUE(sq.req.sb.rtx[0].any || sq.req.sb.rtx[1].any) << i;
  }
}

// All that was requested again has come.
TEST(Retransmission, DoesNotComeBackBehindTheMap) {
  SelectiveQueue sq({.slots = 8});
  sq.post(read_of(4 * 1024));
  sq.post(read_of(4000 * 1024));
  sq.send_all();
  sroce_scoreboard_retransmitted(&sq.req, sroce_requester_wqe(&sq.req, 1), 1000, 4, sq.now);
  sq.req.unacked_psn = 1004;
  sq.req.acked++;
  sroce_rtx_restart(&sq.req, 1004 + kSpan + 100);
  EXPECT_FALSE(sq.req.sb.rtx[0].any || sq.req.sb.rtx[1].any);
}

// ACKs of what was sent after the NAK come after the response.
TEST(Retransmission, IsLostWhenLaterAcksComeAfterAnRnrNak) {
  StandardRtx sq;
  sq.receive(rnr_nak(1009));
  sq.expire();
  sq.send_all();
  sq.receive(ack(1010));
  EXPECT_TRUE(sq.send_all().empty()) << "it may be late";
  sq.receive(ack(1011));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
}

// A long READ has PSNs beyond the map.
TEST(Retransmission, IsForgottenBehindAnRnrNak) {
  SelectiveQueue sq({.slots = 8});
  sq.post(read_of(1024));
  sq.post(read_of(5000 * 1024));
  sq.send_all();
  sroce_scoreboard_retransmitted(&sq.req, sroce_requester_wqe(&sq.req, 2), 1001, 5000, sq.now);
  EXPECT_TRUE(sq.req.sb.response_time.timing);
  sroce_rtx_restart(&sq.req, 1001);
  EXPECT_FALSE(sq.req.sb.rtx[0].any || sq.req.sb.rtx[1].any);
  EXPECT_FALSE(sq.req.sb.response_time.timing);
}

TEST(Retransmission, IsForgottenFromTheFirstPacketOn) {
  SelectiveRead sq(8);
  sq.respond_all({2, 3, 4, 5});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  sroce_rtx_restart(&sq.req, 1000);
  EXPECT_FALSE(sq.req.sb.rtx[0].any || sq.req.sb.rtx[1].any);
}

// A standard peer sends all that follows a response, but was asked for a part.
TEST(Retransmission, DoesNotHideAResponseAfterWithdrawal) {
  SelectiveRead sq(12);
  sq.respond_all({0, 1, 4, 5, 6, 7, 8, 9, 10, 11});
  ASSERT_EQ(psns_of(sq.send_all()), Psns{1002});
  sq.keeps_accepting = false;
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1003, 1024), SROCE_MEM_NOT_PRESENT);
  ASSERT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_WITHDRAWN);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002}) << "at once, and not after a timeout";
}

// It has come in time, and was late for want of pages only.
TEST(Retransmission, OfAnUnplacedResponseSaysNothingOfReordering) {
  for (bool placed : {false, true}) {
    SelectiveRead sq(60);
    sq.req.sb.reordering = 16;
    sq.respond_all({0});
    if (!placed) sq.receive(sq.response(1), SROCE_MEM_NOT_PRESENT);
    for (u32 number = 2; number <= 22; number++) sq.respond(number);
    EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
    sq.now += 20 * kMicrosecond;
    sq.respond(1);
    EXPECT_EQ(sq.req.sb.reordering, placed ? 15u : 16u);
  }
}

// One request covers a lost response and one that could not be placed.
TEST(Retransmission, OfALostAndAnUnplacedResponseSaysNothingOfReordering) {
  SelectiveRead sq(60);
  sq.req.sb.reordering = 16;
  sq.respond_all({0});
  sq.receive(sq.response(2), SROCE_MEM_NOT_PRESENT);
  for (u32 number = 3; number <= 25; number++) sq.respond(number);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
  sq.now += 20 * kMicrosecond;
  sq.respond(2);
  EXPECT_EQ(sq.req.sb.reordering, 16u);
}

// Each generation is used again.
TEST(Retransmission, OfALostResponseTellsAfterThatOfAnUnplacedOne) {
  SelectiveRead sq(200);
  sq.respond_all({0});
  sq.receive(sq.response(1), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
  sq.respond(1);
  for (u32 lost = 2; lost < 150; lost += 30) {
    sq.now += kMillisecond;
    sq.req.sb.reordering = 16;
    for (u32 number = lost + 1; number < lost + 30; number++) sq.respond(number);
    EXPECT_EQ(psns_of(sq.send_all()), Psns{1000 + lost});
    sq.now += 20 * kMicrosecond;
    sq.respond(lost);
    EXPECT_EQ(sq.req.sb.reordering, 15u) << lost;
  }
}

}  // namespace
