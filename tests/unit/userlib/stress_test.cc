// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Threads that post, poll, sleep and destroy, and one that plays the kernel's part of the protocol
// of Documentation/abi.md; under the thread sanitizer. A doorbell that is lost leaves somebody
// waiting: that is what the patience is for.
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

constexpr int kPatienceMs = 60000;
constexpr std::uint32_t kSlots = 64;

/// Whether something can be read in time.
bool readable(int fd) {
  pollfd wanted = {.fd = fd, .events = POLLIN, .revents = 0};
  return poll(&wanted, 1, kPatienceMs) == 1;
}

/// A send queue's kernel side.
class FakeKernel {
 public:
  FakeKernel() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends_.data()), 0); }
  ~FakeKernel() {
    for (const int fd : ends_) close(fd);
  }
  FakeKernel(const FakeKernel&) = delete;

  std::unique_ptr<SendQueue> open(DoorbellList& send, DoorbellList& receive) {
    return std::make_unique<SendQueue>(*shared_.open<sroce_send_slot>(),
                                       sroce::SendLimits{sroce::Service::reliable, 0, 0},
                                       sroce::Doorbell(ends_[0], 1), send, receive, false);
  }

  bool hear() {
    std::array<std::byte, 64> command;
    return readable(ends_[1]) && recv(ends_[1], command.data(), command.size(), 0) > 0;
  }
  bool was_called() {
    std::array<std::byte, 64> command;
    return recv(ends_[1], command.data(), command.size(), MSG_DONTWAIT) > 0;
  }
  int bell() const { return ends_[1]; }

  /// Take what is there, and finish it at once: @p found is called with each wr_id.
  template <typename Found>
  bool look(Found found) {
    const std::uint32_t end = index(shared_.head().producer).load();
    const bool any = cursor_ != end;
    for (; cursor_ != end; cursor_++) found(shared_.copy<sroce_send_slot>(cursor_).wr_id);
    index(shared_.head().fetched).store(cursor_);
    index(shared_.head().consumer).store(cursor_, std::memory_order_release);
    return any;
  }

  void watch(bool no_doorbell) {
    // Sequentially consistent, as the kernel's barrier makes it, with the look that follows.
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

/// Where two threads wait for each other, and leave as close together as can be.
class Meeting {
 public:
  void arrive() {
    const unsigned round = arrived_++ / 2;
    for (int spins = 0; arrived_ < 2 * (round + 1); spins++)
      if (spins > 1000) std::this_thread::yield();
  }

 private:
  std::atomic<unsigned> arrived_ = 0;
};

// The crossing itself, many times: one publishes and reads the word while the other withdraws the
// word and looks.
TEST(Stress, PosterSeesTheWordWithdrawnOrTheKernelTheRequest) {
  constexpr int kRounds = 20000;
  FakeKernel kernel;
  DoorbellList pollers;
  const auto queue = kernel.open(pollers, pollers);
  Meeting start, end;
  std::thread poster([&] {
    for (int round = 0; round < kRounds; round++) {
      start.arrive();
      post(*queue, 0);
      end.arrive();
    }
  });
  int lost = 0;
  for (int round = 0; round < kRounds; round++) {
    kernel.watch(true);
    start.arrive();
    kernel.watch(false);
    const bool seen = kernel.look([](std::uint64_t) {});
    end.arrive();
    // Both may have happened.
    lost += !kernel.was_called() && !seen;
    kernel.look([](std::uint64_t) {});
  }
  poster.join();
  EXPECT_EQ(lost, 0);
}

// The same crossing at a completion queue: one arm to be told of the next entry and looks at the
// ring while the other writes an entry and looks at the arm. On x86 any read-modify-write is a
// full barrier: too weak an order is found on others, and by ThreadSanitizer.
TEST(Stress, SleeperSeesTheEntryOrTheKernelTheWish) {
  constexpr std::uint32_t kRounds = 20000, kMask = 3;
  SharedRing shared(kMask + 1, 6);
  const auto opened = sroce::ConsumerRing<ib_uverbs_wc>::open(shared.memory());
  ASSERT_TRUE(opened);
  sroce::ConsumerRing<ib_uverbs_wc> ring = *opened;
  Meeting start, end;
  bool seen = false;
  std::thread sleeper([&] {
    for (std::uint32_t round = 0; round < kRounds; round++) {
      start.arrive();
      ring.wish(round % 2);
      seen = ring.pending() != 0;
      end.arrive();
    }
  });
  int lost = 0;
  for (std::uint32_t round = 0; round < kRounds; round++) {
    std::uint32_t& word = round % 2 ? shared.arm().solicited : shared.arm().any;
    const std::uint32_t heard = std::atomic_ref(word).load();
    start.arrive();
    std::atomic_ref(shared.header().producer_index).store((round + 1) & kMask);
    const bool wished = std::atomic_ref(word).load() != heard;
    end.arrive();
    lost += !wished && !seen;
    ring.release(1);
  }
  sleeper.join();
  EXPECT_EQ(lost, 0);
}

// Nobody polls: every request must be found by a kernel that sleeps unless it has given its word.
TEST(Stress, KernelMissesNoRequestWhenItWithdrawsItsWord) {
  constexpr std::uint64_t kEach = 20000;
  constexpr unsigned kPosters = 2;
  FakeKernel kernel;
  DoorbellList pollers;
  const auto queue = kernel.open(pollers, pollers);
  std::array<std::uint64_t, kPosters> next{};
  std::uint64_t taken = 0;
  const auto found = [&](std::uint64_t id) {
    EXPECT_EQ(next[id >> 32]++, id & 0xffffffff) << "each poster's requests in order";
    taken++;
  };
  std::thread kernel_thread([&] {
    std::minstd_rand random(1);
    while (taken < kPosters * kEach) {
      ASSERT_TRUE(kernel.hear()) << "after " << taken;
      kernel.look(found);
      do {
        kernel.watch(true);
        for (auto looks = random() % 4; looks; looks--) kernel.look(found);
        if (random() % 16 == 0) std::this_thread::yield();
        kernel.watch(false);
      } while (kernel.look(found) && taken < kPosters * kEach);
    }
  });
  std::vector<std::thread> posters;
  for (std::uint64_t who = 0; who < kPosters; who++)
    posters.emplace_back([&, who] {
      for (std::uint64_t i = 0; i < kEach; i++) post(*queue, who << 32 | i);
    });
  for (std::thread& poster : posters) poster.join();
  kernel_thread.join();
  EXPECT_EQ(taken, kPosters * kEach);
}

/// A kernel that has given its word for two queues and does not keep it: it looks when it is
/// called, and answers in a completion queue that all share. What moves, others have moved.
class UnfaithfulKernel {
 public:
  UnfaithfulKernel() : where_(memory_.add_ring(512, 6)) {
    cq = CompletionQueue::open(memory_.fd(), where_, false, &sroce::PollBackoff::processor());
    other_cq = CompletionQueue::open(memory_.fd(), memory_.add_ring(4, 6), false);
    for (std::size_t i = 0; i < queues.size(); i++) {
      kernel_[i].watch(true);
      queues[i] = kernel_[i].open(cq->doorbells(), i ? other_cq->doorbells() : cq->doorbells());
    }
    thread_ = std::thread([this] { run(); });
  }
  ~UnfaithfulKernel() {
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
    std::array<pollfd, 3> wanted = {
        {{kernel_[0].bell(), POLLIN, 0}, {kernel_[1].bell(), POLLIN, 0}, {stop_, POLLIN, 0}}};
    while (poll(wanted.data(), wanted.size(), -1) > 0 && !wanted[2].revents) {
      for (std::size_t i = 0; i < kernel_.size(); i++) {
        if (!wanted[i].revents) continue;
        kernel_[i].hear();
        kernel_[i].look([this](std::uint64_t id) { complete(id); });
      }
    }
  }

  void complete(std::uint64_t id) {
    rxe_queue_buf& header = memory_.ring(where_).header();
    const std::uint32_t at = header.producer_index;
    ib_uverbs_wc entry{};
    entry.wr_id = id;
    std::memcpy(memory_.ring(where_).element(at).data(), &entry, sizeof(entry));
    // Sequentially consistent, as the kernel's barrier makes it, with the look that follows.
    std::atomic_ref(header.producer_index).store((at + 1) & 511);
    const std::uint32_t wished = std::atomic_ref(memory_.ring(where_).arm().any).load();
    if (wished == arm_seen_) return;
    arm_seen_ = wished;
    EXPECT_GT(write(event, &kOne, sizeof(kOne)), 0);
  }

  KernelMemory memory_;
  mminfo where_;
  std::array<FakeKernel, 2> kernel_;
  const int stop_ = eventfd(0, 0);
  std::uint32_t arm_seen_ = 0;
  std::thread thread_;
};

// Two post, in bursts that they wait for; others poll without end.
TEST(Stress, PollersRingWhatPostersLeftOut) {
  constexpr std::uint64_t kEach = 20000;
  UnfaithfulKernel kernel;
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

// One sleeps on the events of the completion queue; two post and do not poll.
TEST(Stress, WhoSleepsIsWokenThoughNobodyPolls) {
  constexpr std::uint64_t kEach = 5000;
  UnfaithfulKernel kernel;
  std::atomic<std::uint64_t> posted = 0;
  std::atomic<std::uint64_t> polled = 0;
  std::vector<std::thread> posters;
  for (const auto& queue : kernel.queues)
    posters.emplace_back([&] {
      for (std::uint64_t i = 0; i < kEach; i++) {
        // No more than the completion queue holds; and often the sleeper has just caught up.
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
      ADD_FAILURE() << "nothing came after " << polled;
      _exit(1);  // the others wait for it
    }
    std::uint64_t events;
    EXPECT_GT(read(kernel.event, &events, sizeof(events)), 0);
    kernel.cq->disarm();
  }
  for (std::thread& poster : posters) poster.join();
}

// Queues come and go with doorbells still due, while others poll their completion queues.
TEST(Stress, QueueIsDestroyedWhileOthersRing) {
  UnfaithfulKernel kernel;
  std::atomic<bool> done = false;
  std::thread poller([&] {
    std::array<ibv_wc, 16> completions;
    while (!done) {
      kernel.cq->poll(completions);
      kernel.other_cq->poll(completions);
    }
  });
  for (int round = 0; round < 2000; round++) {
    FakeKernel passing;
    passing.watch(true);
    const auto queue = passing.open(kernel.cq->doorbells(), kernel.other_cq->doorbells());
    post(*queue, 0);
    post(*kernel.queues[0], 0);
    queue->doorbell().leave_lists();
  }
  done = true;
  poller.join();
}

}  // namespace
