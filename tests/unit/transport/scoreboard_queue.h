// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Send queues with a peer that supports selective repeat.
#ifndef TESTS_UNIT_TRANSPORT_SCOREBOARD_QUEUE_H
#define TESTS_UNIT_TRANSPORT_SCOREBOARD_QUEUE_H

#include <gtest/gtest.h>

#include <vector>

#include "send_queue.h"

namespace sroce_test {

inline constexpr u32 kSpan = SROCE_PSN_MAP_SPAN;
inline constexpr u64 kMicrosecond = 1000;

inline std::vector<u32> psns_of(const std::vector<sroce_packet>& packets) {
  std::vector<u32> psns;
  for (const sroce_packet& pkt : packets) psns.push_back(pkt.psn);
  return psns;
}

inline std::vector<u32> range(u32 from, u32 count) {
  std::vector<u32> psns;
  for (u32 i = 0; i < count; i++) psns.push_back(psn_add(from, i));
  return psns;
}

using Psns = std::vector<u32>;

// The peer has accepted selective repeat in its ACK of one SEND (PSN 999), @rtt_ns after it.
struct SelectiveQueue : SendQueue {
  explicit SelectiveQueue(SendQueueOptions options = {}, u64 rtt_ns = 20 * kMicrosecond)
      : SendQueue(with_mode(options)) {
    post(send_of(10));
    send_all();
    now += rtt_ns;
    receive(selective(ack(psn_add(options.psn, SROCE_PSN_MASK))));
    completions();
  }
  static SendQueueOptions with_mode(SendQueueOptions options) {
    options.selective = true;
    options.psn = psn_add(options.psn, SROCE_PSN_MASK);
    return options;
  }
};

// Plus @count SENDs of one packet each, from PSN 1000.
struct SelectiveSends : SelectiveQueue {
  explicit SelectiveSends(u32 count, SendQueueOptions options = {}) : SelectiveQueue(options) {
    for (u32 i = 0; i < count; i++) post(send_of(10));
    send_all();
  }
};

// Plus one READ of @responses full packets.
struct SelectiveRead : SelectiveQueue {
  explicit SelectiveRead(u32 responses, SendQueueOptions options = {})
      : SelectiveQueue(options), responses_(responses), psn_(options.psn) {
    post(read_of(responses * 1024));
    send_all();
  }
  sroce_packet response(u32 number, u32 bytes = 1024) const {
    const u8 opcode = responses_ == 1            ? SROCE_OP_READ_RESPONSE_ONLY
                      : number == responses_ - 1 ? SROCE_OP_READ_RESPONSE_LAST
                      : number                   ? SROCE_OP_READ_RESPONSE_MIDDLE
                                                 : SROCE_OP_READ_RESPONSE_FIRST;
    return selective(read_response(opcode, psn_add(psn_, number), bytes));
  }
  sroce_ack_plan respond(u32 number, u32 bytes = 1024) { return receive(response(number, bytes)); }
  void respond_all(const Psns& numbers) {
    for (u32 number : numbers) EXPECT_EQ(respond(number).action, SROCE_ACK_ACCEPT) << number;
  }

 private:
  u32 responses_;
  u32 psn_;
};

}  // namespace sroce_test

#endif
