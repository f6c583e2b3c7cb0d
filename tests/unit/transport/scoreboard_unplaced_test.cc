// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <utility>

#include "scoreboard_queue.h"

namespace {

using namespace sroce_test;

// The pages that it is for are not there. No other response has overtaken it.
TEST(UnplacedResponse, IsRequestedAgainWithoutATimer) {
  SelectiveRead sq(4, {.adaptive = true});
  sq.respond_all({0, 1, 2});
  sq.receive(sq.response(3), SROCE_MEM_NOT_PRESENT);
  EXPECT_TRUE(sq.req.responded);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1003});
  sq.respond_all({3});
  EXPECT_EQ(sq.completions().size(), 1u);
}

TEST(UnplacedResponse, OthersThatAreMissingComeWithIt) {
  SelectiveRead sq(8);
  sq.respond_all({0});
  for (u32 number : {1, 2, 3}) sq.receive(sq.response(number), SROCE_MEM_NOT_PRESENT);
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1001u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 3u * 1024) << "the others are on their way";
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(UnplacedResponse, IsRequestedAgainAlsoBehindAnother) {
  SelectiveRead sq(4);
  sq.respond_all({0});
  for (int i = 0; i < 3; i++) {
    for (u32 number : {1, 3}) sq.receive(sq.response(number), SROCE_MEM_NOT_PRESENT);
    if (!i) sq.respond_all({2});
    EXPECT_EQ(psns_of(sq.send_all()), (Psns{1001, 1003})) << i;
  }
  sq.receive(sq.response(3), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1003}) << "the other is on its way";
}

// A standard peer, too, is asked once for each request.
TEST(UnplacedResponse, IsRequestedAgainBehindThatOfAnotherRequest) {
  SendQueue sq;
  sq.post(fetch_add(1));
  sq.post(fetch_add(2));
  sq.send_all();
  for (int i = 0; i < 3; i++) {
    for (u32 psn : {1000, 1001}) sq.receive(atomic_ack(psn, 7), SROCE_MEM_NOT_PRESENT);
    EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001})) << i;
  }
  sq.receive(atomic_ack(1001, 7), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001}) << "the other is on its way";
}

TEST(UnplacedResponse, SaysNothingOfThoseBeforeIt) {
  SelectiveRead sq(8);
  sq.req.sb.reordering = 100;
  sq.respond_all({0});
  sq.receive(sq.response(5), SROCE_MEM_NOT_PRESENT);
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1005u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 1024u);
  EXPECT_TRUE(sq.send_all().empty()) << "they may be late";
}

// Congestion control and the counters of losses take it for none.
TEST(UnplacedResponse, WasNotLost) {
  SelectiveRead sq(4);
  sroce_cc_params params;
  sroce_cc_params_init(&params);
  params.algorithm = SROCE_CC_delay;
  sroce_cc_start(&sq.req.cc, &params, 1'250'000'000, 1024, sq.now);
  sq.respond_all({0, 1, 2});
  sq.receive(sq.response(3), SROCE_MEM_NOT_PRESENT);
  sq.now += kMillisecond;
  EXPECT_FALSE(sq.plan().implied_nak);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1003});
  EXPECT_EQ(sq.req.cc.cuts, 0u);
}

TEST(UnplacedResponse, MayComeBeforeItsPredecessor) {
  SelectiveRead sq(8);
  sq.req.sb.reordering = 100;
  sq.respond_all({0});
  for (u32 number : {4, 3}) sq.receive(sq.response(number), SROCE_MEM_NOT_PRESENT);
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1003u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 2u * 1024);
  EXPECT_TRUE(sq.send_all().empty());
}

// Pages of two places in the buffer were missing.
TEST(UnplacedResponse, IsRequestedAgainFarFromAnother) {
  SelectiveRead sq(8);
  sq.respond_all({0, 3});
  for (u32 number : {5, 2}) sq.receive(sq.response(number), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1001, 1005}));
}

TEST(UnplacedResponse, DoesNotHideLosses) {
  SelectiveRead sq(60);
  sq.respond_all({0});
  sq.receive(sq.response(1), SROCE_MEM_NOT_PRESENT);
  sq.respond_all({4, 5, 6, 7});
  EXPECT_TRUE(sq.plan().implied_nak) << "2 and 3 were lost";
}

TEST(UnplacedResponse, LaterResponsesDoNotMakeItLost) {
  SelectiveRead sq(60);
  sq.respond_all({0});
  sq.receive(sq.response(1), SROCE_MEM_NOT_PRESENT);
  sq.respond_all({2, 3, 4, 5, 6});
  EXPECT_FALSE(sq.plan().implied_nak);
}

TEST(UnplacedResponse, LaterResponsesOfAStandardPeerDoNotMakeItLost) {
  SendQueue sq;
  sq.post(read_of(60 * 1024));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024));
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1001, 1024), SROCE_MEM_NOT_PRESENT);
  for (u32 psn = 1002; psn < 1007; psn++)
    sq.receive(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, psn, 1024));
  EXPECT_TRUE(sq.plan().fills_hole);
  EXPECT_FALSE(sq.plan().implied_nak);
}

TEST(UnplacedResponse, MayBeLostTheNextTime) {
  SelectiveRead sq(60);
  sq.respond_all({0});
  sq.receive(sq.response(1), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
  sq.respond_all({2, 3, 4});
  sq.now += kMillisecond;
  sq.respond_all({5, 6});
  EXPECT_TRUE(sq.plan().implied_nak);
}

TEST(UnplacedResponse, OthersThatComeAgainAreNotRequestedWithIt) {
  SelectiveRead sq(8);
  sq.respond_all({0});
  for (u32 number = 1; number < 8; number++) sq.receive(sq.response(number), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(sq.packet(sq.send(), 0).dma_length, 7u * 1024);
  sq.receive(sq.response(1), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(sq.packet(sq.send(), 0).dma_length, 1024u);
}

// 1 comes once more while 2 is on its way. That later responses overtake both changes nothing.
TEST(UnplacedResponse, OthersOnTheirWayAreNotRequestedWithIt) {
  SelectiveRead sq(60);
  sq.respond_all({0});
  for (u32 number : {1, 2}) sq.receive(sq.response(number), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(sq.packet(sq.send(), 0).dma_length, 2u * 1024);
  sq.receive(sq.response(1), SROCE_MEM_NOT_PRESENT);
  sq.respond_all({3, 4, 5, 6, 7, 8});
  EXPECT_FALSE(sq.plan().implied_nak) << "none was lost";
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1001u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 1024u);
}

// 2 was lost on the way. It is requested again together with 1, and counts as lost.
TEST(UnplacedResponse, LostOnesAreRequestedWithIt) {
  SelectiveRead sq(60);
  sq.respond_all({0});
  sq.receive(sq.response(1), SROCE_MEM_NOT_PRESENT);
  sq.respond_all({3, 4, 5, 6, 7});
  const sroce_send_plan plan = sq.send();
  EXPECT_TRUE(plan.implied_nak);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 2u * 1024);
}

// A request from within the run ends it, too. Otherwise what is lost afterwards would not count.
TEST(UnplacedResponse, MayBeLostTheNextTimeBehindOneThatCame) {
  SelectiveRead sq(60);
  sq.respond_all({0});
  for (u32 number : {1, 2}) sq.receive(sq.response(number), SROCE_MEM_NOT_PRESENT);
  sq.respond_all({1});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
  sq.respond_all({3, 4, 5, 6});
  sq.now += kMillisecond;
  sq.respond_all({7, 8});
  EXPECT_TRUE(sq.plan().implied_nak);
}

// A request from within the run leaves what lies before it to be requested.
TEST(UnplacedResponse, IsRequestedAgainBehindAProbe) {
  SelectiveRead sq(4);
  sq.respond_all({0});
  for (u32 number : {1, 2, 3}) sq.receive(sq.response(number), SROCE_MEM_NOT_PRESENT);
  const sroce_send_wqe* wqe = sroce_requester_wqe(&sq.req, 0);
  sroce_scoreboard_retransmitted(&sq.req, wqe, 1002, 1, sq.now);
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1001, 1003}));
}

// The peer sends the rest. That the pages of one were missing does not mean that it is lost.
TEST(UnplacedResponse, TheRestOfItsRequestFollows) {
  SelectiveRead sq(60);
  sq.respond_all({0, 5, 6, 7, 8, 9});
  EXPECT_EQ(sq.packet(sq.send(), 0).dma_length, 4u * 1024);
  const u64 wait_ns = sroce_rtt_rtx_ns(&sq.req.rtt);
  sq.now++;
  sq.respond_all({10});
  sq.now += wait_ns - 1;  // as if nothing had come
  sq.receive(sq.response(1), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(sq.packet(sq.send(), 0).dma_length, 1024u);
  sq.now += wait_ns / 2;
  sq.respond_all({11});
  EXPECT_TRUE(sq.send_all().empty()) << "2 to 4 follow";
}

// Three that come as one. The first two have come before.
TEST(UnplacedResponse, MayBeOfSeveralPackets) {
  SelectiveRead sq(20, {.adaptive = true});
  sq.respond_all({0});
  for (u32 number : {1, 2}) sq.receive(sq.response(number), SROCE_MEM_NOT_PRESENT);
  sroce_packet three = sq.response(1);
  three.count = 3;
  three.payload_bytes *= 3;
  sq.receive(three, SROCE_MEM_NOT_PRESENT);
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1001u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 3u * 1024);
  EXPECT_FALSE(plan.implied_nak);
}

// The response came once more, and was placed. Another one could not be placed then.
TEST(UnplacedResponse, OfAnEarlierRunDoesNotMakeOthersLost) {
  SelectiveRead sq(60);
  sq.req.sb.reordering = 100;
  sq.respond_all({0});
  sq.receive(sq.response(5), SROCE_MEM_NOT_PRESENT);
  sq.respond_all({5});
  sq.receive(sq.response(9), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1009}) << "the others may be late";
}

// 1 is requested again, then 5 to 7, which were lost.
TEST(UnplacedResponse, CountsApartFromLossesBehindOthers) {
  SelectiveRead sq(60);
  sq.respond_all({0});
  for (u32 number : {1, 2, 3, 4}) sq.receive(sq.response(number), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(sq.packet(sq.send(), 0).dma_length, 4u * 1024);
  sq.receive(sq.response(1), SROCE_MEM_NOT_PRESENT);
  sq.respond_all({8, 9, 10, 11});
  sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1001u);
  EXPECT_FALSE(plan.implied_nak);
  plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1005u);
  EXPECT_TRUE(plan.implied_nak);
}

// 1 is late, and 3 comes with 2, which has been requested again.
TEST(UnplacedResponse, IsRequestedOnceFromAStandardPeerBehindALateOne) {
  SendQueue sq;
  sq.post(read_of(8 * 1024));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024));
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1002, 1024), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1003, 1024), SROCE_MEM_NOT_PRESENT);
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(UnplacedResponse, ThoseBetweenTwoThatHaveComeDoNotMakeThemLost) {
  for (const auto [first, second] : {std::pair{1u, 5u}, {5u, 1u}}) {
    SelectiveRead sq(60);
    sq.respond_all({0});
    sq.receive(sq.response(first), SROCE_MEM_NOT_PRESENT);
    sq.respond_all({2, 3, 4});
    sq.receive(sq.response(second), SROCE_MEM_NOT_PRESENT);
    for (u32 psn : {1001u, 1005u}) {
      const sroce_send_plan plan = sq.send();
      EXPECT_EQ(plan.first_psn, psn) << first;
      EXPECT_FALSE(plan.implied_nak) << first;
    }
  }
}

// A run is not joined with what lies apart from it, and what is missing between them counts.
TEST(UnplacedResponse, ThoseBetweenTwoAreLost) {
  SelectiveRead sq(20);
  sq.respond_all({0});
  for (u32 number : {1, 6}) sq.receive(sq.response(number), SROCE_MEM_NOT_PRESENT);
  EXPECT_TRUE(sq.plan().implied_nak) << "2 to 5";
}

// The earlier one is late, and has not been requested again.
TEST(UnplacedResponse, IsRequestedAgainBehindALateOne) {
  SendQueue sq;
  sq.post(read_of(8 * 1024));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024));
  for (int i = 0; i < 3; i++) {
    sq.receive(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1002, 1024), SROCE_MEM_NOT_PRESENT);
    EXPECT_EQ(psns_of(sq.send_all()), Psns{1002}) << i;
  }
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1002, 1024));
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1003, 1024), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1003});
}

// The peer has responded at once. Then the page fault takes long.
TEST(UnplacedResponse, PageFaultIsNoResponseTime) {
  SelectiveRead sq(60);
  const u64 wait_ns = sroce_rtt_rtx_ns(&sq.req.rtt);
  sq.respond_all({0, 1, 3, 4, 5});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
  sq.now += 20 * kMicrosecond;
  sq.receive(sq.response(2), SROCE_MEM_NOT_PRESENT);
  sq.now += 50 * wait_ns;
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
  sq.now += 20 * kMicrosecond;
  sq.respond_all({2});
  EXPECT_LE(sq.req.sb.response_time.smoothed_ns, wait_ns);
}

TEST(UnplacedResponse, IsRequestedAgainEachTimeThatItComes) {
  SelectiveRead sq(4);
  sq.respond_all({0, 1, 2});
  for (int i = 0; i < 20; i++) {
    sq.receive(sq.response(3), SROCE_MEM_NOT_PRESENT);
    ASSERT_EQ(psns_of(sq.send_all()), Psns{1003}) << i;
    ASSERT_TRUE(sq.send_all().empty()) << i;
    sq.now += kMillisecond;
  }
  EXPECT_FALSE(sq.failed());
  EXPECT_EQ(sq.req.sb.rtx_backoff, 0u) << "the peer has responded each time";
}

// Its first response accepts the offer and acknowledges the SEND.
TEST(UnplacedResponse, TellsAllElseThatAResponseTells) {
  SendQueue sq({.selective = true});
  sq.post(send_of(10));
  sq.post(read_of(1024));
  sq.send_all();
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1001, 1024)),
             SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(sq.events, SROCE_REQ_EV_ACCEPTED);
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
}

// It sends all responses from there on again, those that could not be placed among them.
TEST(UnplacedResponse, IsRequestedOnceFromAStandardPeer) {
  SendQueue sq;
  sq.post(read_of(8 * 1024));
  sq.send_all();
  const auto middle = [](u32 psn) {
    return read_response(SROCE_OP_READ_RESPONSE_MIDDLE, psn, 1024);
  };
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024));
  sq.receive(middle(1001), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
  sq.receive(middle(1002), SROCE_MEM_NOT_PRESENT);
  EXPECT_TRUE(sq.send_all().empty());
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1001, 1024));
  sq.receive(middle(1002), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002}) << "not placed this time either";
}

TEST(UnplacedResponse, MayBeThatOfAnAtomic) {
  SelectiveQueue sq;
  sq.post(fetch_add(1));
  sq.send_all();
  sq.receive(selective(atomic_ack(1000, 7)), SROCE_MEM_NOT_PRESENT);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  EXPECT_TRUE(sq.receive(selective(atomic_ack(1000, 7))).place_atomic);
  EXPECT_EQ(sq.completions().size(), 1u);
}

// A process may take the pages away for ever.
TEST(UnplacedResponse, DoesNotPutTheAckTimeoutOff) {
  SelectiveRead sq(1);
  const u64 deadline_ns = sq.req.ack_deadline_ns;
  sq.now += kMicrosecond;
  for (int i = 0; i < 3; i++) {
    sq.receive(sq.response(0), SROCE_MEM_NOT_PRESENT);
    sq.send_all();
    EXPECT_EQ(sq.req.ack_deadline_ns, deadline_ns);
  }
}

}  // namespace
