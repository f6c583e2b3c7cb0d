// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The datapath's send queue: requests out, responses in.
#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/host.h"
#include "sim/plan_compare.h"

namespace sim {

void Host::pull_send_completions() {
  sroce_completion wc;
  while (sroce_requester_next_completion(&requester_, &wc)) {
    log_completion("send", wc);
    out_->send_completed(wc);
  }
  if (requester_.state == SROCE_SQ_ERROR && !error_) move_to_error();
}

void Host::handle_deadline() {
  const u64 deadline_ns = sroce_requester_deadline(&requester_);
  if (deadline_ns == SROCE_NEVER || now_ns_ < deadline_ns || waits_for_pages()) return;
  const u64 timeouts = requester_.timeouts;
  const bool rnr_waiting = requester_.rnr_waiting;
  const bool expired = !rnr_waiting && now_ns_ >= requester_.ack_deadline_ns;
  if (log_.on())
    log_.line(format("%c: %s", 'A' + number_,
                     rnr_waiting ? "RNR wait ends"
                     : expired   ? "ACK timeout"
                                 : "probe timeout"));
  const bool uses_up_retry = expired && count_timeout();
  if (!faulty_ && !rnr_waiting) note_timer_wait(expired);
  const bool last_retry = uses_up_retry && side_.retry_cnt == 1;
  if (expired && !responded_ && (requester_.timeouts || last_retry)) offer_declined_ = true;
  if (!rnr_waiting) rerequested_.clear();
  const sroce_requester before = requester_;
  const u32 events = sroce_requester_timeout(&requester_, now_ns_);
  require((events & ~SROCE_REQ_EV_WITHDRAWN) == (rnr_waiting ? 0u
                                                 : expired   ? SROCE_REQ_EV_ACK_TIMEOUT
                                                             : SROCE_REQ_EV_PROBE),
          "timeout events are wrong", "%u", events);
  check_ambiguous_probe(before);
  forget_distrusted();
  require(requester_.timeouts == timeouts + expired, "timeouts are miscounted", "%llu",
          (unsigned long long)requester_.timeouts);
  slack_ns_ = rng_.below(side_.timer_slack_ns + 1);
  pull_send_completions();
}

// A timeout uses up a retry unless the peer has responded, or has done so too often in vain.
// Returns whether it does.
bool Host::count_timeout() {
  const bool responded = std::exchange(responded_lately_, false);
  if (responded && free_timeouts_ < 8) {
    free_timeouts_++;
    return false;
  }
  out_->retried();
  return true;
}

// A timer of the requester expires after the last fault. That of probes waits for round trips, but
// it can only guess before an RTT sample that is more than an upper bound.
void Host::note_timer_wait(bool expired) {
  late_timeouts_ += expired;
  if (!expired && requester_.rtt.srtt_ns && !requester_.rtt.rough) return;
  const Timer& timer = expired ? ack_timer_ : probe_timer_;
  timer_waits_.push_back({std::max(timer.armed_ns, counted_until_ns_), now_ns_});
  counted_until_ns_ = now_ns_;
}

void Host::Timer::note(u64 deadline_now_ns, u64 now_ns) {
  if (deadline_now_ns == deadline_ns) return;
  deadline_ns = deadline_now_ns;
  armed_ns = now_ns;
}

void Host::note_timers() {
  ack_timer_.note(requester_.ack_deadline_ns, now_ns_);
  probe_timer_.note(requester_.probe.deadline_ns, now_ns_);
}

void Host::run_send() {
  u32 budget = side_.round_packets;
  while (send_once(budget)) {
  }
  pull_send_completions();
}

// Returns whether the caller should try again.
bool Host::send_once(u32& budget) {
  if (!budget) {
    resume_ns_ = std::min(resume_ns_, now_ns_ + 1000);
    return false;
  }
  if (waits_for_pages() || !may_transmit()) return false;
  const u32 max_packets = random_burst(budget);
  const sroce_requester before = requester_;
  sroce_send_plan plan, again;
  sroce_requester_plan(&requester_, max_packets, &plan);
  sroce_requester_plan(&requester_, max_packets, &again);
  require(same_plan(plan, again) && !std::memcmp(&before, &requester_, sizeof(before)),
          "dropped plan has an effect", "send plan, psn=%06x", plan.first_psn);
  require(plan.action == SROCE_SEND_NOTHING || !sroce_requester_is_idle(&requester_),
          "idle requester sends", "action %u", plan.action);
  require(plan.action == SROCE_SEND_NOTHING || !error_, "plan in error state", "action %u",
          plan.action);

  switch (plan.action) {
    case SROCE_SEND_NOTHING:
      check_nothing_to_send();
      return false;
    case SROCE_SEND_PACKETS:
      require(plan.packet_count && plan.packet_count <= max_packets, "burst exceeds its limit",
              "%u packets, limit %u", plan.packet_count, max_packets);
      if (drops_plan()) return false;
      check_window(plan);
      check_flags(plan);
      check_hole_filled(plan);
      send_burst(plan, budget);
      break;
    case SROCE_SEND_LOCAL: {
      require(plan.index < out_->posted_count(), "plan for an unposted request", "index %u",
              plan.index);
      const u8 status = out_->sends[plan.index].local_status;
      if (log_.on()) log_.line(format("%c: local operation, status=%u", 'A' + number_, status));
      if (status == kSuccess) out_->local_executed(plan.index);
      sroce_requester_commit(&requester_, &plan, static_cast<sroce_wc_status>(status), now_ns_);
      break;
    }
    case SROCE_SEND_FAIL:
      sroce_requester_commit(&requester_, &plan, SROCE_WC_SUCCESS, now_ns_);
      break;
  }
  pull_send_completions();
  return !error_;
}

void Host::send_burst(const sroce_send_plan& plan, u32& budget) {
  const sroce_send_wqe* wqe = sroce_requester_wqe(&requester_, plan.index);
  require(u64{plan.offset} + plan.payload_bytes <= wqe->length, "payload outside the request",
          "offset %u + %u of %u", plan.offset, plan.payload_bytes, wqe->length);
  payload_.resize(plan.payload_bytes);
  if (wqe->flags & SROCE_SEND_INLINE) {
    std::copy_n(wqe->inline_data + plan.offset, plan.payload_bytes, payload_.begin());
  } else if (memory_->gather(wqe->sge, wqe->num_sge, plan.offset, payload_) != SROCE_MEM_OK) {
    sroce_requester_commit(&requester_, &plan, SROCE_WC_LOC_PROT_ERR, now_ns_);
    return;
  }
  u32 offset = 0;
  for (u32 i = 0; i < plan.packet_count; i++) {
    sroce_packet pkt;
    sroce_send_plan_packet(&requester_, &plan, i, &pkt);
    require(offset + pkt.payload_bytes <= payload_.size(), "payload outside the burst", "psn=%06x",
            pkt.psn);
    const auto payload = std::span<const u8>(payload_).subspan(offset, pkt.payload_bytes);
    offset += pkt.payload_bytes;
    check_offer(pkt);
    out_->request_sent(plan, pkt, payload, draining(), now_ns_);
    transmit(pkt, payload);
  }
  require(offset == payload_.size(), "burst does not send all its payload", "psn=%06x",
          plan.first_psn);
  note_sent(plan);
  budget -= plan.packet_count;
  sroce_requester_commit(&requester_, &plan, SROCE_WC_SUCCESS, now_ns_);
}

sroce_mem_status Host::place_response(const sroce_ack_plan& plan, const sroce_packet& pkt,
                                      std::span<const u8> payload) {
  const sroce_send_wqe* wqe = sroce_requester_wqe(&requester_, plan.index);
  u8 original[8];
  if (plan.place_atomic) {
    std::memcpy(original, &pkt.atomic_original, sizeof(original));
    payload = original;
  }
  require(plan.place_bytes == payload.size(), "response length is wrong", "%u of %zu bytes",
          plan.place_bytes, payload.size());
  require(u64{plan.place_offset} + plan.place_bytes <= wqe->length, "placed outside the request",
          "offset %u + %u of %u", plan.place_offset, plan.place_bytes, wqe->length);
  if (misses_pages()) return SROCE_MEM_NOT_PRESENT;
  const sroce_mem_status status =
      memory_->scatter(wqe->sge, wqe->num_sge, plan.place_offset, payload);
  if (status == SROCE_MEM_OK) out_->response_placed(plan, payload);
  return status;
}

// Are the pages of a response missing? Until they are there, nothing is sent, no timeout expires,
// and every other response misses its own, too.
bool Host::misses_pages() {
  if (!side_.missing_pages) return false;
  if (waits_for_pages()) return rng_.chance(0.5);
  if (!in_shortage(side_.missing_pages)) return false;
  pages_at_ns_ = now_ns_ + rng_.between(1000, 50000);
  resume_ns_ = std::min(resume_ns_, pages_at_ns_);
  return true;
}

void Host::commit_response(const sroce_ack_plan& plan, sroce_mem_status placed) {
  const u32 unacked_psn = requester_.unacked_psn, executed_psn = requester_.sb.executed_psn;
  const bool retry = plan.rewind && !plan.rnr;
  long_round_trip_ |= requester_.kept_shift;
  sroce_completer_commit(&requester_, &plan, placed, now_ns_);
  long_round_trip_ |=
      requester_.rtt.srtt_ns + 4ull * requester_.rtt.var_ns > requester_.attr.ack_timeout_ns;
  responded_lately_ |= plan.action != SROCE_ACK_DROP || plan.reason == SROCE_DROP_DUPLICATE;
  if (requester_.unacked_psn != unacked_psn) {
    responded_lately_ = false;
    free_timeouts_ = 0;
  }
  if (requester_.unacked_psn != unacked_psn || requester_.sb.executed_psn != executed_psn)
    out_->progressed(requester_.sb.executed_psn != executed_psn);
  if (plan.action == SROCE_ACK_ACCEPT && plan.rnr)
    out_->rnr_waited(now_ns_ + plan.rnr_wait_ns, plan.mode == SROCE_SELECTIVE_ON);
  if (plan.action == SROCE_ACK_ACCEPT && retry) out_->retried();
  if (plan.action == SROCE_ACK_FAIL && plan.status == SROCE_WC_RETRY_EXC_ERR) out_->retried();
  if (plan.action == SROCE_ACK_FAIL && plan.status == SROCE_WC_RNR_RETRY_EXC_ERR)
    out_->rnr_waited(0, plan.mode == SROCE_SELECTIVE_ON);
  if (plan.action == SROCE_ACK_DROP)
    require(requester_.unacked_psn == unacked_psn, "dropped packet has an effect", "psn=%06x",
            unacked_psn);
}

void Host::handle_response(const sroce_packet& pkt, std::span<const u8> payload) {
  if (pkt.psn % 16 == 0) {
    check_search(requester_.unacked_psn);
    check_search(psn_add(requester_.sent_psn, SROCE_PSN_MASK));
  }
  const sroce_requester before = requester_;
  sroce_ack_plan plan, again;
  sroce_completer_plan(&requester_, &pkt, &plan);
  sroce_completer_plan(&requester_, &pkt, &again);
  require(same_plan(plan, again) && !std::memcmp(&before, &requester_, sizeof(before)),
          "dropped plan has an effect", "response psn=%06x", pkt.psn);
  if (log_.on() && plan.action != SROCE_ACK_ACCEPT)
    log_.line(
        format("%c: response psn=%06x %s %u", 'A' + number_, pkt.psn,
               plan.action == SROCE_ACK_DROP ? "dropped, reason" : "moves the queue to ERR, status",
               plan.action == SROCE_ACK_DROP ? plan.reason : plan.status));
  sroce_mem_status placed = SROCE_MEM_OK;
  const bool has_data = pkt.info->flags & (SROCE_OPF_READ | SROCE_OPF_ATOMIC);
  if (plan.action == SROCE_ACK_ACCEPT && has_data && plan.has_response)
    placed = place_response(plan, pkt, payload);
  else
    require(!plan.place_bytes, "unexpected data placed", "psn=%06x", pkt.psn);
  note_sacked(pkt, plan);
  const bool exhausted =
      plan.status == SROCE_WC_RETRY_EXC_ERR || plan.status == SROCE_WC_RNR_RETRY_EXC_ERR;
  if (plan.early_nak && exhausted)
    out_->retries_exhausted(pkt.psn, plan.status);
  else if (plan.early_nak)
    out_->fatal_nak_received(pkt.psn);
  commit_response(plan, placed);
  if (placed == SROCE_MEM_NOT_PRESENT) note_unplaced(plan);
  note_mode(before, pkt, plan);
  check_recovery(before, plan);
  pull_send_completions();
}

}  // namespace sim
