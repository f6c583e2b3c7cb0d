// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Responders that queue packets behind a gap, of a standard and of a selective peer.
#ifndef TESTS_UNIT_TRANSPORT_REORDERING_QUEUE_H
#define TESTS_UNIT_TRANSPORT_REORDERING_QUEUE_H

#include <vector>

#include "receive_queue.h"

namespace sroce_test {

using Psns = std::vector<u32>;
inline constexpr u32 kSpan = SROCE_PSN_MAP_SPAN;
inline constexpr u64 kMicrosecond = 1000;

inline sroce_packet selective(sroce_packet pkt) {
  pkt.selective = true;
  return pkt;
}

// A WRITE of one packet without AckReq.
inline sroce_packet quiet_write(u32 psn) {
  sroce_packet pkt = write_only(psn & SROCE_PSN_MASK, 0x10000, 16);
  pkt.ack_req = false;
  return pkt;
}

struct ReorderingQueue : ReceiveQueue {
  explicit ReorderingQueue(ReceiveQueueOptions options = {.reorder_packets = 64})
      : ReceiveQueue(options) {}
  void write(const Psns& psns) {
    for (u32 psn : psns) receive(quiet_write(psn));
  }
};

// The peer is selective too.
struct SelectivePair : ReceiveQueue {
  explicit SelectivePair(u32 psn = 2000, u32 reorder_packets = 64)
      : ReceiveQueue({.psn = psn, .reorder_packets = reorder_packets, .selective = true}) {}
  void write(const Psns& psns) {
    for (u32 psn : psns) receive(selective(quiet_write(psn)));
  }
  void write_with_ack_req(u32 psn) {
    receive(selective(write_only(psn & SROCE_PSN_MASK, 0x10000, 16)));
  }
};

// The bitmap of a selective ACK, as PSNs.
inline Psns sacked(const ReceiveQueue& rq, const sroce_response_plan& plan) {
  std::vector<u8> bitmap(plan.payload_bytes);
  sroce_reorder_write_sack(&rq.resp, bitmap.data(), plan.payload_bytes);
  Psns psns;
  for (u32 bit = 0; bit < 8 * bitmap.size(); bit++)
    if (bitmap[bit / 8] >> bit % 8 & 1) psns.push_back(psn_add(plan.first_psn, 1 + bit));
  return psns;
}

inline sroce_response_plan only_response(ReceiveQueue& rq) {
  const auto plan = rq.next_response();
  EXPECT_TRUE(plan);
  if (!plan) return {};
  rq.sent(*plan);
  EXPECT_FALSE(rq.next_response());
  return *plan;
}

}  // namespace sroce_test

#endif
