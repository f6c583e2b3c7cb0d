// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <span>

#include "doorbell.h"
#include "lazy_doorbell.h"
#include "mapping.h"
#include "optional_mutex.h"
#include "ring.h"
#include "send_wqe.h"

namespace sroce {

static_assert(sizeof(rxe_recv_wqe) == 40);
static_assert(offsetof(rxe_recv_wqe, dma) == 16);
static_assert(sizeof(rxe_create_qp_resp) == 32);
static_assert(offsetof(rxe_create_qp_resp, rq_mi) == 0);
static_assert(offsetof(rxe_create_qp_resp, sq_mi) == 16);

/// A send queue. Posting is safe from many threads unless one was promised.
class SendQueue {
 public:
  /// Who polls @p send or @p receive rings where posting did not.
  SendQueue(ProducerRing<rxe_send_wqe> ring, const SendLimits& limits, Doorbell doorbell,
            DoorbellList& send, DoorbellList& receive, bool single_threaded)
      : ring_(ring),
        limits_(limits),
        doorbell_(doorbell, ring, send, receive),
        lock_(single_threaded) {}

  /// ibv_post_send(): the chain up to the first bad request is posted, with one doorbell at most.
  int post(ibv_send_wr* chain, ibv_send_wr** bad_wr);

  /// ibv_wr_start(): from here to finish() or abort() the queue is the caller's.
  void start();

  /// The next request, with what all have; the first one that is wrong spoils the whole batch.
  rxe_send_wqe& add(ibv_wr_opcode opcode, std::uint64_t wr_id, unsigned flags);

  /// The request added last.
  rxe_send_wqe& current() { return *current_; }
  void set_list(std::span<const ibv_sge> list);
  void set_inline(std::span<const ibv_data_buf> list);

  /// ibv_wr_complete(): post them all, or none and return an errno.
  int finish();
  /// ibv_wr_abort()
  void abort();

  LazyDoorbell& doorbell() { return doorbell_; }

 private:
  rxe_send_wqe& spoil(int err);

  ProducerRing<rxe_send_wqe> ring_;
  SendLimits limits_;
  LazyDoorbell doorbell_;
  OptionalMutex lock_;
  /// Between start() and its end: requests filled, the last of them, what was wrong.
  std::uint32_t filled_ = 0;
  rxe_send_wqe* current_ = nullptr;
  int err_ = 0;
  rxe_send_wqe spoilt_{};
};

/// A receive queue. Posting is safe from many threads unless one was promised, and no system call.
class ReceiveQueue {
 public:
  ReceiveQueue(ProducerRing<rxe_recv_wqe> ring, std::uint32_t max_sge, bool single_threaded)
      : ring_(ring), max_sge_(max_sge), lock_(single_threaded) {}

  /// ibv_post_recv(): the chain up to the first bad request is posted.
  int post(ibv_recv_wr* chain, ibv_recv_wr** bad_wr);

 private:
  int write(const ibv_recv_wr& wr, std::uint32_t filled);

  ProducerRing<rxe_recv_wqe> ring_;
  std::uint32_t max_sge_;
  OptionalMutex lock_;
};

/// How to find a QP's queues.
struct QueuePairSetup {
  int fd;
  std::uint32_t qp_handle;
  Service service;
  rxe_create_qp_resp where;
  ibv_qp_cap cap;
  DoorbellList& send_doorbells;
  DoorbellList& receive_doorbells;
  bool single_threaded;
};

/// Both queues of a QP and the memory they are in.
class QueuePair {
 public:
  /// Nothing, and errno set, when the queues cannot be mapped or are not what they should be.
  static std::unique_ptr<QueuePair> open(const QueuePairSetup& setup);
  ~QueuePair() { send_queue_.doorbell().leave_lists(); }

  SendQueue& send_queue() { return send_queue_; }
  ReceiveQueue& receive_queue() { return receive_queue_; }

 private:
  QueuePair(const QueuePairSetup& setup, Mapping send_memory, Mapping receive_memory,
            ProducerRing<rxe_send_wqe> send_ring, ProducerRing<rxe_recv_wqe> receive_ring);

  Mapping send_memory_;
  Mapping receive_memory_;
  SendQueue send_queue_;
  ReceiveQueue receive_queue_;
};

}  // namespace sroce
