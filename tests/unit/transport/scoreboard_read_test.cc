// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "scoreboard_queue.h"

namespace {

using namespace sroce_test;

TEST(SelectiveRead, AcceptsResponsesInAnyOrder) {
  SelectiveRead sq(4);
  EXPECT_EQ(sq.respond(2).place_offset, 2048u);
  EXPECT_EQ(sq.respond(0).place_offset, 0u);
  EXPECT_EQ(sq.req.unacked_psn, 1001u);
  sq.respond_all({3, 1});
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(sq.req.rd_inflight, 0u);
}

TEST(SelectiveRead, PlacesNoResponseTwice) {
  SelectiveRead sq(4);
  sq.respond(2);
  EXPECT_EQ(sq.respond(2).reason, SROCE_DROP_DUPLICATE);
  sq.respond(0);
  EXPECT_EQ(sq.respond(0).reason, SROCE_DROP_DUPLICATE);
}

TEST(SelectiveRead, OnlyTheMissingPartIsRequestedAgain) {
  SelectiveRead sq(12);
  sq.respond_all({0, 1, 4, 5, 6, 7, 8});
  const sroce_send_plan plan = sq.send();
  const sroce_packet pkt = sq.packet(plan, 0);
  EXPECT_TRUE(plan.fills_hole);
  EXPECT_EQ(pkt.psn, 1002u);
  EXPECT_EQ(pkt.va, 0x10000u + 2048);
  EXPECT_EQ(pkt.dma_length, 2048u);
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(SelectiveRead, ResponsesNotOvertakenAreNotRequestedAgain) {
  SelectiveQueue sq;
  sq.post(read_of(8 * 1024));
  sq.post(read_of(1024));
  sq.send_all();
  sq.req.sb.reordering = 4;
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1008, 1024)));
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1000u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 4u * 1024) << "the others may be reordered";
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(SelectiveRead, LostRequestIsRepeatedInFull) {
  SelectiveQueue sq({.slots = 32});
  sq.post(read_of(100 * 1024));
  for (int i = 0; i < 5; i++) sq.post(send_of(10));
  sq.send_all();
  // The READ is lost. The peer has queued the packets behind it.
  sq.receive_sack(999, range(1100, 5), 16);
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1000u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 100u * 1024);
  EXPECT_TRUE(sq.send_all().empty());
}

// Part of it would be another message.
TEST(SelectiveRead, LostRequestIsRepeatedInFullAlsoAfterAProbe) {
  SelectiveQueue sq({.slots = 32});
  sq.post(read_of(100 * 1024));
  for (int i = 0; i < 5; i++) sq.post(send_of(10));
  sq.send_all();
  sroce_scoreboard_retransmitted(&sq.req, sroce_requester_wqe(&sq.req, 0), 1050, 1, sq.now);
  sq.receive_sack(999, range(1100, 5), 16);
  EXPECT_EQ(sq.packet(sq.send(), 0).dma_length, 100u * 1024);
}

TEST(SelectiveRead, QueuedRequestIsNotRepeated) {
  SelectiveQueue sq({.slots = 32});
  sq.post(send_of(10));
  sq.post(read_of(4 * 1024));
  for (int i = 0; i < 5; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(999, {1001, 1005, 1006, 1007, 1008, 1009}, 16);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  EXPECT_FALSE(sq.completion());
}

TEST(SelectiveRead, QueuedRequestIsNeverRepeated) {
  SelectiveSends sq(1);
  sq.post(read_of(4096));
  for (int i = 0; i < 6; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(999, {1001, 1005, 1006, 1007});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  sq.now += 10 * sroce_rtt_rtx_ns(&sq.req.rtt);
  sq.receive_sack(999, {1001, 1005, 1006, 1007, 1008});
  sq.now += 10 * sroce_rtt_rtx_ns(&sq.req.rtt);
  sq.receive_sack(999, {1001, 1005, 1006, 1007, 1008, 1009});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000}) << "lost again";
}

TEST(SelectiveRead, ReorderedPathDelaysRetransmitByOneRtt) {
  SelectiveQueue sq;
  for (int i = 0; i < 3; i++) sq.post(read_of(10 * 1024));
  for (int i = 0; i < 3; i++) sq.post(send_of(10));
  sq.send_all();
  sq.req.sb.reordering = 4;
  sq.receive_sack(999, {1010, 1020});
  EXPECT_TRUE(sq.send_all().empty()) << "it may be reordered too";
  for (u32 more = 1; more < 3; more++) {
    sq.now += 2 * sroce_rtt_rtx_ns(&sq.req.rtt);
    sq.receive_sack(999, range(1030, more), 16);
  }
  EXPECT_EQ(sq.send().first_psn, 1000u);
}

TEST(SelectiveRead, SackSaysNothingAboutItsResponses) {
  SelectiveQueue sq;
  sq.post(read_of(4096));
  for (int i = 0; i < 6; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(1003, {1005, 1006, 1007, 1008});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1004});
}

TEST(SelectiveRead, AckOfLaterWorkDoesNotCompleteIt) {
  SelectiveQueue sq;
  sq.post(read_of(2048));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(selective(ack(1002)));
  EXPECT_FALSE(sq.completion());
  EXPECT_EQ(sq.req.sb.done_data, 1u) << "the SEND behind it is done";
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024)));
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_LAST, 1001, 1024)));
  EXPECT_EQ(sq.completions().size(), 2u);
  EXPECT_EQ(sq.req.sb.done_data, 0u);
}

TEST(SelectiveRead, AckOfLaterWorkMeansItsResponsesWereLost) {
  SelectiveQueue sq;
  sq.post(read_of(2048));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(selective(ack(1002)));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(SelectiveRead, WrongResponseLengthFailsIt) {
  SelectiveRead sq(4);
  EXPECT_EQ(sq.respond(1, 1000).status, SROCE_WC_LOC_LEN_ERR);
  EXPECT_TRUE(sq.failed());
}

TEST(SelectiveRead, BadLocalBufferFailsIt) {
  SelectiveRead sq(4);
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1002, 1024)),
             SROCE_MEM_BAD_LOCAL);
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].status, SROCE_WC_LOC_PROT_ERR);
}

// A response that comes in time after all shows that the path reorders less than was thought.
TEST(SelectiveRead, LossesLowerTheEstimateOfReordering) {
  SelectiveRead sq(60);
  sq.req.sb.reordering = 16;
  sq.respond_all({0});
  for (u32 number = 2; number <= 22; number++) sq.respond(number);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
  sq.now += 20 * kMicrosecond;
  sq.respond(1);
  EXPECT_EQ(sq.req.sb.reordering, 15u);
}

// Its bit in the map is that of another packet, which was not sent again.
TEST(SelectiveRead, ProbeBeyondTheMapIsNoRetransmissionOfOthers) {
  SelectiveRead sq(5000);
  sroce_scoreboard_retransmitted(&sq.req, sroce_requester_wqe(&sq.req, 0), 1000 + kSpan + 500, 1,
                                 sq.now);
  EXPECT_FALSE(sq.req.sb.rtx[0].any || sq.req.sb.rtx[1].any);
}

// The peer has all behind 2500. The map reaches to 3047.
TEST(SelectiveRead, PacketsSackedBeyondTheMapAreNotLost) {
  SelectiveQueue sq({.slots = 32, .window_packets = 8192});
  sq.post(read_of(10 * 1024));
  sq.post(send_of(3600 * 1024));
  sq.send_all();
  sq.receive(selective(ack(2499)));
  sq.receive_sack(2499, range(2501, 2000), 256);
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 2500}));
  for (u32 psn = 1000; psn < 1010; psn++)
    sq.receive(selective(read_response(psn == 1000   ? SROCE_OP_READ_RESPONSE_FIRST
                                       : psn == 1009 ? SROCE_OP_READ_RESPONSE_LAST
                                                     : SROCE_OP_READ_RESPONSE_MIDDLE,
                                       psn, 1024)));
  EXPECT_EQ(sq.req.unacked_psn, 2500u);
  EXPECT_TRUE(sq.send_all().empty());
}

// The first response is lost twice. Those of the second READ come, and cannot be placed.
TEST(SelectiveRead, BadBufferDoesNotDelayOthers) {
  SelectiveQueue sq({.slots = 32});
  sq.post(read_of(1024));
  sq.post(read_of(20 * 1024));
  sq.post(read_of(10 * 1024));
  sq.send_all();
  const auto response = [](u32 psn) {
    return selective(read_response(
        psn == 1001 || psn == 1021 ? SROCE_OP_READ_RESPONSE_FIRST : SROCE_OP_READ_RESPONSE_MIDDLE,
        psn, 1024));
  };
  for (u32 psn = 1021; psn < 1026; psn++) sq.receive(response(psn));
  const u64 wait_ns = sroce_rtt_rtx_ns(&sq.req.rtt);
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001}));
  sq.now++;
  sq.receive(response(1026));
  sq.now += wait_ns - 2;
  sq.receive(response(1001), SROCE_MEM_BAD_LOCAL);
  sq.now += 2;
  sq.receive(response(1027));
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001}));
}

// The rest of a long READ has no bit yet.
TEST(SelectiveRead, PartBeyondTheMapIsMarkedWhenTheMapReachesIt) {
  SelectiveRead sq(5000);
  sroce_scoreboard_retransmitted(&sq.req, sroce_requester_wqe(&sq.req, 0), 1100, 4900, sq.now);
  const sroce_rtx* rtx = sq.req.sb.rtx;
  EXPECT_FALSE(psn_map_has(&rtx[0].map, 1050) || psn_map_has(&rtx[1].map, 1050));
}

// Each response that comes moves the PSN map, which does not reach to the end of the READ.
TEST(SelectiveRead, EndOfALongOneIsOnItsWay) {
  SelectiveRead sq(5000);
  const sroce_send_wqe* wqe = sroce_requester_wqe(&sq.req, 0);
  sroce_scoreboard_retransmitted(&sq.req, wqe, 1010, 1, sq.now);
  sroce_scoreboard_retransmitted(&sq.req, wqe, 1100, 4900, sq.now);
  sroce_scoreboard_retransmitted(&sq.req, wqe, 1050, 1, sq.now);
  for (u32 number = 0; number < 5; number++) sq.respond(number);
  const sroce_rtx* rtx = sq.req.sb.rtx;
  const u32 newest = psn_add(sq.req.unacked_psn, kSpan - 1);
  EXPECT_TRUE(psn_map_has(&rtx[0].map, newest) || psn_map_has(&rtx[1].map, newest));
}

TEST(SelectiveRead, ResponseTimeOfRetransmissionsIsLearned) {
  SelectiveRead sq(60);
  const u64 wait_ns = sroce_rtt_rtx_ns(&sq.req.rtt), slow_ns = 4 * wait_ns;
  sq.respond_all({0, 1, 3, 4, 5});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
  sq.now += slow_ns;
  sq.respond_all({2, 6, 8, 9, 10});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1007});
  // Each response checks it. The second one moves it to the old generation.
  sq.now += slow_ns;
  sq.respond_all({11, 12});
  EXPECT_TRUE(sq.send_all().empty()) << "it may take as long as the one before: four timeouts";
  sq.now += slow_ns / 4;
  sq.respond_all({13});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1007});
}

// The PSN that is timed equals that of a response modulo the span of a PSN map.
TEST(SelectiveRead, ResponsesDoNotEndTheTimingOfALaterPacket) {
  SelectiveRead sq(5000);
  sq.req.rtt.timing = false;
  sq.post(send_of(10));
  sq.send_all();
  ASSERT_TRUE(sq.req.rtt.timing);
  ASSERT_EQ(sq.req.rtt.timed_psn, 6000u);
  sq.now += kMicrosecond;
  sq.respond_all({0, 5000 % SROCE_PSN_MAP_SPAN});
  EXPECT_TRUE(sq.req.rtt.timing);
  EXPECT_EQ(sq.req.rtt.min_ns, 20 * kMicrosecond);
}

// Requests PSN 1002 again twice, 50 retransmission timeouts apart. Returns that timeout.
u64 request_twice(SelectiveRead& sq) {
  const u64 wait_ns = sroce_rtt_rtx_ns(&sq.req.rtt);
  sq.respond_all({0, 1, 3, 4, 5});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
  sq.now += 50 * wait_ns;
  sq.respond_all({6, 7});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
  return wait_ns;
}

// Otherwise timeouts would grow without bound at high loss: each would include the one before.
TEST(SelectiveRead, LostRetransmissionHardlyRaisesTheTimeout) {
  SelectiveRead sq(60);
  const u64 wait_ns = request_twice(sq);
  sq.now += 50 * wait_ns;
  sq.respond_all({2});
  EXPECT_GT(sq.req.sb.response_time.smoothed_ns, wait_ns);
  EXPECT_LT(sq.req.sb.response_time.smoothed_ns, 2 * wait_ns);
}

// The first request was in flight all the time, and its response takes that long.
// Each of many responses is lost once. Then one is lost twice.
TEST(SelectiveRead, RetransmissionsWithAResponseDoNotDelayLaterOnes) {
  SelectiveRead sq(200);
  for (u32 i = 0; i < 30; i++) {
    const u32 hole = 5 * i;
    for (u32 more = 1; more < 5; more++) sq.respond(hole + more);
    ASSERT_EQ(psns_of(sq.send_all()), Psns{1000 + hole}) << i;
    sq.now += 20 * kMicrosecond;
    if (i < 29) sq.respond(hole);
    sq.now += 200 * kMicrosecond;
  }
  EXPECT_LE(sq.req.sb.rtx_backoff, 2);
}

TEST(SelectiveRead, RetransmissionWithAResponseEndsTheBackoff) {
  SelectiveRead sq(60);
  sq.respond_all({1, 2, 3, 5, 6, 7});
  ASSERT_EQ(psns_of(sq.send_all()), (Psns{1000, 1004}));
  sq.req.sb.rtx_backoff = 6;
  sq.respond_all({8});
  EXPECT_EQ(sq.req.sb.rtx_backoff, 6);
  sq.respond_all({4});
  EXPECT_EQ(sq.req.sb.rtx_backoff, 0);
}

TEST(SelectiveRead, EarlyResponseBelongsToTheFirstRequest) {
  SelectiveRead sq(60);
  const u64 wait_ns = request_twice(sq);
  sq.now += sq.req.rtt.min_ns - 1;
  sq.respond_all({2});
  EXPECT_GE(sq.req.sb.response_time.smoothed_ns, 50 * wait_ns);
}

TEST(SelectiveRead, ReadLongerThanTheSpanIsSentAlone) {
  SelectiveQueue sq;
  sq.post(send_of(10));
  sq.post(read_of(3000 * 1024));
  sq.post(read_of(1024));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
}

// The READ is longer than the maps, so the SENDs behind it are marked when the maps reach them.
TEST(StandardRead, ExecutedSendsBehindALongOneAreNotSentAgain) {
  constexpr u32 kPackets = kSpan + 50;
  SendQueue sq({.adaptive = true});
  sq.post(read_of(kPackets * 1024));
  for (int i = 0; i < 2; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024));
  // The peer has sent all its responses, but the others were lost.
  sq.receive(ack(1000 + kPackets + 1));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
  for (u32 i = 1; i < 100; i++) {
    sq.receive(read_response(i == 1 ? SROCE_OP_READ_RESPONSE_FIRST : SROCE_OP_READ_RESPONSE_MIDDLE,
                             1000 + i, 1024));
    EXPECT_TRUE(sq.send_all().empty()) << i;
  }
  EXPECT_EQ(sq.req.unacked_psn, 1100u);
}

TEST(SelectiveRead, ResponsesBeyondTheSpanAreDropped) {
  SelectiveRead sq(3000, {.psn = 0xfffff0});
  EXPECT_EQ(sq.respond(kSpan - 1).action, SROCE_ACK_ACCEPT);
  EXPECT_EQ(sq.respond(kSpan).reason, SROCE_DROP_GAP);
  EXPECT_EQ(sq.respond(2999).reason, SROCE_DROP_GAP);
  for (u32 i = 0; i < kSpan - 1; i++) ASSERT_EQ(sq.respond(i).action, SROCE_ACK_ACCEPT) << i;
  EXPECT_EQ(sq.req.unacked_psn, psn_add(0xfffff0, kSpan));
  for (u32 i = kSpan; i < 3000; i++) ASSERT_EQ(sq.respond(i).action, SROCE_ACK_ACCEPT) << i;
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(sroce_psn_map_count(&sq.req.sb.done, 0, kSpan), 0u);
}

TEST(SelectiveRead, LostLongRequestIsRepeatedInFull) {
  SelectiveRead sq(3000);
  sq.expire();
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1000u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 3000u * 1024);
}

TEST(SelectiveAtomic, IsPlacedOutOfOrderAndOnce) {
  SelectiveQueue sq;
  sq.post(fetch_add(1));
  sq.post(fetch_add(2));
  sq.send_all();
  EXPECT_TRUE(sq.receive(selective(atomic_ack(1001, 7))).place_atomic);
  EXPECT_FALSE(sq.completion());
  EXPECT_EQ(sq.receive(selective(atomic_ack(1001, 7))).reason, SROCE_DROP_DUPLICATE);
  sq.receive(selective(atomic_ack(1000, 6)));
  EXPECT_EQ(sq.completions().size(), 2u);
}

TEST(SelectiveRead, ExecutedWorkBehindItIsNotResentAfterANak) {
  SelectiveQueue sq;
  sq.post(read_of(1024));
  for (int i = 0; i < 8; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive(selective(nak(SROCE_NAK_PSN_SEQUENCE, 1002)));
  sq.send(1);
  // The gap had been filled already.
  sq.receive(selective(ack(1008)));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(ImpliedNak, IsALostResponseThatLaterOnesShow) {
  SelectiveRead sq(8);
  EXPECT_FALSE(sq.plan().implied_nak);
  sq.respond_all({0, 2, 3, 4, 5});
  EXPECT_TRUE(sq.plan().fills_hole);
  EXPECT_TRUE(sq.plan().implied_nak);
}

TEST(ImpliedNak, IsALostResponseWithoutData) {
  for (const Work& work : {flush(), atomic_write(), read_of(0)}) {
    SelectiveQueue sq({.slots = 32});
    sq.post(work);
    for (int i = 0; i < 5; i++) sq.post(read_of(1024));
    sq.send_all();
    for (u32 psn = 1001; psn <= 1005; psn++)
      sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_ONLY, psn, 1024)));
    EXPECT_TRUE(sq.plan().fills_hole);
    EXPECT_TRUE(sq.plan().implied_nak);
  }
}

TEST(ImpliedNak, IsNotAProbe) {
  SelectiveRead sq(8, {.adaptive = true});
  sq.respond_all({0, 1});
  sq.expire();
  EXPECT_TRUE(sq.req.probe.due);
  EXPECT_TRUE(sq.plan().fills_hole);
  EXPECT_FALSE(sq.plan().implied_nak);
}

TEST(ImpliedNak, IsNotCountedForAnUnexecutedRequest) {
  SelectiveQueue sq({.slots = 32});
  sq.post(read_of(4096));
  for (int i = 0; i < 5; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(999, range(1004, 5));
  EXPECT_TRUE(sq.plan().fills_hole);
  EXPECT_FALSE(sq.plan().implied_nak);
}

TEST(ImpliedNak, IsNotCountedForALostSend) {
  SelectiveSends sq(6);
  sq.receive_sack(999, range(1001, 5));
  EXPECT_TRUE(sq.plan().fills_hole);
  EXPECT_FALSE(sq.plan().implied_nak);
}

// On a path that reorders, the response to a probe shows no loss by itself. Otherwise each timeout
// would mend one hole.
TEST(SelectiveRead, AllResponsesAreRequestedAgainAfterAProbeAndAnAckTimeout) {
  SelectiveRead sq(20, {.adaptive = true});
  sq.req.sb.reordering = 100;
  for (u32 number = 0; number < 20; number++)
    if (number != 5 && number != 10 && number != 15) sq.respond(number);
  EXPECT_TRUE(sq.send_all().empty());
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1005});
  sq.now += 40 * kMicrosecond;
  sq.respond(5);
  EXPECT_TRUE(sq.send_all().empty()) << "the others may be late";
  sq.req.probe.deadline_ns = SROCE_NEVER;
  sq.expire();
  EXPECT_EQ(sq.events, SROCE_REQ_EV_ACK_TIMEOUT);
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1010, 1015}));
}

}  // namespace
