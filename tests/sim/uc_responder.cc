// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// UC: the responder with its rules.
#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/coalesce.h"
#include "sim/plan_compare.h"
#include "sim/uc.h"
#include "transport/psn.h"

namespace sim {
namespace {

bool is_last(const sroce_packet& pkt) { return pkt.info->flags & SROCE_OPF_LAST; }

bool ends_receive(const sroce_packet& pkt) {
  return is_last(pkt) && pkt.info->flags & (SROCE_OPF_SEND | SROCE_OPF_IMM);
}

}  // namespace

// The consumer posts receives again. Another QP may take one from a shared queue.
void UcSimulation::post_receives() {
  if (!quiet_ && rng_.chance(scenario_.side[1].late_receives)) return;
  for (; !free_.empty(); free_.pop_front()) {
    receives_.push_back(std::move(free_.front()));
    receives_.back().wr_id = rng_.next();
  }
  if (!shared_ || quiet_ || scenario_.clean || receives_.empty() || !rng_.chance(0.05)) return;
  free_.push_back(std::move(receives_.front()));
  receives_.pop_front();
}

void UcSimulation::receive_batch() {
  std::deque<Arrived> batch;
  while (network_.next_arrival_ns() <= now_ns_) {
    const Datagram datagram = network_.take();
    if (datagram.corrupt) continue;  // the ICRC is wrong
    const auto total = static_cast<u32>(datagram.bytes.size());
    const u32 readable = std::min<u32>(total, SROCE_MAX_HEADER_BYTES);
    // ASan detects a read beyond this exact copy.
    const Bytes header(datagram.bytes.begin(), datagram.bytes.begin() + readable);
    Arrived arrived;
    if (sroce_packet_parse(header.data(), readable, total, &arrived.pkt) != SROCE_PARSE_OK) {
      require(scenario_.hostile, "parser rejects a valid packet", "%u bytes", total);
      continue;
    }
    const sroce_packet& pkt = arrived.pkt;
    if (pkt.dest_qpn != requester_.attr.dest_qpn || pkt.pkey != SROCE_PKEY_DEFAULT) continue;
    const auto payload = datagram.bytes.begin() + pkt.header_bytes;
    arrived.payload.assign(payload, payload + pkt.payload_bytes);
    batch.push_back(std::move(arrived));
  }
  while (!batch.empty()) {
    Arrived first = std::move(batch.front());
    batch.pop_front();
    // The datapath drops packets of other services, but the engine must not need that.
    if (first.pkt.info->flags & SROCE_OPF_RESPONSE) {
      handle_response(first.pkt);
    } else if (first.pkt.info->flags & SROCE_OPF_REQUEST) {
      coalesce(first, batch);
      handle_request(first);
    }
  }
}

void UcSimulation::coalesce(Arrived& first, std::deque<Arrived>& rest) {
  sroce_packet& pkt = first.pkt;
  if (!sroce_responder_can_coalesce(&responder_, &pkt)) return;
  require(!is_honest() || current_, "dropped packets are coalesced", "psn=%06x", pkt.psn);
  if (pkt.header_bytes != sizeof(sroce_bth) || pkt.pad_bytes) return;
  while (!rest.empty() && rest.front().pkt.psn == psn_add(pkt.psn, pkt.count) &&
         can_coalesce_next(pkt, rest.front().pkt) && rng_.chance(0.8)) {
    const Bytes& more = rest.front().payload;
    first.payload.insert(first.payload.end(), more.begin(), more.end());
    pkt.payload_bytes += rest.front().pkt.payload_bytes;
    pkt.count++;
    rest.pop_front();
  }
}

// UC has no responses.
void UcSimulation::handle_response(const sroce_packet& pkt) {
  const sroce_requester before = requester_;
  sroce_packet response = pkt;
  const Bytes sack(SROCE_SACK_MAX_BYTES);
  response.sack = sack.data();
  sroce_ack_plan plan;
  sroce_completer_plan(&requester_, &response, &plan);
  sroce_completer_commit(&requester_, &plan, SROCE_MEM_OK, now_ns_);
  require(plan.action == SROCE_ACK_DROP && !std::memcmp(&before, &requester_, sizeof(before)),
          "response has an effect", "psn=%06x", pkt.psn);
}

// The only right outcome of a packet from an honest peer. The first packet of a message may have
// any PSN, each other one must follow the one before. A late packet is ignored, any other ends the
// message in progress.
UcSimulation::Outcome UcSimulation::expected_outcome(const sroce_packet& pkt) {
  const u32 position = position_of(pkt.psn);
  const auto behind = std::upper_bound(
      messages_.begin(), messages_.begin() + static_cast<ptrdiff_t>(posted_), position,
      [&](u32 at, const SendWork& work) { return at < position_of(work.first_psn); });
  Outcome expected;
  SendWork& work = *(behind - 1);
  expected.work = &work;
  expected.number = position - position_of(work.first_psn);
  const bool first = !expected.number, last = expected.number + pkt.count == work.psn_count;
  if (!first && (current_ != &work || position != next_position_)) {
    expected.reason = position < next_position_ ? SROCE_DROP_DUPLICATE : SROCE_DROP_GAP;
    return expected;
  }
  const bool needs = work.is_send() ? first : last && work.consumes_receive();
  expected.wants_receive = needs && !taken_;
  if (needs && !taken_ && receives_.empty()) {
    expected.reason = SROCE_DROP_NO_WQE;
  } else if (work.is_send()) {
    const RecvWork& recv = taken_ ? *taken_ : receives_.front();
    const u32 end = expected.number * scenario_.mtu_bytes + pkt.payload_bytes;
    if (end > recv.length) expected.reason = SROCE_DROP_LENGTH;
  } else {
    expected.denied = work.expected == SROCE_WC_REM_ACCESS_ERR;
  }
  return expected;
}

void UcSimulation::check_outcome(const Outcome& expected, const sroce_recv_plan& plan,
                                 bool placed) const {
  const SendWork& work = *expected.work;
  const u32 offset = expected.number * scenario_.mtu_bytes;
  if (expected.reason != SROCE_DROP_NONE || expected.denied) {
    require(!placed && plan.reason == expected.reason, "packet must be dropped",
            "packet %u, reason %u, expected %u", expected.number, plan.reason, expected.reason);
    return;
  }
  require(placed, "packet must be placed", "packet %u, reason %u", expected.number, plan.reason);
  if (plan.target == SROCE_TARGET_REGION)
    require(plan.va == work.remote_addr + offset && plan.rkey == work.rkey, "placed elsewhere",
            "packet %u", expected.number);
  if (plan.target == SROCE_TARGET_RECV)
    require(plan.offset == offset, "placed elsewhere", "packet %u", expected.number);
}

void UcSimulation::advance(const Outcome& expected, const sroce_packet& pkt, bool placed) {
  if (expected.reason == SROCE_DROP_DUPLICATE) return;
  next_position_ = position_of(pkt.psn) + pkt.count;
  current_ = placed && !is_last(pkt) ? expected.work : nullptr;
}

// Returns false if the receive is too short for the packet, and stays in a shared queue for others.
bool UcSimulation::fetch_receive(const sroce_packet& pkt) {
  if (receives_.empty()) return true;
  const RecvWork& recv = receives_.front();
  const bool fits =
      !shared_ || !(pkt.info->flags & SROCE_OPF_SEND) || recv.length >= pkt.payload_bytes;
  responder_.recv->wr_id = recv.wr_id;
  responder_.recv->length = recv.length;
  responder_.recv->num_sge = static_cast<u32>(recv.sge.size());
  std::copy(recv.sge.begin(), recv.sge.end(), responder_.recv->sge);
  if (fits) {
    taken_ = std::move(receives_.front());
    receives_.pop_front();
  }
  sroce_responder_take_wqe(&responder_);
  return fits;
}

sroce_mem_status UcSimulation::place(const sroce_recv_plan& plan, std::span<const u8> payload) {
  require(plan.target == SROCE_TARGET_NONE ? payload.empty() : plan.place_bytes == payload.size(),
          "placed length is wrong", "%u of %zu bytes", plan.place_bytes, payload.size());
  if (plan.target == SROCE_TARGET_RECV) {
    require(taken_ && u64{plan.offset} + payload.size() <= taken_->length,
            "placed outside the receive", "offset %u + %zu", plan.offset, payload.size());
    return memory_[1].scatter(responder_.recv->sge, responder_.recv->num_sge, plan.offset, payload);
  }
  if (plan.target != SROCE_TARGET_REGION) return SROCE_MEM_OK;
  const auto status = memory_[1].check(plan.rkey, plan.va, plan.check_bytes, plan.access);
  if (status == SROCE_MEM_OK)
    memory_[1].write(plan.rkey, plan.va, payload, SROCE_ACCESS_REMOTE_WRITE);
  return status;
}

// The packets placed of one message have PSNs in a row, also if they are forged, and their payload
// lies in a row. These bytes of memory may change, and no others.
void UcSimulation::note_placed(const Arrived& arrived, const sroce_recv_plan& plan) {
  const sroce_packet& pkt = arrived.pkt;
  const u32 flags = pkt.info->flags, kind = flags & (SROCE_OPF_SEND | SROCE_OPF_WRITE);
  const auto bytes = static_cast<u32>(arrived.payload.size());
  if (flags & SROCE_OPF_FIRST)
    chain_ = {.kind = kind,
              .next_psn = pkt.psn,
              .bytes = 0,
              .total = pkt.dma_length,
              .va = pkt.va,
              .rkey = pkt.rkey};
  require(kind && chain_.kind == kind && chain_.next_psn == pkt.psn, "mixture of messages",
          "psn=%06x", pkt.psn);
  if (plan.target == SROCE_TARGET_REGION) {
    require(kind == SROCE_OPF_WRITE && plan.va == chain_.va + chain_.bytes &&
                plan.rkey == chain_.rkey && u64{chain_.bytes} + bytes <= chain_.total,
            "WRITE placed elsewhere", "psn=%06x", pkt.psn);
    memory_[1].expect(plan.rkey, plan.va, arrived.payload);
  } else if (plan.target == SROCE_TARGET_RECV) {
    require(kind == SROCE_OPF_SEND && plan.offset == chain_.bytes, "SEND placed elsewhere",
            "psn=%06x", pkt.psn);
    memory_[1].expect_scattered(taken_->sge.data(), static_cast<u32>(taken_->sge.size()),
                                chain_.bytes, arrived.payload);
  }
  const u32 most = pkt.count * scenario_.mtu_bytes;
  const u32 least = !is_last(pkt) ? most : !(flags & SROCE_OPF_FIRST);
  require(bytes >= least && bytes <= most, "packet of a wrong length placed", "%u bytes", bytes);
  chain_.next_psn = psn_add(pkt.psn, pkt.count);
  chain_.bytes += bytes;
  if (!is_last(pkt)) return;
  chain_.kind = 0;
  require(kind != SROCE_OPF_WRITE || chain_.bytes == chain_.total, "incomplete WRITE", "psn=%06x",
          pkt.psn);
}

// A message has arrived as a whole.
void UcSimulation::check_content(const SendWork& work, const sroce_packet& pkt) {
  const s64 index = &work - messages_.data();
  const PathFaults& path = scenario_.path[0];
  Bytes content(work.length);
  if (work.is_write())
    memory_[1].read(work.rkey, work.remote_addr, content, 0);
  else
    memory_[1].gather(taken_->sge.data(), static_cast<u32>(taken_->sge.size()), 0, content);
  require(chain_.bytes == work.length && content == work.data, "message differs from that sent",
          "message %lld, %u bytes", (long long)index, chain_.bytes);
  require(!(pkt.info->flags & SROCE_OPF_IMM) || pkt.imm == work.imm, "immediate is wrong",
          "message %lld", (long long)index);
  require(index > newest_arrived_ || path.duplicate > 0 || path.reorder > 0,
          "messages out of order", "%lld, newest %lld", (long long)index,
          (long long)newest_arrived_);
  newest_arrived_ = std::max(newest_arrived_, index);
  messages_[static_cast<size_t>(index)].executed = true;
}

void UcSimulation::check_received(const sroce_completion& wc, const sroce_packet& pkt) const {
  const u32 flags = pkt.info->flags;
  const u8 opcode = flags & SROCE_OPF_WRITE ? SROCE_WC_RECV_WRITE_IMM : SROCE_WC_RECV;
  require(wc.status == kSuccess && wc.opcode == opcode && wc.byte_len == chain_.bytes &&
              wc.solicited == pkt.solicited && wc.src_qpn == requester_.attr.qpn,
          "receive completion is wrong", "status %u, %u bytes, expected %u", wc.status, wc.byte_len,
          chain_.bytes);
  require(flags & SROCE_OPF_IMM ? wc.flags == SROCE_WC_WITH_IMM && wc.imm == pkt.imm : !wc.flags,
          "immediate is wrong", "psn=%06x", pkt.psn);
}

// A message that has arrived completes the receive. One that is dropped leaves it to the next; that
// of a shared queue completes in error, unless a SEND is in progress (IBTA 9.9.3, classes D, E).
void UcSimulation::check_completion(const Arrived& arrived, const Outcome& expected, bool placed) {
  const sroce_packet& pkt = arrived.pkt;
  const bool succeeds = placed && ends_receive(pkt);
  const bool in_progress = placed && !is_last(pkt) && pkt.info->flags & SROCE_OPF_SEND;
  const bool ignored = expected.reason == SROCE_DROP_DUPLICATE;
  const bool may_fail = shared_ && taken_ && !succeeds && !in_progress && !ignored;
  sroce_completion wc;
  const bool completes = sroce_responder_next_completion(&responder_, &wc);
  if (succeeds) {
    require(completes && taken_ && wc.wr_id == taken_->wr_id, "receive does not complete",
            "psn=%06x", pkt.psn);
    check_received(wc, pkt);
  } else {
    require(!completes ||
                (may_fail && wc.status == SROCE_WC_REM_INV_REQ_ERR && wc.wr_id == taken_->wr_id),
            "receive completes needlessly", "psn=%06x, status %u", pkt.psn, wc.status);
    require(completes || !may_fail || !is_honest(), "shared receive is kept", "psn=%06x", pkt.psn);
  }
  if (is_honest() && placed && is_last(pkt)) check_content(*expected.work, pkt);
  if (!completes) return;
  if (log_.on()) log_.line(format("B: receive completes, status=%u", wc.status));
  totals_.completions++;
  free_.push_back(std::move(*taken_));
  taken_.reset();
}

void UcSimulation::check_responder() {
  sroce_response_plan response{};
  sroce_completion wc;
  require(responder_.state == SROCE_RQ_READY, "packet moves the QP to ERR", "state %u",
          responder_.state);
  require(!sroce_response_plan_next(&responder_, 1, &response), "UC responds", "psn=%06x",
          response.first_psn);
  require(sroce_reorder_deadline(&responder_) == SROCE_NEVER && !responder_.reorder.count &&
              !sroce_responder_waits_rwqe(&responder_),
          "UC queues a packet", "psn=%06x", responder_.epsn);
  require(!sroce_responder_next_completion(&responder_, &wc), "completion reported twice",
          "psn=%06x", responder_.epsn);
  require(responder_.has_recv_wqe == taken_.has_value(), "receive is lost", "psn=%06x",
          responder_.epsn);
}

void UcSimulation::handle_request(const Arrived& arrived) {
  const sroce_packet& pkt = arrived.pkt;
  post_receives();
  const bool shortage = !quiet_ && rng_.chance(scenario_.side[1].drop_received);
  Outcome expected;
  if (is_honest()) expected = expected_outcome(pkt);
  const bool wants = sroce_responder_wants_wqe(&responder_, &pkt);
  require(!(wants && taken_) && (!is_honest() || wants == expected.wants_receive),
          "receive fetched wrongly", "psn=%06x", pkt.psn);
  const bool fits = !wants || fetch_receive(pkt);
  const sroce_responder before = responder_;
  sroce_recv_plan plan, again;
  sroce_uc_plan(&responder_, &pkt, &plan);
  sroce_uc_plan(&responder_, &pkt, &again);
  require(same_plan(plan, again) && !std::memcmp(&before, &responder_, sizeof(before)),
          "dropped plan has an effect", "request psn=%06x", pkt.psn);
  require(plan.verdict == SROCE_RECV_DROP || (fits && plan.verdict == SROCE_RECV_PLACE),
          "UC plans no such thing", "verdict %u, psn=%06x", plan.verdict, pkt.psn);
  require(!wants || pkt.info->flags & SROCE_OPF_WRITE || plan.reason != SROCE_DROP_INVALID,
          "receive taken for an invalid packet", "psn=%06x", pkt.psn);
  if (!fits) sroce_responder_return_wqe(&responder_);
  if (log_.on() && plan.verdict == SROCE_RECV_DROP)
    log_.line(format("B: request psn=%06x dropped, reason %u", pkt.psn, plan.reason));

  if (shortage && plan.verdict == SROCE_RECV_PLACE) {
    sroce_uc_plan_loss(&plan);
    expected.reason = SROCE_DROP_NO_WQE;
  }
  sroce_recv_result result{};
  if (plan.verdict == SROCE_RECV_PLACE) result.status = place(plan, arrived.payload);
  const bool denied = result.status != SROCE_MEM_OK;
  const bool placed = plan.verdict == SROCE_RECV_PLACE && !denied;
  if (placed) note_placed(arrived, plan);
  if (is_honest()) {
    check_outcome(expected, plan, placed);
    advance(expected, pkt, placed);
  }
  require(sroce_uc_commit(&responder_, &pkt, &plan, &result) == !denied,
          "forbidden WRITE is not reported", "psn=%06x", pkt.psn);
  require((pkt.opcode & SROCE_SERVICE_MASK) == SROCE_SERVICE_UC ||
              !std::memcmp(&before, &responder_, sizeof(before)),
          "packet of another service has an effect", "psn=%06x", pkt.psn);
  check_completion(arrived, expected, placed);
  const bool establishes = placed && !std::exchange(established_, true);
  require(sroce_responder_take_event(&responder_) ==
              (establishes ? SROCE_EVENT_COMM_EST : SROCE_EVENT_NONE),
          "event is wrong", "psn=%06x", pkt.psn);
  check_responder();
}

}  // namespace sim
