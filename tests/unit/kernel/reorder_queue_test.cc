// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Packets beyond the expected PSN, queued until their turn: kernel/datapath/reorder_queue.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

namespace {

constexpr u64 MSEC = 1'000'000;

struct ReorderQueue : testing::Test, WriteReceiver {
  ReorderQueue() {
    qp.resp.attr.reorder_packets = SROCE_PSN_MAP_SPAN;
    on_work = [&](u32* budget) {
      sroce_receive_queued(&qp, 1000, budget);
      return SROCE_NEVER;
    };
  }
  void receive_each(const std::vector<Bytes>& packets, const std::vector<u32>& order) {
    for (u32 i : order) {
      flow.ip_id = 100 + i;
      receive({packets[i]});
    }
  }
  void receive_without_memory(const Bytes& packet, u32 i) {
    flow.ip_id = 100 + i;
    start({packet});
    stand_in.fail_allocation = 1;
    sroce_receive(&rx);
    rx.skb = nullptr;
    stand_in.fail_allocation = 0;
  }
  u32 queued_bytes() { return qp.reorder_queue ? qp.reorder_queue->bytes : 0; }
  void expect_all_freed() {
    EXPECT_EQ(0u, queued_bytes());
    sroce_reorder_queue_trim(&qp, stand_in.now_ns + MSEC);
    sroce_reorder_queue_trim(&qp, stand_in.now_ns + 20 * MSEC);
    EXPECT_EQ(0u, qp.reorder_queue->spare_bytes);
    EXPECT_EQ(SROCE_NEVER, sroce_reorder_queue_deadline(&qp));
    EXPECT_EQ(0u, qp.reorder_queue->share_bytes);
    EXPECT_EQ(0, dev.reorder_bytes.counter);
    for (sk_buff** chunk : qp.reorder_queue->chunks) EXPECT_EQ(nullptr, chunk);
  }
};

TEST_F(ReorderQueue, PacketsAreExecutedInOrder) {
  const std::vector<Bytes> packets = write_of(8);
  receive_each(packets, {3, 0, 2, 7, 6});
  EXPECT_EQ(101u, epsn());
  EXPECT_LT(4 * 1024u, queued_bytes());
  EXPECT_LE(queued_bytes(), dev.reorder_bytes.counter);
  receive_each(packets, {1});
  EXPECT_EQ(104u, epsn());
  receive_each(packets, {5, 4});
  EXPECT_EQ(108u, epsn());
  expect_written(8);
  expect_all_freed();
}

// A sender on this host has spliced its pages into a socket, and writes to them.
TEST_F(ReorderQueue, PacketThatChangesBeforeItIsCopiedIsNotQueued) {
  const Bytes packet = write_of(8)[3];
  for (const auto& [byte, value] : {std::pair<u32, u8>{0, SROCE_OP_SEND_MIDDLE},
                                    {0, SROCE_OP_ACK},
                                    {1, 0x4f},
                                    {11, 104},
                                    {0, packet[0]}}) {
    start({packet});
    ASSERT_TRUE(sroce_rx_next(&rx));
    rx.skb->data[UDP_BYTES + byte] = value;
    EXPECT_EQ(value == packet[byte], sroce_reorder_queue_add(&qp, &rx)) << byte;
    kfree_skb(std::exchange(rx.skb, nullptr));
    EXPECT_EQ(value == packet[byte], queued_bytes() != 0);
  }
  sroce_reorder_queue_purge(&qp);
  expect_all_freed();
}

TEST_F(ReorderQueue, EqualPacketsAreCoalesced) {
  const std::vector<Bytes> packets = write_of(8);
  receive_each(packets, {0, 2, 3, 4, 5, 6, 7, 1});
  EXPECT_EQ(108u, epsn());
  expect_written(8);
  expect_all_freed();
}

TEST_F(ReorderQueue, CoalescedPacketsLeaveTheQueue) {
  const std::vector<Bytes> packets = write_of(8);
  receive_each(packets, {0, 6});
  const u32 bytes_of_one = queued_bytes();
  receive_each(packets, {2, 3, 4, 1});
  EXPECT_EQ(105u, epsn());
  EXPECT_EQ(bytes_of_one, queued_bytes());
}

TEST_F(ReorderQueue, PacketsOfOneSkbAreQueuedApart) {
  const std::vector<Bytes> packets = write_of(8);
  receive_each(packets, {0});
  flow.ip_id = 102;
  receive({packets.begin() + 2, packets.end()});
  EXPECT_LT(6 * 1024u, queued_bytes());
  receive_each(packets, {1});
  EXPECT_EQ(108u, epsn());
  expect_written(8);
  expect_all_freed();
}

// Otherwise memory would be allocated, and cleared, for each packet.
TEST_F(ReorderQueue, SkbsAreUsedAgain) {
  const std::vector<Bytes> packets = write_of(8);
  receive_each(packets, {0, 3, 2});
  sroce_reorder_queue_trim(&qp, 5 * MSEC);
  receive_each(packets, {1});
  const u32 bytes = qp.reorder_queue->spare_bytes;
  EXPECT_LT(2 * 1024u, bytes);
  receive_without_memory(packets[6], 6);
  receive_without_memory(packets[5], 5);
  EXPECT_EQ(bytes, queued_bytes());
  EXPECT_EQ(0u, qp.reorder_queue->spare_bytes);
  receive_without_memory(packets[7], 7);
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_REORDER_FULL)) << "the third needs another";
  receive_each(packets, {4, 7});
  EXPECT_EQ(108u, epsn());
  expect_written(8);
  expect_all_freed();
}

TEST_F(ReorderQueue, SkbsAreFreedWhenNoneIsNeededForLong) {
  const std::vector<Bytes> packets = write_of(8);
  receive_each(packets, {0, 2});
  sroce_reorder_queue_trim(&qp, 5 * MSEC);
  EXPECT_EQ(SROCE_NEVER, sroce_reorder_queue_deadline(&qp)) << "one is queued";
  receive_each(packets, {1});
  EXPECT_EQ(15 * MSEC, sroce_reorder_queue_deadline(&qp));
  sroce_reorder_queue_trim(&qp, 15 * MSEC - 1);
  EXPECT_LT(0u, qp.reorder_queue->spare_bytes);
  EXPECT_LE(qp.reorder_queue->spare_bytes, dev.reorder_bytes.counter);
  sroce_reorder_queue_trim(&qp, 15 * MSEC);
  EXPECT_EQ(0, dev.reorder_bytes.counter);
  expect_all_freed();
}

// No packet comes any more, so only the timer runs the queue.
TEST_F(ReorderQueue, TimerFreesTheSkbsOfAQuietQp) {
  on_work = [&](u32* budget) { return sroce_rq_work(&qp, budget); };
  stand_in.now_ns = 1000;
  receive_each(write_of(4), {0, 2, 1});
  EXPECT_LT(0, dev.reorder_bytes.counter);
  hrtimer& timer = qp.rq.timer;
  ASSERT_TRUE(timer.started);
  // It was armed for the gap.
  stand_in.now_ns = timer.expires_ns;
  timer.function(&timer);
  EXPECT_EQ(1000 + 10 * MSEC, timer.expires_ns);
  stand_in.now_ns = timer.expires_ns;
  sroce_rq_timer_fired(&qp);
  EXPECT_EQ(0u, qp.rq.timer_defer_ns) << "the timer was needed";
  timer.function(&timer);
  EXPECT_EQ(0, dev.reorder_bytes.counter);
  expect_all_freed();
}

TEST_F(ReorderQueue, MemoryOfSpareSkbsIsLimited) {
  const std::vector<Bytes> packets = write_of(500);
  for (u32 i = 1; i < 500; i++) receive_each(packets, {i});
  EXPECT_LT(600 * 1024u, queued_bytes());
  sroce_responder_set_state(&qp.resp, SROCE_RQ_ERROR);
  sroce_reorder_queue_flush(&qp);
  EXPECT_GE(512 * 1024u, qp.reorder_queue->spare_bytes);
  EXPECT_LT(500 * 1024u, qp.reorder_queue->spare_bytes);
  expect_all_freed();
}

// There may be no memory for a copy of it, and it is the one that all others wait for.
TEST_F(ReorderQueue, PacketThatMustWaitAgainKeepsItsSkb) {
  qp.resp.attr.rnr_delay_ns = MSEC;
  post_receive(IOVA, 50, key);
  receive({bytes_of(packet_of(SROCE_OP_SEND_ONLY, 101), Bytes(50, 4))});
  const u32 bytes = queued_bytes();
  start({bytes_of(packet_of(SROCE_OP_SEND_ONLY, 100), Bytes(50, 3))});
  stand_in.fail_allocation = 1;
  sroce_receive(&rx);
  rx.skb = nullptr;
  stand_in.fail_allocation = 0;
  EXPECT_EQ(101u, epsn());
  EXPECT_EQ(bytes, queued_bytes());
  EXPECT_EQ(0u, qp.reorder_queue->spare_bytes);
  EXPECT_EQ(0u, count(SROCE_CTR_DROP_REORDER_FULL));
  post_receive(IOVA + 100, 50, key);
  sroce_reorder_rwqe_posted(&qp.resp, 1000);
  spin_lock_bh(&qp.rq.lock);
  sroce_wq_run(&qp, &qp.rq, true);
  EXPECT_EQ(102u, epsn());
  EXPECT_EQ(4, blocks[100]);
  expect_all_freed();
}

TEST_F(ReorderQueue, OwnSparesDoNotUseUpWhatIsGuaranteed) {
  dev.reorder_bytes.counter = 1u << 30;
  for (u32 psn = 190; psn >= 100; psn--) receive({bytes_of(write_only(psn, IOVA, 8), Bytes(8, 1))});
  EXPECT_EQ(191u, epsn());
  EXPECT_LT(40 * 1024u, qp.reorder_queue->spare_bytes);
  for (u32 psn = 192; psn < 222; psn++)
    receive({bytes_of(write_only(psn, IOVA, 1000), Bytes(1000, 1))});
  EXPECT_EQ(0u, count(SROCE_CTR_DROP_REORDER_FULL));
}

TEST_F(ReorderQueue, SkbsThatAreTooShortAreReplaced) {
  for (u32 psn = 140; psn >= 100; psn--) receive({bytes_of(write_only(psn, IOVA, 8), Bytes(8, 1))});
  const u32 short_bytes = qp.reorder_queue->spare_bytes / 40;
  EXPECT_LT(0u, short_bytes);
  for (u32 psn = 142; psn < 158; psn++)
    receive({bytes_of(write_only(psn, IOVA, 1000), Bytes(1000, 1))});
  EXPECT_EQ(24 * short_bytes, qp.reorder_queue->spare_bytes);
  EXPECT_EQ(16 * (short_bytes + 992), queued_bytes());
  EXPECT_LE(queued_bytes() + qp.reorder_queue->spare_bytes, qp.reorder_queue->share_bytes);
}

// A packet with another header between equal ones.
TEST_F(ReorderQueue, OtherHeaderEndsCoalescing) {
  std::vector<Bytes> packets = write_of(8);
  sroce_packet pkt = packet_of(SROCE_OP_WRITE_MIDDLE, 104);
  pkt.ack_req = true;
  packets[4] = bytes_of(pkt, Bytes(1024, 5), 104);
  receive_each(packets, {0, 2, 3, 4, 5, 6, 7, 1});
  EXPECT_EQ(108u, epsn());
  expect_written(8);
  expect_all_freed();
}

TEST_F(ReorderQueue, BudgetEndsBetweenPackets) {
  const std::vector<Bytes> packets = write_of(8);
  u32 limit = 3;
  on_work = [&](u32*) {
    u32 budget = limit;
    sroce_receive_queued(&qp, 1000, &budget);
    EXPECT_LE(budget, limit);
    return SROCE_NEVER;
  };
  receive_each(packets, {0, 2, 3, 4, 5, 6, 7, 1});
  EXPECT_EQ(105u, epsn());
  limit = 8;
  spin_lock_bh(&qp.rq.lock);
  sroce_wq_run(&qp, &qp.rq, true);
  EXPECT_EQ(108u, epsn());
  expect_written(8);
  expect_all_freed();
}

TEST_F(ReorderQueue, PacketWithoutMemoryIsDroppedAndMayComeAgain) {
  const std::vector<Bytes> packets = write_of(4);
  receive_each(packets, {0});
  flow.ip_id = 102;
  u32 n = 0;
  while (!queued_bytes() && n < 10) {
    start({packets[2]});
    stand_in.fail_allocation = ++n;
    sroce_receive(&rx);
    rx.skb = nullptr;
    stand_in.fail_allocation = 0;
    EXPECT_EQ(0u, qp.reorder_queue ? qp.reorder_queue->share_bytes * !queued_bytes() : 0) << n;
  }
  EXPECT_LT(2u, n) << "each allocation has failed once";
  EXPECT_EQ(n - 1, count(SROCE_CTR_DROP_REORDER_FULL));
  receive_each(packets, {1, 3});
  EXPECT_EQ(104u, epsn());
  expect_all_freed();
}

TEST_F(ReorderQueue, FullDeviceQueuesLittle) {
  const u64 others = 1u << 30;
  const std::vector<Bytes> packets = write_of(100);
  dev.reorder_bytes.counter = others;
  for (u32 i = 1; i < 100; i++) receive_each(packets, {i});
  EXPECT_GE(64 * 1024u, queued_bytes());
  EXPECT_LT(0u, count(SROCE_CTR_DROP_REORDER_FULL));
  const u32 share = qp.reorder_queue->share_bytes;
  EXPECT_EQ(others + share, static_cast<u64>(dev.reorder_bytes.counter));
}

TEST_F(ReorderQueue, QueuePairUsesPartOfTheDevice) {
  const u32 most = 16 << 20;
  const std::vector<Bytes> packets = write_of(100);
  receive_each(packets, {1});
  const u32 bytes = queued_bytes();
  qp.reorder_queue->bytes = qp.reorder_queue->share_bytes += most;
  receive_each(packets, {2});
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_REORDER_FULL));
  qp.reorder_queue->share_bytes -= most;
  qp.reorder_queue->bytes = bytes;
}

TEST_F(ReorderQueue, ErrorDropsAllPackets) {
  const std::vector<Bytes> packets = write_of(8);
  receive_each(packets, {0, 3, 5});
  EXPECT_LT(0u, queued_bytes());
  sroce_reorder_queue_flush(&qp);
  EXPECT_LT(0u, queued_bytes()) << "the engine still counts them";
  sroce_responder_set_state(&qp.resp, SROCE_RQ_ERROR);
  sroce_reorder_queue_flush(&qp);
  expect_all_freed();
}

// Another context gets the lock between two responses, and may queue a packet with the PSN of one.
TEST_F(ReorderQueue, OldPacketsAreGoneBeforeTheLockIsDropped) {
  on_work = [&](u32* budget) { return sroce_rq_work(&qp, budget); };
  stand_in.now_ns = 1000;
  receive_each(write_of(4), {0, 2, 3});
  EXPECT_LT(0u, queued_bytes());
  stand_in.now_ns += 10'000 * MSEC;
  qp.resp.ack_pending = true;
  stand_in.contended = true;
  stand_in.argument = this;
  static u32 drops;
  drops = 0;
  stand_in.unlocked = [](void* self) {
    drops++;
    EXPECT_EQ(0u, static_cast<ReorderQueue*>(self)->queued_bytes());
  };
  u32 budget = 64;
  spin_lock(&qp.rq.lock);
  sroce_rq_work(&qp, &budget);
  stand_in.unlocked = nullptr;
  spin_unlock(&qp.rq.lock);
  EXPECT_EQ(1u, drops);
  stand_in.contended = false;
  __skb_queue_purge(&qp.rq.out);
  expect_all_freed();
}

TEST_F(ReorderQueue, PurgeFreesAllSkbs) {
  const std::vector<Bytes> packets = write_of(8);
  receive_each(packets, {0, 3, 2, 1, 6});
  EXPECT_LT(0u, qp.reorder_queue->spare_bytes);
  sroce_responder_set_state(&qp.resp, SROCE_RQ_ERROR);
  sroce_reorder_queue_purge(&qp);
  EXPECT_EQ(0, dev.reorder_bytes.counter);
}

TEST_F(ReorderQueue, DuplicateOfAQueuedPacketIsNotQueuedTwice) {
  const std::vector<Bytes> packets = write_of(4);
  receive_each(packets, {0, 2});
  const u32 bytes = queued_bytes();
  receive_each(packets, {2, 2});
  EXPECT_EQ(bytes, queued_bytes());
}

}  // namespace
