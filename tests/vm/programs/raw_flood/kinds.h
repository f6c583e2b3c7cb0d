// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The kinds of malformed or misplaced packets that raw_flood sends. Pure.
#pragma once

#include <span>

#include "harness/random.h"
#include "wire/packet.h"

namespace raw_flood {

// What the flood knows of a live QP on the victim, if anything.
struct Aim {
  wire::Flow flow;
  wire::Flow stranger;  // the same destination, another source address
  bool has_qp = false;
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;  // the first PSN the live QP expected: everything before it is old
};

struct Kind {
  const char* name;
  // A live QP must stay as it is: the packet is to be dropped, ignored or acknowledged once more.
  bool is_harmless;
  wire::Bytes (*make)(harness::Random& random, const Aim& aim);
};

std::span<const Kind> kinds();

}  // namespace raw_flood
