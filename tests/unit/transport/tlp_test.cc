// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "adaptive_sends.h"
#include "receive_queue.h"

namespace {

using namespace sroce_test;

constexpr u64 kLong = 1'000'000 * kMillisecond;
// Without a retry for a NAK, a probe repeats the oldest packet.
constexpr SendQueueOptions kOldest = {.retry_cnt = 0};

TEST(Probe, IsOffWithoutAdaptiveTiming) {
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

TEST(Probe, WaitsForTheDepartureTime) {
  AdaptiveSends sq(3);
  sq.req.cc.edt_ns = sq.now + kMillisecond;
  sq.receive(ack(1000));
  EXPECT_GE(sroce_requester_deadline(&sq.req),
            sq.now + kMillisecond + sroce_rtt_probe_ns(&sq.req.rtt));
}

TEST(Probe, ResendsTheNewestPacketWithAckReq) {
  AdaptiveSends sq(2);
  sq.expire();
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].psn, 1001u);
  EXPECT_TRUE(packets[0].ack_req);
}

TEST(Probe, DoesNotUseARetryOrCountAsATimeout) {
  AdaptiveSends sq(2, {.retry_cnt = 1, .ack_timeout_ns = 0});
  for (int i = 0; i < 50; i++) {
    sq.expire();
    sq.send_all();
  }
  EXPECT_FALSE(sq.failed());
  EXPECT_EQ(sq.req.timeouts, 0u);
  EXPECT_EQ(sq.req.retry_left, 1);
}

TEST(Probe, TimeoutGrowsToOneSecond) {
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

TEST(Probe, EverySecondProbeDoublesTheTimeout) {
  AdaptiveSends sq(1, {.ack_timeout_ns = kLong, .selective = true});
  const u64 first_ns = sroce_requester_deadline(&sq.req) - sq.now;
  for (const u64 times : {1u, 1u, 2u, 2u, 4u, 4u, 8u}) {
    const u64 before_ns = sq.now;
    sq.expire();
    sq.send_all();
    EXPECT_EQ(sq.now - before_ns, times * first_ns);
  }
}

// A standard peer may need everything in flight again for one probe.
TEST(Probe, EachDoublesTheTimeoutForAStandardPeer) {
  AdaptiveSends sq(1, {.ack_timeout_ns = 0});
  const u64 first_ns = sroce_requester_deadline(&sq.req) - sq.now;
  for (const u64 times : {1u, 2u, 4u}) {
    const u64 before_ns = sq.now;
    sq.expire();
    sq.send_all();
    EXPECT_EQ(sq.now - before_ns, times * first_ns);
  }
}

// With one message at a time, each would be probed and no round trip ever measured.
TEST(Probe, LongPathAcceptsAnAmbiguousFirstSample) {
  SendQueue sq({.ack_timeout_ns = kLong, .adaptive = true, .selective = true});
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

// The path may be longer than the default timeout.
TEST(Probe, EachDoublesTheTimeoutBeforeTheFirstSample) {
  SendQueue sq({.ack_timeout_ns = kLong, .adaptive = true, .selective = true});
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

TEST(Probe, KeepsTheAckTimeoutOfASelectivePeer) {
  AdaptiveSends sq(2, {.ack_timeout_ns = 10 * kMillisecond, .selective = true});
  EXPECT_EQ(time_to_ack_timeout(sq), 10 * kMillisecond);
}

// Going back restarts the ACK timer. Probe timeouts end at one second; the ACK timeout may be
// longer.
TEST(Probe, KeepsTheAckTimeoutOfAStandardPeer) {
  AdaptiveSends brief(2, {.ack_timeout_ns = 10 * kMillisecond});
  EXPECT_EQ(time_to_ack_timeout(brief), 10 * kMillisecond);
  AdaptiveSends sq(2, {.ack_timeout_ns = 2000 * kMillisecond});
  EXPECT_EQ(time_to_ack_timeout(sq), 2000 * kMillisecond);
  EXPECT_EQ(sq.req.timeouts, 1u) << "a dead peer would never be noticed";
}

TEST(Probe, PacketsThatItsAckDoesNotCoverAreSentAgain) {
  AdaptiveSends sq(2, kOldest);
  sq.expire();
  sq.send_all();
  sq.now += 20 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
}

TEST(Probe, EarlyAckBelongsToTheFirstTransmission) {
  AdaptiveSends sq(2, kOldest);
  sq.expire();
  sq.send_all();
  sq.now += 5 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_TRUE(sq.send_all().empty());
}

// A paced sender sends a packet now and then, every 64th with AckReq.
TEST(Probe, IsNotDueBeforeAnAckReq) {
  SendQueue sq(AdaptiveSends::adapt({.window_packets = 1024}));
  sq.post(send_of(200 * 1024));
  std::vector<sroce_packet> sent = {sq.packet(sq.send(1), 0)};
  while (!sent.back().ack_req) sent.push_back(sq.packet(sq.send(1), 0));
  const u32 ack_req_psn = sent.back().psn;
  sq.send(1);
  sq.now += 20 * kMicrosecond;
  sq.receive(ack(ack_req_psn));
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + 100 * kMillisecond)
      << "the ACK timer runs, no probe";
  do sent.push_back(sq.packet(sq.send(1), 0));
  while (!sent.back().ack_req);
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + sroce_rtt_probe_ns(&sq.req.rtt));
}

// A queue of 2 MiB at 1 Gb/s takes longer than the default probe timeout.
TEST(Probe, DoesNotGoBackBeforeTheFirstResponse) {
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

TEST(Probe, ProvesNoLossBeforeTheFirstSample) {
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

TEST(Probe, FinalAckStopsTheTimer) {
  AdaptiveSends sq(2);
  sq.expire();
  sq.send_all();
  sq.receive(ack(1001));
  EXPECT_FALSE(sq.timer_runs());
  EXPECT_EQ(sq.completions().size(), 2u);
}

TEST(Probe, IsCancelledByAnAckBeforeItIsSent) {
  AdaptiveSends sq(2);
  sq.expire();
  sq.receive(ack(1000));
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(Probe, ProgressEndsTheBackoffIfTheRoundTripIsKnown) {
  for (const bool rough : {true, false}) {
    AdaptiveSends sq(4);
    sq.req.rtt.timing = false;
    sq.req.rtt.rough = rough;
    sq.req.probe.pto_backoff = 3;
    sq.receive(ack(1000));
    EXPECT_EQ(sq.req.probe.pto_backoff, rough ? 3u : 0u);
  }
}

TEST(Probe, GoesBackAfterFourAckReqsWithoutAnAck) {
  AdaptiveSends sq(4);
  sq.req.rtt.silence_is_loss = true;
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001, 1002, 1003}))
      << "four packets had AckReq, and none was acknowledged";
}

TEST(Probe, DoesNotEndAnRnrWait) {
  AdaptiveSends sq(2);
  sq.receive(rnr_nak(1000));
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.req.rnr_until_ns);
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001}));
}

TEST(Probe, IsNotAnRttSample) {
  AdaptiveSends sq(1);
  const u32 srtt_ns = sq.req.rtt.srtt_ns;
  sq.expire();
  sq.send_all();
  sq.now += 500 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_EQ(sq.req.rtt.srtt_ns, srtt_ns);
}

TEST(Probe, RequestsTheMissingPartOfARead) {
  AdaptiveSends sq(0);
  sq.post(read_of(4096));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024));
  sq.expire();
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.first_psn, 1001u);
  EXPECT_EQ(sq.packet(plan, 0).dma_length, 3072u);
}

TEST(Probe, IsCancelledByTheErrorState) {
  AdaptiveSends sq(2);
  sq.expire();
  sroce_requester_set_state(&sq.req, SROCE_SQ_ERROR);
  EXPECT_EQ(sq.plan().action, SROCE_SEND_NOTHING);
  EXPECT_FALSE(sq.timer_runs());
}

TEST(Probe, ReplyOfASelectivePeerRevealsLoss) {
  AdaptiveSends sq(4, {.selective = true});
  sq.req.retry_left = sq.req.attr.retry_cnt = 0;
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  sq.now += 20 * kMicrosecond;
  sroce_packet pkt = ack(1000);
  pkt.selective = true;
  sq.receive(pkt);
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1001, 1002, 1003}));
}

TEST(Probe, SecondProbeRevealsLossOnAReorderingPath) {
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

// A standard peer may have sent the ACK before the probe came. It executed more than the probe, so
// no packet was lost where the probe was sent again.
TEST(Probe, AckOfAStandardPeerThatCoversMoreIsAmbiguous) {
  AdaptiveSends sq(0, kOldest);
  sq.post(send_of(6 * 1024));
  sq.send_all();
  sq.expire();
  ASSERT_EQ(psns_of(sq.send_all()), Psns{1000});
  sq.now += 20 * kMicrosecond;
  sq.receive(ack(1002));
  EXPECT_TRUE(sq.send_all().empty());
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1003, 1004, 1005}));
}

TEST(Probe, AckOfAStandardPeerThatCoversOnlyTheProbeRevealsLoss) {
  AdaptiveSends sq(4, kOldest);
  sq.req.probe.ack_requests = 1;
  sq.expire();
  ASSERT_EQ(psns_of(sq.send_all()), Psns{1000});
  sq.now += 20 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1001, 1002, 1003}));
}

TEST(Probe, PacketsAckedMeanwhileAreNotLost) {
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

// The probe timeout of one more SEND.
u64 probe_timeout(AdaptiveSends& sq) {
  sq.post(send_of(10));
  sq.send_all();
  return sroce_requester_deadline(&sq.req) - sq.now;
}

TEST(Probe, SpuriousProbeAddsSlack) {
  AdaptiveSends sq(1, {.selective = true});
  const u64 before_ns = sroce_requester_deadline(&sq.req) - sq.now;
  sq.expire();
  sq.send_all();
  sq.now += 5 * kMicrosecond;
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(probe_timeout(sq), before_ns + 10 * kMicrosecond);
}

// A probe whose ACK arrives after 5 us. The ACK covers more than the probe and ends no RTT timing,
// so that nothing else is learned from it, as with READs behind others.
void send_spurious_probe(AdaptiveSends& sq, u32 i) {
  sq.expire();
  sq.send_all();
  sq.now += 5 * kMicrosecond;
  sq.post(send_of(10));
  sq.send_all();
  sq.req.rtt.timing = false;
  sq.receive(selective(ack(1000 + 2 * i + 1)));
}

TEST(Probe, FourSpuriousProbesLowerTheMinimumRtt) {
  AdaptiveSends sq(5, {.selective = true});
  sq.req.retry_left = sq.req.attr.retry_cnt = 0;
  const u32 min_ns = sq.req.rtt.min_ns;
  for (u32 i = 0; i < 4; i++) {
    EXPECT_EQ(sq.req.probe.pto_slack_ns, i * 10 * kMicrosecond);
    EXPECT_EQ(sq.req.rtt.min_ns, min_ns);
    send_spurious_probe(sq, i);
  }
  EXPECT_EQ(sq.req.probe.pto_slack_ns, 0u);
  EXPECT_EQ(sq.req.rtt.min_ns, 5 * kMicrosecond);
}

// A host that pauses now and then says nothing about a path that is measured constantly.
TEST(Probe, SpuriousProbesBetweenSamplesOnlyAddSlack) {
  AdaptiveSends sq(5, {.selective = true});
  sq.req.retry_left = sq.req.attr.retry_cnt = 0;
  for (u32 i = 0; i < 8; i++) {
    send_spurious_probe(sq, i);
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

TEST(Probe, NeededProbeReducesTheSlack) {
  AdaptiveSends sq(1, {.selective = true});
  const u64 before_ns = sroce_requester_deadline(&sq.req) - sq.now;
  sq.req.probe.pto_slack_ns = 8 * kMicrosecond;
  sq.expire();
  sq.send_all();
  sq.now += 20 * kMicrosecond;
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(probe_timeout(sq), before_ns + 6 * kMicrosecond);
}

TEST(Probe, TwoEarlyAcksInARowLowerTheMinimumRtt) {
  AdaptiveSends sq(4, {.selective = true});
  sq.req.retry_left = sq.req.attr.retry_cnt = 0;
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

TEST(Probe, EarlyAcksThatCoverMoreKeepTheMinimumRtt) {
  AdaptiveSends sq(6, {.selective = true});
  sq.req.retry_left = sq.req.attr.retry_cnt = 0;
  const u32 min_ns = sq.req.rtt.min_ns;
  for (const u32 psn : {1001u, 1003u}) {
    sq.expire();
    sq.send_all();
    sq.now += 5 * kMicrosecond;
    sq.receive(selective(ack(psn)));
  }
  EXPECT_EQ(sq.req.rtt.min_ns, min_ns);
}

TEST(Probe, SeveralWithoutResponseDiscardTheSacks) {
  AdaptiveSends sq(6, {.ack_timeout_ns = kLong, .selective = true});
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

// Else each of the packets would be sent again only after another probe timeout.
TEST(Probe, SacksAreDiscardedBeforeThePeerDropsWhatItHasQueued) {
  constexpr u64 kSecond = 1000 * kMillisecond;
  AdaptiveSends sq(6, {.ack_timeout_ns = kLong, .selective = true});
  sq.req.rtt.srtt_ns = kSecond;
  sq.receive_sack(999, {1001, 1002});
  ReceiveQueue peer({.psn = 1000, .reorder_packets = 64, .selective = true});
  peer.receive(write_only(1001, 0x10000, 16));
  sroce_reorder_timeout(&peer.resp, sroce_reorder_deadline(&peer.resp));
  const u64 begin_ns = sq.now;
  while (sq.req.sb.done_data && sq.now < begin_ns + 100 * kSecond) {
    sq.expire();
    sq.send_all();
  }
  EXPECT_LT(sq.now + kSecond - begin_ns, sroce_reorder_deadline(&peer.resp) - peer.now);
}

// The last packet in flight is sent again with AckReq, because nothing follows it.
TEST(Probe, PacketSentAgainForAckReqIsNotTimed) {
  AdaptiveSends sq(1);
  ASSERT_TRUE(sq.req.rtt.timing);
  sq.post(send_of(3 * 1024).unsignaled());
  sq.send(2);
  sq.commit(sq.plan(), SROCE_WC_LOC_PROT_ERR);
  EXPECT_EQ(sq.send().first_psn, 1000u) << "the timed packet, again";
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

// A sender without probes whose first response took @rtt_ns, with one SEND in flight.
struct SlowSend : SendQueue {
  explicit SlowSend(u64 rtt_ns, SendQueueOptions options = {}) : SendQueue(options) {
    post(send_of(10));
    send_all();
    now += rtt_ns;
    receive(ack(1000));
    completions();
    post(send_of(10));
    send_all();
  }
  u64 wait_ns() const { return sroce_requester_deadline(&req) - now; }
};

TEST(AckTimer, IsAtLeastTheRetransmissionTimeoutOfTheRoundTrip) {
  EXPECT_EQ(SlowSend(20 * kMillisecond).wait_ns(), 100 * kMillisecond);
  EXPECT_EQ(SlowSend(60 * kMillisecond).wait_ns(), 180 * kMillisecond) << "srtt + 4 * rttvar";
}

TEST(AckTimer, IsAtMostFourTimesTheAckTimeout) {
  EXPECT_EQ(SlowSend(500 * kMillisecond, {.ack_timeout_ns = 600 * kMillisecond}).wait_ns(),
            1500 * kMillisecond);
  EXPECT_EQ(SlowSend(90 * kMillisecond, {.ack_timeout_ns = 50 * kMillisecond}).wait_ns(),
            200 * kMillisecond);
}

// RFC 6298 section 5: the ACK of a packet that was repeated measures nothing.
TEST(AckTimer, StaysDoubledUntilThereIsASample) {
  SendQueue sq({.ack_timeout_ns = 50 * kMillisecond});
  const auto send = [&] {
    sq.post(send_of(10));
    sq.send_all();
    return sroce_requester_deadline(&sq.req) - sq.now;
  };
  EXPECT_EQ(send(), 50 * kMillisecond);
  sq.expire();
  sq.send_all();
  sq.receive(ack(1000));
  EXPECT_EQ(send(), 100 * kMillisecond);
  sq.now += kMillisecond;
  sq.receive(ack(1001));
  EXPECT_EQ(send(), 50 * kMillisecond);
}

// A selective sender without probes whose ACK timer has just repeated the first of four SENDs. The
// only sample is @rtt_ns; it may be an upper bound (@rough).
struct TimedOutSends : SendQueue {
  explicit TimedOutSends(u64 rtt_ns, u32 reordering = 0, bool rough = false)
      : SendQueue({.psn = 999, .selective = true}) {
    post(send_of(10));
    send_all();
    now += rtt_ns;
    receive(selective(ack(999)));
    completions();
    req.sb.reordering = reordering;
    req.rtt.rough = rough;
    for (u32 i = 0; i < 4; i++) post(send_of(10));
    send_all();
    expire();
    // Of a long path the response may just be late, and that to the newest packet is certain.
    EXPECT_EQ(psns_of(send_all()), Psns{rtt_ns < 30 * kMillisecond ? 1000u : 1003u});
  }
  // Repeats after a response that took less time than the sample.
  Psns repeated_after_early_ack() {
    now += 5 * kMicrosecond;
    receive(selective(ack(1000)));
    return psns_of(send_all());
  }
};

TEST(AckTimer, EarlyReplyToARepetitionRevealsLoss) {
  EXPECT_EQ(TimedOutSends(20 * kMicrosecond).repeated_after_early_ack(), (Psns{1001, 1002, 1003}));
}

TEST(AckTimer, ReplyToARepetitionRevealsLossOnAReorderingPath) {
  EXPECT_EQ(TimedOutSends(20 * kMicrosecond, 2).repeated_after_early_ack(),
            (Psns{1001, 1002, 1003}));
}

// The peer responds to what was sent later, so not everything before the repetition is lost.
TEST(AckTimer, EarlyReplySaysNothingWhileThePeerResponds) {
  SendQueue sq({.psn = 999, .selective = true});
  sq.post(send_of(10));
  sq.send_all();
  sq.now += 20 * kMicrosecond;
  sq.receive(selective(ack(999)));
  for (u32 i = 0; i < 4; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive(selective(ack(999)));
  sq.expire();
  ASSERT_EQ(psns_of(sq.send_all()), Psns{1003});
  sq.now += 5 * kMicrosecond;
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{});
}

TEST(AckTimer, ReplyToAnEarlierProbeIsNotTheOneToTheRepetition) {
  AdaptiveSends sq(4, {.selective = true});
  sq.receive(selective(nak(SROCE_NAK_PSN_SEQUENCE, 1000)));
  sq.send_all();
  sq.expire();
  ASSERT_EQ(psns_of(sq.send_all()), Psns{1000});
  ASSERT_TRUE(sq.req.probe.sent);
  while (!sq.req.timeouts) sq.expire();
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{});
}

TEST(AckTimer, EarlyReplyRevealsLossAfterASampleThatIsABound) {
  EXPECT_EQ(TimedOutSends(20 * kMicrosecond, 0, true).repeated_after_early_ack(),
            (Psns{1001, 1002, 1003}));
}

// The peer has executed three READs. All responses were lost, on a path that reorders.
TEST(AckTimer, ReplyToARepetitionRevealsLostResponses) {
  SendQueue sq({.psn = 999, .selective = true});
  sq.post(send_of(10));
  sq.send_all();
  sq.now += 20 * kMicrosecond;
  sq.receive(selective(ack(999)));
  for (u32 i = 0; i < 3; i++) sq.post(read_of(1024));
  ASSERT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001, 1002}));
  sq.req.sb.reordering = 60;
  sq.receive(selective(ack(1002)));
  for (u32 i = 0; i < 2; i++) {  // the first time, the peer has just responded
    sq.expire();
    ASSERT_EQ(psns_of(sq.send_all()), Psns{1000});
  }
  sq.now += 20 * kMicrosecond;
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 1024)));
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1001, 1002}));
}

TEST(AckTimer, EarlyReplyIsLateIfRoundTripsAreAsLongAsTheTimeout) {
  EXPECT_EQ(TimedOutSends(60 * kMillisecond).repeated_after_early_ack(), Psns{});
}

TEST(Probe, EarlyReplySaysNothingAfterAnAckTimeoutBefore) {
  TimedOutSends sq(20 * kMicrosecond);
  sq.req.attr.adaptive = true;
  sq.req.attr.retry_cnt = 0;
  ASSERT_EQ(sq.repeated_after_early_ack(), (Psns{1001, 1002, 1003}));
  sq.now += 20 * kMicrosecond;
  sq.receive(selective(ack(1003)));
  for (u32 i = 0; i < 4; i++) sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  ASSERT_EQ(psns_of(sq.send_all()), Psns{1004});
  sq.now += 5 * kMicrosecond;
  sq.receive(selective(ack(1004)));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{});
}

// A duplicate ACK of the first SEND. The second one stays unacknowledged.
void respond_in_vain(SlowSend& sq) {
  sq.receive(ack(1000));
  sq.expire();
  sq.send_all();
}

TEST(AckTimer, ExpiryUsesUpNoRetryWhileThePeerResponds) {
  SlowSend sq(kMillisecond, {.retry_cnt = 1});
  respond_in_vain(sq);
  EXPECT_EQ(sq.req.retry_left, 1);
  EXPECT_EQ(sq.req.timeouts, 1u);
  sq.expire();
  EXPECT_EQ(sq.req.retry_left, 0) << "the peer was silent";
}

TEST(AckTimer, PeerMayRespondInVainEightTimes) {
  SlowSend sq(kMillisecond, {.retry_cnt = 0});
  for (int i = 0; i < 8; i++) respond_in_vain(sq);
  EXPECT_FALSE(sq.failed());
  respond_in_vain(sq);
  EXPECT_TRUE(sq.failed());
}

TEST(AckTimer, ProgressBeforeIsNoResponse) {
  SlowSend sq(kMillisecond, {.retry_cnt = 0});
  sq.expire();
  EXPECT_TRUE(sq.failed());
}

TEST(AckTimer, ProgressForgetsResponsesInVain) {
  SlowSend sq(kMillisecond, {.retry_cnt = 0});
  for (int i = 0; i < 8; i++) respond_in_vain(sq);
  sq.receive(ack(1001));
  sq.completions();
  sq.post(send_of(10));
  sq.send_all();
  respond_in_vain(sq);
  EXPECT_FALSE(sq.failed());
}

// A standard peer whose queue is so long that the first response takes 90 ms. Until then everything
// has been repeated.
struct LongQueue : SendQueue {
  LongQueue() : SendQueue(AdaptiveSends::adapt({.slots = 64, .ack_timeout_ns = 0})) {
    const u64 sent_ns = now;
    for (int i = 0; i < 40; i++) post(send_of(10));
    send_all();
    while (sroce_requester_deadline(&req) < sent_ns + kRoundTripNs) {
      expire();
      repeats = send_all().size();
    }
    now = sent_ns + kRoundTripNs;
    receive(ack(999));
  }
  static constexpr u64 kRoundTripNs = 90 * kMillisecond;
  size_t repeats = 0;  // by the last probe timeout
};

TEST(Probe, FewPacketsAreRepeatedBeforeTheFirstSample) { EXPECT_EQ(LongQueue().repeats, 16u); }

TEST(Probe, FirstSampleSurvivesARewind) {
  EXPECT_EQ(LongQueue().req.rtt.srtt_ns, LongQueue::kRoundTripNs);
}

TEST(Probe, BackoffLastsWhileTheRoundTripIsUncertain) {
  LongQueue sq;
  ASSERT_TRUE(sq.req.rtt.rough);
  sq.send_all();
  EXPECT_GE(sroce_requester_deadline(&sq.req) - sq.now, LongQueue::kRoundTripNs / 2);
}

}  // namespace
