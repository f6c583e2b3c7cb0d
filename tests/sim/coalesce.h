// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Which parsed packets may be coalesced. The datapath decides this from bytes: sroce_bth_follows().
#ifndef TESTS_SIM_COALESCE_H
#define TESTS_SIM_COALESCE_H

#include "port/engine.h"

namespace sim {

/// Returns whether @p next has the header of the packets coalesced in @p first, except for its PSN,
/// and as much payload as each of them.
inline bool can_coalesce_next(const sroce_packet& first, const sroce_packet& next) {
  return next.opcode == first.opcode && next.payload_bytes == first.payload_bytes / first.count &&
         next.pad_bytes == first.pad_bytes && next.ack_req == first.ack_req &&
         next.solicited == first.solicited && next.selective == first.selective;
}

}  // namespace sim

#endif
