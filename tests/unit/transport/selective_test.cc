// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "send_queue.h"

namespace {

using namespace sroce_test;

constexpr u32 kSpan = SROCE_PSN_MAP_SPAN;
constexpr u64 kMicrosecond = 1000;

std::vector<u32> psns_of(const std::vector<sroce_packet>& packets) {
  std::vector<u32> psns;
  for (const sroce_packet& pkt : packets) psns.push_back(pkt.psn);
  return psns;
}

std::vector<u32> range(u32 from, u32 count) {
  std::vector<u32> psns;
  for (u32 i = 0; i < count; i++) psns.push_back(psn_add(from, i));
  return psns;
}

using Psns = std::vector<u32>;

// A peer that has said that it is selective, by the ACK of one SEND (PSN 999), @rtt_ns later.
struct SelectiveQueue : SendQueue {
  explicit SelectiveQueue(SendQueueOptions options = {}, u64 rtt_ns = 20 * kMicrosecond)
      : SendQueue(with_mode(options)) {
    post(send_of(10));
    send_all();
    now += rtt_ns;
    receive(selective(ack(psn_add(options.psn, SROCE_PSN_MASK))));
    completions();
  }
  static SendQueueOptions with_mode(SendQueueOptions options) {
    options.selective = true;
    options.psn = psn_add(options.psn, SROCE_PSN_MASK);
    return options;
  }
};

// And @count SENDs of one packet each, from PSN 1000 on.
struct SelectiveSends : SelectiveQueue {
  explicit SelectiveSends(u32 count, SendQueueOptions options = {}) : SelectiveQueue(options) {
    for (u32 i = 0; i < count; i++) post(send_of(10));
    send_all();
  }
};

// Or one READ of @responses full packets.
struct SelectiveRead : SelectiveQueue {
  explicit SelectiveRead(u32 responses, SendQueueOptions options = {})
      : SelectiveQueue(options), responses_(responses), psn_(options.psn) {
    post(read_of(responses * 1024));
    send_all();
  }
  sroce_ack_plan answer(u32 number, u32 bytes = 1024) {
    const u8 opcode = number == responses_ - 1 ? SROCE_OP_READ_RESPONSE_LAST
                      : number                 ? SROCE_OP_READ_RESPONSE_MIDDLE
                                               : SROCE_OP_READ_RESPONSE_FIRST;
    return receive(selective(read_response(opcode, psn_add(psn_, number), bytes)));
  }
  void answer_all(const Psns& numbers) {
    for (u32 number : numbers) EXPECT_EQ(answer(number).action, SROCE_ACK_ACCEPT) << number;
  }

 private:
  u32 responses_;
  u32 psn_;
};

// ---------------------------------------------------------------- who speaks it

TEST(SelectiveMode, IsOfferedInEveryRequestUntilThePeerAnswers) {
  SendQueue sq({.selective = true});
  sq.post(send_of(3000));
  for (const sroce_packet& pkt : sq.send_all()) EXPECT_TRUE(pkt.selective);
}

TEST(SelectiveMode, IsNotOfferedByWhoDoesNotWantIt) {
  SendQueue sq;
  sq.post(send_of(10));
  EXPECT_FALSE(sq.send_all()[0].selective);
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(sq.req.sel.mode, SROCE_SELECTIVE_OFF);
}

TEST(SelectiveMode, IsOnWhenTheFirstAnswerSaysSo) {
  SelectiveQueue sq;
  EXPECT_EQ(sq.req.sel.mode, SROCE_SELECTIVE_ON);
}

TEST(SelectiveMode, IsOffForGoodWhenTheFirstAnswerDoesNot) {
  SendQueue sq({.selective = true});
  sq.post(send_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1000));
  sq.receive(selective(ack(1001)));
  EXPECT_EQ(sq.req.sel.mode, SROCE_SELECTIVE_OFF);
  sq.post(send_of(10));
  EXPECT_FALSE(sq.send_all()[0].selective);
}

TEST(SelectiveMode, IsNotDecidedByAnAnswerThatIsDropped) {
  SendQueue sq({.selective = true});
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(5000));
  EXPECT_EQ(sq.req.sel.mode, SROCE_SELECTIVE_OFFERED);
}

TEST(SelectiveMode, AStandardQueueTakesNoSelectiveAck) {
  SendQueue sq;
  for (int i = 0; i < 3; i++) sq.post(send_of(10));
  sq.send_all();
  EXPECT_EQ(sq.receive_sack(1000, {1002}).reason, SROCE_DROP_OPCODE);
  EXPECT_FALSE(sq.completion());
}

TEST(SelectiveMode, BeginsWithASelectiveAckAsWell) {
  SendQueue sq({.selective = true});
  for (int i = 0; i < 8; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(999, range(1001, 7));
  EXPECT_EQ(sq.req.sel.mode, SROCE_SELECTIVE_ON);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(SelectiveMode, SwitchedOnAfterARewindOnlyHolesAreSentAgain) {
  SendQueue sq({.selective = true});
  for (int i = 0; i < 8; i++) sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  EXPECT_EQ(sq.send().first_psn, 1000u);
  sq.receive_sack(1000, {1002, 1003, 1004, 1005, 1006, 1007});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
  EXPECT_EQ(sq.req.data_inflight, 7u);
}

TEST(SelectiveMode, IsForgottenInReset) {
  SelectiveSends sq(4);
  sq.receive_sack(999, {1001, 1002});
  sroce_requester_reset(&sq.req);
  EXPECT_EQ(sq.req.sel.mode, SROCE_SELECTIVE_OFFERED);
  EXPECT_EQ(sq.req.sel.done_data, 0u);
  EXPECT_EQ(sroce_psn_map_count(&sq.req.sel.done, 0, kSpan), 0u);
}

// ---------------------------------------------------------------- selective acknowledgements

TEST(SelectiveAck, CompletesWhatIsExecutedAndNothingThatIsHeld) {
  SelectiveSends sq(8);
  sq.receive_sack(1001, {1003, 1004, 1005});
  EXPECT_EQ(sq.completions().size(), 2u);
  EXPECT_EQ(sq.req.unacked_psn, 1002u);
  EXPECT_EQ(sq.req.sel.done_data, 3u);
}

TEST(SelectiveAck, OfEverythingHeldCompletesNothing) {
  SelectiveSends sq(8);
  sq.receive_sack(999, range(1001, 7));
  EXPECT_FALSE(sq.completion());
}

TEST(SelectiveAck, MayRepeatItself) {
  SelectiveSends sq(8);
  for (int i = 0; i < 3; i++) sq.receive_sack(999, {1001, 1003});
  EXPECT_EQ(sq.req.sel.done_data, 2u);
}

TEST(SelectiveAck, TheLastAckCompletesAllAndEmptiesTheMap) {
  SelectiveSends sq(8);
  sq.receive_sack(999, range(1001, 7));
  sq.send_all();
  sq.receive(selective(ack(1007)));
  EXPECT_EQ(sq.completions().size(), 8u);
  EXPECT_EQ(sq.req.sel.done_data, 0u);
  EXPECT_EQ(sroce_psn_map_count(&sq.req.sel.done, 0, kSpan), 0u);
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

TEST(SelectiveAck, ThatTellsOfWhatWasNeverSentIsForged) {
  SelectiveSends sq(8, {.window_packets = 4});
  EXPECT_EQ(sq.receive_sack(999, {1004}).reason, SROCE_DROP_UNSENT);
  EXPECT_EQ(sq.receive_sack(999, {1062}).reason, SROCE_DROP_UNSENT);
  EXPECT_EQ(sq.receive_sack(999, {1003}).action, SROCE_ACK_ACCEPT);
}

TEST(SelectiveAck, OfAnythingButAnAcknowledgementIsForged) {
  SelectiveSends sq(4);
  sroce_packet pkt = selective(response(SROCE_OP_SACK, 1000));
  pkt.syndrome = SROCE_NAK_PSN_SEQUENCE;
  EXPECT_EQ(sq.receive(pkt).reason, SROCE_DROP_SYNDROME);
}

// Bits that follow each other are taken together, and each request's part is its own.
TEST(SelectiveAck, ARowOfWhatIsHeldMayCoverRequestsOfSeveralKinds) {
  SelectiveQueue sq({.window_packets = 200});
  sq.post(send_of(10));         // 1000
  sq.post(send_of(3 * 1024));   // 1001 to 1003
  sq.post(read_of(2 * 1024));   // 1004 and 1005
  sq.post(send_of(70 * 1024));  // 1006 to 1075
  sq.send_all();
  Psns held = range(1001, 4);
  for (u32 psn : range(1006, 70)) held.push_back(psn);
  sq.receive_sack(999, held, 16);
  EXPECT_EQ(sq.req.sel.done_data, 73u);
  EXPECT_EQ(sroce_psn_map_count(&sq.req.sel.done, 1001, 75), 73u);
  EXPECT_EQ(sroce_psn_map_count(&sq.req.sel.waiting, 1000, 76), 2u) << "all of the READ";
  EXPECT_TRUE(psn_map_has(&sq.req.sel.waiting, 1005));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(SelectiveAck, AnEmptyBitmapIsAnAck) {
  SelectiveSends sq(4);
  EXPECT_EQ(sq.receive_sack(1001, {}, 0).action, SROCE_ACK_ACCEPT);
  EXPECT_EQ(sq.receive_sack(1002, {}, 8).action, SROCE_ACK_ACCEPT);
  EXPECT_EQ(sq.completions().size(), 3u);
}

TEST(SelectiveAck, AnOldOneIsDropped) {
  SelectiveSends sq(8);
  sq.receive(selective(ack(1005)));
  EXPECT_EQ(sq.receive_sack(1000, {1002, 1003}).reason, SROCE_DROP_DUPLICATE);
  EXPECT_EQ(sq.req.sel.done_data, 0u);
}

// A bitmap is as long as the most that a responder keeps.
TEST(SelectiveAck, ReachesOverTheWholeSpan) {
  SelectiveQueue sq({.psn = 0xfffff0, .window_packets = 4000});
  sq.post(send_of(kSpan * 1024));
  EXPECT_EQ(sq.send_all().size(), kSpan);
  sq.receive_sack(0xffffef, range(0xfffff1, kSpan - 1), SROCE_SACK_MAX_BYTES);
  EXPECT_EQ(sq.req.sel.done_data, kSpan - 1);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{0xfffff0});
  sq.receive(selective(ack(psn_add(0xfffff0, kSpan - 1))));
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(sq.req.sel.done_data, 0u);
}

TEST(SelectiveAck, WhatIsHeldBeyondTheSpanIsNotRemembered) {
  SelectiveQueue sq({.window_packets = 4000});
  sq.post(send_of(3000 * 1024));
  sq.send_all();
  sq.receive_sack(999, range(1001, kSpan - 1), SROCE_SACK_MAX_BYTES);
  EXPECT_EQ(sq.req.sel.done_data, kSpan - 1);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  // The map moves along with what is executed: more fits when it is told once more.
  sq.receive_sack(1099, range(1101, kSpan - 1), SROCE_SACK_MAX_BYTES);
  EXPECT_EQ(sq.req.sel.done_data, kSpan - 100);
  sq.receive_sack(1099, range(1101, kSpan - 1), SROCE_SACK_MAX_BYTES);
  EXPECT_EQ(sq.req.sel.done_data, kSpan);
}

// ---------------------------------------------------------------- holes

TEST(SelectiveHole, IsAllThatIsSentAgain) {
  SelectiveSends sq(12);
  sq.receive_sack(1001, {1003, 1005, 1006, 1007, 1008});
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1002, 1004}));
  EXPECT_EQ(sq.req.retransmits, 2u);
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(SelectiveHole, OfSeveralPacketsOfAMessageIsOneBurst) {
  SelectiveQueue sq;
  sq.post(write_of(10 * 1024));
  sq.send_all();
  sq.receive_sack(999, {1000 + 1, 1000 + 5, 1006, 1007, 1008, 1009});
  EXPECT_EQ(sq.send().packet_count, 1u);
  const sroce_send_plan plan = sq.plan();
  EXPECT_TRUE(plan.repair);
  EXPECT_TRUE(plan.ack_req);
  EXPECT_EQ(plan.first_psn, 1002u);
  EXPECT_EQ(plan.packet_count, 3u);
  EXPECT_EQ(plan.offset, 2048u);
  EXPECT_EQ(plan.payload_bytes, 3072u);
}

TEST(SelectiveHole, IsOneOnlyWhenThreeOthersHaveOvertakenIt) {
  SelectiveSends sq(12);
  sq.receive_sack(999, {1001, 1002});
  EXPECT_TRUE(sq.send_all().empty());
  sq.receive_sack(999, {1001, 1002, 1003});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(SelectiveHole, OnlyWhereThePathReordersItsLengthCounts) {
  SelectiveSends sq(12);
  sq.req.rtt.path_packets = 24;
  sq.receive_sack(999, {1001, 1002, 1003});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  SelectiveSends reordering(12);
  reordering.req.rtt.path_packets = 24;
  reordering.req.sel.late_packets = 1;
  reordering.receive_sack(999, {1001, 1002, 1003, 1004, 1005});
  EXPECT_TRUE(reordering.send_all().empty());
  reordering.receive_sack(999, {1001, 1002, 1003, 1004, 1005, 1006});
  EXPECT_EQ(psns_of(reordering.send_all()), Psns{1000});
}

TEST(SelectiveHole, NothingMoreCanOvertakeTheEnd) {
  SelectiveSends sq(3);
  sq.receive_sack(999, {1002});
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001}));
}

TEST(SelectiveHole, IsFilledOnceInARoundTrip) {
  SelectiveSends sq(14);
  sq.receive_sack(999, {1001, 1002, 1003});
  EXPECT_EQ(sq.send_all().size(), 1u);
  sq.receive_sack(999, {1001, 1002, 1003, 1004});
  EXPECT_TRUE(sq.send_all().empty());
  sq.now += sroce_rtt_repair_ns(&sq.req.rtt) - 1;
  sq.receive_sack(999, {1001, 1002, 1003, 1004, 1005});
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(SelectiveHole, WhoseRepairWasLostIsFilledAgain) {
  SelectiveSends sq(14);
  sq.receive_sack(999, {1001, 1002, 1003});
  sq.send_all();
  const u64 wait_ns = sroce_rtt_repair_ns(&sq.req.rtt);
  for (u32 more = 4, times = 0; times < 3; times++) {
    sq.now += wait_ns;
    sq.receive_sack(999, range(1001, more++));
    sq.now += 1;
    sq.receive_sack(999, range(1001, more++));
    EXPECT_EQ(psns_of(sq.send_all()), Psns{1000}) << times;
  }
}

TEST(SelectiveHole, APacketThatWasOnlyLateTeachesPatience) {
  SelectiveQueue sq({.slots = 64});
  // So many that the path is known to hold some.
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
  const auto held = [&](u32 count) { return range(first + 1, count); };
  sq.receive_sack(first - 1, held(2));
  sq.receive_sack(first - 1, held(2));
  ASSERT_TRUE(sq.send_all().empty());
  // It comes by itself, overtaken by five.
  sq.receive(selective(ack(first + 5)));
  EXPECT_EQ(sq.req.sel.late_packets, 3u) << "as many as were known to have overtaken it";
}

TEST(SelectiveHole, WhetherALateRepairOrALatePacketCameIsNotGuessed) {
  SelectiveSends sq(12);
  sq.req.rtt.min_ns = 20 * kMicrosecond;
  sq.receive_sack(999, {1001, 1002, 1003});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  // Another repair, long after that, belongs to the same generation.
  sq.now += 25 * kMicrosecond;
  sq.receive_sack(999, {1001, 1002, 1003, 1005, 1006, 1007});
  sq.send_all();
  sq.now += kMicrosecond;
  sq.receive(selective(ack(1003)));
  EXPECT_EQ(sq.req.sel.late_packets, 0u);
}

TEST(SelectiveHole, AtTheCursorIsNone) {
  SelectiveSends sq(8, {.window_packets = 4});
  sq.receive_sack(999, {1001, 1002, 1003});
  EXPECT_EQ(sq.send().first_psn, 1000u);
  EXPECT_EQ(sq.send().first_psn, 1004u) << "what was never sent goes out in its turn";
}

// The user deregistered the buffer meanwhile.
TEST(SelectiveHole, ThatCannotBeFilledFailsItsRequestInItsTurn) {
  SelectiveSends sq(6);
  sq.receive_sack(1000, {1002, 1003, 1004});
  sq.commit(sq.plan(), SROCE_WC_LOC_PROT_ERR);
  const sroce_send_plan next = sq.plan();
  EXPECT_FALSE(next.repair && next.first_psn == 1001u) << "the same again, for ever";
  EXPECT_EQ(sq.send().action, SROCE_SEND_FAIL);
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 6u);
  EXPECT_EQ(all[1].status, SROCE_WC_LOC_PROT_ERR);
}

// ---------------------------------------------------------------- refusals

TEST(SelectiveRnr, WhatWasHeldIsSentAgain) {
  SelectiveSends sq(6);
  sq.receive_sack(1000, {1002, 1003});
  EXPECT_EQ(sq.completions().size(), 1u);
  sq.receive(selective(rnr_nak(1001)));
  EXPECT_EQ(sq.req.sel.done_data, 0u);
  EXPECT_TRUE(sq.send_all().empty());
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), range(1001, 5));
}

TEST(SelectiveRnr, AcknowledgesWhatWentBefore) {
  SelectiveSends sq(4);
  sq.receive(selective(rnr_nak(1002)));
  EXPECT_EQ(sq.completions().size(), 2u);
}

TEST(SelectiveRnr, BehindAReadTheReadStaysUnanswered) {
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

TEST(SelectiveNak, OfASequenceGoesBackToIt) {
  SelectiveSends sq(6);
  sq.receive_sack(999, {1002, 1003});
  sq.receive(selective(nak(SROCE_NAK_PSN_SEQUENCE, 1001)));
  EXPECT_EQ(psns_of(sq.send_all()), range(1001, 5));
}

TEST(SelectiveNak, ThatIsFatalFailsItsRequest) {
  SelectiveSends sq(4);
  sq.receive(selective(nak(SROCE_NAK_REMOTE_ACCESS, 1002)));
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].status, SROCE_WC_SUCCESS);
  EXPECT_EQ(all[2].status, SROCE_WC_REM_ACCESS_ERR);
  EXPECT_EQ(all[3].status, SROCE_WC_WR_FLUSH_ERR);
}

TEST(SelectiveNak, ThatIsFatalWaitsForReadsBefore) {
  SelectiveQueue sq;
  sq.post(read_of(1024));
  sq.post(write_of(10));
  sq.send_all();
  sq.receive(selective(nak(SROCE_NAK_REMOTE_ACCESS, 1001)));
  EXPECT_FALSE(sq.failed());
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 1024)));
  sq.receive(selective(nak(SROCE_NAK_REMOTE_ACCESS, 1001)));
  EXPECT_TRUE(sq.failed());
}

// ---------------------------------------------------------------- READs and atomics

TEST(SelectiveRead, TakesItsResponsesInAnyOrder) {
  SelectiveRead sq(4);
  EXPECT_EQ(sq.answer(2).place_offset, 2048u);
  EXPECT_EQ(sq.answer(0).place_offset, 0u);
  EXPECT_EQ(sq.req.unacked_psn, 1001u);
  sq.answer_all({3, 1});
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(sq.req.rd_inflight, 0u);
}

TEST(SelectiveRead, PlacesNoResponseTwice) {
  SelectiveRead sq(4);
  sq.answer(2);
  EXPECT_EQ(sq.answer(2).reason, SROCE_DROP_DUPLICATE);
  sq.answer(0);
  EXPECT_EQ(sq.answer(0).reason, SROCE_DROP_DUPLICATE);
}

TEST(SelectiveRead, AskedForAgainIsWhatIsMissing) {
  SelectiveRead sq(12);
  sq.answer_all({0, 1, 4, 5, 6, 7, 8});
  const sroce_send_plan plan = sq.send();
  const sroce_packet pkt = sq.packet(plan, 0);
  EXPECT_TRUE(plan.repair);
  EXPECT_EQ(pkt.psn, 1002u);
  EXPECT_EQ(pkt.va, 0x10000u + 2048);
  EXPECT_EQ(pkt.dma_length, 2048u);
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(SelectiveRead, WhatWasNotOvertakenIsNotAskedForAgain) {
  SelectiveQueue sq;
  sq.post(read_of(8 * 1024));
  sq.post(read_of(1024));
  sq.send_all();
  sq.req.sel.late_packets = 4;
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1008, 1024)));
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1000u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 4u * 1024) << "five others may have been overtaken";
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(SelectiveRead, ThatWasNeverAnsweredIsAskedForWhole) {
  SelectiveQueue sq({.slots = 32});
  sq.post(read_of(100 * 1024));
  for (int i = 0; i < 5; i++) sq.post(send_of(10));
  sq.send_all();
  // The READ is lost: the peer holds what came behind it.
  sq.receive_sack(999, range(1100, 5), 16);
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1000u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 100u * 1024);
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(SelectiveRead, ThatThePeerHoldsIsNotAskedForAgain) {
  SelectiveQueue sq({.slots = 32});
  sq.post(send_of(10));
  sq.post(read_of(4 * 1024));
  for (int i = 0; i < 5; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(999, {1001, 1005, 1006, 1007, 1008, 1009}, 16);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  EXPECT_FALSE(sq.completion());
}

TEST(SelectiveRead, ThatThePeerHoldsIsNotAskedForAgainHoweverLongThatTakes) {
  SelectiveSends sq(1);
  sq.post(read_of(4096));
  for (int i = 0; i < 6; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(999, {1001, 1005, 1006, 1007});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  sq.now += 10 * sroce_rtt_repair_ns(&sq.req.rtt);
  sq.receive_sack(999, {1001, 1005, 1006, 1007, 1008});
  sq.now += 10 * sroce_rtt_repair_ns(&sq.req.rtt);
  sq.receive_sack(999, {1001, 1005, 1006, 1007, 1008, 1009});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000}) << "lost again";
}

TEST(SelectiveRead, WhoseRequestIsOvertakenIsAskedForARoundTripLaterWherePacketsComeLate) {
  SelectiveQueue sq;
  for (int i = 0; i < 3; i++) sq.post(read_of(10 * 1024));
  for (int i = 0; i < 3; i++) sq.post(send_of(10));
  sq.send_all();
  sq.req.sel.late_packets = 4;
  sq.receive_sack(999, {1010, 1020});
  EXPECT_TRUE(sq.send_all().empty()) << "it may be late as well";
  for (u32 more = 1; more < 3; more++) {
    sq.now += 2 * sroce_rtt_repair_ns(&sq.req.rtt);
    sq.receive_sack(999, range(1030, more), 16);
  }
  EXPECT_EQ(sq.send().first_psn, 1000u);
}

TEST(SelectiveRead, ASelectiveAckSaysNothingOfItsAnswers) {
  SelectiveQueue sq;
  sq.post(read_of(4096));
  for (int i = 0; i < 6; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(1003, {1005, 1006, 1007, 1008});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1004});
}

TEST(SelectiveRead, AnAckPassesItWithoutCompletingIt) {
  SelectiveQueue sq;
  sq.post(read_of(2048));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(selective(ack(1002)));
  EXPECT_FALSE(sq.completion());
  EXPECT_EQ(sq.req.sel.done_data, 1u) << "the SEND behind it is done";
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024)));
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_LAST, 1001, 1024)));
  EXPECT_EQ(sq.completions().size(), 2u);
  EXPECT_EQ(sq.req.sel.done_data, 0u);
}

TEST(SelectiveRead, WhoseResponsesAnAckOvertookIsAskedForAgain) {
  SelectiveQueue sq;
  sq.post(read_of(2048));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(selective(ack(1002)));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(SelectiveRead, OfTheWrongLengthFails) {
  SelectiveRead sq(4);
  EXPECT_EQ(sq.answer(1, 1000).status, SROCE_WC_LOC_LEN_ERR);
  EXPECT_TRUE(sq.failed());
}

TEST(SelectiveRead, IntoABadBufferFailsIt) {
  SelectiveRead sq(4);
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_MIDDLE, 1002, 1024)),
             SROCE_MEM_BAD_LOCAL);
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].status, SROCE_WC_LOC_PROT_ERR);
}

TEST(SelectiveRead, HowLongAnswersToRepairsTakeIsLearnt) {
  SelectiveRead sq(60);
  const u64 wait_ns = sroce_rtt_repair_ns(&sq.req.rtt), slow_ns = 4 * wait_ns;
  sq.answer_all({0, 1, 3, 4, 5});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
  sq.now += slow_ns;
  sq.answer_all({2, 6, 8, 9, 10});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1007});
  // Looked at with each answer; the second makes it one of the old generation.
  sq.now += slow_ns;
  sq.answer_all({11, 12});
  EXPECT_TRUE(sq.send_all().empty()) << "four times as long as a round trip, as the one before";
  sq.now += slow_ns / 4;
  sq.answer_all({13});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1007});
}

// Its PSN, taken modulo the map's span, is that of a response.
TEST(SelectiveRead, WhatIsTimedFarBehindItIsNotAnsweredByItsResponses) {
  SelectiveRead sq(5000);
  sq.req.rtt.timing = false;
  sq.post(send_of(10));
  sq.send_all();
  ASSERT_TRUE(sq.req.rtt.timing);
  ASSERT_EQ(sq.req.rtt.timed_psn, 6000u);
  sq.now += kMicrosecond;
  sq.answer_all({0, 5000 % SROCE_PSN_MAP_SPAN});
  EXPECT_TRUE(sq.req.rtt.timing);
  EXPECT_EQ(sq.req.rtt.min_ns, 20 * kMicrosecond);
}

// Else waits would grow without end where much is lost: each counts the one before.
TEST(SelectiveRead, ARepairThatWasLostMakesTheWaitLittleLonger) {
  SelectiveRead sq(60);
  const u64 wait_ns = sroce_rtt_repair_ns(&sq.req.rtt);
  sq.answer_all({0, 1, 3, 4, 5});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
  sq.now += 50 * wait_ns;
  sq.answer_all({6, 7});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
  sq.now += 50 * wait_ns;
  sq.answer_all({2});
  EXPECT_GT(sq.req.sel.answer_time.smoothed_ns, wait_ns);
  EXPECT_LT(sq.req.sel.answer_time.smoothed_ns, 2 * wait_ns);
}

TEST(SelectiveRead, LongerThanTheSpanGoesOutAlone) {
  SelectiveQueue sq;
  sq.post(send_of(10));
  sq.post(read_of(3000 * 1024));
  sq.post(read_of(1024));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
}

TEST(SelectiveRead, LongerThanTheSpanIsRememberedAsFarAsTheSpan) {
  SelectiveRead sq(3000, {.psn = 0xfffff0});
  EXPECT_EQ(sq.answer(kSpan - 1).action, SROCE_ACK_ACCEPT);
  EXPECT_EQ(sq.answer(kSpan).reason, SROCE_DROP_GAP);
  EXPECT_EQ(sq.answer(2999).reason, SROCE_DROP_GAP);
  for (u32 i = 0; i < kSpan - 1; i++) ASSERT_EQ(sq.answer(i).action, SROCE_ACK_ACCEPT) << i;
  EXPECT_EQ(sq.req.unacked_psn, psn_add(0xfffff0, kSpan));
  for (u32 i = kSpan; i < 3000; i++) ASSERT_EQ(sq.answer(i).action, SROCE_ACK_ACCEPT) << i;
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(sroce_psn_map_count(&sq.req.sel.done, 0, kSpan), 0u);
}

TEST(SelectiveRead, LongerThanTheSpanAndNeverAnsweredIsAskedForWhole) {
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

TEST(SelectiveRead, WhatWasExecutedBehindItIsNotSentAgainAfterANak) {
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

// ---------------------------------------------------------------- silence

TEST(SelectiveTimeout, AsksWithTheOldestPacketOnly) {
  SelectiveSends sq(6);
  sq.expire();
  EXPECT_EQ(sq.req.timeouts, 1u);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(SelectiveTimeout, ForgetsWhatThePeerSaidItHolds) {
  SelectiveSends sq(6);
  sq.receive_sack(999, {1001, 1002, 1003});
  sq.send_all();
  sq.expire();
  EXPECT_EQ(sq.req.sel.done_data, 0u);
}

TEST(SelectiveTimeout, ExhaustsTheRetriesAsEver) {
  SelectiveSends sq(2, {.retry_cnt = 2});
  for (int i = 0; i < 3; i++) {
    EXPECT_FALSE(sq.failed());
    sq.expire();
    sq.send_all();
  }
  EXPECT_EQ(sq.completions().front().status, SROCE_WC_RETRY_EXC_ERR);
}

}  // namespace
