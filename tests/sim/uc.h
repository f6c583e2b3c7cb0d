// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One seed of UC: a host sends messages to another.
//
// Nothing is acknowledged, so the oracle of RC does not apply. This one tells from the packets that
// arrive what each must lead to (IBTA 9.8.2). While a malicious peer sends, only the rules apply
// that protect the host. At the end the path is without faults.
#ifndef TESTS_SIM_UC_H
#define TESTS_SIM_UC_H

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/memory.h"
#include "sim/network.h"
#include "sim/scenario.h"
#include "sim/work.h"
#include "sim/workload.h"

namespace sim {

class UcSimulation {
 public:
  UcSimulation(u64 seed, Style style, Log::Mode log_mode);
  // Throws Violation.
  void run();

  const Scenario& scenario() const { return scenario_; }
  const Totals& totals() const { return totals_; }
  const Log& log() const { return log_; }
  double slowest_recovery() const { return 0; }

 private:
  struct Arrived {
    sroce_packet pkt;
    Bytes payload;
  };
  // The right outcome of a packet from an honest peer. @reason is why it is dropped.
  struct Outcome {
    SendWork* work = nullptr;
    u32 number = 0;  // of the packet in its message
    u8 reason = SROCE_DROP_NONE;
    bool wants_receive = false;
    bool denied = false;  // the region does not permit the WRITE
  };
  // The packets placed of a message, also of a forged one.
  struct Chain {
    u32 kind = 0;  // SROCE_OPF_SEND or _WRITE while packets are missing
    u32 next_psn = 0;
    u32 bytes = 0;
    u32 total = 0;  // WRITE: what its RETH says
    u64 va = 0;
    u32 rkey = 0;
  };

  // uc.cc: the workload, and the requester
  void plan_work();
  SendWork make_message();
  void add_flaw(SendWork& work);
  RecvWork make_receive();
  void start();
  void run_until_idle(size_t end);
  void run_application(size_t end);
  void post();
  void send();
  void send_burst(const sroce_send_plan& plan);
  void check_packet(const SendWork& work, u32 number, const sroce_packet& pkt) const;
  void pull_send_completions();
  void check_all_arrived() const;

  // uc_responder.cc
  void post_receives();
  void receive_batch();
  void coalesce(Arrived& first, std::deque<Arrived>& rest);
  void handle_response(const sroce_packet& pkt);
  void handle_request(const Arrived& arrived);
  u32 position_of(u32 psn) const { return (psn - start_psn_) & SROCE_PSN_MASK; }
  Outcome expected_outcome(const sroce_packet& pkt);
  void check_outcome(const Outcome& expected, const sroce_recv_plan& plan, bool placed) const;
  void advance(const Outcome& expected, const sroce_packet& pkt, bool placed);
  bool fetch_receive(const sroce_packet& pkt);
  sroce_mem_status place(const sroce_recv_plan& plan, std::span<const u8> payload);
  void note_placed(const Arrived& arrived, const sroce_recv_plan& plan);
  void check_completion(const Arrived& arrived, const Outcome& expected, bool placed);
  void check_received(const sroce_completion& wc, const sroce_packet& pkt) const;
  void check_content(const SendWork& work, const sroce_packet& pkt);
  void check_responder();
  // Is the peer honest, and what arrives its own?
  bool is_honest() const { return !scenario_.hostile || quiet_; }

  Rng rng_;
  Scenario scenario_;
  Log log_;
  Totals totals_;
  Network network_;
  Memory memory_[2];
  Regions regions_[2];
  const bool shared_;     // receives come from a shared queue
  const bool all_large_;  // every receive has room for every message
  std::vector<SendWork> messages_;
  u64 now_ns_ = 0;
  u64 application_ns_ = 0;
  u32 rounds_ = 0;      // of the application
  bool quiet_ = false;  // there are no more faults
  size_t first_quiet_ = 0;

  // The requester. Messages before each index are posted, completely sent, completed.
  sroce_requester requester_{};
  u32 stride_ = 0;
  std::unique_ptr<u64[]> ring_;
  Bytes payload_;  // scratch
  u32 start_psn_ = 0;
  u32 post_psn_ = 0;
  size_t posted_ = 0;
  size_t sent_ = 0;
  size_t completed_ = 0;

  // The responder.
  sroce_responder responder_{};
  std::unique_ptr<u64[]> recv_wqe_;
  std::deque<RecvWork> free_;      // not posted
  std::deque<RecvWork> receives_;  // posted
  std::optional<RecvWork> taken_;  // taken by the QP
  Chain chain_;
  bool established_ = false;
  const SendWork* current_ = nullptr;  // message of which every packet so far has been placed
  u32 next_position_ = 0;              // behind the newest packet, from start_psn_
  s64 newest_arrived_ = -1;            // index of the newest complete message
};

}  // namespace sim

#endif
