// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Doorbells of send queues, and when to ring them. While the kernel suppresses doorbells it polls
// the send queue, and a post only marks its doorbell due. A due doorbell is rung later by a thread
// that finds a completion queue of the QP empty or arms it, and only if the kernel has not fetched
// the requests by then. Documentation/abi.md explains the memory ordering; stress_test.cc tests it.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <span>

#include "ring.h"

namespace sroce {

/// The system call: an empty POST_SEND of uverbs.
class Doorbell {
 public:
  Doorbell(int fd, std::uint32_t qp_handle) : fd_(fd), qp_handle_(qp_handle) {}

  /// Returns 0 or an errno. On success the kernel fetches all published requests, now or soon.
  int ring() const;

 private:
  int fd_;
  std::uint32_t qp_handle_;
};

class DeferredDoorbell;

/// The due doorbells of a completion queue. Any thread adds entries, without a lock. All entries
/// are taken out at once, under a lock.
class DoorbellList {
 public:
  struct Entry {
    DeferredDoorbell* doorbell = nullptr;
    DoorbellList* list = nullptr;
    Entry* next = nullptr;
    std::atomic<bool> listed = false;
  };

  bool is_empty() const { return !head_.load(std::memory_order_relaxed); }

  /// Add @p entry unless it is listed already.
  void add(Entry& entry);

  /// Remove @p entry. No other thread uses it once this returns.
  void remove(Entry& entry);

  /// For a poller that found nothing: ring the queues whose kernel side may be idle. Returns at
  /// once if another thread is ringing.
  void ring_idle();

  /// For a thread that is about to sleep: ring every due doorbell.
  void ring_all();

  /// While the completion queue is armed its user may sleep instead of polling, so no doorbell of
  /// its QPs is deferred.
  void set_armed(bool armed) { armed_.store(armed, std::memory_order_seq_cst); }
  bool is_armed(std::memory_order order) const { return armed_.load(order); }

 private:
  void push(Entry& entry);

  std::atomic<Entry*> head_ = nullptr;
  std::atomic<bool> armed_ = false;
  /// Held while entries are taken out and rung.
  std::mutex ringing_;
};

/// The doorbell of one send queue, rung now or later.
class DeferredDoorbell {
 public:
  /// @p send and @p receive belong to the completion queues of the QP and may be the same list.
  DeferredDoorbell(Doorbell doorbell, ProducerRing<sroce_send_slot> ring, DoorbellList& send,
                   DoorbellList& receive);

  /// To be called after requests have been published. Returns 0 or an errno.
  int ring_or_defer();

  /// Ring now.
  int ring();

  /// Ring for receives in ERR. A later post reports a failure.
  void ring_for_receives();

  /// Ring if the doorbell is due and the kernel has not fetched everything already.
  void ring_if_due();

  /// The errno of a due doorbell that could not be rung, once; or 0. Such a doorbell may have been
  /// rung by a thread that posted nothing.
  int take_error() { return error_.load(std::memory_order_relaxed) ? error_.exchange(0) : 0; }

  /// True if a poller may leave a due doorbell alone because the kernel works on enough earlier
  /// requests. It polls the send queue again when they are acknowledged.
  bool can_wait() const;

  /// Leave the lists, for good if nothing is posted afterwards.
  void leave_lists();

 private:
  bool may_defer(std::memory_order order) const;

  Doorbell doorbell_;
  ProducerRing<sroce_send_slot> ring_;
  std::atomic<bool> due_ = false;
  std::atomic<int> error_ = 0;
  std::array<DoorbellList::Entry, 2> storage_;
  /// One entry, or two if the completion queues differ.
  std::span<DoorbellList::Entry> entries_;
};

}  // namespace sroce
