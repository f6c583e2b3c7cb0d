/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A model of flows that share one link: hosts with links of the same rate, one queue that marks
 * packets, and ACKs and CNPs that return after a fixed delay. A step is the time of one packet on
 * the link.
 */
#ifndef TESTS_UNIT_TRANSPORT_BOTTLENECK_H
#define TESTS_UNIT_TRANSPORT_BOTTLENECK_H

#include <algorithm>
#include <deque>
#include <vector>

#include "port/engine.h"

struct Bottleneck {
  static constexpr u32 kMtu = 1024;
  static constexpr u32 kWire = kMtu + SROCE_CC_HEADER_BYTES;

  struct Flow {
    sroce_cc cc;
    sroce_np np;
    u64 start_ns;
    u32 inflight;
    u64 delivered;  // packets since the last count()
    u64 min_rtt_ns;
    u64 srtt_ns;
  };
  struct Packet {
    u32 flow;
    bool marked;
    u64 sent_ns;
    u64 back_ns;  // when the sender gets its ACK, and perhaps a CNP
  };

  Bottleneck(const sroce_cc_params& parameters, u64 rate_bytes_per_s, u64 rtt)
      : params(parameters),
        rate(rate_bytes_per_s),
        step_ns(u64{kWire} * 1000000000 / rate),
        rtt_ns(rtt) {}

  u32 add(u64 start_ns = 0) {
    Flow flow{};
    flow.start_ns = start_ns;
    sroce_cc_start(&flow.cc, &params, rate, kMtu, start_ns);
    flows.push_back(flow);
    return static_cast<u32>(flows.size() - 1);
  }

  void run_until(u64 end_ns) {
    for (; now_ns < end_ns; now_ns += step_ns) {
      deliver_acks();
      for (u32 i = 0; i < flows.size(); i++) send((i + turn) % flows.size());
      turn++;
      if (queue.empty()) {
        idle_steps++;
        continue;
      }
      Packet packet = queue.front();
      queue.pop_front();
      packet.back_ns = now_ns + rtt_ns;
      back.push_back(packet);
    }
  }

  // Restarts the counts of packets and idle steps, and the maximum queue length.
  void count() {
    for (Flow& flow : flows) flow.delivered = 0;
    max_queue = queue.size();
    idle_steps = 0;
    count_ns = now_ns;
  }
  // Share of the link's capacity used since count(), in percent.
  u64 utilisation() const {
    const u64 steps = (now_ns - count_ns) / step_ns;
    return steps ? 100 - idle_steps * 100 / steps : 0;
  }
  // Jain's index in percent.
  u64 fairness() const {
    u64 sum = 0, squares = 0;
    for (const Flow& flow : flows) {
      sum += flow.delivered;
      squares += flow.delivered * flow.delivered;
    }
    return squares ? 100 * sum * sum / (flows.size() * squares) : 0;
  }

  sroce_cc_params params;
  u64 rate;
  u64 step_ns;
  u64 rtt_ns;
  u64 now_ns = 1000000000;
  u64 count_ns = now_ns;
  u32 window = 256;
  u64 mark_from = 100000 / kWire;  // packets in the queue: RED's Kmin and Kmax
  u64 mark_all = 400000 / kWire;
  u64 mark_percent = 20;  // at Kmax
  bool marks = true;
  std::vector<Flow> flows;
  std::deque<Packet> queue;
  std::deque<Packet> back;
  u64 max_queue = 0;
  u64 idle_steps = 0;
  u32 turn = 0;
  u64 random = 88172645463325252ull;

 private:
  bool mark() {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    if (!marks || queue.size() < mark_from) return false;
    if (queue.size() >= mark_all) return true;
    return random % 10000 <
           100 * mark_percent * (queue.size() - mark_from) / (mark_all - mark_from);
  }

  // A host's own link carries one packet per step.
  void send(u32 index) {
    Flow& flow = flows[index];
    if (now_ns < flow.start_ns) return;
    if (flow.inflight >= std::min(window, sroce_cc_window_packets(&flow.cc))) return;
    if (!sroce_cc_sendable_packets(&flow.cc, now_ns)) return;
    sroce_cc_sent(&flow.cc, kWire, now_ns);
    flow.inflight++;
    queue.push_back({index, mark(), now_ns, 0});
    max_queue = std::max<u64>(max_queue, queue.size());
  }

  void deliver_acks() {
    for (; !back.empty() && back.front().back_ns <= now_ns; back.pop_front()) {
      const Packet& packet = back.front();
      Flow& flow = flows[packet.flow];
      const u64 rtt = now_ns - packet.sent_ns;
      flow.inflight--;
      flow.delivered++;
      flow.min_rtt_ns = flow.min_rtt_ns ? std::min(flow.min_rtt_ns, rtt) : rtt;
      flow.srtt_ns = flow.srtt_ns ? flow.srtt_ns - flow.srtt_ns / 8 + rtt / 8 : rtt;
      const sroce_cc_ack ack = {now_ns, 1, flow.inflight, rtt, flow.min_rtt_ns, flow.srtt_ns};
      sroce_cc_acked(&flow.cc, &ack);
      if (packet.marked && sroce_np_marked(&flow.np, &params, 1, now_ns))
        sroce_cc_cnp(&flow.cc, 0, now_ns);
    }
  }
};

#endif
