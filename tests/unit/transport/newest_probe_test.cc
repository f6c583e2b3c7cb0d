// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Which packet a tail-loss probe repeats, and what the response to the newest one tells.
#include <gtest/gtest.h>

#include "adaptive_sends.h"

namespace {

using namespace sroce_test;

// The packets that the next probe timeout sends.
Psns probes(SendQueue& sq) {
  sq.expire();
  return psns_of(sq.send_all());
}

// A peer that takes longer for each packet, as its queue grows. Nothing is lost.
TEST(NewestProbe, AckOfAnEarlierPacketRevealsNoLoss) {
  for (const bool is_selective : {false, true}) {
    AdaptiveSends sq(4, {.selective = is_selective});
    sq.req.probe.ack_requests = 0;
    ASSERT_EQ(probes(sq), Psns{1003});
    sq.now += 40 * kMicrosecond;
    sq.receive(ack(1000));
    EXPECT_EQ(psns_of(sq.send_all()), Psns{}) << is_selective;
  }
}

TEST(NewestProbe, AckOfAnEarlierPacketAddsSlack) {
  AdaptiveSends sq(4, {.selective = true});
  ASSERT_EQ(probes(sq), Psns{1003});
  sq.now += 40 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_EQ(sq.req.probe.pto_slack_ns, 80 * kMicrosecond);
}

TEST(NewestProbe, SlackIsAtMostATenthOfASecond) {
  AdaptiveSends sq(4, {.ack_timeout_ns = 100'000 * kMillisecond, .selective = true});
  ASSERT_EQ(probes(sq), Psns{1003});
  sq.now += 80 * kMillisecond;
  sq.receive(ack(1000));
  EXPECT_EQ(sq.req.probe.pto_slack_ns, 100 * kMillisecond);
}

TEST(NewestProbe, SackOfALaterPacketAddsNoSlack) {
  AdaptiveSends sq(2, {.selective = true});
  ASSERT_EQ(probes(sq), Psns{1001});
  sq.post(send_of(10));
  sq.send_all();
  sq.now += 40 * kMicrosecond;
  sq.receive_sack(999, {1002});
  EXPECT_EQ(sq.req.probe.pto_slack_ns, 0u);
}

TEST(NewestProbe, SackRevealsLossHoweverEarly) {
  AdaptiveSends sq(4, {.selective = true});
  ASSERT_EQ(probes(sq), Psns{1003});
  sq.post(send_of(10));
  sq.send_all();
  sq.now += 5 * kMicrosecond;
  sq.receive_sack(999, {1003});
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001, 1002}));
}

// Its buffer was deregistered, for example.
TEST(NewestProbe, IsNotSentIfItsRequestHasFailed) {
  AdaptiveSends sq(2, {.window_packets = 4});
  sq.post(write_of(5 * 1024));
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1002, 1003}));
  sq.receive(ack(1000));
  sq.commit(sq.plan(), SROCE_WC_LOC_PROT_ERR);
  EXPECT_EQ(probes(sq), Psns{1001});
}

// A SACK of the newest would be ambiguous.
TEST(NewestProbe, IsNotSentOnAReorderingPath) {
  AdaptiveSends sq(4, {.selective = true});
  sq.req.sb.reordering = 8;
  EXPECT_EQ(probes(sq), Psns{1000});
}

// A peer that has sent a NAK or an RNR NAK drops it, and the NAK may be lost.
TEST(NewestProbe, IsRepeatedOnce) {
  AdaptiveSends sq(2, {.ack_timeout_ns = 100'000 * kMillisecond, .selective = true});
  EXPECT_EQ(probes(sq), Psns{1001});
  for (int i = 0; i < 4; i++) EXPECT_EQ(probes(sq), Psns{1000}) << i;
}

// Round trips are longer than the ACK timeout, so no response is overdue.
TEST(NewestProbe, IsRepeatedByOneAckTimeoutOnly) {
  SendQueue sq({.psn = 999, .retry_cnt = 3, .selective = true});
  sq.post(send_of(10));
  sq.send_all();
  sq.now += 60 * kMillisecond;
  sq.receive(selective(ack(999)));
  for (int i = 0; i < 4; i++) sq.post(send_of(10));
  sq.send_all();
  EXPECT_EQ(probes(sq), Psns{1003});
  EXPECT_EQ(probes(sq), Psns{1000});
}

// The response that is still due to the newest packet tells more than that to the oldest one.
TEST(NewestProbe, AckOfTheOldestAfterItRevealsNoLoss) {
  AdaptiveSends sq(4, {.ack_timeout_ns = 100'000 * kMillisecond, .selective = true});
  ASSERT_EQ(probes(sq), Psns{1003});
  ASSERT_EQ(probes(sq), Psns{1000});
  sq.now += 40 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{});
  EXPECT_EQ(probes(sq), Psns{1003});
}

// The standard peer responds with a NAK, which needs a retry.
TEST(NewestProbe, IsNotSentWithoutARetry) {
  AdaptiveSends sq(4, {.retry_cnt = 0});
  sq.req.probe.ack_requests = 0;
  EXPECT_EQ(probes(sq), Psns{1000});
}

TEST(NewestProbe, NakAddsNoSlack) {
  AdaptiveSends sq(4, {});
  sq.req.probe.ack_requests = 0;
  ASSERT_EQ(probes(sq), Psns{1003});
  sq.now += 40 * kMicrosecond;
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1001));
  EXPECT_EQ(sq.req.probe.pto_slack_ns, 0u);
}

TEST(NewestProbe, RttSampleReducesTheSlack) {
  AdaptiveSends sq(1, {.selective = true});
  sq.req.probe.pto_slack_ns = 80 * kMicrosecond;
  sq.now += 20 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_EQ(sq.req.probe.pto_slack_ns, 40 * kMicrosecond);
}

// A lone packet is the oldest one: its response within a round trip may be that to the original.
TEST(NewestProbe, IsNoneIfItIsTheOldest) {
  AdaptiveSends sq(1, {.selective = true});
  ASSERT_EQ(probes(sq), Psns{1000});
  EXPECT_FALSE(sq.req.probe.newest);
}

// A standard peer that has sent its NAK drops it.
TEST(NewestProbe, IsSentOnceToAStandardPeer) {
  AdaptiveSends sq(2, {.ack_timeout_ns = 0});
  sq.req.probe.ack_requests = 0;
  EXPECT_EQ(probes(sq), Psns{1001});
  EXPECT_EQ(probes(sq), Psns{1000});
}

// A peer whose queue has grown since the only RTT sample is silent, and nothing is lost.
TEST(NewestProbe, IsFollowedByThreeOfTheOldestWhileThereIsOneRttSample) {
  AdaptiveSends sq(4, {.ack_timeout_ns = 0});
  EXPECT_EQ(probes(sq), Psns{1003});
  for (int i = 0; i < 3; i++) EXPECT_EQ(probes(sq), Psns{1000}) << i;
  EXPECT_EQ(probes(sq), (Psns{1000, 1001, 1002, 1003}));
}

// Now the round trip is known, so the peer misses packets, and its NAK was lost.
TEST(NewestProbe, IsFollowedByAllOnceTheRttSampleIsConfirmed) {
  AdaptiveSends sq(4, {.ack_timeout_ns = 0});
  sq.req.rtt.silence_is_loss = true;
  sq.req.probe.ack_requests = 0;
  EXPECT_EQ(probes(sq), Psns{1003});
  EXPECT_EQ(probes(sq), (Psns{1000, 1001, 1002, 1003}));
}

TEST(NewestProbe, NakShowsThatThePathLosesPackets) {
  AdaptiveSends sq(4);
  ASSERT_FALSE(sq.req.rtt.silence_is_loss);
  sq.receive(rnr_nak(1000));
  EXPECT_FALSE(sq.req.rtt.silence_is_loss);
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1001));
  EXPECT_TRUE(sq.req.rtt.silence_is_loss);
}

// A standard peer that was sent the newest packet of four, then the oldest, and acknowledges it.
struct OldestAcked : AdaptiveSends {
  OldestAcked() : AdaptiveSends(4, {.ack_timeout_ns = 0}) {
    probes(*this);
    probes(*this);
    now += 40 * kMicrosecond;
    receive(ack(1000));
  }
};

TEST(NewestProbe, FollowsAnAckOfTheOldestAtOnce) {
  OldestAcked sq;
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1003});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{});
}

TEST(NewestProbe, NakAfterAnAckOfTheOldestGoesBack) {
  OldestAcked sq;
  sq.send_all();
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1001));
  EXPECT_EQ(sq.req.probe.pto_backoff, 0u);
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1001, 1002, 1003}));
}

TEST(NewestProbe, AckOfTheOldestIsAmbiguous) {
  OldestAcked sq;
  EXPECT_EQ(sq.req.probe.pto_backoff, 2u);
  EXPECT_EQ(sq.req.probe.pto_slack_ns, 0u);
}

TEST(NewestProbe, AckBehindTheOldestShowsThatThePeerIsSlow) {
  OldestAcked sq;
  sq.send_all();
  sq.now += 40 * kMicrosecond;
  sq.receive(ack(1001));
  EXPECT_EQ(sq.req.probe.pto_backoff, 0u);
  EXPECT_EQ(sq.req.probe.pto_slack_ns, 80 * kMicrosecond);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{});
}

TEST(NewestProbe, AckOfAllAfterBothEndsTheBackoff) {
  AdaptiveSends sq(4, {.ack_timeout_ns = 0});
  probes(sq);
  probes(sq);
  sq.now += 40 * kMicrosecond;
  sq.receive(ack(1003));
  EXPECT_EQ(sq.req.probe.pto_backoff, 0u);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{});
}

// Only one packet is left, so the newest is the oldest: it was lost, or its ACK follows.
TEST(NewestProbe, DoesNotFollowIfOnePacketIsLeft) {
  AdaptiveSends sq(2, {.ack_timeout_ns = 0});
  probes(sq);
  probes(sq);
  sq.now += 40 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1001});
  EXPECT_TRUE(sq.req.gone_back);
}

// While the estimate is rough, progress does not end the backoff.
TEST(NewestProbe, FollowsEachProgress) {
  AdaptiveSends sq(4);
  sq.req.probe.ack_requests = 0;
  sq.req.probe.pto_backoff = 3;
  EXPECT_EQ(probes(sq), Psns{1003});
}

TEST(NewestProbe, IsNotSentBehindAKnownGap) {
  AdaptiveSends sq(4, {.selective = true});
  sq.receive_sack(999, {1002});
  sq.send_all();
  EXPECT_EQ(probes(sq).front(), 1000u);
}

TEST(NewestProbe, IsNotSentWhileAReadIsOutstanding) {
  AdaptiveSends sq(0, {.selective = true});
  sq.post(read_of(1024));
  sq.post(send_of(10));
  sq.send_all();
  EXPECT_EQ(probes(sq), Psns{1000});
}

// After a NAK, until the peer responds to what has been sent again.
TEST(NewestProbe, IsNotSentAfterANak) {
  AdaptiveSends sq(4, {.selective = true});
  sq.receive(selective(nak(SROCE_NAK_PSN_SEQUENCE, 1000)));
  ASSERT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001, 1002, 1003}));
  EXPECT_EQ(probes(sq), Psns{1000});
  sq.receive(selective(ack(1001)));
  EXPECT_EQ(probes(sq), Psns{1003});
}

}  // namespace
