// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Timers before the first RTT sample, and how a repetition gives it: kernel/transport/tlp.c.
#include <gtest/gtest.h>

#include "adaptive_sends.h"

namespace {

using namespace sroce_test;

// Six packets to a selective peer. Only the last one is timed, so their ACKs give no sample.
struct UnsampledSends : SendQueue {
  explicit UnsampledSends(const SendQueueOptions& options) : SendQueue(options) {
    post(send_of(6 * 1024));
    send_all();
    req.sb.mode = SROCE_SELECTIVE_ON;
  }
  // A timer expires, and the peer acknowledges everything up to @psn. Returns what was repeated.
  Psns repeat(u32 psn) {
    expire();
    const Psns repeated = psns_of(send_all());
    now += 5 * kMicrosecond;
    receive(selective(ack(psn)));
    return repeated;
  }
};

const SendQueueOptions kProbes = AdaptiveSends::adapt({.ack_timeout_ns = 0, .selective = true});

// Without any sample, round trips may be longer than the timeout.
TEST(AckTimer, SecondReplyToARepetitionIsTheFirstSample) {
  UnsampledSends sq({.selective = true});
  for (u32 psn = 1000; psn < 1003; psn++) {
    EXPECT_EQ(sq.req.rtt.srtt_ns, psn < 1002 ? 0 : 5 * kMicrosecond) << psn;
    EXPECT_EQ(sq.repeat(psn), Psns{psn});
  }
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1003, 1004, 1005}));
}

// Guesses would be 2 ms, then 4 and 8.
TEST(Probe, FirstSampleEndsTheBackoff) {
  UnsampledSends sq(kProbes);
  sq.req.rtt.timing = false;
  for (u32 psn = 999; psn < 1001; psn++) {
    const u64 before_ns = sq.now;
    EXPECT_EQ(sq.repeat(psn), Psns{psn});
    EXPECT_GE(sq.now, before_ns + 2 * kMillisecond + 5 * kMicrosecond);
  }
  EXPECT_EQ(sq.req.rtt.srtt_ns, 5 * kMicrosecond);
  EXPECT_LT(sroce_requester_deadline(&sq.req), sq.now + 100 * kMicrosecond);
  sq.expire();
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1004}) << "the newest";
}

TEST(Probe, FirstSampleWaitsForTheDepartureTime) {
  UnsampledSends sq(kProbes);
  sq.req.rtt.timing = false;
  sq.repeat(999);
  sq.expire();
  sq.send_all();
  sq.now += 5 * kMicrosecond;
  sq.req.cc.edt_ns = sq.now + kMillisecond;
  sq.receive(selective(ack(1000)));
  EXPECT_EQ(sq.req.rtt.srtt_ns, 5 * kMicrosecond);
  EXPECT_GE(sroce_requester_deadline(&sq.req), sq.now + kMillisecond);
  EXPECT_LT(sroce_requester_deadline(&sq.req), sq.now + 2 * kMillisecond);
}

TEST(Probe, FirstSampleStartsNoProbeTimer) {
  UnsampledSends sq({.selective = true});
  for (u32 psn = 1000; psn < 1002; psn++) sq.repeat(psn);
  EXPECT_EQ(sq.req.probe.deadline_ns, SROCE_NEVER);
}

// The peer had queued what was sent behind, but its SACK was lost.
TEST(AckTimer, SecondReplyMayCoverMoreThanTheRepetition) {
  UnsampledSends sq({.selective = true});
  for (const u32 psn : {1001u, 1003u}) sq.repeat(psn);
  EXPECT_EQ(sq.req.rtt.srtt_ns, 5 * kMicrosecond);
}

// A first sample that includes an ACK timeout is none.
TEST(AckTimer, SecondReplyToARepetitionReplacesABound) {
  UnsampledSends sq({.retry_cnt = 1, .selective = true});
  sroce_rtt_sample(&sq.req.rtt, 80 * kMillisecond, sq.now);
  sq.req.rtt.rough = true;
  for (u32 psn = 1000; psn < 1002; psn++) {
    EXPECT_EQ(sq.req.rtt.srtt_ns, 80 * kMillisecond);
    sq.repeat(psn);
  }
  EXPECT_EQ(sq.req.rtt.srtt_ns, 5 * kMicrosecond);
  EXPECT_FALSE(sq.req.rtt.rough);
}

}  // namespace
