// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Ways to corrupt a ring: noise, wrong indices, wrong geometry, and forged work requests.
#pragma once

#include "ring_scribble/rings.h"

namespace ring_scribble {

// Valid keys and addresses, with which a forged request passes the first checks.
struct Bait {
  std::uint32_t lkey;
  std::uint32_t rkey;
  std::uint64_t local;
  std::uint64_t remote;
  std::uint64_t length;
  std::span<const std::uint32_t> windows;  // their keys
};

void scribble_noise(Ring& ring, harness::Random& random);
void scribble_indices(Ring& ring, harness::Random& random);
void scribble_geometry(Ring& ring, harness::Random& random);
void forge_send(Ring& ring, harness::Random& random, const Bait& bait);
void forge_receive(Ring& ring, harness::Random& random, const Bait& bait);

}  // namespace ring_scribble
