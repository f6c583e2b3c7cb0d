// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A responder, a peer that sends arbitrary packets, and memory accesses that may fail.
#include <algorithm>
#include <map>
#include <vector>

#include "input.h"
#include "port/resource_storage.h"
#include "sim/coalesce.h"

using namespace sroce_fuzz;

namespace {

class Target {
 public:
  explicit Target(Input& in)
      : in_(in), capacity_(1 + in.below(8)), resources_(capacity_), recv_(4) {
    const u8 kind = in.byte();
    sroce_responder_init(&resp_, kind & 16 ? SROCE_SERVICE_UC : SROCE_SERVICE_RC,
                         reinterpret_cast<sroce_recv_wqe*>(recv_.data()));
    sroce_resources_init(&resp_.resources, resources_.get(), capacity_);
    resp_.attr = {.dest_qpn = 1,
                  .pkey = SROCE_PKEY_DEFAULT,
                  .mtu_bytes = 256u << in.below(5),
                  .qkey = 0,
                  .access = access(in.byte()),
                  .min_rnr_timer = static_cast<u8>(in.below(32))};
    static constexpr u32 kReorderPackets[] = {0, 3, 64, SROCE_PSN_MAP_SPAN, 1u << 20, 200, 0, 1};
    resp_.attr.reorder_packets = kReorderPackets[kind & 7];
    resp_.attr.selective = kind & 8;
    sroce_responder_start_psn(&resp_, in.word());
    sroce_responder_set_state(&resp_, SROCE_RQ_READY);
  }

  void run() {
    while (!in_.empty()) {
      handle(packet());
      respond();
      drop_queued();
      pass_time();
      check_queued();
    }
    sroce_responder_set_state(&resp_, SROCE_RQ_ERROR);
    complete();
    require(fetched_ == completed_, "every fetched receive completes once");
  }

 private:
  // Two bits also permit FLUSH.
  static u32 access(u8 bits) { return bits | (bits & 3u) << 8; }

  bool is_uc() const { return resp_.service == SROCE_SERVICE_UC; }

  sroce_packet packet() {
    sroce_packet pkt = {};
    pkt.count = 1;
    do {
      pkt.opcode = in_.byte() % (SROCE_OP_ATOMIC_WRITE + 1);
      if (is_uc()) pkt.opcode |= SROCE_SERVICE_UC;
      pkt.info = sroce_opcode_lookup(pkt.opcode);
    } while (!pkt.info);
    pkt.header_bytes = pkt.info->header_bytes;
    const u8 bits = in_.byte();
    pkt.ack_req = bits & 1;
    pkt.solicited = bits & 2;
    pkt.psn = bits & 4 ? in_.psn_near(resp_.epsn) : resp_.epsn;
    if (pkt.info->flags & SROCE_OPF_PAYLOAD)
      pkt.payload_bytes = std::min(in_.length(resp_.attr.mtu_bytes), 4096u);
    pkt.dma_length = bits & 8 ? in_.length(resp_.attr.mtu_bytes) : pkt.payload_bytes;
    pkt.va = bits & 16 ? ~u64{in_.byte()} : 0x10000;
    pkt.rkey = bits & 32 ? in_.byte() : 7;
    pkt.selective = bits & 64;
    pkt.placement = bits >> 1 & 7;
    if (pkt.info->flags & SROCE_OPF_FLUSH) pkt.level = in_.byte() & 3;
    if (sroce_responder_can_coalesce(&resp_, &pkt)) pkt.count += in_.below(8);
    pkt.payload_bytes *= pkt.count;
    return pkt;
  }

  // Queues packets that arrive out of order, as the datapath does, and executes them in order.
  void handle(const sroce_packet& pkt) {
    receive(pkt);
    drop_queued();
    u32 psn;
    while (sroce_reorder_next_queued(&resp_, &psn)) {
      const auto node = queued_.extract(psn);
      require(!node.empty(), "the next queued packet is in the queue");
      receive(coalesced(node.mapped()));
      drop_queued();
    }
  }

  // Coalesces @pkt with the queued packets behind it.
  sroce_packet coalesced(sroce_packet pkt) const {
    if (pkt.header_bytes != sizeof(sroce_bth)) return pkt;
    const u32 behind = sroce_reorder_queued_behind(&resp_, &pkt);
    const u32 bytes = pkt.payload_bytes;
    for (; pkt.count <= behind; pkt.count++) {
      const auto next = queued_.find(psn_add(pkt.psn, pkt.count));
      require(next != queued_.end(), "queued_behind() counts queued packets only");
      if (!sim::can_coalesce_next(pkt, next->second)) break;
      pkt.payload_bytes += bytes;
    }
    return pkt;
  }

  void drop_queued() {
    std::erase_if(queued_, [this](const auto& one) {
      return !resp_.reorder.count || psn_before(one.first, resp_.epsn);
    });
    require(queued_.size() == resp_.reorder.count, "queued packets are counted");
  }

  void check_queued() const {
    require(sroce_psn_map_count(&resp_.reorder.queued, 0, SROCE_PSN_MAP_SPAN) == queued_.size(),
            "the map contains the queued packets");
    require(queued_.size() <= std::min(resp_.attr.reorder_packets, SROCE_PSN_MAP_SPAN),
            "the reorder queue keeps its limit");
  }

  void pass_time() {
    if (const u64 pause = in_.byte(); pause >= 128) now_ += (pause - 128) * (pause - 128) * 200;
    sroce_reorder_timeout(&resp_, now_);
    require(sroce_reorder_deadline(&resp_) > now_, "the deadline is in the future");
  }

  void receive(const sroce_packet& pkt) {
    if (sroce_responder_wants_wqe(&resp_, &pkt) && in_.flag()) {
      resp_.recv->wr_id = fetched_++;
      resp_.recv->length = in_.length(resp_.attr.mtu_bytes);
      sroce_responder_take_wqe(&resp_);
    }
    sroce_recv_plan plan;
    if (is_uc())
      sroce_uc_plan(&resp_, &pkt, &plan);
    else
      sroce_responder_plan(&resp_, &pkt, &plan);
    if (plan.verdict == SROCE_RECV_PLACE) check_place(pkt, plan);
    sroce_recv_result result = {SROCE_MEM_OK, SROCE_MEM_OK, 42};
    if (const u8 memory = in_.byte(); memory >= 240) {
      result.status = static_cast<sroce_mem_status>(memory % (SROCE_MEM_BAD_LOCAL + 1));
      result.invalidated = memory & 8 ? SROCE_MEM_BAD_KEY : SROCE_MEM_OK;
    }
    if (plan.verdict == SROCE_RECV_QUEUE && !plan.queued && result.status == SROCE_MEM_OK)
      require(queued_.try_emplace(pkt.psn, pkt).second, "a packet is queued once");
    if (is_uc())
      sroce_uc_commit(&resp_, &pkt, &plan, &result);
    else
      sroce_responder_commit(&resp_, &pkt, &plan, &result, now_);
    sroce_responder_take_event(&resp_);
    complete();
  }

  void check_place(const sroce_packet& pkt, const sroce_recv_plan& plan) {
    require(plan.place_bytes == pkt.payload_bytes, "the whole payload is placed");
    if (plan.target == SROCE_TARGET_RECV)
      require(u64{plan.offset} + plan.place_bytes <= resp_.recv->length,
              "data is placed within the receive");
    if (plan.target == SROCE_TARGET_REGION)
      require(plan.place_bytes <= plan.check_bytes, "data is placed within the checked range");
  }

  void complete() {
    sroce_completion wc;
    while (sroce_responder_next_completion(&resp_, &wc)) {
      require(wc.wr_id == completed_, "receives complete in order");
      completed_++;
    }
  }

  // Sends some of the pending responses; the peer may be faster than our link.
  void respond() {
    for (u32 budget = in_.below(8); budget; budget--) {
      sroce_response_plan plan;
      if (!sroce_response_plan_next(&resp_, 1 + in_.below(64), &plan)) return;
      require(!is_uc(), "UC sends no response");
      require(plan.packet_count > 0, "a response has a packet");
      for (u32 i : {0u, plan.packet_count - 1}) {
        sroce_packet pkt;
        sroce_response_plan_packet(&resp_, &plan, i, &pkt);
        require(pkt.payload_bytes <= resp_.attr.mtu_bytes, "a response does not exceed the MTU");
        require(pkt.opcode != SROCE_OP_ACK || pkt.syndrome & SROCE_AETH_KIND_MASK ||
                    psn_before(pkt.psn, resp_.epsn),
                "only executed requests are acknowledged");
      }
      if (plan.kind == SROCE_RESPONSE_SACK) check_bitmap(plan);
      if (plan.kind == SROCE_RESPONSE_READ)
        require(u64{plan.offset} + plan.payload_bytes <=
                    sroce_resources_at(&resp_.resources, plan.resource)->length,
                "a response is within the checked range");
      sroce_response_commit(&resp_, &plan, in_.byte() == 255 ? SROCE_MEM_BAD_KEY : SROCE_MEM_OK);
    }
  }

  void check_bitmap(const sroce_response_plan& plan) {
    require(resp_.attr.selective && plan.payload_bytes <= SROCE_SACK_MAX_BYTES,
            "a bitmap keeps its limit");
    std::vector<u8> bitmap(plan.payload_bytes);
    sroce_reorder_write_sack(&resp_, bitmap.data(), plan.payload_bytes);
    size_t reported = 0;
    for (u32 bit = 0; bit < 8 * plan.payload_bytes; bit++) {
      if (!(bitmap[bit / 8] >> bit % 8 & 1)) continue;
      require(queued_.contains(psn_add(resp_.epsn, bit)), "a bitmap reports queued packets only");
      reported++;
    }
    require(reported == queued_.size(), "a bitmap reports all queued packets");
  }

  Input& in_;
  sroce_responder resp_;
  u32 capacity_;
  ResourceStorage resources_;
  std::vector<u64> recv_;
  u64 fetched_ = 0, completed_ = 0, now_ = 1;
  std::map<u32, sroce_packet> queued_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, size_t bytes) {
  Input in(data, bytes);
  Target(in).run();
  return 0;
}
