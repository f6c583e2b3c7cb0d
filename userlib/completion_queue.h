// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <span>

#include "poll_backoff.h"
#include "deferred_doorbell.h"
#include "mapping.h"
#include "optional_mutex.h"
#include "ring.h"

namespace sroce {

static_assert(sizeof(ib_uverbs_wc) == 48);
static_assert(offsetof(ib_uverbs_wc, ex) == 24);
static_assert(offsetof(ib_uverbs_wc, wc_flags) == 36);
static_assert(sizeof(rxe_create_cq_resp) == sizeof(mminfo));
static_assert(sizeof(rxe_resize_cq_resp) == sizeof(mminfo));

/// A completion queue. Polling is safe from many threads unless one was promised. Who finds nothing
/// rings the doorbells that posting has left out, and looks again; who finds nothing for long lets
/// others have the processor, and looks again.
class CompletionQueue {
 public:
  /// Nothing, and errno set, when the ring cannot be mapped or is not what it should be. Pollers
  /// give @p processor away; with nullptr they never do.
  static std::unique_ptr<CompletionQueue> open(int fd, const mminfo& where, bool single_threaded,
                                               const PollBackoff::Processor* processor = nullptr);

  /// Take up to @p completions.size() entries, oldest first; returns how many there were.
  std::size_t poll(std::span<ibv_wc> completions);

  /// ibv_start_poll(): the oldest entry, in place, and the queue is the caller's until end_poll();
  /// or nullptr, and it is not.
  const ib_uverbs_wc* start_poll();
  /// ibv_next_poll(): the next one, or nullptr; the one before is given back to the kernel.
  const ib_uverbs_wc* next_poll();
  void end_poll();

  /// What next_poll() or start_poll() returned last.
  const ib_uverbs_wc& current() const { return *current_; }

  /// ibv_req_notify_cq(): who polls after this and finds nothing may sleep until the event.
  void arm(bool solicited_only);
  /// The event has come.
  void disarm() { doorbells_.set_armed(false); }

  DoorbellList& doorbells() { return doorbells_; }

  /// Exchange the ring for another one. @p change asks the kernel for it, which carries over what
  /// has not been polled, and what was wished for: so nobody polls or arms meanwhile. Returns 0 or
  /// an errno.
  template <typename Change>
  int replace(int fd, Change change) {
    const std::scoped_lock guard(lock_, arming_);
    mminfo where{};
    if (const int err = change(where)) return err;
    return remap(fd, where);
  }

 private:
  CompletionQueue(Mapping memory, ConsumerRing<ib_uverbs_wc> ring, bool single_threaded,
                  const PollBackoff::Processor* processor);
  template <typename Look>
  auto poll_rwqe(Look look) -> decltype(look());
  std::size_t take(std::span<ibv_wc> completions);
  const ib_uverbs_wc* oldest();
  const ib_uverbs_wc* hold_oldest();
  int remap(int fd, const mminfo& where);

  Mapping memory_;
  ConsumerRing<ib_uverbs_wc> ring_;
  DoorbellList doorbells_;
  PollBackoff poll_backoff_;
  OptionalMutex lock_;
  /// Another one, since to arm is allowed between start_poll() and end_poll().
  OptionalMutex arming_;
  const ib_uverbs_wc* current_ = nullptr;
};

}  // namespace sroce
