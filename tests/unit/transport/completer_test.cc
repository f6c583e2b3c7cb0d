// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <string>

#include "send_queue.h"

namespace {

using namespace sroce_test;

// Packets 1000 .. 1000 + count - 1, one SEND each, sent and unanswered.
struct SendsInFlight : SendQueue {
  explicit SendsInFlight(u32 count, const SendQueueOptions& options = {}) : SendQueue(options) {
    for (u32 i = 0; i < count; i++) post(send_of(10));
    send_all();
  }
};

// READ of @responses full packets from PSN 1000, requested and unanswered.
struct ReadInFlight : SendQueue {
  explicit ReadInFlight(u32 responses, const SendQueueOptions& options = {})
      : SendQueue(options), responses_(responses) {
    post(read_of(responses * 1024));
    send_all();
  }
  sroce_packet answer(u32 number) const {
    const bool first = number == 0, last = number == responses_ - 1;
    u8 opcode = SROCE_OP_READ_RESPONSE_MIDDLE;
    if (first && last) opcode = SROCE_OP_READ_RESPONSE_ONLY;
    if (first && !last) opcode = SROCE_OP_READ_RESPONSE_FIRST;
    if (!first && last) opcode = SROCE_OP_READ_RESPONSE_LAST;
    return read_response(opcode, psn_add(1000, number), 1024);
  }

 private:
  u32 responses_;
};

void expect_dropped(SendQueue& sq, const sroce_packet& pkt, sroce_drop_reason reason) {
  const sroce_ack_plan plan = sq.receive(pkt);
  EXPECT_EQ(plan.action, SROCE_ACK_DROP);
  EXPECT_EQ(plan.reason, reason);
}

void expect_fails_with(SendQueue& sq, const sroce_packet& pkt, sroce_wc_status status) {
  EXPECT_EQ(sq.receive(pkt).action, SROCE_ACK_FAIL);
  EXPECT_TRUE(sq.failed());
  const auto all = sq.completions();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().status, status);
  for (size_t i = 1; i < all.size(); i++) EXPECT_EQ(all[i].status, SROCE_WC_WR_FLUSH_ERR);
}

// ---------------------------------------------------------------- positive acknowledgements

TEST(CompleterAck, CompletesItsMessage) {
  SendsInFlight sq(1);
  EXPECT_EQ(sq.receive(ack(1000)).action, SROCE_ACK_ACCEPT);
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->status, SROCE_WC_SUCCESS);
  EXPECT_EQ(wc->opcode, SROCE_WC_SEND);
}

TEST(CompleterAck, OneAckCompletesAllThatWentBefore) {
  SendsInFlight sq(5);
  sq.receive(ack(1003));
  EXPECT_EQ(sq.completions().size(), 4u);
}

TEST(CompleterAck, InTheMiddleOfAMessageCompletesNothing) {
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

TEST(CompleterAck, ADuplicateIsDropped) {
  SendsInFlight sq(2);
  sq.receive(ack(1000));
  expect_dropped(sq, ack(1000), SROCE_DROP_DUPLICATE);
}

TEST(CompleterAck, AnOlderOneIsDropped) {
  SendsInFlight sq(3);
  sq.receive(ack(1001));
  expect_dropped(sq, ack(1000), SROCE_DROP_DUPLICATE);
  expect_dropped(sq, ack(0xfffff0), SROCE_DROP_DUPLICATE);
}

TEST(CompleterAck, OfWhatWasNeverSentIsDropped) {
  SendsInFlight sq(3);
  expect_dropped(sq, ack(1003), SROCE_DROP_UNSENT);
  expect_dropped(sq, ack(5000), SROCE_DROP_UNSENT);
  EXPECT_FALSE(sq.completion());
}

TEST(CompleterAck, ToAnIdleQueueIsDropped) {
  SendQueue sq;
  EXPECT_EQ(sq.receive(ack(1000)).action, SROCE_ACK_DROP);
  EXPECT_EQ(sq.receive(ack(999)).action, SROCE_ACK_DROP);
}

TEST(CompleterAck, OfPostedButUnsentWorkIsDropped) {
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

TEST(CompleterAck, ThatComesAfterTheRewindSparesTheRetransmission) {
  SendsInFlight sq(4);
  sq.expire();
  sq.receive(ack(1002));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].psn, 1003u);
}

TEST(CompleterAck, ThatComesDuringTheRetransmissionSkipsWhatItCovers) {
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

TEST(CompleterState, AQueueInErrorHearsNothing) {
  SendsInFlight sq(1);
  sroce_requester_set_state(&sq.req, SROCE_SQ_ERROR);
  expect_dropped(sq, ack(1000), SROCE_DROP_STATE);
}

TEST(CompleterState, ADrainingQueueStillListens) {
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

TEST(CompleterSyndrome, ReservedOnesAreDropped) {
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

// ---------------------------------------------------------------- READ responses

TEST(CompleterRead, EachResponseIsPlacedWhereItBelongs) {
  ReadInFlight sq(3);
  for (u32 i = 0; i < 3; i++) {
    const sroce_ack_plan plan = sq.receive(sq.answer(i));
    EXPECT_EQ(plan.action, SROCE_ACK_ACCEPT);
    EXPECT_EQ(plan.index, 0u);
    EXPECT_EQ(plan.place_offset, i * 1024);
    EXPECT_EQ(plan.place_bytes, 1024u);
  }
  EXPECT_TRUE(sq.completion());
}

TEST(CompleterRead, CompletesOnlyWithTheLastResponse) {
  ReadInFlight sq(3);
  sq.receive(sq.answer(0));
  sq.receive(sq.answer(1));
  EXPECT_FALSE(sq.completion());
  sq.receive(sq.answer(2));
  EXPECT_TRUE(sq.completion());
}

TEST(CompleterRead, ItsResponseAcknowledgesWhatWentBefore) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(read_of(10));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1001, 10));
  EXPECT_EQ(sq.completions().size(), 2u);
}

TEST(CompleterRead, ADuplicateResponseIsNotPlacedAgain) {
  ReadInFlight sq(3);
  sq.receive(sq.answer(0));
  sq.receive(sq.answer(1));
  expect_dropped(sq, sq.answer(0), SROCE_DROP_DUPLICATE);
  expect_dropped(sq, sq.answer(1), SROCE_DROP_DUPLICATE);
}

TEST(CompleterRead, AHoleIsRequestedAgainFromThere) {
  ReadInFlight sq(4);
  sq.receive(sq.answer(0));
  const sroce_ack_plan plan = sq.receive(sq.answer(2));
  EXPECT_EQ(plan.place_bytes, 0u);
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].opcode, SROCE_OP_READ_REQUEST);
  EXPECT_EQ(again[0].psn, 1001u);
  EXPECT_EQ(again[0].dma_length, 3u * 1024);
}

TEST(CompleterRead, OneHoleIsRequestedAgainOnce) {
  ReadInFlight sq(5);
  sq.receive(sq.answer(0));
  sq.receive(sq.answer(2));
  EXPECT_EQ(sq.send_all().size(), 1u);
  expect_dropped(sq, sq.answer(3), SROCE_DROP_GAP);
  expect_dropped(sq, sq.answer(4), SROCE_DROP_GAP);
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(CompleterRead, ASecondHoleIsRequestedToo) {
  ReadInFlight sq(6);
  sq.receive(sq.answer(1));
  sq.send_all();
  sq.receive(sq.answer(0));
  sq.receive(sq.answer(2));
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRead, AHoleDoesNotConsumeTheRetryCount) {
  ReadInFlight sq(4, {.retry_cnt = 1});
  sq.receive(sq.answer(2));
  sq.send_all();
  EXPECT_EQ(sq.req.retry_left, 1);
}

TEST(CompleterRead, TheTimerCoversALostRepetition) {
  ReadInFlight sq(4);
  sq.receive(sq.answer(2));
  sq.send_all();
  EXPECT_TRUE(sq.timer_runs());
  sq.expire();
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRead, TheRepeatedRequestMayBeAnsweredWithFirst) {
  ReadInFlight sq(3);
  sq.receive(sq.answer(0));
  sq.expire();
  sq.send_all();
  const auto plan = sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1001, 1024));
  EXPECT_EQ(plan.action, SROCE_ACK_ACCEPT);
  EXPECT_EQ(plan.place_offset, 1024u);
}

TEST(CompleterRead, AnAckCannotStandInForItsResponse) {
  ReadInFlight sq(2);
  sq.receive(ack(1001));
  EXPECT_FALSE(sq.completion());
  EXPECT_FALSE(sq.failed());
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRead, AnAckOfLaterWorkMeansItsResponseWasLost) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1001));
  EXPECT_FALSE(sq.completion());
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].opcode, SROCE_OP_READ_REQUEST);
}

TEST(CompleterRead, AnAckOfLaterWorkStillAcknowledgesWhatWentBeforeTheRead) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(read_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1002));
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(sq.send_all().front().psn, 1001u);
}

TEST(CompleterRead, AWrongLengthIsALocalLengthError) {
  for (u32 bytes : {0u, 1020u}) {
    ReadInFlight sq(2);
    expect_fails_with(sq, read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, bytes),
                      SROCE_WC_LOC_LEN_ERR);
  }
}

TEST(CompleterRead, MoreThanWasAskedForIsNeverPlaced) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.send_all();
  const auto plan = sq.plan_response(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 12));
  EXPECT_EQ(plan.place_bytes, 0u);
  EXPECT_EQ(plan.action, SROCE_ACK_FAIL);
}

TEST(CompleterRead, ALastResponseInTheMiddleIsABadResponse) {
  ReadInFlight sq(3);
  expect_fails_with(sq, read_response(SROCE_OP_READ_RESPONSE_LAST, 1000, 1024),
                    SROCE_WC_BAD_RESP_ERR);
}

TEST(CompleterRead, AMiddleResponseAtTheEndIsABadResponse) {
  ReadInFlight sq(1);
  expect_fails_with(sq, read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024),
                    SROCE_WC_BAD_RESP_ERR);
}

TEST(CompleterRead, AReadResponseToASendIsABadResponse) {
  SendsInFlight sq(1);
  expect_fails_with(sq, read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10),
                    SROCE_WC_BAD_RESP_ERR);
}

TEST(CompleterRead, ABadLocalBufferFailsTheReadAndFlushesTheRest) {
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

TEST(CompleterRead, TheLongestReadCountsItsResponsesAcrossTheWrap) {
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

TEST(CompleterRead, AnEmptyReadIsAnsweredWithNothing) {
  SendQueue sq;
  sq.post(read_of(0));
  sq.send_all();
  EXPECT_EQ(sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 0)).place_bytes, 0u);
  EXPECT_TRUE(sq.completion());
}

TEST(CompleterRead, ANakInsideItsAnswersEndsIt) {
  ReadInFlight sq(3);
  sq.receive(sq.answer(0));
  expect_fails_with(sq, nak(SROCE_NAK_REMOTE_ACCESS, 1001), SROCE_WC_REM_ACCESS_ERR);
}

// ---------------------------------------------------------------- atomics

TEST(CompleterAtomic, TheOriginalValueIsPlaced) {
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

TEST(CompleterAtomic, APlainAckCannotStandInForItsAnswer) {
  SendQueue sq;
  sq.post(fetch_add(1));
  sq.send_all();
  sq.receive(ack(1000));
  EXPECT_FALSE(sq.completion());
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].psn, 1000u);
}

TEST(CompleterAtomic, ADuplicateAnswerIsDropped) {
  SendQueue sq;
  sq.post(fetch_add(1));
  sq.post(fetch_add(1));
  sq.send_all();
  sq.receive(atomic_ack(1000, 1));
  expect_dropped(sq, atomic_ack(1000, 1), SROCE_DROP_DUPLICATE);
}

TEST(CompleterAtomic, AnAnswerThatPassesAnotherMeansThatOneWasLost) {
  SendQueue sq;
  sq.post(fetch_add(1));
  sq.post(fetch_add(1));
  sq.send_all();
  EXPECT_FALSE(sq.receive(atomic_ack(1001, 1)).place_atomic);
  const auto again = sq.send_all();
  ASSERT_FALSE(again.empty());
  EXPECT_EQ(again[0].psn, 1000u);
}

TEST(CompleterAtomic, AnAtomicAnswerToASendIsABadResponse) {
  SendsInFlight sq(1);
  expect_fails_with(sq, atomic_ack(1000, 1), SROCE_WC_BAD_RESP_ERR);
}

TEST(CompleterAtomic, ABadLocalBufferIsAProtectionError) {
  SendQueue sq;
  sq.post(fetch_add(1));
  sq.send_all();
  sq.receive(atomic_ack(1000, 1), SROCE_MEM_BAD_LOCAL);
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->status, SROCE_WC_LOC_PROT_ERR);
}

// ---------------------------------------------------------------- NAKs

struct FatalNak {
  u8 syndrome;
  sroce_wc_status status;
};

class CompleterFatalNak : public ::testing::TestWithParam<FatalNak> {};

INSTANTIATE_TEST_SUITE_P(
    EveryCode, CompleterFatalNak,
    ::testing::Values(FatalNak{SROCE_NAK_INVALID_REQUEST, SROCE_WC_REM_INV_REQ_ERR},
                      FatalNak{SROCE_NAK_REMOTE_ACCESS, SROCE_WC_REM_ACCESS_ERR},
                      FatalNak{SROCE_NAK_REMOTE_OPERATION, SROCE_WC_REM_OP_ERR}));

TEST_P(CompleterFatalNak, FailsItsRequestAndFlushesTheRest) {
  SendsInFlight sq(3);
  sq.receive(nak(GetParam().syndrome, 1001));
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].status, SROCE_WC_SUCCESS) << "a NAK acknowledges what went before";
  EXPECT_EQ(all[1].status, GetParam().status);
  EXPECT_EQ(all[2].status, SROCE_WC_WR_FLUSH_ERR);
}

TEST_P(CompleterFatalNak, IsReportedForUnsignaledRequestsToo) {
  SendQueue sq;
  sq.post(send_of(10).unsignaled());
  sq.send_all();
  expect_fails_with(sq, nak(GetParam().syndrome, 1000), GetParam().status);
}

TEST_P(CompleterFatalNak, BehindALostReadResponseIsNotTakenForTheRead) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(nak(GetParam().syndrome, 1001));
  EXPECT_FALSE(sq.completion()) << "the READ has neither succeeded nor failed";
}

TEST(CompleterSequenceNak, GoesBackToTheMissingPacket) {
  SendsInFlight sq(5);
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1002));
  EXPECT_EQ(sq.completions().size(), 2u);
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[0].psn, 1002u);
}

TEST(CompleterSequenceNak, InTheMiddleOfAMessageGoesBackToTheMiddle) {
  SendQueue sq;
  sq.post(write_of(4 * 1024));
  sq.send_all();
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1002));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].opcode, SROCE_OP_WRITE_MIDDLE);
  EXPECT_EQ(again[1].opcode, SROCE_OP_WRITE_LAST);
}

TEST(CompleterSequenceNak, ConsumesTheRetryCountWhenThereIsNoProgress) {
  SendsInFlight sq(2, {.retry_cnt = 2});
  for (int i = 0; i < 2; i++) {
    sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
    ASSERT_FALSE(sq.failed());
    ASSERT_EQ(sq.send_all().size(), 2u);
  }
  expect_fails_with(sq, nak(SROCE_NAK_PSN_SEQUENCE, 1000), SROCE_WC_RETRY_EXC_ERR);
}

TEST(CompleterSequenceNak, WithProgressCanGoOnForEver) {
  SendsInFlight sq(10, {.retry_cnt = 1});
  for (u32 psn = 1001; psn < 1010; psn++) {
    sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, psn));
    ASSERT_FALSE(sq.failed()) << psn;
    sq.send_all();
  }
}

TEST(CompleterSequenceNak, RepeatedBeforeAnythingWasSentAgainCountsOnce) {
  SendsInFlight sq(3, {.retry_cnt = 1});
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
  EXPECT_FALSE(sq.failed());
  EXPECT_EQ(sq.send_all().size(), 3u);
}

TEST(CompleterSequenceNak, OfThePastIsDropped) {
  SendsInFlight sq(3);
  sq.receive(ack(1001));
  expect_dropped(sq, nak(SROCE_NAK_PSN_SEQUENCE, 1000), SROCE_DROP_DUPLICATE);
}

TEST(CompleterSequenceNak, OfTheFutureIsDropped) {
  SendsInFlight sq(3);
  expect_dropped(sq, nak(SROCE_NAK_PSN_SEQUENCE, 1003), SROCE_DROP_UNSENT);
}

TEST(CompleterSequenceNak, ForAReadRequestsItAgain) {
  ReadInFlight sq(4);
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].dma_length, 4u * 1024);
}

TEST(CompleterSequenceNak, CannotSkipPartOfARead) {
  ReadInFlight sq(4);
  sq.receive(sq.answer(0));
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1003));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].psn, 1001u);
}

// ---------------------------------------------------------------- RNR

TEST(CompleterRnr, WaitsAsLongAsThePeerAsks) {
  SendsInFlight sq(2);
  sq.receive(rnr_nak(1000, 14));
  EXPECT_TRUE(sq.send_all().empty());
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + 1'280'000);
  sq.expire();
  EXPECT_EQ(sq.send_all().size(), 2u);
}

TEST(CompleterRnr, AcknowledgesWhatWentBefore) {
  SendsInFlight sq(3);
  sq.receive(rnr_nak(1002));
  EXPECT_EQ(sq.completions().size(), 2u);
}

TEST(CompleterRnr, WaitDoesNotConsumeTheRetryCount) {
  SendsInFlight sq(1, {.retry_cnt = 0});
  sq.receive(rnr_nak(1000));
  sq.expire();
  EXPECT_FALSE(sq.failed());
  EXPECT_EQ(sq.req.timeouts, 0u);
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRnr, TheRetryCountIsWholeAfterTheWait) {
  SendsInFlight sq(1, {.retry_cnt = 1});
  sq.receive(rnr_nak(1000));
  sq.expire();
  sq.send_all();
  sq.expire();
  EXPECT_FALSE(sq.failed()) << "the first timeout may be followed by a retry";
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRnr, TheRnrCountIsTheNumberOfWaits) {
  for (u8 rnr_retry : {0, 1, 6}) {
    SendsInFlight sq(1, {.rnr_retry = rnr_retry});
    for (u8 i = 0; i < rnr_retry; i++) {
      sq.receive(rnr_nak(1000));
      ASSERT_FALSE(sq.failed()) << int{i} << " of " << int{rnr_retry};
      sq.expire();
      ASSERT_EQ(sq.send_all().size(), 1u);
    }
    expect_fails_with(sq, rnr_nak(1000), SROCE_WC_RNR_RETRY_EXC_ERR);
  }
}

TEST(CompleterRnr, SevenMeansForEver) {
  SendsInFlight sq(1, {.rnr_retry = 7});
  for (int i = 0; i < 100; i++) {
    sq.receive(rnr_nak(1000));
    ASSERT_FALSE(sq.failed());
    sq.expire();
    ASSERT_EQ(sq.send_all().size(), 1u);
  }
}

TEST(CompleterRnr, ProgressRefillsTheRnrCount) {
  SendsInFlight sq(3, {.rnr_retry = 1});
  for (u32 psn = 1000; psn < 1003; psn++) {
    sq.receive(rnr_nak(psn));
    ASSERT_FALSE(sq.failed()) << psn;
    sq.expire();
    sq.send_all();
  }
}

TEST(CompleterRnr, RepeatedDuringTheWaitCountsOnce) {
  SendsInFlight sq(1, {.rnr_retry = 1});
  sq.receive(rnr_nak(1000));
  const u64 deadline = sroce_requester_deadline(&sq.req);
  sq.now += 1000;
  sq.receive(rnr_nak(1000));
  EXPECT_FALSE(sq.failed());
  EXPECT_EQ(sroce_requester_deadline(&sq.req), deadline);
}

TEST(CompleterRnr, TheAckTimerRestsDuringTheWait) {
  SendsInFlight sq(1, {.ack_timeout_ns = 5000});
  sq.receive(rnr_nak(1000, 0));
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + 655'360'000);
}

// In-tree rxe complains of the packets behind the one it refused, and may be heard after the wait.
TEST(CompleterRnr, RestoresTheRetryCount) {
  SendsInFlight sq(2, {.retry_cnt = 1, .rnr_retry = 7});
  for (int i = 0; i < 100; i++) {
    sq.receive(rnr_nak(1000));
    sq.expire();
    ASSERT_EQ(sq.send_all().size(), 2u);
    sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
    ASSERT_FALSE(sq.failed()) << i;
    sq.send_all();
  }
}

TEST(CompleterRnr, AnAckDuringTheWaitEndsIt) {
  SendsInFlight sq(2);
  sq.receive(rnr_nak(1000, 0));
  sq.receive(ack(1000));
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRnr, WorkPostedDuringTheWaitWaitsToo) {
  SendsInFlight sq(1);
  sq.receive(rnr_nak(1000, 0));
  sq.post(send_of(10));
  EXPECT_TRUE(sq.send_all().empty());
}

// ---------------------------------------------------------------- hostile peers

TEST(CompleterHostile, NoResponseOfAnyKindCrashesOrCompletesUnsentWork) {
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

TEST(CompleterPlan, AskedAgainSaysTheSame) {
  ReadInFlight sq(3);
  const auto dropped = sq.plan_response(sq.answer(0));
  const auto again = sq.receive(sq.answer(0));
  EXPECT_EQ(memcmp(&dropped, &again, sizeof(again)), 0);
}

}  // namespace
