// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The check of a work request with an arbitrary ring slot of a process. If the request passes, no
// packet of it may exceed the message.
#include <cstring>
#include <vector>

#include "input.h"

using namespace sroce_fuzz;

namespace {

constexpr u32 kMaxSge = 4;
constexpr u32 kMaxInline = 64;
constexpr u32 kStride = offsetof(sroce_send_wqe, sge) + kMaxSge * sizeof(sroce_sge);

// The datapath copies the whole slot, whatever its content.
void fill(Input& in, sroce_send_wqe* wqe) {
  wqe->wr_id = in.word();
  wqe->opcode = in.byte();
  wqe->flags = in.byte();
  wqe->num_sge = in.flag() ? in.below(kMaxSge + 2) : in.word();
  wqe->length = in.length(1024);
  wqe->rdma = {.remote_addr = in.word(), .rkey = in.word()};
  if (wqe->opcode == SROCE_WR_FLUSH) {
    wqe->flush.length = in.length(1024);
    wqe->flush.placement = in.byte();
    wqe->flush.level = in.byte();
  }
  for (u32 i = 0; i < kMaxSge; i++) wqe->sge[i] = {.addr = 0, .length = in.length(1024), .lkey = 0};
  if (in.flag() && wqe->num_sge <= kMaxSge) {
    wqe->length = 0;
    for (u32 i = 0; i < wqe->num_sge; i++) wqe->length += wqe->sge[i].length;
  }
}

void check_accepted(const sroce_send_wqe* wqe, const sroce_wqe_limits& limits) {
  if (wqe_is_local(wqe->opcode)) return;
  require(wqe->length <= SROCE_MAX_MESSAGE_BYTES, "a message has at most 2^31 bytes");
  if (wqe->flags & SROCE_SEND_INLINE) {
    require(wqe->length <= limits.max_inline_bytes, "inline payload fits its slot");
    require(!wqe_is_rd_atomic(wqe->opcode) || wqe->opcode == SROCE_WR_ATOMIC_WRITE,
            "an inline request has no response data");
    return;
  }
  require(wqe->num_sge <= limits.max_sge, "elements fit the slot");
  u64 sum = 0;
  for (u32 i = 0; i < wqe->num_sge; i++) sum += wqe->sge[i].length;
  require(sum == wqe->length, "elements add up to the message");
  require(!wqe_is_atomic(wqe->opcode) || wqe->length == 8, "an atomic has eight bytes");
  if (wqe->opcode != SROCE_WR_FLUSH) return;
  require(!wqe->length, "a FLUSH has no payload");
  require(wqe->flush.level == SROCE_FLUSH_MR || wqe->flush.length <= SROCE_MAX_MESSAGE_BYTES,
          "a FLUSH has at most 2^31 bytes");
}

void send(sroce_requester* req, const sroce_send_wqe* wqe) {
  u64 sent_bytes = 0;
  for (;;) {
    sroce_send_plan plan;
    sroce_requester_plan(req, 1u << 22, &plan);
    if (plan.action == SROCE_SEND_NOTHING) break;
    for (u32 i : {0u, plan.packet_count / 2, plan.packet_count - 1}) {
      if (plan.action != SROCE_SEND_PACKETS) break;
      sroce_packet pkt;
      u8 header[SROCE_MAX_HEADER_BYTES];
      sroce_send_plan_packet(req, &plan, i, &pkt);
      require(pkt.payload_bytes <= req->attr.mtu_bytes, "a packet does not exceed the MTU");
      require(plan.offset + u64{plan.payload_bytes} <= wqe->length,
              "the payload is within the message");
      require(sroce_packet_write(&pkt, header) <= sizeof(header), "headers fit");
    }
    sent_bytes += plan.payload_bytes;
    sroce_requester_commit(req, &plan, SROCE_WC_SUCCESS, 1000);
  }
  require(sent_bytes <= wqe->length, "no byte is sent twice");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, size_t bytes) {
  Input in(data, bytes);
  std::vector<u64> ring(kStride / sizeof(u64));
  auto* wqe = reinterpret_cast<sroce_send_wqe*>(ring.data());
  static constexpr sroce_service kServices[] = {SROCE_SERVICE_RC, SROCE_SERVICE_UC,
                                                SROCE_SERVICE_UD};
  const sroce_service service = kServices[in.below(3)];
  const u32 mtu_bytes = 256u << in.below(5);
  const sroce_wqe_limits limits = {.service = static_cast<u8>(service),
                                   .max_sge = kMaxSge,
                                   .max_inline_bytes = kMaxInline,
                                   .mtu_bytes = mtu_bytes};
  fill(in, wqe);
  if (sroce_wqe_check(wqe, &limits) != SROCE_WC_SUCCESS) return 0;
  check_accepted(wqe, limits);

  sroce_requester req;
  sroce_requester_init(&req, service, ring.data(), kStride, 1);
  req.attr.mtu_bytes = mtu_bytes;
  req.attr.window_packets = SROCE_PSN_SPAN;
  req.attr.max_rd_atomic = 1;
  sroce_requester_start_psn(&req, in.word());
  sroce_requester_set_state(&req, SROCE_SQ_READY);
  sroce_requester_post(&req);
  send(&req, wqe);
  return 0;
}
