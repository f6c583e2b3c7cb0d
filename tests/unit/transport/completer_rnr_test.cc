// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "in_flight.h"
#include "scoreboard_queue.h"

namespace {

using namespace sroce_test;

TEST(CompleterRnr, WaitsAsLongAsThePeerAsks) {
  SendsInFlight sq(2);
  sq.receive(rnr_nak(1000, 14));
  EXPECT_TRUE(sq.send_all().empty());
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + 1'280'000);
  sq.expire();
  EXPECT_EQ(sq.send_all().size(), 2u);
}

TEST(CompleterRnr, AcknowledgesEarlierRequests) {
  SendsInFlight sq(3);
  sq.receive(rnr_nak(1002));
  EXPECT_EQ(sq.completions().size(), 2u);
}

TEST(CompleterRnr, WaitUsesNoRetry) {
  SendsInFlight sq(1, {.retry_cnt = 0});
  sq.receive(rnr_nak(1000));
  sq.expire();
  EXPECT_FALSE(sq.failed());
  EXPECT_EQ(sq.req.timeouts, 0u);
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRnr, WaitLeavesAllRetries) {
  SendsInFlight sq(1, {.retry_cnt = 1});
  sq.receive(rnr_nak(1000));
  sq.expire();
  sq.send_all();
  sq.expire();
  EXPECT_FALSE(sq.failed()) << "the first timeout may be followed by a retry";
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRnr, RnrRetryLimitsTheNumberOfWaits) {
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

// The peer would be sent the request again before its RNR timer has run.
TEST(CompleterRnr, WithoutARetryFailsItsRequestBehindAnOpenRead) {
  SendQueue sq({.rnr_retry = 0});
  sq.post(read_of(10));
  sq.post(send_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(rnr_nak(1001));
  EXPECT_FALSE(sq.failed());
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].status, SROCE_WC_SUCCESS);
  EXPECT_EQ(all[1].status, SROCE_WC_RNR_RETRY_EXC_ERR);
  EXPECT_EQ(all[2].status, SROCE_WC_WR_FLUSH_ERR);
}

TEST(CompleterRnr, RnrRetryOfSevenMeansForever) {
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

// The response of the READ is lost, so that nothing before it completes.
TEST(CompleterRnr, ProgressBehindAnOpenReadRefillsTheRnrCount) {
  SelectiveQueue sq({.rnr_retry = 1});
  sq.post(read_of(10));
  for (u32 i = 0; i < 3; i++) sq.post(send_of(10));
  sq.send_all();
  for (u32 psn = 1001; psn < 1004; psn++) {
    EXPECT_TRUE(sq.receive(rnr_nak(psn)).rewind) << psn;
    sq.expire();
    sq.send_all();
    sq.receive(ack(psn));
    EXPECT_EQ(sq.req.unacked_psn, 1000u);
  }
}

TEST(CompleterRnr, NakRepeatedDuringTheWaitCountsOnce) {
  SendsInFlight sq(1, {.rnr_retry = 1});
  sq.receive(rnr_nak(1000));
  const u64 deadline = sroce_requester_deadline(&sq.req);
  sq.now += 1000;
  sq.receive(rnr_nak(1000));
  EXPECT_FALSE(sq.failed());
  EXPECT_EQ(sroce_requester_deadline(&sq.req), deadline);
}

TEST(CompleterRnr, AckTimerIsStoppedDuringTheWait) {
  SendsInFlight sq(1, {.ack_timeout_ns = 5000});
  sq.receive(rnr_nak(1000, 0));
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + 655'360'000);
}

// In-tree rxe also NAKs the packets behind the rejected one. Those NAKs may arrive after the wait.
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

TEST(CompleterRnr, AckDuringTheWaitEndsIt) {
  SendsInFlight sq(2);
  sq.receive(rnr_nak(1000, 0));
  sq.receive(ack(1000));
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRnr, EarlierResponseDoesNotEndTheWait) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(rnr_nak(1001, 0));
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
  EXPECT_EQ(sq.completions().size(), 1u);
  EXPECT_TRUE(sq.send_all().empty());
  sq.expire();
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(CompleterRnr, WorkPostedDuringTheWaitWaitsToo) {
  SendsInFlight sq(1);
  sq.receive(rnr_nak(1000, 0));
  sq.post(send_of(10));
  EXPECT_TRUE(sq.send_all().empty());
}

}  // namespace
