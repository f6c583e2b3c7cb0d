// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The engine's requester and responder, driven as the module drives them. New features of the
// engine are enabled here.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>

#include "port/resource_storage.h"
#include "sim/fabric/endpoint.h"
#include "sim/fabric/go_back_n.h"

namespace fabric {
namespace {

constexpr u8 kMaxRdAtomic = 16;

u8 work_opcode(Operation operation) {
  switch (operation) {
    case Operation::write:
      return SROCE_WR_WRITE;
    case Operation::send:
      return SROCE_WR_SEND;
    default:
      return SROCE_WR_READ;
  }
}

bool uses_cnps(const sroce_cc_params& params) {
  sroce_cc cc;
  sroce_cc_start(&cc, &params, 0, 1024, 0);
  return sroce_cc_cnp(&cc, 0, 0);
}

class EngineRequester : public Requester {
 public:
  explicit EngineRequester(const Scenario& scenario) : scenario_(scenario) {
    const u32 slots = std::bit_ceil(scenario.messages_posted());
    ring_.resize(size_t{slots} * kStride / sizeof(u64));
    sroce_requester_init(&requester_, SROCE_SERVICE_RC, ring_.data(), kStride, slots);
    requester_.attr.pkey = SROCE_PKEY_DEFAULT;
    requester_.attr.mtu_bytes = scenario.mtu_bytes;
    requester_.attr.window_packets = scenario.window();
    requester_.attr.max_rd_atomic = kMaxRdAtomic;
    requester_.attr.retry_cnt = scenario.retry_cnt;
    requester_.attr.rnr_retry = SROCE_RNR_RETRY_INFINITE;
    requester_.attr.ack_timeout_ns = sroce_ack_timeout_ns(scenario.timeout_exponent);
    requester_.attr.adaptive = true;
    requester_.attr.selective = true;
    sroce_cc_params_init(&params_);
    params_.algorithm = scenario.cc_algorithm();
    sroce_cc_start(&requester_.cc, &params_, scenario.rate_mbps * 125'000, scenario.mtu_bytes, 0);
    sroce_requester_start_psn(&requester_, 0);
    sroce_requester_set_state(&requester_, SROCE_SQ_READY);
  }

  void start(Ns now_ns) override {
    while (requester_.posted - requester_.retired < scenario_.messages_posted()) post(now_ns);
  }

  void send(Ns now_ns, u32 max_packets, std::vector<sroce_packet>& out) override {
    sroce_send_plan plan;
    const u32 packets = sroce_cc_sendable_packets(&requester_.cc, now_ns);
    pace_ns_ = kNever;
    sroce_requester_plan(&requester_, std::clamp(packets, 1u, max_packets), &plan);
    if (plan.action != SROCE_SEND_PACKETS) return;
    if (!packets) {
      pace_ns_ = sroce_cc_next_send_ns(&requester_.cc);
      return;
    }
    for (u32 i = 0; i < plan.packet_count; i++)
      sroce_send_plan_packet(&requester_, &plan, i, &out.emplace_back());
    sroce_requester_commit(&requester_, &plan, SROCE_WC_SUCCESS, now_ns);
  }

  void receive(const Packet& packet, Ns now_ns) override {
    if (packet.header.info->flags & SROCE_OPF_CNP) {
      sroce_cc_cnp(&requester_.cc, 0, now_ns);
      return;
    }
    sroce_ack_plan plan;
    sroce_completer_plan(&requester_, &packet.header, &plan);
    sroce_completer_commit(&requester_, &plan, SROCE_MEM_OK, now_ns);
    acked_packets_ += (requester_.unacked_psn - unacked_psn_) & SROCE_PSN_MASK;
    unacked_psn_ = requester_.unacked_psn;
    pull_completions(now_ns);
  }

  Ns deadline() const override {
    return std::min<Ns>(sroce_requester_deadline(&requester_), pace_ns_);
  }
  void timeout(Ns now_ns) override {
    sroce_requester_timeout(&requester_, now_ns);
    pull_completions(now_ns);
  }
  bool failed() const override { return requester_.state == SROCE_SQ_ERROR; }
  u64 acked_packets() const override { return acked_packets_; }
  u64 timeouts() const override { return requester_.timeouts; }
  u64 probes() const override { return requester_.probe.sent_count; }

 private:
  static constexpr u32 kStride = (sizeof(sroce_send_wqe) + 7) / 8 * 8;

  void post(Ns now_ns) {
    sroce_send_wqe* wqe = sroce_requester_wqe(&requester_, requester_.posted);
    std::memset(static_cast<void*>(wqe), 0, kStride);
    wqe->wr_id = now_ns;
    wqe->opcode = work_opcode(scenario_.operation);
    wqe->flags = SROCE_SEND_SIGNALED;
    wqe->length = scenario_.message_bytes;
    sroce_requester_post(&requester_);
  }

  // Posts a new message for each one that completes.
  void pull_completions(Ns now_ns) {
    sroce_completion wc;
    while (sroce_requester_next_completion(&requester_, &wc)) {
      if (wc.status != SROCE_WC_SUCCESS) continue;
      completion_times_.push_back(now_ns - wc.wr_id);
      post(now_ns);
    }
  }

  const Scenario& scenario_;
  sroce_cc_params params_{};
  sroce_requester requester_{};
  Ns pace_ns_ = kNever;  // when the pacer permits the next packet
  std::vector<u64> ring_;
  u32 unacked_psn_ = 0;
  u64 acked_packets_ = 0;
};

class EngineResponder : public Endpoint {
 public:
  EngineResponder(const Scenario& scenario, bool standard) : scenario_(scenario) {
    sroce_responder_init(&responder_, SROCE_SERVICE_RC,
                         reinterpret_cast<sroce_recv_wqe*>(recv_wqe_));
    responder_.attr.pkey = SROCE_PKEY_DEFAULT;
    responder_.attr.mtu_bytes = scenario.mtu_bytes;
    responder_.attr.access =
        SROCE_ACCESS_LOCAL_WRITE | SROCE_ACCESS_REMOTE_WRITE | SROCE_ACCESS_REMOTE_READ;
    sroce_resources_init(&responder_.resources, resources_.get(), kMaxRdAtomic);
    sroce_responder_start_psn(&responder_, 0);
    sroce_responder_set_state(&responder_, SROCE_RQ_READY);
    sroce_cc_params_init(&params_);
    params_.algorithm = scenario.cc_algorithm();
    sends_cnps_ = uses_cnps(params_);
    // A standard responder reports a gap once and drops later packets.
    if (standard) return;
    responder_.attr.reorder_packets = SROCE_PSN_MAP_SPAN;
    responder_.attr.selective = true;
    bitmaps_.resize(kBitmaps);
  }

  void send(Ns, u32 max_packets, std::vector<sroce_packet>& out) override {
    sroce_response_plan plan;
    if (cnp_due_) {
      cnp_due_ = false;
      sroce_responder_cnp_packet(&responder_, &out.emplace_back());
      return;
    }
    if (!sroce_response_plan_next(&responder_, max_packets, &plan)) return;
    for (u32 i = 0; i < plan.packet_count; i++) {
      sroce_packet& pkt = out.emplace_back();
      sroce_response_plan_packet(&responder_, &plan, i, &pkt);
      if (plan.kind == SROCE_RESPONSE_SACK) pkt.sack = write_bitmap(plan.payload_bytes);
    }
    sroce_response_commit(&responder_, &plan, SROCE_MEM_OK);
  }

  void receive(const Packet& packet, Ns now_ns) override {
    if (packet.marked && sends_cnps_ && sroce_np_marked(&np_, &params_, 1, now_ns)) cnp_due_ = true;
    execute(packet.header, now_ns);
    u32 psn;
    while (sroce_reorder_next_queued(&responder_, &psn)) {
      const auto node = queued_.extract(psn);
      execute(node.mapped(), now_ns);
    }
    if (!responder_.reorder.count) queued_.clear();
  }

  Ns deadline() const override { return sroce_reorder_deadline(&responder_); }
  void timeout(Ns now_ns) override { sroce_reorder_timeout(&responder_, now_ns); }
  bool failed() const override { return responder_.state != SROCE_RQ_READY; }

 private:
  // More than are ever in flight.
  static constexpr size_t kBitmaps = 8192;

  void execute(const sroce_packet& pkt, Ns now_ns) {
    if (sroce_responder_wants_wqe(&responder_, &pkt)) {
      responder_.recv->length = scenario_.message_bytes;
      sroce_responder_take_wqe(&responder_);
    }
    sroce_recv_result result{};
    sroce_recv_plan plan;
    sroce_completion wc;
    sroce_responder_plan(&responder_, &pkt, &plan);
    if (plan.verdict == SROCE_RECV_QUEUE && !plan.queued) {
      // The device has no room for more packets that are out of order.
      if (queued_.size() >= scenario_.reorder_room)
        result.status = SROCE_MEM_BAD_LOCAL;
      else
        queued_.emplace(pkt.psn, pkt);
    }
    sroce_responder_commit(&responder_, &pkt, &plan, &result, now_ns);
    sroce_responder_next_completion(&responder_, &wc);
    sroce_responder_take_event(&responder_);
  }

  const u8* write_bitmap(u32 bytes) {
    auto& bitmap = bitmaps_[next_bitmap_++ % kBitmaps];
    sroce_reorder_write_sack(&responder_, bitmap.data(), bytes);
    return bitmap.data();
  }

  const Scenario& scenario_;
  sroce_responder responder_{};
  sroce_cc_params params_{};
  sroce_np np_{};
  bool sends_cnps_ = false;  // the sender's algorithm uses them
  bool cnp_due_ = false;
  std::map<u32, sroce_packet> queued_;
  std::vector<std::array<u8, SROCE_SACK_MAX_BYTES>> bitmaps_;
  size_t next_bitmap_ = 0;
  alignas(sroce_recv_wqe) u8 recv_wqe_[sizeof(sroce_recv_wqe)] = {};
  ResourceStorage resources_{kMaxRdAtomic};
};

}  // namespace

std::unique_ptr<Requester> make_requester(const Scenario& scenario) {
  if (scenario.peers == Peers::standard_sroce) return std::make_unique<GoBackN>(scenario);
  return std::make_unique<EngineRequester>(scenario);
}

std::unique_ptr<Endpoint> make_responder(const Scenario& scenario) {
  return std::make_unique<EngineResponder>(scenario, scenario.peers == Peers::sroce_standard);
}

}  // namespace fabric
