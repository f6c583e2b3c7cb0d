// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <span>
#include <utility>

namespace sroce {

namespace {

std::size_t send_element_bytes(const ibv_qp_cap& cap) {
  return sizeof(rxe_send_wqe) +
         std::max<std::size_t>(cap.max_send_sge * sizeof(rxe_sge), cap.max_inline_data);
}

std::size_t recv_element_bytes(const ibv_qp_cap& cap) {
  return sizeof(rxe_recv_wqe) + cap.max_recv_sge * sizeof(rxe_sge);
}

}  // namespace

int SendQueue::write(const ibv_send_wr& wr) {
  if (ring_.is_full()) return ENOMEM;
  if (const int err = write_send_wqe(wr, limits_, ring_.slot(), ring_.slot_payload())) return err;
  ring_.publish();
  return 0;
}

int SendQueue::post(ibv_send_wr* chain, ibv_send_wr** bad_wr) {
  ibv_send_wr* wr = chain;
  int err = 0;
  {
    const std::lock_guard guard(lock_);
    for (; wr; wr = wr->next) {
      err = write(*wr);
      if (err) break;
    }
  }
  if (wr != chain) {
    if (const int refused = doorbell_.ring()) {
      *bad_wr = chain;
      return refused;
    }
  }
  if (err) *bad_wr = wr;
  return err;
}

int ReceiveQueue::write(const ibv_recv_wr& wr) {
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > max_sge_) return EINVAL;
  if (ring_.is_full()) return ENOMEM;
  const std::span<const ibv_sge> list(wr.sg_list, static_cast<std::size_t>(wr.num_sge));
  rxe_recv_wqe& wqe = ring_.slot();
  wqe = {};
  wqe.wr_id = wr.wr_id;
  wqe.dma.num_sge = static_cast<std::uint32_t>(list.size());
  for (const ibv_sge& sge : list) wqe.dma.length += sge.length;
  wqe.dma.resid = wqe.dma.length;
  if (!list.empty()) std::memcpy(ring_.slot_payload().data(), list.data(), list.size_bytes());
  ring_.publish();
  return 0;
}

int ReceiveQueue::post(ibv_recv_wr* chain, ibv_recv_wr** bad_wr) {
  const std::lock_guard guard(lock_);
  for (ibv_recv_wr* wr = chain; wr; wr = wr->next) {
    if (const int err = write(*wr)) {
      *bad_wr = wr;
      return err;
    }
  }
  return 0;
}

QueuePair::QueuePair(const QueuePairSetup& setup, Mapping send_memory, Mapping receive_memory,
                     ProducerRing<rxe_send_wqe> send_ring, ProducerRing<rxe_recv_wqe> receive_ring)
    : send_memory_(std::move(send_memory)),
      receive_memory_(std::move(receive_memory)),
      send_queue_(send_ring,
                  {.service = setup.service,
                   .max_sge = setup.cap.max_send_sge,
                   .max_inline_bytes = setup.cap.max_inline_data},
                  Doorbell(setup.fd, setup.qp_handle)),
      receive_queue_(receive_ring, setup.cap.max_recv_sge) {}

std::unique_ptr<QueuePair> QueuePair::open(const QueuePairSetup& setup) {
  std::optional<Mapping> send_memory = Mapping::map(setup.fd, setup.where.sq_mi);
  if (!send_memory) return nullptr;
  std::optional<Mapping> receive_memory = Mapping::map(setup.fd, setup.where.rq_mi);
  if (!receive_memory) return nullptr;
  const auto send_ring =
      ProducerRing<rxe_send_wqe>::open(send_memory->memory(), send_element_bytes(setup.cap));
  const auto receive_ring =
      ProducerRing<rxe_recv_wqe>::open(receive_memory->memory(), recv_element_bytes(setup.cap));
  if (!send_ring || !receive_ring) {
    errno = EPROTO;
    return nullptr;
  }
  std::unique_ptr<QueuePair> pair(new (std::nothrow) QueuePair(
      setup, std::move(*send_memory), std::move(*receive_memory), *send_ring, *receive_ring));
  if (!pair) errno = ENOMEM;
  return pair;
}

}  // namespace sroce
