// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Rounds of a send queue: kernel/datapath/sq_work.c. The packets go to stand_in/tx.c.
#include <gtest/gtest.h>

#include "unit/kernel/send_ring.h"

extern "C" {
#include "datapath/av.h"
#include "transport/completer.h"
#include "transport/requester_internal.h"
}

namespace {

constexpr u64 START_NS = 1'000'000, TIMEOUT_NS = 100'000'000;

struct Send : testing::Test, SendRing {
  explicit Send(sroce_service service = SROCE_SERVICE_RC) : SendRing(service) {
    use_native();
    qp.db.supported = false;
    key = add_region(blocks, IOVA, 2 * 4096);
    qp.req.attr.ack_timeout_ns = TIMEOUT_NS;
    qp.req.attr.retry_cnt = 2;
    qp.req.retry_left = 2;
    ref.qp = &qp;
    qp.ref = &ref;
    refcount_set(&ref.users, 2);
    stand_in.now_ns = START_NS;
    stand_in_datapath.schedule = 64;
  }
  ~Send() override { __skb_queue_purge(&qp.sq.out); }

  sroce_send_slot& write(u32 bytes = 100, u8 opcode = SROCE_WR_WRITE) {
    sroce_send_slot& slot = native_slot(posted);
    slot = {};
    slot.wr_id = 77 + posted;
    slot.opcode = opcode;
    slot.flags = SROCE_SEND_SIGNALED;
    slot.num_sge = 1;
    slot.length = bytes;
    elements_of(slot)[0] = {IOVA, bytes, key};
    post(1);
    return slot;
  }
  u64 work(u32 budget = SROCE_WQ_BUDGET) {
    left = budget;
    packets = stand_in_datapath.packets;
    const u64 deadline = sroce_sq_work(&qp, &left);
    packets = stand_in_datapath.packets - packets;
    return deadline;
  }
  void acknowledge(u32 psn) {
    sroce_packet pkt = packet_of(SROCE_OP_ACK, psn);
    sroce_ack_plan plan;
    sroce_completer_plan(&qp.req, &pkt, &plan);
    ASSERT_EQ(SROCE_ACK_ACCEPT, plan.action);
    sroce_completer_commit(&qp.req, &plan, SROCE_MEM_OK, stand_in.now_ns);
  }
  // An RNR NAK, with endless retries.
  void receive_rnr_nak(u32 psn) {
    sroce_packet pkt = packet_of(SROCE_OP_ACK, psn);
    pkt.syndrome = SROCE_AETH_RNR_NAK | 1;
    qp.req.attr.rnr_retry = qp.req.rnr_retry_left = 7;
    sroce_ack_plan plan;
    sroce_completer_plan(&qp.req, &pkt, &plan);
    sroce_completer_commit(&qp.req, &plan, SROCE_MEM_OK, stand_in.now_ns);
    ASSERT_TRUE(sroce_requester_waits_rnr(&qp.req));
  }
  void fire_timeout() { stand_in.now_ns += TIMEOUT_NS; }
  // Packets that the stack holds, of those that the queue has handed over.
  void set_in_stack(u32 queued, u32 sent) {
    qp.sq.sent = sent;
    ref.tsq[SROCE_SQ].queued.counter = queued;
  }

  Blocks blocks{2, 4096};
  sroce_qp_ref ref = {};
  u32 key;
  u32 left = 0;
  u32 packets = 0;
  u32 entries_seen = 0;
};

TEST_F(Send, FreedSlotIsFilledInTheSameRound) {
  for (u32 i = 0; i < 5; i++) write();
  work();
  ASSERT_EQ(4u, packets) << "there are four slots";
  acknowledge(0);
  work();
  EXPECT_EQ(1u, packets);
}

TEST_F(Send, RegionIsClosedAfterARound) {
  write();
  write();
  work();
  ASSERT_EQ(2u, packets);
  EXPECT_EQ(1u, regions[0]->refs.count);
}

TEST_F(Send, RequestBecomesPacketsAndACompletion) {
  blocks[99] = 0x5a;
  write();
  work();
  ASSERT_EQ(1u, packets);
  EXPECT_EQ(SROCE_OP_WRITE_ONLY, stand_in_datapath.packet.opcode);
  EXPECT_EQ(PEER_QPN, stand_in_datapath.packet.dest_qpn);
  EXPECT_EQ(100u, stand_in_datapath.packet.payload_bytes);
  EXPECT_EQ(0x5a, stand_in_datapath.payload[99]);
  EXPECT_EQ(u32{SROCE_WQ_BUDGET} - 1, left);
  EXPECT_TRUE(completions().empty());
  acknowledge(0);
  work();
  const auto all = completions();
  ASSERT_EQ(1u, all.size());
  EXPECT_EQ(77u, all[0].wr_id);
  EXPECT_EQ(0, all[0].status);
  EXPECT_EQ(1u, *qp.sq_ring.consumer);
}

// The process polls on another CPU and posts again at once, to a ring that was full.
TEST_F(Send, SlotIsFreeBeforeItsCompletionIsSeen) {
  write();
  write();
  write();
  work();
  acknowledge(1);
  cq.user_arms = true;  // so that the process runs after each entry
  stand_in.argument = this;
  stand_in.process = [](void* argument) {
    auto* test = static_cast<Send*>(argument);
    const u32 seen = *test->cq.ring.producer;
    test->entries_seen |= 1u << seen;
    for (const u32 freed : {*test->qp.sq_ring.consumer, test->qp.sq_retired}) {
      EXPECT_GE(freed, seen);
      EXPECT_LE(freed, 2u) << "the third request is not acknowledged";
    }
  };
  work();
  EXPECT_EQ(0b110u, entries_seen & 0b110) << "after the first entry, and after the second";
  stand_in.process = nullptr;
}

TEST_F(Send, UnsignaledRequestFreesItsSlot) {
  write().flags = 0;
  work();
  acknowledge(0);
  work();
  EXPECT_TRUE(completions().empty());
  EXPECT_EQ(1u, *qp.sq_ring.consumer);
}

struct SendMany : Send {
  static constexpr u32 MANY = 32;

  SendMany() : storage(MANY * STRIDE) {
    sroce_requester_set_storage(&qp.req, storage.data(), MANY);
    sroce_ring_fini(&qp.sq_ring);
    sroce_ring_fini(&cq.ring);
    EXPECT_EQ(0, sroce_ring_init_single(&qp.sq_ring, MANY, 128));
    EXPECT_EQ(0, sroce_ring_init_cq(&cq.ring, MANY, sizeof(ib_wc), false));
    qp.req.attr.window_packets = qp.req.window.packets = 1000;
  }

  std::vector<u8> storage;
};

// Also in a round that ends after its bytes.
TEST_F(SendMany, MoreCompletionsThanABatch) {
  qp.req.attr.mtu_bytes = 4096;
  for (u32 i = 0; i < 20; i++) write(100, SROCE_WR_SEND);
  work();
  acknowledge(19);
  Blocks many(32, 4096);
  const u32 many_key = add_region(many, 2 * IOVA, SROCE_ROUND_BYTES);
  elements_of(write(SROCE_ROUND_BYTES))[0] = {2 * IOVA, SROCE_ROUND_BYTES, many_key};
  work();
  EXPECT_TRUE(qp.sq.more);
  EXPECT_EQ(20u, completions().size());
  EXPECT_EQ(20u, count(SROCE_CTR_RDMA_SEND)) << "once for each";
}

TEST_F(SendMany, FlushesAreBoundByTheBudget) {
  for (u32 i = 0; i < 20; i++) write();
  work();
  sroce_requester_fail(&qp.req, 0, SROCE_WC_RETRY_EXC_ERR);
  work(5);
  EXPECT_EQ(0u, left);
  EXPECT_EQ(5u, completions().size());
  EXPECT_EQ(5u, *qp.sq_ring.consumer);
  work();
  EXPECT_EQ(15u, completions().size());
}

TEST_F(Send, MessageOfManyPackets) {
  for (u32 i = 0; i < 8; i++) blocks[1024 * i] = i + 1;
  write(8 * 1024);
  work();
  EXPECT_EQ(8u, packets);
  EXPECT_EQ(SROCE_OP_WRITE_LAST, stand_in_datapath.packet.opcode);
  EXPECT_EQ(7u, stand_in_datapath.packet.psn);
  EXPECT_EQ(8, stand_in_datapath.payload[0]) << "of the last packet";
  EXPECT_EQ(u32{SROCE_WQ_BUDGET} - 8, left);
}

TEST_F(Send, BudgetEndsTheRound) {
  write(8 * 1024);
  work(3);
  EXPECT_EQ(3u, packets);
  EXPECT_EQ(0u, left);
  work();
  EXPECT_EQ(5u, packets);
}

// Bursts are far longer than the region of the fixture.
struct SendBurst : Send {
  SendBurst() {
    stand_in_datapath.schedule = 1000;
    qp.req.attr.window_packets = qp.req.window.packets = 1000;
    many_key = add_region(many, 2 * IOVA, LENGTH);
    elements_of(write(LENGTH))[0] = {2 * IOVA, LENGTH, many_key};
  }

  static constexpr u32 LENGTH = 16 * 4096;
  Blocks many{16, 4096};
  u32 many_key;
};

TEST_F(SendBurst, PlanHasAtMostABurst) {
  qp.req.attr.mtu_bytes = 256;
  work();
  EXPECT_LE(128u, packets);
  EXPECT_EQ(64u, stand_in_datapath.largest_plan);
}

// Another CPU waits for the lock.
TEST_F(SendBurst, ContendedLockDividesABurst) {
  stand_in.contended = true;
  work(40);
  EXPECT_EQ(40u, packets) << "32 KiB, and the rest";
  EXPECT_EQ(39u, stand_in_datapath.packet.psn);
  EXPECT_EQ(2u, stand_in_datapath.relocks);
  EXPECT_EQ(0u, left);
}

// The packet that should have requested an ACK was not built, so the next one does.
TEST_F(SendBurst, DividedBurstHasRequestedNoAck) {
  stand_in.contended = true;
  qp.req.attr.window_packets = 128;  // an ACK for each 32
  work(33);
  EXPECT_EQ(32u, stand_in_datapath.packet.psn);
  EXPECT_TRUE(stand_in_datapath.packet.ack_req);
}

TEST_F(Send, InlineDataIsSent) {
  sroce_send_slot& slot = write(20);
  slot.flags |= SROCE_SEND_INLINE;
  memset(&slot + 1, 0x33, 20);
  work();
  ASSERT_EQ(1u, packets);
  EXPECT_EQ(0x33, stand_in_datapath.payload[19]);
}

TEST_F(Send, BufferWithoutAKeyFailsTheRequest) {
  elements_of(write())[0].lkey = key + 1;
  write();
  work();
  const auto all = completions();
  ASSERT_EQ(2u, all.size());
  EXPECT_EQ(SROCE_WC_LOC_PROT_ERR, all[0].status);
  EXPECT_EQ(u32{SROCE_VENDOR_KEY}, all[0].vendor_err);
  EXPECT_EQ(SROCE_WC_WR_FLUSH_ERR, all[1].status);
  EXPECT_EQ(1u, stand_in_datapath.rewinds) << "what was built does not leave";
  EXPECT_TRUE(qp.sq.failed);
}

TEST_F(Send, BufferBeyondItsRegionFailsTheRequest) {
  elements_of(write())[0].addr = IOVA + 2 * 4096 - 99;
  work();
  const auto all = completions();
  ASSERT_EQ(1u, all.size());
  EXPECT_EQ(u32{SROCE_VENDOR_RANGE}, all[0].vendor_err);
}

TEST_F(Send, WithoutMemoryTheQueueTriesAgain) {
  stand_in_datapath.tx_error = -ENOMEM;
  write();
  work();
  EXPECT_TRUE(qp.sq.retry);
  EXPECT_EQ(0u, sroce_requester_next_psn(&qp.req));
  stand_in_datapath.tx_error = 0;
  work();
  EXPECT_EQ(1u, packets);
  EXPECT_EQ(0u, stand_in_datapath.packet.psn);
}

TEST_F(Send, PacketWithoutARouteIsLost) {
  stand_in_datapath.tx_error = -EHOSTUNREACH;
  write();
  const u64 deadline = work();
  EXPECT_EQ(1u, sroce_requester_next_psn(&qp.req));
  EXPECT_FALSE(qp.sq.retry);
  EXPECT_NE(SROCE_NEVER, deadline);
}

TEST_F(Send, PacedQueueWaits) {
  stand_in_datapath.paced_ns = START_NS + 500;
  write();
  EXPECT_EQ(START_NS + 500, work());
  EXPECT_EQ(0u, packets);
  EXPECT_EQ(START_NS + 500, qp.sq.paced_until_ns);
  stand_in.now_ns += 500;
  work();
  EXPECT_EQ(1u, packets);
  EXPECT_EQ(0u, qp.sq.paced_until_ns);
}

TEST_F(Send, QueueWaitsForTheStack) {
  stand_in_datapath.throttled = true;
  write();
  work();
  EXPECT_EQ(0u, packets);
  EXPECT_EQ(SROCE_NEVER, sroce_requester_deadline(&qp.req));
}

// The stack may hold its packets for longer than all retries take.
TEST_F(Send, RetryDoesNotWaitForTheStack) {
  write();
  work();
  fire_timeout();
  stand_in_datapath.throttled = true;
  work();
  EXPECT_EQ(1u, packets);
}

TEST_F(Send, OtherContextGetsTheLockBetweenPlans) {
  write();
  write();
  work();
  EXPECT_EQ(2u, stand_in_datapath.relocks);
}

// A hint: packets of one size share an skb.
TEST_F(Send, PacketsOfOneSizeAreExpectedTogether) {
  const auto& expected = stand_in_datapath.expected;
  for (u32 i = 0; i < 3; i++) write();
  work();
  for (u32 i = 0; i < 3; i++) EXPECT_EQ(3 - i, expected[i]) << "requests of one length";
  write(8 * 1024);
  work();
  EXPECT_EQ(1u, expected[3]) << "it has more headers";
  for (u32 i = 1; i < 8; i++) EXPECT_EQ(8 - i, expected[3 + i]);
}

// Packets that travel together are lost together.
TEST_F(Send, RetriesShareNoSkb) {
  for (u32 i = 0; i < 3; i++) write();
  work();
  fire_timeout();
  work();
  ASSERT_LE(1u, packets);
  EXPECT_EQ(1u, stand_in_datapath.expected[3]);
}

TEST_F(Send, QueueThatWaitsForPagesDoesNothing) {
  write();
  work();
  qp.sq.paging.pending = true;
  write();
  EXPECT_EQ(SROCE_NEVER, work());
  EXPECT_EQ(0u, packets);
}

TEST_F(Send, RetransmissionIsCounted) {
  write();
  work();
  fire_timeout();
  work();
  EXPECT_EQ(1u, packets);
  EXPECT_EQ(0u, stand_in_datapath.packet.psn);
  EXPECT_EQ(1u, count(SROCE_CTR_LOCAL_ACK_TIMEOUT_ERR));
  EXPECT_EQ(1u, count(SROCE_CTR_COMPLETER_RETRY_ERR));
}

TEST_F(Send, RetransmissionOfAHoleHasItsOwnCounter) {
  write();
  work();
  qp.req.probe.due = true;
  work();
  EXPECT_EQ(1u, packets);
  EXPECT_EQ(1u, count(SROCE_CTR_ROCE_ADP_RETRANS));
  EXPECT_EQ(0u, count(SROCE_CTR_COMPLETER_RETRY_ERR));
}

// A response that comes before it departs would be taken for a response to it.
TEST_F(Send, RetransmissionDepartsAtOnceOrNotAtAll) {
  write();
  work();
  fire_timeout();
  stand_in_datapath.edt_only = true;
  stand_in_datapath.paced_ns = stand_in.now_ns + 500;
  EXPECT_EQ(stand_in.now_ns + 500, work());
  EXPECT_EQ(0u, packets);
  EXPECT_EQ(stand_in.now_ns + 500, qp.sq.paced_until_ns);
}

TEST_F(Send, NewPacketMayLeaveLater) {
  stand_in_datapath.edt_only = true;
  stand_in_datapath.paced_ns = START_NS + 500;
  write();
  work();
  EXPECT_EQ(1u, packets);
  EXPECT_EQ(START_NS + 500, stand_in_datapath.edt_ns);
}

TEST_F(Send, ExhaustedRetriesFailTheQueue) {
  write();
  work();
  for (u32 i = 0; i < 12 && !qp.sq.failed; i++) {
    stand_in.now_ns = sroce_requester_deadline(&qp.req);
    work();
  }
  const auto all = completions();
  ASSERT_EQ(1u, all.size());
  EXPECT_EQ(SROCE_WC_RETRY_EXC_ERR, all[0].status);
  EXPECT_EQ(1u, count(SROCE_CTR_RETRY_EXCEEDED_ERR));
  EXPECT_TRUE(qp.sq.failed);
}

TEST_F(Send, FailedQueueIsReportedInStatesThatSendOnly) {
  elements_of(write())[0].lkey = key + 1;
  qp.state = IB_QPS_ERR;
  work();
  EXPECT_TRUE(sroce_requester_has_failed(&qp.req));
  EXPECT_FALSE(qp.sq.failed);
}

// Packets leave through a slow qdisc.
TEST_F(Send, TimeoutIsPutOffWhilePacketsLeave) {
  write();
  work();
  set_in_stack(3, 10);
  fire_timeout();
  work();
  EXPECT_EQ(0u, packets);
  EXPECT_EQ(stand_in.now_ns + sroce_requester_probe_ns(&qp.req), qp.sq.ignore_timeout_until_ns);
  stand_in.now_ns = qp.sq.ignore_timeout_until_ns - 1;
  work();
  EXPECT_EQ(0u, packets);
  stand_in.now_ns++;
  work();
  EXPECT_EQ(1u, packets) << "those in the stack do not move";
}

TEST_F(Send, EmptyStackPutsNothingOff) {
  write();
  work();
  set_in_stack(0, 10);
  fire_timeout();
  work();
  EXPECT_EQ(1u, packets);
}

// It waits for the peer, not for packets that leave this host.
TEST_F(Send, RnrWaitIsNotPutOff) {
  write();
  work();
  receive_rnr_nak(0);
  qp.sq.ignore_timeout_until_ns = START_NS + 2 * TIMEOUT_NS;
  const u64 deadline = work();
  EXPECT_EQ(0u, packets);
  EXPECT_EQ(sroce_requester_deadline(&qp.req), deadline);
  stand_in.now_ns = deadline;
  qp.sq.ignore_timeout_until_ns = 0;
  set_in_stack(3, 10);
  work();
  EXPECT_EQ(1u, packets);
  EXPECT_EQ(0u, qp.sq.ignore_timeout_until_ns);
}

// The peer may send the next RNR NAK before a timer that is put off expires.
TEST_F(Send, TimeoutOfAReadComesWithTheEndOfAnRnrWait) {
  write(100, SROCE_WR_READ);
  write();
  work();
  receive_rnr_nak(1);
  const u64 timer_ns = std::min(qp.req.ack_deadline_ns, qp.req.probe.deadline_ns);
  ASSERT_NE(SROCE_NEVER, timer_ns);
  stand_in.now_ns = std::max(timer_ns, qp.req.rnr_until_ns);
  work();
  EXPECT_FALSE(sroce_requester_waits_rnr(&qp.req));
  EXPECT_EQ(1u, qp.req.timeouts + qp.req.probe.sent_count);
}

// Its request fails only when the READ before it has completed.
TEST_F(Send, LastNakBehindAReadIsTheVendorError) {
  qp.req.attr.retry_cnt = qp.req.retry_left = 0;
  write(100, SROCE_WR_READ);
  write();
  work();
  sroce_packet pkt = packet_of(SROCE_OP_ACK, 1);
  pkt.syndrome = SROCE_NAK_PSN_SEQUENCE;
  receive({packet_bytes(flow, pkt, Bytes(), 100)});
  stand_in_datapath.users--;  // the receiver's, which the stand-in counts in ref
  EXPECT_FALSE(sroce_requester_has_failed(&qp.req));
  EXPECT_EQ(SROCE_VENDOR_NAK, static_cast<int>(qp.sq.fault));
  EXPECT_EQ(1u, count(SROCE_CTR_RCVD_SEQ_ERR));
  EXPECT_EQ(0u, count(SROCE_CTR_PACKET_SEQ_ERR)) << "counts what is sent again";
}

TEST_F(Send, UnplacedResponseIsRequestedWhenThePagesAreThere) {
  write(100, SROCE_WR_READ);
  work();
  ASSERT_EQ(1u, packets);
  sroce_packet pkt = packet_of(SROCE_OP_READ_RESPONSE_ONLY, 0);
  pkt.count = 1;
  pkt.payload_bytes = 100;
  sroce_ack_plan plan;
  sroce_completer_plan(&qp.req, &pkt, &plan);
  sroce_completer_commit(&qp.req, &plan, SROCE_MEM_NOT_PRESENT, stand_in.now_ns);
  qp.sq.paging.pending = true;
  work();
  EXPECT_EQ(0u, packets);
  qp.sq.paging.pending = false;
  work();
  EXPECT_EQ(1u, packets);
  EXPECT_EQ(SROCE_OP_READ_REQUEST, stand_in_datapath.packet.opcode);
}

// The response came while it waited for pages, and was dropped.
TEST_F(Send, TimeoutIsExcusedOnceAfterAFault) {
  write();
  work();
  fire_timeout();
  for (u32 i = 0; i < 2; i++) {
    qp.sq.paging.done = true;
    work();
    EXPECT_EQ(i, packets) << "once for each response";
    EXPECT_FALSE(qp.sq.paging.done);
    if (!i) stand_in.now_ns = qp.sq.ignore_timeout_until_ns;
  }
}

TEST_F(Send, DrainedQueueIsReportedOnce) {
  write();
  work();
  qp.sq_draining_notify = true;
  sroce_requester_set_state(&qp.req, SROCE_SQ_DRAINING);
  qp.state = IB_QPS_SQD;
  work();
  EXPECT_EQ(0u, qp.sq.events);
  acknowledge(0);
  work();
  EXPECT_EQ(u32{BIT(IB_EVENT_SQ_DRAINED)}, qp.sq.events);
  EXPECT_FALSE(qp.sq_draining_notify);
}

TEST_F(Send, LocalOperationOfAnUnknownKeyFails) {
  write(0, SROCE_WR_LOCAL_INV).invalidate_rkey = key + 1;
  work();
  const auto all = completions();
  ASSERT_EQ(1u, all.size());
  EXPECT_EQ(SROCE_WC_MW_BIND_ERR, all[0].status);
  EXPECT_EQ(0u, packets);
}

TEST_F(Send, WindowIsBoundBySending) {
  sroce_region* window = sroce_region_create(SROCE_REGION_WINDOW_2, &pd);
  ASSERT_EQ(0, sroce_region_publish(&dev.memory, window));
  regions.insert(regions.begin(), window);
  for (sroce_region* region : regions) region->range.access |= SROCE_ACCESS_MW_BIND;
  sroce_send_slot& slot = write(0, SROCE_WR_BIND_MW);
  slot.remote_addr = IOVA;
  slot.rkey = window->key;
  slot.invalidate_rkey = (window->key & ~0xffu) | 0x55;
  slot.bind = {4096, key, SROCE_ACCESS_REMOTE_READ};
  work();
  const auto all = completions();
  ASSERT_EQ(1u, all.size());
  EXPECT_EQ(0, all[0].status);
  EXPECT_EQ(0x55u, window->key & 0xff);
}

TEST_F(Send, RoundEndsAfterItsBytes) {
  qp.req.attr.mtu_bytes = 4096;
  qp.req.attr.window_packets = qp.req.window.packets = 1000;
  Blocks many(16, 4096);
  const u32 many_key = add_region(many, 2 * IOVA, 16 * 4096);
  for (u32 i = 0; i < SLOTS; i++)
    elements_of(write(16 * 4096))[0] = {2 * IOVA, 16 * 4096, many_key};
  work();
  EXPECT_EQ(32u, packets) << "128 KiB";
  EXPECT_TRUE(qp.sq.more);
  work();
  EXPECT_EQ(32u, packets);
  work();
  EXPECT_EQ(0u, packets);
  EXPECT_FALSE(qp.sq.more);
}

TEST_F(Send, TimerThatFoundNothingIsDeferred) {
  write();
  work();
  sroce_sq_timer_fired(&qp);
  EXPECT_NE(0u, qp.sq.timer_defer_ns);
  EXPECT_EQ(START_NS, qp.sq.now_ns) << "the clock is read once";
  const u64 deferred = qp.sq.timer_defer_ns;
  qp.sq.retry = true;
  sroce_sq_timer_fired(&qp);
  EXPECT_EQ(deferred, qp.sq.timer_defer_ns);
  qp.sq.retry = false;
  stand_in.now_ns = sroce_requester_deadline(&qp.req);
  sroce_sq_timer_fired(&qp);
  EXPECT_EQ(deferred, qp.sq.timer_defer_ns) << "it was needed";
}

TEST_F(Send, DelayedAckGoesWithThePacketsOfTheKernelOnly) {
  write();
  work();
  EXPECT_EQ(0u, stand_in_datapath.piggybacked);
  qp.is_user = false;
  *wqe(1) = *wqe(0);
  wqe(1)->num_sge = wqe(1)->length = 0;
  qp.sq_posted = 2;
  work();
  EXPECT_EQ(1u, packets);
  EXPECT_EQ(1u, stand_in_datapath.piggybacked);
  work();
  EXPECT_EQ(1u, stand_in_datapath.piggybacked) << "a round without packets";
}

struct SendDatagram : Send {
  SendDatagram() : Send(SROCE_SERVICE_UD) {}
};

TEST_F(SendDatagram, GoesWhereItsHandleSays) {
  auto* av = static_cast<sroce_av*>(calloc(1, sizeof(sroce_av)));
  av->pd = &pd;
  av->path.oif = 12;
  refcount_set(&av->refs, 1);
  xa_init_flags(&dev.ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
  xa_store(&dev.ahs, 9, av, 0);
  sroce_send_slot& slot = write(100, SROCE_WR_SEND);
  slot.ud = {PEER_QPN, 9};
  slot.qkey = QKEY;
  work();
  EXPECT_EQ(1u, packets);
  EXPECT_EQ(12, stand_in_datapath.path.oif);
  EXPECT_EQ(1u, completions().size()) << "nothing acknowledges it";
  EXPECT_EQ(1u, av->refs.count);
  xa_destroy(&dev.ahs);
  free(av);
}

}  // namespace
