// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Timers before the first RTT sample, and how a repetition gives it: kernel/transport/tlp.c.
#include <gtest/gtest.h>

#include "adaptive_sends.h"

namespace {

using namespace sroce_test;

// Without any sample, round trips may be longer than the timeout. Only the last packet is timed.
TEST(AckTimer, SecondReplyToARepetitionIsTheFirstSample) {
  SendQueue sq({.selective = true});
  sq.post(send_of(6 * 1024));
  sq.send_all();
  sq.req.sb.mode = SROCE_SELECTIVE_ON;
  for (u32 psn = 1000; psn < 1003; psn++) {
    EXPECT_EQ(sq.req.rtt.srtt_ns, psn < 1002 ? 0 : 5 * kMicrosecond) << psn;
    sq.expire();
    EXPECT_EQ(psns_of(sq.send_all()), Psns{psn});
    sq.now += 5 * kMicrosecond;
    sq.receive(selective(ack(psn)));
  }
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1003, 1004, 1005}));
}

// Guesses would be 2 ms, then 4 and 8.
TEST(Probe, FirstSampleEndsTheBackoff) {
  SendQueue sq(AdaptiveSends::adapt({.ack_timeout_ns = 0, .selective = true}));
  sq.post(send_of(6 * 1024));
  sq.send_all();
  sq.req.sb.mode = SROCE_SELECTIVE_ON;
  sq.req.rtt.timing = false;
  for (u32 psn = 999; psn < 1001; psn++) {
    const u64 before_ns = sq.now;
    sq.expire();
    EXPECT_GE(sq.now, before_ns + 2 * kMillisecond);
    EXPECT_EQ(psns_of(sq.send_all()), Psns{psn});
    sq.now += 5 * kMicrosecond;
    sq.receive(selective(ack(psn)));
  }
  EXPECT_EQ(sq.req.rtt.srtt_ns, 5 * kMicrosecond);
  EXPECT_LT(sroce_requester_deadline(&sq.req), sq.now + 100 * kMicrosecond);
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1004}) << "the newest";
}

TEST(Probe, FirstSampleWaitsForTheDepartureTime) {
  SendQueue sq(AdaptiveSends::adapt({.ack_timeout_ns = 0, .selective = true}));
  sq.post(send_of(6 * 1024));
  sq.send_all();
  sq.req.sb.mode = SROCE_SELECTIVE_ON;
  sq.req.rtt.timing = false;
  for (u32 psn = 999; psn < 1001; psn++) {
    sq.expire();
    sq.send_all();
    sq.now += 5 * kMicrosecond;
    sq.req.cc.edt_ns = sq.now + kMillisecond;
    sq.receive(selective(ack(psn)));
  }
  EXPECT_GE(sroce_requester_deadline(&sq.req), sq.now + kMillisecond);
  EXPECT_LT(sroce_requester_deadline(&sq.req), sq.now + 2 * kMillisecond);
}

TEST(Probe, FirstSampleStartsNoProbeTimer) {
  SendQueue sq({.selective = true});
  sq.post(send_of(6 * 1024));
  sq.send_all();
  sq.req.sb.mode = SROCE_SELECTIVE_ON;
  for (u32 psn = 1000; psn < 1002; psn++) {
    sq.expire();
    sq.send_all();
    sq.now += 5 * kMicrosecond;
    sq.receive(selective(ack(psn)));
  }
  EXPECT_EQ(sq.req.probe.deadline_ns, SROCE_NEVER);
}

// The peer had queued what was sent behind, but its SACK was lost.
TEST(AckTimer, SecondReplyMayCoverMoreThanTheRepetition) {
  SendQueue sq({.selective = true});
  sq.post(send_of(6 * 1024));
  sq.send_all();
  sq.req.sb.mode = SROCE_SELECTIVE_ON;
  for (const u32 psn : {1001u, 1003u}) {
    sq.expire();
    sq.send_all();
    sq.now += 5 * kMicrosecond;
    sq.receive(selective(ack(psn)));
  }
  EXPECT_EQ(sq.req.rtt.srtt_ns, 5 * kMicrosecond);
}

// A first sample that includes an ACK timeout is none.
TEST(AckTimer, SecondReplyToARepetitionReplacesABound) {
  SendQueue sq({.retry_cnt = 1, .selective = true});
  sq.post(send_of(6 * 1024));
  sq.send_all();
  sq.req.sb.mode = SROCE_SELECTIVE_ON;
  sroce_rtt_sample(&sq.req.rtt, 80 * kMillisecond, sq.now);
  sq.req.rtt.rough = true;
  for (u32 psn = 1000; psn < 1002; psn++) {
    EXPECT_EQ(sq.req.rtt.srtt_ns, 80 * kMillisecond);
    sq.expire();
    sq.send_all();
    sq.now += 5 * kMicrosecond;
    sq.receive(selective(ack(psn)));
  }
  EXPECT_EQ(sq.req.rtt.srtt_ns, 5 * kMicrosecond);
  EXPECT_FALSE(sq.req.rtt.rough);
}

}  // namespace
