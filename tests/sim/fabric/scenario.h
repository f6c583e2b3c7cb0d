// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A scenario: one row of the table.
//
// Every sender has a link to one switch, and so has the one receiver: the bottleneck. Each sender
// has one QP with the receiver and keeps @depth messages posted.
#ifndef TESTS_SIM_FABRIC_SCENARIO_H
#define TESTS_SIM_FABRIC_SCENARIO_H

#include <algorithm>
#include <string>
#include <vector>

#include "sim/fabric/link.h"

namespace fabric {

enum class Operation { write, send, read };

// Requester and responder. A standard peer behaves as go-back-N hardware does.
enum class Peers { sroce_sroce, sroce_standard, standard_sroce };

enum class Metric { goodput, sent, jain, queue_max, drops, failed, converged };

// Checked, or with @pending only shown.
struct Limit {
  Metric metric;
  bool at_least;
  u64 value;  // goodput, sent and jain in thousandths, the queue in bytes, times in ns
  bool pending;
};

struct Scenario {
  std::string name;
  // The network.
  u32 senders = 1;
  u64 rate_mbps = 10'000;
  u64 port_mbps = 0;   // of the switch's port to the receiver; 0: the same
  Ns rtt_ns = 55'000;  // of a full packet and its ACK on an idle network
  u64 queue_bytes = ~0ull;
  Marking marking;
  Faults faults;  // in both directions
  // The work.
  Operation operation = Operation::write;
  u32 message_bytes = 65'536;
  u32 mtu_bytes = 1024;
  u32 depth = 0;           // 0: enough for the window
  u32 window_packets = 0;  // 0: four times the packets in flight
  // The peers.
  Peers peers = Peers::sroce_sroce;
  std::string cc = "none";  // congestion control: the name of an algorithm
  u32 reorder_room = ~0u;   // packets that the responder has memory to queue
  u8 timeout_exponent = 14;
  u8 retry_cnt = 7;
  // The run ends at @end_ns, or when @packets have been acknowledged since @warm_ns. Goodput,
  // times, fairness and queue depths cover that part, counters the whole run.
  Ns warm_ns = 0;
  u64 packets = 0;
  Ns end_ns = 20'000'000'000;
  Ns late_ns = 0;    // delay of the last sender's start
  Ns sample_ns = 0;  // window for fairness over time
  std::vector<Limit> limits;
  bool pending = false;  // the engine cannot do this yet: not run

  u64 ps_per_byte() const { return 8'000'000 / rate_mbps; }
  // Of the bottleneck.
  u64 port_ps_per_byte() const { return 8'000'000 / (port_mbps ? port_mbps : rate_mbps); }
  u32 full_bytes() const { return full_wire_bytes(std::min(message_bytes, mtu_bytes)); }
  u32 message_packets() const;
  u32 window() const;
  u32 messages_posted() const;
  u32 cc_algorithm() const;
  u64 seed() const;
};

std::vector<Scenario> all_scenarios();

}  // namespace fabric

#endif
