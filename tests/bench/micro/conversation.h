// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Both ends of a connection without payload, to measure the cost of the engine alone.
#ifndef TESTS_BENCH_MICRO_CONVERSATION_H
#define TESTS_BENCH_MICRO_CONVERSATION_H

#include <cstring>
#include <vector>

#include "port/engine.h"
#include "port/resource_storage.h"

namespace bench {

inline constexpr u32 slots = 128;
inline constexpr u32 stride = sizeof(sroce_send_wqe) + 2 * sizeof(sroce_sge);
inline constexpr u32 first_psn = 1000;
inline constexpr u32 mtu_bytes = 1024;

inline u32 packets_of(u32 length) { return (length + mtu_bytes - 1) / mtu_bytes; }

// A requester and its responder on a path without loss.
class Conversation {
 public:
  Conversation() : ring_(slots * stride / sizeof(u64)), resources_(4), recv_(16) {
    sroce_requester_init(&req_, SROCE_SERVICE_RC, ring_.data(), stride, slots);
    req_.attr = {.qpn = 17,
                 .dest_qpn = 18,
                 .pkey = SROCE_PKEY_DEFAULT,
                 .mtu_bytes = mtu_bytes,
                 .window_packets = 1024,
                 .max_rd_atomic = 4,
                 .retry_cnt = 7,
                 .rnr_retry = 7,
                 .ack_timeout_ns = 67'000'000};
    sroce_requester_start_psn(&req_, first_psn);
    sroce_requester_set_state(&req_, SROCE_SQ_READY);
    sroce_responder_init(&resp_, SROCE_SERVICE_RC, reinterpret_cast<sroce_recv_wqe*>(recv_.data()));
    sroce_resources_init(&resp_.resources, resources_.get(), 4);
    resp_.attr = {.dest_qpn = 17,
                  .pkey = SROCE_PKEY_DEFAULT,
                  .mtu_bytes = mtu_bytes,
                  .access = SROCE_ACCESS_REMOTE_WRITE | SROCE_ACCESS_REMOTE_READ,
                  .min_rnr_timer = 8};
    sroce_responder_start_psn(&resp_, first_psn);
    sroce_responder_set_state(&resp_, SROCE_RQ_READY);
  }
  Conversation(const Conversation&) = delete;

  void post(u8 opcode, u32 length) {
    sroce_send_wqe* wqe = sroce_requester_wqe(&req_, req_.posted);
    memset(static_cast<void*>(wqe), 0, stride);
    wqe->opcode = opcode;
    wqe->flags = SROCE_SEND_SIGNALED;
    wqe->length = length;
    wqe->rdma = {.remote_addr = 0x10000, .rkey = 0xabcd};
    sroce_requester_post(&req_);
  }

  // Delivers all posted requests and all responses. Returns the number of completed requests.
  u32 run() {
    for (;;) {
      sroce_send_plan plan;
      sroce_requester_plan(&req_, 64, &plan);
      if (plan.action != SROCE_SEND_PACKETS) break;
      for (u32 i = 0; i < plan.packet_count; i++) {
        sroce_packet pkt;
        sroce_send_plan_packet(&req_, &plan, i, &pkt);
        respond_to(pkt);
      }
      sroce_requester_commit(&req_, &plan, SROCE_WC_SUCCESS, ++now_);
      deliver_responses();
    }
    u32 done = 0;
    sroce_completion wc;
    while (sroce_requester_next_completion(&req_, &wc)) done += wc.status == SROCE_WC_SUCCESS;
    return done;
  }

 private:
  void respond_to(const sroce_packet& pkt) {
    if (sroce_responder_wants_wqe(&resp_, &pkt)) {
      resp_.recv->length = 1 << 20;
      sroce_responder_take_wqe(&resp_);
    }
    sroce_recv_plan plan;
    sroce_responder_plan(&resp_, &pkt, &plan);
    const sroce_recv_result result = {.status = SROCE_MEM_OK, .invalidated = SROCE_MEM_OK};
    sroce_responder_commit(&resp_, &pkt, &plan, &result, ++now_);
    sroce_completion wc;
    sroce_responder_next_completion(&resp_, &wc);
  }

  void deliver_responses() {
    sroce_response_plan plan;
    while (sroce_response_plan_next(&resp_, 64, &plan)) {
      for (u32 i = 0; i < plan.packet_count; i++) {
        sroce_packet pkt;
        sroce_response_plan_packet(&resp_, &plan, i, &pkt);
        sroce_ack_plan ack;
        sroce_completer_plan(&req_, &pkt, &ack);
        sroce_completer_commit(&req_, &ack, SROCE_MEM_OK, ++now_);
      }
      sroce_response_commit(&resp_, &plan, SROCE_MEM_OK);
    }
  }

  std::vector<u64> ring_;
  ResourceStorage resources_;
  std::vector<u64> recv_;
  sroce_requester req_{};
  sroce_responder resp_{};
  u64 now_ = 1;
};

}  // namespace bench

#endif
