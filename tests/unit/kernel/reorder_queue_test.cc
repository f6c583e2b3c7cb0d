// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Packets beyond the expected PSN, queued until their turn: kernel/datapath/reorder_queue.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

namespace {

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
  u32 queued_bytes() { return qp.reorder_queue ? qp.reorder_queue->bytes : 0; }
  void expect_all_freed() {
    EXPECT_EQ(0u, queued_bytes());
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

TEST_F(ReorderQueue, DuplicateOfAQueuedPacketIsNotQueuedTwice) {
  const std::vector<Bytes> packets = write_of(4);
  receive_each(packets, {0, 2});
  const u32 bytes = queued_bytes();
  receive_each(packets, {2, 2});
  EXPECT_EQ(bytes, queued_bytes());
}

}  // namespace
