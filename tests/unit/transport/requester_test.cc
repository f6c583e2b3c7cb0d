// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Order, local work, completions, draining, the timer. requester_plan_test.cc covers the packets.
#include <gtest/gtest.h>

#include "send_queue.h"

namespace {

using namespace sroce_test;

// ---------------------------------------------------------------- order: fences and limits

TEST(RequesterFence, WaitsForEarlierReads) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.post(send_of(10).fenced());
  EXPECT_EQ(sq.send_all().size(), 1u);
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(RequesterFence, WaitsForEarlierAtomics) {
  SendQueue sq;
  sq.post(fetch_add(1));
  sq.post(write_of(10).fenced());
  EXPECT_EQ(sq.send_all().size(), 1u);
  sq.receive(atomic_ack(1000, 0));
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(RequesterFence, DoesNotWaitForSendsAndWrites) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(write_of(10).fenced());
  EXPECT_EQ(sq.send_all().size(), 2u);
}

TEST(RequesterFence, UnfencedSendOvertakesARead) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.post(send_of(10));
  EXPECT_EQ(sq.send_all().size(), 2u);
}

TEST(RequesterFence, DelaysLocalOperations) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.post(local_invalidate().fenced());
  sq.send();
  EXPECT_EQ(sq.plan().action, SROCE_SEND_NOTHING);
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
  EXPECT_EQ(sq.plan().action, SROCE_SEND_LOCAL);
}

TEST(RequesterFence, AppliesAgainAfterARewind) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.post(send_of(10).fenced());
  sq.send_all();
  sq.expire();
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].opcode, SROCE_OP_READ_REQUEST);
}

TEST(RequesterRdAtomic, LimitAppliesToReadsAndAtomicsTogether) {
  SendQueue sq({.max_rd_atomic = 2});
  sq.post(read_of(10));
  sq.post(fetch_add(1));
  sq.post(read_of(10));
  EXPECT_EQ(sq.send_all().size(), 2u);
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(RequesterRdAtomic, PartlyReceivedReadIsStillOutstanding) {
  SendQueue sq({.max_rd_atomic = 1});
  sq.post(read_of(2048));
  sq.post(read_of(10));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024));
  EXPECT_TRUE(sq.send_all().empty());
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_LAST, 1001, 1024));
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(RequesterRdAtomic, RetryRestartsAtOneAndGrowsWithCompletions) {
  SendQueue sq;
  for (int i = 0; i < 8; i++) sq.post(read_of(10));
  EXPECT_EQ(sq.send_all().size(), 4u);
  sq.expire();
  EXPECT_EQ(sq.send_all().size(), 1u);
  u32 psn = 1000;
  for (const size_t expected : {2u, 3u, 1u}) {
    sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, psn++, 10));
    EXPECT_EQ(sq.send_all().size(), expected) << "after " << psn;
  }
}

TEST(RequesterRdAtomic, LimitOfZeroFailsInsteadOfWaiting) {
  SendQueue sq({.max_rd_atomic = 0});
  sq.post(read_of(10));
  sq.send_all();
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->status, SROCE_WC_LOC_QP_OP_ERR);
}

// ---------------------------------------------------------------- local operations, rejected work

TEST(RequesterLocal, IsExecutedInItsTurnAndSendsNothing) {
  SendQueue sq;
  sq.post(local_invalidate());
  const sroce_send_plan plan = sq.send();
  EXPECT_EQ(plan.action, SROCE_SEND_LOCAL);
  EXPECT_EQ(plan.packet_count, 0u);
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->opcode, SROCE_WC_LOCAL_INV);
  EXPECT_EQ(wc->status, SROCE_WC_SUCCESS);
}

TEST(RequesterLocal, CompletesBehindEarlierMessages) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(local_invalidate());
  sq.send_all();
  EXPECT_FALSE(sq.completion());
  sq.receive(ack(1000));
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].wr_id, 0u);
  EXPECT_EQ(all[1].wr_id, 1u);
}

TEST(RequesterLocal, ConsumesNoPsn) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(local_invalidate());
  sq.post(send_of(10));
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[1].psn, 1001u);
}

TEST(RequesterLocal, IsNotRepeatedByARetransmission) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(local_invalidate());
  sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  for (sroce_send_plan plan = sq.send(); plan.action != SROCE_SEND_NOTHING; plan = sq.send())
    EXPECT_EQ(plan.action, SROCE_SEND_PACKETS);
  sq.receive(ack(1001));
  EXPECT_EQ(sq.completions().size(), 3u);
}

TEST(RequesterLocal, FailureEndsTheQueueInItsTurn) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(local_invalidate());
  sq.send();
  sq.commit(sq.plan(), SROCE_WC_LOC_PROT_ERR);
  EXPECT_FALSE(sq.failed());
  sq.receive(ack(1000));
  sq.send();
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].status, SROCE_WC_SUCCESS);
  EXPECT_EQ(all[1].status, SROCE_WC_LOC_PROT_ERR);
}

TEST(RequesterRejected, FailsInItsTurn) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(send_of(10).rejected(SROCE_WC_LOC_LEN_ERR));
  sq.post(send_of(10));
  EXPECT_EQ(sq.send_all().size(), 1u);
  EXPECT_FALSE(sq.completion());
  sq.receive(ack(1000));
  EXPECT_EQ(sq.send().action, SROCE_SEND_FAIL);
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].status, SROCE_WC_SUCCESS);
  EXPECT_EQ(all[1].status, SROCE_WC_LOC_LEN_ERR);
  EXPECT_EQ(all[2].status, SROCE_WC_WR_FLUSH_ERR);
}

TEST(RequesterRejected, SendsNothing) {
  SendQueue sq;
  sq.post(send_of(10).rejected(SROCE_WC_LOC_QP_OP_ERR));
  const sroce_send_plan plan = sq.plan();
  EXPECT_EQ(plan.action, SROCE_SEND_FAIL);
  EXPECT_EQ(plan.packet_count, 0u);
}

TEST(RequesterCommit, BadLocalKeyFailsTheRequestAndFlushesTheRest) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(send_of(10));
  sq.commit(sq.plan(), SROCE_WC_LOC_PROT_ERR);
  EXPECT_EQ(sq.send().action, SROCE_SEND_FAIL);
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].status, SROCE_WC_LOC_PROT_ERR);
  EXPECT_EQ(all[1].status, SROCE_WC_WR_FLUSH_ERR);
}

// ---------------------------------------------------------------- completions

TEST(RequesterCompletion, FollowsThePostingOrder) {
  SendQueue sq;
  for (int i = 0; i < 4; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1003));
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 4u);
  for (u32 i = 0; i < 4; i++) EXPECT_EQ(all[i].wr_id, i);
}

TEST(RequesterCompletion, UnsignaledSuccessIsSilentAndFreesItsSlot) {
  SendQueue sq({.slots = 4});
  for (int i = 0; i < 4; i++) sq.post(send_of(10).unsignaled());
  EXPECT_EQ(sroce_requester_room(&sq.req), 0u);
  sq.send_all();
  sq.receive(ack(1003));
  EXPECT_FALSE(sq.completion());
  EXPECT_EQ(sroce_requester_room(&sq.req), 4u);
}

TEST(RequesterCompletion, NamesOperationAndLength) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->opcode, SROCE_WC_READ);
  EXPECT_EQ(wc->byte_len, 10u);
}

TEST(RequesterCompletion, RingWrapsAround) {
  SendQueue sq({.slots = 4, .psn = 0xfffff0});
  u32 psn = 0xfffff0;
  for (u32 i = 0; i < 100; i++, psn = psn_add(psn, 1)) {
    sq.post(send_of(10));
    ASSERT_EQ(sq.send_all().size(), 1u);
    sq.receive(ack(psn));
    const auto wc = sq.completion();
    ASSERT_TRUE(wc);
    ASSERT_EQ(wc->wr_id, i);
  }
}

TEST(RequesterFlush, CompletesEverythingInOrder) {
  SendQueue sq;
  sq.post(send_of(10).unsignaled());
  sq.post(read_of(10));
  sq.post(local_invalidate());
  sq.send(1);
  sroce_requester_set_state(&sq.req, SROCE_SQ_ERROR);
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 3u);
  for (u32 i = 0; i < 3; i++) {
    EXPECT_EQ(all[i].wr_id, i);
    EXPECT_EQ(all[i].status, SROCE_WC_WR_FLUSH_ERR);
  }
}

TEST(RequesterFlush, AcknowledgedWorkStillSucceeds) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1000));
  sroce_requester_set_state(&sq.req, SROCE_SQ_ERROR);
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].status, SROCE_WC_SUCCESS);
  EXPECT_EQ(all[1].status, SROCE_WC_WR_FLUSH_ERR);
}

TEST(RequesterFlush, WorkPostedInErrorIsFlushedToo) {
  SendQueue sq;
  sroce_requester_set_state(&sq.req, SROCE_SQ_ERROR);
  sq.post(send_of(10));
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->status, SROCE_WC_WR_FLUSH_ERR);
}

TEST(RequesterFlush, StopsTheTimer) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.send_all();
  sroce_requester_set_state(&sq.req, SROCE_SQ_ERROR);
  EXPECT_FALSE(sq.timer_runs());
}

TEST(RequesterReset, ClearsTheStateAndKeepsTheStorage) {
  SendQueue sq({.slots = 4});
  sq.post(send_of(10));
  sq.send_all();
  sroce_requester_reset(&sq.req);
  EXPECT_FALSE(sq.completion());
  EXPECT_EQ(sroce_requester_room(&sq.req), 4u);
  EXPECT_FALSE(sq.timer_runs());
  EXPECT_EQ(sq.req.state, SROCE_SQ_IDLE);
}

// ---------------------------------------------------------------- draining

TEST(RequesterDrain, IdleQueueIsDrainedAtOnce) {
  SendQueue sq;
  EXPECT_FALSE(sroce_requester_is_drained(&sq.req)) << "only a draining queue is drained";
  sroce_requester_set_state(&sq.req, SROCE_SQ_DRAINING);
  EXPECT_TRUE(sroce_requester_is_drained(&sq.req));
}

TEST(RequesterDrain, CurrentMessageIsFinishedAndNoneBegun) {
  SendQueue sq;
  sq.post(send_of(4 * 1024));
  sq.post(send_of(10));
  sq.send(2);
  sroce_requester_set_state(&sq.req, SROCE_SQ_DRAINING);
  EXPECT_FALSE(sroce_requester_is_drained(&sq.req));
  const auto packets = sq.send_all();
  ASSERT_FALSE(packets.empty());
  EXPECT_EQ(packets.back().opcode, SROCE_OP_SEND_LAST);
  EXPECT_FALSE(sroce_requester_is_drained(&sq.req));
  sq.receive(ack(1003));
  EXPECT_TRUE(sroce_requester_is_drained(&sq.req));
}

TEST(RequesterDrain, LastPacketIsSentAgainWithAckReq) {
  SendQueue sq;
  sq.post(send_of(10).unsignaled());
  sq.post(send_of(10).unsignaled());
  ASSERT_FALSE(sq.send().ack_req);
  sroce_requester_set_state(&sq.req, SROCE_SQ_DRAINING);
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].psn, 1000u);
  EXPECT_TRUE(packets[0].ack_req);
  sq.receive(ack(1000));
  EXPECT_TRUE(sroce_requester_is_drained(&sq.req));
}

TEST(RequesterDrain, LostPacketsAreStillRetransmitted) {
  SendQueue sq;
  sq.post(send_of(3000));
  sq.send_all();
  sroce_requester_set_state(&sq.req, SROCE_SQ_DRAINING);
  sq.expire();
  EXPECT_EQ(sq.send_all().size(), 3u);
}

TEST(RequesterDrain, WaitsForOutstandingReads) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.send_all();
  sroce_requester_set_state(&sq.req, SROCE_SQ_DRAINING);
  EXPECT_FALSE(sroce_requester_is_drained(&sq.req));
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 10));
  EXPECT_TRUE(sroce_requester_is_drained(&sq.req));
}

TEST(RequesterDrain, LocalOperationsWaitToo) {
  SendQueue sq;
  sroce_requester_set_state(&sq.req, SROCE_SQ_DRAINING);
  sq.post(local_invalidate());
  EXPECT_EQ(sq.plan().action, SROCE_SEND_NOTHING);
  EXPECT_TRUE(sroce_requester_is_drained(&sq.req));
}

TEST(RequesterDrain, InvalidRequestFailsOnlyWhenReady) {
  SendQueue sq;
  sroce_requester_set_state(&sq.req, SROCE_SQ_DRAINING);
  sq.post(send_of(10).rejected(SROCE_WC_LOC_LEN_ERR));
  EXPECT_EQ(sq.plan().action, SROCE_SEND_NOTHING);
  EXPECT_TRUE(sroce_requester_is_drained(&sq.req));
  sroce_requester_set_state(&sq.req, SROCE_SQ_READY);
  EXPECT_EQ(sq.plan().action, SROCE_SEND_FAIL);
}

TEST(RequesterDrain, SendsAgainWhenReady) {
  SendQueue sq;
  sroce_requester_set_state(&sq.req, SROCE_SQ_DRAINING);
  sq.post(send_of(10));
  EXPECT_TRUE(sq.send_all().empty());
  sroce_requester_set_state(&sq.req, SROCE_SQ_READY);
  EXPECT_EQ(sq.send_all().size(), 1u);
}

// ---------------------------------------------------------------- the ACK timer

TEST(RequesterTimeout, TimerStartsWithTheFirstPacket) {
  SendQueue sq;
  EXPECT_FALSE(sq.timer_runs());
  sq.post(send_of(10));
  EXPECT_FALSE(sq.timer_runs());
  sq.send_all();
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + 100 * kMillisecond);
}

TEST(RequesterTimeout, FurtherPacketsDoNotPostponeIt) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(send_of(10));
  sq.send();
  const u64 deadline = sroce_requester_deadline(&sq.req);
  sq.now += kMillisecond;
  sq.send();
  EXPECT_EQ(sroce_requester_deadline(&sq.req), deadline);
}

TEST(RequesterTimeout, ProgressRestartsIt) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.now += 10 * kMillisecond;
  sq.receive(ack(1000));
  EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + 100 * kMillisecond);
}

TEST(RequesterTimeout, LastAcknowledgementStopsIt) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1000));
  EXPECT_FALSE(sq.timer_runs());
}

TEST(RequesterTimeout, TimeoutOfZeroNeverExpires) {
  SendQueue sq({.ack_timeout_ns = 0});
  sq.post(send_of(10));
  sq.send_all();
  EXPECT_FALSE(sq.timer_runs());
}

TEST(RequesterTimeout, EarlyTimerCallDoesNothing) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.send_all();
  sroce_requester_timeout(&sq.req, sroce_requester_deadline(&sq.req) - 1);
  EXPECT_TRUE(sq.send_all().empty());
  EXPECT_EQ(sq.req.timeouts, 0u);
}

TEST(RequesterTimeout, RetransmitsFromTheOldestUnackedPacket) {
  SendQueue sq;
  sq.post(send_of(5 * 1024));
  sq.send_all();
  sq.receive(ack(1001));
  sq.expire();
  const sroce_send_plan plan = sq.plan();
  EXPECT_EQ(plan.first_psn, 1002u);
  EXPECT_EQ(plan.offset, 2048u);
  EXPECT_TRUE(plan.retransmit);
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 3u);
  EXPECT_EQ(packets[0].opcode, SROCE_OP_SEND_MIDDLE);
  EXPECT_EQ(packets[2].opcode, SROCE_OP_SEND_LAST);
  EXPECT_EQ(sq.req.retransmits, 3u);
  EXPECT_EQ(sq.req.timeouts, 1u);
}

TEST(RequesterTimeout, OnlyRepeatedPacketsCountAsRetransmitted) {
  SendQueue sq;
  sq.post(send_of(10 * 1024));
  sq.send(4);
  sq.expire();
  sq.send_all();
  EXPECT_EQ(sq.req.retransmits, 4u);
}

TEST(RequesterTimeout, ReadIsRequestedAgainFromTheMiddle) {
  SendQueue sq;
  sq.post(read_of(4 * 1024));
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024));
  sq.expire();
  const sroce_send_plan plan = sq.plan();
  const sroce_packet pkt = sq.packet(plan, 0);
  EXPECT_EQ(pkt.opcode, SROCE_OP_READ_REQUEST);
  EXPECT_EQ(pkt.psn, 1001u);
  EXPECT_EQ(pkt.va, 0x10000u + 1024);
  EXPECT_EQ(pkt.dma_length, 3u * 1024);
}

TEST(RequesterTimeout, RetryCountIsTheNumberOfRetransmissions) {
  for (u8 retry_cnt : {0, 1, 7}) {
    SendQueue sq({.retry_cnt = retry_cnt});
    sq.post(send_of(10));
    sq.send_all();
    for (u8 i = 0; i < retry_cnt; i++) {
      sq.expire();
      ASSERT_FALSE(sq.failed()) << "retry " << int{i} << " of " << int{retry_cnt};
      ASSERT_EQ(sq.send_all().size(), 1u);
    }
    sq.expire();
    const auto wc = sq.completion();
    ASSERT_TRUE(wc);
    EXPECT_EQ(wc->status, SROCE_WC_RETRY_EXC_ERR);
  }
}

TEST(RequesterTimeout, DoublesWithEachExpiryUpToFourTimes) {
  SendQueue sq;
  sq.post(send_of(10));
  for (const u64 times : {1u, 2u, 4u, 4u}) {
    sq.send_all();
    EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + times * 100 * kMillisecond);
    sq.expire();
  }
}

// Otherwise a path a little longer than twice the timeout would never have an RTT sample.
TEST(RequesterTimeout, ProgressWithoutARoundTripDoesNotEndTheBackoff) {
  SendQueue sq;
  u32 psn = 1000;
  for (const u64 times : {1u, 2u, 4u, 4u}) {
    sq.post(send_of(10));
    sq.send_all();
    EXPECT_EQ(sroce_requester_deadline(&sq.req), sq.now + times * 100 * kMillisecond);
    sq.expire();
    sq.send_all();
    sq.receive(ack(psn++));
  }
}

TEST(RequesterTimeout, ShrinksTheWindowUntilAPacketThatWasNotRepeatedIsAcknowledged) {
  SendQueue sq({.window_packets = 256});
  sq.post(send_of(1024 * 1024));
  EXPECT_EQ(sq.send_all().size(), 256u);
  sq.expire();
  const auto again = sq.send_all();
  EXPECT_EQ(again.size(), 16u);
  EXPECT_TRUE(again.back().ack_req);
  sq.receive(ack(1003));
  EXPECT_EQ(sq.send_all().size(), 4u) << "the ACK may be that of the first transmission";
  sq.receive(ack(1255));
  EXPECT_EQ(sq.send_all().size(), 16u);
  sq.receive(ack(1271));
  EXPECT_EQ(sq.send_all().size(), 16u) << "the first RTT sample";
  sq.receive(ack(1275));
  EXPECT_EQ(sq.send_all().size(), 8u) << "four acknowledged, and the window has grown by four";
}

// Better a first sample that is too long than none, because the peer may always be slow.
TEST(RequesterTimeout, FirstRoundTripIsMeasuredAlthoughThePacketWasRepeated) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  sq.send_all();
  sq.now += 20 * kMillisecond;
  sq.receive(ack(1000));
  EXPECT_EQ(sq.req.rtt.srtt_ns, 120 * kMillisecond);
}

// A round trip longer than the timeout may be due to a queue, unless every one is as long.
TEST(RequesterTimeout, WindowGrowsAtOnceIfPacketsCannotBeLate) {
  constexpr struct {
    u64 rtt_ms;
    size_t sent;
  } kCases[] = {{10, 8}, {60, 4}, {150, 8}};
  for (const auto& [rtt_ms, sent] : kCases) {
    SendQueue sq;
    sq.post(send_of(10));
    sq.send_all();
    sq.now += rtt_ms * kMillisecond;
    sq.receive(ack(1000));
    sq.post(send_of(64 * 1024));
    EXPECT_EQ(sq.send_all().size(), 64u);
    sq.expire();
    EXPECT_EQ(sq.send_all().size(), 16u);
    sq.receive(ack(1004));
    EXPECT_EQ(sq.send_all().size(), sent) << rtt_ms;
  }
}

// Then the RTT has upper bounds only.
TEST(RequesterTimeout, WindowGrowsAgainWhileAReadIsAlwaysInFlight) {
  SendQueue sq({.slots = 64, .window_packets = 8});
  sq.post(read_of(1024));
  sq.post(read_of(1024));
  for (int i = 0; i < 8; i++) sq.post(send_of(10));
  sq.post(read_of(1024));
  sq.send_all();
  sq.now += 60 * kMillisecond;
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 1024));
  sq.expire();
  EXPECT_EQ(sq.send_all().size(), 5u) << "the second READ and four SENDs";
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1001, 1024));
  sq.receive(ack(1009));
  for (int i = 0; i < 16; i++) sq.post(send_of(10));
  EXPECT_EQ(sq.send_all().size(), 5u) << "the third READ and four SENDs";
  sq.receive(ack(1014));
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1010, 1024));
  EXPECT_EQ(sq.send_all().size(), 8u);
}

TEST(RequesterTimeout, RunsOnlyWhileSomethingIsInFlight) {
  SendQueue sq;
  sq.post(send_of(10).unsignaled());
  sq.post(send_of(10).unsignaled());
  ASSERT_FALSE(sq.send().ack_req);
  sq.commit(sq.plan(), SROCE_WC_LOC_PROT_ERR);
  EXPECT_EQ(sq.timer_runs(), sq.req.next_psn != sq.req.unacked_psn);
}

TEST(RequesterTimeout, ProgressRefillsTheRetryCount) {
  SendQueue sq({.retry_cnt = 1});
  sq.post(send_of(10));
  sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  sq.send_all();
  sq.receive(ack(1000));
  sq.expire();
  EXPECT_FALSE(sq.failed());
}

TEST(RequesterTimeout, ExhaustedRetriesFlushTheRest) {
  SendQueue sq({.retry_cnt = 0});
  sq.post(send_of(10).unsignaled());
  sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  const auto all = sq.completions();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].status, SROCE_WC_RETRY_EXC_ERR);
  EXPECT_EQ(all[1].status, SROCE_WC_WR_FLUSH_ERR);
}

TEST(RequesterTimeout, NothingIsSentAfterTheRetriesAreExhausted) {
  SendQueue sq({.retry_cnt = 0});
  sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  EXPECT_EQ(sq.plan().action, SROCE_SEND_NOTHING);
  EXPECT_FALSE(sq.timer_runs());
}

// ---------------------------------------------------------------- the PSN circle

TEST(RequesterPsnWrap, MessageCrossesIt) {
  SendQueue sq({.psn = 0xfffffe});
  sq.post(send_of(4 * 1024));
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 4u);
  EXPECT_EQ(packets[1].psn, 0xffffffu);
  EXPECT_EQ(packets[2].psn, 0u);
  sq.receive(ack(1));
  EXPECT_EQ(sq.completions().size(), 1u);
}

TEST(RequesterPsnWrap, RetransmissionCrossesIt) {
  SendQueue sq({.psn = 0xfffffe});
  sq.post(send_of(4 * 1024));
  sq.send_all();
  sq.receive(ack(0xfffffe));
  sq.expire();
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 3u);
  EXPECT_EQ(packets[0].psn, 0xffffffu);
  EXPECT_EQ(packets[2].psn, 1u);
}

TEST(RequesterPsnWrap, OnlyTwentyFourBitsOfTheFirstPsnCount) {
  SendQueue sq({.psn = 0xff000005});
  sq.post(send_of(1));
  EXPECT_EQ(sq.send_all()[0].psn, 5u);
}

TEST(RequesterPsnWrap, MoreThanACircleMayBePosted) {
  SendQueue sq({.slots = 16, .mtu_bytes = 256, .window_packets = SROCE_PSN_SPAN});
  for (int i = 0; i < 8; i++) sq.post(write_of(1u << 31));
  u32 psn = 1000;
  for (int i = 0; i < 8; i++) {
    ASSERT_EQ(sq.send().packet_count, SROCE_PSN_SPAN);
    psn = psn_add(psn, SROCE_PSN_SPAN);
    sq.receive(ack(psn_add(psn, SROCE_PSN_MASK)));
    ASSERT_EQ(sq.completions().size(), 1u);
  }
}

// ---------------------------------------------------------------- datagrams

TEST(RequesterDatagram, CompletesWhenItIsSent) {
  SendQueue sq({.service = SROCE_SERVICE_UD});
  sq.post(send_of(256));
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].opcode, SROCE_OP_UD_SEND_ONLY);
  EXPECT_EQ(packets[0].payload_bytes, 256u);
  const auto wc = sq.completion();
  ASSERT_TRUE(wc);
  EXPECT_EQ(wc->status, SROCE_WC_SUCCESS);
  EXPECT_FALSE(sq.timer_runs());
  EXPECT_TRUE(sroce_requester_is_idle(&sq.req)) << "nothing can be lost";
}

TEST(RequesterDatagram, TakesItsAddressFromTheRequest) {
  SendQueue sq({.service = SROCE_SERVICE_UD});
  Work work = send_of(10).as(SROCE_WR_SEND_IMM);
  work.imm = 0x04030201;
  sq.post(work);
  const sroce_packet pkt = sq.send_all()[0];
  EXPECT_EQ(pkt.opcode, SROCE_OP_UD_SEND_ONLY_IMM);
  EXPECT_EQ(pkt.dest_qpn, 0x99u);
  EXPECT_EQ(pkt.qkey, 0x1234u);
  EXPECT_EQ(pkt.src_qpn, 17u);
  EXPECT_EQ(pkt.imm, work.imm);
  EXPECT_FALSE(pkt.ack_req);
}

TEST(RequesterDatagram, OffersNoSelectiveRepeat) {
  SendQueue sq({.service = SROCE_SERVICE_UD, .selective = true});
  sq.post(send_of(10));
  EXPECT_FALSE(sq.send_all()[0].selective);
}

TEST(RequesterDatagram, WindowNeverFills) {
  SendQueue sq({.service = SROCE_SERVICE_UD, .window_packets = 2});
  for (int i = 0; i < 10; i++) sq.post(send_of(1));
  EXPECT_EQ(sq.send_all().size(), 10u);
  EXPECT_EQ(sq.completions().size(), 10u);
}

// ---------------------------------------------------------------- queries of the datapath

// SQE to RTS: the PSNs of flushed requests are skipped.
TEST(RequesterDatagram, IsSentWithItsOwnPsnAfterAnError) {
  SendQueue sq({.service = SROCE_SERVICE_UD});
  sq.post(send_of(10).rejected(SROCE_WC_LOC_QP_OP_ERR));
  sq.post(send_of(10));
  sq.send_all();
  EXPECT_TRUE(sq.failed());
  EXPECT_EQ(sq.completions().size(), 2u);
  sroce_requester_set_state(&sq.req, SROCE_SQ_READY);
  const u32 index = sq.post(send_of(10));
  const std::vector<sroce_packet> sent = sq.send_all();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].psn, sroce_requester_wqe(&sq.req, index)->first_psn);
  EXPECT_EQ(sq.req.next_psn, sq.req.post_psn);
  EXPECT_EQ(sq.completions().size(), 1u);
}

TEST(RequesterQueries, ReportSlotsAndWorkRequests) {
  SendQueue sq({.slots = 8, .window_packets = 2});
  for (int i = 0; i < 3; i++) sq.post(send_of(10));
  sq.send_all();
  EXPECT_EQ(sroce_requester_slots(&sq.req), 8u);
  EXPECT_EQ(sroce_requester_used(&sq.req), 3u);
  EXPECT_EQ(sroce_requester_unsent(&sq.req), 1u);
  EXPECT_TRUE(sroce_requester_has_unacked(&sq.req));
  sq.receive(ack(1001));
  sq.completions();
  EXPECT_EQ(sroce_requester_retired(&sq.req), 2u);
  EXPECT_FALSE(sroce_requester_has_unacked(&sq.req));
}

TEST(RequesterQueries, ReportStatisticsAfterATimeout) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  EXPECT_TRUE(sroce_requester_is_rewound(&sq.req));
  sroce_requester_stats stats;
  sroce_requester_get_stats(&sq.req, &stats);
  EXPECT_EQ(stats.inflight_psns, 1u) << "it is not acknowledged yet";
  sq.send_all();
  EXPECT_FALSE(sroce_requester_is_rewound(&sq.req));
  sroce_requester_get_stats(&sq.req, &stats);
  EXPECT_EQ(stats.timeouts, 1u);
  EXPECT_EQ(stats.probes, 0u);
  EXPECT_EQ(stats.retransmits, 1u);
  EXPECT_EQ(stats.inflight_psns, 1u);
}

}  // namespace
