// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The kinds of malformed or misplaced packets that raw_flood sends. Pure.
#pragma once

#include <span>

#include "harness/random.h"
#include "wire/packet.h"

namespace raw_flood {

// The addresses of a flood, and the state of a live QP on the victim if it is known.
struct Aim {
  wire::Flow flow;
  wire::Flow stranger;  // the same destination, another source address
  bool has_qp = false;
  std::uint32_t qpn = 0;
  std::uint32_t psn = 0;  // the first PSN that the live QP expected; earlier ones are duplicates
};

struct Kind {
  const char* name;
  // A live QP must not be affected: it drops or ignores the packet, or acknowledges it again.
  bool is_harmless;
  wire::Bytes (*make)(harness::Random& random, const Aim& aim);
};

std::span<const Kind> kinds();

}  // namespace raw_flood
