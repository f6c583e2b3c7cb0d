// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// UC: the workload, and the requester with its rules.
#include "sim/uc.h"

#include <algorithm>
#include <cstring>

#include "sim/plan_compare.h"
#include "transport/psn.h"

namespace sim {
namespace {

constexpr u32 kQuietMessages = 6;  // sent when there are no more faults
constexpr u32 kReceives = 6;
constexpr u32 kMaxReceiveSge = 4;
constexpr u32 kMaxPackets = 8;
constexpr u32 kMaxRounds = 20'000;
constexpr u32 kQpn[2] = {0x11, 0x12};

u64 words(size_t bytes) { return (bytes + 7) / 8; }

}  // namespace

UcSimulation::UcSimulation(u64 seed, Style style, Log::Mode log_mode)
    : rng_(seed),
      scenario_(make_scenario(rng_, style)),
      log_(log_mode),
      network_(rng_, scenario_, log_, totals_),
      shared_(rng_.chance(0.4)),
      all_large_(scenario_.clean || rng_.chance(0.7)) {}

void UcSimulation::run() {
  plan_work();
  start();
  run_until_idle(first_quiet_);
  network_.stop_faults();
  quiet_ = true;
  current_ = nullptr;
  run_until_idle(messages_.size());
  check_all_arrived();
  for (const Memory& memory : memory_) memory.verify();
}

SendWork UcSimulation::make_message() {
  static constexpr u8 kOpcodes[] = {SROCE_WR_SEND, SROCE_WR_SEND_IMM, SROCE_WR_WRITE,
                                    SROCE_WR_WRITE_IMM};
  const Side& side = scenario_.side[0];
  const u32 mtu = scenario_.mtu_bytes;
  const u64 lengths[] = {0, rng_.between(1, 16), rng_.below(mtu),
                         rng_.between(1, kMaxPackets) * mtu + rng_.below(3) - 1,
                         rng_.between(1, kMaxPackets) * mtu + rng_.below(3) - 1};
  SendWork work;
  work.wr_id = rng_.next();
  work.opcode = rng_.pick(kOpcodes);
  work.length = static_cast<u32>(rng_.pick(lengths));
  work.psn_count = std::max(1u, (work.length + mtu - 1) / mtu);
  work.imm = static_cast<u32>(rng_.next());
  if (rng_.chance(0.6)) work.flags |= SROCE_SEND_SIGNALED;
  if (rng_.chance(0.2)) work.flags |= SROCE_SEND_SOLICITED;
  if (work.length <= side.max_inline && rng_.chance(0.3)) {
    work.flags |= SROCE_SEND_INLINE;
    work.inline_data.resize(work.length);
    rng_.fill(work.inline_data);
  } else {
    work.sge = make_list(rng_, memory_[0], *regions_[0].source, work.length, side.max_sge);
  }
  if (work.is_write()) {
    work.remote_addr = memory_[1].carve(rng_, *regions_[1].window, work.length);
    work.rkey = regions_[1].window->key;
  }
  return work;
}

// A buffer of the message has a bad key, or its WRITE is not permitted.
void UcSimulation::add_flaw(SendWork& work) {
  const Region& window = *regions_[1].window;
  if (!work.length || !rng_.chance(0.1)) return;
  if (work.sge.size() && rng_.chance(0.2)) {
    work.sge[rng_.below(work.sge.size())].lkey = unknown_key(rng_, memory_[0]);
    work.expected = SROCE_WC_LOC_PROT_ERR;
    return;
  }
  if (!work.is_write()) return;
  work.expected = SROCE_WC_REM_ACCESS_ERR;
  switch (rng_.below(3)) {
    case 0:
      work.rkey = unknown_key(rng_, memory_[1]);
      break;
    case 1:
      work.rkey = regions_[1].target->key;
      work.remote_addr = regions_[1].target->iova;
      break;
    default:  // its last byte is outside
      work.remote_addr = window.iova + window.length + 1 - work.length;
  }
}

RecvWork UcSimulation::make_receive() {
  RecvWork recv;
  const u32 longest = kMaxPackets * scenario_.mtu_bytes + 1;
  recv.length = all_large_ || rng_.chance(0.6) ? longest : static_cast<u32>(rng_.below(longest));
  recv.sge = make_list(rng_, memory_[1], *regions_[1].target, recv.length, kMaxReceiveSge);
  return recv;
}

void UcSimulation::plan_work() {
  for (int i = 0; i < 2; i++) regions_[i] = make_regions(rng_, scenario_, memory_[i]);
  first_quiet_ = scenario_.messages;
  for (size_t i = 0; i < first_quiet_ + kQuietMessages; i++) messages_.push_back(make_message());
  for (u32 i = 0; i < kReceives; i++) free_.push_back(make_receive());
  for (Memory& memory : memory_) memory.seal(rng_);
  for (SendWork& work : messages_) {
    work.data = work.inline_data;
    work.data.resize(work.length);
    if (!(work.flags & SROCE_SEND_INLINE))
      memory_[0].gather(work.sge.data(), static_cast<u32>(work.sge.size()), 0, work.data);
    if (scenario_.flaw > 0) add_flaw(work);
  }
}

void UcSimulation::start() {
  const Side &ours = scenario_.side[0], &theirs = scenario_.side[1];
  const size_t list_bytes = std::max<size_t>(ours.max_sge * sizeof(sroce_sge), ours.max_inline);
  stride_ = static_cast<u32>(words(sizeof(sroce_send_wqe) + list_bytes) * 8);
  ring_ = std::make_unique<u64[]>(words(size_t{stride_} * ours.slots));
  recv_wqe_ =
      std::make_unique<u64[]>(words(sizeof(sroce_recv_wqe) + kMaxReceiveSge * sizeof(sroce_sge)));
  start_psn_ = post_psn_ = ours.start_psn;

  sroce_requester_init(&requester_, SROCE_SERVICE_UC, ring_.get(), stride_, ours.slots);
  requester_.attr.qpn = kQpn[0];
  requester_.attr.dest_qpn = kQpn[1];
  requester_.attr.pkey = SROCE_PKEY_DEFAULT;
  requester_.attr.mtu_bytes = scenario_.mtu_bytes;
  requester_.attr.window_packets = ours.window_packets;
  requester_.attr.retry_cnt = ours.retry_cnt;
  requester_.attr.ack_timeout_ns = sroce_ack_timeout_ns(ours.timeout_exponent);
  requester_.attr.adaptive = ours.adaptive;
  requester_.attr.selective = ours.selective;
  sroce_requester_start_psn(&requester_, start_psn_);
  sroce_requester_set_state(&requester_, SROCE_SQ_READY);

  sroce_responder_init(&responder_, SROCE_SERVICE_UC,
                       reinterpret_cast<sroce_recv_wqe*>(recv_wqe_.get()));
  responder_.attr.dest_qpn = kQpn[0];
  responder_.attr.pkey = SROCE_PKEY_DEFAULT;
  responder_.attr.mtu_bytes = scenario_.mtu_bytes;
  responder_.attr.access = SROCE_ACCESS_REMOTE_WRITE;
  responder_.attr.reorder_packets = theirs.reorder_packets;
  responder_.attr.rnr_delay_ns = theirs.delays_rnr ? 100'000 : 0;
  responder_.attr.selective = theirs.selective;
  responder_.attr.shares_rwqes = shared_;
  sroce_responder_start_psn(&responder_, start_psn_);
  sroce_responder_set_state(&responder_, SROCE_RQ_READY);
}

// Posts the messages before @end, and runs until all have been sent and nothing is under way.
void UcSimulation::run_until_idle(size_t end) {
  application_ns_ = now_ns_;
  while (true) {
    const u64 arrival_ns = network_.next_arrival_ns();
    if (arrival_ns == SROCE_NEVER && application_ns_ == SROCE_NEVER) return;
    const bool arrives = arrival_ns < application_ns_;
    // The receiver polls, and finds what has arrived meanwhile.
    now_ns_ = std::max(now_ns_, arrives ? arrival_ns + rng_.below(3000) : application_ns_);
    log_.set_time(now_ns_);
    if (arrives)
      receive_batch();
    else
      run_application(end);
  }
}

void UcSimulation::run_application(size_t end) {
  const Side& side = scenario_.side[0];
  require(++rounds_ < kMaxRounds, "livelock", "%zu of %zu messages sent", sent_, messages_.size());
  // SQD or SQE -> RTS
  if (requester_.state != SROCE_SQ_READY) sroce_requester_set_state(&requester_, SROCE_SQ_READY);
  for (u64 batch = rng_.between(1, side.post_batch); batch && posted_ < end; batch--)
    if (sroce_requester_room(&requester_)) post();
  if (rng_.chance(side.sqd)) sroce_requester_set_state(&requester_, SROCE_SQ_DRAINING);
  send();
  const bool busy = posted_ < end || completed_ < posted_ || requester_.state != SROCE_SQ_READY;
  application_ns_ = busy ? now_ns_ + 1 + rng_.below(2 * side.post_gap_ns + 1) : SROCE_NEVER;
}

void UcSimulation::post() {
  const Side& side = scenario_.side[0];
  SendWork& work = messages_[posted_++];
  sroce_send_wqe* wqe = sroce_requester_wqe(&requester_, requester_.posted);
  std::memset(static_cast<void*>(wqe), 0xa5, stride_);
  wqe->wr_id = work.wr_id;
  wqe->opcode = work.opcode;
  wqe->flags = work.flags;
  wqe->length = work.length;
  wqe->imm = work.imm;
  wqe->rdma = {work.remote_addr, work.rkey};
  wqe->num_sge = static_cast<u32>(work.sge.size());
  if (work.flags & SROCE_SEND_INLINE)
    std::copy(work.inline_data.begin(), work.inline_data.end(), wqe->inline_data);
  else
    std::copy(work.sge.begin(), work.sge.end(), wqe->sge);
  const sroce_wqe_limits limits = {SROCE_SERVICE_UC, side.max_sge, side.max_inline,
                                   scenario_.mtu_bytes};
  wqe->status = sroce_wqe_check(wqe, &limits);
  require(wqe->status == kSuccess, "valid request rejected", "status %u", wqe->status);
  work.first_psn = post_psn_;
  post_psn_ = psn_add(post_psn_, work.psn_count);
  sroce_requester_post(&requester_);
}

void UcSimulation::send() {
  sroce_send_plan plan, again;
  while (true) {
    const auto most = static_cast<u32>(rng_.between(1, scenario_.side[0].burst_packets));
    const sroce_requester before = requester_;
    sroce_requester_plan(&requester_, most, &plan);
    sroce_requester_plan(&requester_, most, &again);
    require(same_plan(plan, again) && !std::memcmp(&before, &requester_, sizeof(before)),
            "dropped plan has an effect", "send plan, psn=%06x", plan.first_psn);
    // A shortage: the application runs again later.
    if (plan.action == SROCE_SEND_NOTHING || rng_.chance(scenario_.side[0].drop_plan)) break;
    require(plan.index == sent_ && sent_ < posted_, "wrong message sent", "index %u", plan.index);
    require(plan.packet_count <= most, "burst exceeds its limit", "%u of %u", plan.packet_count,
            most);
    if (plan.action == SROCE_SEND_PACKETS)
      send_burst(plan);
    else
      sroce_requester_commit(&requester_, &plan, SROCE_WC_SUCCESS, now_ns_);
    pull_send_completions();
  }
  require(plan.action != SROCE_SEND_NOTHING || sent_ == posted_ ||
              requester_.state == SROCE_SQ_DRAINING,
          "requester waits", "%zu of %zu messages sent", sent_, posted_);
  if (requester_.state == SROCE_SQ_DRAINING)
    require(sroce_requester_is_drained(&requester_) ==
                (sent_ == posted_ || !messages_[sent_].sent_packets),
            "SQD is reported wrongly", "%zu messages sent", sent_);
}

void UcSimulation::check_packet(const SendWork& work, u32 number, const sroce_packet& pkt) const {
  const bool first = !number, last = number + 1 == work.psn_count;
  const bool has_imm = work.opcode == SROCE_WR_SEND_IMM || work.opcode == SROCE_WR_WRITE_IMM;
  const u32 place = first && last ? SROCE_OP_SEND_ONLY
                    : first       ? SROCE_OP_SEND_FIRST
                    : last        ? SROCE_OP_SEND_LAST
                                  : SROCE_OP_SEND_MIDDLE;
  const u32 opcode =
      SROCE_SERVICE_UC + place + (work.is_write() ? SROCE_OP_WRITE_FIRST : 0) + (last && has_imm);
  const char* rule = "request header is wrong";
  require(pkt.opcode == opcode, rule, "opcode %x, expected %x", pkt.opcode, opcode);
  require(pkt.psn == psn_add(work.first_psn, number), rule, "psn=%06x", pkt.psn);
  require(pkt.dest_qpn == kQpn[1] && pkt.pkey == SROCE_PKEY_DEFAULT, rule, "qpn %x", pkt.dest_qpn);
  require(!pkt.ack_req && !pkt.selective, rule, "response wanted, psn=%06x", pkt.psn);
  require(!(last && has_imm) || pkt.imm == work.imm, rule, "immediate, psn=%06x", pkt.psn);
  require(
      !first || !work.is_write() ||
          (pkt.va == work.remote_addr && pkt.rkey == work.rkey && pkt.dma_length == work.length),
      rule, "RETH, psn=%06x", pkt.psn);
  require(
      pkt.solicited == (last && work.flags & SROCE_SEND_SOLICITED && work.opcode != SROCE_WR_WRITE),
      rule, "solicited event, psn=%06x", pkt.psn);
}

void UcSimulation::send_burst(const sroce_send_plan& plan) {
  SendWork& work = messages_[sent_];
  const u32 mtu = scenario_.mtu_bytes, offset = work.sent_packets * mtu;
  const u32 bytes = std::min(work.length - offset, plan.packet_count * mtu);
  require(plan.packet_count && plan.packet_count <= work.psn_count - work.sent_packets &&
              plan.offset == offset && plan.payload_bytes == bytes && !plan.retransmit,
          "burst is wrong", "%u packets, psn=%06x", plan.packet_count, plan.first_psn);
  require(work.sent_packets || requester_.state == SROCE_SQ_READY, "message begun in SQD",
          "psn=%06x", plan.first_psn);
  payload_.resize(bytes);
  if (work.flags & SROCE_SEND_INLINE) {
    std::copy_n(work.inline_data.begin() + offset, bytes, payload_.begin());
  } else if (memory_[0].gather(work.sge.data(), static_cast<u32>(work.sge.size()), offset,
                               payload_) != SROCE_MEM_OK) {
    sroce_requester_commit(&requester_, &plan, SROCE_WC_LOC_PROT_ERR, now_ns_);
    return;
  }
  for (u32 i = 0; i < plan.packet_count; i++) {
    sroce_packet pkt;
    sroce_send_plan_packet(&requester_, &plan, i, &pkt);
    check_packet(work, work.sent_packets + i, pkt);
    const auto payload = std::span<const u8>(payload_).subspan(i * mtu);
    require(pkt.payload_bytes == std::min<size_t>(payload.size(), mtu), "packet length is wrong",
            "psn=%06x", pkt.psn);
    Bytes packet(pkt.header_bytes + pkt.payload_bytes + pkt.pad_bytes + SROCE_ICRC_BYTES);
    sroce_packet_write(&pkt, packet.data());
    std::copy_n(payload.begin(), pkt.payload_bytes, packet.begin() + pkt.header_bytes);
    network_.send(0, std::move(packet), now_ns_);
  }
  sroce_requester_commit(&requester_, &plan, SROCE_WC_SUCCESS, now_ns_);
  work.sent_packets += plan.packet_count;
  if (work.sent_packets == work.psn_count) sent_++;
}

// A message completes when its last packet has been sent. One that cannot be sent fails, and the
// messages posted behind it are flushed.
void UcSimulation::pull_send_completions() {
  const bool failed = requester_.state == SROCE_SQ_ERROR;
  const auto skip_silent = [&] {
    while (completed_ < sent_ && !(messages_[completed_].flags & SROCE_SEND_SIGNALED)) completed_++;
  };
  sroce_completion wc;
  require(!failed || messages_[sent_].expected == SROCE_WC_LOC_PROT_ERR, "QP fails", "%zu sent",
          sent_);
  while (sroce_requester_next_completion(&requester_, &wc)) {
    skip_silent();
    require(completed_ < (failed ? posted_ : sent_), "completed before it was sent", "%zu sent",
            sent_);
    const SendWork& work = messages_[completed_];
    u8 status = SROCE_WC_WR_FLUSH_ERR;
    if (completed_ <= sent_) status = completed_ < sent_ ? kSuccess : u8{SROCE_WC_LOC_PROT_ERR};
    require(wc.wr_id == work.wr_id && wc.status == status, "send completion is wrong",
            "status %u, expected %u", wc.status, status);
    totals_.completions++;
    completed_++;
  }
  skip_silent();
  require(completed_ == (failed ? posted_ : sent_), "send completion is missing", "%zu of %zu",
          completed_, sent_);
  sent_ = completed_;
  require(sroce_requester_deadline(&requester_) == SROCE_NEVER, "timer armed needlessly",
          "%zu sent", sent_);
}

void UcSimulation::check_all_arrived() const {
  for (size_t i = 0; i < messages_.size(); i++) {
    const SendWork& work = messages_[i];
    const bool sound = scenario_.clean || (i >= first_quiet_ && all_large_);
    const bool sent = work.sent_packets == work.psn_count;
    if (sound && sent && work.expected == kSuccess)
      require(work.executed, "message has not arrived", "index %zu", i);
  }
}

}  // namespace sim
