// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A requester as simple hardware has it, independent of our engine: a fixed window, and go-back-N
// after a NAK, a hole in READ responses, or the full verbs timeout.
#ifndef TESTS_SIM_FABRIC_GO_BACK_N_H
#define TESTS_SIM_FABRIC_GO_BACK_N_H

#include <deque>

#include "sim/fabric/endpoint.h"

namespace fabric {

class GoBackN : public Requester {
 public:
  explicit GoBackN(const Scenario& scenario);

  void start(Ns now_ns) override;
  void send(Ns now_ns, u32 max_packets, std::vector<sroce_packet>& out) override;
  void receive(const Packet& packet, Ns now_ns) override;
  Ns deadline() const override { return deadline_ns_; }
  void timeout(Ns now_ns) override;
  bool failed() const override { return failed_; }
  u64 acked_packets() const override { return unacked_; }
  u64 timeouts() const override { return timeouts_; }

 private:
  bool reads() const { return scenario_.operation == Operation::read; }
  bool may_send() const;
  u8 opcode(u32 number) const;
  void fill_packet(sroce_packet& pkt);
  void receive_response(u64 packet, Ns now_ns);
  void acknowledge(u64 end, Ns now_ns);
  void retry(Ns now_ns);
  void arm(Ns now_ns);

  const Scenario& scenario_;
  const u32 per_message_;
  std::deque<Ns> posted_ns_;  // of incomplete messages
  // Packets count from 0; the PSN is the low 24 bits.
  u64 unacked_ = 0;
  u64 next_ = 0;
  u64 sent_ = 0;
  u64 posted_ = 0;
  u64 retried_hole_ = ~0ull;
  u32 since_ack_req_ = 0;
  u8 retries_left_;
  bool failed_ = false;
  u64 timeouts_ = 0;
  Ns deadline_ns_ = kNever;
};

}  // namespace fabric

#endif
