// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The parameters of one seed: a random subset of faults (swarm testing) and random sizes.
#ifndef TESTS_SIM_SCENARIO_H
#define TESTS_SIM_SCENARIO_H

#include <cstdint>
#include <string>

#include "port/engine.h"
#include "sim/rng.h"

namespace sim {

// Faults of one direction of the path. Probabilities are per packet.
struct PathFaults {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;
  double corrupt = 0;  // detected by the ICRC, so equivalent to a loss
  double fuzz = 0;     // header fields changed under a valid ICRC: a hostile peer
  double forge = 0;    // a forged packet besides the real one
  u64 jitter_ns = 0;
  u64 reorder_ns = 0;
};

// The use that a standard peer makes of the reserved bits of the BTH. The rule is 0 (IBTA 9.2).
// A peer with adaptive routing may mark with one of them the packets that switches may reorder.
enum class ReservedBits { zero, routed, copied, random };

// One host: limits of its QP, behaviour of its datapath and application.
struct Side {
  u32 slots = 16;
  u32 window_packets = 128;
  u8 max_rd_atomic = 4;
  u8 max_dest_rd_atomic = 4;
  u8 retry_cnt = 7;
  u8 rnr_retry = 7;
  u8 timeout_exponent = 14;
  u8 min_rnr_timer = 1;
  u32 start_psn = 0;
  u32 max_sge = 4;
  u32 max_inline = 64;
  u32 burst_packets = 64;      // per plan
  u32 round_packets = 256;     // per run of a work queue: the softirq budget
  u64 tx_queue_bytes = ~0ull;  // back-pressure limit
  double drop_plan = 0;        // shortage while sending: a plan is dropped
  double drop_received = 0;    // shortage while receiving: a packet is lost
  double missing_pages = 0;    // per response: its buffer is paged out
  u64 timer_slack_ns = 0;      // timers fire late
  double late_receives = 0;    // receives are posted after the sender is ready
  u64 post_gap_ns = 0;         // mean time between posts
  u32 post_batch = 8;
  double sqd = 0;                                   // per post: go to SQD, drain, resume
  bool adaptive = false;                            // probes and window from RTT samples
  bool selective = false;                           // offers selective repeat in both directions
  u32 reorder_packets = 0;                          // limit of the reorder queue
  ReservedBits reserved_bits = ReservedBits::zero;  // copied: from the last request
  bool delays_rnr = false;  // a request without a receive WQE waits before the RNR NAK

  // Without a retry nothing could withdraw the offer.
  bool offers() const { return selective && retry_cnt && timeout_exponent; }
};

struct Scenario {
  bool hostile = false;
  bool clean = false;      // no faults: nothing may be sent twice
  bool xrc = false;        // each request names one of the peer's shared receive queues
  bool placement = false;  // a third of the requests is FLUSH or ATOMIC WRITE
  bool revoke = false;     // WRITEs use windows that a later SEND invalidates
  u32 epochs = 1;
  u32 mtu_bytes = 1024;
  u32 messages = 60;  // per direction and epoch
  u32 max_message_bytes = 65536;
  u64 volume_bytes = 1 << 20;  // per direction and epoch
  double flaw = 0;             // chance of a request that must fail, per direction and epoch
  double restart = 0;          // chance that a host loses its QP during an epoch
  double kill = 0;             // chance that a QP is moved to ERR during an epoch
  u64 latency_ns = 5000;
  double ns_per_byte = 0.1;
  u64 fault_ns = 0;    // how long the faults last
  PathFaults path[2];  // from host 0, from host 1
  Side side[2];

  sroce_service service() const { return xrc ? SROCE_SERVICE_XRC : SROCE_SERVICE_RC; }
  // The queue that a request names, and whether there is one with this number.
  u32 srqn_of(u64 wr_id) const { return xrc ? 1 + wr_id % kSharedQueues : 0; }
  static bool has_srq(u32 srqn) { return srqn && srqn <= kSharedQueues; }
  static constexpr u32 kSharedQueues = 3;

  std::string describe() const;
};

enum class Style { any, honest, hostile, placement, revoke, paging, xrc, uc };

// The longest round trip that is plausible behind full windows.
double longest_round_trip_ns(const Scenario& s, const Side& side);

Scenario make_scenario(Rng& rng, Style style);

}  // namespace sim

#endif
