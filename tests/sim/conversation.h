// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The oracle of one direction: requests of one host, executed by the other.
//
// It knows all work requests in advance. It follows every packet, placement and completion at both
// ends, and throws Violation as soon as one differs from the only correct one. A hostile peer may
// legally send wrong data; then only the rules that protect a host from its peer apply.
#ifndef TESTS_SIM_CONVERSATION_H
#define TESTS_SIM_CONVERSATION_H

#include <span>
#include <vector>

#include "sim/log.h"
#include "sim/memory.h"
#include "sim/scenario.h"
#include "sim/work.h"

namespace sim {

// The most ACK timeouts that a host may need after the last fault.
inline constexpr u32 kMaxLateTimeouts = 6;

struct Totals {
  u64 packets = 0;
  u64 drops = 0;
  u64 retransmits = 0;
  u64 naks = 0;
  u64 completions = 0;
  u64 progress = 0;  // accepted packets, requests and responses
  // Hosts by their ACK timeouts after the last fault, of those whose round trips are shorter.
  u64 late_timeouts[kMaxLateTimeouts + 1] = {};
};

class Conversation {
 public:
  Conversation(const Scenario& scenario, int requester, Memory& local, Memory& remote,
               Totals& totals)
      : scenario_(scenario),
        side_(scenario.side[requester]),
        mtu_(scenario.mtu_bytes),
        strict_(!scenario.hostile),
        both_selective_(side_.selective && scenario.side[1 - requester].selective),
        may_seem_selective_(side_.selective &&
                            scenario.side[1 - requester].reserved_bits == ReservedBits::random),
        peer_queues_(scenario.side[1 - requester].reorder_packets),
        no_repeats_(scenario.clean && !side_.sqd && !side_.adaptive && !may_seem_selective_),
        local_(local),
        remote_(remote),
        totals_(totals) {}

  // Planned by the workload.
  std::vector<SendWork> sends;
  std::vector<RecvWork> recvs;

  void start(u32 first_psn, u32 dest_qpn);
  bool strict() const { return strict_; }

  // Reported by the requester's host.
  u32 posted_count() const { return posted_; }
  void posted(u8 wqe_status);
  void request_sent(const sroce_send_plan& plan, const sroce_packet& pkt,
                    std::span<const u8> payload, bool draining, u64 now_ns);
  void local_executed(u32 index);
  void response_placed(const sroce_ack_plan& plan, std::span<const u8> data);
  void progressed(bool executed);
  void retried();
  u32 retries() const { return retries_; }
  void rnr_waited(u64 until_ns, bool selective);
  void fatal_nak_received(u32 psn);
  void retries_exhausted(u32 psn, u8 status);
  void send_completed(const sroce_completion& wc);
  void check_all_completed() const;
  // The queue may be flushed from now on: its QP is in ERR, or its peer is gone.
  void requester_stopped() { stopped_ = true; }
  bool failed() const { return failed_; }

  // Reported by the responder's host.
  void payload_placed(const sroce_recv_plan& plan, std::span<const u8> data);
  void atomic_executed(const sroce_recv_plan& plan, u64 original, u64 result);
  void atomic_write_executed(const sroce_recv_plan& plan, std::span<const u8> data);
  void flush_executed(const sroce_recv_plan& plan);
  void request_accepted(const sroce_packet& pkt);
  void responses_requested(const sroce_packet& pkt);
  void response_sent(const sroce_packet& pkt, std::span<const u8> payload);
  void receive_fetched();
  void receive_completed(const sroce_completion& wc);
  bool may_nak_duplicate(u32 psn);
  bool has_dup_nak(u32 psn) const { return dup_naks_.contains(psn); }
  void responder_stopped() { responder_stopped_ = true; }
  u32 expected_psn() const { return exec_psn_; }
  u32 executed_messages() const { return executed_; }
  bool all_executed() const;
  u32 fetched_receives() const { return fetched_; }
  u32 completed_receives() const { return received_; }

 private:
  SendWork* work_at(u32 psn);
  SendWork* current();
  u32 payload_of(const SendWork& work, u32 number) const;
  u8 request_opcode(const SendWork& work, u32 number) const;
  bool fills_hole(const SendWork& work, u32 number, const sroce_packet& pkt) const;
  void check_request_headers(const SendWork& work, u32 number, const sroce_packet& pkt) const;
  void check_may_begin(const SendWork& work, u32 index, bool draining) const;
  void check_succeeded(const SendWork& work) const;
  void check_exhausted(u8 status, u32 last) const;
  void check_failure(const SendWork& work, u8 status);
  void check_acknowledge(const sroce_packet& pkt);
  void check_nak(u8 syndrome) const;
  void check_empty_response(SendWork& work, const sroce_packet& pkt) const;
  void check_read_response(SendWork& work, const sroce_packet& pkt, std::span<const u8> payload);
  void check_responses_before(const SendWork& work) const;
  void finish_current(SendWork& work);

  const Scenario& scenario_;
  const Side& side_;
  const u32 mtu_;
  const bool strict_;
  const bool both_selective_;
  const bool may_seem_selective_;  // see Host::peer_may_seem_selective()
  const bool peer_queues_;         // the responder queues packets out of order
  const bool no_repeats_;
  Memory& local_;
  Memory& remote_;
  Totals& totals_;

  // Requester.
  u32 dest_qpn_ = 0;
  u32 posted_ = 0;
  u32 post_psn_ = 0;
  u32 sent_psn_ = 0;     // one past the newest sent
  u32 completed_ = 0;    // sends with a completion, or that need none
  bool failed_ = false;  // there was a completion with an error
  bool stopped_ = false;
  u32 retries_ = 0;  // since the last progress
  u32 rnr_retries_ = 0;
  u64 rnr_until_ns_ = 0;
  u32 rd_oldest_ = 0;  // every READ and atomic before this index is complete

  // Responder.
  u32 exec_psn_ = 0;        // next PSN to execute
  u32 exec_index_ = 0;      // message of that PSN
  u32 executed_ = 0;        // executed messages: the MSN
  u32 response_index_ = 0;  // every READ and atomic before this index has all its responses
  u32 fetched_ = 0;
  u32 received_ = 0;
  bool responder_stopped_ = false;
  std::set<u32> dup_naks_;  // completed READs whose duplicates get a NAK
  bool gap_reported_ = false;
  u32 gap_psn_ = 0;
};

}  // namespace sim

#endif
