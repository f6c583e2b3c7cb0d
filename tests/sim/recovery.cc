// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Rules of loss recovery: selective repeat, tail-loss probes, the reorder queue.
#include <algorithm>
#include <bit>

#include "sim/host.h"
#include "transport/psn.h"

extern "C" {
#include "transport/requester_internal.h"
}

namespace sim {
namespace {

u32 distance(u32 from, u32 to) { return (to - from) & SROCE_PSN_MASK; }

u32 size_of(const sroce_psn_map& map) {
  u32 size = 0;
  for (u64 word : map.words) size += static_cast<u32>(std::popcount(word));
  return size;
}

}  // namespace

// Selective repeat is used if, and only if, both ends offer it.
bool Host::both_selective() const {
  return side_.selective && scenario_.side[1 - number_].selective;
}

// A standard peer with random reserved bits seems to accept now and then, until its next response.
bool Host::peer_may_seem_selective() const {
  return side_.selective && scenario_.side[1 - number_].reserved_bits == ReservedBits::random;
}

// A request carries the offer until a response declines it, or two ACK timeouts pass in silence, or
// one before the last retry.
void Host::check_offer(const sroce_packet& pkt) const {
  if (!out_->strict()) return;
  require(pkt.selective == (side_.offers() && !offer_declined_),
          pkt.selective ? "selective repeat offered in vain" : "selective repeat not offered",
          "psn=%06x", pkt.psn);
}

// A packet counts once, when it arrives. A duplicate can only withdraw the offer, and if it is not
// that of a READ or atomic it must be recent. A packet beyond the reorder queue does not count.
void Host::note_offer(const sroce_packet& pkt, const sroce_recv_plan& plan, u32 epsn) {
  const s32 ahead = psn_distance(pkt.psn, epsn);
  const bool counts = ahead < 0
                          ? !pkt.selective && (ahead > -2048 || plan.verdict == SROCE_RECV_REPLAY)
                          : !plan.queued && (!ahead || plan.verdict == SROCE_RECV_QUEUE);
  if (counts) offers_in_a_row_ = pkt.selective ? offers_in_a_row_ + pkt.count : 0;
}

// A response accepts the offer of the last new request. SACKs need four offers in a row.
void Host::check_acceptance(const sroce_packet& pkt) const {
  require(pkt.selective == (side_.selective && offers_in_a_row_), "offer answered wrongly",
          "psn=%06x", pkt.psn);
  require(!(pkt.info->flags & SROCE_OPF_SACK) || offers_in_a_row_ >= 4,
          "selective ACK before four offers", "psn=%06x", pkt.psn);
}

// The response may have changed what is known of the peer.
void Host::note_mode(const sroce_requester& before, const sroce_packet& pkt,
                     const sroce_ack_plan& plan) {
  if (plan.action == SROCE_ACK_DROP) return;
  responded_ = true;
  offer_declined_ |= !pkt.selective;
  if (before.sb.mode != SROCE_SELECTIVE_ON || is_selective()) return;
  sacked_.clear();
  rerequested_.clear();
}

// A probe repeats the newest packet, once, if its response is certain to tell what is lost: no READ
// misses responses, no SACK shows a gap, and no NAK may have told the peer to drop it. A request
// that has failed is not sent again.
void Host::check_probe(const sroce_send_plan& plan) const {
  const sroce_requester& req = requester_;
  const bool outstanding = req.next_psn != req.unacked_psn && !req.rd_inflight;
  const bool certain = req.sb.top_psn == req.unacked_psn && !req.sb.reordering && !req.gone_back;
  const bool newest = outstanding && certain && req.rtt.srtt_ns && req.retry_left &&
                      !req.probe.overdue && !req.probe.unacked;
  const u32 newest_psn = psn_add(req.next_psn, SROCE_PSN_MASK);
  bool failed = false;
  for (u32 index = req.acked; index != req.sent; index++) {
    const sroce_send_wqe* wqe = sroce_requester_wqe(&req, index);
    if (((newest_psn - wqe->first_psn) & SROCE_PSN_MASK) < wqe->psn_count)
      failed = wqe->status != SROCE_WC_SUCCESS;
  }
  const u32 psn = newest && !failed ? newest_psn : req.unacked_psn;
  require(plan.first_psn == psn, "probe of the wrong packet", "psn=%06x expected=%06x",
          plan.first_psn, psn);
}

// A READ request that ends before its READ does may be new to a standard peer. So it is sent only
// while each response so far has accepted selective repeat, also to a malicious peer.
void Host::check_read_part(const sroce_send_plan& plan) const {
  const sroce_send_wqe* wqe = sroce_requester_wqe(&requester_, plan.index);
  if (wqe->opcode != SROCE_WR_READ || plan.payload_end == wqe->length) return;
  require(plan.fills_hole, "part of a READ that was never requested", "psn=%06x", plan.first_psn);
  require(side_.offers() && responded_ && !offer_declined_,
          "part of a READ for a peer that does not accept", "psn=%06x", plan.first_psn);
}

// Nothing is sent again that has arrived, is queued at the peer, or may merely be late.
void Host::check_hole_filled(const sroce_send_plan& plan) const {
  check_read_part(plan);
  if (!plan.fills_hole || !out_->strict()) return;
  const sroce_send_wqe* wqe = sroce_requester_wqe(&requester_, plan.index);
  if (requester_.probe.due) {
    check_probe(plan);
    return;
  }
  if (!is_selective()) {
    check_rerequest(plan);
    return;
  }
  if (wqe->opcode == SROCE_WR_READ)
    require(
        psn_before(plan.first_psn, requester_.sb.executed_psn) || !sacked_.contains(plan.first_psn),
        "READ sent again although the peer has queued it", "psn=%06x", plan.first_psn);
  const u32 unacked = requester_.unacked_psn, mtu = scenario_.mtu_bytes;
  const u32 lost = distance(unacked, requester_.sb.lost_response_psn);
  const u32 more = plan.payload_end > plan.offset ? (plan.payload_end - plan.offset - 1) / mtu : 0;
  require(
      distance(unacked, plan.first_psn) >= lost || distance(unacked, plan.first_psn) + more < lost,
      "response requested again too early", "psn=%06x", plan.first_psn);
  if (!sends_data(plan)) return;
  for (u32 i = 0; i < plan.packet_count; i++)
    require(!sacked_.contains(psn_add(plan.first_psn, i)),
            "packet sent again although the peer has queued it", "psn=%06x",
            psn_add(plan.first_psn, i));
}

// Has a standard peer responded to something sent after this response was requested again? Only
// late packets may tell how much the path reorders, so what is lost at one time stays lost.
bool Host::lost_again(u32 end_psn) const {
  const auto ahead = [this](u32 psn) { return distance(requester_.unacked_psn, psn); };
  return ahead(end_psn) > ahead(requester_.sent_psn) ||
         ahead(end_psn) + tolerance() <= ahead(requester_.sb.response_high_psn);
}

// A response of a standard peer is requested again once others have overtaken it, and a third time
// once that is lost, too.
void Host::check_rerequest(const sroce_send_plan& plan) const {
  const u32 unacked = requester_.unacked_psn;
  const auto ahead = [unacked](u32 psn) { return distance(unacked, psn); };
  require(!sends_data(plan) && psn_before(plan.first_psn, requester_.sb.executed_psn),
          "part of a message sent again to a standard peer", "psn=%06x", plan.first_psn);
  require(ahead(plan.first_psn) < ahead(requester_.sb.lost_response_psn) ||
              must_be_requested(plan.first_psn),
          "response requested again too early", "psn=%06x", plan.first_psn);
  const auto previous = rerequested_.find(plan.first_psn);
  require(previous == rerequested_.end() || lost_again(previous->second),
          "response requested again too often", "psn=%06x", plan.first_psn);
}

void Host::note_sent(const sroce_send_plan& plan) {
  require(!out_->strict() || !plan.retransmit || !requester_.rnr_waiting, "sent during an RNR wait",
          "psn=%06x", plan.first_psn);
  const bool is_placement = wqe_is_placement(sroce_requester_wqe(&requester_, plan.index)->opcode);
  const bool is_read = plan.retransmit && !sends_data(plan) && plan.payload_end && !is_placement;
  const u32 responses =
      is_read ? (plan.payload_end - plan.offset - 1) / scenario_.mtu_bytes + 1 : is_placement;
  for (u32 i = 0; plan.retransmit && i < std::max(plan.packet_count, responses); i++)
    retransmitted_.insert(psn_add(plan.first_psn, i));
  for (u32 i = 0; i < std::max(plan.packet_count, responses); i++)
    if (const auto it = unplaced_.find(psn_add(plan.first_psn, i)); it != unplaced_.end())
      it->second = false;
  for (u32 i = 0; plan.fills_hole && !requester_.probe.due && i < responses; i++)
    rerequested_[psn_add(plan.first_psn, i)] = requester_.next_psn;
}

// A response could not be placed. It is requested again as soon as the pages are there, unless an
// earlier one of the request has been: a standard peer sends all from there on.
void Host::note_unplaced(const sroce_ack_plan& plan) {
  if (log_.on())
    log_.line(format("%c: response psn=%06x not placed", 'A' + number_, plan.response_psn));
  const sroce_send_wqe* wqe = sroce_requester_wqe(&requester_, plan.index);
  bool comes_again = false;
  for (u32 psn = wqe->first_psn; psn != plan.response_psn && !is_selective(); psn = psn_add(psn, 1))
    comes_again |= !psn_before(psn, requester_.unacked_psn) &&
                   !psn_map_has(&requester_.sb.done, psn) && is_requested_again(psn);
  unplaced_[plan.response_psn] = !comes_again;
  if (!comes_again) rerequested_.erase(plan.response_psn);
}

// Every response that others have overtaken has been requested again.
void Host::check_responses_requested() const {
  const sroce_requester& req = requester_;
  if (req.sb.mode < SROCE_SELECTIVE_OFF) return;
  u32 index = req.acked;
  for (u32 psn = req.unacked_psn; psn != req.sb.lost_response_psn; psn = psn_add(psn, 1)) {
    while (index != req.posted && distance(sroce_requester_wqe(&req, index)->first_psn, psn) >=
                                      sroce_requester_wqe(&req, index)->psn_count)
      index++;
    const sroce_send_wqe* wqe = sroce_requester_wqe(&req, index);
    require(wqe_is_data(wqe) || psn_map_has(&req.sb.done, psn) || retransmitted_.contains(psn) ||
                wqe->status != SROCE_WC_SUCCESS,
            "lost response not requested again", "psn=%06x", psn);
  }
  for (const auto& [psn, must] : unplaced_)
    require(!must || psn_before(psn, req.unacked_psn) || !psn_before(psn, req.next_psn) ||
                psn_map_has(&req.sb.done, psn) || rejected(psn),
            "response that was not placed not requested again", "psn=%06x", psn);
}

bool Host::is_requested_again(u32 psn) const {
  return psn_map_has(&requester_.sb.rtx[0].map, psn) || psn_map_has(&requester_.sb.rtx[1].map, psn);
}

// Has it come, could not be placed, and has not been requested again?
bool Host::must_be_requested(u32 psn) const {
  const auto it = unplaced_.find(psn);
  return it != unplaced_.end() && it->second;
}

// Has the peer rejected the request that @psn belongs to?
bool Host::rejected(u32 psn) const {
  u32 index;
  return sroce_requester_locate(&requester_, psn, &index) &&
         sroce_requester_wqe(&requester_, index)->status != SROCE_WC_SUCCESS;
}

// The engine has nothing to send; checks that this is right.
void Host::check_nothing_to_send() const {
  const sroce_requester& req = requester_;
  if (!out_->strict() || error_ || req.rnr_waiting) return;
  require(!req.probe.due, "probe due but not sent", "psn=%06x", req.unacked_psn);
  check_responses_requested();
  require(
      !side_.adaptive || req.next_psn == req.unacked_psn || req.probe.deadline_ns != SROCE_NEVER,
      "probe timer not armed", [&] { return describe_state(); });
  u32 index = req.send;
  while (index != req.posted && sroce_requester_wqe(&req, index)->executed) index++;
  if (index == req.posted || req.state != SROCE_SQ_READY) return;
  const sroce_send_wqe* wqe = sroce_requester_wqe(&req, index);
  if (!wqe_is_data(wqe) || wqe->status != SROCE_WC_SUCCESS || (wqe->flags & SROCE_SEND_FENCE))
    return;
  const u32 flight = req.data_inflight - std::min(req.data_inflight, req.sb.done_data);
  require(flight >= std::min(side_.window_packets, req.window.packets) ||
              distance(req.unacked_psn, req.next_psn) >= SROCE_PSN_SPAN,
          "idle although the window is open", "%u in flight of %u", flight, side_.window_packets);
}

// After a timeout the engine no longer relies on earlier selective ACKs.
void Host::forget_distrusted() {
  const sroce_scoreboard& sb = requester_.sb;
  std::erase_if(sacked_, [&sb](u32 psn) {
    return !psn_map_has(&sb.done, psn) && !psn_map_has(&sb.read_queued, psn);
  });
}

// Reads a selective ACK independently of the engine.
void Host::note_sacked(const sroce_packet& pkt, const sroce_ack_plan& plan) {
  if (plan.action != SROCE_ACK_ACCEPT || !(pkt.info->flags & SROCE_OPF_SACK)) return;
  // After a rewind only packets sent since then count, unless this ACK turns selective repeat on.
  const u32 next_psn = plan.mode != requester_.sb.mode ? requester_.sent_psn : requester_.next_psn;
  const u32 end = std::min(distance(requester_.unacked_psn, next_psn), SROCE_PSN_MAP_SPAN);
  const u32 expected = psn_add(pkt.psn, 1);
  // The peer had queued the packet that it expects, so it has dropped its queue.
  if (pkt.payload_bytes && !(pkt.sack[0] & 1) && sacked_.contains(expected) &&
      !psn_before(expected, requester_.sb.executed_psn))
    std::erase_if(sacked_, [&](u32 psn) { return !psn_before(psn, expected); });
  for (u32 bit = 0; bit < 8 * pkt.payload_bytes; bit++) {
    const u32 psn = psn_add(pkt.psn, 1 + bit);
    if ((pkt.sack[bit / 8] >> bit % 8 & 1) && distance(requester_.unacked_psn, psn) < end)
      sacked_.insert(psn);
  }
}

// The map contains PSNs in flight only; those of SENDs and WRITEs only if the peer reported them.
void Host::check_done_map() const {
  const sroce_requester& req = requester_;
  const u32 sent = std::min(distance(req.unacked_psn, req.sent_psn), SROCE_PSN_MAP_SPAN);
  u32 all = 0, data = 0, index = req.acked;
  for (u32 at = 0; at < sent; at++) {
    const u32 psn = psn_add(req.unacked_psn, at);
    const u64 bits = psn_map_from(&req.sb.done, psn);
    if (!(bits & 1)) {
      at += static_cast<u32>(std::countr_zero(bits)) - 1;
      continue;
    }
    all++;
    while (index != req.posted && distance(sroce_requester_wqe(&req, index)->first_psn, psn) >=
                                      sroce_requester_wqe(&req, index)->psn_count)
      index++;
    require(index != req.posted, "PSN in the done map has no request", "psn=%06x", psn);
    if (!wqe_is_data(sroce_requester_wqe(&req, index))) continue;
    data++;
    require(!out_->strict() || psn_before(psn, req.sb.executed_psn) || sacked_.contains(psn),
            "marked as queued without a selective ACK", "psn=%06x", psn);
  }
  require(all == size_of(req.sb.done), "done map has PSNs not in flight", "%u of %u", all,
          size_of(req.sb.done));
  require(data == req.sb.done_data, "sacked packets are miscounted", "%u, counted %u",
          req.sb.done_data, data);
}

u32 Host::tolerance() const {
  const u32 late = requester_.sb.reordering;
  if (!late) return 3;
  return std::clamp(std::max(requester_.rtt.path_packets / 4, late + late / 4), 3u, 512u);
}

// Reordering is not loss. A packet is lost once three others have overtaken it, more on a path that
// reorders, or once the last packet sent has been reported.
void Host::check_losses(const sroce_requester& before) const {
  const sroce_scoreboard& sb = requester_.sb;
  const u32 unacked = requester_.unacked_psn;
  const auto ahead = [unacked](u32 psn) { return distance(unacked, psn); };
  const u32 top = ahead(sb.top_psn), lost = ahead(sb.lost_psn), sent = ahead(requester_.sent_psn);
  const bool probed = before.probe.sent && !requester_.probe.sent;
  const u32 late = tolerance();
  const u32 high = ahead(sb.response_high_psn), lost_response = ahead(sb.lost_response_psn);
  require(lost_response + late >= high, "loss not detected",
          "lost up to %06x, newest response %06x", sb.lost_response_psn, sb.response_high_psn);
  require(!lost_response || sb.lost_response_psn == before.sb.lost_response_psn ||
              lost_response + late <= high ||
              (high == sent && lost_response < high && !sb.reordering) || probed ||
              unplaced_.contains(psn_add(sb.lost_response_psn, SROCE_PSN_MASK)),
          "late response marked lost", "lost up to %06x, newest response %06x",
          sb.lost_response_psn, sb.response_high_psn);
  if (sb.mode != SROCE_SELECTIVE_ON) return;
  require(!lost || sb.lost_psn == before.sb.lost_psn || lost + late <= top ||
              (top == sent && lost < top && !sb.reordering) ||
              (probed && lost <= ahead(before.probe.end_psn)),
          "late packet marked lost", "lost up to %06x, newest reported %06x", sb.lost_psn,
          sb.top_psn);
  require(lost + late >= top, "loss not detected", "lost up to %06x, newest reported %06x",
          sb.lost_psn, sb.top_psn);
}

void Host::check_scoreboard() const {
  const sroce_scoreboard& sb = requester_.sb;
  require(!out_->strict() || !is_selective() || both_selective() || peer_may_seem_selective(),
          "selective repeat without the peer's offer", "%c", 'A' + number_);
  const u32 sent = distance(requester_.unacked_psn, requester_.sent_psn);
  for (u32 psn :
       {sb.executed_psn, sb.top_psn, sb.lost_psn, sb.response_high_psn, sb.lost_response_psn})
    require(distance(requester_.unacked_psn, psn) <= sent, "scoreboard PSN was never sent",
            "psn=%06x sent=%06x", psn, requester_.sent_psn);
  require(distance(requester_.unacked_psn, sb.unplaced_psn) <=
                  distance(requester_.unacked_psn, sb.unplaced_end_psn) &&
              distance(requester_.unacked_psn, sb.unplaced_end_psn) <=
                  distance(requester_.unacked_psn, sb.executed_psn),
          "run of responses is wrong", "psn=%06x end=%06x", sb.unplaced_psn, sb.unplaced_end_psn);
  check_done_map();
}

// A retransmission is lost if a selective peer does not report it within a round trip, or if a
// standard peer has responded to something sent later.
void Host::check_rtx_losses(const sroce_requester& before) const {
  const sroce_scoreboard& sb = requester_.sb;
  // While there is no progress, the wait doubles with every other generation.
  const u64 backoff_ns =
      std::max(sroce_rtt_rtx_ns(&before.rtt), sroce_rtt_rtx_ns(&requester_.rtt)) *
      ((1ull << before.sb.rtx_backoff / 2) - 1);
  const auto lost = [this, &sb, backoff_ns](const sroce_rtx& rtx) {
    if (!rtx.any) return false;
    if (sb.mode == SROCE_SELECTIVE_ON) return now_ns_ >= rtx.until_ns + backoff_ns;
    return lost_again(rtx.end_psn);
  };
  const sroce_rtx &was_old = before.sb.rtx[!before.sb.newest], &old = sb.rtx[!sb.newest];
  require(!lost(was_old) || &sb.rtx[!before.sb.newest] != &old || !lost(old),
          "lost retransmission not detected", "psn=%06x", requester_.unacked_psn);
  require(old.any || !sb.rtx[sb.newest].any, "retransmissions never age", "%c", 'A' + number_);
}

// Checks the state after a response.
void Host::check_recovery(const sroce_requester& before, const sroce_ack_plan& plan) {
  const sroce_requester& req = requester_;
  if (plan.action == SROCE_ACK_DROP || req.state == SROCE_SQ_ERROR) return;
  std::erase_if(retransmitted_, [&req](u32 psn) { return psn_before(psn, req.unacked_psn); });
  std::erase_if(sacked_, [&req](u32 psn) { return psn_before(psn, req.unacked_psn); });
  std::erase_if(unplaced_,
                [&req](const auto& item) { return psn_before(item.first, req.unacked_psn); });
  if (plan.rewind) sacked_.clear();
  if (plan.rewind) rerequested_.clear();
  std::erase_if(rerequested_, [this, &req](const auto& item) {
    return psn_before(item.first, req.unacked_psn) || lost_again(item.second);
  });
  require(!out_->strict() || !req.rtt.timing || !req.rtt.srtt_ns ||
              !retransmitted_.contains(req.rtt.timed_psn),
          "RTT sample from a retransmitted packet", "psn=%06x", req.rtt.timed_psn);
  check_scoreboard();
  check_rtx_losses(before);
  // A withdrawal is a rewind, too.
  if (plan.rewind || (before.sb.mode == SROCE_SELECTIVE_ON && !is_selective())) return;
  if (before.sb.mode == req.sb.mode && out_->strict()) check_losses(before);

  const sroce_probe& probe = before.probe;
  const bool newest = probe.newest && probe.psn == probe.newest_psn;
  const bool responded =
      probe.sent && psn_before(probe.psn, newest ? req.sb.top_psn : req.unacked_psn);
  if (!responded || !psn_before(req.unacked_psn, before.probe.end_psn)) return;
  // After an ACK timeout that is longer than round trips are, the minimum does not matter.
  const bool overdue = before.probe.overdue;
  const bool for_probe =
      overdue || newest || (req.rtt.min_ns && now_ns_ - before.probe.at_ns >= req.rtt.min_ns);
  const bool selective = req.sb.mode == SROCE_SELECTIVE_ON;
  const u32 end_psn = before.probe.end_psn;
  const bool requests_missing = !selective && psn_before(req.sb.executed_psn, end_psn);
  // The responses to what the peer had executed would have come, too.
  const bool responses_lost = !psn_before(req.sb.lost_response_psn, end_psn) ||
                              !psn_before(req.sb.lost_response_psn, req.sb.executed_psn);
  // On a path that reorders the response is ambiguous: the next probe decides.
  const bool marked_lost =
      (req.probe.ambiguous && !overdue) ||
      (selective          ? !psn_before(req.sb.lost_psn, end_psn) && (!overdue || responses_lost)
       : requests_missing ? req.next_psn == req.sb.executed_psn
                          : !psn_before(req.sb.lost_response_psn, end_psn));
  if (!selective && marked_lost) rerequested_.clear();
  // A response this early may only lower the minimum RTT.
  const bool lowers_min =
      now_ns_ - before.probe.at_ns == req.rtt.min_ns &&
      (req.rtt.min_ns != before.rtt.min_ns || req.rtt.period_end_ns != before.rtt.period_end_ns);
  // A standard peer is asked again: the newest packet tells.
  const bool asks = !selective && !overdue && req.probe.due &&
                    sroce_tlp_probe_psn(&req) == psn_add(req.next_psn, SROCE_PSN_MASK);
  require(!for_probe || marked_lost || asks || lowers_min, "response to a probe ignored",
          "psn=%06x", req.unacked_psn);
  require(for_probe || !requests_missing || !marked_lost || req.next_psn == before.next_psn,
          "early response taken for the one to the probe", "psn=%06x", req.unacked_psn);
}

// The response to a probe was ambiguous. At the next probe or timeout, all that it did not cover
// and that is still missing is lost.
void Host::check_ambiguous_probe(const sroce_requester& before) const {
  const sroce_requester& req = requester_;
  if (!before.probe.ambiguous || req.state == SROCE_SQ_ERROR) return;
  if (req.probe.sent_count == before.probe.sent_count && req.timeouts == before.timeouts) return;
  const bool standard = req.sb.mode >= SROCE_SELECTIVE_OFF;
  const bool requests_missing = standard && psn_before(req.sb.executed_psn, before.probe.end_psn);
  const u32 lost = standard ? req.sb.lost_response_psn : req.sb.lost_psn;
  require(!psn_before(req.unacked_psn, before.probe.end_psn) ||
              (requests_missing ? req.next_psn == req.sb.executed_psn
                                : !psn_before(lost, before.probe.end_psn)),
          "loss not detected by two probes", "lost up to %06x, probed up to %06x", lost,
          before.probe.end_psn);
}

// Checks the reorder queue, and what the responder tells the peer about it.
void Host::check_queued() const {
  const sroce_reorder& reorder = responder_.reorder;
  require(size_of(reorder.queued) == reorder.count, "queued packets are miscounted",
          "%u in the map", size_of(reorder.queued));
  if (!in_->strict() || responder_.state != SROCE_RQ_READY) return;
  require(!sroce_reorder_peer_selective(&reorder) || both_selective(),
          "selective repeat without the peer's offer", "%c", 'A' + number_);
  require(!sroce_reorder_peer_selective(&reorder) || reorder.nak_at_ns == SROCE_NEVER,
          "NAK pending for a selective peer", "epsn=%06x", responder_.epsn);
  if (reorder.waiting_rwqe) {
    // Only a receive WQE is missing: the responder polls for one, then sends an RNR NAK.
    require(reorder.nak_at_ns == SROCE_NEVER, "NAK pending without a gap", "epsn=%06x",
            responder_.epsn);
    require(queued_.contains(responder_.epsn) && reorder.rwqe_poll_at_ns <= reorder.rnr_nak_at_ns &&
                reorder.rnr_nak_at_ns <= now_ns_ + responder_.attr.rnr_delay_ns,
            "RNR delay has no end", "epsn=%06x", responder_.epsn);
    return;
  }
  require(!reorder.count || sroce_reorder_peer_selective(&reorder) ||
              reorder.nak_at_ns != SROCE_NEVER || responder_.nak_scheduled,
          "gap will never be reported", "epsn=%06x", responder_.epsn);
  // A selective ACK goes before a NAK that is due, too.
  const bool nak_is_due =
      responder_.nak_pending && responder_.nak_syndrome == SROCE_NAK_PSN_SEQUENCE;
  require(!sroce_reorder_peer_selective(&reorder) || !reorder.count || reorder.unsacked < 64 ||
              responder_.ack_pending || nak_is_due,
          "queued packets not reported", "epsn=%06x, %u since the last selective ACK",
          responder_.epsn, reorder.unsacked);
}

// Checks the state after a request.
void Host::check_processed(const sroce_packet& pkt, const sroce_recv_plan& plan) {
  if (psn_before(responder_.epsn, pkt.psn)) gap_before_psn_ = responder_.epsn;
  require(plan.verdict != SROCE_RECV_RNR || !responder_.reorder.count,
          "packets stay queued after an RNR NAK", "%u", responder_.reorder.count);
  require(plan.verdict != SROCE_RECV_QUEUE || !plan.queued ||
              sroce_reorder_peer_selective(&responder_.reorder) ||
              responder_.reorder.waiting_rwqe || responder_.nak_pending ||
              responder_.reorder.nak_at_ns != SROCE_NEVER,
          "duplicate of a queued packet ignored", "psn=%06x", pkt.psn);
}

void Host::check_response(const sroce_response_plan& plan) const {
  if (!in_->strict()) return;
  require(plan.kind != SROCE_RESPONSE_SACK || both_selective(), "selective ACK for a standard peer",
          "psn=%06x", plan.first_psn);
  require(plan.kind != SROCE_RESPONSE_ACK || plan.syndrome != SROCE_NAK_PSN_SEQUENCE ||
              !queued_.empty() || gap_before_psn_ == plan.first_psn,
          "NAK without a gap", "psn=%06x", plan.first_psn);
  // The peer then goes back, and sends again what it does not know to be queued.
  require(plan.kind != SROCE_RESPONSE_ACK || plan.syndrome != SROCE_NAK_PSN_SEQUENCE ||
              !sroce_reorder_can_sack(&responder_.reorder) || !responder_.reorder.count ||
              !responder_.reorder.unsacked,
          "NAK before a selective ACK", "psn=%06x, %u queued since", plan.first_psn,
          responder_.reorder.unsacked);
}

}  // namespace sim
