// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One seed: two hosts, their applications and the path between them, in virtual time.
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
  // The largest fraction of the permitted recovery time, without timeouts, that an epoch needed.
  double slowest_recovery() const { return slowest_recovery_; }
  std::string describe_state() const;

 private:
  // The next actions of one host's application.
  struct Application {
    u64 next_ns = 0;
    bool waits_for_room = false;
    u64 resume_ns = SROCE_NEVER;  // SQD -> RTS
    u64 failure_ns = SROCE_NEVER;
    bool restarts = false;  // the failure loses the QP, otherwise it moves the QP to ERR
  };

  void run_epoch();
  void begin_epoch();
  void end_epoch();
  void plan_failures();
  u64 next_event_ns() const;
  void step(u64 when_ns);
  void run_application(int number);
  void post_work(int number);
  void post_receives(int number);
  void use_drain(int number);
  void inject_failure(int number);
  void notice_failure();
  void stop_faults();
  bool finished() const;
  double round_trips_ns() const;
  u64 timeouts_ns() const;
  u64 waited_ns() const;
  void check_late_timeouts();
  void check_recovery_time();
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
  std::unique_ptr<Conversation> conversations_[2];  // [i]: requests of host i
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
