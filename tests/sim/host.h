// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A minimal datapath around one QP. It drives requester and responder as their headers document,
// moves the bytes, and reports everything to the oracle.
#ifndef TESTS_SIM_HOST_H
#define TESTS_SIM_HOST_H

#include <map>
#include <memory>
#include <set>
#include <vector>

#include "port/resource_storage.h"
#include "sim/conversation.h"
#include "sim/network.h"

namespace sim {

struct Interval {
  u64 begin_ns, end_ns;
};

class Host {
 public:
  Host(int number, Rng& rng, const Scenario& scenario, Network& network, Log& log, Totals& totals);

  // RESET -> RTS for a new epoch. @out has our requests, @in those of the peer.
  void connect(u32 qpn, u32 peer_qpn, u32 first_psn, u32 peer_first_psn, Memory& memory,
               Conversation& out, Conversation& in);
  void disconnect();  // RESET
  void move_to_error();
  void drain();   // RTS -> SQD
  void resume();  // SQD -> RTS

  bool has_room() const { return sroce_requester_room(&requester_); }
  bool post_send();  // posts the next planned send; false if the queue is full
  void post_receive();
  u32 posted_receives() const { return posted_receives_; }

  void receive(const Datagram& datagram, u64 now_ns);
  void run(u64 now_ns);
  // When run() must be called again.
  u64 wake_ns() const;

  void set_faulty(bool faulty, u64 now_ns);
  // Since the last fault: ACK timeouts, and when it waited for a timer that no round trip bounds.
  u32 late_timeouts() const { return late_timeouts_; }
  const std::vector<Interval>& timer_waits() const { return timer_waits_; }
  bool connected() const { return connected_; }
  bool in_error() const { return error_; }
  bool draining() const { return requester_.state == SROCE_SQ_DRAINING; }
  bool is_drained() const { return sroce_requester_is_drained(&requester_); }
  bool idle() const;  // nothing in flight, nothing to send, no timer armed
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
  bool misses_pages();
  void handle_deadline();
  bool count_timeout();
  void note_timer_wait(bool expired);
  void note_timers();
  void pull_send_completions();
  // recv_queue.cc
  void run_recv();
  bool respond_once(u32& budget);
  void handle_request(const sroce_packet& pkt, std::span<const u8> payload);
  void process_request(const sroce_packet& pkt, std::span<const u8> payload, bool from_queue);
  bool queue_packet(const sroce_packet& pkt, std::span<const u8> payload);
  void drop_queued();
  void retry_waiting_request();
  struct QueuedPacket {
    sroce_packet pkt;
    Bytes payload;
  };
  void handle_queued();
  void coalesce_queued(QueuedPacket& first) const;
  void write_sack(const sroce_response_plan& plan);
  void fetch_receive(u32 srqn);
  sroce_recv_result execute(const sroce_packet& pkt, const sroce_recv_plan& plan,
                            std::span<const u8> payload);
  void report_accepted(const sroce_packet& pkt);
  void place_payload(const sroce_recv_plan& plan, std::span<const u8> payload,
                     sroce_recv_result& result);
  void execute_atomic(const sroce_recv_plan& plan, std::span<const u8> payload,
                      sroce_recv_result& result);
  void pull_receive_completions();
  void flush_receives();
  // invariants.cc
  void check_requester() const;
  void check_search(u32 psn);
  bool sends_data(const sroce_send_plan& plan) const;
  void check_window(const sroce_send_plan& plan) const;
  void check_flags(const sroce_send_plan& plan) const;
  void check_responder() const;
  void check_gap_handling(const sroce_packet& pkt, const sroce_recv_plan& plan);
  void check_message_stream(const sroce_packet& pkt);
  void count_in_flight(u32& data, u32& rd_atomic) const;
  // recovery.cc
  bool both_selective() const;
  bool peer_may_seem_selective() const;
  bool is_selective() const { return requester_.sb.mode == SROCE_SELECTIVE_ON; }
  void check_offer(const sroce_packet& pkt) const;
  void note_offer(const sroce_packet& pkt, const sroce_recv_plan& plan, u32 epsn);
  void check_acceptance(const sroce_packet& pkt) const;
  void note_mode(const sroce_requester& before, const sroce_packet& pkt,
                 const sroce_ack_plan& plan);
  void check_probe(const sroce_send_plan& plan) const;
  void check_read_part(const sroce_send_plan& plan) const;
  void check_hole_filled(const sroce_send_plan& plan) const;
  void note_sent(const sroce_send_plan& plan);
  void check_nothing_to_send() const;
  void check_responses_requested() const;
  void note_unplaced(const sroce_ack_plan& plan);
  bool is_requested_again(u32 psn) const;
  bool must_be_requested(u32 psn) const;
  bool rejected(u32 psn) const;
  void check_rerequest(const sroce_send_plan& plan) const;
  void check_rtx_losses(const sroce_requester& before) const;
  u32 tolerance() const;
  bool lost_again(u32 end_psn) const;
  void forget_distrusted();
  void note_sacked(const sroce_packet& pkt, const sroce_ack_plan& plan);
  void check_done_map() const;
  void check_losses(const sroce_requester& before) const;
  void check_scoreboard() const;
  void check_ambiguous_probe(const sroce_requester& before) const;
  void check_recovery(const sroce_requester& before, const sroce_ack_plan& plan);
  void check_queued() const;
  void check_quiet() const;
  void check_processed(const sroce_packet& pkt, const sroce_recv_plan& plan);
  void check_response(const sroce_response_plan& plan) const;
  // host.cc
  bool may_transmit();
  bool in_shortage(double rate) { return faulty_ && rng_.chance(rate); }
  bool drops_plan();
  bool waits_for_pages() const { return now_ns_ < pages_at_ns_; }
  u32 random_burst(u32 budget);
  u8 reserved_bits(const sroce_packet& pkt);
  void set_reserved_bits(const sroce_packet& pkt, Bytes& bytes);
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
  ResourceStorage resources_;

  bool connected_ = false;
  bool error_ = false;
  bool faulty_ = true;
  u32 qpn_ = 0;
  u32 posted_receives_ = 0;
  bool lost_race_ = false;  // another QP has taken the receive
  u64 now_ns_ = 0;
  u64 resume_ns_ = SROCE_NEVER;  // end of a shortage, a full transmit queue or a spent budget
  u64 pages_at_ns_ = 0;          // end of a page fault that the send queue waits for
  u64 slack_ns_ = 0;
  // A timer of the requester: its deadline, and since when it has been that.
  struct Timer {
    void note(u64 deadline_now_ns, u64 now_ns);
    u64 deadline_ns = SROCE_NEVER;
    u64 armed_ns = 0;
  };
  Timer ack_timer_, probe_timer_;
  u32 late_timeouts_ = 0;
  std::vector<Interval> timer_waits_;
  u64 counted_until_ns_ = 0;  // everything before it is counted

  std::map<u32, QueuedPacket> queued_;  // requests that arrived out of order, by PSN

  // invariants.cc, recovery.cc: state derived from the packets, independently of the engine.
  bool nak_sent_ = false;           // the responder has reported a gap or sent an RNR NAK
  u32 message_kind_ = 0;            // SROCE_OPF_SEND or _WRITE while a message is in progress
  u64 message_left_ = 0;            // WRITE: bytes of the RETH that have not arrived
  std::set<u32> sacked_;            // PSNs that the peer has reported as queued
  std::set<u32> retransmitted_;     // PSNs sent again, or whose responses were requested again
  std::map<u32, u32> rerequested_;  // responses requested again, with next_psn at that time
  // Responses whose pages were missing, and whether they must be requested again: each that has not
  // been since, and that will not come with an earlier one.
  std::map<u32, bool> unplaced_;
  u32 gap_before_psn_ = ~0u;       // expected PSN when a later one arrived
  u32 offers_in_a_row_ = 0;        // new requests in a row that offered selective repeat
  bool offer_declined_ = false;    // by a response, or by silence
  bool responded_ = false;         // the peer has responded
  bool long_round_trip_ = false;   // once seemed, or may have been, longer than the ACK timeout
  bool responded_lately_ = false;  // since the last progress or ACK timeout, with nothing new
  u32 free_timeouts_ = 0;          // since the last progress, without a retry
  u8 request_bits_ = 0;            // reserved bits of the last request
  u64 random_bits_ = 0;            // of a generator of their own
  Bytes payload_;                  // scratch
};

}  // namespace sim

#endif
