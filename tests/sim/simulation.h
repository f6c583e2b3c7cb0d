// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One seed: two hosts, their applications, the path between them, in virtual time.
#ifndef TESTS_SIM_SIMULATION_H
#define TESTS_SIM_SIMULATION_H

#include <memory>

#include "sim/conversation.h"
#include "sim/host.h"
#include "sim/network.h"
#include "sim/scenario.h"
#include "sim/workload.h"

namespace sim {

class Simulation {
 public:
  Simulation(u64 seed, Style style, Log::Mode log_mode);
  // Throws Violation.
  void run();

  const Scenario& scenario() const { return scenario_; }
  const Totals& totals() const { return totals_; }
  const Log& log() const { return log_; }
  // The part of the permitted recovery time that was needed, at worst.
  double slowest_recovery() const { return slowest_recovery_; }
  std::string describe_state() const;

 private:
  // What the application of one host is about to do, and when.
  struct Application {
    u64 next_ns = 0;
    bool waits_for_room = false;
    u64 resume_ns = SROCE_NEVER;  // SQD -> RTS
    u64 accident_ns = SROCE_NEVER;
    bool restarts = false;  // the accident: forget the QP, else move it to ERR
  };

  void run_epoch();
  void begin_epoch();
  void end_epoch();
  void plan_accidents();
  u64 next_event_ns() const;
  void step(u64 when_ns);
  void run_application(int number);
  void post_work(int number);
  void post_receives(int number);
  void use_drain(int number);
  void have_accident(int number);
  void notice_failure();
  void stop_faults();
  bool finished() const;
  u64 recovery_bound_ns() const;
  u64 pick_gap_ns(int number);
  void enforce_bound();
  void enforce_progress();

  Rng rng_;
  Scenario scenario_;
  Log log_;
  Totals totals_;
  Network network_;
  Host hosts_[2];
  std::unique_ptr<Memory> memory_[2];
  std::unique_ptr<Conversation> talks_[2];  // [i]: requests of host i
  Application apps_[2];

  u64 now_ns_ = 0;
  u64 idle_events_ = 0;  // since the last progress
  u64 last_progress_ = 0;
  u32 next_qpn_ = 0x11;
  bool faulty_ = true;
  u64 faults_end_ns_ = 0;
  u64 bound_ns_ = SROCE_NEVER;
  u64 notice_ns_ = SROCE_NEVER;
  double slowest_recovery_ = 0;
};

}  // namespace sim

#endif
