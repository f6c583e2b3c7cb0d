// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The queues that a device shares with a process, in rxe's user ABI or in that of native mode. They
// are found without libibverbs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/random.h"
#include "verbs/endpoint.h"

namespace ring_scribble {

enum class RingKind { send, receive, completion };

// The layout of a native queue, which shares its memory with another.
struct NativePlace {
  std::size_t head;
  std::size_t slots;
  std::uint32_t count;
  std::size_t stride;
};

struct Ring {
  RingKind kind;
  std::span<std::byte> memory;
  std::optional<NativePlace> native = std::nullopt;

  std::uint32_t slots() const;  // may be 0 if the geometry has been scribbled over
  std::uint32_t producer() const;
  void set_producer(std::uint32_t index);
  void advance_producer();
  void set_consumer(std::uint32_t index);
  // Does nothing for native queues, which have no geometry in their memory.
  void set_geometry(std::uint32_t log2_slot_bytes, std::uint32_t index_mask);
  std::span<std::byte> slot(std::uint32_t index);
  // Frees a page, if it is one of shared memory. The first one, with the indices, stays.
  void remove_page(std::uint32_t index);
};

// Writable mappings in this process of the device's file and of rings in shared memory, by address.
std::vector<std::span<std::byte>> ring_mappings();

// An endpoint, and the rings that were mapped when its two CQs and its QP were created. Its
// receives are in a shared receive queue if `shares_receives`.
class ExposedEndpoint {
 public:
  ExposedEndpoint(const verbs::Context& context, int gid_index, std::uint64_t seed,
                  bool shares_receives = false);

  verbs::Endpoint& end() { return *end_; }
  // Keys of a memory window of each type, which nobody has bound.
  std::span<const std::uint32_t> window_keys() const { return window_keys_; }
  std::span<Ring> rings() { return rings_; }
  Ring& ring(RingKind kind);
  // Rings the doorbell of the send queue, without libibverbs reading or writing the ring.
  void ring_doorbell();
  // Changes the size or the limit of the shared receive queue, if there is one. The rings of this
  // object stay the old ones. The kernel may reject it.
  void modify_srq(std::uint32_t mask, std::uint32_t max_wr, std::uint32_t limit);

 private:
  std::shared_ptr<verbs::Pd> pd_;
  verbs::Srq srq_;
  std::vector<std::uint32_t> window_keys_;
  std::unique_ptr<verbs::Endpoint> end_;
  // Freed before the region of the endpoint, which a forged request may have bound them to.
  verbs::Mw windows_[2];
  std::vector<Ring> rings_;
};

}  // namespace ring_scribble
