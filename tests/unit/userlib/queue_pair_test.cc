// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "queue_pair.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <latch>
#include <thread>
#include <vector>

#include "bell.h"
#include "kernel_ring.h"

namespace {

using sroce::Doorbell;
using sroce::ReceiveQueue;
using sroce::SendQueue;
using sroce::Service;

constexpr std::uint32_t kSendStride = 128;  // 48 + 4 * 16, rounded up to cache lines
constexpr std::uint32_t kRecvStride = 8 + 4 * 16;

/// Linked requests, numbered from 0.
template <typename Wr, std::size_t count>
struct Chain : std::array<Wr, count> {
  Chain() : std::array<Wr, count>{} {
    for (std::size_t i = 0; i < count; i++) {
      Wr& wr = (*this)[i];
      wr.wr_id = i;
      wr.next = i + 1 < count ? &(*this)[i + 1] : nullptr;
      if constexpr (requires { wr.opcode; }) wr.opcode = IBV_WR_SEND;
    }
  }
  Chain(const Chain&) = delete;
};

class SendQueueTest : public testing::Test {
 protected:
  SharedQueue shared{4, kSendStride};
  Bell bell;
  sroce::DoorbellList pollers;
  SendQueue queue{*shared.open<sroce_send_slot>(48 + 4 * 16),
                  {Service::rc, 4, 64},
                  bell.doorbell(),
                  pollers,
                  pollers,
                  false};
  ibv_send_wr* bad_wr = nullptr;
};

TEST_F(SendQueueTest, ChainIsPostedWithOneDoorbell) {
  Chain<ibv_send_wr, 3> wrs;
  ASSERT_EQ(queue.post(wrs.data(), &bad_wr), 0);
  EXPECT_EQ(shared.head().producer, 3u);
  for (std::uint32_t i = 0; i < 3; i++) EXPECT_EQ(shared.copy<sroce_send_slot>(i).wr_id, i);
  EXPECT_FALSE(bell.next_command().empty());
  EXPECT_TRUE(bell.next_command().empty());
}

TEST_F(SendQueueTest, DoorbellIsAnEmptyPostSend) {
  Chain<ibv_send_wr, 1> wrs;
  ASSERT_EQ(queue.post(wrs.data(), &bad_wr), 0);
  const std::vector<std::byte> command = bell.next_command();
  ASSERT_EQ(command.size(), 32u);
  ib_uverbs_cmd_hdr header;
  std::memcpy(&header, command.data(), sizeof(header));
  EXPECT_EQ(header.command, std::uint32_t{IB_USER_VERBS_CMD_POST_SEND});
  EXPECT_EQ(header.in_words * 4u, command.size());
  EXPECT_EQ(header.out_words, 1u);
  std::array<std::uint32_t, 4> body;  // handle, requests, elements, bytes of a request
  std::memcpy(body.data(), command.data() + 16, sizeof(body));
  EXPECT_EQ(body, (std::array<std::uint32_t, 4>{kHandle, 0, 0, sizeof(ib_uverbs_send_wr)}));
}

TEST_F(SendQueueTest, FullQueueTakesTheStartOfTheChain) {
  Chain<ibv_send_wr, 5> wrs;
  EXPECT_EQ(queue.post(wrs.data(), &bad_wr), ENOMEM);
  EXPECT_EQ(bad_wr, &wrs[4]);
  EXPECT_EQ(shared.head().producer, 4u);
  EXPECT_FALSE(bell.next_command().empty()) << "the start of the chain must be sent";
  shared.consume(2);
  EXPECT_EQ(queue.post(bad_wr, &bad_wr), 0);
  EXPECT_EQ(shared.head().producer, 5u);
  EXPECT_EQ(shared.copy<sroce_send_slot>(4).wr_id, 4u);
}

TEST_F(SendQueueTest, BadRequestEndsTheChain) {
  Chain<ibv_send_wr, 3> wrs;
  wrs[1].opcode = IBV_WR_TSO;
  EXPECT_EQ(queue.post(wrs.data(), &bad_wr), EINVAL);
  EXPECT_EQ(bad_wr, &wrs[1]);
  EXPECT_EQ(shared.head().producer, 1u);
}

TEST_F(SendQueueTest, EmptyPostRingsNoDoorbell) {
  Chain<ibv_send_wr, 1> wrs;
  wrs[0].opcode = IBV_WR_TSO;
  EXPECT_EQ(queue.post(wrs.data(), &bad_wr), EINVAL);
  EXPECT_EQ(queue.post(nullptr, &bad_wr), 0);
  EXPECT_TRUE(bell.next_command().empty());
}

TEST(SendQueue, DoorbellErrorFailsTheWholeChain) {
  SharedQueue shared(4, kSendStride);
  sroce::DoorbellList pollers;
  SendQueue queue(*shared.open<sroce_send_slot>(), {Service::rc, 0, 0}, Doorbell(-1, kHandle),
                  pollers, pollers, false);
  Chain<ibv_send_wr, 2> wrs;
  ibv_send_wr* bad_wr = nullptr;
  EXPECT_EQ(queue.post(wrs.data(), &bad_wr), EBADF);
  EXPECT_EQ(bad_wr, wrs.data());
}

TEST(SendQueue, FailedDueDoorbellFailsTheNextPostOnce) {
  SharedQueue shared(4, kSendStride);
  sroce::DoorbellList pollers;
  SendQueue queue(*shared.open<sroce_send_slot>(), {Service::rc, 0, 0}, Doorbell(-1, kHandle),
                  pollers, pollers, false);
  Chain<ibv_send_wr, 1> wrs;
  ibv_send_wr* bad_wr = nullptr;
  shared.suppress_doorbell(true);
  ASSERT_EQ(queue.post(wrs.data(), &bad_wr), 0);
  pollers.ring_all();
  EXPECT_EQ(queue.post(wrs.data(), &bad_wr), EBADF);
  EXPECT_EQ(bad_wr, wrs.data());
  EXPECT_EQ(shared.head().producer, 1u) << "nothing is posted";
  EXPECT_EQ(queue.post(wrs.data(), &bad_wr), 0);
  EXPECT_EQ(shared.head().producer, 2u);
  pollers.ring_all();
  queue.start();
  queue.add(IBV_WR_SEND, 1, 0);
  EXPECT_EQ(queue.finish(), EBADF);
  EXPECT_EQ(shared.head().producer, 2u) << "nothing is posted";
}

/// Lets two threads post concurrently. Returns how many of their requests are in the queue.
std::ptrdiff_t race(std::uint64_t each) {
  constexpr std::size_t length = 100;
  SharedQueue shared(8192, kSendStride);
  const int null = open("/dev/null", O_WRONLY);
  sroce::DoorbellList pollers;
  SendQueue queue(*shared.open<sroce_send_slot>(), {Service::rc, 0, 0}, Doorbell(null, kHandle),
                  pollers, pollers, false);
  std::latch start(2);
  const auto post = [&](std::uint64_t first) {
    start.arrive_and_wait();
    for (std::uint64_t posted = 0; posted < each; posted += length) {
      Chain<ibv_send_wr, length> wrs;
      for (ibv_send_wr& wr : wrs) wr.wr_id += first + posted;
      ibv_send_wr* bad_wr;
      EXPECT_EQ(queue.post(wrs.data(), &bad_wr), 0);
    }
  };
  std::thread other(post, each);
  post(0);
  other.join();
  close(null);
  std::vector<bool> seen(2 * each);
  for (std::uint32_t i = 0; i < 2 * each; i++) seen[shared.copy<sroce_send_slot>(i).wr_id] = true;
  return std::count(seen.begin(), seen.end(), true);
}

// Many short races, because the scheduler may run the threads of one race one after the other.
TEST(SendQueue, ConcurrentPostsLoseNoRequest) {
  for (int round = 0; round < 20; round++) ASSERT_EQ(race(4000), 8000);
}

TEST_F(SendQueueTest, SuppressedDoorbellIsNotRung) {
  shared.suppress_doorbell(true);
  Chain<ibv_send_wr, 2> wrs;
  ASSERT_EQ(queue.post(wrs.data(), &bad_wr), 0);
  EXPECT_EQ(shared.head().producer, 2u);
  EXPECT_EQ(bell.rings(), 0);
}

TEST_F(SendQueueTest, FullQueueRingsTheDueDoorbell) {
  shared.suppress_doorbell(true);
  Chain<ibv_send_wr, 4> wrs;
  ASSERT_EQ(queue.post(wrs.data(), &bad_wr), 0);
  EXPECT_EQ(bell.rings(), 0);
  EXPECT_EQ(queue.post(&wrs[3], &bad_wr), ENOMEM);
  EXPECT_EQ(bell.rings(), 1);
}

TEST_F(SendQueueTest, FinishPublishesTheBatch) {
  const ibv_sge sge = {0x1000, 100, 7};
  queue.start();
  queue.add(IBV_WR_RDMA_WRITE, 1, IBV_SEND_FENCE).rkey = 5;
  queue.set_list({&sge, 1});
  queue.add(IBV_WR_SEND, 2, IBV_SEND_SIGNALED);
  EXPECT_EQ(shared.head().producer, 0u);
  EXPECT_EQ(queue.finish(), 0);
  EXPECT_EQ(shared.head().producer, 2u);
  EXPECT_EQ(bell.rings(), 1);
  const auto first = shared.copy<sroce_send_slot>(0), second = shared.copy<sroce_send_slot>(1);
  EXPECT_EQ(first.opcode, unsigned{IBV_WR_RDMA_WRITE});
  EXPECT_EQ(first.flags, unsigned{IBV_SEND_FENCE});
  EXPECT_EQ(first.rkey, 5u);
  EXPECT_EQ(first.length, 100u);
  EXPECT_EQ(shared.sge<sroce_send_slot>(0, 0).addr, 0x1000u);
  EXPECT_EQ(second.wr_id, 2u);
  EXPECT_EQ(second.length, 0u) << "nothing is left of the slot's previous request";
}

TEST_F(SendQueueTest, OversizedBatchIsNotPosted) {
  queue.start();
  for (std::uint64_t id = 0; id < 5; id++) queue.add(IBV_WR_SEND, id, 0);
  EXPECT_EQ(queue.finish(), ENOMEM);
  EXPECT_EQ(shared.head().producer, 0u);
  EXPECT_EQ(bell.rings(), 0);
}

TEST_F(SendQueueTest, BadRequestFailsTheBatch) {
  const std::array<ibv_sge, 5> list{};
  queue.start();
  queue.add(IBV_WR_SEND, 1, 0);
  queue.set_list(list);
  queue.add(IBV_WR_SEND, 2, 0);
  queue.set_list(std::span(list).first(1));
  EXPECT_EQ(queue.finish(), EINVAL);
  EXPECT_EQ(shared.head().producer, 0u);
  queue.start();
  queue.add(IBV_WR_SEND, 3, 0);
  EXPECT_EQ(queue.finish(), 0) << "only that batch fails";
  EXPECT_EQ(shared.copy<sroce_send_slot>(0).wr_id, 3u);
}

TEST_F(SendQueueTest, AbortedBatchIsNotPosted) {
  queue.start();
  queue.add(IBV_WR_SEND, 1, 0);
  queue.abort();
  queue.start();
  EXPECT_EQ(queue.finish(), 0);
  EXPECT_EQ(shared.head().producer, 0u);
  EXPECT_EQ(bell.rings(), 0);
}

TEST_F(SendQueueTest, BatchCopiesInlineDataUpToTheLimit) {
  std::vector<char> data(65, 'x');
  const std::array<ibv_data_buf, 2> list = {{{data.data(), 60}, {data.data(), 4}}};
  queue.start();
  queue.add(IBV_WR_SEND, 1, 0);
  queue.set_inline(list);
  EXPECT_EQ(queue.finish(), 0);
  const auto wqe = shared.copy<sroce_send_slot>(0);
  EXPECT_EQ(wqe.flags, unsigned{IBV_SEND_INLINE});
  EXPECT_EQ(wqe.length, 64u);
  EXPECT_EQ(shared.element(0)[48 + 63], std::byte{'x'});
  const ibv_data_buf more = {data.data(), 65};
  queue.start();
  queue.add(IBV_WR_SEND, 1, 0);
  queue.set_inline({&more, 1});
  EXPECT_EQ(queue.finish(), EINVAL);
}

// Their sum is small again.
TEST_F(SendQueueTest, LengthsOfInlineDataMayOverflow) {
  std::vector<char> data(64, 'x');
  const std::array<ibv_data_buf, 2> list = {{{data.data(), 60}, {data.data(), SIZE_MAX - 30}}};
  queue.start();
  queue.add(IBV_WR_SEND, 1, 0);
  queue.set_inline(list);
  EXPECT_EQ(queue.finish(), EINVAL);
}

class ReceiveQueueTest : public testing::Test {
 protected:
  SharedQueue shared{4, kRecvStride};
  ReceiveQueue queue{*shared.open<sroce_recv_slot>(8 + 4 * 16), 4, false};
  ibv_recv_wr* bad_wr = nullptr;
};

TEST_F(ReceiveQueueTest, SlotHoldsTheListAndItsEnd) {
  std::array<ibv_sge, 2> list = {{{0x1000, 100, 7}, {0x2000, 23, 8}}};
  Chain<ibv_recv_wr, 1> wrs;
  wrs[0].wr_id = 0x1122334455667788;
  wrs[0].sg_list = list.data();
  wrs[0].num_sge = 2;
  ASSERT_EQ(queue.post(wrs.data(), &bad_wr), 0);
  EXPECT_EQ(shared.copy<sroce_recv_slot>(0).wr_id, 0x1122334455667788u);
  EXPECT_EQ(shared.sge<sroce_recv_slot>(0, 0).addr, 0x1000u);
  EXPECT_EQ(shared.sge<sroce_recv_slot>(0, 1).addr, 0x2000u);
  EXPECT_EQ(shared.sge<sroce_recv_slot>(0, 1).length, 23u);
  EXPECT_EQ(shared.sge<sroce_recv_slot>(0, 1).lkey, 8u);
  EXPECT_EQ(shared.sge<sroce_recv_slot>(0, 2).length, 0u);
}

TEST_F(ReceiveQueueTest, SgeOfLengthZeroDoesNotEndTheList) {
  std::memset(shared.element(0).data(), 0xa5, kRecvStride);
  std::array<ibv_sge, 4> list = {
      {{0x1000, 0, 7}, {0x2000, 23, 8}, {0x3000, 0, 9}, {0x4000, 5, 10}}};
  Chain<ibv_recv_wr, 1> wrs;
  wrs[0].sg_list = list.data();
  wrs[0].num_sge = 4;
  ASSERT_EQ(queue.post(wrs.data(), &bad_wr), 0);
  EXPECT_EQ(shared.sge<sroce_recv_slot>(0, 0).addr, 0x2000u);
  EXPECT_EQ(shared.sge<sroce_recv_slot>(0, 1).addr, 0x4000u);
  EXPECT_EQ(shared.sge<sroce_recv_slot>(0, 2).length, 0u);
}

TEST_F(ReceiveQueueTest, FullListStaysInItsSlot) {
  std::memset(shared.element(0).data(), 0xa5, 2 * kRecvStride);
  std::array<ibv_sge, 4> list;
  list.fill({0x1000, 100, 7});
  Chain<ibv_recv_wr, 1> wrs;
  wrs[0].sg_list = list.data();
  wrs[0].num_sge = 4;
  ASSERT_EQ(queue.post(wrs.data(), &bad_wr), 0);
  EXPECT_EQ(shared.sge<sroce_recv_slot>(0, 3).length, 100u);
  EXPECT_EQ(shared.element(1)[0], std::byte{0xa5});
}

TEST_F(ReceiveQueueTest, FullQueueTakesTheStartOfTheChain) {
  Chain<ibv_recv_wr, 5> wrs;
  EXPECT_EQ(queue.post(wrs.data(), &bad_wr), ENOMEM);
  EXPECT_EQ(bad_wr, &wrs[4]);
  shared.consume(1);
  EXPECT_EQ(queue.post(bad_wr, &bad_wr), 0);
  EXPECT_EQ(shared.head().producer, 5u);
}

TEST_F(ReceiveQueueTest, TooManySgesAreRejected) {
  std::array<ibv_sge, 5> list{};
  Chain<ibv_recv_wr, 1> wrs;
  wrs[0].sg_list = list.data();
  for (const int num_sge : {5, -1}) {
    wrs[0].num_sge = num_sge;
    bad_wr = nullptr;
    EXPECT_EQ(queue.post(wrs.data(), &bad_wr), EINVAL);
    EXPECT_EQ(bad_wr, wrs.data());
  }
  EXPECT_EQ(shared.head().producer, 0u);
}

}  // namespace
