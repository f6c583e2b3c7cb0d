// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Rules of the responder: executed requests, responses and receive completions.
#include <algorithm>

#include "sim/conversation.h"
#include "transport/psn.h"

namespace sim {
namespace {

u8 nak_status(u8 syndrome) {
  switch (syndrome) {
    case SROCE_NAK_INVALID_REQUEST:
      return SROCE_WC_REM_INV_REQ_ERR;
    case SROCE_NAK_REMOTE_ACCESS:
      return SROCE_WC_REM_ACCESS_ERR;
    case SROCE_NAK_REMOTE_OPERATION:
      return SROCE_WC_REM_OP_ERR;
    default:
      return SROCE_WC_GENERAL_ERR;
  }
}

}  // namespace

// Returns the message of the next request packet.
SendWork* Conversation::current() {
  while (exec_index_ < posted_ && (sends[exec_index_].executed || !sends[exec_index_].psn_count))
    exec_index_++;
  return exec_index_ < posted_ ? &sends[exec_index_] : nullptr;
}

void Conversation::payload_placed(const sroce_recv_plan& plan, std::span<const u8> data) {
  const bool to_receive = plan.target == SROCE_TARGET_RECV;
  if (strict_) {
    const SendWork* work = current();
    require(work && (to_receive ? work->is_send() : work->is_write()),
            "placed for an unexpected request", "%zu bytes", data.size());
    const u32 offset = work->remote_bytes;
    require(work->expected != SROCE_WC_REM_ACCESS_ERR || to_receive, "part of a bad message placed",
            "wr %llx", (unsigned long long)work->wr_id);
    require(offset + data.size() <= work->length, "placed outside the message",
            "offset %u + %zu of %u bytes", offset, data.size(), work->length);
    if (to_receive)
      require(plan.offset == offset, "placed at the wrong offset", "%u, expected %u", plan.offset,
              offset);
    else
      require(plan.rkey == work->rkey && plan.va == work->remote_addr + offset,
              "placed at the wrong address", "wr %llx: offset %lld, expected %u",
              (unsigned long long)work->wr_id, (long long)(plan.va - work->remote_addr), offset);
    require(std::equal(data.begin(), data.end(), work->data.begin() + offset),
            "placed payload is wrong", "wr %llx offset %u", (unsigned long long)work->wr_id,
            offset);
  }
  if (SendWork* work = current()) work->remote_bytes += static_cast<u32>(data.size());
  if (!to_receive) {
    remote_.expect(plan.rkey, plan.va, data);
    return;
  }
  require(fetched_ > 0, "placed without a receive", "%zu bytes", data.size());
  RecvWork& recv = recvs[fetched_ - 1];
  require(fetched_ == received_ + 1, "placed into a completed receive", "wr %llx",
          (unsigned long long)recv.wr_id);
  require(u64{plan.offset} + data.size() <= recv.length, "placed outside the receive",
          "offset %u + %zu of %u", plan.offset, data.size(), recv.length);
  remote_.expect_scattered(recv.sge.data(), static_cast<u32>(recv.sge.size()), plan.offset, data);
}

void Conversation::atomic_executed(const sroce_recv_plan& plan, u64 original, u64 result) {
  if (strict_) {
    const SendWork* work = current();
    require(work && work->is_atomic(), "atomic executed out of order or twice", "rkey %x",
            plan.rkey);
    u64 expected;
    std::memcpy(&expected, work->data.data(), sizeof(expected));
    require(plan.va == work->remote_addr && original == expected && result == work->atomic_result,
            "atomic executed wrongly", "wr %llx: %llx -> %llx", (unsigned long long)work->wr_id,
            (unsigned long long)original, (unsigned long long)result);
  }
  remote_.expect(plan.rkey, plan.va, {reinterpret_cast<const u8*>(&result), sizeof(result)});
}

void Conversation::atomic_write_executed(const sroce_recv_plan& plan, std::span<const u8> data) {
  if (strict_) {
    const SendWork* work = current();
    require(work && work->is_atomic_write(), "ATOMIC WRITE executed out of order or twice",
            "rkey %x", plan.rkey);
    require(plan.va == work->remote_addr && plan.rkey == work->rkey &&
                std::equal(data.begin(), data.end(), work->data.begin(), work->data.end()),
            "ATOMIC WRITE executed wrongly", "wr %llx", (unsigned long long)work->wr_id);
  }
  remote_.expect(plan.rkey, plan.va, data);
}

void Conversation::flush_executed(const sroce_recv_plan& plan) {
  if (!strict_) return;
  const SendWork* work = current();
  require(work && work->opcode == SROCE_WR_FLUSH, "FLUSH executed out of order or twice", "rkey %x",
          plan.rkey);
  const u32 bytes = work->range_bytes();
  require(plan.va == work->remote_addr && plan.rkey == work->rkey && plan.check_bytes == bytes &&
              plan.access == u32{work->placement} << 8,
          "FLUSH executed wrongly", "wr %llx: %u bytes, access %x", (unsigned long long)work->wr_id,
          plan.check_bytes, plan.access);
}

void Conversation::finish_current(SendWork& work) {
  const u32 placed = work.is_rd_atomic() ? work.length : work.remote_bytes;
  require(work.expected == kSuccess || work.fails_locally, "invalid request executed", "wr %llx",
          (unsigned long long)work.wr_id);
  require(placed == work.length, "incomplete message executed", "wr %llx: %u of %u",
          (unsigned long long)work.wr_id, placed, work.length);
  work.executed = true;
  work.msn = ++executed_ & SROCE_PSN_MASK;
}

void Conversation::request_accepted(const sroce_packet& pkt) {
  gap_reported_ = false;
  totals_.progress++;
  if (!strict_) return;
  SendWork* work = current();
  require(work, "unposted request executed", "psn=%06x", pkt.psn);
  require(pkt.psn == exec_psn_, "request executed out of order or twice", "psn=%06x, expected %06x",
          pkt.psn, exec_psn_);
  const u32 count = work->is_rd_atomic() ? work->psn_count : 1;
  exec_psn_ = psn_add(exec_psn_, count);
  if (exec_psn_ == psn_add(work->first_psn, work->psn_count)) finish_current(*work);
}

// Counts the responses that a READ, or the replay of a part of it, may have.
void Conversation::responses_requested(const sroce_packet& pkt) {
  SendWork* work = strict_ ? work_at(pkt.psn) : nullptr;
  if (work && work->is_read())
    work->responses_due += std::max(1u, (pkt.dma_length + mtu_ - 1) / mtu_);
}

// First responses leave in order, and nothing overtakes the response of a READ or an atomic.
void Conversation::check_responses_before(const SendWork& work) const {
  for (u32 i = response_index_; i < posted_ && &sends[i] < &work; i++)
    require(!sends[i].is_rd_atomic() || sends[i].responded == sends[i].psn_count,
            "response order violated", "psn=%06x before psn=%06x", work.first_psn,
            psn_add(sends[i].first_psn, sends[i].responded));
}

void Conversation::check_nak(u8 syndrome) const {
  const Conversation& self = *this;
  const SendWork* work = const_cast<Conversation&>(self).current();
  require(work && !work->fails_locally && work->expected == nak_status(syndrome),
          "NAK without cause", "%s for wr %llx", syndrome_name(syndrome).c_str(),
          (unsigned long long)(work ? work->wr_id : 0));
}

// Returns whether a duplicate of this READ may get a NAK. The requester has the response already,
// so the application may have invalidated the region.
bool Conversation::may_nak_duplicate(u32 psn) {
  const SendWork* work = work_at(psn);
  if (!strict_ || failed_ || !work || !work->is_read() || work >= sends.data() + completed_)
    return false;
  dup_naks_.insert(psn);
  return true;
}

void Conversation::check_acknowledge(const sroce_packet& pkt) {
  const u8 kind = pkt.syndrome & SROCE_AETH_KIND_MASK;
  if (kind == SROCE_AETH_ACK) {
    require(psn_before(pkt.psn, exec_psn_), "ACK before execution", "psn=%06x", pkt.psn);
    // A selective ACK reports arrived requests, not responses.
    if (pkt.info->flags & SROCE_OPF_SACK) return;
    SendWork* work = work_at(pkt.psn);
    if (!work || psn_before(pkt.psn, sends[0].first_psn)) return;  // before the first request
    check_responses_before(*work);
    require(!work->is_rd_atomic() || work->responded == work->psn_count, "response order violated",
            "psn=%06x is acknowledged before its response", pkt.psn);
    return;
  }
  totals_.naks++;
  require(!no_repeats_, "NAK on a clean path", "%s", syndrome_name(pkt.syndrome).c_str());
  if (pkt.syndrome == SROCE_NAK_REMOTE_ACCESS && dup_naks_.erase(pkt.psn)) return;
  require(pkt.psn == exec_psn_, "NAK for the wrong PSN", "psn=%06x, expected %06x", pkt.psn,
          exec_psn_);
  if (SendWork* work = current()) check_responses_before(*work);
  if (kind == SROCE_AETH_RNR_NAK) return;  // the host checks that there was no receive
  if (pkt.syndrome != SROCE_NAK_PSN_SEQUENCE) {
    check_nak(pkt.syndrome);
    return;
  }
  require(!gap_reported_ || gap_psn_ != pkt.psn || peer_queues_, "gap reported twice", "psn=%06x",
          pkt.psn);
  gap_reported_ = true;
  gap_psn_ = pkt.psn;
}

void Conversation::check_read_response(SendWork& work, const sroce_packet& pkt,
                                       std::span<const u8> payload) {
  const u32 number = (pkt.psn - work.first_psn) & SROCE_PSN_MASK;
  const bool last = number + 1 == work.psn_count;
  const u32 flags = pkt.info->flags;
  require(work.is_read() && work.executed, "unrequested READ response", "psn=%06x", pkt.psn);
  require(number <= work.responded, "hole in READ responses", "psn=%06x, expected %06x", pkt.psn,
          psn_add(work.first_psn, work.responded));
  // A replay that fills a hole begins and ends with the hole.
  const bool again = number < work.responded;
  require(again || last == !!(flags & SROCE_OPF_LAST), "READ response opcode is wrong",
          "psn=%06x %s", pkt.psn, opcode_name(pkt.opcode).c_str());
  require(number || (flags & SROCE_OPF_FIRST), "READ response opcode is wrong", "psn=%06x %s",
          pkt.psn, opcode_name(pkt.opcode).c_str());
  require(payload.size() == payload_of(work, number) &&
              std::equal(payload.begin(), payload.end(), work.data.begin() + number * mtu_),
          "READ response data is wrong", "psn=%06x", pkt.psn);
  check_responses_before(work);
  work.responses_sent++;
  require(work.responses_sent <= work.responses_due, "more READ responses than requested",
          "psn=%06x: %llu of %llu", pkt.psn, (unsigned long long)work.responses_sent,
          (unsigned long long)work.responses_due);
  work.responded = std::max(work.responded, number + 1);
}

void Conversation::check_empty_response(SendWork& work, const sroce_packet& pkt) const {
  require(work.executed && pkt.opcode == SROCE_OP_READ_RESPONSE_ONLY && !pkt.payload_bytes,
          "response of FLUSH or ATOMIC WRITE is wrong", "psn=%06x %s, %u bytes", pkt.psn,
          opcode_name(pkt.opcode).c_str(), pkt.payload_bytes);
  check_responses_before(work);
  work.responded = 1;
}

void Conversation::response_sent(const sroce_packet& pkt, std::span<const u8> payload) {
  if (!strict_) return;
  const u32 flags = pkt.info->flags;
  if (!(flags & (SROCE_OPF_READ | SROCE_OPF_ATOMIC))) {
    require(!(flags & SROCE_OPF_AETH) || pkt.msn == (executed_ & SROCE_PSN_MASK), "MSN is wrong",
            "%u, expected %u", pkt.msn, executed_);
    check_acknowledge(pkt);
    return;
  }
  SendWork* work = work_at(pkt.psn);
  require(work && psn_before(pkt.psn, exec_psn_), "response before execution", "psn=%06x", pkt.psn);
  require(!(flags & SROCE_OPF_AETH) || pkt.msn == work->msn, "MSN of a response is wrong",
          "%u, expected %u", pkt.msn, work->msn);
  if (work->is_placement()) {
    check_empty_response(*work, pkt);
  } else if (flags & SROCE_OPF_READ) {
    check_read_response(*work, pkt, payload);
  } else {
    u64 expected = 0;
    require(work->is_atomic() && work->executed, "unrequested atomic response", "psn=%06x",
            pkt.psn);
    std::memcpy(&expected, work->data.data(), sizeof(expected));
    require(pkt.atomic_original == expected, "atomic response is wrong", "psn=%06x", pkt.psn);
    check_responses_before(*work);
    work->responded = 1;
  }
  while (response_index_ < posted_ &&
         (!sends[response_index_].is_rd_atomic() ||
          sends[response_index_].responded == sends[response_index_].psn_count))
    response_index_++;
}

void Conversation::receive_fetched() {
  require(fetched_ == received_, "receive fetched while another is in use", "%u", fetched_);
  recvs[fetched_++].fetched = true;
}

void Conversation::receive_completed(const sroce_completion& wc) {
  totals_.completions++;
  require(received_ < recvs.size(), "unexpected completion", "wr_id %llx",
          (unsigned long long)wc.wr_id);
  const RecvWork& recv = recvs[received_++];
  require(wc.wr_id == recv.wr_id, "receive completion out of order", "wr_id %llx, expected %llx",
          (unsigned long long)wc.wr_id, (unsigned long long)recv.wr_id);
  if (wc.status == SROCE_WC_WR_FLUSH_ERR) {
    require(responder_stopped_, "receive flushed without an error", "wr_id %llx",
            (unsigned long long)wc.wr_id);
    return;
  }
  if (wc.status == kSuccess)
    require(wc.byte_len <= recv.length || wc.opcode == SROCE_WC_RECV_WRITE_IMM,
            "receive completion byte_len is wrong", "%u of %u", wc.byte_len, recv.length);
  if (!strict_) return;
  require(wc.status == recv.expected, "receive completion status is wrong",
          "wr_id %llx: %u, expected %u", (unsigned long long)wc.wr_id, wc.status, recv.expected);
  if (wc.status != kSuccess) return;
  require(recv.send_index >= 0, "receive completed without a message", "wr_id %llx",
          (unsigned long long)wc.wr_id);
  const SendWork& work = sends[recv.send_index];
  const char* rule = "receive completion is wrong";
  require(work.executed, rule, "wr_id %llx: before its message", (unsigned long long)wc.wr_id);
  require(wc.byte_len == work.length, rule, "byte_len %u, expected %u", wc.byte_len, work.length);
  require(wc.opcode == (work.is_send() ? SROCE_WC_RECV : SROCE_WC_RECV_WRITE_IMM), rule,
          "opcode %u", wc.opcode);
  const bool has_imm = work.opcode == SROCE_WR_SEND_IMM || work.opcode == SROCE_WR_WRITE_IMM;
  const bool has_inv = work.opcode == SROCE_WR_SEND_INV;
  require(wc.flags == (has_imm   ? SROCE_WC_WITH_IMM
                       : has_inv ? SROCE_WC_WITH_INVALIDATE
                                 : 0),
          rule, "flags %x", wc.flags);
  if (has_imm) require(wc.imm == work.imm, rule, "immediate %x", wc.imm);
  if (has_inv) require(wc.invalidate_rkey == work.inv_rkey, rule, "key %x", wc.invalidate_rkey);
  require(wc.solicited == !!(work.flags & SROCE_SEND_SOLICITED), rule, "solicited %d",
          wc.solicited);
}

bool Conversation::all_executed() const {
  return std::all_of(sends.begin(), sends.end(),
                     [](const SendWork& work) { return work.executed; });
}

}  // namespace sim
