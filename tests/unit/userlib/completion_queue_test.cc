// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "completion_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <memory>

#include "bell.h"
#include "doorbell.h"
#include "fake_cpu.h"
#include "kernel_memory.h"

namespace {

using sroce::CompletionQueue;

constexpr std::uint32_t kShift = 6;

// An entry of a queue with timestamps.
struct Stamped {
  ib_uverbs_wc wc;
  std::uint64_t stamp;
};

ib_uverbs_wc entry(std::uint64_t wr_id) {
  ib_uverbs_wc wc{};
  wc.wr_id = wr_id;
  return wc;
}

TEST(CompletionQueue, EveryFieldIsCopied) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), where, false);
  ASSERT_TRUE(cq);
  ib_uverbs_wc wc = entry(0x1122334455667788);
  wc.status = IBV_WC_REM_ACCESS_ERR;
  wc.opcode = IBV_WC_RECV_RDMA_WITH_IMM;
  wc.vendor_err = 1;
  wc.byte_len = 2;
  wc.ex.imm_data = 0xdeadbeef;
  wc.qp_num = 3;
  wc.src_qp = 4;
  wc.wc_flags = IBV_WC_WITH_IMM | IBV_WC_GRH;
  wc.pkey_index = 5;
  wc.slid = 6;
  wc.sl = 7;
  wc.dlid_path_bits = 8;
  kernel.ring(where).produce(wc);

  std::array<ibv_wc, 2> polled;
  ASSERT_EQ(cq->poll(polled), 1u);
  EXPECT_EQ(polled[0].wr_id, 0x1122334455667788u);
  EXPECT_EQ(polled[0].status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(polled[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(polled[0].vendor_err, 1u);
  EXPECT_EQ(polled[0].byte_len, 2u);
  EXPECT_EQ(polled[0].imm_data, 0xdeadbeefu);
  EXPECT_EQ(polled[0].qp_num, 3u);
  EXPECT_EQ(polled[0].src_qp, 4u);
  EXPECT_EQ(polled[0].wc_flags, unsigned{IBV_WC_WITH_IMM | IBV_WC_GRH});
  EXPECT_EQ(polled[0].pkey_index, 5u);
  EXPECT_EQ(polled[0].slid, 6u);
  EXPECT_EQ(polled[0].sl, 7u);
  EXPECT_EQ(polled[0].dlid_path_bits, 8u);
}

TEST(CompletionQueue, TimestampIsThatOfTheCurrentEntry) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), where, false);
  ASSERT_TRUE(cq);
  KernelRing ring = kernel.ring(where);
  ring.produce(Stamped{entry(1), 1ull << 40});
  ring.produce(Stamped{entry(2), 5});
  ASSERT_TRUE(cq->start_poll());
  EXPECT_EQ(cq->current_timestamp(), 1ull << 40);
  ASSERT_TRUE(cq->next_poll());
  EXPECT_EQ(cq->current_timestamp(), 5u);
  cq->end_poll();
}

TEST(CompletionQueue, PollHonoursLimitAndOrder) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), where, false);
  ASSERT_TRUE(cq);
  KernelRing ring = kernel.ring(where);
  std::array<ibv_wc, 2> polled;
  EXPECT_EQ(cq->poll(polled), 0u);
  for (std::uint64_t id = 0; id < 3; id++) ring.produce(entry(id));
  ASSERT_EQ(cq->poll(polled), 2u);
  EXPECT_EQ(polled[1].wr_id, 1u);
  EXPECT_EQ(ring.header().consumer_index, 2u);
  for (std::uint64_t id = 3; id < 5; id++) ring.produce(entry(id));
  ASSERT_EQ(cq->poll(polled), 2u);
  EXPECT_EQ(polled[0].wr_id, 2u);
  EXPECT_EQ(polled[1].wr_id, 3u);
  EXPECT_EQ(ring.header().consumer_index, 0u) << "wrapped";
}

TEST(CompletionQueue, ExtendedPollReleasesEntriesOneByOne) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), where, false);
  KernelRing ring = kernel.ring(where);
  EXPECT_EQ(cq->start_poll(), nullptr);
  for (std::uint64_t id = 0; id < 2; id++) ring.produce(entry(id));
  const ib_uverbs_wc* first = cq->start_poll();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->wr_id, 0u);
  EXPECT_EQ(ring.header().consumer_index, 0u) << "the entry is being read";
  ASSERT_TRUE(cq->next_poll());
  EXPECT_EQ(cq->current().wr_id, 1u);
  EXPECT_EQ(ring.header().consumer_index, 1u);
  ring.produce(entry(2));
  ASSERT_TRUE(cq->next_poll()) << "an entry that arrived during the poll";
  EXPECT_EQ(cq->next_poll(), nullptr);
  cq->end_poll();
  EXPECT_EQ(ring.header().consumer_index, 3u);
  std::array<ibv_wc, 1> polled;
  EXPECT_EQ(cq->poll(polled), 0u) << "the lock has been released";
}

TEST(CompletionQueue, EndPollReleasesTheCurrentEntry) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), where, true);
  KernelRing ring = kernel.ring(where);
  for (std::uint64_t id = 0; id < 2; id++) ring.produce(entry(id));
  ASSERT_TRUE(cq->start_poll());
  cq->end_poll();
  EXPECT_EQ(ring.header().consumer_index, 1u);
  ASSERT_TRUE(cq->start_poll());
  EXPECT_EQ(cq->current().wr_id, 1u);
  cq->end_poll();
}

/// A completion queue whose pollers yield a fake CPU.
class CompletionQueueBackoff : public testing::Test {
 protected:
  CompletionQueueBackoff() : where(kernel.add_ring(4, kShift)) {
    cq = CompletionQueue::open(kernel.fd(), where, false, &fake.cpu);
    fake.others = [this] { kernel.ring(where).produce(entry(7)); };
  }

  KernelMemory kernel;
  mminfo where;
  FakeCpu fake;
  std::unique_ptr<CompletionQueue> cq;
  std::array<ibv_wc, 2> polled;
};

TEST_F(CompletionQueueBackoff, PollYieldsAndPollsAgain) {
  for (std::uint32_t i = 1; i < sroce::PollBackoff::kInitialPolls; i++)
    ASSERT_EQ(cq->poll(polled), 0u);
  EXPECT_EQ(fake.yields, 0u);
  EXPECT_EQ(cq->poll(polled), 1u);
  EXPECT_EQ(polled[0].wr_id, 7u);
  EXPECT_EQ(fake.yields, 1u);
}

TEST_F(CompletionQueueBackoff, StartPollYieldsAndPollsAgain) {
  // The lock is free during the yield, so others can poll.
  fake.others = [this] {
    EXPECT_EQ(cq->poll(polled), 0u);
    kernel.ring(where).produce(entry(7));
  };
  for (std::uint32_t i = 1; i < sroce::PollBackoff::kInitialPolls; i++)
    ASSERT_EQ(cq->start_poll(), nullptr);
  ASSERT_TRUE(cq->start_poll());
  EXPECT_EQ(cq->current().wr_id, 7u);
  cq->end_poll();
  EXPECT_EQ(fake.yields, 1u);
  fake.others = [] {};
  for (int i = 0; i < 100; i++) EXPECT_EQ(cq->start_poll(), nullptr);
  EXPECT_EQ(cq->poll(polled), 0u) << "the lock is free";
}

TEST_F(CompletionQueueBackoff, FoundCompletionRestartsTheCount) {
  fake.others = [] {};
  for (int round = 0; round < 10; round++) {
    for (std::uint32_t i = 1; i < sroce::PollBackoff::kInitialPolls; i++)
      ASSERT_EQ(cq->poll(polled), 0u);
    kernel.ring(where).produce(entry(1));
    ASSERT_EQ(cq->poll(polled), 1u);
  }
  EXPECT_EQ(fake.yields, 0u);
}

TEST_F(CompletionQueueBackoff, DoorbellsAreRungBeforeYielding) {
  SharedQueue queue(4, 64);
  Bell bell;
  auto ring = *queue.open<sroce_send_slot>();
  sroce::DeferredDoorbell doorbell(bell.doorbell(), ring, cq->doorbells(), cq->doorbells());
  fake.others = [&] { EXPECT_EQ(bell.rings(), 1); };
  for (std::uint32_t i = 1; i < sroce::PollBackoff::kInitialPolls; i++)
    ASSERT_EQ(cq->poll(polled), 0u);
  queue.suppress_doorbell(true);
  ring.publish();
  EXPECT_EQ(doorbell.ring_or_defer(), 0);
  EXPECT_EQ(cq->poll(polled), 0u);
  EXPECT_EQ(fake.yields, 1u);
  doorbell.leave_lists();
}

TEST(CompletionQueue, PollReadsTheNewRing) {
  KernelMemory kernel;
  const mminfo old_ring = kernel.add_ring(4, kShift);
  const mminfo new_ring = kernel.add_ring(16, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), old_ring, false);
  ASSERT_TRUE(cq);
  kernel.ring(old_ring).produce(entry(1));
  kernel.ring(new_ring).produce(entry(2));
  ASSERT_EQ(cq->replace(kernel.fd(), [&](mminfo& where) { return where = new_ring, 0; }), 0);
  std::array<ibv_wc, 4> polled;
  ASSERT_EQ(cq->poll(polled), 1u);
  EXPECT_EQ(polled[0].wr_id, 2u);
}

TEST(CompletionQueue, ArmIncrementsTheSharedCounters) {
  KernelMemory kernel;
  const mminfo old_ring = kernel.add_ring(4, kShift);
  const mminfo new_ring = kernel.add_ring(16, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), old_ring, false);
  ASSERT_TRUE(cq);
  cq->arm(false);
  cq->arm(true);
  cq->arm(true);
  EXPECT_TRUE(cq->doorbells().is_armed(std::memory_order_seq_cst));
  EXPECT_EQ(kernel.ring(old_ring).arm().any, 1u);
  EXPECT_EQ(kernel.ring(old_ring).arm().solicited, 2u);
  EXPECT_EQ(kernel.ring(old_ring).header().consumer_index, 0u);
  cq->disarm();
  EXPECT_FALSE(cq->doorbells().is_armed(std::memory_order_seq_cst));
  ASSERT_EQ(cq->replace(kernel.fd(), [&](mminfo& where) { return where = new_ring, 0; }), 0);
  cq->arm(false);
  EXPECT_EQ(kernel.ring(old_ring).arm().any, 1u);
  EXPECT_EQ(kernel.ring(new_ring).arm().any, 1u);
  EXPECT_EQ(kernel.ring(new_ring).arm().solicited, 0u);
}

TEST(CompletionQueue, ArmWorksDuringExtendedPoll) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), where, false);
  kernel.ring(where).produce(entry(1));
  ASSERT_TRUE(cq->start_poll());
  cq->arm(false);
  EXPECT_EQ(cq->next_poll(), nullptr);
  cq->end_poll();
  EXPECT_EQ(kernel.ring(where).arm().any, 1u);
  EXPECT_EQ(kernel.ring(where).header().consumer_index, 1u);
}

TEST(CompletionQueue, FailedReplaceChangesNothing) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), where, false);
  ASSERT_TRUE(cq);
  EXPECT_EQ(cq->replace(kernel.fd(), [](mminfo&) { return ENOMEM; }), ENOMEM);
  kernel.ring(where).produce(entry(1));
  std::array<ibv_wc, 1> polled;
  EXPECT_EQ(cq->poll(polled), 1u);
}

ib_uverbs_wc entry_of(std::uint32_t qp_num, std::uint64_t wr_id) {
  ib_uverbs_wc wc = entry(wr_id);
  wc.qp_num = qp_num;
  return wc;
}

TEST(CompletionQueue, EntriesOfAQpAreDiscardedAndTheOthersKeepTheirOrder) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(8, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), where, false);
  KernelRing ring = kernel.ring(where);
  std::array<ibv_wc, 8> polled;
  for (std::uint64_t id = 0; id < 5; id++) ring.produce(entry(id));
  ASSERT_EQ(cq->poll(polled), 5u) << "so that the ring wraps";
  for (const auto& [qp_num, id] : {std::pair{7u, 10u}, {8u, 11u}, {7u, 12u}, {9u, 13u}, {7u, 14u}})
    ring.produce(entry_of(qp_num, id));
  cq->discard(7);
  ASSERT_EQ(cq->poll(polled), 2u);
  EXPECT_EQ(polled[0].wr_id, 11u);
  EXPECT_EQ(polled[0].qp_num, 8u);
  EXPECT_EQ(polled[1].wr_id, 13u);
}

TEST(CompletionQueue, DiscardOfAQpWithoutEntriesChangesNothing) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), where, false);
  std::array<ibv_wc, 4> polled;
  cq->discard(7);
  EXPECT_EQ(cq->poll(polled), 0u);
  kernel.ring(where).produce(entry_of(8, 1));
  cq->discard(7);
  ASSERT_EQ(cq->poll(polled), 1u);
  EXPECT_EQ(polled[0].wr_id, 1u);
}

// Queues of one thread have no lock.
TEST(CompletionQueue, DiscardDuringAPollKeepsTheCurrentEntry) {
  for (const bool single_threaded : {false, true}) {
    KernelMemory kernel;
    const mminfo where = kernel.add_ring(8, kShift);
    auto cq = CompletionQueue::open(kernel.fd(), where, single_threaded);
    KernelRing ring = kernel.ring(where);
    for (const auto& [qp_num, id] : {std::pair{7u, 1u}, {8u, 2u}, {7u, 3u}, {9u, 4u}})
      ring.produce(entry_of(qp_num, id));
    ASSERT_TRUE(cq->start_poll());
    cq->discard(7);
    EXPECT_EQ(cq->current().wr_id, 1u) << "of the QP, but the program has it";
    cq->discard(9);
    ASSERT_TRUE(cq->next_poll());
    EXPECT_EQ(cq->current().wr_id, 2u);
    EXPECT_EQ(cq->next_poll(), nullptr);
    cq->discard(8);
    cq->end_poll();
    EXPECT_EQ(ring.header().consumer_index, 4u);
    ring.produce(entry_of(8, 5));
    ASSERT_TRUE(cq->start_poll());
    EXPECT_EQ(cq->current().wr_id, 5u);
    cq->end_poll();
  }
}

// With timestamps an entry has 64 bytes.
TEST(CompletionQueue, EntryThatMovesKeepsItsTimestamp) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, kShift);
  auto cq = CompletionQueue::open(kernel.fd(), where, false);
  KernelRing ring = kernel.ring(where);
  ring.produce(Stamped{entry_of(8, 1), 5});
  ring.produce(Stamped{entry_of(7, 2), 6});
  cq->discard(7);
  ASSERT_TRUE(cq->start_poll());
  EXPECT_EQ(cq->current().wr_id, 1u);
  EXPECT_EQ(cq->current_timestamp(), 5u);
  EXPECT_EQ(cq->next_poll(), nullptr);
  cq->end_poll();
}

TEST(CompletionQueue, UnmappableRingIsRejected) {
  errno = 0;
  EXPECT_FALSE(CompletionQueue::open(-1, {.offset = 0, .size = 4096, .pad = 0}, false));
  EXPECT_EQ(errno, EBADF);
}

TEST(CompletionQueue, RingOfSmallEntriesIsRejected) {
  KernelMemory kernel;
  const mminfo where = kernel.add_ring(4, 5);  // 32 bytes; an entry needs 48
  errno = 0;
  EXPECT_FALSE(CompletionQueue::open(kernel.fd(), where, false));
  EXPECT_EQ(errno, EPROTO);
}

}  // namespace
