// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/fabric/host.h"

#include <algorithm>

namespace fabric {
namespace {

constexpr u32 kNicPackets = 2;

}  // namespace

u32 PacketPool::add(const Packet& packet) {
  if (free_.empty()) {
    packets_.push_back(packet);
    return static_cast<u32>(packets_.size() - 1);
  }
  const u32 index = free_.back();
  free_.pop_back();
  packets_[index] = packet;
  return index;
}

void Host::transmit(const Slot& slot, const sroce_packet& header, Ns now_ns) {
  Packet packet{header, slot.flow, slot.is_requester, false};
  stats_.data_packets +=
      header.payload_bytes && !(header.info->flags & (SROCE_OPF_SACK | SROCE_OPF_CNP));
  stats_.cnps += (header.info->flags & SROCE_OPF_CNP) != 0;
  const Ns arrival_ns = uplink_.send(packet, now_ns);
  if (arrival_ns != kNever) events_.push(arrival_ns, EventKind::at_switch, pool_.add(packet));
}

void Host::run(Ns now_ns) {
  for (const Slot& slot : slots_)
    if (slot.endpoint->deadline() <= now_ns) slot.endpoint->timeout(now_ns);
  for (size_t idle = 0; idle < slots_.size();) {
    const u64 backlog = uplink_.backlog_ps(now_ns) / packet_ps_;
    if (backlog >= kNicPackets) {
      schedule_transmit(uplink_.drained_at((kNicPackets - 1) * packet_ps_));
      break;
    }
    const Slot& slot = slots_[turn_];
    turn_ = (turn_ + 1) % slots_.size();
    out_.clear();
    slot.endpoint->send(now_ns, static_cast<u32>(kNicPackets - backlog), out_);
    idle = out_.empty() ? idle + 1 : 0;
    for (const sroce_packet& header : out_) transmit(slot, header, now_ns);
  }
  schedule_timer();
}

void Host::schedule_transmit(Ns time_ns) {
  if (time_ns >= transmit_ns_) return;
  transmit_ns_ = time_ns;
  events_.push(time_ns, EventKind::transmit, number_);
}

// A deadline that moves to a later time keeps its event, which then finds nothing to do. That is
// cheaper than a new event each time.
void Host::schedule_timer() {
  Ns deadline_ns = kNever;
  for (const Slot& slot : slots_) deadline_ns = std::min(deadline_ns, slot.endpoint->deadline());
  if (deadline_ns >= timer_ns_) return;
  timer_ns_ = deadline_ns;
  events_.push(deadline_ns, EventKind::timer, number_);
}

bool Host::transmit_due(Ns time_ns) {
  if (time_ns != transmit_ns_) return false;
  transmit_ns_ = kNever;
  return true;
}

void Host::timer_due(Ns time_ns) {
  if (time_ns == timer_ns_) timer_ns_ = kNever;
}

}  // namespace fabric
