// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A requester with arbitrary work requests, and a peer that sends arbitrary responses.
#include <algorithm>
#include <cstring>
#include <vector>

#include "input.h"

using namespace sroce_fuzz;

namespace {

constexpr u32 kStride = offsetof(sroce_send_wqe, sge) + sizeof(sroce_sge);
constexpr u32 kSlots = 8;

class Target {
 public:
  explicit Target(Input& in) : in_(in), ring_(kSlots * kStride / sizeof(u64)) {
    sroce_requester_init(&req_, SROCE_SERVICE_RC, ring_.data(), kStride, kSlots);
    req_.attr = {.qpn = 2,
                 .dest_qpn = 1,
                 .pkey = SROCE_PKEY_DEFAULT,
                 .mtu_bytes = 256u << in.below(5),
                 .window_packets = 1u + in.byte(),
                 .max_rd_atomic = static_cast<u8>(in.below(5)),
                 .retry_cnt = static_cast<u8>(in.below(8)),
                 .rnr_retry = static_cast<u8>(in.below(8)),
                 .ack_timeout_ns = in.flag() ? 1000u : 1u << 31};
    const u8 kind = in.byte();
    req_.attr.adaptive = kind & 1;
    req_.attr.selective = kind & 2;
    if (kind & 4) req_.attr.window_packets *= 16;
    sroce_requester_start_psn(&req_, in.word());
    sroce_requester_set_state(&req_, SROCE_SQ_READY);
  }

  void run() {
    while (!in_.empty()) {
      step();
      check_order();
      check_scoreboard();
      complete();
    }
    sroce_requester_set_state(&req_, SROCE_SQ_ERROR);
    complete();
    require(req_.retired == req_.posted, "a queue in error completes every request");
  }

 private:
  void step() {
    switch (in_.below(8)) {
      case 0:
      case 1:
        post();
        return;
      case 2:
      case 3:
        send(1 + in_.byte());
        return;
      case 4:
        now_ += pause();
        sroce_requester_timeout(&req_, now_);
        return;
      case 5:
        if (req_.state != SROCE_SQ_ERROR)
          sroce_requester_set_state(&req_, in_.flag() ? SROCE_SQ_DRAINING : SROCE_SQ_READY);
        return;
      default:
        receive(response());
    }
  }

  // Up to 4 ms: from less than a round trip to more than the longest timeout.
  u64 pause() {
    const u64 length = in_.byte();
    return length * length * 64;
  }

  void post() {
    static constexpr u8 kOpcodes[] = {
        SROCE_WR_WRITE,    SROCE_WR_WRITE_IMM,    SROCE_WR_SEND,        SROCE_WR_SEND_IMM,
        SROCE_WR_READ,     SROCE_WR_COMPARE_SWAP, SROCE_WR_FETCH_ADD,   SROCE_WR_LOCAL_INV,
        SROCE_WR_SEND_INV, SROCE_WR_FLUSH,        SROCE_WR_ATOMIC_WRITE};
    if (!sroce_requester_room(&req_)) return;
    sroce_send_wqe* wqe = sroce_requester_wqe(&req_, req_.posted);
    memset(static_cast<void*>(wqe), 0, kStride);
    wqe->wr_id = req_.posted;
    wqe->opcode = kOpcodes[in_.below(sizeof(kOpcodes))];
    wqe->flags = in_.byte() & (SROCE_SEND_FENCE | SROCE_SEND_SIGNALED | SROCE_SEND_SOLICITED);
    wqe->length = std::min(in_.length(req_.attr.mtu_bytes), SROCE_MAX_MESSAGE_BYTES);
    if (wqe_is_atomic(wqe->opcode) || wqe->opcode == SROCE_WR_ATOMIC_WRITE) wqe->length = 8;
    if (wqe->opcode == SROCE_WR_FLUSH) wqe->length = 0;
    wqe->status = in_.byte() == 255 ? SROCE_WC_LOC_LEN_ERR : SROCE_WC_SUCCESS;
    sroce_requester_post(&req_);
  }

  void send(u32 max_packets) {
    sroce_send_plan plan;
    sroce_requester_plan(&req_, max_packets, &plan);
    if (plan.action == SROCE_SEND_PACKETS) {
      const sroce_send_wqe* wqe = sroce_requester_wqe(&req_, plan.index);
      require(plan.packet_count > 0 && plan.packet_count <= max_packets, "a burst keeps its limit");
      require(u64{plan.offset} + plan.payload_bytes <= wqe->length,
              "the payload is within the message");
      for (u32 i : {0u, plan.packet_count - 1}) {
        sroce_packet pkt;
        sroce_send_plan_packet(&req_, &plan, i, &pkt);
        require(pkt.payload_bytes <= req_.attr.mtu_bytes, "a packet does not exceed the MTU");
      }
    }
    sroce_requester_commit(&req_, &plan,
                           in_.byte() == 255 ? SROCE_WC_LOC_PROT_ERR : SROCE_WC_SUCCESS, now_);
  }

  sroce_packet response() {
    static constexpr u8 kSyndromes[] = {0x1f, 0x00, 0x20, 0x21, 0x60, 0x60, 0x1f, 0x1f};
    sroce_packet pkt = {};
    pkt.count = 1;
    const u32 kind = in_.below(8);
    pkt.opcode = kind < 6 ? static_cast<u8>(SROCE_OP_READ_RESPONSE_FIRST + kind) : SROCE_OP_SACK;
    pkt.info = sroce_opcode_lookup(pkt.opcode);
    pkt.header_bytes = pkt.info->header_bytes;
    const u8 bits = in_.byte();
    pkt.syndrome = bits & 8 ? in_.byte() : kSyndromes[bits & 7];
    pkt.psn = bits & 16 ? in_.psn_near(req_.unacked_psn) : req_.unacked_psn;
    pkt.selective = req_.attr.selective != !!(bits & 32);
    if (pkt.info->flags & SROCE_OPF_SACK)
      make_bitmap(pkt);
    else if (pkt.info->flags & SROCE_OPF_PAYLOAD)
      pkt.payload_bytes = std::min(in_.length(req_.attr.mtu_bytes), 4096u);
    if (sroce_completer_can_coalesce(&req_, &pkt, 8)) pkt.count += in_.below(8);
    pkt.payload_bytes *= pkt.count;
    return pkt;
  }

  // A few arbitrary bytes, then the same byte up to the end. The length is up to the longest valid
  // one.
  void make_bitmap(sroce_packet& pkt) {
    const u32 bytes = in_.byte(), chosen = in_.below(8);
    pkt.payload_bytes = bytes == 255 ? SROCE_SACK_MAX_BYTES : bytes;
    const u8 rest = in_.byte();
    std::fill(std::begin(bitmap_), std::end(bitmap_), rest);
    for (u32 i = 0; i < chosen; i++) bitmap_[i] = in_.byte();
    exact_.assign(bitmap_, bitmap_ + pkt.payload_bytes);  // for ASan
    pkt.sack = exact_.data();
  }

  void receive(const sroce_packet& pkt) {
    sroce_ack_plan plan;
    sroce_completer_plan(&req_, &pkt, &plan);
    if (plan.place_bytes) {
      const sroce_send_wqe* wqe = sroce_requester_wqe(&req_, plan.index);
      require(wqe_is_rd_atomic(wqe->opcode) && !wqe_is_placement(wqe->opcode),
              "only READs and atomics have response data");
      require(u64{plan.place_offset} + plan.place_bytes <= wqe->length,
              "data is placed within the request");
    }
    const u8 memory = plan.place_bytes ? in_.byte() : 0;
    sroce_mem_status placed = SROCE_MEM_OK;
    if (memory == 255) placed = SROCE_MEM_BAD_LOCAL;
    if (memory > 240 && memory < 255) placed = SROCE_MEM_NOT_PRESENT;
    sroce_completer_commit(&req_, &plan, placed, now_);
  }

  void check_order() const {
    const u32 next = (req_.next_psn - req_.unacked_psn) & SROCE_PSN_MASK;
    const u32 sent = (req_.sent_psn - req_.unacked_psn) & SROCE_PSN_MASK;
    require(next <= sent && sent <= SROCE_PSN_SPAN,
            "unacked <= next <= sent, within half the PSN space");
    require(req_.posted - req_.retired <= kSlots, "the ring does not overflow");
    const u32 flight = req_.data_inflight - std::min(req_.data_inflight, req_.sb.done_data);
    require(req_.sb.mode == SROCE_SELECTIVE_ON || flight <= req_.attr.window_packets,
            "the window is not exceeded");
    require(req_.rd_inflight <= req_.attr.max_rd_atomic, "max_rd_atomic is not exceeded");
  }

  // The scoreboard refers only to PSNs that were sent.
  void check_scoreboard() const {
    const sroce_scoreboard& sb = req_.sb;
    const u32 sent = (req_.sent_psn - req_.unacked_psn) & SROCE_PSN_MASK;
    if (sb.mode == SROCE_SELECTIVE_OFFERED || req_.state == SROCE_SQ_ERROR) return;
    require(req_.attr.selective || sb.mode == SROCE_SELECTIVE_OFF,
            "selective repeat is used only if offered");
    for (u32 psn :
         {sb.executed_psn, sb.top_psn, sb.lost_psn, sb.response_high_psn, sb.lost_response_psn})
      require(((psn - req_.unacked_psn) & SROCE_PSN_MASK) <= sent, "scoreboard PSNs were sent");
    const auto ahead = [this](u32 psn) { return (psn - req_.unacked_psn) & SROCE_PSN_MASK; };
    require(ahead(sb.unplaced_psn) <= ahead(sb.unplaced_end_psn) &&
                ahead(sb.unplaced_end_psn) <= ahead(sb.executed_psn),
            "the run of responses that were not placed is one of executed requests");
    u32 data = 0, start = 0;
    for (u32 index = req_.acked; index != req_.posted && start < SROCE_PSN_MAP_SPAN; index++) {
      const sroce_send_wqe* wqe = sroce_requester_wqe(&req_, index);
      u32 count = wqe->psn_count;
      if (!count) continue;
      if (!start) count -= (req_.unacked_psn - wqe->first_psn) & SROCE_PSN_MASK;
      count = std::min(count, SROCE_PSN_MAP_SPAN - start);
      if (wqe_is_data(wqe))
        data += sroce_psn_map_count(&sb.done, psn_add(req_.unacked_psn, start), count);
      start += count;
    }
    require(data == sb.done_data, "sacked packets are counted");
  }

  void complete() {
    sroce_completion wc;
    while (sroce_requester_next_completion(&req_, &wc)) {
      require(wc.wr_id >= completed_, "requests complete once and in order");
      completed_ = wc.wr_id + 1;
    }
  }

  Input& in_;
  sroce_requester req_;
  std::vector<u64> ring_;
  u64 now_ = 1, completed_ = 0;
  u8 bitmap_[SROCE_SACK_MAX_BYTES];
  std::vector<u8> exact_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, size_t bytes) {
  Input in(data, bytes);
  Target(in).run();
  return 0;
}
