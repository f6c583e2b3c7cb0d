// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A link and the queue in front of it: serialisation, tail drop, RED/ECN marks, loss, extra delay.
//
// A FIFO link needs no events, because a packet's departure is known on arrival. Time is in
// picoseconds, because a packet at 100 Gb/s does not take a whole number of nanoseconds.
#ifndef TESTS_SIM_FABRIC_LINK_H
#define TESTS_SIM_FABRIC_LINK_H

#include "sim/fabric/packet.h"
#include "sim/rng.h"

namespace fabric {

inline constexpr u64 kPsPerNs = 1000;
inline constexpr u64 kMillion = 1'000'000;  // for rates in ppm

struct Faults {
  u32 loss_ppm = 0;
  u32 delayed_ppm = 0;       // packets with extra delay
  Ns extra_ns = 0;           // the longest extra delay
  u32 paths = 0;             // number of distinct delays up to it; 0: any
  bool keeps_order = false;  // no packet overtakes another
  Ns outage_from_ns = 0;     // nothing arrives for @outage_ns
  Ns outage_ns = 0;
};

struct Marking {
  u64 kmin_bytes = 0;  // RED: nothing is marked up to here
  u64 kmax_bytes = 0;  // everything is marked from here on; 0: no marks
  u32 pmax_ppm = 0;    // probability just below kmax
};

struct LinkSettings {
  u64 ps_per_byte = 0;
  Ns delay_ns = 0;
  u64 limit_bytes = ~0ull;
  Marking marking;
  Faults faults;
};

struct LinkStats {
  u64 max_bytes = 0;
  unsigned __int128 area = 0;  // integral of the backlog over time, in ps x ps
  u64 dropped = 0;             // because the queue was full
  u64 lost = 0;                // by a fault
  u64 marked = 0;
};

class Link {
 public:
  Link(const LinkSettings& settings, sim::Rng& rng) : settings_(settings), rng_(&rng) {}

  // Returns when the packet arrives at the other end, or kNever if it is dropped or lost.
  Ns send(Packet& packet, Ns now_ns);
  u64 backlog_ps(Ns now_ns) const;
  // Returns when no more than @backlog_ps will be left.
  Ns drained_at(u64 backlog_ps) const;
  u64 ps_per_byte() const { return settings_.ps_per_byte; }

  // Restarts the measurement of maximum and mean depth.
  void restart_depth(Ns now_ns);
  const LinkStats& stats() const { return stats_; }
  u64 mean_bytes(Ns now_ns);

 private:
  void account(Ns now_ns);
  bool is_lost(Ns now_ns);
  bool is_marked(u64 queued_bytes);
  Ns extra_delay();

  LinkSettings settings_;
  sim::Rng* rng_;
  LinkStats stats_;
  u64 busy_until_ps_ = 0;
  u64 accounted_ps_ = 0;
  u64 depth_from_ps_ = 0;
  Ns last_arrival_ns_ = 0;
};

}  // namespace fabric

#endif
