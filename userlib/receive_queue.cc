// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "receive_queue.h"

#include <cerrno>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <utility>

namespace sroce {

std::optional<ProducerRing<sroce_recv_slot>> ReceiveQueue::open_ring(std::span<std::byte> memory,
                                                                     const QueueLayout& layout,
                                                                     std::uint32_t max_sge) {
  return ProducerRing<sroce_recv_slot>::open(memory, layout,
                                             sizeof(sroce_recv_slot) + max_sge * sizeof(rxe_sge));
}

int ReceiveQueue::write(const ibv_recv_wr& wr, std::uint32_t filled) {
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > max_sge_) return EINVAL;
  if (ring_.is_full(filled)) return ENOMEM;
  const std::span<const ibv_sge> list(wr.sg_list, static_cast<std::size_t>(wr.num_sge));
  ring_.slot(filled).wr_id = wr.wr_id;
  std::byte* to = ring_.slot_payload(filled).data();
  std::uint32_t written = 0;
  const auto append = [&](const ibv_sge& sge) {
    std::memcpy(to + written++ * sizeof(sge), &sge, sizeof(sge));
  };
  // Skip SGEs of length 0: the kernel takes one for the end of the list.
  for (const ibv_sge& sge : list)
    if (sge.length) append(sge);
  if (written < max_sge_) append({});
  return 0;
}

int ReceiveQueue::post(ibv_recv_wr* chain, ibv_recv_wr** bad_wr) {
  const std::lock_guard guard(lock_);
  std::uint32_t filled = 0;
  int err = 0;
  for (ibv_recv_wr* wr = chain; wr && !err; wr = wr->next) {
    err = write(*wr, filled);
    if (err)
      *bad_wr = wr;
    else
      filled++;
  }
  if (filled) ring_.publish(filled);
  return err;
}

void ReceiveQueue::set_ring(ProducerRing<sroce_recv_slot> ring) { ring_ = ring; }

std::unique_ptr<SharedReceiveQueue> SharedReceiveQueue::open(int fd,
                                                             const sroce_create_srq_resp& where,
                                                             std::uint32_t max_sge,
                                                             bool single_threaded) {
  std::optional<Place> place = map(fd, where, max_sge);
  if (!place) return nullptr;
  std::unique_ptr<SharedReceiveQueue> queue(
      new (std::nothrow) SharedReceiveQueue(std::move(*place), max_sge, single_threaded));
  if (!queue) errno = ENOMEM;
  return queue;
}

std::optional<SharedReceiveQueue::Place> SharedReceiveQueue::map(int fd,
                                                                 const sroce_create_srq_resp& where,
                                                                 std::uint32_t max_sge) {
  std::optional<Mapping> memory =
      Mapping::map(fd, {.offset = where.offset, .size = where.size, .pad = 0});
  if (!memory) return std::nullopt;
  const auto ring = ReceiveQueue::open_ring(
      memory->memory(), {where.head, where.slots, where.count, where.stride}, max_sge);
  if (!ring) {
    errno = EPROTO;
    return std::nullopt;
  }
  return Place{std::move(*memory), *ring};
}

int SharedReceiveQueue::post(ibv_recv_wr* chain, ibv_recv_wr** bad_wr) {
  if (!lost_.load(std::memory_order_relaxed)) return queue_.post(chain, bad_wr);
  *bad_wr = chain;
  return EIO;
}

int SharedReceiveQueue::remap(int fd, const sroce_create_srq_resp& where) {
  std::optional<Place> place = map(fd, where, max_sge_);
  if (!place) return errno;
  memory_ = std::move(place->memory);
  queue_.set_ring(place->ring);
  return 0;
}

}  // namespace sroce
