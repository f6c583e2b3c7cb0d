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
  sq.expire();
  sq.send_all();
  sq.now += 40 * kMicrosecond;
  sq.receive(ack(1000));
  EXPECT_EQ(sq.req.probe.pto_slack_ns, 80 * kMicrosecond);
}

TEST(NewestProbe, SackOfALaterPacketAddsNoSlack) {
  AdaptiveSends sq(2, {.selective = true});
  sq.expire();
  sq.send_all();
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

TEST(NewestProbe, SackIsAmbiguousOnAReorderingPath) {
  AdaptiveSends sq(4, {.selective = true});
  sq.req.sb.reordering = 8;
  ASSERT_EQ(probes(sq), Psns{1003});
  sq.receive_sack(999, {1003});
  EXPECT_EQ(psns_of(sq.send_all()), Psns{});
  EXPECT_TRUE(sq.req.probe.ambiguous);
}

TEST(NewestProbe, IsRepeatedFiveTimes) {
  AdaptiveSends sq(2, {.ack_timeout_ns = 100'000 * kMillisecond, .selective = true});
  for (int i = 0; i < 5; i++) EXPECT_EQ(probes(sq), Psns{1001}) << i;
  EXPECT_EQ(probes(sq), Psns{1000});
}

// A standard peer that has sent its NAK drops it.
TEST(NewestProbe, IsSentOnceToAStandardPeer) {
  AdaptiveSends sq(2, {.ack_timeout_ns = 0});
  sq.req.probe.ack_requests = 0;
  EXPECT_EQ(probes(sq), Psns{1001});
  EXPECT_EQ(probes(sq), Psns{1000});
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
  sq.req.sb.reordering = 8;
  sq.receive_sack(999, {1002});
  EXPECT_EQ(probes(sq), Psns{1000});
}

TEST(NewestProbe, IsNotSentWhileAReadIsOutstanding) {
  AdaptiveSends sq(0, {.selective = true});
  sq.post(read_of(1024));
  sq.post(send_of(10));
  sq.send_all();
  EXPECT_EQ(probes(sq), Psns{1000});
}

TEST(NewestProbe, IsNotSentToAPeerWithoutRoomUntilItQueuesAgain) {
  AdaptiveSends sq(4, {.selective = true});
  sq.receive(selective(nak(SROCE_NAK_PSN_SEQUENCE, 1000)));
  ASSERT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001, 1002, 1003}));
  EXPECT_EQ(probes(sq), Psns{1000});
  sq.receive_sack(999, {1001});
  sq.receive(selective(ack(1001)));
  EXPECT_EQ(probes(sq), Psns{1003});
}

}  // namespace
