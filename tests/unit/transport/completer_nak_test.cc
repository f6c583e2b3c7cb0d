// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "in_flight.h"

namespace {

using namespace sroce_test;

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
  EXPECT_EQ(all[0].status, SROCE_WC_SUCCESS) << "a NAK acknowledges earlier requests";
  EXPECT_EQ(all[1].status, GetParam().status);
  EXPECT_EQ(all[2].status, SROCE_WC_WR_FLUSH_ERR);
}

TEST_P(CompleterFatalNak, IsReportedForUnsignaledRequestsToo) {
  SendQueue sq;
  sq.post(send_of(10).unsignaled());
  sq.send_all();
  expect_fails_with(sq, nak(GetParam().syndrome, 1000), GetParam().status);
}

TEST_P(CompleterFatalNak, DoesNotFailAReadWithALostResponse) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(nak(GetParam().syndrome, 1001));
  EXPECT_FALSE(sq.completion()) << "the READ has neither succeeded nor failed";
}

// The peer sends it once. On a reordering path it may arrive before earlier responses.
TEST_P(CompleterFatalNak, IsKeptWhenItOvertakesAReadResponse) {
  SendQueue sq;
  sq.post(read_of(2048));
  sq.post(send_of(10));
  sq.post(read_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(nak(GetParam().syndrome, 1003));
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_LAST, 1001, 1024));
  EXPECT_FALSE(sq.failed());
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024));
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].status, SROCE_WC_SUCCESS);
  EXPECT_EQ(all[1].status, SROCE_WC_SUCCESS) << "a NAK acknowledges earlier requests";
  EXPECT_EQ(all[2].status, GetParam().status);
  EXPECT_EQ(all[3].status, SROCE_WC_WR_FLUSH_ERR);
}

// A peer that NAKs a duplicate goes on, and may reject a later request for good.
TEST_P(CompleterFatalNak, FirstOfTwoForAPendingRequestCounts) {
  for (const bool in_order : {true, false})
    for (const bool responded : {true, false}) {
      SendQueue sq;
      for (int i = 0; i < 2; i++) sq.post(read_of(10));
      for (int i = 0; i < 2; i++) sq.post(send_of(10));
      sq.send_all();
      if (in_order) sq.receive(nak(SROCE_NAK_INVALID_REQUEST, 1001));
      sq.receive(nak(GetParam().syndrome, 1002));
      if (!in_order) sq.receive(nak(SROCE_NAK_INVALID_REQUEST, 1001));
      if (responded) sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1001, 10));
      EXPECT_FALSE(sq.failed());
      sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
      const auto all = sq.completions();
      ASSERT_EQ(all.size(), 4u);
      EXPECT_EQ(all[0].status, SROCE_WC_SUCCESS);
      EXPECT_EQ(all[1].status, responded ? SROCE_WC_SUCCESS : SROCE_WC_REM_INV_REQ_ERR);
      EXPECT_EQ(all[2].status, responded ? GetParam().status : SROCE_WC_WR_FLUSH_ERR);
      EXPECT_EQ(all[3].status, SROCE_WC_WR_FLUSH_ERR);
    }
}

TEST_P(CompleterFatalNak, IsForgottenWhenTheResponseArrives) {
  SendQueue sq;
  for (int i = 0; i < 3; i++) sq.post(read_of(10));
  sq.send_all();
  sq.receive(nak(GetParam().syndrome, 1001));
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1001, 10));
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1002, 10));
  EXPECT_FALSE(sq.failed());
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 3u);
  for (const auto& wc : all) EXPECT_EQ(wc.status, SROCE_WC_SUCCESS);
}

TEST(CompleterSequenceNak, GoesBackToTheMissingPacket) {
  SendsInFlight sq(5);
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1002));
  EXPECT_EQ(sq.completions().size(), 2u);
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 3u);
  EXPECT_EQ(again[0].psn, 1002u);
}

TEST(CompleterSequenceNak, GoesBackIntoTheMiddleOfAMessage) {
  SendQueue sq;
  sq.post(write_of(4 * 1024));
  sq.send_all();
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1002));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].opcode, SROCE_OP_WRITE_MIDDLE);
  EXPECT_EQ(again[1].opcode, SROCE_OP_WRITE_LAST);
}

TEST(CompleterSequenceNak, UsesARetryWithoutProgress) {
  SendsInFlight sq(2, {.retry_cnt = 2});
  for (int i = 0; i < 2; i++) {
    sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
    ASSERT_FALSE(sq.failed());
    ASSERT_EQ(sq.send_all().size(), 2u);
  }
  expect_fails_with(sq, nak(SROCE_NAK_PSN_SEQUENCE, 1000), SROCE_WC_RETRY_EXC_ERR);
}

// The NAK does not come again if the peer has sent it before it responds to the READ.
TEST(CompleterSequenceNak, WithoutARetryFailsItsRequestBehindAnOpenRead) {
  SendQueue sq({.retry_cnt = 0});
  sq.post(read_of(10));
  for (int i = 0; i < 3; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1002));
  EXPECT_FALSE(sq.failed());
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[1].status, SROCE_WC_SUCCESS);
  EXPECT_EQ(all[2].status, SROCE_WC_RETRY_EXC_ERR);
  EXPECT_EQ(all[3].status, SROCE_WC_WR_FLUSH_ERR);
}

TEST(CompleterSequenceNak, NeverExhaustsTheRetriesWithProgress) {
  SendsInFlight sq(10, {.retry_cnt = 1});
  for (u32 psn = 1001; psn < 1010; psn++) {
    sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, psn));
    ASSERT_FALSE(sq.failed()) << psn;
    sq.send_all();
  }
}

TEST(CompleterSequenceNak, CountsOnceBeforeTheRetransmission) {
  SendsInFlight sq(3, {.retry_cnt = 1});
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
  EXPECT_FALSE(sq.failed());
  EXPECT_EQ(sq.send_all().size(), 3u);
}

TEST(CompleterSequenceNak, IsDroppedForAnAcknowledgedPsn) {
  SendsInFlight sq(3);
  sq.receive(ack(1001));
  expect_dropped(sq, nak(SROCE_NAK_PSN_SEQUENCE, 1000), SROCE_DROP_DUPLICATE);
}

TEST(CompleterSequenceNak, IsDroppedForAnUnsentPsn) {
  SendsInFlight sq(3);
  expect_dropped(sq, nak(SROCE_NAK_PSN_SEQUENCE, 1003), SROCE_DROP_UNSENT);
}

TEST(CompleterSequenceNak, RequestsAReadAgain) {
  ReadInFlight sq(4);
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].dma_length, 4u * 1024);
}

TEST(CompleterSequenceNak, IsDroppedOnceAReadHasResponses) {
  ReadInFlight sq(4);
  sq.receive(sq.response(0));
  expect_dropped(sq, nak(SROCE_NAK_PSN_SEQUENCE, 1000), SROCE_DROP_DUPLICATE);
  expect_dropped(sq, nak(SROCE_NAK_PSN_SEQUENCE, 1003), SROCE_DROP_DUPLICATE);
}

TEST(CompleterSequenceNak, CountsAsProgressBehindAPendingRead) {
  SendQueue sq({.retry_cnt = 1});
  sq.post(read_of(10));
  for (int i = 0; i < 4; i++) sq.post(send_of(10));
  sq.send_all();
  for (u32 psn = 1001; psn < 1005; psn++) {
    sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, psn));
    ASSERT_FALSE(sq.failed()) << psn;
    EXPECT_EQ(sq.req.retry_left, 0) << psn;
    sq.send_all();
  }
}

}  // namespace
