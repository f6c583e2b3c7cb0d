// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Invariants of the engine's state, checked after every step.
#include <bit>

#include "sim/host.h"

extern "C" {
#include "transport/psn.h"
#include "transport/requester_internal.h"
}

namespace sim {
namespace {

u32 distance(u32 from, u32 to) { return (to - from) & SROCE_PSN_MASK; }

}  // namespace

// Counts the packets between unacked_psn and next_psn from the WQEs.
void Host::count_in_flight(u32& data, u32& rd_atomic) const {
  const sroce_requester& req = requester_;
  const u32 in_flight = distance(req.unacked_psn, req.next_psn);
  u32 start = 0;
  data = rd_atomic = 0;
  for (u32 index = req.acked; index != req.posted && start < in_flight; index++) {
    const sroce_send_wqe* wqe = sroce_requester_wqe(&req, index);
    if (!wqe->psn_count) continue;
    u32 end = start + wqe->psn_count;
    if (index == req.acked) end = wqe->psn_count - distance(wqe->first_psn, req.unacked_psn);
    // A NAK may name the middle of a READ; the rest is then requested from there.
    if (wqe_is_rd_atomic(wqe->opcode))
      rd_atomic += end <= in_flight;
    else
      data += std::min(end, in_flight) - start;
    start = end;
  }
}

// The window limits new packets; a retransmission replaces a lost packet.
// An ATOMIC WRITE has payload, but counts as a READ.
bool Host::sends_data(const sroce_send_plan& plan) const {
  return plan.payload_bytes &&
         !wqe_is_rd_atomic(sroce_requester_wqe(&requester_, plan.index)->opcode);
}

void Host::check_window(const sroce_send_plan& plan) const {
  const sroce_requester& req = requester_;
  if (plan.fills_hole || !sends_data(plan)) return;
  const u32 sacked = std::min(req.sb.done_data, req.data_inflight);
  const u32 flight = req.data_inflight - sacked + plan.packet_count;
  require(flight <= side_.window_packets, "window exceeded", "%u of %u", flight,
          side_.window_packets);
}

// The flags by which the datapath limits and counts packets.
void Host::check_flags(const sroce_send_plan& plan) const {
  const sroce_requester& req = requester_;
  const sroce_send_wqe* wqe = sroce_requester_wqe(&req, plan.index);
  const bool probes = plan.fills_hole && req.probe.due;
  const bool rewound = plan.retransmit && !plan.fills_hole;
  require(plan.bypass_tsq == (req.timeout_shift && (probes || rewound)), "TSQ limit is wrong",
          "psn=%06x", plan.first_psn);
  const bool executed = psn_before(plan.first_psn, req.sb.executed_psn);
  const bool responds_again = plan.fills_hole && !probes && !wqe_is_data(wqe) && executed;
  // A response that was not placed was not lost, nor is one on its way that was requested again.
  bool lost = responds_again && !must_be_requested(plan.first_psn);
  const u32 bytes = plan.payload_end - plan.offset;
  u32 left = wqe_is_data(wqe) || !bytes ? 1 : (bytes - 1) / scenario_.mtu_bytes + 1;
  for (u32 psn = plan.first_psn; left-- && psn_before(psn, req.sb.lost_response_psn);
       psn = psn_add(psn, 1))
    lost |= responds_again && !must_be_requested(psn) && !psn_map_has(&req.sb.done, psn) &&
            !is_requested_again(psn);
  require(plan.implied_nak ? responds_again : !lost, "implied NAK is wrong", "psn=%06x",
          plan.first_psn);
}

void Host::check_requester() const {
  const sroce_requester& req = requester_;
  const char* rule = "requester positions are out of order";
  require(req.posted == out_->posted_count(), rule, "posted %u", req.posted);
  require(req.posted - req.retired <= req.ring_mask + 1, rule, "retired %u posted %u", req.retired,
          req.posted);
  require(req.acked - req.retired <= req.posted - req.retired &&
              req.send - req.acked <= req.posted - req.acked,
          rule, "retired %u acked %u send %u posted %u", req.retired, req.acked, req.send,
          req.posted);
  if (req.state == SROCE_SQ_ERROR) {
    require(req.retired == req.posted, "flush is incomplete", "retired %u posted %u", req.retired,
            req.posted);
    require(sroce_requester_deadline(&req) == SROCE_NEVER, "timer armed needlessly", "%c",
            'A' + number_);
    return;
  }
  const u32 next = distance(req.unacked_psn, req.next_psn);
  const u32 sent = distance(req.unacked_psn, req.sent_psn);
  const u32 post = distance(req.unacked_psn, req.post_psn);
  require(next <= sent && sent <= post && sent <= SROCE_PSN_SPAN, "requester PSNs are out of order",
          "unacked=%06x next=%06x sent=%06x post=%06x", req.unacked_psn, req.next_psn, req.sent_psn,
          req.post_psn);
  u32 data, rd_atomic;
  count_in_flight(data, rd_atomic);
  require(data == req.data_inflight && rd_atomic == req.rd_inflight,
          "packets in flight are miscounted",
          "data %u, counted %u; READs and atomics %u, counted %u", req.data_inflight, data,
          req.rd_inflight, rd_atomic);
  require(rd_atomic <= side_.max_rd_atomic, "max_rd_atomic exceeded", "%u of %u", rd_atomic,
          side_.max_rd_atomic);
  const bool needs_timer = next && req.attr.ack_timeout_ns;
  require(!needs_timer || req.rnr_waiting || req.ack_deadline_ns != SROCE_NEVER, "timer not armed",
          "unacked=%06x next=%06x", req.unacked_psn, req.next_psn);
  require(sent || req.ack_deadline_ns == SROCE_NEVER, "timer armed needlessly",
          "unacked=%06x next=%06x", req.unacked_psn, req.next_psn);
  // Each consecutive timeout doubles the next one, up to four times the base, until progress that
  // gives an RTT sample. A long round trip may make it as long.
  const bool longer = out_->retries() || req.kept_shift || long_round_trip_;
  const u64 latest_ns = now_ns_ + req.attr.ack_timeout_ns * (longer ? 4 : 1);
  require(!needs_timer || req.ack_deadline_ns <= latest_ns || req.ack_deadline_ns == SROCE_NEVER,
          "timer too late", "in %lluns", (unsigned long long)(req.ack_deadline_ns - now_ns_));
}

// A peer decides how often the request of a PSN is searched for, so the search must read few WQEs
// of many, for the oldest PSN and for the newest. If it reads one that is wrong, it finds another
// request.
void Host::check_search(u32 psn) {
  const sroce_requester& req = requester_;
  const u32 requests = req.sent - req.acked;
  if (req.state == SROCE_SQ_ERROR || requests < 8) return;
  const auto found = [&req, psn] {
    u32 index;
    return sroce_requester_locate(&req, psn, &index) ? index : req.posted;
  };
  const u32 right = found();
  u32 steps = 0;
  for (u32 index = req.acked; index != req.sent; index++) {
    sroce_send_wqe* wqe = sroce_requester_wqe(&req, index);
    const u32 first_psn = wqe->first_psn;
    bool is_read = false;
    for (u32 wrong = 0; wrong < 2 && !is_read; wrong++) {
      wqe->first_psn = psn_add(psn, wrong);
      is_read = found() != right;
    }
    wqe->first_psn = first_psn;
    steps += is_read;
  }
  require(steps <= static_cast<u32>(std::bit_width(requests)) + 1,
          "search for a PSN reads many WQEs", "%u of %u", steps, requests);
}

// Without a reorder queue, a gap is reported once and later packets are dropped until it closes.
void Host::check_gap_handling(const sroce_packet& pkt, const sroce_recv_plan& plan) {
  const bool reports = plan.verdict == SROCE_RECV_NAK && plan.syndrome == SROCE_NAK_PSN_SEQUENCE;
  require(!reports || !responder_.attr.reorder_packets || pkt.psn != responder_.epsn,
          "NAK for the expected packet", "psn=%06x", pkt.psn);
  if (responder_.attr.reorder_packets) return;
  const bool ours = (pkt.opcode & SROCE_SERVICE_MASK) == scenario_.service();
  const bool beyond = ours && psn_distance(pkt.psn, responder_.epsn) > 0;
  if (responder_.state == SROCE_RQ_READY && beyond) {
    require(reports || nak_sent_, "gap not reported", "psn=%06x, expected %06x", pkt.psn,
            responder_.epsn);
    require(!reports || !nak_sent_, "gap reported twice", "psn=%06x, expected %06x", pkt.psn,
            responder_.epsn);
  }
  if (reports || plan.verdict == SROCE_RECV_RNR) nak_sent_ = true;
}

// Holds for any peer: a message begins once, all packets but its last are full, and a WRITE is as
// long as its RETH says.
void Host::check_message_stream(const sroce_packet& pkt) {
  const u32 flags = pkt.info->flags;
  const u32 kind = flags & (SROCE_OPF_SEND | SROCE_OPF_WRITE);
  const bool first = flags & SROCE_OPF_FIRST, last = flags & SROCE_OPF_LAST;
  require(first ? !message_kind_ : message_kind_ == kind, "message out of sequence accepted",
          "psn=%06x %s", pkt.psn, opcode_name(pkt.opcode).c_str());
  message_kind_ = last ? 0 : kind;
  if (!kind) return;
  require(pkt.payload_bytes <= scenario_.mtu_bytes &&
              (last || pkt.payload_bytes == scenario_.mtu_bytes),
          "payload of the wrong length accepted", "psn=%06x: %u bytes", pkt.psn, pkt.payload_bytes);
  if (kind != SROCE_OPF_WRITE) return;
  if (first) message_left_ = pkt.dma_length;
  require(pkt.payload_bytes <= message_left_ && (!last || pkt.payload_bytes == message_left_),
          "WRITE length differs from its RETH", "psn=%06x: %llu bytes left, %u arrived", pkt.psn,
          (unsigned long long)message_left_, pkt.payload_bytes);
  message_left_ -= pkt.payload_bytes;
}

// A responder that has something to do is not called quiet.
void Host::check_quiet() const {
  sroce_response_plan response;
  if (!sroce_responder_is_quiet(&responder_)) return;
  require(!sroce_response_plan_next(&responder_, 1, &response) &&
              sroce_reorder_deadline(&responder_) == SROCE_NEVER &&
              !sroce_responder_waits_rwqe(&responder_) && !sroce_response_is_dead(&responder_),
          "responder with work is quiet", "psn=%06x", responder_.epsn);
}

void Host::check_responder() const {
  const sroce_responder& resp = responder_;
  require(!resp.wc_pending, "receive completion not pulled", "%c", 'A' + number_);
  require(in_->fetched_receives() == in_->completed_receives() + resp.has_recv_wqe,
          "receive lost or fetched twice", "%u fetched, %u completed", in_->fetched_receives(),
          in_->completed_receives());
  require(resp.resources.pending <= resp.resources.capacity, "responder resources overflow", "%u",
          resp.resources.pending);
  check_queued();
  check_quiet();
  if (!in_->strict() || error_ || resp.state == SROCE_RQ_FAILED) return;
  require(resp.epsn == in_->expected_psn(), "expected PSN is wrong", "%06x, should be %06x",
          resp.epsn, in_->expected_psn());
  require(resp.msn == (in_->executed_messages() & SROCE_PSN_MASK), "MSN is wrong",
          "%u, should be %u", resp.msn, in_->executed_messages());
}

bool Host::idle() const {
  sroce_response_plan response;
  sroce_send_plan plan;
  if (!connected_ || error_) return true;
  if (wake_ns() != SROCE_NEVER) return false;
  if (sroce_response_plan_next(&responder_, 1, &response)) return false;
  sroce_requester_plan(&requester_, 1, &plan);
  return plan.action == SROCE_SEND_NOTHING && requester_.retired == requester_.posted;
}

// Nothing may be left over once everything has drained.
void Host::check_idle() const {
  if (!connected_ || error_) return;
  const sroce_requester& req = requester_;
  require(req.unacked_psn == req.post_psn && req.next_psn == req.post_psn && !req.data_inflight &&
              !req.rd_inflight && req.acked == req.posted && !req.sb.done_data &&
              (queued_.empty() || !in_->strict()),
          "work left after the drain", [&] { return describe_state(); });
  require(!sroce_requester_has_losses(&req), "losses after the drain",
          [&] { return describe_state(); });
  require(sroce_requester_deadline(&req) == SROCE_NEVER, "timer armed needlessly", "%s",
          describe_state().c_str());
  if (!in_->strict()) return;  // a malicious peer may leave a message incomplete
  require(!responder_.resources.pending && !responder_.message && !responder_.has_recv_wqe,
          "work left after the drain", [&] { return describe_state(); });
}

std::string Host::describe_state() const {
  const sroce_requester& req = requester_;
  return format(
      "%c: state=%u/%u retired=%u acked=%u send=%u posted=%u unacked=%06x next=%06x sent=%06x "
      "post=%06x"
      " data=%u rd=%u rnr=%d deadline=%lld epsn=%06x nak_scheduled=%d recv_wqe=%d pending=%u",
      'A' + number_, req.state, responder_.state, req.retired, req.acked, req.send, req.posted,
      req.unacked_psn, req.next_psn, req.sent_psn, req.post_psn, req.data_inflight, req.rd_inflight,
      req.rnr_waiting, (long long)sroce_requester_deadline(&req), responder_.epsn,
      responder_.nak_scheduled, responder_.has_recv_wqe, responder_.resources.pending);
}

}  // namespace sim
