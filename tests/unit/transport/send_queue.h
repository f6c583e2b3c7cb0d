// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A requester as tests use it: they post work, send what it plans and hand it responses.
#ifndef TESTS_UNIT_TRANSPORT_SEND_QUEUE_H
#define TESTS_UNIT_TRANSPORT_SEND_QUEUE_H

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "port/engine.h"
#include "repetition.h"
#include "work.h"

namespace sroce_test {

constexpr u32 kSgeSlots = 2;
constexpr u32 kStride = offsetof(sroce_send_wqe, sge) + kSgeSlots * sizeof(sroce_sge);
constexpr u64 kMillisecond = 1'000'000;

struct SendQueueOptions {
  sroce_service service = SROCE_SERVICE_RC;
  u32 slots = 16;
  u32 psn = 1000;
  u32 mtu_bytes = 1024;
  u32 window_packets = 64;
  u8 max_rd_atomic = 4;
  u8 retry_cnt = 7;
  u8 rnr_retry = 6;
  u64 ack_timeout_ns = 100 * kMillisecond;
  bool adaptive = false;
  bool selective = false;
};

class SendQueue {
 public:
  explicit SendQueue(const SendQueueOptions& options = {})
      : ring_(options.slots * kStride / sizeof(u64)) {
    sroce_requester_init(&req, options.service, ring_.data(), kStride, options.slots);
    req.attr = {.qpn = 17,
                .dest_qpn = 0x112233,
                .pkey = SROCE_PKEY_DEFAULT,
                .mtu_bytes = options.mtu_bytes,
                .window_packets = options.window_packets,
                .max_rd_atomic = options.max_rd_atomic,
                .retry_cnt = options.retry_cnt,
                .rnr_retry = options.rnr_retry,
                .ack_timeout_ns = options.ack_timeout_ns,
                .adaptive = options.adaptive,
                .selective = options.selective};
    sroce_requester_start_psn(&req, options.psn);
    sroce_requester_set_state(&req, SROCE_SQ_READY);
  }
  SendQueue(const SendQueue&) = delete;
  // wr_id is the position, so that completions name their request.
  u32 post(const Work& work) {
    EXPECT_GT(sroce_requester_room(&req), 0u);
    const u32 index = req.posted;
    sroce_send_wqe* wqe = sroce_requester_wqe(&req, index);
    memset(static_cast<void*>(wqe), 0, kStride);
    wqe->wr_id = index;
    wqe->opcode = work.opcode;
    wqe->flags = work.flags;
    wqe->status = work.status;
    wqe->length = work.length;
    wqe->srqn = work.srqn;
    if (wqe_is_atomic(work.opcode)) {
      const bool swaps = work.opcode == SROCE_WR_COMPARE_SWAP;
      wqe->atomic = {.remote_addr = work.remote_addr,
                     .rkey = work.rkey,
                     .compare_add = swaps ? work.compare : work.swap_add,
                     .swap = swaps ? work.swap_add : 0};
    } else if (req.service == SROCE_SERVICE_UD) {
      wqe->ud = {.ah = nullptr, .dest_qpn = 0x99, .qkey = 0x1234};
    } else if (work.opcode == SROCE_WR_FLUSH) {
      wqe->flush = {.remote_addr = work.remote_addr,
                    .rkey = work.rkey,
                    .length = work.flush_bytes,
                    .placement = work.placement,
                    .level = work.level};
    } else if (!wqe_is_local(work.opcode)) {
      wqe->rdma = {.remote_addr = work.remote_addr, .rkey = work.rkey};
    }
    if (work.opcode == SROCE_WR_SEND_INV || work.opcode == SROCE_WR_LOCAL_INV)
      wqe->invalidate_rkey = work.invalidate_rkey;
    else
      wqe->imm = work.imm;
    sroce_requester_post(&req);
    return index;
  }

  // Makes every plan twice: both must be equal, and neither may change the state.
  sroce_send_plan plan(u32 max_packets = 1u << 24) const {
    const Snapshot before(*this);
    sroce_send_plan first, second;
    sroce_requester_plan(&req, max_packets, &first);
    sroce_requester_plan(&req, max_packets, &second);
    EXPECT_EQ(memcmp(&first, &second, sizeof(first)), 0) << "a repeated plan differs";
    EXPECT_TRUE(before.same_as(*this)) << "planning changed the requester";
    EXPECT_FALSE(sroce_requester_is_idle(&req) && first.action != SROCE_SEND_NOTHING);
    return first;
  }
  void commit(const sroce_send_plan& plan, sroce_wc_status status = SROCE_WC_SUCCESS) {
    sroce_requester_commit(&req, &plan, status, now);
  }
  sroce_send_plan send(u32 max_packets = 1u << 24) {
    const sroce_send_plan made = plan(max_packets);
    commit(made);
    return made;
  }
  sroce_packet packet(const sroce_send_plan& plan, u32 i) const {
    return packet_of_burst(i, plan.packet_count, [&](u32 number, sroce_packet* pkt) {
      sroce_send_plan_packet(&req, &plan, number, pkt);
    });
  }
  // Sends until nothing more may be sent; returns all packets in order. Local operations succeed.
  std::vector<sroce_packet> send_all(u32 max_packets = 1u << 24) {
    std::vector<sroce_packet> sent;
    for (;;) {
      const sroce_send_plan made = plan(max_packets);
      if (made.action == SROCE_SEND_NOTHING) return sent;
      for (u32 i = 0; i < made.packet_count; i++) sent.push_back(packet(made, i));
      commit(made);
    }
  }

  sroce_ack_plan plan_response(const sroce_packet& pkt) const {
    const Snapshot before(*this);
    sroce_ack_plan first, second;
    sroce_completer_plan(&req, &pkt, &first);
    sroce_completer_plan(&req, &pkt, &second);
    EXPECT_EQ(memcmp(&first, &second, sizeof(first)), 0) << "a repeated plan differs";
    EXPECT_TRUE(before.same_as(*this)) << "planning changed the requester";
    return first;
  }
  sroce_ack_plan receive(sroce_packet pkt, sroce_mem_status placed = SROCE_MEM_OK) {
    if (req.sb.mode == SROCE_SELECTIVE_ON && keeps_accepting) pkt.selective = true;
    const sroce_ack_plan made = plan_response(pkt);
    Snapshot before(*this);
    events = sroce_completer_commit(&req, &made, placed, now);
    before.req.responded |= made.reason == SROCE_DROP_DUPLICATE;
    EXPECT_TRUE(made.action != SROCE_ACK_DROP || before.same_as(*this))
        << "a dropped response changed the requester";
    return made;
  }

  // A selective ACK: everything up to @psn is executed, and @queued is queued.
  sroce_ack_plan receive_sack(u32 psn, const std::vector<u32>& queued, u32 bytes = 8);
  std::optional<sroce_completion> completion() {
    sroce_completion wc;
    if (!sroce_requester_next_completion(&req, &wc)) return std::nullopt;
    return wc;
  }
  std::vector<sroce_completion> completions() {
    std::vector<sroce_completion> all;
    while (auto wc = completion()) all.push_back(*wc);
    return all;
  }

  bool timer_runs() const { return sroce_requester_deadline(&req) != SROCE_NEVER; }
  // Advances the clock to the timer's deadline.
  void expire() {
    ASSERT_TRUE(timer_runs());
    now = sroce_requester_deadline(&req);
    events = sroce_requester_timeout(&req, now);
  }
  bool failed() const { return req.state == SROCE_SQ_ERROR; }

  sroce_requester req;
  u64 now = 5 * kMillisecond;
  u32 events = 0;               // of the last response or timeout
  bool keeps_accepting = true;  // a peer that has accepted selective repeat always does

 private:
  struct Snapshot {
    explicit Snapshot(const SendQueue& queue) : ring(queue.ring_) {
      memcpy(&req, &queue.req, sizeof(req));
    }
    bool same_as(const SendQueue& queue) const {
      return !memcmp(&req, &queue.req, sizeof(req)) && ring == queue.ring_;
    }
    sroce_requester req;
    std::vector<u64> ring;
  };

  std::vector<u64> ring_;
};

// Responses, as a peer would send them.
inline sroce_packet response(u8 opcode, u32 psn) {
  sroce_packet pkt = {};
  pkt.count = 1;
  pkt.opcode = opcode;
  pkt.info = sroce_opcode_lookup(opcode);
  pkt.header_bytes = pkt.info->header_bytes;
  pkt.psn = psn & SROCE_PSN_MASK;
  pkt.syndrome = SROCE_AETH_ACK | SROCE_AETH_CREDITS_INVALID;
  return pkt;
}
inline sroce_packet ack(u32 psn) { return response(SROCE_OP_ACK, psn); }
inline sroce_packet nak(u8 syndrome, u32 psn) {
  sroce_packet pkt = ack(psn);
  pkt.syndrome = syndrome;
  return pkt;
}
inline sroce_packet rnr_nak(u32 psn, u8 timer = 1) {
  return nak(static_cast<u8>(SROCE_AETH_RNR_NAK | timer), psn);
}
inline sroce_packet atomic_ack(u32 psn, u64 original) {
  sroce_packet pkt = response(SROCE_OP_ATOMIC_ACK, psn);
  pkt.atomic_original = original;
  return pkt;
}
inline sroce_packet read_response(u8 opcode, u32 psn, u32 payload_bytes) {
  sroce_packet pkt = response(opcode, psn);
  pkt.payload_bytes = payload_bytes;
  return pkt;
}

// From a peer that supports selective repeat.
inline sroce_packet selective(sroce_packet pkt) {
  pkt.selective = true;
  return pkt;
}

inline sroce_ack_plan SendQueue::receive_sack(u32 psn, const std::vector<u32>& queued, u32 bytes) {
  std::vector<u8> bitmap(bytes);
  for (u32 one : queued) {
    const u32 bit = (one - psn - 1) & SROCE_PSN_MASK;
    bitmap.at(bit / 8) |= static_cast<u8>(1u << bit % 8);
  }
  sroce_packet pkt = selective(response(SROCE_OP_SACK, psn));
  pkt.payload_bytes = bytes;
  pkt.sack = bitmap.data();
  return receive(pkt);
}

}  // namespace sroce_test

#endif
