// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A sender with tail-loss probes that knows the round trip.
#ifndef TESTS_UNIT_TRANSPORT_ADAPTIVE_SENDS_H
#define TESTS_UNIT_TRANSPORT_ADAPTIVE_SENDS_H

#include <vector>

#include "send_queue.h"

namespace sroce_test {

inline constexpr u64 kMicrosecond = 1000;
using Psns = std::vector<u32>;

inline Psns psns_of(const std::vector<sroce_packet>& packets) {
  Psns psns;
  for (const sroce_packet& pkt : packets) psns.push_back(pkt.psn);
  return psns;
}

// An adaptive sender that has measured one round trip of 20 us, with @count SENDs from PSN 1000.
struct AdaptiveSends : SendQueue {
  explicit AdaptiveSends(u32 count, SendQueueOptions options = {}) : SendQueue(adapt(options)) {
    post(send_of(10));
    send_all();
    now += 20 * kMicrosecond;
    sroce_packet first = ack(999);
    first.selective = options.selective;
    receive(first);
    completions();
    for (u32 i = 0; i < count; i++) post(send_of(10));
    send_all();
  }
  static SendQueueOptions adapt(SendQueueOptions options) {
    options.adaptive = true;
    options.psn = 999;
    return options;
  }
};

}  // namespace sroce_test

#endif
