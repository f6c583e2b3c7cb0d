// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "doorbell.h"
#include "mapping.h"
#include "optional_mutex.h"
#include "receive_queue.h"
#include "ring.h"
#include "send_wqe.h"

namespace sroce {

static_assert(sizeof(sroce_create_qp_resp) == 48);
static_assert(offsetof(sroce_create_qp_resp, send_head) == 12);
static_assert(offsetof(sroce_create_qp_resp, recv_stride) == 40);

/// A send queue. Threads may post concurrently unless it is single-threaded.
class SendQueue {
 public:
  /// Due doorbells go to @p send and @p receive, the lists of the completion queues.
  SendQueue(ProducerRing<sroce_send_slot> ring, const SendLimits& limits, Doorbell doorbell,
            DoorbellList& send, DoorbellList& receive, bool single_threaded)
      : ring_(ring),
        limits_(limits),
        doorbell_(doorbell, ring, send, receive),
        lock_(single_threaded) {}

  /// ibv_post_send(): post the chain up to the first bad request, with at most one doorbell. If a
  /// due doorbell of earlier requests has failed, post nothing and return its errno. If the
  /// doorbell of these fails, *bad_wr is the first. Before RTS (EINVAL) the kernel discards them;
  /// otherwise all stay posted, and the next doorbell executes them.
  int post(ibv_send_wr* chain, ibv_send_wr** bad_wr);

  /// ibv_wr_start(): lock the queue until finish() or abort().
  void start();

  /// Start the next request. An invalid request fails the whole batch.
  sroce_send_slot& add(ibv_wr_opcode opcode, std::uint64_t wr_id, unsigned flags);

  /// The request added last.
  sroce_send_slot& current() { return *current_; }
  void set_list(std::span<const ibv_sge> list);
  void set_inline(std::span<const ibv_data_buf> list);
  /// The request added last is invalid.
  void reject();

  /// ibv_wr_complete(): post the batch and return 0, or post nothing and return an errno. If the
  /// doorbell itself fails, return its errno, as post() does.
  int finish();
  /// ibv_wr_abort()
  void abort();

  DeferredDoorbell& doorbell() { return doorbell_; }

 private:
  sroce_send_slot& fail(int err);

  ProducerRing<sroce_send_slot> ring_;
  SendLimits limits_;
  DeferredDoorbell doorbell_;
  OptionalMutex lock_;
  /// The batch since start(): requests filled, the last one, the first error.
  std::uint32_t filled_ = 0;
  sroce_send_slot* current_ = nullptr;
  int err_ = 0;
  /// Takes the requests of a failed batch.
  sroce_send_slot discarded_{};
};

/// Location and properties of a QP's queues.
struct QueuePairSetup {
  int fd;
  std::uint32_t qp_handle;
  Service service;
  sroce_create_qp_resp where;
  ibv_qp_cap cap;
  DoorbellList& send_doorbells;
  DoorbellList& receive_doorbells;
  bool single_threaded;
  bool shares_receive_queue;
};

/// Both queues of a QP and their memory. With a shared receive queue, it has none of its own.
class QueuePair {
 public:
  /// Returns nullptr and sets errno if the queues cannot be mapped or are malformed.
  static std::unique_ptr<QueuePair> open(const QueuePairSetup& setup);
  ~QueuePair() { send_queue_.doorbell().leave_lists(); }

  SendQueue& send_queue() { return send_queue_; }
  /// nullptr if the QP uses a shared receive queue.
  ReceiveQueue* receive_queue() { return receive_queue_ ? &*receive_queue_ : nullptr; }

 private:
  QueuePair(const QueuePairSetup& setup, Mapping memory, ProducerRing<sroce_send_slot> send_ring,
            std::optional<ProducerRing<sroce_recv_slot>> receive_ring);

  Mapping memory_;
  SendQueue send_queue_;
  std::optional<ReceiveQueue> receive_queue_;
};

}  // namespace sroce
