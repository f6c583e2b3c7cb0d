// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "send_queue.h"

namespace {

using namespace sroce_test;

constexpr u64 kMicrosecond = 1000;
using Psns = std::vector<u32>;

Psns psns_of(const std::vector<sroce_packet>& packets) {
  Psns psns;
  for (const sroce_packet& pkt : packets) psns.push_back(pkt.psn);
  return psns;
}

// An adaptive sender that has measured one round trip of 20 us, and @count SENDs from PSN 1000 on.
struct AdaptiveSends : SendQueue {
  explicit AdaptiveSends(u32 count, SendQueueOptions options = {}) : SendQueue(adapt(options)) {
    post(send_of(10));
    send_all();
    now += 20 * kMicrosecond;
    sroce_packet first = ack(999);
    first.selective = options.selective;
    receive(first);
    completions();
    for (u32 i = 0; i < count; i++) post(send_of(10));
    send_all();
  }
  static SendQueueOptions adapt(SendQueueOptions options) {
    options.adaptive = true;
    options.psn = 999;
    return options;
  }
};

TEST(Probe, IsNotForAQueueThatDoesNotMeasure) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.send_all();
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + 100 * kMillisecond);
}

TEST(Probe, IsDueLongBeforeTheAckTimeout) {
  AdaptiveSends sq(3);
  const u64 deadline_ns = sroce_requester_deadline(&sq.req);
  EXPECT_EQ(deadline_ns, sq.now + sroce_rtt_probe_ns(&sq.req.rtt));
  EXPECT_LT(deadline_ns, sq.now + kMillisecond);
}

TEST(Probe, IsNotDueForWhatHasNotLeft) {
  AdaptiveSends sq(3);
  sq.req.cc.edt_ns = sq.now + kMillisecond;
  sq.receive(ack(1000));
  EXPECT_GE(sroce_requester_deadline(&sq.req),
            sq.now + kMillisecond + sroce_rtt_probe_ns(&sq.req.rtt));
}

TEST(Probe, IsTheOldestPacketOnceMoreAndAsks) {
  AdaptiveSends sq(2);
  sq.expire();
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].psn, 1000u);
  EXPECT_TRUE(packets[0].ack_req);
}

TEST(Probe, UsesUpNoRetryAndIsNoTimeout) {
  AdaptiveSends sq(2, {.retry_cnt = 1, .ack_timeout_ns = 0});
  for (int i = 0; i < 50; i++) {
    sq.expire();
    sq.send_all();
  }
  EXPECT_FALSE(sq.failed());
  EXPECT_EQ(sq.req.timeouts, 0u);
  EXPECT_EQ(sq.req.retry_left, 1);
}

TEST(Probe, LosesPatienceMoreAndMoreSlowly) {
  AdaptiveSends sq(1, {.ack_timeout_ns = 0});
  u64 last_ns = 0;
  for (int i = 0; i < 20; i++) {
    const u64 before_ns = sq.now;
    sq.expire();
    sq.send_all();
    const u64 wait_ns = sq.now - before_ns;
    EXPECT_LE(wait_ns, 1000 * kMillisecond);
    if (wait_ns < 1000 * kMillisecond) {
      EXPECT_GE(2 * wait_ns, last_ns) << i;
    }
    last_ns = wait_ns;
  }
}

TEST(Probe, EveryOtherOneIsTwiceAsPatient) {
  AdaptiveSends sq(1, {.ack_timeout_ns = 0, .selective = true});
  const u64 first_ns = sroce_requester_deadline(&sq.req) - sq.now;
  for (const u64 times : {1u, 1u, 2u, 2u, 4u, 4u, 8u}) {
    const u64 before_ns = sq.now;
    sq.expire();
    sq.send_all();
    EXPECT_EQ(sq.now - before_ns, times * first_ns);
  }
}

// To it all that is under way may be sent again for a probe.
TEST(Probe, OfAStandardPeerEachOneIsTwiceAsPatient) {
  AdaptiveSends sq(1, {.ack_timeout_ns = 0});
  const u64 first_ns = sroce_requester_deadline(&sq.req) - sq.now;
  for (const u64 times : {1u, 2u, 4u}) {
    const u64 before_ns = sq.now;
    sq.expire();
    sq.send_all();
    EXPECT_EQ(sq.now - before_ns, times * first_ns);
  }
}

// One message at a time: each would be probed, so that no round trip is ever measured.
TEST(Probe, OnALongPathTheFirstRoundTripIsBelievedThoughItsPacketWasSentAgain) {
  SendQueue sq({.ack_timeout_ns = 0, .adaptive = true, .selective = true});
  constexpr u64 kRoundTripNs = 25 * kMillisecond;
  const u64 sent_ns = sq.now;
  sq.post(send_of(10));
  sq.send_all();
  while (sroce_requester_deadline(&sq.req) < sent_ns + kRoundTripNs) {
    sq.expire();
    sq.send_all();
  }
  sq.now = sent_ns + kRoundTripNs;
  sq.receive(selective(ack(1000)));
  sq.completions();
  EXPECT_EQ(sq.req.rtt.min_ns, kRoundTripNs) << sq.req.probe.sent_count;
  sq.post(send_of(10));
  sq.send_all();
  EXPECT_GE(sroce_requester_deadline(&sq.req), sq.now + kRoundTripNs);
}

// A path may be longer than the first guess.
TEST(Probe, EachOneIsTwiceAsPatientBeforeAnythingIsKnown) {
  SendQueue sq({.ack_timeout_ns = 0, .adaptive = true, .selective = true});
  sq.post(send_of(10));
  sq.send_all();
  for (const u64 milliseconds : {2u, 4u, 8u, 16u}) {
    const u64 before_ns = sq.now;
    sq.expire();
    sq.send_all();
    EXPECT_EQ(sq.now - before_ns, milliseconds * kMillisecond);
  }
}

// Lets everything expire until the first ACK timeout, and returns how long that took.
u64 time_to_ack_timeout(AdaptiveSends& sq) {
  const u64 sent_ns = sq.now;
  for (int i = 0; i < 100 && !sq.req.timeouts; i++) {
    sq.expire();
    sq.send_all();
  }
  return sq.now - sent_ns;
}

TEST(Probe, OfASelectivePeerLeavesTheAckTimeoutAsItIs) {
  AdaptiveSends sq(2, {.ack_timeout_ns = 10 * kMillisecond, .selective = true});
  EXPECT_EQ(time_to_ack_timeout(sq), 10 * kMillisecond);
}

// Going back to ask restarts the ACK timer; patience ends at a second, a timeout may be longer.
TEST(Probe, OfAStandardPeerLeavesTheAckTimeoutAsItIs) {
  AdaptiveSends brief(2, {.ack_timeout_ns = 10 * kMillisecond});
  EXPECT_EQ(time_to_ack_timeout(brief), 10 * kMillisecond);
  AdaptiveSends sq(2, {.ack_timeout_ns = 2000 * kMillisecond});
  EXPECT_EQ(time_to_ack_timeout(sq), 2000 * kMillisecond);
  EXPECT_EQ(sq.req.timeouts, 1u) << "a dead peer would never be noticed";
}

TEST(Probe, WhatItsAnswerDoesNotCoverIsSentAgain) {
  AdaptiveSends sq(2);
  sq.expire();
  sq.send_all();
  sq.now += 20 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
}

TEST(Probe, AnAnswerSoonerThanARoundTripIsToTheFirstTransmission) {
  AdaptiveSends sq(2);
  sq.expire();
  sq.send_all();
  sq.now += 5 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_TRUE(sq.send_all().empty());
}

// A sender that is paced sends a packet now and then, and asks with every 64th.
TEST(Probe, IsNotDueBeforeSomethingAsked) {
  SendQueue sq(AdaptiveSends::adapt({.window_packets = 1024}));
  sq.post(send_of(200 * 1024));
  std::vector<sroce_packet> sent = {sq.packet(sq.send(1), 0)};
  while (!sent.back().ack_req) sent.push_back(sq.packet(sq.send(1), 0));
  const u32 asked = sent.back().psn;
  sq.send(1);
  sq.now += 20 * kMicrosecond;
  sq.receive(ack(asked));
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + 100 * kMillisecond)
      << "the ACK timer runs, no probe";
  do sent.push_back(sq.packet(sq.send(1), 0));
  while (!sent.back().ack_req);
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + sroce_rtt_probe_ns(&sq.req.rtt));
}

// A queue of 2 MiB at 1 Gb/s is longer than the first guess at a round trip.
TEST(Probe, OfAPathThatHasNotAnsweredYetDoesNotGoBack) {
  SendQueue sq(AdaptiveSends::adapt({.ack_timeout_ns = 0}));
  for (int i = 0; i < 8; i++) sq.post(send_of(10));
  sq.send_all();
  ASSERT_GE(sq.req.probe.ack_requests, 4u);
  for (int i = 0; i < 4; i++) {
    sq.expire();
    EXPECT_EQ(psns_of(sq.send_all()), Psns{999}) << i;
  }
  sq.expire();
  EXPECT_EQ(sq.send_all().size(), 8u);
}

TEST(Probe, SaysNothingOfLossBeforeARoundTripIsKnown) {
  SendQueue sq(AdaptiveSends::adapt({.ack_timeout_ns = 0}));
  for (int i = 0; i < 3; i++) sq.post(send_of(10));
  sq.send_all();
  sq.req.rtt.timing = false;
  sq.expire();
  sq.send_all();
  sq.now += kMillisecond;
  sq.receive(ack(999));
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(Probe, WhoseAnswerCoversEverythingStopsTheTimer) {
  AdaptiveSends sq(2);
  sq.expire();
  sq.send_all();
  sq.receive(ack(1001));
  EXPECT_FALSE(sq.timer_runs());
  EXPECT_EQ(sq.completions().size(), 2u);
}

TEST(Probe, ThatWasNotSentYetIsNotNeededAfterAnAnswer) {
  AdaptiveSends sq(2);
  sq.expire();
  sq.receive(ack(1000));
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(Probe, WhoAskedOftenEnoughGoesBackInstead) {
  AdaptiveSends sq(4);
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001, 1002, 1003}))
      << "four packets asked, and none was answered";
}

TEST(Probe, DoesNotEndAnRnrWait) {
  AdaptiveSends sq(2);
  sq.receive(rnr_nak(1000));
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.req.rnr_until_ns);
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001}));
}

TEST(Probe, IsNotTimed) {
  AdaptiveSends sq(1);
  const u32 srtt_ns = sq.req.rtt.srtt_ns;
  sq.expire();
  sq.send_all();
  sq.now += 500 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_EQ(sq.req.rtt.srtt_ns, srtt_ns);
}

TEST(Probe, OfAReadIsARequestForWhatIsMissing) {
  AdaptiveSends sq(0);
  sq.post(read_of(4096));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024));
  sq.expire();
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1001u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 3072u);
}

TEST(Probe, IsGivenUpWithTheQueue) {
  AdaptiveSends sq(2);
  sq.expire();
  sroce_requester_set_state(&sq.req, SROCE_SQ_ERROR);
  EXPECT_EQ(sq.plan().action, SROCE_SEND_NOTHING);
  EXPECT_FALSE(sq.timer_runs());
}

TEST(Probe, OfASelectivePeerTellsWhatWasLost) {
  AdaptiveSends sq(4, {.selective = true});
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  sq.now += 20 * kMicrosecond;
  sroce_packet answer = ack(1000);
  answer.selective = true;
  sq.receive(answer);
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1001, 1002, 1003}));
}

TEST(Probe, WhereThePathReordersTheNextQuestionTellsWhatWasLost) {
  AdaptiveSends sq(4, {.selective = true});
  sq.req.sb.reordering = 2;
  sq.expire();
  sq.send_all();
  sq.now += 20 * kMicrosecond;
  sq.receive(selective(ack(1000)));
  EXPECT_TRUE(sq.send_all().empty()) << "the probe may have overtaken them";
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1001, 1002, 1003}));
}

TEST(Probe, WhatHasComeMeanwhileIsNotLost) {
  AdaptiveSends sq(2, {.selective = true});
  sq.req.sb.reordering = 2;
  sq.expire();
  sq.send_all();
  sq.now += 20 * kMicrosecond;
  sq.receive(selective(ack(1000)));
  sq.receive(selective(ack(1001)));
  sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
}

// How long the sender waits for an answer to one SEND more.
u64 patience(AdaptiveSends& sq) {
  sq.post(send_of(10));
  sq.send_all();
  return sroce_requester_deadline(&sq.req) - sq.now;
}

TEST(Probe, ThatWasNotNeededTeachesPatience) {
  AdaptiveSends sq(1, {.selective = true});
  const u64 before_ns = sroce_requester_deadline(&sq.req) - sq.now;
  sq.expire();
  sq.send_all();
  sq.now += 5 * kMicrosecond;
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(patience(sq), before_ns + 10 * kMicrosecond);
}

// A probe answered 5 us later. The answer covers more than the probe, and is to nothing that is
// timed: as with READs behind others, nothing else is learnt from it.
void response_too_soon(AdaptiveSends& sq, u32 i) {
  sq.expire();
  sq.send_all();
  sq.now += 5 * kMicrosecond;
  sq.post(send_of(10));
  sq.send_all();
  sq.req.rtt.timing = false;
  sq.receive(selective(ack(1000 + 2 * i + 1)));
}

TEST(Probe, AnsweredTooSoonFourTimesInARowItIsTheRoundTripThatIsShorter) {
  AdaptiveSends sq(5, {.selective = true});
  const u32 min_ns = sq.req.rtt.min_ns;
  for (u32 i = 0; i < 4; i++) {
    EXPECT_EQ(sq.req.probe.pto_slack_ns, i * 10 * kMicrosecond);
    EXPECT_EQ(sq.req.rtt.min_ns, min_ns);
    response_too_soon(sq, i);
  }
  EXPECT_EQ(sq.req.probe.pto_slack_ns, 0u);
  EXPECT_EQ(sq.req.rtt.min_ns, 5 * kMicrosecond);
}

// A host that pauses now and then says nothing of a path that is measured all the time.
TEST(Probe, AnsweredTooSoonBetweenMeasuredRoundTripsTeachesPatienceOnly) {
  AdaptiveSends sq(5, {.selective = true});
  for (u32 i = 0; i < 8; i++) {
    response_too_soon(sq, i);
    sq.req.rtt.timing = true;
    sq.req.rtt.timed_psn = 1000 + 2 * i + 2;
    sq.req.rtt.timed_at_ns = sq.now;
    sq.now += 20 * kMicrosecond;
    sq.receive(selective(ack(1000 + 2 * i + 2)));
    sq.completions();
    sq.post(send_of(10));
    sq.send_all();
  }
  EXPECT_EQ(sq.req.rtt.min_ns, 20 * kMicrosecond);
}

TEST(Probe, ThatWasNeededTakesSomeOfItBack) {
  AdaptiveSends sq(1, {.selective = true});
  const u64 before_ns = sroce_requester_deadline(&sq.req) - sq.now;
  sq.req.probe.pto_slack_ns = 8 * kMicrosecond;
  sq.expire();
  sq.send_all();
  sq.now += 20 * kMicrosecond;
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(patience(sq), before_ns + 6 * kMicrosecond);
}

TEST(Probe, OneEarlyAnswerDoesNotShortenTheRoundTripTwoInARowDo) {
  AdaptiveSends sq(4, {.selective = true});
  const u32 min_ns = sq.req.rtt.min_ns;
  for (u32 psn = 1000; psn < 1002; psn++) {
    EXPECT_EQ(sq.req.rtt.min_ns, min_ns) << psn;
    sq.expire();
    sq.send_all();
    sq.now += 5 * kMicrosecond;
    sq.receive(selective(ack(psn)));
  }
  EXPECT_EQ(sq.req.rtt.min_ns, 5 * kMicrosecond);
}

TEST(Probe, AFifthInVainMakesTheSenderDoubtASelectivePeer) {
  AdaptiveSends sq(6, {.ack_timeout_ns = 0, .selective = true});
  sq.receive_sack(999, {1001, 1002});
  EXPECT_EQ(sq.req.sb.done_data, 2u);
  for (int i = 0; i < 5; i++) {
    sq.expire();
    sq.send_all();
    EXPECT_EQ(sq.req.sb.done_data, 2u) << i;
  }
  sq.expire();
  EXPECT_EQ(sq.req.sb.done_data, 0u);
}

// The last packet in flight is sent again to ask, because nothing follows it (see ask_again()).
TEST(Probe, APacketSentAgainToAskIsNotTimed) {
  AdaptiveSends sq(1);
  ASSERT_TRUE(sq.req.rtt.timing);
  sq.post(send_of(3 * 1024).unsignaled());
  sq.send(2);
  sq.commit(sq.plan(), SROCE_WC_LOC_PROT_ERR);
  EXPECT_EQ(sq.send().first_psn, 1000u) << "what was timed, again";
  EXPECT_FALSE(sq.req.rtt.timing);
}

// ---------------------------------------------------------------- events

TEST(TimeoutEvents, NameTheTimerThatExpired) {
  AdaptiveSends sq(2);
  EXPECT_EQ(sroce_requester_timeout(&sq.req, sq.req.probe.deadline_ns), SROCE_REQ_EV_PROBE);
  EXPECT_EQ(sroce_requester_timeout(&sq.req, sq.req.ack_deadline_ns), SROCE_REQ_EV_ACK_TIMEOUT);
}

TEST(TimeoutEvents, IncludeTheTimeoutThatFailsTheQueue) {
  SendQueue sq({.retry_cnt = 0});
  sq.post(send_of(10));
  sq.send_all();
  EXPECT_EQ(sroce_requester_timeout(&sq.req, sq.req.ack_deadline_ns), SROCE_REQ_EV_ACK_TIMEOUT);
  EXPECT_TRUE(sq.failed());
}

TEST(TimeoutEvents, AreNoneBeforeTheDeadline) {
  AdaptiveSends sq(2);
  EXPECT_EQ(sroce_requester_timeout(&sq.req, sroce_requester_deadline(&sq.req) - 1), 0u);
}

TEST(TimeoutEvents, AreNoneAtTheEndOfAnRnrWait) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(rnr_nak(1000));
  ASSERT_TRUE(sroce_requester_waits_rnr(&sq.req));
  EXPECT_EQ(sroce_requester_timeout(&sq.req, sroce_requester_deadline(&sq.req)), 0u);
  EXPECT_FALSE(sroce_requester_waits_rnr(&sq.req));
}

}  // namespace
