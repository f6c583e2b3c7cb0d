// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Rings shared with the kernel. A ring has one producer and one consumer. Its number of elements is
// a power of two. The owner of an index stores it with release, and the other end loads it with
// acquire.
//
// The send and receive queue of a QP share a mapping (struct sroce_create_qp_resp) and have
// free-running indices. A completion queue has rxe's layout: struct rxe_queue_buf, then the
// elements. Its indices are masked, and one element stays empty.
//
// The geometry is read once, when the ring is opened, and checked against the size of the mapping.
// The indices are not cached, because the kernel resets them when a QP moves to RESET.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

#include "rxe_abi.h"
#include "sroce_abi.h"

namespace sroce {

static_assert(sizeof(sroce_queue_head) == 128);
static_assert(offsetof(sroce_queue_head, producer) == 0);
static_assert(offsetof(sroce_queue_head, consumer) == 64);
static_assert(offsetof(sroce_queue_head, no_doorbell) == 68);
static_assert(offsetof(sroce_queue_head, needs_doorbell) == 76);
static_assert(offsetof(sroce_queue_head, fetched) == 72);
static_assert(offsetof(rxe_queue_buf, log2_elem_size) == 0);
static_assert(offsetof(rxe_queue_buf, index_mask) == 4);
static_assert(offsetof(rxe_queue_buf, producer_index) == 128);
static_assert(offsetof(rxe_queue_buf, consumer_index) == 256);
static_assert(offsetof(rxe_queue_buf, data) == 384);
static_assert(sizeof(sroce_cq_line) == 64);
static_assert(offsetof(sroce_cq_line, arm) == 4);

/// Layout of a send or receive queue; offsets are in bytes from the start of the mapping.
struct QueueLayout {
  std::uint32_t head;
  std::uint32_t slots;
  std::uint32_t count;
  std::uint32_t stride;
};

/// A ring that the kernel consumes: a send or receive queue.
template <typename Element>
class ProducerRing {
 public:
  /// Returns the ring if @p memory contains all of it and @p element_bytes fit into a slot.
  static std::optional<ProducerRing> open(std::span<std::byte> memory, const QueueLayout& layout,
                                          std::size_t element_bytes) {
    const std::uint64_t end = layout.slots + std::uint64_t{layout.count} * layout.stride;
    const bool is_sound = layout.count && (layout.count & (layout.count - 1)) == 0 &&
                          layout.stride >= element_bytes && element_bytes >= sizeof(Element) &&
                          end <= memory.size() &&
                          std::uint64_t{layout.head} + sizeof(sroce_queue_head) <= memory.size();
    const bool is_aligned = layout.head % alignof(sroce_queue_head) == 0 &&
                            layout.slots % alignof(Element) == 0 &&
                            layout.stride % alignof(Element) == 0;
    if (!is_sound || !is_aligned) return std::nullopt;
    return ProducerRing(memory.data(), layout);
  }

  /// Number of slots.
  std::uint32_t capacity() const { return count_; }

  /// True if no slot is free after @p filled ones that are not published yet.
  bool is_full(std::uint32_t filled = 0) const {
    // The load is an acquire: the kernel has read the slot before we overwrite it.
    return producer() + filled - consumer() >= count_;
  }

  /// The element to fill next, after @p filled ones. The ring must not be full.
  Element& slot(std::uint32_t filled = 0) const {
    return *reinterpret_cast<Element*>(slot_bytes(filled));
  }

  /// The bytes behind the fixed part of slot().
  std::span<std::byte> slot_payload(std::uint32_t filled = 0) const {
    return {slot_bytes(filled) + sizeof(Element), stride_ - sizeof(Element)};
  }

  /// Hand @p filled slots to the kernel. The seq_cst store orders the slots before the index, and
  /// the index before a later seq_cst load of needs_no_doorbell() or needs_doorbell().
  void publish(std::uint32_t filled = 1) {
    std::atomic_ref(head_->producer).store(producer() + filled, std::memory_order_seq_cst);
  }

  /// Send queues: true while the kernel suppresses doorbells.
  bool needs_no_doorbell(std::memory_order order) const {
    return std::atomic_ref(head_->no_doorbell).load(order) != 0;
  }

  /// Receive queues: true in the state ERR. The load comes after publish(), so the kernel has not
  /// missed the request if it is false.
  bool needs_doorbell() const {
    return std::atomic_ref(head_->needs_doorbell).load(std::memory_order_seq_cst) != 0;
  }

  /// Send queues: number of requests published but not fetched by the kernel.
  std::uint32_t unfetched() const { return producer() - fetched(); }

  /// Send queues: number of requests fetched but not completed.
  std::uint32_t unfinished() const {
    // Load the consumer index first: it never exceeds a value of `fetched` loaded later.
    const std::uint32_t finished = consumer();
    return fetched() - finished;
  }

 private:
  ProducerRing(std::byte* memory, const QueueLayout& layout)
      : head_(reinterpret_cast<sroce_queue_head*>(memory + layout.head)),
        slots_(memory + layout.slots),
        count_(layout.count),
        stride_(layout.stride) {}

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

/// A ring that the kernel produces: a completion queue.
template <typename Element>
class ConsumerRing {
 public:
  /// Returns the ring if @p memory contains all elements that its header describes.
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

  /// Number of elements to read.
  std::uint32_t pending() const {
    // Acquire makes the elements visible. seq_cst orders the load after a preceding arm(), so
    // that an element is either seen here or raises an event.
    const std::uint32_t producer =
        std::atomic_ref(header_->producer_index).load(std::memory_order_seq_cst);
    return (producer - consumer()) & mask_;
  }

  /// Element @p position, counted from the oldest; less than pending().
  const Element& peek(std::uint32_t position) const {
    return *reinterpret_cast<const Element*>(slot(position));
  }

  /// Release @p count slots to the kernel.
  void release(std::uint32_t count) {
    // The store is a release: we have read the slots before the kernel overwrites them.
    std::atomic_ref(header_->consumer_index)
        .store((consumer() + count) & mask_, std::memory_order_release);
  }

  /// Remove the elements from position @p first on for which @p is_unwanted is true. The others
  /// keep their order. Returns how many slots have become free, from @p first on, for release().
  template <typename Predicate>
  std::uint32_t remove_if(std::uint32_t first, Predicate is_unwanted) {
    std::uint32_t removed = 0;
    // The kernel owns the producer index. So the elements that stay move towards the newest.
    for (std::uint32_t position = pending(); position-- > first;) {
      if (is_unwanted(peek(position)))
        removed++;
      else if (removed)
        std::memcpy(slot(position + removed), slot(position), std::size_t{1} << element_shift_);
    }
    return removed;
  }

  /// Request an event for the next element, or for the next solicited one. pending() finds earlier
  /// elements if called after this.
  void arm(bool solicited_only) {
    sroce_cq_arm& counters = reinterpret_cast<sroce_cq_line*>(&header_->consumer_index)->arm;
    std::atomic_ref(solicited_only ? counters.solicited : counters.any)
        .fetch_add(1, std::memory_order_seq_cst);
  }

 private:
  explicit ConsumerRing(rxe_queue_buf* header)
      : header_(header), mask_(header->index_mask), element_shift_(header->log2_elem_size) {}

  std::byte* slot(std::uint32_t position) const {
    const std::size_t index = (consumer() + position) & mask_;
    return reinterpret_cast<std::byte*>(header_->data) + (index << element_shift_);
  }
  std::uint32_t consumer() const {
    return std::atomic_ref(header_->consumer_index).load(std::memory_order_relaxed);
  }

  rxe_queue_buf* header_;
  std::uint32_t mask_;
  std::uint32_t element_shift_;
};

}  // namespace sroce
