// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The receive half of the shell: requests in, responses out.
#include <algorithm>
#include <cstring>

#include "sim/coalesce.h"
#include "sim/host.h"
#include "sim/plan_compare.h"
#include "transport/psn.h"

namespace sim {

void Host::pull_receive_completions() {
  sroce_completion wc;
  while (sroce_responder_next_completion(&responder_, &wc)) {
    log_completion("receive", wc);
    in_->receive_completed(wc);
  }
}

// Receives that the engine never saw are the shell's to flush.
void Host::flush_receives() {
  while (in_->completed_receives() < posted_receives_) {
    if (in_->fetched_receives() == in_->completed_receives()) in_->receive_fetched();
    sroce_completion wc{};
    wc.wr_id = in_->recvs[in_->completed_receives()].wr_id;
    wc.status = SROCE_WC_WR_FLUSH_ERR;
    in_->receive_completed(wc);
  }
}

void Host::fetch_receive() {
  if (in_->fetched_receives() == posted_receives_) return;
  require(!responder_.has_recv_wqe, "receive fetched while one is in hand", "%u", posted_receives_);
  const RecvWork& recv = in_->recvs[in_->fetched_receives()];
  responder_.recv->wr_id = recv.wr_id;
  responder_.recv->length = recv.length;
  responder_.recv->num_sge = static_cast<u32>(recv.sge.size());
  std::copy(recv.sge.begin(), recv.sge.end(), responder_.recv->sge);
  in_->receive_fetched();
  sroce_responder_take_wqe(&responder_);
}

void Host::place_payload(const sroce_recv_plan& plan, std::span<const u8> payload,
                         sroce_recv_result& result) {
  require(plan.target == SROCE_TARGET_NONE || plan.place_bytes == payload.size(),
          "placed length is wrong", "%u of %zu bytes", plan.place_bytes, payload.size());
  switch (plan.target) {
    case SROCE_TARGET_NONE:
      require(payload.empty(), "payload without a target", "%zu bytes", payload.size());
      break;
    case SROCE_TARGET_RECV: {
      const sroce_recv_wqe* recv = responder_.recv;
      require(responder_.has_recv_wqe && u64{plan.offset} + payload.size() <= recv->length,
              "placed outside of the receive", "offset %u + %zu", plan.offset, payload.size());
      result.status = memory_->scatter(recv->sge, recv->num_sge, plan.offset, payload);
      break;
    }
    case SROCE_TARGET_REGION:
      // The range of the whole message first, so that no byte of a bad one lands.
      result.status = memory_->check(plan.rkey, plan.va, plan.check_bytes, plan.access);
      if (result.status == SROCE_MEM_OK)
        memory_->write(plan.rkey, plan.va, payload, SROCE_ACCESS_REMOTE_WRITE);
      break;
  }
  if (result.status == SROCE_MEM_OK && plan.target != SROCE_TARGET_NONE)
    in_->payload_placed(plan, payload);
  if (result.status != SROCE_MEM_OK || !plan.invalidate) return;
  Region* region = memory_->find(plan.inv_rkey);
  result.invalidated = region ? SROCE_MEM_OK : SROCE_MEM_BAD_KEY;
  // A hostile peer may name any key; the model is told by the region itself.
  if (region && region->name == "revocable") region->valid = false;
}

void Host::execute_atomic(const sroce_recv_plan& plan, sroce_recv_result& result) {
  result.status = plan.va % 8 ? SROCE_MEM_MISALIGNED
                              : memory_->check(plan.rkey, plan.va, sizeof(u64), plan.access);
  if (result.status != SROCE_MEM_OK) return;
  u64 value;
  const std::span<u8> bytes(reinterpret_cast<u8*>(&value), sizeof(value));
  memory_->read(plan.rkey, plan.va, bytes, SROCE_ACCESS_REMOTE_ATOMIC);
  result.atomic_original = value;
  if (plan.atomic_op == SROCE_OP_FETCH_ADD)
    value += plan.swap_add;
  else if (value == plan.compare)
    value = plan.swap_add;
  memory_->write(plan.rkey, plan.va, bytes, SROCE_ACCESS_REMOTE_ATOMIC);
  in_->atomic_executed(plan, result.atomic_original, value);
}

sroce_recv_result Host::execute(const sroce_packet& pkt, const sroce_recv_plan& plan,
                                std::span<const u8> payload) {
  sroce_recv_result result{};
  switch (plan.verdict) {
    case SROCE_RECV_PLACE:
      place_payload(plan, payload, result);
      break;
    case SROCE_RECV_ATOMIC:
      execute_atomic(plan, result);
      break;
    case SROCE_RECV_REPLAY:
    case SROCE_RECV_READ:
      result.status = memory_->check(plan.rkey, plan.va, plan.check_bytes, plan.access);
      if (plan.verdict == SROCE_RECV_REPLAY && pkt.psn % 4 == 0 && in_->dup_nak_pending(pkt.psn))
        result.status = SROCE_MEM_BAD_KEY;
      break;
    default:
      return result;
  }
  const bool done = result.status == SROCE_MEM_OK && result.invalidated == SROCE_MEM_OK;
  if (done && plan.verdict != SROCE_RECV_REPLAY) {
    gap_known_ = false;
    accepted(pkt);
  }
  return result;
}

void Host::accepted(const sroce_packet& pkt) {
  sroce_packet one = pkt;
  one.payload_bytes /= pkt.count;
  for (one.count = 1; one.psn != psn_add(pkt.psn, pkt.count); one.psn = psn_add(one.psn, 1)) {
    check_message_stream(one);
    in_->request_accepted(one);
  }
}

// Memory may be short for packets that are not due; a hostile peer cannot have more than the limit.
bool Host::keep(const sroce_packet& pkt, std::span<const u8> payload) {
  if (in_shortage(side_.drop_received)) return false;
  require(queued_.size() < side_.reorder_packets &&
              psn_distance(pkt.psn, responder_.epsn) < static_cast<s32>(side_.reorder_packets),
          "more kept than allowed", "%zu, psn=%06x", queued_.size(), pkt.psn);
  require(queued_.try_emplace(pkt.psn, Kept{pkt, Bytes(payload.begin(), payload.end())}).second,
          "kept twice", "psn=%06x", pkt.psn);
  return true;
}

// What the engine does not count as kept any more.
void Host::drop_queued() {
  if (!responder_.reorder.count) queued_.clear();
  std::erase_if(queued_,
                [this](const auto& item) { return psn_distance(item.first, responder_.epsn) < 0; });
  require(queued_.size() == responder_.reorder.count, "packets kept are miscounted", "%zu, %u",
          queued_.size(), responder_.reorder.count);
}

// What waited for a receive is taken up when there is one.
void Host::feed() {
  if (!responder_.reorder.waiting_rwqe || in_->fetched_receives() == posted_receives_) return;
  sroce_responder_rwqe_posted(&responder_, now_ns_);
  handle_queued();
}

void Host::handle_request(const sroce_packet& pkt, std::span<const u8> payload) {
  take_request(pkt, payload, false);
  drop_queued();
  handle_queued();
}

// What is alike comes together with the first; where a run is cut off is the shell's affair.
void Host::coalesce_queued(Kept& first) const {
  const sroce_packet& pkt = first.pkt;
  if (pkt.header_bytes != sizeof(sroce_bth) || pkt.pad_bytes) return;
  const u32 behind = sroce_responder_queued_behind(&responder_, &pkt);
  const u32 most = pkt.psn % 3 ? behind : std::min(behind, pkt.psn % 5);
  const u32 bytes = pkt.payload_bytes;
  for (u32 i = 1; i <= most; i++) {
    const auto next = queued_.find(psn_add(pkt.psn, i));
    require(next != queued_.end(), "a packet never kept", "psn=%06x", psn_add(pkt.psn, i));
    if (!can_coalesce_next(pkt, next->second.pkt)) return;
    const Bytes& more = next->second.payload;
    first.payload.insert(first.payload.end(), more.begin(), more.end());
    first.pkt.payload_bytes += bytes;
    first.pkt.count++;
  }
}

void Host::handle_queued() {
  u32 psn;
  while (sroce_responder_next_queued(&responder_, &psn)) {
    auto node = queued_.extract(psn);
    require(!node.empty(), "a packet never kept", "psn=%06x", psn);
    Kept& kept = node.mapped();
    coalesce_queued(kept);
    if (log_.on())
      log_.line(format("%c: takes up psn=%06x, %u of them", 'A' + number_, psn, kept.pkt.count));
    take_request(kept.pkt, kept.payload, true);
    drop_queued();
  }
}

void Host::take_request(const sroce_packet& pkt, std::span<const u8> payload, bool held) {
  if (!held && in_shortage(side_.drop_received))
    return;  // before anything was decided: a lost packet
  if (sroce_responder_wants_wqe(&responder_, &pkt)) fetch_receive();
  const sroce_responder before = responder_;
  sroce_recv_plan plan, again;
  sroce_responder_plan(&responder_, &pkt, &plan);
  sroce_responder_plan(&responder_, &pkt, &again);
  require(same_plan(plan, again) && !std::memcmp(&before, &responder_, sizeof(before)),
          "a dropped plan has an effect", "request psn=%06x", pkt.psn);
  if (!held && in_shortage(side_.drop_received)) return;  // after the decision
  if (log_.on() && plan.verdict == SROCE_RECV_DROP)
    log_.line(
        format("%c: request psn=%06x dropped, reason %u", 'A' + number_, pkt.psn, plan.reason));
  require(plan.verdict != SROCE_RECV_RNR ||
              (in_->fetched_receives() == posted_receives_ && !responder_.has_recv_wqe),
          "RNR although there are receives", "psn=%06x", pkt.psn);
  check_gap_handling(pkt, plan);
  sroce_recv_result result = execute(pkt, plan, payload);
  if (plan.verdict == SROCE_RECV_QUEUE && !plan.queued && !keep(pkt, payload))
    result.status = SROCE_MEM_BAD_KEY;
  sroce_responder_commit(&responder_, &pkt, &plan, &result, now_ns_);
  require(plan.verdict != SROCE_RECV_REPLAY || responder_.state == SROCE_RQ_READY,
          "a late question ends the connection", "psn=%06x", pkt.psn);
  check_taken(pkt, plan);
  if ((plan.verdict == SROCE_RECV_READ || plan.verdict == SROCE_RECV_REPLAY) &&
      result.status == SROCE_MEM_OK)
    in_->responses_requested(pkt);
  const bool refused = plan.verdict == SROCE_RECV_NAK && plan.syndrome != SROCE_NAK_PSN_SEQUENCE;
  require(!refused || responder_.state == SROCE_RQ_FAILED, "QP survives a fatal NAK", "psn=%06x",
          pkt.psn);
  pull_receive_completions();
  sroce_responder_take_event(&responder_);
  require(sroce_responder_take_event(&responder_) == SROCE_EVENT_NONE, "event reported twice",
          "psn=%06x", pkt.psn);
}

void Host::run_recv() {
  u32 budget = side_.round_packets;
  while (respond_once(budget)) {
  }
  if (responder_.state != SROCE_RQ_FAILED || error_) return;
  // The fatal NAK has to go out before the QP follows.
  sroce_response_plan plan;
  if (!sroce_response_plan_next(&responder_, 1, &plan)) move_to_error();
}

// The bitmap says exactly what is kept.
void Host::write_sack(const sroce_response_plan& plan) {
  sroce_responder_write_sack(&responder_, payload_.data(), plan.payload_bytes);
  u32 told = 0;
  for (u32 bit = 0; bit < 8 * plan.payload_bytes; bit++) {
    if (!(payload_[bit / 8] >> bit % 8 & 1)) continue;
    told++;
    require(queued_.contains(psn_add(responder_.epsn, bit)), "bitmap tells of what is not kept",
            "psn=%06x", psn_add(responder_.epsn, bit));
  }
  require(told == queued_.size(), "bitmap leaves out what is kept", "%u of %zu", told,
          queued_.size());
}

bool Host::respond_once(u32& budget) {
  if (!budget) {
    resume_ns_ = std::min(resume_ns_, now_ns_ + 1000);
    return false;
  }
  if (!may_transmit()) return false;
  const u32 max_packets = random_burst(budget);
  const sroce_responder before = responder_;
  sroce_response_plan plan, again;
  const bool found = sroce_response_plan_next(&responder_, max_packets, &plan);
  const bool found_again = sroce_response_plan_next(&responder_, max_packets, &again);
  require(found == found_again && (!found || same_plan(plan, again)) &&
              !std::memcmp(&before, &responder_, sizeof(before)),
          "a dropped plan has an effect", "response psn=%06x", plan.first_psn);
  if (!found || drops_plan()) return false;
  require(plan.packet_count && plan.packet_count <= max_packets, "burst over its limit",
          "%u packets, limit %u", plan.packet_count, max_packets);

  sroce_mem_status fetched = SROCE_MEM_OK;
  check_response(plan);
  payload_.resize(plan.payload_bytes);
  if (plan.kind == SROCE_RESPONSE_SACK) {
    write_sack(plan);
  } else if (!payload_.empty()) {
    fetched = memory_->check(plan.rkey, plan.va, payload_.size(), SROCE_ACCESS_REMOTE_READ);
    if (plan.first_psn % 4 == 1 && in_->dup_nak_pending(plan.first_psn))
      fetched = SROCE_MEM_BAD_KEY;
    if (fetched == SROCE_MEM_OK)
      memory_->read(plan.rkey, plan.va, payload_, SROCE_ACCESS_REMOTE_READ);
  }
  u32 offset = 0;
  for (u32 i = 0; i < plan.packet_count && fetched == SROCE_MEM_OK; i++) {
    sroce_packet pkt;
    sroce_response_plan_packet(&responder_, &plan, i, &pkt);
    require(offset + pkt.payload_bytes <= payload_.size(), "payload outside of the burst",
            "psn=%06x", pkt.psn);
    const auto payload = std::span<const u8>(payload_).subspan(offset, pkt.payload_bytes);
    offset += pkt.payload_bytes;
    in_->response_sent(pkt, payload);
    transmit(pkt, payload);
  }
  require(offset == payload_.size() || fetched != SROCE_MEM_OK, "burst leaves payload behind",
          "psn=%06x", plan.first_psn);
  budget -= plan.packet_count;
  const u8 state = responder_.state;
  sroce_response_commit(&responder_, &plan, fetched);
  require(responder_.state == state || !in_->has_dup_nak(plan.first_psn),
          "a late question ends the connection", "psn=%06x", plan.first_psn);
  return true;
}

}  // namespace sim
