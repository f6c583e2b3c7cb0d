// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Send work requests as tests post them.
#ifndef TESTS_UNIT_TRANSPORT_WORK_H
#define TESTS_UNIT_TRANSPORT_WORK_H

#include "port/engine.h"

namespace sroce_test {

// A send work request, with the fields a poster sets.
struct Work {
  u8 opcode = SROCE_WR_SEND;
  u32 length = 0;
  u8 flags = SROCE_SEND_SIGNALED;
  u8 status = SROCE_WC_SUCCESS;
  u64 remote_addr = 0x10000;
  u32 rkey = 0xabcd;
  u64 compare = 0;
  u64 swap_add = 0;
  __be32 imm = 0;
  u32 invalidate_rkey = 0;
  u32 flush_bytes = 0;
  u8 placement = 0;
  u8 level = 0;
  u32 srqn = 0;

  Work with(u8 more_flags) const {
    Work work = *this;
    work.flags |= more_flags;
    return work;
  }
  Work unsignaled() const {
    Work work = *this;
    work.flags &= static_cast<u8>(~SROCE_SEND_SIGNALED);
    return work;
  }
  Work fenced() const { return with(SROCE_SEND_FENCE); }
  Work solicited() const { return with(SROCE_SEND_SOLICITED); }
  Work rejected(sroce_wc_status reason) const {
    Work work = *this;
    work.status = reason;
    return work;
  }
  Work as(u8 other) const {
    Work work = *this;
    work.opcode = other;
    return work;
  }
};

inline Work send_of(u32 length) { return {.opcode = SROCE_WR_SEND, .length = length}; }
inline Work write_of(u32 length) { return {.opcode = SROCE_WR_WRITE, .length = length}; }
inline Work read_of(u32 length) { return {.opcode = SROCE_WR_READ, .length = length}; }
inline Work fetch_add(u64 addend) {
  return {.opcode = SROCE_WR_FETCH_ADD, .length = 8, .swap_add = addend};
}
inline Work compare_swap(u64 compare, u64 swap) {
  return {.opcode = SROCE_WR_COMPARE_SWAP, .length = 8, .compare = compare, .swap_add = swap};
}
inline Work atomic_write() { return {.opcode = SROCE_WR_ATOMIC_WRITE, .length = 8}; }
inline Work flush(u8 placement = SROCE_FLUSH_GLOBAL, u8 level = SROCE_FLUSH_RANGE) {
  return {.opcode = SROCE_WR_FLUSH, .flush_bytes = 3000, .placement = placement, .level = level};
}
inline Work local_invalidate() { return {.opcode = SROCE_WR_LOCAL_INV}; }

}  // namespace sroce_test

#endif
