// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The kernel's end of a ring: memory laid out as the kernel does it, and its side of the indices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "rxe_abi.h"
#include "sroce_abi.h"

/// A ring in memory that somebody else owns.
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

  /// The bytes of slot @p index.
  std::span<std::byte> element(std::uint32_t index) const {
    const std::size_t bytes = std::size_t{1} << header_->log2_elem_size;
    return memory_.subspan(sizeof(rxe_queue_buf) + index * bytes, bytes);
  }

  /// The fixed part of slot @p index, copied out as the kernel does.
  template <typename Element>
  Element copy(std::uint32_t index) const {
    Element copy;
    std::memcpy(&copy, element(index).data(), sizeof(copy));
    return copy;
  }

  /// Item @p number of the list that follows the fixed part of slot @p index.
  template <typename Element>
  rxe_sge sge(std::uint32_t index, std::size_t number) const {
    rxe_sge copy;
    std::memcpy(&copy, element(index).data() + sizeof(Element) + number * sizeof(copy),
                sizeof(copy));
    return copy;
  }

  void consume(std::uint32_t count) {
    header_->consumer_index = (header_->consumer_index + count) & header_->index_mask;
  }

  /// The promise to look again, and how far the kernel has fetched.
  void watch(bool watched) { header_->pad_3[SROCE_RING_WATCHED] = watched; }
  void fetch(std::uint32_t count) {
    std::uint32_t& fetched = header_->pad_3[SROCE_RING_FETCHED];
    fetched = (fetched + count) & header_->index_mask;
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
