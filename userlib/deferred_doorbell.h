// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Doorbells that are not rung while the kernel looks at the send queue by itself, and those who
// ring them after all: whoever finds a completion queue empty, or is about to sleep. The order of
// memory accesses is explained in Documentation/abi.md; stress_test.cc tries it.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <span>

#include "doorbell.h"
#include "ring.h"

namespace sroce {

class DeferredDoorbell;

/// The doorbells that the pollers of a completion queue have to ring. Entries are added without a
/// lock and by any thread; they are taken out all at once, under one.
class DoorbellList {
 public:
  struct Entry {
    DeferredDoorbell* doorbell = nullptr;
    DoorbellList* list = nullptr;
    Entry* next = nullptr;
    std::atomic<bool> listed = false;
  };

  bool is_empty() const { return !head_.load(std::memory_order_relaxed); }

  /// Put @p entry into the list, unless it is there.
  void add(Entry& entry);

  /// Take it out; when this returns, nobody is at work on it.
  void remove(Entry& entry);

  /// For a poller who found nothing: ring where the kernel may have run out of work. Leaves at
  /// once when somebody is at it.
  void ring_where_idle();

  /// For one who is going to sleep: ring everywhere.
  void ring_all();

  /// Somebody may sleep until the next completion: then nobody polls, and nothing is deferred.
  void set_armed(bool armed) { armed_.store(armed, std::memory_order_seq_cst); }
  bool is_armed(std::memory_order order) const { return armed_.load(order); }

 private:
  void push(Entry& entry);

  std::atomic<Entry*> head_ = nullptr;
  std::atomic<bool> armed_ = false;
  /// Held while entries are taken out and rung.
  std::mutex ringing_;
};

/// The doorbell of one send queue.
class DeferredDoorbell {
 public:
  /// @p send and @p receive belong to the completion queues of the QP, and may be the same.
  DeferredDoorbell(Doorbell doorbell, ProducerRing<sroce_send_slot> ring, DoorbellList& send,
               DoorbellList& receive);

  /// Something has been published: ring now, or later, or never. Returns 0 or an errno.
  int tell();

  /// Ring now.
  int ring();

  /// Ring if that has been put off, and the kernel has not come by itself meanwhile.
  void ring_if_due();

  /// Whether a poller who found nothing can wait for the requests that the kernel is at work on:
  /// their acknowledgements make it look at the queue, too.
  bool can_wait() const;

  /// Leave the lists, for good when nothing is posted any more.
  void leave_lists();

 private:
  bool may_defer(std::memory_order order) const;

  Doorbell doorbell_;
  ProducerRing<sroce_send_slot> ring_;
  std::atomic<bool> due_ = false;
  std::array<DoorbellList::Entry, 2> storage_;
  /// One entry, or two where the completion queues differ.
  std::span<DoorbellList::Entry> entries_;
};

}  // namespace sroce
