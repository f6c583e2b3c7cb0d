// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <mutex>

#include "doorbell.h"
#include "mapping.h"
#include "ring.h"
#include "send_wqe.h"

namespace sroce {

static_assert(sizeof(rxe_recv_wqe) == 40);
static_assert(offsetof(rxe_recv_wqe, dma) == 16);
static_assert(sizeof(rxe_create_qp_resp) == 32);
static_assert(offsetof(rxe_create_qp_resp, rq_mi) == 0);
static_assert(offsetof(rxe_create_qp_resp, sq_mi) == 16);

/// A send queue. Posting is safe from many threads.
class SendQueue {
 public:
  SendQueue(ProducerRing<rxe_send_wqe> ring, const SendLimits& limits, Doorbell doorbell)
      : ring_(ring), limits_(limits), doorbell_(doorbell) {}

  /// ibv_post_send(): the chain up to the first bad request is posted, with one doorbell.
  int post(ibv_send_wr* chain, ibv_send_wr** bad_wr);

 private:
  int write(const ibv_send_wr& wr);

  ProducerRing<rxe_send_wqe> ring_;
  SendLimits limits_;
  Doorbell doorbell_;
  std::mutex lock_;
};

/// A receive queue. Posting is safe from many threads, and no system call.
class ReceiveQueue {
 public:
  ReceiveQueue(ProducerRing<rxe_recv_wqe> ring, std::uint32_t max_sge)
      : ring_(ring), max_sge_(max_sge) {}

  /// ibv_post_recv(): the chain up to the first bad request is posted.
  int post(ibv_recv_wr* chain, ibv_recv_wr** bad_wr);

 private:
  int write(const ibv_recv_wr& wr);

  ProducerRing<rxe_recv_wqe> ring_;
  std::uint32_t max_sge_;
  std::mutex lock_;
};

/// How to find a QP's queues.
struct QueuePairSetup {
  int fd;
  std::uint32_t qp_handle;
  Service service;
  rxe_create_qp_resp where;
  ibv_qp_cap cap;
};

/// Both queues of a QP and the memory they are in.
class QueuePair {
 public:
  /// Nothing, and errno set, when the queues cannot be mapped or are not what they should be.
  static std::unique_ptr<QueuePair> open(const QueuePairSetup& setup);

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
