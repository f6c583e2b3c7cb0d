// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <string>

#include "in_flight.h"

namespace {

using namespace sroce_test;

// ---------------------------------------------------------------- positive acknowledgements

TEST(CompleterAck, CompletesItsMessage) {
  SendsInFlight sq(1);
  EXPECT_EQ(sq.receive(ack(1000)).action, SROCE_ACK_ACCEPT);
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->status, SROCE_WC_SUCCESS);
  EXPECT_EQ(wc->opcode, SROCE_WC_SEND);
}

TEST(CompleterAck, CompletesAllEarlierMessages) {
  SendsInFlight sq(5);
  sq.receive(ack(1003));
  EXPECT_EQ(sq.completions().size(), 4u);
}

TEST(CompleterAck, CompletesNothingInsideAMessage) {
  SendQueue sq;
  sq.post(send_of(3000));
  sq.send_all();
  sq.receive(ack(1001));
  EXPECT_FALSE(sq.completion());
  EXPECT_EQ(sq.req.unacked_psn, 1002u);
  sq.receive(ack(1002));
  EXPECT_TRUE(sq.completion());
}

TEST(CompleterAck, EveryCreditCodeIsAnAck) {
  for (u8 credits = 0; credits < 32; credits++) {
    SendsInFlight sq(1);
    sq.receive(nak(credits, 1000));
    EXPECT_TRUE(sq.completion()) << int{credits};
  }
}

TEST(CompleterAck, DuplicateIsDropped) {
  SendsInFlight sq(2);
  sq.receive(ack(1000));
  expect_dropped(sq, ack(1000), SROCE_DROP_DUPLICATE);
}

TEST(CompleterAck, OlderAckIsDropped) {
  SendsInFlight sq(3);
  sq.receive(ack(1001));
  expect_dropped(sq, ack(1000), SROCE_DROP_DUPLICATE);
  expect_dropped(sq, ack(0xfffff0), SROCE_DROP_DUPLICATE);
}

TEST(CompleterAck, IsDroppedForUnsentPackets) {
  SendsInFlight sq(3);
  expect_dropped(sq, ack(1003), SROCE_DROP_UNSENT);
  expect_dropped(sq, ack(5000), SROCE_DROP_UNSENT);
  EXPECT_FALSE(sq.completion());
}

TEST(CompleterAck, IsDroppedByAnIdleQueue) {
  SendQueue sq;
  EXPECT_EQ(sq.receive(ack(1000)).action, SROCE_ACK_DROP);
  EXPECT_EQ(sq.receive(ack(999)).action, SROCE_ACK_DROP);
}

TEST(CompleterAck, IsDroppedForPostedButUnsentWork) {
  SendQueue sq({.window_packets = 2});
  for (int i = 0; i < 4; i++) sq.post(send_of(10));
  sq.send_all();
  expect_dropped(sq, ack(1002), SROCE_DROP_UNSENT);
}

TEST(CompleterAck, CrossesThePsnWrap) {
  SendQueue sq({.psn = 0xffffff});
  sq.post(send_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(0));
  EXPECT_EQ(sq.completions().size(), 2u);
}

TEST(CompleterAck, CompletesSeveralMessagesAcrossThePsnWrap) {
  SendsInFlight sq(5, {.psn = 0xfffffe});
  sq.receive(ack(0));
  EXPECT_EQ(sq.completions().size(), 3u);
}

TEST(CompleterAck, CancelsRetransmissionsThatItCovers) {
  SendsInFlight sq(4);
  sq.expire();
  sq.receive(ack(1002));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].psn, 1003u);
}

TEST(CompleterAck, SkipsCoveredPacketsOfARetransmission) {
  SendsInFlight sq(6);
  sq.expire();
  sq.send();
  sq.send();
  sq.receive(ack(1004));
  EXPECT_EQ(sq.completions().size(), 5u);
  const auto rest = sq.send_all();
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].psn, 1005u);
}

TEST(CompleterAck, OpensTheWindow) {
  SendsInFlight sq(8, {.window_packets = 4});
  EXPECT_TRUE(sq.send_all().empty());
  sq.receive(ack(1001));
  EXPECT_EQ(sq.send_all().size(), 2u);
}

TEST(CompleterState, QueueInErrorDropsResponses) {
  SendsInFlight sq(1);
  sroce_requester_set_state(&sq.req, SROCE_SQ_ERROR);
  expect_dropped(sq, ack(1000), SROCE_DROP_STATE);
}

TEST(CompleterState, DrainingQueueAcceptsResponses) {
  SendsInFlight sq(1);
  sroce_requester_set_state(&sq.req, SROCE_SQ_DRAINING);
  EXPECT_EQ(sq.receive(ack(1000)).action, SROCE_ACK_ACCEPT);
}

TEST(CompleterOpcode, RequestsAreNotResponses) {
  SendsInFlight sq(1);
  expect_dropped(sq, response(SROCE_OP_SEND_ONLY, 1000), SROCE_DROP_OPCODE);
  expect_dropped(sq, response(SROCE_OP_CNP, 1000), SROCE_DROP_OPCODE);
}

TEST(CompleterOpcode, DatagramsAreNotAcknowledged) {
  SendQueue sq({.service = SROCE_SERVICE_UD});
  sq.post(send_of(10));
  expect_dropped(sq, ack(1000), SROCE_DROP_OPCODE);
}

TEST(CompleterSyndrome, ReservedValuesAreDropped) {
  SendsInFlight sq(1);
  for (int syndrome = 0; syndrome < 256; syndrome++) {
    const int kind = syndrome & SROCE_AETH_KIND_MASK;
    if (kind == SROCE_AETH_ACK || kind == SROCE_AETH_RNR_NAK ||
        (syndrome >= SROCE_NAK_PSN_SEQUENCE && syndrome <= SROCE_NAK_REMOTE_OPERATION))
      continue;
    expect_dropped(sq, nak(static_cast<u8>(syndrome), 1000), SROCE_DROP_SYNDROME);
  }
  EXPECT_EQ(sq.receive(ack(1000)).action, SROCE_ACK_ACCEPT);
}

// The ACK timer ends a request whose peer sends nothing else.
TEST(CompleterSyndrome, ReservedValuesNeitherDelayNorPreventATimeout) {
  SendsInFlight sq(1, {.retry_cnt = 2});
  for (int i = 0; i <= 2; i++) {
    const u64 deadline = sroce_requester_deadline(&sq.req);
    sq.now = deadline - 1;
    for (int syndrome : {0x40, 0x5f, 0x64, 0x7f, 0x80, 0xff})
      sq.receive(nak(static_cast<u8>(syndrome), 1000));
    EXPECT_EQ(sroce_requester_deadline(&sq.req), deadline);
    ASSERT_FALSE(sq.failed()) << i;
    sq.expire();
    sq.send_all();
  }
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->status, SROCE_WC_RETRY_EXC_ERR);
}

TEST(CompleterSyndrome, DataIsNotSentWithANak) {
  for (int syndrome : {0x22, 0x40, 0x60, 0x62, 0x64, 0x80}) {
    ReadInFlight sq(1);
    sroce_packet pkt = sq.response(0);
    pkt.syndrome = static_cast<u8>(syndrome);
    expect_fails_with(sq, pkt, SROCE_WC_BAD_RESP_ERR);
  }
}

// ---------------------------------------------------------------- READ responses

TEST(CompleterRead, EachResponseIsPlacedAtItsOffset) {
  ReadInFlight sq(3);
  for (u32 i = 0; i < 3; i++) {
    const sroce_ack_plan plan = sq.receive(sq.response(i));
    EXPECT_EQ(plan.action, SROCE_ACK_ACCEPT);
    EXPECT_EQ(plan.index, 0u);
    EXPECT_EQ(plan.place_offset, i * 1024);
    EXPECT_EQ(plan.place_bytes, 1024u);
  }
  EXPECT_TRUE(sq.completion());
}

TEST(CompleterRead, CompletesOnlyWithTheLastResponse) {
  ReadInFlight sq(3);
  sq.receive(sq.response(0));
  sq.receive(sq.response(1));
  EXPECT_FALSE(sq.completion());
  sq.receive(sq.response(2));
  EXPECT_TRUE(sq.completion());
}

TEST(CompleterRead, ResponseAcknowledgesEarlierRequests) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(read_of(10));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1001, 10));
  EXPECT_EQ(sq.completions().size(), 2u);
}

TEST(CompleterRead, DuplicateResponseIsNotPlacedAgain) {
  ReadInFlight sq(3);
  sq.receive(sq.response(0));
  sq.receive(sq.response(1));
  expect_dropped(sq, sq.response(0), SROCE_DROP_DUPLICATE);
  expect_dropped(sq, sq.response(1), SROCE_DROP_DUPLICATE);
}

TEST(CompleterRead, OutOfOrderResponsesArePlacedAtTheirOffsets) {
  ReadInFlight sq(4);
  for (u32 number : {1u, 0u, 3u}) {
    const sroce_ack_plan plan = sq.receive(sq.response(number));
    EXPECT_EQ(plan.place_offset, number * 1024);
    EXPECT_EQ(plan.place_bytes, 1024u);
    EXPECT_FALSE(sq.completion());
  }
  expect_dropped(sq, sq.response(3), SROCE_DROP_DUPLICATE);
  EXPECT_EQ(sq.receive(sq.response(2)).place_offset, 2048u);
  EXPECT_TRUE(sq.completion());
}

TEST(CompleterRead, HoleOvertakenByThreeIsRequestedToTheEnd) {
  ReadInFlight sq(8);
  for (u32 number : {0u, 2u, 3u}) sq.receive(sq.response(number));
  EXPECT_TRUE(sq.send_all().empty()) << "it may be reordered";
  sq.receive(sq.response(4));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].opcode, SROCE_OP_READ_REQUEST);
  EXPECT_EQ(again[0].psn, 1001u);
  EXPECT_EQ(again[0].va, 0x10000u + 1024);
  EXPECT_EQ(again[0].dma_length, 7u * 1024);
}

TEST(CompleterRead, LastResponseMakesHolesLostAtOnce) {
  ReadInFlight sq(3);
  sq.receive(sq.response(2));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].dma_length, 3u * 1024);
}

TEST(CompleterRead, OneRequestCoversLaterHoles) {
  ReadInFlight sq(12);
  for (u32 number : {0u, 2u, 3u, 4u}) sq.receive(sq.response(number));
  EXPECT_EQ(sq.send_all().size(), 1u);
  sq.now += 10 * kMillisecond;
  for (u32 number : {6u, 7u, 9u, 11u}) sq.receive(sq.response(number));
  EXPECT_TRUE(sq.send_all().empty());
}

// The peer responds in order.
TEST(CompleterRead, RetransmissionIsLostWhenLaterWorkIsAcked) {
  ReadInFlight sq(6);
  for (u32 number : {0u, 2u, 3u, 4u, 5u}) sq.receive(sq.response(number));
  EXPECT_EQ(sq.send_all().size(), 1u);
  for (int i = 0; i < 8; i++) sq.post(send_of(10));
  EXPECT_EQ(sq.send_all().size(), 8u);
  sq.receive(ack(1007));
  EXPECT_TRUE(sq.send_all().empty());
  sq.receive(ack(1009));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].psn, 1001u);
}

TEST(CompleterRead, OnlyReadsWithAHoleAreRequestedAgain) {
  SendQueue sq;
  for (int i = 0; i < 4; i++) sq.post(read_of(1024));
  sq.send_all();
  for (u32 psn : {1000u, 1003u}) sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, psn, 1024));
  EXPECT_EQ(sq.completions().size(), 1u);
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].psn, 1001u);
  EXPECT_EQ(again[1].psn, 1002u);
  for (u32 psn : {1002u, 1001u}) sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, psn, 1024));
  EXPECT_EQ(sq.completions().size(), 3u);
}

TEST(CompleterRead, RewindToALaterRequestKeepsItsResponses) {
  SendQueue sq;
  sq.post(read_of(4 * 1024));
  for (int i = 0; i < 3; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1001, 1024));
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1005));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[0].psn, 1000u) << "the NAK overtook its response";
  EXPECT_EQ(again[1].psn, 1005u);
  expect_dropped(sq, read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1001, 1024),
                 SROCE_DROP_DUPLICATE);
}

TEST(CompleterRead, HoleUsesNoRetry) {
  ReadInFlight sq(4, {.retry_cnt = 1});
  sq.receive(sq.response(3));
  EXPECT_EQ(sq.send_all().size(), 1u);
  EXPECT_EQ(sq.req.retry_left, 1);
}

TEST(CompleterRead, TimerCoversALostRetransmission) {
  ReadInFlight sq(4);
  sq.receive(sq.response(3));
  EXPECT_EQ(sq.send_all().size(), 1u);
  EXPECT_TRUE(sq.timer_runs());
  sq.expire();
  EXPECT_EQ(sq.send_all().size(), 1u);
}

// On a reordering path a READ must not overtake an earlier one: a standard peer would NAK it.
TEST(CompleterRead, ReorderingPathKeepsReadsApart) {
  ReadInFlight sq(8);
  for (u32 number : {6u, 0u, 1u}) sq.receive(sq.response(number));
  EXPECT_EQ(sq.req.sb.reordering, 7u);
  sq.send_all();
  for (int i = 0; i < 2; i++) sq.post(read_of(8 * 1024));
  EXPECT_EQ(sq.send_all().size(), 0u);
  sq.receive(sq.response(2));
  EXPECT_EQ(sq.send_all().size(), 1u) << "half of its responses have arrived";
  for (u32 number : {3u, 4u, 5u}) sq.receive(sq.response(number));
  EXPECT_EQ(sq.send_all().size(), 0u);
  sq.receive(sq.response(7));
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRead, ShortReadsAreNotKeptApart) {
  ReadInFlight sq(8);
  for (u32 number : {6u, 0u}) sq.receive(sq.response(number));
  for (int i = 0; i < 3; i++) sq.post(read_of(1024));
  EXPECT_EQ(sq.send_all().size(), 4u) << "including the retransmission";
}

TEST(CompleterRead, ResponseToARetransmissionMayBeFirst) {
  ReadInFlight sq(3);
  sq.receive(sq.response(0));
  sq.expire();
  sq.send_all();
  const auto plan = sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1001, 1024));
  EXPECT_EQ(plan.action, SROCE_ACK_ACCEPT);
  EXPECT_EQ(plan.place_offset, 1024u);
}

TEST(CompleterRead, AckDoesNotReplaceItsResponse) {
  ReadInFlight sq(2);
  sq.receive(ack(1001));
  EXPECT_FALSE(sq.completion());
  EXPECT_FALSE(sq.failed());
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRead, AckOfLaterWorkMeansItsResponseWasLost) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1001));
  EXPECT_FALSE(sq.completion());
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].opcode, SROCE_OP_READ_REQUEST);
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
  EXPECT_EQ(sq.completions().size(), 2u);
}

TEST(CompleterRead, AckOfLaterWorkCompletesWorkBeforeTheRead) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(read_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1002));
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(sq.send_all().front().psn, 1001u);
}

TEST(CompleterRead, WrongLengthIsALocalLengthError) {
  for (u32 bytes : {0u, 1020u}) {
    ReadInFlight sq(2);
    expect_fails_with(sq, read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, bytes),
                      SROCE_WC_LOC_LEN_ERR);
  }
}

TEST(CompleterRead, ExcessDataIsNeverPlaced) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.send_all();
  const auto plan = sq.plan_response(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 12));
  EXPECT_EQ(plan.place_bytes, 0u);
  EXPECT_EQ(plan.action, SROCE_ACK_FAIL);
}

TEST(CompleterRead, LastResponseInTheMiddleIsABadResponse) {
  ReadInFlight sq(3);
  expect_fails_with(sq, read_response(SROCE_OP_READ_RESPONSE_LAST, 1000, 1024),
                    SROCE_WC_BAD_RESP_ERR);
}

TEST(CompleterRead, MiddleResponseAtTheEndIsABadResponse) {
  ReadInFlight sq(1);
  expect_fails_with(sq, read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024),
                    SROCE_WC_BAD_RESP_ERR);
}

TEST(CompleterRead, ReadResponseToASendIsABadResponse) {
  SendsInFlight sq(1);
  expect_fails_with(sq, read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10),
                    SROCE_WC_BAD_RESP_ERR);
}

TEST(CompleterRead, BadLocalBufferFailsTheReadAndFlushesTheRest) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(read_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1001, 10), SROCE_MEM_BAD_LOCAL);
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].status, SROCE_WC_SUCCESS);
  EXPECT_EQ(all[1].status, SROCE_WC_LOC_PROT_ERR);
  EXPECT_EQ(all[2].status, SROCE_WC_WR_FLUSH_ERR);
}

TEST(CompleterRead, LongestReadCountsResponsesAcrossTheWrap) {
  SendQueue sq({.psn = 0xfffffe, .mtu_bytes = 256});
  sq.post(read_of(1u << 31));
  sq.send_all();
  for (u32 i = 0; i < 8; i++) {
    const auto plan =
        sq.receive(read_response(i ? SROCE_OP_READ_RESPONSE_MIDDLE : SROCE_OP_READ_RESPONSE_FIRST,
                                 psn_add(0xfffffe, i), 256));
    EXPECT_EQ(plan.action, SROCE_ACK_ACCEPT);
    EXPECT_EQ(plan.place_offset, i * 256);
  }
}

// 2^31 bytes in packets of 256 span half of the PSN circle: the first PSN is as far before the end
// as behind it.
TEST(CompleterRead, LongestReadTakesNoOldResponseForProgress) {
  SendQueue sq({.mtu_bytes = 256});
  sq.post(read_of(1u << 31));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 256));
  EXPECT_EQ(sq.req.sb.top_psn, sq.req.sent_psn) << "its request was executed";
  expect_fails_with(sq, read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1001, 255),
                    SROCE_WC_LOC_LEN_ERR);
  EXPECT_EQ(sq.req.unacked_psn, 1001u);
  EXPECT_EQ(sq.req.next_psn, sq.req.sent_psn);
  EXPECT_EQ(sq.req.sb.executed_psn, sq.req.sent_psn);
}

TEST(CompleterRead, LongestReadIsRequestedAgainOnce) {
  SendQueue sq({.mtu_bytes = 256});
  sq.post(read_of(1u << 31));
  sq.send_all();
  size_t requests = 0;
  for (u32 i = 1; i < 100; i++) {
    sq.receive(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1000 + i, 256));
    requests += sq.send_all().size();
  }
  EXPECT_EQ(requests, 1u);
}

// The WRITE is longer than a PSN map: packets that leave the map are not counted twice.
TEST(CompleterRead, ExecutedWorkBehindItIsCountedOnce) {
  for (bool both : {false, true}) {
    ReadInFlight sq(100, {.window_packets = 8192, .selective = both});
    sq.post(write_of(5000 * 1024));
    sq.send_all();
    const auto from_peer = [both](sroce_packet pkt) { return pkt.selective = both, pkt; };
    for (u32 i = 1; i < 100; i++) sq.receive(from_peer(sq.response(i)));
    sq.receive(from_peer(ack(1000 + 100 + 5000 - 1)));
    EXPECT_EQ(sq.req.sb.done_data, SROCE_PSN_MAP_SPAN - 100);
    sq.receive(from_peer(sq.response(0)));
    EXPECT_EQ(sq.completions().size(), 2u);
    EXPECT_EQ(sq.req.sb.done_data, 0u);
  }
}

TEST(CompleterRead, BadLocalBufferFailsItInItsTurn) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.post(read_of(10));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1001, 10), SROCE_MEM_BAD_LOCAL);
  EXPECT_FALSE(sq.failed());
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
  EXPECT_EQ(sq.completions().size(), 1u);
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1001, 10), SROCE_MEM_BAD_LOCAL);
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].status, SROCE_WC_LOC_PROT_ERR);
}

// A peer that acknowledges later requests is not silent.
TEST(CompleterRead, AckOfLaterWorkResetsTheProbes) {
  SendQueue sq({.adaptive = true});
  sq.post(read_of(10));
  for (int i = 0; i < 3; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1001));
  sq.req.probe.ack_requests = 2;
  sq.receive(ack(1002));
  EXPECT_LE(sq.req.probe.ack_requests, 1);
}

// Packets resent before it that had no AckReq so far no longer need one.
TEST(CompleterRead, ResponseAfterARewindKeepsTheProbeArmed) {
  SendQueue sq({.adaptive = true});
  sq.post(send_of(3 * 1024));
  sq.post(read_of(2048));
  sq.send_all();
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
  sq.send(1);
  ASSERT_EQ(sq.req.since_ack_req, 1u);
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1003, 1024));
  EXPECT_EQ(sq.req.unacked_psn, 1004u);
  EXPECT_NE(sq.req.probe.deadline_ns, SROCE_NEVER);
}

TEST(CompleterRead, EmptyReadPlacesNothing) {
  SendQueue sq;
  sq.post(read_of(0));
  sq.send_all();
  EXPECT_EQ(sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 0)).place_bytes, 0u);
  EXPECT_TRUE(sq.completion());
}

TEST(CompleterRead, NakBetweenItsResponsesFailsIt) {
  ReadInFlight sq(3);
  sq.receive(sq.response(0));
  expect_fails_with(sq, nak(SROCE_NAK_REMOTE_ACCESS, 1001), SROCE_WC_REM_ACCESS_ERR);
}

// ---------------------------------------------------------------- atomics

TEST(CompleterAtomic, OriginalValueIsPlaced) {
  SendQueue sq;
  sq.post(fetch_add(1));
  sq.send_all();
  const auto plan = sq.receive(atomic_ack(1000, 42));
  EXPECT_TRUE(plan.place_atomic);
  EXPECT_EQ(plan.place_offset, 0u);
  EXPECT_EQ(plan.place_bytes, 8u);
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->opcode, SROCE_WC_FETCH_ADD);
  EXPECT_EQ(wc->byte_len, 8u);
}

TEST(CompleterAtomic, PlainAckDoesNotReplaceItsResponse) {
  SendQueue sq;
  sq.post(fetch_add(1));
  sq.send_all();
  sq.receive(ack(1000));
  EXPECT_FALSE(sq.completion());
  sq.expire();
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].psn, 1000u);
}

TEST(CompleterAtomic, DuplicateResponseIsDropped) {
  SendQueue sq;
  sq.post(fetch_add(1));
  sq.post(fetch_add(1));
  sq.send_all();
  sq.receive(atomic_ack(1000, 1));
  expect_dropped(sq, atomic_ack(1000, 1), SROCE_DROP_DUPLICATE);
}

TEST(CompleterAtomic, OvertakingResponseMeansThatOneWasLost) {
  SendQueue sq;
  sq.post(fetch_add(1));
  sq.post(fetch_add(1));
  sq.send_all();
  EXPECT_TRUE(sq.receive(atomic_ack(1001, 1)).place_atomic);
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].psn, 1000u);
}

TEST(CompleterAtomic, AtomicResponseToASendIsABadResponse) {
  SendsInFlight sq(1);
  expect_fails_with(sq, atomic_ack(1000, 1), SROCE_WC_BAD_RESP_ERR);
}

TEST(CompleterAtomic, BadLocalBufferIsAProtectionError) {
  SendQueue sq;
  sq.post(fetch_add(1));
  sq.send_all();
  sq.receive(atomic_ack(1000, 1), SROCE_MEM_BAD_LOCAL);
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->status, SROCE_WC_LOC_PROT_ERR);
}

// ---------------------------------------------------------------- hostile peers

TEST(CompleterHostile, NoResponseCrashesOrCompletesUnsentWork) {
  for (u8 opcode = SROCE_OP_READ_RESPONSE_FIRST; opcode <= SROCE_OP_ATOMIC_ACK; opcode++) {
    for (int syndrome = 0; syndrome < 256; syndrome += 3) {
      for (u32 psn : {999u, 1000u, 1001u, 1004u, 1005u, 1006u, 2000u, 0u, 0x801000u}) {
        SendQueue sq({.window_packets = 3, .max_rd_atomic = 2});
        sq.post(send_of(10));
        sq.post(read_of(4000));
        sq.post(fetch_add(1));
        sq.post(send_of(9000));
        sq.send_all();
        sroce_packet pkt = response(opcode, psn);
        pkt.syndrome = static_cast<u8>(syndrome);
        pkt.payload_bytes = 1024;
        const auto plan = sq.receive(pkt);
        ASSERT_LE(plan.place_offset + u64{plan.place_bytes},
                  sroce_requester_wqe(&sq.req, plan.index)->length);
        u32 successes = 0;
        for (const auto& wc : sq.completions()) successes += wc.status == SROCE_WC_SUCCESS;
        ASSERT_LE(successes, 3u);
      }
    }
  }
}

TEST(CompleterPlan, RepeatedPlanIsTheSame) {
  ReadInFlight sq(3);
  const auto dropped = sq.plan_response(sq.response(0));
  const auto again = sq.receive(sq.response(0));
  EXPECT_EQ(memcmp(&dropped, &again, sizeof(again)), 0);
}

}  // namespace
