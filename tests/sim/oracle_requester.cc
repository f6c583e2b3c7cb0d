// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Rules of the requester: requests and send completions.
#include <algorithm>

#include "sim/conversation.h"
#include "transport/psn.h"

namespace sim {
namespace {

u8 completion_opcode(const SendWork& work) {
  switch (work.opcode) {
    case SROCE_WR_WRITE:
    case SROCE_WR_WRITE_IMM:
      return SROCE_WC_WRITE;
    case SROCE_WR_READ:
      return SROCE_WC_READ;
    case SROCE_WR_COMPARE_SWAP:
      return SROCE_WC_COMPARE_SWAP;
    case SROCE_WR_FETCH_ADD:
      return SROCE_WC_FETCH_ADD;
    case SROCE_WR_FLUSH:
      return SROCE_WC_FLUSH;
    case SROCE_WR_ATOMIC_WRITE:
      return SROCE_WC_ATOMIC_WRITE;
    case SROCE_WR_LOCAL_INV:
      return SROCE_WC_LOCAL_INV;
    case SROCE_WR_REG_MR:
      return SROCE_WC_REG_MR;
    default:
      return SROCE_WC_SEND;
  }
}

}  // namespace

void Conversation::start(u32 first_psn, u32 dest_qpn) {
  dest_qpn_ = dest_qpn;
  post_psn_ = sent_psn_ = exec_psn_ = first_psn;
}

void Conversation::posted(u8 wqe_status) {
  SendWork& work = sends[posted_++];
  if (wqe_status != kSuccess) {
    require(work.expected != kSuccess && work.fails_locally, "valid request rejected",
            "wr %llx: status %u", (unsigned long long)work.wr_id, wqe_status);
    work.expected = wqe_status;
  }
  work.first_psn = post_psn_;
  work.psn_count = 1;
  if (work.is_local() || wqe_status != kSuccess)
    work.psn_count = 0;
  else if (!work.is_atomic() && work.length)
    work.psn_count = (work.length + mtu_ - 1) / mtu_;
  post_psn_ = psn_add(post_psn_, work.psn_count);
}

SendWork* Conversation::work_at(u32 psn) {
  // Posted requests are in PSN order; distances count from the first.
  u32 low = 0, high = posted_;
  const u32 base = sends.empty() ? 0 : sends[0].first_psn;
  const u32 target = (psn - base) & SROCE_PSN_MASK;
  while (low < high) {
    const u32 middle = (low + high) / 2;
    const SendWork& work = sends[middle];
    if (((work.first_psn - base) & SROCE_PSN_MASK) + work.psn_count <= target)
      low = middle + 1;
    else
      high = middle;
  }
  return low < posted_ ? &sends[low] : nullptr;
}

u32 Conversation::payload_of(const SendWork& work, u32 number) const {
  return std::min(mtu_, work.length - number * mtu_);
}

u8 Conversation::request_opcode(const SendWork& work, u32 number) const {
  const bool first = number == 0, last = number + 1 == work.psn_count;
  switch (work.opcode) {
    case SROCE_WR_READ:
      return SROCE_OP_READ_REQUEST;
    case SROCE_WR_COMPARE_SWAP:
      return SROCE_OP_COMPARE_SWAP;
    case SROCE_WR_FETCH_ADD:
      return SROCE_OP_FETCH_ADD;
    case SROCE_WR_FLUSH:
      return SROCE_OP_FLUSH;
    case SROCE_WR_ATOMIC_WRITE:
      return SROCE_OP_ATOMIC_WRITE;
    case SROCE_WR_WRITE:
    case SROCE_WR_WRITE_IMM:
      if (!last) return first ? SROCE_OP_WRITE_FIRST : SROCE_OP_WRITE_MIDDLE;
      if (work.opcode == SROCE_WR_WRITE_IMM)
        return first ? SROCE_OP_WRITE_ONLY_IMM : SROCE_OP_WRITE_LAST_IMM;
      return first ? SROCE_OP_WRITE_ONLY : SROCE_OP_WRITE_LAST;
    default:
      if (!last) return first ? SROCE_OP_SEND_FIRST : SROCE_OP_SEND_MIDDLE;
      if (work.opcode == SROCE_WR_SEND_IMM)
        return first ? SROCE_OP_SEND_ONLY_IMM : SROCE_OP_SEND_LAST_IMM;
      if (work.opcode == SROCE_WR_SEND_INV)
        return first ? SROCE_OP_SEND_ONLY_INV : SROCE_OP_SEND_LAST_INV;
      return first ? SROCE_OP_SEND_ONLY : SROCE_OP_SEND_LAST;
  }
}

// Once a READ has been executed, its missing packets may be requested again.
bool Conversation::fills_hole(const SendWork& work, u32 number, const sroce_packet& pkt) const {
  return (both_selective_ || may_seem_selective_ || (side_.selective && !strict_)) &&
         work.is_read() && (work.executed || !strict_) && pkt.dma_length &&
         pkt.dma_length % mtu_ == 0 && number * mtu_ + pkt.dma_length < work.length;
}

void Conversation::check_request_headers(const SendWork& work, u32 number,
                                         const sroce_packet& pkt) const {
  const char* rule = "request headers are wrong";
  const u32 flags = pkt.info->flags;
  const bool last = number + 1 == work.psn_count;
  const u32 skipped = work.is_read() ? number * mtu_ : 0;
  const u8 opcode = scenario_.service() | request_opcode(work, number);
  require(pkt.opcode == opcode, rule, "psn=%06x has opcode %s, expected %s", pkt.psn,
          opcode_name(pkt.opcode).c_str(), opcode_name(opcode).c_str());
  require(pkt.srqn == scenario_.srqn_of(work.wr_id), rule, "psn=%06x XRCETH", pkt.psn);
  require(pkt.dest_qpn == dest_qpn_ && pkt.pkey == SROCE_PKEY_DEFAULT && pkt.migreq, rule,
          "psn=%06x dest_qpn, pkey or migreq", pkt.psn);
  if (flags & SROCE_OPF_FLUSH)
    require(pkt.va == work.remote_addr && pkt.rkey == work.rkey &&
                pkt.dma_length == work.flush_bytes && pkt.placement == work.placement &&
                pkt.level == work.level,
            rule, "psn=%06x FETH or RETH", pkt.psn);
  else if (flags & SROCE_OPF_RETH)
    require(pkt.va == work.remote_addr + skipped && pkt.rkey == work.rkey &&
                (pkt.dma_length == work.length - skipped || fills_hole(work, number, pkt)),
            rule, "psn=%06x RETH", pkt.psn);
  if (flags & SROCE_OPF_ATOMIC_ETH) {
    const bool swaps = work.opcode == SROCE_WR_COMPARE_SWAP;
    require(pkt.va == work.remote_addr && pkt.rkey == work.rkey &&
                pkt.swap_add == (swaps ? work.swap : work.compare_add) &&
                (!swaps || pkt.compare == work.compare_add),
            rule, "psn=%06x AtomicETH", pkt.psn);
  }
  if (flags & SROCE_OPF_IMM) require(pkt.imm == work.imm, rule, "psn=%06x immediate", pkt.psn);
  if (flags & SROCE_OPF_IETH)
    require(pkt.inv_rkey == work.inv_rkey, rule, "psn=%06x IETH", pkt.psn);
  const bool solicits = last && (work.flags & SROCE_SEND_SOLICITED) && work.consumes_receive();
  require(pkt.solicited == solicits, rule, "psn=%06x solicited", pkt.psn);
}

void Conversation::check_may_begin(const SendWork& work, u32 index, bool draining) const {
  require(!draining, "message begun in SQD", "psn=%06x of wr %llx", work.first_psn,
          (unsigned long long)work.wr_id);
  const bool fenced = work.flags & SROCE_SEND_FENCE;
  u32 outstanding = work.is_rd_atomic();
  for (u32 i = rd_oldest_; i < index; i++) {
    const SendWork& earlier = sends[i];
    if (!earlier.is_rd_atomic() || earlier.is_responded()) continue;
    outstanding++;
    require(!fenced, "fence ignored", "psn=%06x begins while wr %llx is incomplete", work.first_psn,
            (unsigned long long)earlier.wr_id);
  }
  if (work.is_rd_atomic())
    require(outstanding <= side_.max_rd_atomic, "max_rd_atomic exceeded",
            "%u outstanding, limit %u", outstanding, side_.max_rd_atomic);
}

void Conversation::request_sent(const sroce_send_plan& plan, const sroce_packet& pkt,
                                std::span<const u8> payload, bool draining, u64 now_ns) {
  require(plan.index < posted_, "plan for an unposted request", "index %u", plan.index);
  SendWork& work = sends[plan.index];
  const u32 number = (pkt.psn - work.first_psn) & SROCE_PSN_MASK;
  require(number < work.psn_count, "packet outside its message", "psn=%06x index %u", pkt.psn,
          plan.index);
  check_request_headers(work, number, pkt);
  require(now_ns >= rnr_until_ns_, "sent during an RNR wait", "psn=%06x", pkt.psn);
  if (!work.is_rd_atomic() || work.is_atomic_write()) {
    require(payload.size() == payload_of(work, number), "payload length is wrong",
            "psn=%06x carries %zu bytes", pkt.psn, payload.size());
    require(
        !strict_ || std::equal(payload.begin(), payload.end(), work.data.begin() + number * mtu_),
        "sent payload is wrong", "psn=%06x of wr %llx", pkt.psn, (unsigned long long)work.wr_id);
  }
  if (pkt.psn != sent_psn_) {
    totals_.retransmits++;
    // A request to a standard peer covers everything after the missing packet.
    const u32 end =
        number * mtu_ +
        (both_selective_ && pkt.selective ? pkt.dma_length : std::min(pkt.dma_length, 1u));
    for (u32 at = number * mtu_; strict_ && plan.fills_hole && at < end; at += mtu_)
      require(!work.is_read() || !work.placed.contains(at),
              "response requested again after it arrived", "psn=%06x offset %u", pkt.psn, at);
    require(psn_before(pkt.psn, sent_psn_), "PSN skipped", "psn=%06x sent, %06x never was", pkt.psn,
            sent_psn_);
    require(!no_repeats_, "retransmission on a clean path", "psn=%06x", pkt.psn);
    return;
  }
  if (number == 0) check_may_begin(work, plan.index, draining);
  work.begun = true;
  sent_psn_ = psn_add(sent_psn_, work.is_rd_atomic() ? work.psn_count : 1);
}

void Conversation::local_executed(u32 index) {
  require(index < posted_, "plan for an unposted request", "index %u", index);
  SendWork& work = sends[index];
  require(work.is_local() && !work.executed, "local operation executed twice", "wr %llx",
          (unsigned long long)work.wr_id);
  for (u32 i = rd_oldest_; i < index; i++)
    require(!(work.flags & SROCE_SEND_FENCE) || !sends[i].is_rd_atomic() || sends[i].is_responded(),
            "fence ignored", "local wr %llx", (unsigned long long)work.wr_id);
  work.executed = true;
}

void Conversation::response_placed(const sroce_ack_plan& plan, std::span<const u8> data) {
  require(plan.index < posted_, "placed for an unposted request", "index %u", plan.index);
  SendWork& work = sends[plan.index];
  require(work.is_rd_atomic() && plan.place_offset + data.size() <= work.length,
          "placed outside the request", "offset %u + %zu of wr %llx", plan.place_offset,
          data.size(), (unsigned long long)work.wr_id);
  local_.expect_scattered(work.sge.data(), static_cast<u32>(work.sge.size()), plan.place_offset,
                          data);
  const bool again = !work.placed.insert(plan.place_offset).second;
  if (strict_) {
    require(!again, "response placed twice", "offset %u of wr %llx", plan.place_offset,
            (unsigned long long)work.wr_id);
    require(std::equal(data.begin(), data.end(), work.data.begin() + plan.place_offset),
            "response data is wrong", "offset %u of wr %llx", plan.place_offset,
            (unsigned long long)work.wr_id);
  }
  if (!again) work.local_bytes += static_cast<u32>(data.size());
  while (rd_oldest_ < posted_ &&
         (!sends[rd_oldest_].is_rd_atomic() || sends[rd_oldest_].is_responded()))
    rd_oldest_++;
}

void Conversation::progressed(bool executed) {
  totals_.progress++;
  retries_ = rnr_retries_ = 0;
  // A response to an earlier request does not end the wait.
  if (executed) rnr_until_ns_ = 0;
}

void Conversation::retried() {
  retries_++;
  require(retries_ <= side_.retry_cnt + 1u, "retry_cnt exceeded", "%u attempts without progress",
          retries_);
  require(!no_repeats_, "timeout or NAK on a clean path", "retry %u", retries_);
}

void Conversation::rnr_waited(u64 until_ns, bool selective) {
  rnr_retries_++;
  if (!selective) retries_ = 0;
  rnr_until_ns_ = until_ns;
  require(side_.rnr_retry == SROCE_RNR_RETRY_INFINITE || rnr_retries_ <= side_.rnr_retry + 1u,
          "rnr_retry exceeded", "%u RNR NAKs without progress", rnr_retries_);
}

void Conversation::fatal_nak_received(u32 psn) {
  if (SendWork* work = work_at(psn)) work->nak_received = true;
}

// The last NAK for a request behind an open READ. It fails when the READ has completed. The NAK is
// not one of the retries, because those of the READ go on.
void Conversation::retries_exhausted(u32 psn, u8 status) {
  SendWork* work = work_at(psn);
  if (!work || work->exhausted) return;
  check_exhausted(status, 0);
  work->exhausted = status;
}

// @last: 1 if the NAK or the timeout that ends the retries has been counted, else 0.
void Conversation::check_exhausted(u8 status, u32 last) const {
  if (status == SROCE_WC_RETRY_EXC_ERR)
    require(retries_ == side_.retry_cnt + last, "gave up at the wrong time",
            "after %u of %u retries", retries_, side_.retry_cnt);
  else
    require(side_.rnr_retry != SROCE_RNR_RETRY_INFINITE && rnr_retries_ == side_.rnr_retry + last,
            "gave up at the wrong time", "after %u of %u RNR retries", rnr_retries_,
            side_.rnr_retry);
}

void Conversation::check_succeeded(const SendWork& work) const {
  if (!strict_) return;
  require(work.expected == kSuccess, "invalid request succeeded", "wr %llx",
          (unsigned long long)work.wr_id);
  require(work.executed, "completed before it was executed", "wr %llx psn=%06x",
          (unsigned long long)work.wr_id, work.first_psn);
  if (work.is_rd_atomic())
    require(work.is_responded(), "completed before its data arrived", "wr %llx has %u of %u bytes",
            (unsigned long long)work.wr_id, work.local_bytes, work.length);
}

void Conversation::check_failure(const SendWork& work, u8 status) {
  if (failed_) {
    require(status == SROCE_WC_WR_FLUSH_ERR, "second failure instead of flush", "status %u",
            status);
    return;
  }
  failed_ = true;
  if (!strict_ || (work.expected != kSuccess && status == work.expected)) return;
  if (work.exhausted && status == work.exhausted) return;
  switch (status) {
    case SROCE_WC_WR_FLUSH_ERR:
      require(stopped_, "flushed without an error", "wr %llx", (unsigned long long)work.wr_id);
      return;
    case SROCE_WC_RETRY_EXC_ERR:
      require(!work.nak_received, "fatal NAK forgotten", "wr %llx", (unsigned long long)work.wr_id);
      check_exhausted(status, 1);
      return;
    case SROCE_WC_RNR_RETRY_EXC_ERR:
      check_exhausted(status, 1);
      return;
    default:
      require(false, "wrong completion status", "wr %llx: status %u, expected %u",
              (unsigned long long)work.wr_id, status, work.expected);
  }
}

void Conversation::send_completed(const sroce_completion& wc) {
  totals_.completions++;
  for (;; completed_++) {
    require(completed_ < posted_, "unexpected completion", "wr_id %llx",
            (unsigned long long)wc.wr_id);
    const SendWork& work = sends[completed_];
    if (work.wr_id == wc.wr_id) break;
    require(!failed_ && !(work.flags & SROCE_SEND_SIGNALED), "completion missing or out of order",
            "wr_id %llx, expected %llx", (unsigned long long)wc.wr_id,
            (unsigned long long)work.wr_id);
    check_succeeded(work);
  }
  const SendWork& work = sends[completed_++];
  if (wc.status != kSuccess) {
    check_failure(work, wc.status);
    return;
  }
  require(!failed_, "success after a failure", "wr_id %llx", (unsigned long long)wc.wr_id);
  require(work.flags & SROCE_SEND_SIGNALED, "completion of an unsignaled request", "wr_id %llx",
          (unsigned long long)wc.wr_id);
  check_succeeded(work);
  require(wc.opcode == completion_opcode(work), "completion opcode is wrong", "wr_id %llx: %u",
          (unsigned long long)wc.wr_id, wc.opcode);
  if (work.is_rd_atomic())
    require(wc.byte_len == work.length, "completion byte_len is wrong",
            "wr_id %llx: %u, expected %u", (unsigned long long)wc.wr_id, wc.byte_len, work.length);
}

// Only unsignaled requests that succeeded may end without a completion.
void Conversation::check_all_completed() const {
  for (u32 i = completed_; i < posted_; i++) {
    require(!failed_ && !(sends[i].flags & SROCE_SEND_SIGNALED), "completion missing at the end",
            "wr_id %llx", (unsigned long long)sends[i].wr_id);
    check_succeeded(sends[i]);
  }
}

}  // namespace sim
