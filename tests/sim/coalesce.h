// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Packets that a shell looks at as one, parsed; sroce_bth_follows() says it of their bytes.
#ifndef TESTS_SIM_ALIKE_H
#define TESTS_SIM_ALIKE_H

#include "port/engine.h"

namespace sim {

/// Does a packet have the header of those merged in @p row, but for its PSN, and as much payload?
inline bool can_coalesce_next(const sroce_packet& row, const sroce_packet& next) {
  return next.opcode == row.opcode && next.payload_bytes == row.payload_bytes / row.count &&
         next.pad_bytes == row.pad_bytes && next.ack_req == row.ack_req &&
         next.solicited == row.solicited && next.selective == row.selective;
}

}  // namespace sim

#endif
