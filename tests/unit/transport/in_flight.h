// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Send queues with requests in flight, and checks of what a response does to them.
#ifndef TESTS_UNIT_TRANSPORT_IN_FLIGHT_H
#define TESTS_UNIT_TRANSPORT_IN_FLIGHT_H

#include "send_queue.h"

namespace sroce_test {

// Packets 1000 .. 1000 + count - 1, one SEND each, sent and not acknowledged.
struct SendsInFlight : SendQueue {
  explicit SendsInFlight(u32 count, const SendQueueOptions& options = {}) : SendQueue(options) {
    for (u32 i = 0; i < count; i++) post(send_of(10));
    send_all();
  }
};

// A READ of @responses full packets from PSN 1000, requested; no response has arrived.
struct ReadInFlight : SendQueue {
  explicit ReadInFlight(u32 responses, const SendQueueOptions& options = {})
      : SendQueue(options), responses_(responses) {
    post(read_of(responses * 1024));
    send_all();
  }
  sroce_packet response(u32 number) const {
    const bool first = number == 0, last = number == responses_ - 1;
    u8 opcode = SROCE_OP_READ_RESPONSE_MIDDLE;
    if (first && last) opcode = SROCE_OP_READ_RESPONSE_ONLY;
    if (first && !last) opcode = SROCE_OP_READ_RESPONSE_FIRST;
    if (!first && last) opcode = SROCE_OP_READ_RESPONSE_LAST;
    return read_response(opcode, psn_add(1000, number), 1024);
  }

 private:
  u32 responses_;
};

inline void expect_dropped(SendQueue& sq, const sroce_packet& pkt, sroce_drop_reason reason) {
  const sroce_ack_plan plan = sq.receive(pkt);
  EXPECT_EQ(plan.action, SROCE_ACK_DROP);
  EXPECT_EQ(plan.reason, reason);
}

inline void expect_fails_with(SendQueue& sq, const sroce_packet& pkt, sroce_wc_status status) {
  EXPECT_EQ(sq.receive(pkt).action, SROCE_ACK_FAIL);
  EXPECT_TRUE(sq.failed());
  const auto all = sq.completions();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front().status, status);
  for (size_t i = 1; i < all.size(); i++) EXPECT_EQ(all[i].status, SROCE_WC_WR_FLUSH_ERR);
}

}  // namespace sroce_test

#endif
