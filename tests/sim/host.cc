// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/host.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sim {
namespace {

constexpr u32 kMaxReceiveSge = 8;

u64 words(size_t bytes) { return (bytes + 7) / 8; }

}  // namespace

Host::Host(int number, Rng& rng, const Scenario& scenario, Network& network, Log& log,
           Totals& totals)
    : number_(number),
      rng_(rng),
      scenario_(scenario),
      side_(scenario.side[number]),
      network_(network),
      log_(log),
      totals_(totals),
      resources_(side_.max_dest_rd_atomic) {
  // One element more than allowed: a WQE with too many is copied first, then rejected.
  const size_t list_bytes =
      std::max<size_t>((side_.max_sge + 1) * sizeof(sroce_sge), side_.max_inline);
  stride_ = static_cast<u32>(words(sizeof(sroce_send_wqe) + list_bytes) * 8);
  ring_ = std::make_unique<u64[]>(words(size_t{stride_} * side_.slots));
  recv_wqe_ =
      std::make_unique<u64[]>(words(sizeof(sroce_recv_wqe) + kMaxReceiveSge * sizeof(sroce_sge)));
  sroce_requester_init(&requester_, scenario_.service(), ring_.get(), stride_, side_.slots);
  sroce_responder_init(&responder_, scenario_.service(),
                       reinterpret_cast<sroce_recv_wqe*>(recv_wqe_.get()));
}

void Host::connect(u32 qpn, u32 peer_qpn, u32 first_psn, u32 peer_first_psn, Memory& memory,
                   Conversation& out, Conversation& in) {
  memory_ = &memory;
  out_ = &out;
  in_ = &in;
  qpn_ = qpn;
  posted_receives_ = 0;
  connected_ = true;
  error_ = false;
  resume_ns_ = SROCE_NEVER;
  nak_sent_ = false;
  message_kind_ = 0;
  gap_before_psn_ = ~0u;
  offers_in_a_row_ = 0;
  offer_declined_ = false;
  responded_ = false;
  long_round_trip_ = false;
  responded_lately_ = false;
  free_timeouts_ = 0;
  request_bits_ = 0;
  random_bits_ = first_psn;
  sacked_.clear();
  rerequested_.clear();
  retransmitted_.clear();
  unplaced_.clear();
  pages_at_ns_ = 0;

  requester_.attr = {};
  requester_.attr.qpn = qpn;
  requester_.attr.dest_qpn = peer_qpn;
  requester_.attr.pkey = SROCE_PKEY_DEFAULT;
  requester_.attr.mtu_bytes = scenario_.mtu_bytes;
  requester_.attr.window_packets = side_.window_packets;
  requester_.attr.max_rd_atomic = side_.max_rd_atomic;
  requester_.attr.retry_cnt = side_.retry_cnt;
  requester_.attr.rnr_retry = side_.rnr_retry;
  requester_.attr.ack_timeout_ns = sroce_ack_timeout_ns(side_.timeout_exponent);
  requester_.attr.adaptive = side_.adaptive;
  requester_.attr.selective = side_.selective;
  sroce_requester_start_psn(&requester_, first_psn);
  sroce_requester_set_state(&requester_, SROCE_SQ_READY);

  responder_.attr = {};
  responder_.attr.dest_qpn = peer_qpn;
  responder_.attr.pkey = SROCE_PKEY_DEFAULT;
  responder_.attr.mtu_bytes = scenario_.mtu_bytes;
  responder_.attr.access = SROCE_ACCESS_LOCAL_WRITE | SROCE_ACCESS_REMOTE_WRITE |
                           SROCE_ACCESS_REMOTE_READ | SROCE_ACCESS_REMOTE_ATOMIC |
                           (scenario_.placement ? SROCE_ACCESS_FLUSH_GLOBAL : 0);
  responder_.attr.min_rnr_timer = side_.min_rnr_timer;
  responder_.attr.reorder_packets = side_.reorder_packets;
  if (side_.delays_rnr)
    responder_.attr.rnr_delay_ns = std::min<u64>(sroce_rnr_wait_ns(side_.min_rnr_timer), 1000000);
  responder_.attr.selective = side_.selective;
  sroce_resources_init(&responder_.resources, resources_.get(), side_.max_dest_rd_atomic);
  sroce_responder_start_psn(&responder_, peer_first_psn);
  sroce_responder_set_state(&responder_, SROCE_RQ_READY);
}

void Host::disconnect() {
  connected_ = false;
  error_ = false;
  sroce_requester_reset(&requester_);
  sroce_responder_reset(&responder_);
  queued_.clear();
}

void Host::move_to_error() {
  if (!connected_ || error_) return;
  error_ = true;
  if (log_.on()) log_.line(format("%c: QP to ERR", 'A' + number_));
  out_->requester_stopped();
  in_->responder_stopped();
  sroce_requester_set_state(&requester_, SROCE_SQ_ERROR);
  sroce_responder_set_state(&responder_, SROCE_RQ_ERROR);
  pull_send_completions();
  require(!responder_.reorder.count, "packets stay queued in ERR", "%u", responder_.reorder.count);
  queued_.clear();
  pull_receive_completions();
  flush_receives();
}

void Host::drain() {
  if (log_.on()) log_.line(format("%c: QP to SQD", 'A' + number_));
  sroce_requester_set_state(&requester_, SROCE_SQ_DRAINING);
}

void Host::resume() {
  if (log_.on()) log_.line(format("%c: QP back to RTS", 'A' + number_));
  sroce_requester_set_state(&requester_, SROCE_SQ_READY);
  responded_lately_ = false;
  free_timeouts_ = 0;
}

bool Host::post_send() {
  if (!sroce_requester_room(&requester_)) return false;
  const SendWork& work = out_->sends[out_->posted_count()];
  sroce_send_wqe* wqe = sroce_requester_wqe(&requester_, requester_.posted);
  std::memset(static_cast<void*>(wqe), 0xa5, stride_);
  wqe->wr_id = work.wr_id;
  wqe->opcode = work.opcode;
  wqe->flags = work.flags;
  wqe->length = work.length;
  wqe->imm = work.imm;
  wqe->srqn = scenario_.srqn_of(work.wr_id);
  if (work.opcode == SROCE_WR_SEND_INV) wqe->invalidate_rkey = work.inv_rkey;
  if (work.is_atomic())
    wqe->atomic = {work.remote_addr, work.rkey, work.compare_add, work.swap};
  else if (work.opcode == SROCE_WR_FLUSH)
    wqe->flush = {work.remote_addr, work.rkey, work.flush_bytes, work.placement, work.level};
  else
    wqe->rdma = {work.remote_addr, work.rkey};
  wqe->num_sge = static_cast<u32>(work.sge.size());
  if (work.flags & SROCE_SEND_INLINE)
    std::copy(work.inline_data.begin(), work.inline_data.end(), wqe->inline_data);
  else
    std::copy(work.sge.begin(), work.sge.end(), wqe->sge);
  const sroce_wqe_limits limits = {scenario_.service(), side_.max_sge, side_.max_inline,
                                   scenario_.mtu_bytes};
  wqe->status = sroce_wqe_check(wqe, &limits);
  if (log_.on())
    log_.line(format("%c: posts wr %llx opcode=%u len=%u flags=%x psn=%06x status=%u",
                     'A' + number_, (unsigned long long)work.wr_id, work.opcode, work.length,
                     work.flags, requester_.post_psn, wqe->status));
  const u8 status = wqe->status;
  sroce_requester_post(&requester_);
  out_->posted(status);
  return true;
}

void Host::post_receive() {
  if (posted_receives_ < in_->recvs.size()) posted_receives_++;
  if (error_) flush_receives();
}

u64 Host::wake_ns() const {
  if (!connected_) return SROCE_NEVER;
  const u64 deadline_ns = std::min(std::max(sroce_requester_deadline(&requester_), pages_at_ns_),
                                   sroce_reorder_deadline(&responder_));
  const u64 timer_ns = deadline_ns == SROCE_NEVER ? SROCE_NEVER : deadline_ns + slack_ns_;
  return std::min(timer_ns, resume_ns_);
}

void Host::run(u64 now_ns) {
  if (!connected_) return;
  now_ns_ = now_ns;
  if (resume_ns_ <= now_ns) resume_ns_ = SROCE_NEVER;
  handle_deadline();
  retry_waiting_request();
  sroce_reorder_timeout(&responder_, now_ns);
  drop_queued();
  run_send();
  run_recv();
  note_timers();
  check_requester();
  check_responder();
}

void Host::set_faulty(bool faulty, u64 now_ns) {
  faulty_ = faulty;
  late_timeouts_ = 0;
  timer_waits_.clear();
  counted_until_ns_ = now_ns;
}

void Host::receive(const Datagram& datagram, u64 now_ns) {
  now_ns_ = now_ns;
  // The engine may read the headers only; ASan detects a read beyond this exact copy.
  const auto total = static_cast<u32>(datagram.bytes.size());
  const u32 readable = std::min<u32>(total, SROCE_MAX_HEADER_BYTES);
  const Bytes header(datagram.bytes.begin(), datagram.bytes.begin() + readable);
  sroce_packet pkt;
  if (datagram.corrupt) return;  // the ICRC is wrong
  if (sroce_packet_parse(header.data(), readable, total, &pkt) != SROCE_PARSE_OK) {
    require(!out_ || scenario_.hostile, "parser rejects a valid packet", "%u bytes", total);
    return;
  }
  if (!connected_ || pkt.dest_qpn != qpn_ || pkt.pkey != SROCE_PKEY_DEFAULT) return;
  if ((pkt.opcode & SROCE_SERVICE_MASK) == SROCE_SERVICE_XRC && !scenario_.xrc) return;
  pkt.has_srq = Scenario::has_srq(pkt.srqn);
  require(pkt.header_bytes + pkt.payload_bytes + pkt.pad_bytes + SROCE_ICRC_BYTES == total,
          "parser lengths do not add up", "%u bytes", total);
  const auto payload = std::span(datagram.bytes).subspan(pkt.header_bytes, pkt.payload_bytes);
  if (pkt.info->flags & SROCE_OPF_SACK) pkt.sack = payload.data();
  if (pkt.info->flags & SROCE_OPF_REQUEST) request_bits_ = header[8] & SROCE_BTH_RESERVED_MASK;
  if (pkt.info->flags & SROCE_OPF_RESPONSE)
    handle_response(pkt, payload);
  else if (pkt.info->flags & SROCE_OPF_REQUEST)
    handle_request(pkt, payload);
  run(now_ns);
}

// Returns whether the transmit queue accepts another packet now.
bool Host::may_transmit() {
  const u64 ready_ns = network_.ready_at(number_, side_.tx_queue_bytes);
  if (side_.tx_queue_bytes == ~0ull || ready_ns <= now_ns_) return true;
  resume_ns_ = std::min(resume_ns_, ready_ns);
  return false;
}

// Simulates a shortage: drops the plan and asks the engine for a new one later.
bool Host::drops_plan() {
  if (!in_shortage(side_.drop_plan)) return false;
  resume_ns_ = std::min(resume_ns_, now_ns_ + rng_.between(1000, 50000));
  return true;
}

u32 Host::random_burst(u32 budget) {
  return static_cast<u32>(std::min<u64>(rng_.between(1, side_.burst_packets), budget));
}

// The reserved bits of octet 8 of a packet from a standard peer.
u8 Host::reserved_bits(const sroce_packet& pkt) {
  if (side_.reserved_bits == ReservedBits::routed) return 1u << random_bits_ % 7;
  if (side_.reserved_bits == ReservedBits::copied)
    return pkt.info->flags & SROCE_OPF_RESPONSE ? request_bits_ : 0;
  random_bits_ = random_bits_ * 6364136223846793005u + 1442695040888963407u;
  if (pkt.info->flags & SROCE_OPF_RESPONSE && random_bits_ >> 63) return SROCE_BTH_ACCEPT;
  return random_bits_ >> 57;
}

// A standard engine leaves all reserved bits 0.
void Host::set_reserved_bits(const sroce_packet& pkt, Bytes& bytes) {
  require(!(bytes[8] & SROCE_BTH_RESERVED_MASK), "selective repeat without an offer", "psn=%06x",
          pkt.psn);
  if (side_.reserved_bits == ReservedBits::zero) return;
  bytes[8] |= reserved_bits(pkt);
  if (side_.reserved_bits == ReservedBits::copied) return;
  bytes[4] |= side_.reserved_bits == ReservedBits::routed ? 1u << random_bits_ % 6
                                                          : (random_bits_ >> 40) & 0x3f;
}

void Host::transmit(const sroce_packet& pkt, std::span<const u8> payload) {
  require(pkt.info && pkt.payload_bytes == payload.size() && pkt.pad_bytes == (-payload.size() & 3),
          "packet lengths do not add up", "psn=%06x", pkt.psn);
  Bytes bytes(pkt.info->header_bytes + payload.size() + pkt.pad_bytes + SROCE_ICRC_BYTES);
  const u32 header_bytes = sroce_packet_write(&pkt, bytes.data());
  require(header_bytes == pkt.header_bytes && header_bytes == pkt.info->header_bytes,
          "packet lengths do not add up", "psn=%06x", pkt.psn);
  std::copy(payload.begin(), payload.end(), bytes.begin() + header_bytes);
  if (!side_.selective) set_reserved_bits(pkt, bytes);
  network_.send(number_, std::move(bytes), now_ns_);
}

void Host::log_completion(const char* what, const sroce_completion& wc) const {
  if (!log_.on()) return;
  log_.line(format("%c: completes %s wr %llx status=%u opcode=%u bytes=%u", 'A' + number_, what,
                   (unsigned long long)wc.wr_id, wc.status, wc.opcode, wc.byte_len));
}

}  // namespace sim
