// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The queues that a device shares with a process, in rxe's user ABI or in that of native mode,
// found behind libibverbs' back.
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

// Where a queue lies that shares its memory with another one: in native mode.
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

  std::uint32_t slots() const;  // 0 if the geometry has been scribbled over so
  std::uint32_t producer() const;
  void set_producer(std::uint32_t index);
  void advance_producer();
  void set_consumer(std::uint32_t index);
  // Native queues have none in their memory.
  void set_geometry(std::uint32_t log2_slot_bytes, std::uint32_t index_mask);
  std::span<std::byte> slot(std::uint32_t index);
};

// Writable mappings of uverbs files in this process, by address.
std::vector<std::span<std::byte>> uverbs_mappings();

// An endpoint with its two CQs and its QP, and the rings that appeared when they were made.
class ExposedEndpoint {
 public:
  ExposedEndpoint(const verbs::Context& context, int gid_index, std::uint64_t seed);

  verbs::Endpoint& end() { return *end_; }
  std::span<Ring> rings() { return rings_; }
  Ring& ring(RingKind kind);
  // "Look at your send queue", without libibverbs reading or writing the ring.
  void ring_doorbell();

 private:
  std::unique_ptr<verbs::Endpoint> end_;
  std::vector<Ring> rings_;
};

}  // namespace ring_scribble
