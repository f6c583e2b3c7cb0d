// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include "mapping.h"
#include "optional_mutex.h"
#include "ring.h"

namespace sroce {

static_assert(sizeof(sroce_recv_slot) == 8);
static_assert(sizeof(sroce_create_srq_resp) == 32);
static_assert(offsetof(sroce_create_srq_resp, head) == 12);
static_assert(offsetof(sroce_create_srq_resp, number) == 28);

/// A receive queue. Threads may post concurrently unless it is single-threaded. Posting makes no
/// system call.
class ReceiveQueue {
 public:
  /// Returns the ring if @p memory contains all of it and its slots have room for @p max_sge.
  static std::optional<ProducerRing<sroce_recv_slot>> open_ring(std::span<std::byte> memory,
                                                                const QueueLayout& layout,
                                                                std::uint32_t max_sge);

  ReceiveQueue(ProducerRing<sroce_recv_slot> ring, std::uint32_t max_sge, bool single_threaded)
      : ring_(ring), max_sge_(max_sge), lock_(single_threaded) {}

  /// ibv_post_recv(): post the chain up to the first bad request.
  int post(ibv_recv_wr* chain, ibv_recv_wr** bad_wr);

  /// Does the kernel look at what has been posted only after a doorbell? Not for shared queues.
  bool needs_doorbell() const { return ring_.needs_doorbell(); }

  /// Keeps posters away. set_ring() needs it.
  OptionalMutex& lock() { return lock_; }
  void set_ring(ProducerRing<sroce_recv_slot> ring);

 private:
  int write(const ibv_recv_wr& wr, std::uint32_t filled);

  ProducerRing<sroce_recv_slot> ring_;
  std::uint32_t max_sge_;
  OptionalMutex lock_;
};

/// A receive queue that QPs share, and its memory.
class SharedReceiveQueue {
 public:
  /// Returns nullptr and sets errno if the queue cannot be mapped or is malformed.
  static std::unique_ptr<SharedReceiveQueue> open(int fd, const sroce_create_srq_resp& where,
                                                  std::uint32_t max_sge, bool single_threaded);

  /// ibv_post_srq_recv(): post the chain up to the first bad request.
  int post(ibv_recv_wr* chain, ibv_recv_wr** bad_wr);

  /// Make the kernel replace the ring: @p change(where) returns 0 or an errno. The kernel moves the
  /// requests meanwhile, so nothing is posted.
  template <typename Change>
  int replace(int fd, Change change) {
    const std::lock_guard guard(queue_.lock());
    sroce_create_srq_resp where{};
    if (const int err = change(where)) return err;
    const int err = remap(fd, where);
    if (err) lost_.store(true);
    return err;
  }

 private:
  struct Place {
    Mapping memory;
    ProducerRing<sroce_recv_slot> ring;
  };

  SharedReceiveQueue(Place place, std::uint32_t max_sge, bool single_threaded)
      : memory_(std::move(place.memory)),
        queue_(place.ring, max_sge, single_threaded),
        max_sge_(max_sge) {}

  static std::optional<Place> map(int fd, const sroce_create_srq_resp& where,
                                  std::uint32_t max_sge);
  int remap(int fd, const sroce_create_srq_resp& where);

  Mapping memory_;
  ReceiveQueue queue_;
  std::uint32_t max_sge_;
  /// The kernel reads from a ring that could not be mapped.
  std::atomic<bool> lost_ = false;
};

}  // namespace sroce
