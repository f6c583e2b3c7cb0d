// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A responder as tests use it: they post receives, hand it requests, and check what it does.
#ifndef TESTS_UNIT_TRANSPORT_RECEIVE_QUEUE_H
#define TESTS_UNIT_TRANSPORT_RECEIVE_QUEUE_H

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "port/engine.h"
#include "port/resource_storage.h"
#include "repetition.h"
#include "requests.h"

namespace sroce_test {

struct ReceiveQueueOptions {
  sroce_service service = SROCE_SERVICE_RC;
  u32 psn = 2000;
  u32 mtu_bytes = 1024;
  u32 max_dest_rd_atomic = 4;
  u32 access = SROCE_ACCESS_REMOTE_WRITE | SROCE_ACCESS_REMOTE_READ | SROCE_ACCESS_REMOTE_ATOMIC |
               SROCE_ACCESS_FLUSH_GLOBAL;
  u8 min_rnr_timer = 12;
  u32 qkey = 0x1234;
  u32 reorder_packets = 0;
  bool selective = false;
  u8 offers = SROCE_OFFERS_MIN;  // of a selective peer before the test
  u64 rnr_delay_ns = 0;
};

class ReceiveQueue {
 public:
  explicit ReceiveQueue(const ReceiveQueueOptions& options = {})
      : resources_(options.max_dest_rd_atomic), recv_(8) {
    sroce_responder_init(&resp, options.service, reinterpret_cast<sroce_recv_wqe*>(recv_.data()));
    sroce_resources_init(&resp.resources, resources_.get(), options.max_dest_rd_atomic);
    resp.attr = {.dest_qpn = 0x445566,
                 .pkey = SROCE_PKEY_DEFAULT,
                 .mad_bytes = 0,
                 .mtu_bytes = options.mtu_bytes,
                 .qkey = options.qkey,
                 .access = options.access,
                 .min_rnr_timer = options.min_rnr_timer,
                 .rnr_delay_ns = options.rnr_delay_ns,
                 .reorder_packets = options.reorder_packets,
                 .selective = options.selective,
                 .shares_rwqes = false};
    if (options.selective) resp.reorder.offers = options.offers;
    sroce_responder_start_psn(&resp, options.psn);
    sroce_responder_set_state(&resp, SROCE_RQ_READY);
  }
  ReceiveQueue(const ReceiveQueue&) = delete;

  // wr_id counts from 0.
  void post(u32 bytes) { buffers_.push_back({bytes, SROCE_WC_SUCCESS}); }
  // Posts a receive that the datapath finds invalid when it fetches it.
  void post_rejected(sroce_wc_status status) { buffers_.push_back({0, status}); }
  size_t buffers_left() const { return buffers_.size(); }

  sroce_recv_plan plan(const sroce_packet& pkt) const {
    const Snapshot before(*this);
    sroce_recv_plan first, second;
    for (sroce_recv_plan* made : {&first, &second}) {
      if (resp.service == SROCE_SERVICE_UD)
        sroce_ud_plan(&resp, &pkt, made);
      else if (resp.service == SROCE_SERVICE_UC)
        sroce_uc_plan(&resp, &pkt, made);
      else
        sroce_responder_plan(&resp, &pkt, made);
    }
    EXPECT_EQ(memcmp(&first, &second, sizeof(first)), 0) << "a repeated plan differs";
    EXPECT_TRUE(before.same_as(*this)) << "planning changed the responder";
    return first;
  }

  // Handles a packet as the datapath does, and those it releases. @result: of the memory access.
  sroce_recv_plan receive(const sroce_packet& pkt, const sroce_recv_result& result = {}) {
    const sroce_recv_plan made = receive_one(pkt, result);
    enqueue(made, pkt, result);
    drain_queue();
    return made;
  }
  // The datapath finds a receive that a queued packet waits for.
  void rwqe_posted() {
    sroce_reorder_rwqe_posted(&resp, now);
    drain_queue();
  }
  // Queued packets have an age limit, too, which is far away.
  bool timer_runs() const { return sroce_reorder_deadline(&resp) < now + 1'000'000'000; }
  void expire() {
    ASSERT_NE(sroce_reorder_deadline(&resp), SROCE_NEVER);
    now = sroce_reorder_deadline(&resp);
    sroce_reorder_timeout(&resp, now);
    drop_queued();
  }

  std::optional<sroce_response_plan> next_response(u32 max_packets = 1u << 24) const {
    const Snapshot before(*this);
    sroce_response_plan first, second;
    const bool any = sroce_response_plan_next(&resp, max_packets, &first);
    EXPECT_EQ(sroce_response_plan_next(&resp, max_packets, &second), any);
    EXPECT_FALSE(any && sroce_responder_is_idle(&resp));
    EXPECT_EQ(memcmp(&first, &second, sizeof(first)), 0) << "a repeated plan differs";
    EXPECT_TRUE(before.same_as(*this)) << "planning changed the responder";
    return any ? std::optional(first) : std::nullopt;
  }
  sroce_packet packet(const sroce_response_plan& plan, u32 i) const {
    return packet_of_burst(i, plan.packet_count, [&](u32 number, sroce_packet* pkt) {
      sroce_response_plan_packet(&resp, &plan, number, pkt);
    });
  }
  void sent(const sroce_response_plan& plan, sroce_mem_status fetched = SROCE_MEM_OK) {
    sroce_response_commit(&resp, &plan, fetched);
  }
  // Sends everything that is due.
  std::vector<sroce_packet> respond(u32 max_packets = 1u << 24) {
    std::vector<sroce_packet> packets;
    while (auto made = next_response(max_packets)) {
      for (u32 i = 0; i < made->packet_count; i++) packets.push_back(packet(*made, i));
      sent(*made);
    }
    return packets;
  }
  sroce_rq_event event() { return sroce_responder_take_event(&resp); }

  sroce_responder resp;
  u64 now = 1000;
  std::vector<sroce_completion> completions;
  std::vector<u32> released;  // PSNs of packets that left the reorder queue
  bool pages_present = true;  // else a page of the memory of each RC request is missing

 private:
  struct Buffer {
    u32 bytes;
    sroce_wc_status status;
  };
  struct Snapshot {
    explicit Snapshot(const ReceiveQueue& queue) : resources(queue.resources_), recv(queue.recv_) {
      memcpy(&resp, &queue.resp, sizeof(resp));
    }
    bool same_as(const ReceiveQueue& queue) const {
      return !memcmp(&resp, &queue.resp, sizeof(resp)) && recv == queue.recv_ &&
             resources == queue.resources_;
    }
    sroce_responder resp;
    ResourceStorage resources;
    std::vector<u64> recv;
  };

  void enqueue(const sroce_recv_plan& made, const sroce_packet& pkt,
               const sroce_recv_result& result) {
    if (made.verdict != SROCE_RECV_QUEUE || made.queued || result.status != SROCE_MEM_OK) return;
    EXPECT_TRUE(queued_.try_emplace(pkt.psn, pkt).second);
  }
  void drain_queue() {
    u32 psn;
    while (sroce_reorder_next_queued(&resp, &psn)) {
      const auto node = queued_.extract(psn);
      EXPECT_FALSE(node.empty()) << "a packet that was never queued: " << psn;
      if (node.empty()) break;
      released.push_back(psn);
      node.mapped().was_queued = true;
      enqueue(receive_one(node.mapped(), {}), node.mapped(), {});
    }
    drop_queued();
  }
  // As the datapath does, drops what the engine has passed or given up.
  void drop_queued() {
    std::erase_if(queued_, [this](const auto& one) {
      return !resp.reorder.count || psn_before(one.first, resp.epsn);
    });
    EXPECT_EQ(queued_.size(), resp.reorder.count);
  }

  sroce_recv_plan receive_one(const sroce_packet& pkt, const sroce_recv_result& result) {
    if (sroce_responder_wants_wqe(&resp, &pkt) && !buffers_.empty()) fetch_buffer(pkt.srqn);
    sroce_recv_plan made = plan(pkt);
    const Snapshot before(*this);
    if (!pages_present && made.verdict >= SROCE_RECV_PLACE && made.verdict < SROCE_RECV_REPLAY)
      sroce_reorder_plan_wait(&resp, &pkt, &made);
    if (resp.service == SROCE_SERVICE_UD)
      sroce_ud_commit(&resp, &pkt, &made, &result);
    else if (resp.service == SROCE_SERVICE_UC)
      EXPECT_EQ(sroce_uc_commit(&resp, &pkt, &made, &result),
                result.status == SROCE_MEM_OK || result.status == SROCE_MEM_BAD_LOCAL);
    else
      sroce_responder_commit(&resp, &pkt, &made, &result, now);
    // A dropped packet of UC ends its message.
    const bool may_change = made.verdict != SROCE_RECV_DROP || resp.service == SROCE_SERVICE_UC;
    EXPECT_TRUE(may_change || before.same_as(*this)) << "a dropped request changed the responder";
    sroce_completion wc;
    while (sroce_responder_next_completion(&resp, &wc)) completions.push_back(wc);
    return made;
  }

  void fetch_buffer(u32 srqn) {
    resp.recv->srqn = srqn;
    resp.recv->wr_id = next_wr_id_++;
    resp.recv->status = static_cast<u8>(buffers_.front().status);
    resp.recv->length = buffers_.front().bytes;
    resp.recv->num_sge = 1;
    buffers_.pop_front();
    sroce_responder_take_wqe(&resp);
  }

  ResourceStorage resources_;
  std::vector<u64> recv_;
  std::deque<Buffer> buffers_;
  u64 next_wr_id_ = 0;
  std::map<u32, sroce_packet> queued_;
};

// Results of memory accesses.
constexpr sroce_recv_result outcome(sroce_mem_status status) { return {status, SROCE_MEM_OK, 0}; }
constexpr sroce_recv_result original(u64 value) { return {SROCE_MEM_OK, SROCE_MEM_OK, value}; }
constexpr sroce_recv_result kBadKey = outcome(SROCE_MEM_BAD_KEY);
constexpr sroce_recv_result kBadRange = outcome(SROCE_MEM_BAD_RANGE);

constexpr u8 kAckSyndrome = SROCE_AETH_ACK | SROCE_AETH_CREDITS_INVALID;

inline void expect_dropped(ReceiveQueue& rq, const sroce_packet& pkt, sroce_drop_reason reason) {
  const sroce_recv_plan plan = rq.receive(pkt);
  EXPECT_EQ(plan.verdict, SROCE_RECV_DROP);
  EXPECT_EQ(plan.reason, reason);
}

// The peer gets exactly this NAK.
inline void expect_nak(ReceiveQueue& rq, u8 syndrome, u32 psn) {
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].opcode, SROCE_OP_ACK);
  EXPECT_EQ(responses[0].syndrome, syndrome);
  EXPECT_EQ(responses[0].psn, psn);
}

inline void expect_fatal_nak(ReceiveQueue& rq, const sroce_packet& pkt, u8 syndrome,
                             const sroce_recv_result& result = {}) {
  rq.receive(pkt, result);
  expect_nak(rq, syndrome, pkt.psn);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_FAILED);
}

// A READ of full responses from PSN 2000, all sent. repeat() requests a part of it again.
struct RespondedRead : ReceiveQueue {
  explicit RespondedRead(u32 responses = 10, const ReceiveQueueOptions& options = {})
      : ReceiveQueue(options) {
    repeat(0, responses);
    respond();
  }
  void repeat(u32 number, u32 count, const sroce_recv_result& result = {}) {
    const u32 mtu_bytes = resp.attr.mtu_bytes;
    receive(read_request(2000 + number, 0x10000 + u64{number} * mtu_bytes, count * mtu_bytes),
            result);
  }
};

// A SEND of 3 KiB whose FIRST (PSN 2000) has arrived.
struct ResponderMidSend : ReceiveQueue {
  explicit ResponderMidSend(u32 buffer_bytes = 8192, const ReceiveQueueOptions& options = {})
      : ReceiveQueue(options) {
    post(buffer_bytes);
    receive(request(SROCE_OP_SEND_FIRST, 2000, 1024));
  }
};

// A WRITE of @message_bytes to 0x10000 whose FIRST (PSN 2000) has arrived.
struct ResponderMidWrite : ReceiveQueue {
  explicit ResponderMidWrite(u32 message_bytes = 3000) {
    receive(write_first(2000, 0x10000, message_bytes));
  }
};

}  // namespace sroce_test

#endif
