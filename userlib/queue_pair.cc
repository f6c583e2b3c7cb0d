// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "queue_pair.h"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>
#include <span>
#include <utility>

namespace sroce {

namespace {

std::size_t send_element_bytes(const ibv_qp_cap& cap) {
  return sizeof(sroce_send_slot) +
         std::max<std::size_t>(cap.max_send_sge * sizeof(rxe_sge), cap.max_inline_data);
}

}  // namespace

int SendQueue::post(ibv_send_wr* chain, ibv_send_wr** bad_wr) {
  if (const int earlier = doorbell_.take_error()) {
    *bad_wr = chain;
    return earlier;
  }
  ibv_send_wr* wr = chain;
  std::uint32_t filled = 0;
  int err = 0;
  {
    const std::lock_guard guard(lock_);
    for (; wr; wr = wr->next, filled++) {
      err = ring_.is_full(filled)
                ? ENOMEM
                : write_send_wqe(*wr, limits_, ring_.slot(filled), ring_.slot_payload(filled));
      if (err) break;
    }
    if (filled) ring_.publish(filled);
  }
  if (filled) {
    if (const int failed = doorbell_.ring_or_defer()) {
      *bad_wr = chain;
      return failed;
    }
  }
  // The caller may retry without polling, so nobody else would ring.
  if (err == ENOMEM) doorbell_.ring_if_due();
  if (err) *bad_wr = wr;
  return err;
}

void SendQueue::start() {
  lock_.lock();
  filled_ = 0;
  err_ = 0;
  current_ = &discarded_;
}

sroce_send_slot& SendQueue::fail(int err) {
  if (!err_) err_ = err;
  current_ = &discarded_;
  return discarded_;
}

sroce_send_slot& SendQueue::add(ibv_wr_opcode opcode, std::uint64_t wr_id, unsigned flags) {
  if (err_ || ring_.is_full(filled_)) return fail(ENOMEM);
  current_ = &ring_.slot(filled_++);
  *current_ = {};
  current_->wr_id = wr_id;
  current_->opcode = static_cast<std::uint8_t>(opcode);
  current_->flags = static_cast<std::uint8_t>(flags & ~unsigned{IBV_SEND_INLINE});
  return *current_;
}

void SendQueue::reject() { fail(EINVAL); }

void SendQueue::set_list(std::span<const ibv_sge> list) {
  if (err_) return;
  if (const int err = write_list(list, limits_, *current_, ring_.slot_payload(filled_ - 1)))
    fail(err);
}

void SendQueue::set_inline(std::span<const ibv_data_buf> list) {
  if (err_) return;
  if (const int err = write_inline(list, limits_, *current_, ring_.slot_payload(filled_ - 1)))
    fail(err);
}

int SendQueue::finish() {
  const int earlier = doorbell_.take_error();
  const int err = earlier ? earlier : err_;
  const bool filled = !err && filled_;
  if (filled) ring_.publish(filled_);
  lock_.unlock();
  if (err == ENOMEM) doorbell_.ring_if_due();
  return filled ? doorbell_.ring_or_defer() : err;
}

void SendQueue::abort() { lock_.unlock(); }

QueuePair::QueuePair(const QueuePairSetup& setup, Mapping memory,
                     ProducerRing<sroce_send_slot> send_ring,
                     std::optional<ProducerRing<sroce_recv_slot>> receive_ring)
    : memory_(std::move(memory)),
      send_queue_(send_ring,
                  {.service = setup.service,
                   .max_sge = setup.cap.max_send_sge,
                   .max_inline_bytes = setup.cap.max_inline_data},
                  Doorbell(setup.fd, setup.qp_handle), setup.send_doorbells,
                  setup.receive_doorbells, setup.single_threaded) {
  if (receive_ring)
    receive_queue_.emplace(*receive_ring, setup.cap.max_recv_sge, setup.single_threaded);
}

std::unique_ptr<QueuePair> QueuePair::open(const QueuePairSetup& setup) {
  const sroce_create_qp_resp& where = setup.where;
  std::optional<Mapping> memory =
      Mapping::map(setup.fd, {.offset = where.offset, .size = where.size, .pad = 0});
  if (!memory) return nullptr;
  const auto send_ring = ProducerRing<sroce_send_slot>::open(
      memory->memory(), {where.send_head, where.send_slots, where.send_count, where.send_stride},
      send_element_bytes(setup.cap));
  const auto receive_ring = ReceiveQueue::open_ring(
      memory->memory(), {where.recv_head, where.recv_slots, where.recv_count, where.recv_stride},
      setup.cap.max_recv_sge);
  if (!send_ring || receive_ring.has_value() == setup.shares_receive_queue) {
    errno = EPROTO;
    return nullptr;
  }
  std::unique_ptr<QueuePair> pair(
      new (std::nothrow) QueuePair(setup, std::move(*memory), *send_ring, receive_ring));
  if (!pair) errno = ENOMEM;
  return pair;
}

}  // namespace sroce
