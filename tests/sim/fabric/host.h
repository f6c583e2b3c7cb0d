// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A host: its endpoints take turns at a NIC that queues at most two packets.
#ifndef TESTS_SIM_FABRIC_HOST_H
#define TESTS_SIM_FABRIC_HOST_H

#include <vector>

#include "sim/fabric/endpoint.h"
#include "sim/fabric/event_queue.h"

namespace fabric {

struct HostStats {
  u64 data_packets = 0;  // with payload
  u64 cnps = 0;
};

// Packets in flight, by index.
class PacketPool {
 public:
  u32 add(const Packet& packet);
  Packet& at(u32 index) { return packets_[index]; }
  void remove(u32 index) { free_.push_back(index); }

 private:
  std::vector<Packet> packets_;
  std::vector<u32> free_;
};

class Host {
 public:
  Host(u32 number, const Link& uplink, u32 full_bytes, EventQueue& events, PacketPool& pool)
      : number_(number),
        packet_ps_(full_bytes * uplink.ps_per_byte()),
        uplink_(uplink),
        events_(events),
        pool_(pool) {}

  void add(Endpoint& endpoint, u32 flow, bool is_requester) {
    slots_.push_back({&endpoint, flow, is_requester});
  }
  // Handles expired deadlines, then sends what it can.
  void run(Ns now_ns);
  // Consumes an event of this host. Returns false if the event is out of date.
  bool transmit_due(Ns time_ns);
  void timer_due(Ns time_ns);
  HostStats& stats() { return stats_; }
  Link& uplink() { return uplink_; }

 private:
  struct Slot {
    Endpoint* endpoint;
    u32 flow;
    bool is_requester;
  };

  void transmit(const Slot& slot, const sroce_packet& header, Ns now_ns);
  void schedule_transmit(Ns time_ns);
  void schedule_timer();

  const u32 number_;
  const u64 packet_ps_;
  Link uplink_;
  EventQueue& events_;
  PacketPool& pool_;
  std::vector<Slot> slots_;
  size_t turn_ = 0;
  Ns transmit_ns_ = kNever;  // scheduled events
  Ns timer_ns_ = kNever;
  std::vector<sroce_packet> out_;
  HostStats stats_;
};

}  // namespace fabric

#endif
