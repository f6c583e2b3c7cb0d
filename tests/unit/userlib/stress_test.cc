// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Threads post, poll, sleep and destroy queues while another plays the kernel's part in the
// protocol of Documentation/abi.md. After a lost doorbell or event a thread waits in vain, which
// the timeout turns into a failure.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "completion_queue.h"
#include "kernel_memory.h"
#include "queue_pair.h"

namespace {

using sroce::CompletionQueue;
using sroce::DoorbellList;
using sroce::SendQueue;

constexpr int kTimeoutMs = 60000;
constexpr std::uint32_t kSlots = 64;

/// Wait until @p fd is readable. Returns false on timeout.
bool readable(int fd) {
  pollfd wanted = {.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&wanted, 1, kTimeoutMs) == 1;
}

/// The kernel side of a send queue.
class FakeKernel {
 public:
  FakeKernel() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends_.data()), 0); }
  ~FakeKernel() {
    for (const int fd : ends_) close(fd);
  }
  FakeKernel(const FakeKernel&) = delete;

  std::unique_ptr<SendQueue> open(DoorbellList& send, DoorbellList& receive) {
    return std::make_unique<SendQueue>(*shared_.open<sroce_send_slot>(),
                                       sroce::SendLimits{sroce::Service::rc, 0, 0},
                                       sroce::Doorbell(ends_[0], 1), send, receive, false);
  }

  bool wait_doorbell() {
    std::array<std::byte, 64> command;
    return readable(ends_[1]) && recv(ends_[1], command.data(), command.size(), 0) > 0;
  }
  bool take_doorbell() {
    std::array<std::byte, 64> command;
    return recv(ends_[1], command.data(), command.size(), MSG_DONTWAIT) > 0;
  }
  int doorbell_fd() const { return ends_[1]; }

  /// Fetch and complete all requests and call @p complete with each wr_id. Returns false if there
  /// are none.
  template <typename Complete>
  bool poll_ring(Complete complete) {
    const std::uint32_t end = index(shared_.head().producer).load();
    const bool any = cursor_ != end;
    for (; cursor_ != end; cursor_++) complete(shared_.copy<sroce_send_slot>(cursor_).wr_id);
    index(shared_.head().fetched).store(cursor_);
    index(shared_.head().consumer).store(cursor_, std::memory_order_release);
    return any;
  }

  void suppress_doorbell(bool no_doorbell) {
    // seq_cst, like the kernel's store and full barrier before it polls the ring.
    index(shared_.head().no_doorbell).store(no_doorbell);
  }

 private:
  static std::atomic_ref<std::uint32_t> index(std::uint32_t& word) { return std::atomic_ref(word); }

  SharedQueue shared_{kSlots, 64};
  std::array<int, 2> ends_{};
  std::uint32_t cursor_ = 0;
};

void post(SendQueue& queue, std::uint64_t wr_id) {
  ibv_send_wr wr{}, *bad_wr;
  wr.wr_id = wr_id;
  wr.opcode = IBV_WR_SEND;
  int err;
  while ((err = queue.post(&wr, &bad_wr)) == ENOMEM) std::this_thread::yield();
  ASSERT_EQ(err, 0);
}

/// A spinning barrier for two threads, so that they leave it almost together.
class Barrier {
 public:
  void arrive() {
    const unsigned round = arrived_++ / 2;
    for (int spins = 0; arrived_ < 2 * (round + 1); spins++)
      if (spins > 1000) std::this_thread::yield();
  }

 private:
  std::atomic<unsigned> arrived_ = 0;
};

// One thread publishes a request and loads no_doorbell. The other clears no_doorbell and polls the
// ring. At least one of them must see the other's store.
TEST(Stress, RevokedSuppressionLosesNoRequest) {
  constexpr int kRounds = 20000;
  FakeKernel kernel;
  DoorbellList pollers;
  const auto queue = kernel.open(pollers, pollers);
  Barrier start, end;
  std::thread poster([&] {
    for (int round = 0; round < kRounds; round++) {
      start.arrive();
      post(*queue, 0);
      end.arrive();
    }
  });
  int lost = 0;
  for (int round = 0; round < kRounds; round++) {
    kernel.suppress_doorbell(true);
    start.arrive();
    kernel.suppress_doorbell(false);
    const bool seen = kernel.poll_ring([](std::uint64_t) {});
    end.arrive();
    // Both may see the other.
    lost += !kernel.take_doorbell() && !seen;
    kernel.poll_ring([](std::uint64_t) {});
  }
  poster.join();
  EXPECT_EQ(lost, 0);
}

// One thread arms a completion queue and polls it. The other publishes an entry and loads the arm
// counter. At least one of them must see the other's store. On x86 any read-modify-write is a full
// barrier, so only other architectures and ThreadSanitizer detect too weak an order.
TEST(Stress, ArmedQueueLosesNoEntry) {
  constexpr std::uint32_t kRounds = 20000, kMask = 3;
  SharedRing shared(kMask + 1, 6);
  const auto opened = sroce::ConsumerRing<ib_uverbs_wc>::open(shared.memory());
  ASSERT_TRUE(opened);
  sroce::ConsumerRing<ib_uverbs_wc> ring = *opened;
  Barrier start, end;
  bool seen = false;
  std::thread sleeper([&] {
    for (std::uint32_t round = 0; round < kRounds; round++) {
      start.arrive();
      ring.arm(round % 2);
      seen = ring.pending() != 0;
      end.arrive();
    }
  });
  int lost = 0;
  for (std::uint32_t round = 0; round < kRounds; round++) {
    std::uint32_t& word = round % 2 ? shared.arm().solicited : shared.arm().any;
    const std::uint32_t arm_seen = std::atomic_ref(word).load();
    start.arrive();
    std::atomic_ref(shared.header().producer_index).store((round + 1) & kMask);
    const bool armed = std::atomic_ref(word).load() != arm_seen;
    end.arrive();
    lost += !armed && !seen;
    ring.release(1);
  }
  sleeper.join();
  EXPECT_EQ(lost, 0);
}

// No thread polls for completions. The kernel waits for a doorbell unless it suppresses doorbells,
// and must find every request.
TEST(Stress, KernelFindsEveryRequestWithoutPollers) {
  constexpr std::uint64_t kEach = 20000;
  constexpr unsigned kPosters = 2;
  FakeKernel kernel;
  DoorbellList pollers;
  const auto queue = kernel.open(pollers, pollers);
  std::array<std::uint64_t, kPosters> next{};
  std::uint64_t taken = 0;
  const auto complete = [&](std::uint64_t id) {
    EXPECT_EQ(next[id >> 32]++, id & 0xffffffff) << "a poster's requests are out of order";
    taken++;
  };
  std::thread kernel_thread([&] {
    std::minstd_rand random(1);
    while (taken < kPosters * kEach) {
      ASSERT_TRUE(kernel.wait_doorbell()) << "after " << taken;
      kernel.poll_ring(complete);
      do {
        kernel.suppress_doorbell(true);
        for (auto polls = random() % 4; polls; polls--) kernel.poll_ring(complete);
        if (random() % 16 == 0) std::this_thread::yield();
        kernel.suppress_doorbell(false);
      } while (kernel.poll_ring(complete) && taken < kPosters * kEach);
    }
  });
  std::vector<std::thread> posters;
  for (std::uint64_t poster = 0; poster < kPosters; poster++)
    posters.emplace_back([&, poster] {
      for (std::uint64_t i = 0; i < kEach; i++) post(*queue, poster << 32 | i);
    });
  for (std::thread& poster : posters) poster.join();
  kernel_thread.join();
  EXPECT_EQ(taken, kPosters * kEach);
}

/// A kernel that suppresses the doorbells of two queues but never polls them, so that a request
/// moves on only if a thread rings after all. Both queues share a completion queue.
class NonPollingKernel {
 public:
  NonPollingKernel() : where_(memory_.add_ring(512, 6)) {
    cq = CompletionQueue::open(memory_.fd(), where_, false, &sroce::PollBackoff::host_cpu());
    other_cq = CompletionQueue::open(memory_.fd(), memory_.add_ring(4, 6), false);
    for (std::size_t i = 0; i < queues.size(); i++) {
      kernel_[i].suppress_doorbell(true);
      queues[i] = kernel_[i].open(cq->doorbells(), i ? other_cq->doorbells() : cq->doorbells());
    }
    thread_ = std::thread([this] { run(); });
  }
  ~NonPollingKernel() {
    EXPECT_EQ(write(stop_, &kOne, sizeof(kOne)), static_cast<ssize_t>(sizeof(kOne)));
    thread_.join();
    for (const auto& queue : queues) queue->doorbell().leave_lists();
    close(stop_);
    close(event);
  }

  std::unique_ptr<CompletionQueue> cq, other_cq;
  std::array<std::unique_ptr<SendQueue>, 2> queues;
  const int event = eventfd(0, EFD_NONBLOCK);

 private:
  static constexpr std::uint64_t kOne = 1;

  void run() {
    std::array<pollfd, 3> wanted = {{{kernel_[0].doorbell_fd(), POLLIN, 0},
                                     {kernel_[1].doorbell_fd(), POLLIN, 0},
                                     {stop_, POLLIN, 0}}};
    while (poll(wanted.data(), wanted.size(), -1) > 0 && !wanted[2].revents) {
      for (std::size_t i = 0; i < kernel_.size(); i++) {
        if (!wanted[i].revents) continue;
        kernel_[i].wait_doorbell();
        kernel_[i].poll_ring([this](std::uint64_t id) { complete(id); });
      }
    }
  }

  void complete(std::uint64_t id) {
    rxe_queue_buf& header = memory_.ring(where_).header();
    const std::uint32_t at = header.producer_index;
    ib_uverbs_wc entry{};
    entry.wr_id = id;
    std::memcpy(memory_.ring(where_).element(at).data(), &entry, sizeof(entry));
    // seq_cst, like the kernel's store and full barrier before it loads the counter.
    std::atomic_ref(header.producer_index).store((at + 1) & 511);
    const std::uint32_t arms = std::atomic_ref(memory_.ring(where_).arm().any).load();
    if (arms == arm_seen_) return;
    arm_seen_ = arms;
    EXPECT_GT(write(event, &kOne, sizeof(kOne)), 0);
  }

  KernelMemory memory_;
  mminfo where_;
  std::array<FakeKernel, 2> kernel_;
  const int stop_ = eventfd(0, 0);
  std::uint32_t arm_seen_ = 0;
  std::thread thread_;
};

// Two threads post bursts and wait for their completion. Two others poll all the time.
TEST(Stress, PollersRingDueDoorbells) {
  constexpr std::uint64_t kEach = 20000;
  NonPollingKernel kernel;
  std::atomic<std::uint64_t> posted = 0, polled = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 2; seed++) {
    threads.emplace_back([&, seed] {
      std::minstd_rand random(seed + 1);
      for (std::uint64_t i = 0; i < kEach;) {
        for (auto burst = 1 + random() % 8; burst && i < kEach; burst--, i++) {
          posted++;
          post(*kernel.queues[seed], i);
        }
        for (const std::uint64_t until = posted; polled < until;) std::this_thread::yield();
      }
    });
    threads.emplace_back([&] {
      std::array<ibv_wc, 16> completions;
      while (polled < 2 * kEach) polled += kernel.cq->poll(completions);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(polled, 2 * kEach);
}

// Two threads post without polling. A third sleeps until the event of the completion queue.
TEST(Stress, SleeperIsWokenWithoutPollers) {
  constexpr std::uint64_t kEach = 5000;
  NonPollingKernel kernel;
  std::atomic<std::uint64_t> posted = 0;
  std::atomic<std::uint64_t> polled = 0;
  std::vector<std::thread> posters;
  for (const auto& queue : kernel.queues)
    posters.emplace_back([&] {
      for (std::uint64_t i = 0; i < kEach; i++) {
        // A limit below the size of the completion queue, so low that the sleeper often catches up.
        while (posted - polled > 100) std::this_thread::yield();
        posted++;
        post(*queue, i);
      }
    });
  std::array<ibv_wc, 16> completions;
  while (polled < 2 * kEach) {
    kernel.cq->arm(false);
    const std::size_t count = kernel.cq->poll(completions);
    polled += count;
    if (count) continue;
    if (!readable(kernel.event)) {
      ADD_FAILURE() << "no event after " << polled;
      _exit(1);  // the posters would never end
    }
    std::uint64_t events;
    EXPECT_GT(read(kernel.event, &events, sizeof(events)), 0);
    kernel.cq->disarm();
  }
  for (std::thread& poster : posters) poster.join();
}

// Queues with due doorbells are destroyed while another thread polls their completion queues.
TEST(Stress, QueueIsDestroyedDuringPolls) {
  NonPollingKernel kernel;
  std::atomic<bool> done = false;
  std::thread poller([&] {
    std::array<ibv_wc, 16> completions;
    while (!done) {
      kernel.cq->poll(completions);
      kernel.other_cq->poll(completions);
    }
  });
  for (int round = 0; round < 2000; round++) {
    FakeKernel other;
    other.suppress_doorbell(true);
    const auto queue = other.open(kernel.cq->doorbells(), kernel.other_cq->doorbells());
    post(*queue, 0);
    post(*kernel.queues[0], 0);
    queue->doorbell().leave_lists();
  }
  done = true;
  poller.join();
}

}  // namespace
