// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What must hold of the recovery from losses: selective repeat, probes, packets that are held.
#include <algorithm>
#include <bit>

#include "sim/host.h"
#include "transport/psn.h"

namespace sim {
namespace {

u32 distance(u32 from, u32 to) { return (to - from) & SROCE_PSN_MASK; }

u32 size_of(const sroce_psn_map& map) {
  u32 size = 0;
  for (u64 word : map.words) size += static_cast<u32>(std::popcount(word));
  return size;
}

}  // namespace

// Both ends must want it; then nobody goes without.
bool Host::both_selective() const {
  return side_.selective && scenario_.side[1 - number_].selective;
}

// What has come, is held, or may just be late is not sent again.
void Host::check_hole_filled(const sroce_send_plan& plan) const {
  if (!plan.fills_hole || !out_->strict()) return;
  const sroce_send_wqe* wqe = sroce_requester_wqe(&requester_, plan.index);
  require(both_selective() || wqe->opcode != SROCE_WR_READ || plan.payload_end == wqe->length,
          "part of a READ for a standard peer", "psn=%06x", plan.first_psn);
  if (requester_.probe.due) return;
  if (!both_selective()) {
    check_asked_too_soon(plan);
    return;
  }
  if (wqe->opcode == SROCE_WR_READ)
    require(psn_before(plan.first_psn, requester_.sb.executed_psn) ||
                !told_sacked_.contains(plan.first_psn),
            "a READ that the peer holds is asked for again", "psn=%06x", plan.first_psn);
  const u32 unacked = requester_.unacked_psn, mtu = scenario_.mtu_bytes;
  const u32 lost = distance(unacked, requester_.sb.lost_response_psn);
  const u32 asked = plan.payload_end > plan.offset ? (plan.payload_end - plan.offset - 1) / mtu : 0;
  require(
      distance(unacked, plan.first_psn) >= lost || distance(unacked, plan.first_psn) + asked < lost,
      "an answer that may be on its way is asked for again", "psn=%06x", plan.first_psn);
  if (!plan.payload_bytes) return;
  for (u32 i = 0; i < plan.packet_count; i++)
    require(!told_sacked_.contains(psn_add(plan.first_psn, i)), "what the peer holds is sent again",
            "psn=%06x", psn_add(plan.first_psn, i));
}

// A standard peer is asked again for answers that others have overtaken, and for these once more
// only when it has answered what was sent later.
void Host::check_asked_too_soon(const sroce_send_plan& plan) const {
  const u32 unacked = requester_.unacked_psn;
  const auto ahead = [unacked](u32 psn) { return distance(unacked, psn); };
  require(!plan.payload_bytes && psn_before(plan.first_psn, requester_.sb.executed_psn),
          "repair for a standard peer", "psn=%06x", plan.first_psn);
  require(ahead(plan.first_psn) < ahead(requester_.sb.lost_response_psn),
          "an answer that may be on its way is asked for again", "psn=%06x", plan.first_psn);
  const auto asked = asked_.find(plan.first_psn);
  require(asked == asked_.end() || ahead(asked->second) > ahead(requester_.sent_psn) ||
              ahead(asked->second) + tolerance() <= ahead(requester_.sb.response_high_psn),
          "asked for twice", "psn=%06x", plan.first_psn);
}

void Host::note_sent(const sroce_send_plan& plan) {
  require(!out_->strict() || !plan.retransmit || !requester_.rnr_waiting, "sent during an RNR wait",
          "psn=%06x", plan.first_psn);
  const bool answers = plan.retransmit && !plan.payload_bytes && plan.payload_end;
  const u32 asks = answers ? (plan.payload_end - plan.offset - 1) / scenario_.mtu_bytes + 1 : 0;
  for (u32 i = 0; plan.retransmit && i < std::max(plan.packet_count, asks); i++)
    repeated_.insert(psn_add(plan.first_psn, i));
  for (u32 i = 0; plan.fills_hole && !requester_.probe.due && i < asks; i++)
    asked_[psn_add(plan.first_psn, i)] = requester_.next_psn;
}

// An answer that others have overtaken has been asked for again.
void Host::check_responses_requested() const {
  const sroce_requester& req = requester_;
  if (req.sb.mode != SROCE_SELECTIVE_OFF) return;
  u32 index = req.acked;
  for (u32 psn = req.unacked_psn; psn != req.sb.lost_response_psn; psn = psn_add(psn, 1)) {
    while (index != req.posted && distance(sroce_requester_wqe(&req, index)->first_psn, psn) >=
                                      sroce_requester_wqe(&req, index)->psn_count)
      index++;
    const sroce_send_wqe* wqe = sroce_requester_wqe(&req, index);
    require(wqe_is_data(wqe) || psn_map_has(&req.sb.done, psn) || repeated_.contains(psn) ||
                wqe->status != SROCE_WC_SUCCESS,
            "a lost answer is not asked for", "psn=%06x", psn);
  }
}

// The engine has nothing to send: is there really nothing?
void Host::check_waiting() const {
  const sroce_requester& req = requester_;
  if (!out_->strict() || error_ || req.rnr_waiting) return;
  require(!req.probe.due, "a probe is due and not sent", "psn=%06x", req.unacked_psn);
  check_responses_requested();
  require(
      !side_.adaptive || req.next_psn == req.unacked_psn || req.probe.deadline_ns != SROCE_NEVER,
      "nobody misses a late answer", "%s", describe_state().c_str());
  u32 index = req.send;
  while (index != req.posted && sroce_requester_wqe(&req, index)->executed) index++;
  if (index == req.posted || req.state != SROCE_SQ_READY) return;
  const sroce_send_wqe* wqe = sroce_requester_wqe(&req, index);
  if (!wqe_is_data(wqe) || wqe->status != SROCE_WC_SUCCESS || (wqe->flags & SROCE_SEND_FENCE))
    return;
  const u32 flight = req.data_inflight - std::min(req.data_inflight, req.sb.done_data);
  require(flight >= std::min(side_.window_packets, req.data_limit) ||
              distance(req.unacked_psn, req.next_psn) >= SROCE_PSN_SPAN,
          "idle although it may send", "%u in flight of %u", flight, side_.window_packets);
}

// After a long silence the engine may doubt that the peer still holds what it told of.
void Host::forget_distrusted() {
  const sroce_scoreboard& sb = requester_.sb;
  std::erase_if(told_sacked_, [&sb](u32 psn) {
    return !psn_map_has(&sb.done, psn) && !psn_map_has(&sb.read_queued, psn);
  });
}

// What a selective ACK says, read independently.
void Host::note_told(const sroce_packet& pkt, const sroce_ack_plan& plan) {
  if (plan.action != SROCE_ACK_ACCEPT || !(pkt.info->flags & SROCE_OPF_SACK)) return;
  // After going back the rest is sent again anyway, unless this turns selective repeat on.
  const u32 next_psn = plan.first_response ? requester_.sent_psn : requester_.next_psn;
  const u32 end = std::min(distance(requester_.unacked_psn, next_psn), SROCE_PSN_MAP_SPAN);
  for (u32 bit = 0; bit < 8 * pkt.payload_bytes; bit++) {
    const u32 psn = psn_add(pkt.psn, 1 + bit);
    if ((pkt.sack[bit / 8] >> bit % 8 & 1) && distance(requester_.unacked_psn, psn) < end)
      told_sacked_.insert(psn);
  }
}

// The map holds PSNs in flight, of SENDs and WRITEs only what the peer has told.
void Host::check_done_map() const {
  const sroce_requester& req = requester_;
  const u32 sent = std::min(distance(req.unacked_psn, req.sent_psn), SROCE_PSN_MAP_SPAN);
  u32 all = 0, data = 0, index = req.acked;
  for (u32 at = 0; at < sent; at++) {
    const u32 psn = psn_add(req.unacked_psn, at);
    if (!psn_map_has(&req.sb.done, psn)) continue;
    all++;
    while (index != req.posted && distance(sroce_requester_wqe(&req, index)->first_psn, psn) >=
                                      sroce_requester_wqe(&req, index)->psn_count)
      index++;
    require(index != req.posted, "done without a request", "psn=%06x", psn);
    if (!wqe_is_data(sroce_requester_wqe(&req, index))) continue;
    data++;
    require(!out_->strict() || psn_before(psn, req.sb.executed_psn) || told_sacked_.contains(psn),
            "held, says who?", "psn=%06x", psn);
  }
  require(all == size_of(req.sb.done), "the map holds what was left behind", "%u of %u", all,
          size_of(req.sb.done));
  require(data == req.sb.done_data, "what is held is miscounted", "%u, counted %u",
          req.sb.done_data, data);
}

u32 Host::tolerance() const {
  const u32 late = requester_.sb.reordering;
  if (!late) return 3;
  return std::clamp(std::max(sroce_rtt_bdp_packets(&requester_.rtt) / 4, late + late / 4), 3u,
                    512u);
}

// Reordering is not loss: three others must overtake a packet, or as many as did of late, unless it
// is the last.
void Host::check_lost(const sroce_requester& before) const {
  const sroce_scoreboard& sb = requester_.sb;
  const u32 unacked = requester_.unacked_psn;
  const auto ahead = [unacked](u32 psn) { return distance(unacked, psn); };
  const u32 top = ahead(sb.top_psn), lost = ahead(sb.lost_psn), sent = ahead(requester_.sent_psn);
  const bool probed = before.probe.sent && !requester_.probe.sent;
  const u32 late = tolerance();
  require(ahead(sb.lost_response_psn) + late >= ahead(sb.response_high_psn), "lost and not noticed",
          "%06x lost, %06x is the newest answer", sb.lost_response_psn, sb.response_high_psn);
  if (sb.mode != SROCE_SELECTIVE_ON) return;
  require(!lost || sb.lost_psn == before.sb.lost_psn || lost + late <= top ||
              (top == sent && lost < top && !sb.reordering) ||
              (probed && lost <= ahead(before.probe.end_psn)),
          "late is not lost", "%06x lost, %06x is the newest told of", sb.lost_psn, sb.top_psn);
  require(lost + late >= top, "lost and not noticed", "%06x lost, %06x is the newest told of",
          sb.lost_psn, sb.top_psn);
}

void Host::check_known() const {
  const sroce_scoreboard& sb = requester_.sb;
  require(!out_->strict() || sb.mode != SROCE_SELECTIVE_ON || both_selective(),
          "selective without consent", "%c", 'A' + number_);
  const u32 sent = distance(requester_.unacked_psn, requester_.sent_psn);
  for (u32 psn :
       {sb.executed_psn, sb.top_psn, sb.lost_psn, sb.response_high_psn, sb.lost_response_psn})
    require(distance(requester_.unacked_psn, psn) <= sent, "told of what was never sent",
            "psn=%06x sent=%06x", psn, requester_.sent_psn);
  check_done_map();
}

// A selective peer's repair has a round trip; a standard peer answers it before what was sent
// later.
void Host::check_rtx_missed(const sroce_requester& before) const {
  const sroce_scoreboard& sb = requester_.sb;
  const auto lost = [this, &sb](const sroce_rtx& rtx) {
    const u32 unacked = requester_.unacked_psn;
    if (!rtx.any) return false;
    if (sb.mode == SROCE_SELECTIVE_ON) return now_ns_ >= rtx.until_ns;
    const u32 end = distance(unacked, rtx.end_psn);
    return end > distance(unacked, requester_.sent_psn) ||
           end + tolerance() <= distance(unacked, sb.response_high_psn);
  };
  const sroce_rtx &was_old = before.sb.rtx[!before.sb.newest], &old = sb.rtx[!sb.newest];
  require(!lost(was_old) || &sb.rtx[!before.sb.newest] != &old || !lost(old),
          "a repair that was lost is not missed", "psn=%06x", requester_.unacked_psn);
  require(old.any || !sb.rtx[sb.newest].any, "repairs never grow old", "%c", 'A' + number_);
}

// An answer has been acted upon.
void Host::check_recovery(const sroce_requester& before, const sroce_ack_plan& plan) {
  const sroce_requester& req = requester_;
  if (plan.action == SROCE_ACK_DROP || req.state == SROCE_SQ_ERROR) return;
  std::erase_if(repeated_, [&req](u32 psn) { return psn_before(psn, req.unacked_psn); });
  std::erase_if(told_sacked_, [&req](u32 psn) { return psn_before(psn, req.unacked_psn); });
  if (plan.rewind) told_sacked_.clear();
  if (plan.rewind) asked_.clear();
  std::erase_if(asked_,
                [&req](const auto& asked) { return psn_before(asked.first, req.unacked_psn); });
  require(!out_->strict() || !req.rtt.timing || !req.rtt.srtt_ns ||
              !repeated_.contains(req.rtt.timed_psn),
          "a packet sent twice is timed", "psn=%06x", req.rtt.timed_psn);
  check_known();
  check_rtx_missed(before);
  if (plan.rewind) return;
  if (!plan.first_response && out_->strict()) check_lost(before);

  const bool answered = before.probe.sent && psn_before(before.probe.psn, req.unacked_psn);
  if (!answered || !psn_before(req.unacked_psn, before.probe.end_psn)) return;
  const bool its_own = req.rtt.min_ns && now_ns_ - before.probe.at_ns >= req.rtt.min_ns;
  const bool selective = req.sb.mode == SROCE_SELECTIVE_ON;
  // Where packets come late the next question decides.
  const u32 end_psn = before.probe.end_psn;
  const bool refused = !selective && psn_before(req.sb.executed_psn, end_psn);
  const bool missed =
      req.probe.ambiguous || (selective ? !psn_before(req.sb.lost_psn, end_psn)
                              : refused ? req.next_psn == req.sb.executed_psn
                                        : !psn_before(req.sb.lost_response_psn, end_psn));
  if (!selective && missed) asked_.clear();
  // An answer as early as that lowers what is thought of the path, and says nothing itself.
  const bool lowers =
      now_ns_ - before.probe.at_ns == req.rtt.min_ns &&
      (req.rtt.min_ns != before.rtt.min_ns || req.rtt.period_end_ns != before.rtt.period_end_ns);
  require(!its_own || missed || lowers, "a probe's answer says nothing", "psn=%06x",
          req.unacked_psn);
  require(its_own || !refused || !missed || req.next_psn == before.next_psn,
          "an answer too early for the probe", "psn=%06x", req.unacked_psn);
}

// An answer is late: what a probe's answer did not cover and is missing still was lost.
void Host::check_asked(const sroce_requester& before) const {
  const sroce_requester& req = requester_;
  if (!before.probe.ambiguous || req.state == SROCE_SQ_ERROR) return;
  if (req.probe.sent_count == before.probe.sent_count && req.timeouts == before.timeouts) return;
  const bool refused =
      req.sb.mode == SROCE_SELECTIVE_OFF && psn_before(req.sb.executed_psn, before.probe.end_psn);
  const u32 lost = req.sb.mode == SROCE_SELECTIVE_OFF ? req.sb.lost_response_psn : req.sb.lost_psn;
  require(
      !psn_before(req.unacked_psn, before.probe.end_psn) ||
          (refused ? req.next_psn == req.sb.executed_psn : !psn_before(lost, before.probe.end_psn)),
      "missing twice and not lost", "%06x lost, %06x asked for", lost, before.probe.end_psn);
}

// What came before its turn, and what the peer hears of it.
void Host::check_queued() const {
  const sroce_reorder& reorder = responder_.reorder;
  require(size_of(reorder.queued) == reorder.count, "packets kept are miscounted", "%u in the map",
          size_of(reorder.queued));
  if (!in_->strict() || responder_.state != SROCE_RQ_READY) return;
  require(!reorder.peer_selective || both_selective(), "selective without consent", "%c",
          'A' + number_);
  require(!reorder.peer_selective || reorder.nak_at_ns == SROCE_NEVER,
          "a selective peer is to get a NAK", "epsn=%06x", responder_.epsn);
  if (reorder.waiting_rwqe) {
    // Nothing is missing but a receive: soon it is looked for, and in the end the peer refused.
    require(reorder.nak_at_ns == SROCE_NEVER, "a gap is reported where there is none", "epsn=%06x",
            responder_.epsn);
    require(queued_.contains(responder_.epsn) && reorder.rwqe_poll_at_ns <= reorder.rnr_nak_at_ns &&
                reorder.rnr_nak_at_ns <= now_ns_ + responder_.attr.rnr_delay_ns,
            "waits_rwqe for ever", "epsn=%06x", responder_.epsn);
    return;
  }
  require(!reorder.count || reorder.peer_selective || reorder.nak_at_ns != SROCE_NEVER ||
              responder_.nak_sent,
          "a gap will never be reported", "epsn=%06x", responder_.epsn);
  require(
      !reorder.peer_selective || !reorder.count || reorder.unsacked < 64 || responder_.ack_pending,
      "nobody is told what is held", "epsn=%06x, %u since the last time", responder_.epsn,
      reorder.unsacked);
}

// A request has been acted upon.
void Host::check_taken(const sroce_packet& pkt, const sroce_recv_plan& plan) {
  if (psn_before(responder_.epsn, pkt.psn)) gap_before_psn_ = responder_.epsn;
  require(plan.verdict != SROCE_RECV_RNR || !responder_.reorder.count, "packets kept after RNR",
          "%u", responder_.reorder.count);
  require(plan.verdict != SROCE_RECV_QUEUE || !plan.queued || responder_.reorder.peer_selective ||
              responder_.reorder.waiting_rwqe || responder_.nak_pending ||
              responder_.reorder.nak_at_ns != SROCE_NEVER,
          "the peer repeats what is held, and nobody tells it", "psn=%06x", pkt.psn);
}

void Host::check_response(const sroce_response_plan& plan) const {
  if (!in_->strict()) return;
  require(plan.kind != SROCE_RESPONSE_SACK || both_selective(), "selective ACK for a standard peer",
          "psn=%06x", plan.first_psn);
  require(plan.kind != SROCE_RESPONSE_ACK || plan.syndrome != SROCE_NAK_PSN_SEQUENCE ||
              !queued_.empty() || gap_before_psn_ == plan.first_psn,
          "NAK without a gap", "psn=%06x", plan.first_psn);
}

}  // namespace sim
