// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The datapath's receive queue: requests in, responses out.
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

// Receives that the engine never saw are flushed by the datapath.
void Host::flush_receives() {
  while (in_->completed_receives() < posted_receives_) {
    if (in_->fetched_receives() == in_->completed_receives()) in_->receive_fetched();
    sroce_completion wc{};
    wc.wr_id = in_->recvs[in_->completed_receives()].wr_id;
    wc.status = SROCE_WC_WR_FLUSH_ERR;
    in_->receive_completed(wc);
  }
}

void Host::fetch_receive(u32 srqn) {
  if (in_->fetched_receives() == posted_receives_ || lost_race_) return;
  require(!responder_.has_recv_wqe, "receive fetched while another is in use", "%u",
          posted_receives_);
  const RecvWork& recv = in_->recvs[in_->fetched_receives()];
  responder_.recv->wr_id = recv.wr_id;
  responder_.recv->length = recv.length;
  responder_.recv->srqn = srqn;
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
              "placed outside the receive", "offset %u + %zu", plan.offset, payload.size());
      result.status = memory_->scatter(recv->sge, recv->num_sge, plan.offset, payload);
      break;
    }
    case SROCE_TARGET_REGION:
      // Check the range of the whole message first, so that no part of a bad one is placed.
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
  // A hostile peer may name any key, so only revocable regions become invalid.
  if (region && region->name == "revocable") region->valid = false;
}

void Host::execute_atomic(const sroce_recv_plan& plan, std::span<const u8> payload,
                          sroce_recv_result& result) {
  result.status = plan.va % 8 ? SROCE_MEM_MISALIGNED
                              : memory_->check(plan.rkey, plan.va, sizeof(u64), plan.access);
  if (result.status != SROCE_MEM_OK) return;
  if (plan.atomic_op == SROCE_OP_ATOMIC_WRITE) {
    memory_->write(plan.rkey, plan.va, payload, SROCE_ACCESS_REMOTE_WRITE);
    in_->atomic_write_executed(plan, payload);
    return;
  }
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
      execute_atomic(plan, payload, result);
      break;
    case SROCE_RECV_FLUSH:
      result.status = memory_->check(plan.rkey, plan.va, plan.check_bytes, plan.access);
      if (result.status == SROCE_MEM_OK) in_->flush_executed(plan);
      break;
    case SROCE_RECV_REPLAY:
    case SROCE_RECV_READ:
      result.status = memory_->check(plan.rkey, plan.va, plan.check_bytes, plan.access);
      if (plan.verdict == SROCE_RECV_REPLAY && pkt.psn % 4 == 0 && in_->may_nak_duplicate(pkt.psn))
        result.status = SROCE_MEM_BAD_KEY;
      break;
    default:
      return result;
  }
  const bool done = result.status == SROCE_MEM_OK && result.invalidated == SROCE_MEM_OK;
  if (done && plan.verdict != SROCE_RECV_REPLAY) {
    nak_sent_ = false;
    report_accepted(pkt);
  }
  return result;
}

void Host::report_accepted(const sroce_packet& pkt) {
  sroce_packet one = pkt;
  one.payload_bytes /= pkt.count;
  for (one.count = 1; one.psn != psn_add(pkt.psn, pkt.count); one.psn = psn_add(one.psn, 1)) {
    check_message_stream(one);
    in_->request_accepted(one);
  }
}

// Queuing may fail for want of memory. A hostile peer cannot exceed the limit.
bool Host::queue_packet(const sroce_packet& pkt, std::span<const u8> payload) {
  if (in_shortage(side_.drop_received)) return false;
  require(queued_.size() < side_.reorder_packets &&
              psn_distance(pkt.psn, responder_.epsn) < static_cast<s32>(side_.reorder_packets),
          "reorder queue over its limit", "%zu, psn=%06x", queued_.size(), pkt.psn);
  require(
      queued_.try_emplace(pkt.psn, QueuedPacket{pkt, Bytes(payload.begin(), payload.end())}).second,
      "packet queued twice", "psn=%06x", pkt.psn);
  return true;
}

// Drops packets that the engine no longer counts as queued.
void Host::drop_queued() {
  if (!responder_.reorder.count) queued_.clear();
  std::erase_if(queued_,
                [this](const auto& item) { return psn_distance(item.first, responder_.epsn) < 0; });
  require(queued_.size() == responder_.reorder.count, "queued packets are miscounted", "%zu, %u",
          queued_.size(), responder_.reorder.count);
}

// Executes the request that waited for a receive WQE, if there is one now. Sometimes it finds that
// another QP of a shared receive queue was faster.
void Host::retry_waiting_request() {
  if (!responder_.reorder.waiting_rwqe || in_->fetched_receives() == posted_receives_) return;
  lost_race_ = now_ns_ % 4 == 0;
  sroce_reorder_rwqe_posted(&responder_, now_ns_);
  handle_queued();
  lost_race_ = false;
}

void Host::handle_request(const sroce_packet& pkt, std::span<const u8> payload) {
  process_request(pkt, payload, false);
  drop_queued();
  handle_queued();
}

// Coalesces packets with @first. The datapath may stop anywhere, so sometimes it takes only a few.
void Host::coalesce_queued(QueuedPacket& first) const {
  const sroce_packet& pkt = first.pkt;
  if (pkt.header_bytes != sizeof(sroce_bth) || pkt.pad_bytes) return;
  const u32 behind = sroce_reorder_queued_behind(&responder_, &pkt);
  const u32 most = pkt.psn % 3 ? behind : std::min(behind, pkt.psn % 5);
  const u32 bytes = pkt.payload_bytes;
  for (u32 i = 1; i <= most; i++) {
    const auto next = queued_.find(psn_add(pkt.psn, i));
    require(next != queued_.end(), "packet counted but not queued", "psn=%06x",
            psn_add(pkt.psn, i));
    if (!can_coalesce_next(pkt, next->second.pkt)) return;
    const Bytes& more = next->second.payload;
    first.payload.insert(first.payload.end(), more.begin(), more.end());
    first.pkt.payload_bytes += bytes;
    first.pkt.count++;
  }
}

void Host::handle_queued() {
  u32 psn;
  while (sroce_reorder_next_queued(&responder_, &psn)) {
    auto node = queued_.extract(psn);
    require(!node.empty(), "packet counted but not queued", "psn=%06x", psn);
    QueuedPacket& first = node.mapped();
    first.pkt.was_queued = true;
    coalesce_queued(first);
    if (log_.on())
      log_.line(
          format("%c: executes queued psn=%06x, %u packets", 'A' + number_, psn, first.pkt.count));
    process_request(first.pkt, first.payload, true);
    drop_queued();
  }
}

void Host::process_request(const sroce_packet& pkt, std::span<const u8> payload, bool from_queue) {
  if (!from_queue && in_shortage(side_.drop_received))
    return;  // before the plan, like a lost packet
  if (sroce_responder_wants_wqe(&responder_, &pkt)) fetch_receive(pkt.srqn);
  const sroce_responder before = responder_;
  sroce_recv_plan plan, again;
  sroce_responder_plan(&responder_, &pkt, &plan);
  sroce_responder_plan(&responder_, &pkt, &again);
  require(same_plan(plan, again) && !std::memcmp(&before, &responder_, sizeof(before)),
          "dropped plan has an effect", "request psn=%06x", pkt.psn);
  if (!from_queue && in_shortage(side_.drop_received)) return;  // after the plan
  if (log_.on() && plan.verdict == SROCE_RECV_DROP)
    log_.line(
        format("%c: request psn=%06x dropped, reason %u", 'A' + number_, pkt.psn, plan.reason));
  require(plan.verdict != SROCE_RECV_RNR ||
              (in_->fetched_receives() == posted_receives_ && !responder_.has_recv_wqe),
          "RNR NAK although there are receives", "psn=%06x", pkt.psn);
  check_gap_handling(pkt, plan);
  sroce_recv_result result = execute(pkt, plan, payload);
  if (plan.verdict == SROCE_RECV_QUEUE && !plan.queued && !queue_packet(pkt, payload))
    result.status = SROCE_MEM_BAD_KEY;
  sroce_responder_commit(&responder_, &pkt, &plan, &result, now_ns_);
  if (plan.verdict != SROCE_RECV_DROP && !from_queue) note_offer(pkt, plan, before.epsn);
  require(plan.verdict != SROCE_RECV_REPLAY || responder_.state == SROCE_RQ_READY,
          "duplicate READ ends the connection", "psn=%06x", pkt.psn);
  check_processed(pkt, plan);
  if ((plan.verdict == SROCE_RECV_READ || plan.verdict == SROCE_RECV_REPLAY) &&
      result.status == SROCE_MEM_OK)
    in_->responses_requested(pkt);
  const bool fatal = plan.verdict == SROCE_RECV_NAK && plan.syndrome != SROCE_NAK_PSN_SEQUENCE;
  require(!fatal || responder_.state == SROCE_RQ_FAILED, "QP survives a fatal NAK", "psn=%06x",
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
  // The fatal NAK must leave before the QP moves to ERR.
  sroce_response_plan plan;
  if (!sroce_response_plan_next(&responder_, 1, &plan)) move_to_error();
}

// The bitmap reports exactly the queued packets.
void Host::write_sack(const sroce_response_plan& plan) {
  sroce_reorder_write_sack(&responder_, payload_.data(), plan.payload_bytes);
  u32 reported = 0;
  for (u32 bit = 0; bit < 8 * plan.payload_bytes; bit++) {
    if (!(payload_[bit / 8] >> bit % 8 & 1)) continue;
    reported++;
    require(queued_.contains(psn_add(responder_.epsn, bit)),
            "bitmap reports a packet that is not queued", "psn=%06x",
            psn_add(responder_.epsn, bit));
  }
  require(reported == queued_.size(), "bitmap omits a queued packet", "%u of %zu", reported,
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
          "dropped plan has an effect", "response psn=%06x", plan.first_psn);
  require(!found || !sroce_responder_is_idle(&responder_), "idle responder responds", "psn=%06x",
          plan.first_psn);
  if (!found || drops_plan()) return false;
  require(plan.packet_count && plan.packet_count <= max_packets, "burst exceeds its limit",
          "%u packets, limit %u", plan.packet_count, max_packets);

  sroce_mem_status fetched = SROCE_MEM_OK;
  check_response(plan);
  payload_.resize(plan.payload_bytes);
  if (plan.kind == SROCE_RESPONSE_SACK) {
    write_sack(plan);
  } else if (!payload_.empty()) {
    fetched = memory_->check(plan.rkey, plan.va, payload_.size(), SROCE_ACCESS_REMOTE_READ);
    if (plan.first_psn % 4 == 1 && in_->may_nak_duplicate(plan.first_psn))
      fetched = SROCE_MEM_BAD_KEY;
    if (fetched == SROCE_MEM_OK)
      memory_->read(plan.rkey, plan.va, payload_, SROCE_ACCESS_REMOTE_READ);
  }
  u32 offset = 0;
  for (u32 i = 0; i < plan.packet_count && fetched == SROCE_MEM_OK; i++) {
    sroce_packet pkt;
    sroce_response_plan_packet(&responder_, &plan, i, &pkt);
    require(offset + pkt.payload_bytes <= payload_.size(), "payload outside the burst", "psn=%06x",
            pkt.psn);
    const auto payload = std::span<const u8>(payload_).subspan(offset, pkt.payload_bytes);
    offset += pkt.payload_bytes;
    check_acceptance(pkt);
    in_->response_sent(pkt, payload);
    transmit(pkt, payload);
  }
  require(offset == payload_.size() || fetched != SROCE_MEM_OK,
          "burst does not send all its payload", "psn=%06x", plan.first_psn);
  budget -= plan.packet_count;
  const u8 state = responder_.state;
  sroce_response_commit(&responder_, &plan, fetched);
  require(responder_.state == state || !in_->has_dup_nak(plan.first_psn),
          "duplicate READ ends the connection", "psn=%06x", plan.first_psn);
  return true;
}

}  // namespace sim
