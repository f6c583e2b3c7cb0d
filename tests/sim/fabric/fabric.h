// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Runs one scenario and computes its figures.
#ifndef TESTS_SIM_FABRIC_FABRIC_H
#define TESTS_SIM_FABRIC_FABRIC_H

#include <deque>
#include <memory>
#include <vector>

#include "sim/fabric/host.h"

namespace fabric {

// Integers only, so that results are the same on every machine.
struct Result {
  u64 goodput = 0;         // thousandths of the bottleneck link
  u64 sent_per_acked = 0;  // thousandths
  u64 messages = 0;
  Ns p50_ns = 0;
  Ns p99_ns = 0;
  Ns p999_ns = 0;
  u64 jain = 0;  // thousandths
  Ns converged_ns = kNever;
  u64 queue_max = 0;   // bytes
  u64 queue_mean = 0;  // bytes
  u64 lost = 0;
  u64 dropped = 0;
  u64 marked = 0;
  u64 cnps = 0;
  u64 timeouts = 0;
  u64 probes = 0;
  u64 failed = 0;  // QPs in error
};

class Fabric {
 public:
  explicit Fabric(const Scenario& scenario);
  Result run();

 private:
  struct Flow {
    std::unique_ptr<Requester> requester;
    std::unique_ptr<Endpoint> responder;
    bool started = false;
    bool failed = false;
    u64 acked = 0;  // packets: now, when the measurement began, at the last sample
    u64 acked_at_warm = 0;
    u64 acked_at_sample = 0;
  };

  LinkSettings link_settings(bool downlink) const;
  u32 receiver() const { return scenario_.senders; }
  // Data of READs flows from the receiver to the sender.
  u32 bottleneck_host() const { return scenario_.operation == Operation::read ? 0 : receiver(); }
  Link& bottleneck() { return downlinks_[bottleneck_host()]; }
  void handle(const Event& event);
  void at_switch(u32 index);
  void at_host(u32 index);
  void note_progress(u32 number);
  void warm();
  void sample();
  bool done() const;
  u64 data_sent();
  u64 fairness(u64 Flow::*since) const;
  void percentiles(Result& result);
  Result figures();

  const Scenario& scenario_;
  sim::Rng rng_;
  EventQueue events_;
  PacketPool pool_;
  std::deque<Host> hosts_;      // the receiver last
  std::deque<Link> downlinks_;  // from the switch to each host
  std::vector<Flow> flows_;
  Ns now_ns_ = 0;
  bool warm_ = false;
  u64 acked_ = 0;  // since warm
  u64 data_sent_at_warm_ = 0;
  u32 failed_ = 0;
  u32 fair_samples_ = 0;
  Ns converged_ns_ = kNever;
  bool ended_ = false;
};

}  // namespace fabric

#endif
