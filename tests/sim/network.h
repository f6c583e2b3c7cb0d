// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The path between two hosts: serialization, latency and faults.
#ifndef TESTS_SIM_NETWORK_H
#define TESTS_SIM_NETWORK_H

#include <algorithm>
#include <queue>
#include <vector>

#include "sim/conversation.h"
#include "sim/log.h"
#include "sim/rng.h"
#include "sim/scenario.h"

namespace sim {

using Bytes = std::vector<u8>;

struct Datagram {
  u64 arrival_ns = 0;
  u64 order = 0;
  int to = 0;
  bool corrupt = false;
  Bytes bytes;  // BTH to ICRC
};

class Network {
 public:
  Network(Rng& rng, const Scenario& scenario, Log& log, Totals& totals)
      : rng_(rng), scenario_(scenario), log_(log), totals_(totals) {}

  void send(int from, Bytes bytes, u64 now_ns);
  // The time from which fewer than @limit bytes of @from wait to be sent.
  u64 ready_at(int from, u64 limit) const;
  u64 next_arrival_ns() const {
    return in_flight_.empty() ? SROCE_NEVER : in_flight_.front().arrival_ns;
  }
  Datagram take();
  bool empty() const { return in_flight_.empty(); }
  void stop_faults() { faulty_ = false; }
  void start_faults() { faulty_ = true; }

 private:
  void deliver(int from, Bytes bytes, u64 arrival_ns, bool corrupt);
  void send_forged(int from, const Bytes& real, u64 arrival_ns);
  void trace(int from, const Bytes& bytes, const char* fate) const;

  Rng& rng_;
  const Scenario& scenario_;
  Log& log_;
  Totals& totals_;
  bool faulty_ = true;
  u64 order_ = 0;
  u64 link_free_ns_[2] = {};
  u64 last_arrival_ns_[2] = {};
  std::vector<Datagram> in_flight_;  // a heap
};

// hostile.cc: packets of a malicious peer.
Bytes fuzz_datagram(Rng& rng, Bytes bytes);
Bytes forge_datagram(Rng& rng, const Bytes& real, u32 mtu_bytes);

}  // namespace sim

#endif
