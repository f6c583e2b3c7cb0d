// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Compares plans field by field, because padding is undefined.
#ifndef TESTS_SIM_PLAN_COMPARE_H
#define TESTS_SIM_PLAN_COMPARE_H

#include <tuple>

#include "port/engine.h"

namespace sim {

inline auto fields(const sroce_send_plan& p) {
  return std::tie(p.action, p.ack_req, p.retransmit, p.index, p.first_psn, p.packet_count, p.offset,
                  p.payload_bytes, p.fills_hole, p.payload_end, p.bypass_tsq, p.implied_nak);
}

inline auto fields(const sroce_ack_plan& p) {
  return std::tie(p.action, p.reason, p.status, p.early_nak, p.rewind, p.rnr, p.place_atomic,
                  p.index, p.place_offset, p.place_bytes, p.rnr_wait_ns, p.mode, p.has_response,
                  p.executed_psn, p.response_psn, p.sack_bytes);
}

inline auto fields(const sroce_recv_plan& p) {
  return std::tie(p.verdict, p.target, p.reason, p.syndrome, p.wc_status, p.invalidate, p.atomic_op,
                  p.access, p.queued, p.resource, p.rkey, p.inv_rkey, p.offset, p.place_bytes,
                  p.check_bytes, p.va, p.compare, p.swap_add);
}

inline auto fields(const sroce_response_plan& p) {
  return std::tie(p.kind, p.syndrome, p.resource, p.first_psn, p.packet_count, p.offset,
                  p.payload_bytes, p.replay, p.number, p.base, p.end, p.va, p.rkey);
}

template <typename Plan>
bool same_plan(const Plan& a, const Plan& b) {
  return fields(a) == fields(b);
}

}  // namespace sim

#endif
