// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The kernel's end of a ring: its layout of the memory and its accesses to the indices. KernelRing
// is a completion queue, KernelQueue a send or receive queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "ring.h"
#include "rxe_abi.h"
#include "sroce_abi.h"

/// A ring in memory owned by another object.
class KernelRing {
 public:
  explicit KernelRing(std::span<std::byte> memory)
      : memory_(memory), header_(reinterpret_cast<rxe_queue_buf*>(memory.data())) {}

  static std::size_t bytes(std::uint32_t slots, std::uint32_t element_shift) {
    return sizeof(rxe_queue_buf) + (std::size_t{slots} << element_shift);
  }

  void lay_out(std::uint32_t slots, std::uint32_t element_shift) {
    header_->log2_elem_size = element_shift;
    header_->index_mask = slots - 1;
  }

  std::span<std::byte> memory() { return memory_; }
  rxe_queue_buf& header() { return *header_; }
  sroce_cq_arm& arm() { return reinterpret_cast<sroce_cq_line*>(&header_->consumer_index)->arm; }

  /// The bytes of slot @p index.
  std::span<std::byte> element(std::uint32_t index) const {
    const std::size_t bytes = std::size_t{1} << header_->log2_elem_size;
    return memory_.subspan(sizeof(rxe_queue_buf) + index * bytes, bytes);
  }

  void consume(std::uint32_t count) {
    header_->consumer_index = (header_->consumer_index + count) & header_->index_mask;
  }

  /// Produce an element that starts with @p value.
  template <typename Element>
  void produce(const Element& value) {
    std::memcpy(element(header_->producer_index).data(), &value, sizeof(value));
    header_->producer_index = (header_->producer_index + 1) & header_->index_mask;
  }

 private:
  std::span<std::byte> memory_;
  rxe_queue_buf* header_;
};

/// An empty ring and its memory.
class SharedRing : private std::vector<std::byte>, public KernelRing {
 public:
  SharedRing(std::uint32_t slots, std::uint32_t element_shift)
      : std::vector<std::byte>(bytes(slots, element_shift)), KernelRing({data(), size()}) {
    lay_out(slots, element_shift);
  }
};

/// A send or receive queue in memory owned by another object.
class KernelQueue {
 public:
  KernelQueue(std::span<std::byte> memory, const sroce::QueueLayout& layout)
      : memory_(memory), layout_(layout) {}

  template <typename Element>
  auto open(std::size_t element_bytes = sizeof(Element)) const {
    return sroce::ProducerRing<Element>::open(memory_, layout_, element_bytes);
  }

  sroce_queue_head& head() const {
    return *reinterpret_cast<sroce_queue_head*>(memory_.data() + layout_.head);
  }

  /// The bytes of the slot of request @p index.
  std::span<std::byte> element(std::uint32_t index) const {
    return memory_.subspan(layout_.slots + index % layout_.count * std::size_t{layout_.stride},
                           layout_.stride);
  }

  /// The fixed part of the slot of request @p index, copied out as the kernel does.
  template <typename Element>
  Element copy(std::uint32_t index) const {
    Element copy;
    std::memcpy(&copy, element(index).data(), sizeof(copy));
    return copy;
  }

  /// Item @p number of the list that follows the fixed part of the slot of request @p index.
  template <typename Element>
  rxe_sge sge(std::uint32_t index, std::size_t number) const {
    rxe_sge copy;
    std::memcpy(&copy, element(index).data() + sizeof(Element) + number * sizeof(copy),
                sizeof(copy));
    return copy;
  }

  void consume(std::uint32_t count) const { head().consumer += count; }

  void suppress_doorbell(bool no_doorbell) const { head().no_doorbell = no_doorbell; }
  void fetch(std::uint32_t count) const { head().fetched += count; }

 protected:
  std::span<std::byte> memory_;
  sroce::QueueLayout layout_;
};

/// An empty send or receive queue and its memory.
class SharedQueue : private std::vector<std::byte>, public KernelQueue {
 public:
  SharedQueue(std::uint32_t count, std::uint32_t stride)
      : std::vector<std::byte>(sizeof(sroce_queue_head) + std::size_t{count} * stride),
        KernelQueue({data(), size()}, {0, sizeof(sroce_queue_head), count, stride}) {}

  std::span<std::byte> memory() const { return memory_; }
  sroce::QueueLayout& layout() { return layout_; }
};
