// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "scoreboard_queue.h"

namespace {

using namespace sroce_test;

// ---------------------------------------------------------------- negotiation

TEST(SelectiveMode, IsOfferedUntilTheFirstResponse) {
  SendQueue sq({.selective = true});
  sq.post(send_of(3000));
  for (const sroce_packet& pkt : sq.send_all()) EXPECT_TRUE(pkt.selective);
}

TEST(SelectiveMode, IsNotOfferedWhenItIsDisabled) {
  SendQueue sq;
  sq.post(send_of(10));
  EXPECT_FALSE(sq.send_all()[0].selective);
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_OFF);
}

TEST(SelectiveMode, IsOnWhenTheFirstResponseAccepts) {
  SelectiveQueue sq;
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_ON);
}

TEST(SelectiveMode, StaysOffWhenTheFirstResponseDoesNotAccept) {
  SendQueue sq({.selective = true});
  sq.post(send_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1000));
  sq.receive(selective(ack(1001)));
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_OFF);
  sq.post(send_of(10));
  EXPECT_FALSE(sq.send_all()[0].selective);
}

TEST(SelectiveMode, IsNotDecidedByADroppedResponse) {
  SendQueue sq({.selective = true});
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(5000));
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_OFFERED);
}

TEST(SelectiveMode, StandardQueueDropsSacks) {
  SendQueue sq;
  for (int i = 0; i < 3; i++) sq.post(send_of(10));
  sq.send_all();
  EXPECT_EQ(sq.receive_sack(1000, {1002}).reason, SROCE_DROP_OPCODE);
  EXPECT_FALSE(sq.completion());
}

TEST(SelectiveMode, MayBeginWithASack) {
  SendQueue sq({.selective = true});
  for (int i = 0; i < 8; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(999, range(1001, 7));
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_ON);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(SelectiveMode, LimitsAnEarlierRewindToTheHoles) {
  SendQueue sq({.selective = true});
  for (int i = 0; i < 8; i++) sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  EXPECT_EQ(sq.send().first_psn, 1000u);
  sq.receive_sack(1000, {1002, 1003, 1004, 1005, 1006, 1007});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
  EXPECT_EQ(sq.req.data_inflight, 7u);
}

// A rewind has counted packets that it sent without AckReq, but the last packet requests a
// response.
TEST(SelectiveMode, EndOfARewindLeavesTheProbeTimerOn) {
  SendQueue sq({.adaptive = true, .selective = true});
  sq.post(send_of(3000));
  sq.post(fetch_add(1));
  sq.send_all();
  while (sq.req.next_psn == sq.req.sent_psn) {
    sq.expire();
    if (sq.req.next_psn == sq.req.sent_psn) sq.send_all();
  }
  sq.send(1);
  EXPECT_EQ(sq.req.since_ack_req, 1u);
  sq.receive(selective(ack(1002)));
  EXPECT_EQ(sq.req.unacked_psn, 1003u);
  EXPECT_NE(sq.req.probe.deadline_ns, SROCE_NEVER);
}

TEST(SelectiveMode, AcceptanceIsAnEvent) {
  SendQueue sq({.selective = true});
  sq.post(send_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(sq.events, SROCE_REQ_EV_ACCEPTED);
  sq.receive(selective(ack(1001)));
  EXPECT_EQ(sq.events, 0u);
}

TEST(SelectiveMode, WithdrawalIsAnEventOnlyOfAnOffer) {
  for (bool offered : {false, true}) {
    SendQueue sq({.selective = offered});
    sq.post(send_of(10));
    sq.send_all();
    sq.receive(ack(1000));
    EXPECT_EQ(sq.events, offered ? SROCE_REQ_EV_WITHDRAWN : 0u);
  }
}

// A peer with a purpose of its own for the reserved bits seems to accept once.
TEST(SelectiveMode, IsWithdrawnWhenALaterResponseDoesNotAccept) {
  SelectiveSends sq(8);
  sq.receive_sack(999, {1002, 1003, 1004, 1005});
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001}));
  sq.keeps_accepting = false;
  sq.receive(ack(1000));
  EXPECT_EQ(sq.events, SROCE_REQ_EV_WITHDRAWN);
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_WITHDRAWN);
  const auto packets = sq.send_all();
  EXPECT_EQ(psns_of(packets), range(1001, 7));
  for (const sroce_packet& pkt : packets) EXPECT_FALSE(pkt.selective);
  sq.receive(selective(ack(1007)));
  EXPECT_EQ(sq.events, 0u);
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_WITHDRAWN);
  EXPECT_EQ(sq.completions().size(), 8u);
}

TEST(SelectiveMode, WithdrawalSendsNothingAgainThatIsExecuted) {
  SelectiveSends sq(2);
  sq.keeps_accepting = false;
  sq.receive(ack(1001));
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_WITHDRAWN);
  EXPECT_TRUE(sq.send_all().empty());
  EXPECT_EQ(sq.completions().size(), 2u);
  EXPECT_FALSE(sq.timer_runs());
}

TEST(SelectiveMode, WithdrawalToleratesPartsOfReadsRequestedBefore) {
  SelectiveRead sq(12);
  sq.respond_all({0, 1, 4, 5, 6, 7, 8, 9, 10, 11});
  const auto packets = sq.send_all();
  ASSERT_EQ(psns_of(packets), Psns{1002});
  EXPECT_EQ(packets[0].dma_length, 2048u);
  sq.keeps_accepting = false;
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1002, 1024));
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_WITHDRAWN);
  EXPECT_EQ(sq.receive(read_response(SROCE_OP_READ_RESPONSE_LAST, 1003, 1024)).action,
            SROCE_ACK_ACCEPT);
  EXPECT_EQ(sq.completions().size(), 1u);
}

// Something on the path may drop packets with reserved bits.
TEST(SelectiveMode, IsWithdrawnAfterTwoSilentTimeouts) {
  SendQueue sq({.selective = true});
  sq.post(send_of(10));
  EXPECT_TRUE(sq.send_all()[0].selective);
  sq.expire();
  EXPECT_EQ(sq.events, SROCE_REQ_EV_ACK_TIMEOUT);
  EXPECT_TRUE(sq.send_all()[0].selective);
  sq.expire();
  EXPECT_EQ(sq.events, SROCE_REQ_EV_ACK_TIMEOUT | SROCE_REQ_EV_WITHDRAWN);
  EXPECT_FALSE(sq.send_all()[0].selective);
  sq.expire();
  EXPECT_EQ(sq.events, SROCE_REQ_EV_ACK_TIMEOUT);
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_WITHDRAWN);
}

TEST(SelectiveMode, LastRetryIsSentWithoutTheOffer) {
  SendQueue sq({.retry_cnt = 1, .selective = true});
  sq.post(send_of(10));
  EXPECT_TRUE(sq.send_all()[0].selective);
  sq.expire();
  EXPECT_EQ(sq.events, SROCE_REQ_EV_ACK_TIMEOUT | SROCE_REQ_EV_WITHDRAWN);
  EXPECT_FALSE(sq.send_all()[0].selective);
  sq.receive(ack(1000));
  EXPECT_EQ(sq.completions().size(), 1u);
}

TEST(SelectiveMode, IsNotOfferedIfSilenceCannotWithdrawIt) {
  for (const SendQueueOptions& options :
       {SendQueueOptions{.retry_cnt = 0, .selective = true},
        SendQueueOptions{.ack_timeout_ns = 0, .selective = true}}) {
    SendQueue sq(options);
    sq.post(send_of(10));
    EXPECT_FALSE(sq.send_all()[0].selective);
    sq.receive(selective(ack(1000)));
    EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_OFF) << "it has copied nothing of ours";
  }
}

// A modify in SQD may change either attribute.
TEST(SelectiveMode, OfferFollowsTheAttributesUntilTheFirstResponse) {
  SendQueue sq({.retry_cnt = 0, .selective = true});
  const auto offers = [&sq] {
    sq.post(send_of(10));
    return sq.send_all()[0].selective;
  };
  EXPECT_FALSE(offers());
  sq.req.attr.retry_cnt = 7;
  EXPECT_TRUE(offers());
  sq.req.attr.ack_timeout_ns = 0;
  EXPECT_FALSE(offers());
  sq.req.attr.ack_timeout_ns = 1'000'000;
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_ON);
  sq.req.attr.retry_cnt = 0;
  EXPECT_TRUE(offers()) << "it would not read selective ACKs any more";
}

TEST(SelectiveMode, IsNotWithdrawnBySilenceAfterAResponse) {
  SelectiveSends sq(1);
  for (int i = 0; i < 3; i++) {
    sq.expire();
    sq.send_all();
  }
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_ON);
}

TEST(SelectiveMode, SilenceIsNoEventWithoutAnOffer) {
  SendQueue sq;
  sq.post(send_of(10));
  for (int i = 0; i < 3; i++) {
    sq.send_all();
    sq.expire();
    EXPECT_EQ(sq.events, SROCE_REQ_EV_ACK_TIMEOUT);
  }
}

TEST(SelectiveMode, IsForgottenByReset) {
  SelectiveSends sq(4);
  sq.receive_sack(999, {1001, 1002});
  sroce_requester_reset(&sq.req);
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_OFFERED);
  EXPECT_EQ(sq.req.sb.done_data, 0u);
  EXPECT_EQ(sroce_psn_map_count(&sq.req.sb.done, 0, kSpan), 0u);
}

// ---------------------------------------------------------------- selective acknowledgements

TEST(SelectiveAck, CompletesExecutedButNotQueuedRequests) {
  SelectiveSends sq(8);
  sq.receive_sack(1001, {1003, 1004, 1005});
  EXPECT_EQ(sq.completions().size(), 2u);
  EXPECT_EQ(sq.req.unacked_psn, 1002u);
  EXPECT_EQ(sq.req.sb.done_data, 3u);
}

TEST(SelectiveAck, CompletesNothingBehindAHole) {
  SelectiveSends sq(8);
  sq.receive_sack(999, range(1001, 7));
  EXPECT_FALSE(sq.completion());
}

TEST(SelectiveAck, MayBeRepeated) {
  SelectiveSends sq(8);
  for (int i = 0; i < 3; i++) sq.receive_sack(999, {1001, 1003});
  EXPECT_EQ(sq.req.sb.done_data, 2u);
}

TEST(SelectiveAck, FinalAckCompletesAllAndEmptiesTheMap) {
  SelectiveSends sq(8);
  sq.receive_sack(999, range(1001, 7));
  sq.send_all();
  sq.receive(selective(ack(1007)));
  EXPECT_EQ(sq.completions().size(), 8u);
  EXPECT_EQ(sq.req.sb.done_data, 0u);
  EXPECT_EQ(sroce_psn_map_count(&sq.req.sb.done, 0, kSpan), 0u);
  EXPECT_FALSE(sq.timer_runs());
}

TEST(SelectiveAck, MakesRoomInTheWindow) {
  SelectiveSends sq(12, {.window_packets = 8});
  EXPECT_TRUE(sq.send_all().empty());
  sq.receive_sack(999, {1003, 1004, 1005});
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001, 1002, 1008, 1009, 1010})) << "holes first";
}

TEST(SelectiveAck, CrossesThePsnWrap) {
  SelectiveSends sq(8, {.psn = 0xfffffd});
  sq.receive_sack(0xfffffd, {0xffffff, 0, 1, 2, 3});
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{0xfffffe});
  sq.receive(selective(ack(4)));
  EXPECT_EQ(sq.completions().size(), 7u);
}

TEST(SelectiveAck, IsDroppedForUnsentPackets) {
  SelectiveSends sq(8, {.window_packets = 4});
  EXPECT_EQ(sq.receive_sack(999, {1004}).reason, SROCE_DROP_UNSENT);
  EXPECT_EQ(sq.receive_sack(999, {1062}).reason, SROCE_DROP_UNSENT);
  EXPECT_EQ(sq.receive_sack(999, {1003}).action, SROCE_ACK_ACCEPT);
}

TEST(SelectiveAck, IsDroppedWithANakSyndrome) {
  SelectiveSends sq(4);
  sroce_packet pkt = selective(response(SROCE_OP_SACK, 1000));
  pkt.syndrome = SROCE_NAK_PSN_SEQUENCE;
  EXPECT_EQ(sq.receive(pkt).reason, SROCE_DROP_SYNDROME);
}

// Adjacent bits are processed together, and split by request.
TEST(SelectiveAck, AdjacentBitsMayCoverDifferentRequests) {
  SelectiveQueue sq({.window_packets = 200});
  sq.post(send_of(10));         // 1000
  sq.post(send_of(3 * 1024));   // 1001 to 1003
  sq.post(read_of(2 * 1024));   // 1004 and 1005
  sq.post(send_of(70 * 1024));  // 1006 to 1075
  sq.send_all();
  Psns queued = range(1001, 4);
  for (u32 psn : range(1006, 70)) queued.push_back(psn);
  sq.receive_sack(999, queued, 16);
  EXPECT_EQ(sq.req.sb.done_data, 73u);
  EXPECT_EQ(sroce_psn_map_count(&sq.req.sb.done, 1001, 75), 73u);
  EXPECT_EQ(sroce_psn_map_count(&sq.req.sb.read_queued, 1000, 76), 2u) << "all of the READ";
  EXPECT_TRUE(psn_map_has(&sq.req.sb.read_queued, 1005));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(SelectiveAck, EmptyBitmapIsAnAck) {
  SelectiveSends sq(4);
  EXPECT_EQ(sq.receive_sack(1001, {}, 0).action, SROCE_ACK_ACCEPT);
  EXPECT_EQ(sq.receive_sack(1002, {}, 8).action, SROCE_ACK_ACCEPT);
  EXPECT_EQ(sq.completions().size(), 3u);
}

TEST(SelectiveAck, OldSackIsDropped) {
  SelectiveSends sq(8);
  sq.receive(selective(ack(1005)));
  EXPECT_EQ(sq.receive_sack(1000, {1002, 1003}).reason, SROCE_DROP_DUPLICATE);
  EXPECT_EQ(sq.req.sb.done_data, 0u);
}

// The longest bitmap covers the most that a responder can queue.
TEST(SelectiveAck, CoversTheWholeSpan) {
  SelectiveQueue sq({.psn = 0xfffff0, .window_packets = 4000});
  sq.post(send_of(kSpan * 1024));
  EXPECT_EQ(sq.send_all().size(), kSpan);
  sq.receive_sack(0xffffef, range(0xfffff1, kSpan - 1), SROCE_SACK_MAX_BYTES);
  EXPECT_EQ(sq.req.sb.done_data, kSpan - 1);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{0xfffff0});
  sq.receive(selective(ack(psn_add(0xfffff0, kSpan - 1))));
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(sq.req.sb.done_data, 0u);
}

TEST(SelectiveAck, PacketsBeyondTheSpanAreNotRecorded) {
  SelectiveQueue sq({.window_packets = 4000});
  sq.post(send_of(3000 * 1024));
  sq.send_all();
  sq.receive_sack(999, range(1001, kSpan - 1), SROCE_SACK_MAX_BYTES);
  EXPECT_EQ(sq.req.sb.done_data, kSpan - 1);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  // The map moves with the executed PSN: more fits when the SACK is repeated.
  sq.receive_sack(1099, range(1100, kSpan), SROCE_SACK_MAX_BYTES);
  EXPECT_EQ(sq.req.sb.done_data, kSpan - 100);
  sq.receive_sack(1099, range(1100, kSpan), SROCE_SACK_MAX_BYTES);
  EXPECT_EQ(sq.req.sb.done_data, kSpan);
}

// ---------------------------------------------------------------- holes

TEST(SelectiveHole, IsAllThatIsRetransmitted) {
  SelectiveSends sq(12);
  sq.receive_sack(1001, {1003, 1005, 1006, 1007, 1008});
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1002, 1004}));
  EXPECT_EQ(sq.req.retransmits, 2u);
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(SelectiveHole, SeveralPacketsOfAMessageAreOneBurst) {
  SelectiveQueue sq;
  sq.post(write_of(10 * 1024));
  sq.send_all();
  sq.receive_sack(999, {1000 + 1, 1000 + 5, 1006, 1007, 1008, 1009});
  EXPECT_EQ(sq.send().packet_count, 1u);
  const sroce_send_plan plan = sq.plan();
  EXPECT_TRUE(plan.fills_hole);
  EXPECT_TRUE(plan.ack_req);
  EXPECT_EQ(plan.first_psn, 1002u);
  EXPECT_EQ(plan.packet_count, 3u);
  EXPECT_EQ(plan.offset, 2048u);
  EXPECT_EQ(plan.payload_bytes, 3072u);
}

TEST(SelectiveHole, IsLostAfterThreePacketsOvertookIt) {
  SelectiveSends sq(12);
  sq.receive_sack(999, {1001, 1002});
  EXPECT_TRUE(sq.send_all().empty());
  sq.receive_sack(999, {1001, 1002, 1003});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(SelectiveHole, PathLengthCountsOnlyWithReordering) {
  SelectiveSends sq(12);
  sq.req.rtt.path_packets = 24;
  sq.receive_sack(999, {1001, 1002, 1003});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  SelectiveSends reordering(12);
  reordering.req.rtt.path_packets = 24;
  reordering.req.sb.reordering = 1;
  reordering.receive_sack(999, {1001, 1002, 1003, 1004, 1005});
  EXPECT_TRUE(reordering.send_all().empty());
  reordering.receive_sack(999, {1001, 1002, 1003, 1004, 1005, 1006});
  EXPECT_EQ(psns_of(reordering.send_all()), Psns{1000});
}

TEST(SelectiveHole, IsLostAtOnceWhenNothingMoreIsInFlight) {
  SelectiveSends sq(3);
  sq.receive_sack(999, {1002});
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001}));
}

TEST(SelectiveHole, IsFilledOncePerRoundTrip) {
  SelectiveSends sq(14);
  sq.receive_sack(999, {1001, 1002, 1003});
  EXPECT_EQ(sq.send_all().size(), 1u);
  sq.receive_sack(999, {1001, 1002, 1003, 1004});
  EXPECT_TRUE(sq.send_all().empty());
  sq.now += sroce_rtt_rtx_ns(&sq.req.rtt) - 1;
  sq.receive_sack(999, {1001, 1002, 1003, 1004, 1005});
  EXPECT_TRUE(sq.send_all().empty());
}

// How often a hole is filled in a hundred round trips in which the peer repeats its SACK.
u32 fills_in_vain(SelectiveSends& sq, const Psns& sacked) {
  const u64 wait_ns = sroce_rtt_rtx_ns(&sq.req.rtt) + 1;
  u32 fills = 0;
  for (u32 i = 0; i < 100; i++) {
    sq.now += wait_ns;
    sq.receive_sack(999, sacked);
    fills += static_cast<u32>(sq.send_all().size());
  }
  return fills;
}

// The retransmissions may wait in a long queue.
TEST(SelectiveHole, IsFilledLessAndLessOftenWithoutProgress) {
  SelectiveSends sq(14);
  sq.receive_sack(999, {1001, 1002, 1003});
  sq.send_all();
  const u32 fills = fills_in_vain(sq, {1001, 1002, 1003});
  EXPECT_GE(fills, 5u);
  EXPECT_LE(fills, 20u);
  EXPECT_LE(fills_in_vain(sq, {1001, 1002, 1003}), 3u);
  EXPECT_GE(fills_in_vain(sq, {1001, 1002, 1003, 1004}), 5u) << "there was progress";
}

TEST(SelectiveHole, IsFilledAgainWhenItsRetransmissionIsLost) {
  SelectiveSends sq(14);
  sq.receive_sack(999, {1001, 1002, 1003});
  sq.send_all();
  const u64 wait_ns = sroce_rtt_rtx_ns(&sq.req.rtt);
  for (u32 more = 4, times = 0; times < 3; times++) {
    sq.now += wait_ns;
    sq.receive_sack(999, range(1001, more++));
    sq.now += 1;
    sq.receive_sack(999, range(1001, more++));
    EXPECT_EQ(psns_of(sq.send_all()), Psns{1000}) << times;
  }
}

// The longer recovery lasts, the less the datapath queues ahead of retransmissions.
TEST(SelectiveHole, RecoveryEndsAfterARoundTripWithoutANewOne) {
  SelectiveSends sq(14);
  EXPECT_EQ(sroce_requester_recovery_rounds(&sq.req), 0u);
  const u64 wait_ns = sroce_rtt_rtx_ns(&sq.req.rtt);
  sq.receive_sack(999, {1001, 1002, 1003});
  sq.send_all();
  EXPECT_EQ(sroce_requester_recovery_rounds(&sq.req), 1u);
  sq.now += wait_ns / 2;
  sq.receive_sack(999, {1001, 1002, 1003, 1005, 1006, 1007});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1004});
  EXPECT_EQ(sroce_requester_recovery_rounds(&sq.req), 2u);
  sq.now += wait_ns;
  sq.receive(selective(ack(1007)));
  sq.receive(selective(ack(1008)));
  EXPECT_EQ(sroce_requester_recovery_rounds(&sq.req), 0u);
}

TEST(SelectiveHole, LatePacketRaisesTheReorderingDistance) {
  SelectiveQueue sq({.slots = 64});
  // Enough packets to learn how many the path holds.
  for (int i = 0; i < 40; i++) {
    for (int k = 0; k < 10; k++) sq.post(send_of(10));
    sq.send_all();
    sq.now += 20 * kMicrosecond;
    sq.receive(selective(ack(sq.req.sent_psn - 1)));
    sq.completions();
  }
  const u32 first = sq.req.unacked_psn;
  for (int k = 0; k < 20; k++) sq.post(send_of(10));
  sq.send_all();
  const auto queued = [&](u32 count) { return range(first + 1, count); };
  sq.receive_sack(first - 1, queued(2));
  sq.receive_sack(first - 1, queued(2));
  ASSERT_TRUE(sq.send_all().empty());
  // It arrives without a retransmission, overtaken by five.
  sq.receive(selective(ack(first + 5)));
  EXPECT_EQ(sq.req.sb.reordering, 3u) << "as many as the SACKs reported ahead of it";
}

TEST(SelectiveHole, AmbiguousArrivalTeachesNothing) {
  SelectiveSends sq(12);
  sq.req.rtt.min_ns = 20 * kMicrosecond;
  sq.receive_sack(999, {1001, 1002, 1003});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  // Another retransmission, long after that, belongs to the same generation.
  sq.now += 25 * kMicrosecond;
  sq.receive_sack(999, {1001, 1002, 1003, 1005, 1006, 1007});
  sq.send_all();
  sq.now += kMicrosecond;
  sq.receive(selective(ack(1003)));
  EXPECT_EQ(sq.req.sb.reordering, 0u);
}

TEST(SelectiveHole, EndsAtTheSendCursor) {
  SelectiveSends sq(8, {.window_packets = 4});
  sq.receive_sack(999, {1001, 1002, 1003});
  EXPECT_EQ(sq.send().first_psn, 1000u);
  EXPECT_EQ(sq.send().first_psn, 1004u) << "unsent packets follow in order";
}

// The user has deregistered the buffer meanwhile.
TEST(SelectiveHole, FailureToFillItFailsItsRequestInItsTurn) {
  SelectiveSends sq(6);
  sq.receive_sack(1000, {1002, 1003, 1004});
  sq.commit(sq.plan(), SROCE_WC_LOC_PROT_ERR);
  const sroce_send_plan next = sq.plan();
  EXPECT_FALSE(next.fills_hole && next.first_psn == 1001u) << "the same plan would repeat forever";
  EXPECT_EQ(sq.send().action, SROCE_SEND_FAIL);
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[1].status, SROCE_WC_LOC_PROT_ERR);
}

// ---------------------------------------------------------------- NAKs

TEST(SelectiveRnr, QueuedPacketsAreSentAgain) {
  SelectiveSends sq(6);
  sq.receive_sack(1000, {1002, 1003});
  EXPECT_EQ(sq.completions().size(), 1u);
  sq.receive(selective(rnr_nak(1001)));
  EXPECT_EQ(sq.req.sb.done_data, 0u);
  EXPECT_TRUE(sq.send_all().empty());
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), range(1001, 5));
}

TEST(SelectiveRnr, AcknowledgesEarlierRequests) {
  SelectiveSends sq(4);
  sq.receive(selective(rnr_nak(1002)));
  EXPECT_EQ(sq.completions().size(), 2u);
}

TEST(SelectiveRnr, DoesNotCompleteAnEarlierRead) {
  SelectiveQueue sq;
  sq.post(read_of(2048));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(selective(rnr_nak(1002)));
  EXPECT_EQ(sq.req.unacked_psn, 1000u);
  EXPECT_FALSE(sq.completion());
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
}

TEST(SelectiveNak, SequenceErrorGoesBackToItsPsn) {
  SelectiveSends sq(6);
  sq.receive_sack(999, {1002, 1003});
  sq.receive(selective(nak(SROCE_NAK_PSN_SEQUENCE, 1001)));
  EXPECT_EQ(psns_of(sq.send_all()), range(1001, 5));
}

TEST(SelectiveNak, FatalNakFailsItsRequest) {
  SelectiveSends sq(4);
  sq.receive(selective(nak(SROCE_NAK_REMOTE_ACCESS, 1002)));
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].status, SROCE_WC_SUCCESS);
  EXPECT_EQ(all[2].status, SROCE_WC_REM_ACCESS_ERR);
  EXPECT_EQ(all[3].status, SROCE_WC_WR_FLUSH_ERR);
}

TEST(SelectiveNak, FatalNakWaitsForEarlierReads) {
  SelectiveQueue sq;
  sq.post(read_of(1024));
  sq.post(write_of(10));
  sq.send_all();
  sq.receive(selective(nak(SROCE_NAK_REMOTE_ACCESS, 1001)));
  EXPECT_FALSE(sq.failed());
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 1024)));
  EXPECT_TRUE(sq.failed());
}

// ---------------------------------------------------------------- timeouts

TEST(SelectiveTimeout, ResendsTheOldestPacketOnly) {
  SelectiveSends sq(6);
  sq.expire();
  EXPECT_EQ(sq.req.timeouts, 1u);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(SelectiveTimeout, ForgetsEarlierSacks) {
  SelectiveSends sq(6);
  sq.receive_sack(999, {1001, 1002, 1003});
  sq.send_all();
  sq.expire();
  EXPECT_EQ(sq.req.sb.done_data, 0u);
}

// A gap that stays open for an ACK timeout is no reordering.
TEST(SelectiveTimeout, EndsTheToleranceIfThereIsAGap) {
  for (const bool gap : {true, false}) {
    SelectiveSends sq(12);
    sq.req.sb.reordering = 9;
    if (gap) sq.receive_sack(999, {1003, 1004});
    sq.expire();
    EXPECT_EQ(sq.req.sb.reordering, gap ? 0u : 9u);
  }
}

TEST(SelectiveTimeout, ExhaustsTheRetries) {
  SelectiveSends sq(2, {.retry_cnt = 2});
  for (int i = 0; i < 3; i++) {
    EXPECT_FALSE(sq.failed());
    sq.expire();
    sq.send_all();
  }
  EXPECT_EQ(sq.completions().front().status, SROCE_WC_RETRY_EXC_ERR);
}

}  // namespace
