// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A minimal shell around one QP: it drives the two engine halves by the protocol that their headers
// document, moves the bytes, and reports everything it does to the oracle.
#ifndef TESTS_SIM_HOST_H
#define TESTS_SIM_HOST_H

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "sim/conversation.h"
#include "sim/network.h"

namespace sim {

class Host {
 public:
  Host(int number, Rng& rng, const Scenario& scenario, Network& network, Log& log, Totals& totals);

  // RESET -> RTS for a new epoch. @out is what we ask of the peer, @in what it asks of us.
  void connect(u32 qpn, u32 peer_qpn, u32 first_psn, u32 peer_first_psn, Memory& memory,
               Conversation& out, Conversation& in);
  void disconnect();  // RESET
  void move_to_error();
  void drain();   // RTS -> SQD
  void resume();  // SQD -> RTS

  bool has_room() const { return sroce_requester_room(&requester_); }
  bool post_send();  // the next planned one; false when the queue is full
  void post_receive();
  u32 posted_receives() const { return posted_receives_; }

  void receive(const Datagram& datagram, u64 now_ns);
  void run(u64 now_ns);
  // When run() wants to be called again.
  u64 wake_ns() const;

  void set_faulty(bool faulty) { faulty_ = faulty; }
  bool connected() const { return connected_; }
  bool in_error() const { return error_; }
  bool draining() const { return requester_.state == SROCE_SQ_DRAINING; }
  bool is_drained() const { return sroce_requester_is_drained(&requester_); }
  bool idle() const;  // nothing under way, nothing to be sent, no timer on
  void check_idle() const;
  std::string describe_state() const;

 private:
  // send_queue.cc
  void run_send();
  bool send_once(u32& budget);
  void send_burst(const sroce_send_plan& plan, u32& budget);
  void handle_response(const sroce_packet& pkt, std::span<const u8> payload);
  void commit_response(const sroce_ack_plan& plan, sroce_mem_status placed);
  sroce_mem_status place_response(const sroce_ack_plan& plan, const sroce_packet& pkt,
                                  std::span<const u8> payload);
  void handle_deadline();
  void pull_send_completions();
  // recv_queue.cc
  void run_recv();
  bool respond_once(u32& budget);
  void handle_request(const sroce_packet& pkt, std::span<const u8> payload);
  void take_request(const sroce_packet& pkt, std::span<const u8> payload, bool held);
  bool keep(const sroce_packet& pkt, std::span<const u8> payload);
  void drop_queued();
  void feed();
  struct Kept {
    sroce_packet pkt;
    Bytes payload;
  };
  void handle_queued();
  void coalesce_queued(Kept& first) const;
  void write_sack(const sroce_response_plan& plan);
  void fetch_receive();
  sroce_recv_result execute(const sroce_packet& pkt, const sroce_recv_plan& plan,
                            std::span<const u8> payload);
  void accepted(const sroce_packet& pkt);
  void place_payload(const sroce_recv_plan& plan, std::span<const u8> payload,
                     sroce_recv_result& result);
  void execute_atomic(const sroce_recv_plan& plan, sroce_recv_result& result);
  void pull_receive_completions();
  void flush_receives();
  // invariants.cc
  void check_requester() const;
  void check_window(const sroce_send_plan& plan) const;
  void check_responder() const;
  void check_gap_handling(const sroce_packet& pkt, const sroce_recv_plan& plan);
  void check_message_stream(const sroce_packet& pkt);
  void count_in_flight(u32& data, u32& rd_atomic) const;
  // recovery.cc
  bool both_selective() const;
  void check_hole_filled(const sroce_send_plan& plan) const;
  void note_sent(const sroce_send_plan& plan);
  void check_waiting() const;
  void check_responses_requested() const;
  void check_asked_too_soon(const sroce_send_plan& plan) const;
  void check_rtx_missed(const sroce_requester& before) const;
  u32 tolerance() const;
  void forget_distrusted();
  void note_told(const sroce_packet& pkt, const sroce_ack_plan& plan);
  void check_done_map() const;
  void check_lost(const sroce_requester& before) const;
  void check_known() const;
  void check_asked(const sroce_requester& before) const;
  void check_recovery(const sroce_requester& before, const sroce_ack_plan& plan);
  void check_queued() const;
  void check_taken(const sroce_packet& pkt, const sroce_recv_plan& plan);
  void check_response(const sroce_response_plan& plan) const;
  // host.cc
  bool may_transmit();
  bool in_shortage(double rate) { return faulty_ && rng_.chance(rate); }
  bool drops_plan();
  u32 random_burst(u32 budget);
  void transmit(const sroce_packet& pkt, std::span<const u8> payload);
  void log_completion(const char* what, const sroce_completion& wc) const;

  const int number_;
  Rng& rng_;
  const Scenario& scenario_;
  const Side& side_;
  Network& network_;
  Log& log_;
  Totals& totals_;
  Memory* memory_ = nullptr;
  Conversation* out_ = nullptr;
  Conversation* in_ = nullptr;

  sroce_requester requester_{};
  sroce_responder responder_{};
  u32 stride_ = 0;
  std::unique_ptr<u64[]> ring_;      // send WQEs
  std::unique_ptr<u64[]> recv_wqe_;  // current receive WQE
  std::vector<sroce_resource> resources_;

  bool connected_ = false;
  bool error_ = false;
  bool faulty_ = true;
  u32 qpn_ = 0;
  u32 posted_receives_ = 0;
  u64 now_ns_ = 0;
  u64 resume_ns_ = SROCE_NEVER;  // a shortage, a full transmit queue, or a spent budget
  u64 slack_ns_ = 0;

  std::map<u32, Kept> queued_;  // requests that came before their turn

  // invariants.cc: an independent reading of what passes by.
  bool gap_known_ = false;     // the responder has reported a gap (or a want of receives)
  u32 message_kind_ = 0;       // SROCE_OPF_SEND or _WRITE while a message is in progress
  u64 message_left_ = 0;       // WRITE: bytes announced and not yet come
  std::set<u32> told_sacked_;  // PSNs that the peer says it holds
  std::set<u32> repeated_;     // PSNs sent more than once, or their answers asked for
  std::map<u32, u32> asked_;   // of a standard peer's answers, and what was sent after that
  u32 gap_before_psn_ = ~0u;   // expected PSN when one beyond it came
  Bytes payload_;              // scratch
};

}  // namespace sim

#endif
