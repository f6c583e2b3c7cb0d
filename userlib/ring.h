// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Rings shared with the kernel: struct rxe_queue_buf, then a power of two of elements, one of which
// stays empty. A ring has one producer and one consumer; indices are kept masked, and the side that
// owns an index publishes it with release what the other side reads with acquire.
//
// The geometry is read once, when the ring is opened, and checked against the size of the mapping.
// The indices stay in the shared page only: the kernel empties the rings of a QP that goes to
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

static_assert(offsetof(rxe_queue_buf, log2_elem_size) == 0);
static_assert(offsetof(rxe_queue_buf, index_mask) == 4);
static_assert(offsetof(rxe_queue_buf, producer_index) == 128);
static_assert(offsetof(rxe_queue_buf, consumer_index) == 256);
static_assert(offsetof(rxe_queue_buf, pad_3) == 260);
static_assert(offsetof(rxe_queue_buf, data) == 384);

/// What producer and consumer have in common.
template <typename Element>
class Ring {
 public:
  /// How many elements the ring can hold.
  std::uint32_t capacity() const { return mask_; }

  /// Bytes of an element, of which an Element is the first part.
  std::size_t element_bytes() const { return std::size_t{1} << element_shift_; }

 protected:
  explicit Ring(std::span<std::byte> memory)
      : header_(reinterpret_cast<rxe_queue_buf*>(memory.data())),
        mask_(header_->index_mask),
        element_shift_(header_->log2_elem_size) {}

  /// Whether the header describes elements of at least @p element_bytes that are all in @p memory.
  static bool is_sound(std::span<std::byte> memory, std::size_t element_bytes) {
    if (memory.size() < sizeof(rxe_queue_buf)) return false;
    const auto* header = reinterpret_cast<const rxe_queue_buf*>(memory.data());
    const std::uint64_t slots = std::uint64_t{header->index_mask} + 1;
    if (slots < 2 || (slots & (slots - 1)) != 0 || header->log2_elem_size > 30) return false;
    const std::uint64_t size = std::uint64_t{1} << header->log2_elem_size;
    return size >= element_bytes && slots <= (memory.size() - sizeof(rxe_queue_buf)) / size;
  }

  std::byte* at(std::uint32_t index) const {
    return reinterpret_cast<std::byte*>(header_->data) +
           (std::size_t{index & mask_} << element_shift_);
  }

  std::uint32_t producer(std::memory_order order) const {
    return std::atomic_ref(header_->producer_index).load(order);
  }
  std::uint32_t consumer(std::memory_order order) const {
    return std::atomic_ref(header_->consumer_index).load(order);
  }

  rxe_queue_buf* header_;
  std::uint32_t mask_;
  std::uint32_t element_shift_;
};

/// A ring that the kernel consumes: send and receive queue.
template <typename Element>
class ProducerRing : public Ring<Element> {
 public:
  /// The ring in @p memory, if its elements have room for @p element_bytes.
  static std::optional<ProducerRing> open(std::span<std::byte> memory, std::size_t element_bytes) {
    if (element_bytes < sizeof(Element) || !Ring<Element>::is_sound(memory, element_bytes))
      return std::nullopt;
    return ProducerRing(memory);
  }

  /// Whether there is no slot left behind @p filled ones that are not published yet.
  bool is_full(std::uint32_t filled = 0) const {
    const std::uint32_t next = this->producer(std::memory_order_relaxed) + filled + 1;
    // Acquire: the kernel has read what we overwrite.
    return ((next - this->consumer(std::memory_order_acquire)) & this->mask_) == 0;
  }

  /// The element to fill next, after @p filled ones; the ring is not full.
  Element& slot(std::uint32_t filled = 0) const {
    return *reinterpret_cast<Element*>(slot_bytes(filled));
  }

  /// What follows the fixed part of slot().
  std::span<std::byte> slot_payload(std::uint32_t filled = 0) const {
    return {slot_bytes(filled) + sizeof(Element), this->element_bytes() - sizeof(Element)};
  }

  /// Hand the filled slots to the kernel. What is asked of the kernel's words afterwards is asked
  /// after this (sequentially consistent), and the elements are written before they can be seen.
  void publish(std::uint32_t filled = 1) {
    const std::uint32_t next = (this->producer(std::memory_order_relaxed) + filled) & this->mask_;
    std::atomic_ref(this->header_->producer_index).store(next, std::memory_order_seq_cst);
  }

  /// Whether the kernel has promised to look at the ring again without a doorbell. Send queues.
  bool is_watched(std::memory_order order) const { return word(SROCE_RING_WATCHED, order) != 0; }

  /// How many elements are published that the kernel has not fetched. Send queues.
  std::uint32_t unfetched() const {
    return (this->producer(std::memory_order_relaxed) - fetched()) & this->mask_;
  }

  /// How many elements the kernel has fetched and is still at work on. Send queues.
  std::uint32_t unfinished() const {
    // In this order: a request is fetched first.
    const std::uint32_t finished = this->consumer(std::memory_order_acquire);
    return (fetched() - finished) & this->mask_;
  }

 private:
  using Ring<Element>::Ring;
  std::byte* slot_bytes(std::uint32_t filled) const {
    return this->at(this->producer(std::memory_order_relaxed) + filled);
  }
  std::uint32_t word(unsigned which, std::memory_order order) const {
    return std::atomic_ref(this->header_->pad_3[which]).load(order);
  }
  std::uint32_t fetched() const { return word(SROCE_RING_FETCHED, std::memory_order_acquire); }
};

/// A ring that the kernel produces: completion queue.
template <typename Element>
class ConsumerRing : public Ring<Element> {
 public:
  static std::optional<ConsumerRing> open(std::span<std::byte> memory) {
    if (!Ring<Element>::is_sound(memory, sizeof(Element))) return std::nullopt;
    return ConsumerRing(memory);
  }

  /// How many elements wait; they may be read after this.
  std::uint32_t pending() const {
    // Acquire: the elements are written.
    return (this->producer(std::memory_order_acquire) - this->consumer(std::memory_order_relaxed)) &
           this->mask_;
  }

  /// The waiting element number @p position, less than pending(), oldest first.
  const Element& peek(std::uint32_t position) const {
    return *reinterpret_cast<const Element*>(
        this->at(this->consumer(std::memory_order_relaxed) + position));
  }

  /// Give @p count slots back.
  void release(std::uint32_t count) {
    const std::uint32_t next = (this->consumer(std::memory_order_relaxed) + count) & this->mask_;
    // Release: we have read what the kernel overwrites.
    std::atomic_ref(this->header_->consumer_index).store(next, std::memory_order_release);
  }

 private:
  using Ring<Element>::Ring;
};

}  // namespace sroce
