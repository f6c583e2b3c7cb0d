// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "doorbell.h"
#include "mapping.h"
#include "optional_mutex.h"
#include "poll_backoff.h"
#include "ring.h"

namespace sroce {

static_assert(sizeof(ib_uverbs_wc) == 48);
static_assert(offsetof(ib_uverbs_wc, ex) == 24);
static_assert(offsetof(ib_uverbs_wc, wc_flags) == 36);
static_assert(sizeof(rxe_create_cq_resp) == sizeof(mminfo));
static_assert(sizeof(rxe_resize_cq_resp) == sizeof(mminfo));

/// A completion queue. Threads may poll it concurrently unless it is single-threaded. A poll that
/// finds nothing rings the due doorbells of the queue's QPs and polls again. After many such polls
/// it also yields the CPU and polls again.
class CompletionQueue {
 public:
  /// Returns nullptr and sets errno if the ring cannot be mapped or is malformed. Pollers yield
  /// @p cpu, or never if it is nullptr.
  static std::unique_ptr<CompletionQueue> open(int fd, const mminfo& where, bool single_threaded,
                                               const PollBackoff::Cpu* cpu = nullptr);

  /// Take up to @p completions.size() entries, oldest first. Returns how many were taken.
  std::size_t poll(std::span<ibv_wc> completions);

  /// ibv_start_poll(): returns the oldest entry, in place, with the queue locked until end_poll().
  /// Returns nullptr, and does not lock the queue, if it is empty.
  const ib_uverbs_wc* start_poll();
  /// ibv_next_poll(): release the current entry to the kernel and return the next one, or nullptr.
  const ib_uverbs_wc* next_poll();
  void end_poll();

  /// The entry that start_poll() or next_poll() returned last.
  const ib_uverbs_wc& current() const { return *current_; }

  /// The timestamp of that entry; only of a queue whose entries have one.
  std::uint64_t current_timestamp() const {
    return *reinterpret_cast<const std::uint64_t*>(reinterpret_cast<const std::byte*>(current_) +
                                                   SROCE_CQ_TIMESTAMP_AT);
  }

  /// The QP has been reset or destroyed: remove its entries. The kernel does not use its number
  /// again soon. Allowed between start_poll() and end_poll(); the current entry stays readable.
  void discard(std::uint32_t qp_num);

  /// ibv_req_notify_cq(): a thread that polls afterwards and finds nothing may wait for the event.
  void arm(bool solicited_only);
  /// The event has arrived.
  void disarm() { doorbells_.set_armed(false); }

  DoorbellList& doorbells() { return doorbells_; }

  /// Replace the ring. @p change makes the kernel do so, which copies the entries not polled yet
  /// and the arm counters. Polling and arming are locked out meanwhile. Returns 0 or an errno.
  template <typename Change>
  int replace(int fd, Change change) {
    const std::scoped_lock guard(lock_, arming_);
    mminfo where{};
    if (const int err = change(where)) return err;
    const int err = remap(fd, where);
    if (err) lost_.store(true);
    return err;
  }

  /// True if the kernel writes to a ring that could not be mapped. Entries of the old ring are
  /// still polled, then there will be none.
  bool is_lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  CompletionQueue(Mapping memory, ConsumerRing<ib_uverbs_wc> ring, bool single_threaded,
                  const PollBackoff::Cpu* cpu);
  template <typename Poll>
  auto poll_again(Poll poll) -> decltype(poll());
  std::size_t take(std::span<ibv_wc> completions);
  const ib_uverbs_wc* oldest();
  const ib_uverbs_wc* lock_oldest();
  int remap(int fd, const mminfo& where);

  Mapping memory_;
  ConsumerRing<ib_uverbs_wc> ring_;
  DoorbellList doorbells_;
  PollBackoff poll_backoff_;
  OptionalMutex lock_;
  /// A lock of its own because arming is allowed between start_poll() and end_poll().
  OptionalMutex arming_;
  const ib_uverbs_wc* current_ = nullptr;
  /// Slots of the current entry, and of those discarded behind it: to be released.
  std::uint32_t unreleased_ = 0;
  /// The thread between start_poll() and end_poll().
  std::atomic<std::thread::id> poller_;
  std::atomic<bool> lost_ = false;
};

}  // namespace sroce
