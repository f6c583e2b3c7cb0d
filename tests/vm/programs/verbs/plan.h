// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A chain of transfers, and the content of both arenas before and after it. Pure.
//
// Both processes make the same plan from the same seed, so they need not exchange it. The
// initiator's arena has the sources of SEND and WRITE, and the results of READ and atomics. The
// target's arena has the receive buffers, WRITE targets, READ sources and atomic cells. Nothing
// overlaps, and the gaps are guard bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/image.h"
#include "harness/random.h"

namespace verbs {

enum class Op { send, send_imm, send_inv, write, write_imm, read, cmp_swap, fetch_add };

const char* op_name(Op op);
bool consumes_receive(Op op);
bool is_atomic(Op op);

struct Segment {
  std::size_t offset;
  std::size_t length;
};
using Layout = std::vector<Segment>;

struct TransferSpec {
  Op op;
  std::size_t size;  // ignored by atomics
  bool use_inline = false;
  bool is_signaled = true;
  bool is_fenced = false;
  bool is_solicited = false;
};

struct Transfer {
  TransferSpec spec;
  std::uint64_t id;
  std::uint32_t imm;
  Layout local;                   // the initiator's segments
  Layout receive;                 // the target's receive buffer, if the transfer consumes one
  std::size_t remote_offset = 0;  // in the target's arena, if it reads or writes there
  std::uint64_t compare_or_add = 0;
  std::uint64_t swap = 0;
};

struct PlanLimits {
  unsigned local_sge = 4;
  unsigned receive_sge = 4;
};

struct Plan {
  explicit Plan(std::uint64_t seed);

  std::vector<Transfer> transfers;
  harness::Image local_before, local_after;
  harness::Image remote_before, remote_after;
  std::size_t local_size = 0;  // bytes of the arena that the plan uses, with guards
  std::size_t remote_size = 0;
};

Plan make_plan(const std::vector<TransferSpec>& specs, const PlanLimits& limits,
               std::uint64_t seed);

// An upper bound for the arena bytes that make_plan() needs for a transfer.
std::size_t arena_bytes_for(std::size_t size);

}  // namespace verbs
