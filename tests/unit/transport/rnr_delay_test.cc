// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Waiting for a receive WQE before the RNR NAK.
#include <gtest/gtest.h>

#include "reordering_queue.h"

namespace {

using namespace sroce_test;

// Delays the RNR NAK of a SEND that finds no receive.
struct DelayedRnrQueue : ReorderingQueue {
  explicit DelayedRnrQueue(bool selective_peer = false)
      : ReorderingQueue(
            {.reorder_packets = 64, .selective = selective_peer, .rnr_delay_ns = kRnrDelayNs}) {}
  void send(const Psns& psns) {
    for (u32 psn : psns)
      receive(resp.attr.selective ? selective(send_only(psn, 10)) : send_only(psn, 10));
  }
  static constexpr u64 kRnrDelayNs = 200000;
};

TEST(RnrDelay, SendWithoutAReceiveIsQueued) {
  DelayedRnrQueue rq;
  const sroce_recv_plan plan = rq.receive(send_only(2000, 10));
  EXPECT_EQ(plan.verdict, SROCE_RECV_QUEUE);
  EXPECT_TRUE(plan.waits_rwqe);
  EXPECT_TRUE(rq.respond().empty());
}

TEST(RnrDelay, ReceivesReleaseQueuedSends) {
  DelayedRnrQueue rq;
  rq.send({2000, 2001, 2002});
  rq.post(100);
  rq.post(100);
  rq.rwqe_posted();
  EXPECT_EQ(rq.completions.size(), 2u);
  EXPECT_EQ(rq.resp.epsn, 2002u);
  EXPECT_EQ(rq.resp.reorder.count, 1u);
  rq.post(100);
  rq.rwqe_posted();
  EXPECT_EQ(rq.completions.size(), 3u);
  EXPECT_FALSE(rq.timer_runs());
  expect_nak(rq, kAckSyndrome, 2002);
}

TEST(RnrDelay, RnrNakAtTheEndDropsTheQueue) {
  DelayedRnrQueue rq;
  rq.send({2000, 2001});
  const u64 start = rq.now;
  for (int timeouts = 0; rq.resp.reorder.waiting_rwqe && timeouts < 100; timeouts++) {
    EXPECT_TRUE(rq.respond().empty());
    rq.expire();
  }
  EXPECT_EQ(rq.now - start, DelayedRnrQueue::kRnrDelayNs);
  expect_nak(rq, SROCE_AETH_RNR_NAK | 12, 2000);
  EXPECT_EQ(rq.resp.reorder.count, 0u);
  EXPECT_FALSE(rq.timer_runs());
}

TEST(RnrDelay, ChecksForAReceiveAtDoublingIntervals) {
  DelayedRnrQueue rq;
  rq.send({2000});
  std::vector<u64> intervals;
  while (rq.resp.reorder.waiting_rwqe && intervals.size() < 100) {
    intervals.push_back(rq.resp.reorder.rwqe_poll_at_ns - rq.now);
    rq.expire();
  }
  EXPECT_EQ(intervals, (std::vector<u64>{20000, 40000, 80000, 60000})) << "the last ends the delay";
}

// Of the QPs of a shared receive queue, another one is always faster.
TEST(RnrDelay, LostRaceForAReceiveIsNoNewDelay) {
  DelayedRnrQueue rq;
  rq.send({2000, 2001});
  const u64 start = rq.now;
  for (int races = 0; rq.resp.reorder.waiting_rwqe && races < 100; races++) {
    rq.rwqe_posted();
    EXPECT_TRUE(rq.resp.reorder.waiting_rwqe);
    EXPECT_LE(rq.resp.reorder.rwqe_poll_at_ns, rq.now + 20000) << "it checks often again";
    rq.expire();
  }
  EXPECT_EQ(rq.now - start, DelayedRnrQueue::kRnrDelayNs);
  expect_nak(rq, SROCE_AETH_RNR_NAK | 12, 2000);
}

TEST(RnrDelay, NextSendHasADelayOfItsOwn) {
  DelayedRnrQueue rq;
  rq.send({2000, 2001});
  rq.now += DelayedRnrQueue::kRnrDelayNs / 2;
  rq.post(100);
  rq.rwqe_posted();
  EXPECT_EQ(rq.completions.size(), 1u);
  EXPECT_TRUE(rq.resp.reorder.waiting_rwqe);
  EXPECT_EQ(rq.resp.reorder.rnr_nak_at_ns, rq.now + DelayedRnrQueue::kRnrDelayNs);
}

TEST(RnrDelay, SendAfterAnRnrNakIsNotDelayedAgain) {
  DelayedRnrQueue rq;
  rq.send({2000});
  while (rq.resp.reorder.waiting_rwqe) rq.expire();
  rq.respond();
  EXPECT_EQ(rq.receive(send_only(2000, 10)).verdict, SROCE_RECV_RNR);
}

TEST(RnrDelay, PacketsBehindTheSendAreNoGap) {
  DelayedRnrQueue standard, selective_peer(true);
  for (DelayedRnrQueue* rq : {&standard, &selective_peer}) {
    for (u32 psn = 2000; psn < 2040; psn++) rq->send({psn});
    EXPECT_TRUE(rq->respond().empty());
    EXPECT_EQ(rq->resp.reorder.nak_at_ns, SROCE_NEVER);
    EXPECT_EQ(rq->resp.reorder.reo_wnd_ns, 0u);
    rq->post(100);
    rq->now += 100000;
    rq->rwqe_posted();
    EXPECT_EQ(rq->resp.reorder.reo_wnd_ns, 0u);
  }
}

TEST(RnrDelay, GapBehindTheSendIsReportedLater) {
  DelayedRnrQueue rq;
  rq.send({2000, 2002});
  rq.post(100);
  rq.rwqe_posted();
  EXPECT_EQ(rq.resp.epsn, 2001u);
  rq.respond();
  rq.expire();
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2001);
}

TEST(RnrDelay, DuplicateIsRecognizedOrExecuted) {
  DelayedRnrQueue rq;
  rq.send({2000});
  EXPECT_TRUE(rq.receive(send_only(2000, 10)).queued);
  rq.post(100);
  EXPECT_EQ(rq.receive(send_only(2000, 10)).verdict, SROCE_RECV_PLACE);
  EXPECT_EQ(rq.resp.reorder.count, 0u);
  EXPECT_FALSE(rq.resp.reorder.waiting_rwqe);
}

TEST(RnrDelay, SendGetsAnRnrNakWithoutMemory) {
  DelayedRnrQueue rq;
  sroce_recv_result result{};
  result.status = SROCE_MEM_BAD_LOCAL;
  rq.receive(send_only(2000, 10), result);
  expect_nak(rq, SROCE_AETH_RNR_NAK | 12, 2000);
}

TEST(RnrDelay, ErrorStateDropsTheQueue) {
  DelayedRnrQueue rq;
  rq.send({2000, 2001});
  sroce_responder_set_state(&rq.resp, SROCE_RQ_ERROR);
  EXPECT_EQ(rq.resp.reorder.count, 0u);
  EXPECT_FALSE(rq.timer_runs());
}

// The RNR NAK may be lost. The peer then believes that it need not send these packets again.
TEST(RnrDelay, DroppedPacketsAreReportedAsMissing) {
  DelayedRnrQueue rq(true);
  rq.post(100);
  rq.send({2000, 2001, 2002, 2003, 2004});
  EXPECT_EQ(sacked(rq, only_response(rq)), Psns{}) << "they wait for a receive";
  for (int i = 0; rq.resp.reorder.waiting_rwqe && i < 100; i++) rq.expire();
  expect_nak(rq, SROCE_AETH_RNR_NAK | 12, 2001);
  for (int i = 0; i < 4; i++) rq.post(100);
  for (u32 psn = 2001; psn < 2004; psn++) {
    rq.send({psn});
    const sroce_response_plan plan = only_response(rq);
    EXPECT_EQ(plan.kind, SROCE_RESPONSE_SACK) << psn;
    EXPECT_EQ(plan.first_psn, psn);
    EXPECT_EQ(plan.payload_bytes, 8u);
    EXPECT_EQ(sacked(rq, plan), Psns{});
  }
  rq.send({2004});
  EXPECT_EQ(only_response(rq).kind, SROCE_RESPONSE_ACK) << "all have come again";
}

TEST(RnrDelay, DroppedPacketsAreReportedWithThoseQueuedSince) {
  DelayedRnrQueue rq(true);
  rq.post(100);
  rq.send({2000, 2001, 2002, 2003, 2004});
  rq.respond();
  for (int i = 0; rq.resp.reorder.waiting_rwqe && i < 100; i++) rq.expire();
  rq.respond();
  for (int i = 0; i < 4; i++) rq.post(100);
  rq.send({2001, 2003});
  EXPECT_EQ(sacked(rq, only_response(rq)), Psns{2003});
  rq.send({2002});
  EXPECT_EQ(rq.resp.epsn, 2004u);
  EXPECT_EQ(only_response(rq).payload_bytes, 8u) << "none is queued, and one is missing";
}

// Each of two NAKs may be lost.
TEST(RnrDelay, PacketsDroppedEarlierAreStillReportedAsMissing) {
  DelayedRnrQueue rq(true);
  rq.post(100);
  rq.send({2000, 2001, 2002, 2003, 2004});
  for (u32 psn = 2001; psn < 2003; psn++) {
    for (int i = 0; rq.resp.reorder.waiting_rwqe && i < 100; i++) rq.expire();
    rq.respond();
    rq.post(100);
    rq.send({psn});
    EXPECT_EQ(only_response(rq).kind, SROCE_RESPONSE_SACK) << psn;
    rq.send({psn + 1});
  }
}

// It has nothing to tell that could not wait.
TEST(RnrDelay, SackWithoutABitWaitsForTheResponsesBeforeIt) {
  DelayedRnrQueue rq(true);
  rq.post(100);
  rq.send({2000, 2001, 2002, 2003, 2004});
  for (int i = 0; rq.resp.reorder.waiting_rwqe && i < 100; i++) rq.expire();
  rq.respond();
  rq.receive(selective(read_request(2001, 0x10000, 16)));
  rq.receive(selective(write_only(2002, 0x10000, 16)));
  const auto first = rq.next_response();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->kind, SROCE_RESPONSE_READ);
  rq.sent(*first);
  EXPECT_EQ(only_response(rq).kind, SROCE_RESPONSE_SACK);
}

TEST(RnrDelay, SackWithoutABitDoesNotOvertakeTheNak) {
  DelayedRnrQueue rq(true);
  rq.post(100);
  rq.send({2000, 2001, 2002});
  for (int i = 0; rq.resp.reorder.waiting_rwqe && i < 100; i++) rq.expire();
  rq.send({2000});
  EXPECT_EQ(rq.next_response()->syndrome, SROCE_AETH_RNR_NAK | 12);
}

// No peer was told that they are queued.
TEST(RnrDelay, StandardPeerGetsAcksAfterAnRnrNak) {
  DelayedRnrQueue rq;
  rq.send({2000, 2001});
  for (int i = 0; rq.resp.reorder.waiting_rwqe && i < 100; i++) rq.expire();
  rq.respond();
  rq.post(100);
  rq.send({2000});
  EXPECT_EQ(only_response(rq).kind, SROCE_RESPONSE_ACK);
}

}  // namespace
