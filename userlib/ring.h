// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Rings shared with the kernel: a power of two of elements, one producer and one consumer; the side
// that owns an index publishes it with release what the other side reads with acquire.
//
// Send and receive queues of a QP lie in one mapping (struct sroce_create_qp_resp), and their
// indices count on; a completion queue has the layout of rxe: struct rxe_queue_buf, then the
// elements, one of which stays empty, with indices that are kept masked.
//
// The geometry is read once, when the ring is opened, and checked against the size of the mapping.
// The indices stay in the shared pages only: the kernel empties the queues of a QP that goes to
// RESET.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rxe_abi.h"
#include "sroce_abi.h"

namespace sroce {

static_assert(sizeof(sroce_queue_head) == 128);
static_assert(offsetof(sroce_queue_head, producer) == 0);
static_assert(offsetof(sroce_queue_head, consumer) == 64);
static_assert(offsetof(sroce_queue_head, no_doorbell) == 68);
static_assert(offsetof(sroce_queue_head, fetched) == 72);
static_assert(offsetof(rxe_queue_buf, log2_elem_size) == 0);
static_assert(offsetof(rxe_queue_buf, index_mask) == 4);
static_assert(offsetof(rxe_queue_buf, producer_index) == 128);
static_assert(offsetof(rxe_queue_buf, consumer_index) == 256);
static_assert(offsetof(rxe_queue_buf, data) == 384);
static_assert(sizeof(sroce_cq_line) == 64);
static_assert(offsetof(sroce_cq_line, arm) == 4);

/// Where a send or receive queue lies in its mapping, in bytes from the start.
struct QueuePlace {
  std::uint32_t head;
  std::uint32_t slots;
  std::uint32_t count;
  std::uint32_t stride;
};

/// A ring that the kernel consumes: send and receive queue.
template <typename Element>
class ProducerRing {
 public:
  /// The ring in @p memory, if it is all in there and its slots have room for @p element_bytes.
  static std::optional<ProducerRing> open(std::span<std::byte> memory, const QueuePlace& place,
                                          std::size_t element_bytes) {
    const std::uint64_t end = place.slots + std::uint64_t{place.count} * place.stride;
    const bool is_sound = place.count && (place.count & (place.count - 1)) == 0 &&
                          place.stride >= element_bytes && element_bytes >= sizeof(Element) &&
                          end <= memory.size() &&
                          std::uint64_t{place.head} + sizeof(sroce_queue_head) <= memory.size();
    const bool is_aligned = place.head % alignof(sroce_queue_head) == 0 &&
                            place.slots % alignof(Element) == 0 &&
                            place.stride % alignof(Element) == 0;
    if (!is_sound || !is_aligned) return std::nullopt;
    return ProducerRing(memory.data(), place);
  }

  /// How many elements the ring can hold.
  std::uint32_t capacity() const { return count_; }

  /// Whether there is no slot left behind @p filled ones that are not published yet.
  bool is_full(std::uint32_t filled = 0) const {
    // Acquire: the kernel has read what we overwrite.
    return producer() + filled - consumer() >= count_;
  }

  /// The element to fill next, after @p filled ones; the ring is not full.
  Element& slot(std::uint32_t filled = 0) const {
    return *reinterpret_cast<Element*>(slot_bytes(filled));
  }

  /// What follows the fixed part of slot().
  std::span<std::byte> slot_payload(std::uint32_t filled = 0) const {
    return {slot_bytes(filled) + sizeof(Element), stride_ - sizeof(Element)};
  }

  /// Hand the filled slots to the kernel. What is asked of the kernel's words afterwards is asked
  /// after this (sequentially consistent), and the elements are written before they can be seen.
  void publish(std::uint32_t filled = 1) {
    std::atomic_ref(head_->producer).store(producer() + filled, std::memory_order_seq_cst);
  }

  /// Whether the kernel has promised to look at the ring again without a doorbell. Send queues.
  bool needs_no_doorbell(std::memory_order order) const {
    return std::atomic_ref(head_->no_doorbell).load(order) != 0;
  }

  /// How many elements are published that the kernel has not fetched. Send queues.
  std::uint32_t unfetched() const { return producer() - fetched(); }

  /// How many elements the kernel has fetched and is still at work on. Send queues.
  std::uint32_t unfinished() const {
    // In this order: a request is fetched first.
    const std::uint32_t finished = consumer();
    return fetched() - finished;
  }

 private:
  ProducerRing(std::byte* memory, const QueuePlace& place)
      : head_(reinterpret_cast<sroce_queue_head*>(memory + place.head)),
        slots_(memory + place.slots),
        count_(place.count),
        stride_(place.stride) {}

  std::byte* slot_bytes(std::uint32_t filled) const {
    return slots_ + std::size_t{(producer() + filled) & (count_ - 1)} * stride_;
  }
  std::uint32_t producer() const {
    return std::atomic_ref(head_->producer).load(std::memory_order_relaxed);
  }
  std::uint32_t consumer() const {
    return std::atomic_ref(head_->consumer).load(std::memory_order_acquire);
  }
  std::uint32_t fetched() const {
    return std::atomic_ref(head_->fetched).load(std::memory_order_acquire);
  }

  sroce_queue_head* head_;
  std::byte* slots_;
  std::uint32_t count_;
  std::uint32_t stride_;
};

/// A ring that the kernel produces: completion queue.
template <typename Element>
class ConsumerRing {
 public:
  /// The ring in @p memory, if its header describes elements that are all in there.
  static std::optional<ConsumerRing> open(std::span<std::byte> memory) {
    if (memory.size() < sizeof(rxe_queue_buf)) return std::nullopt;
    auto* header = reinterpret_cast<rxe_queue_buf*>(memory.data());
    const std::uint64_t slots = std::uint64_t{header->index_mask} + 1;
    if (slots < 2 || (slots & (slots - 1)) != 0 || header->log2_elem_size > 30) return std::nullopt;
    const std::uint64_t size = std::uint64_t{1} << header->log2_elem_size;
    if (size < sizeof(Element) || slots > (memory.size() - sizeof(rxe_queue_buf)) / size)
      return std::nullopt;
    return ConsumerRing(header);
  }

  /// How many elements wait; they may be read after this.
  std::uint32_t pending() const {
    // Acquire: the elements are written. Sequentially consistent: who has just wished to be told
    // of the next one sees those that the kernel wrote before it could know.
    const std::uint32_t producer =
        std::atomic_ref(header_->producer_index).load(std::memory_order_seq_cst);
    return (producer - consumer()) & mask_;
  }

  /// The waiting element number @p position, less than pending(), oldest first.
  const Element& peek(std::uint32_t position) const {
    const std::size_t index = (consumer() + position) & mask_;
    return *reinterpret_cast<const Element*>(reinterpret_cast<const std::byte*>(header_->data) +
                                             (index << element_shift_));
  }

  /// Give @p count slots back.
  void release(std::uint32_t count) {
    // Release: we have read what the kernel overwrites.
    std::atomic_ref(header_->consumer_index)
        .store((consumer() + count) & mask_, std::memory_order_release);
  }

  /// Wish to be told of the next element, or of the next solicited one. What came before is found
  /// by whoever asks for pending() after this.
  void wish(bool solicited_only) {
    sroce_cq_arm& arm = reinterpret_cast<sroce_cq_line*>(&header_->consumer_index)->arm;
    std::atomic_ref(solicited_only ? arm.solicited : arm.any)
        .fetch_add(1, std::memory_order_seq_cst);
  }

 private:
  explicit ConsumerRing(rxe_queue_buf* header)
      : header_(header), mask_(header->index_mask), element_shift_(header->log2_elem_size) {}

  std::uint32_t consumer() const {
    return std::atomic_ref(header_->consumer_index).load(std::memory_order_relaxed);
  }

  rxe_queue_buf* header_;
  std::uint32_t mask_;
  std::uint32_t element_shift_;
};

}  // namespace sroce
