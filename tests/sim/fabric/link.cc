// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/fabric/link.h"

#include <algorithm>

namespace fabric {

u64 Link::backlog_ps(Ns now_ns) const {
  const u64 now_ps = now_ns * kPsPerNs;
  return busy_until_ps_ > now_ps ? busy_until_ps_ - now_ps : 0;
}

Ns Link::drained_at(u64 backlog_ps) const {
  if (busy_until_ps_ <= backlog_ps) return 0;
  return (busy_until_ps_ - backlog_ps + kPsPerNs - 1) / kPsPerNs;
}

// The backlog has drained at a constant rate since the last call, so its integral is a trapezium.
void Link::account(Ns now_ns) {
  const u64 now_ps = now_ns * kPsPerNs;
  const u64 backlog = busy_until_ps_ > accounted_ps_ ? busy_until_ps_ - accounted_ps_ : 0;
  const u64 busy = std::min(backlog, now_ps - accounted_ps_);
  stats_.area += static_cast<unsigned __int128>(2 * backlog - busy) * busy / 2;
  accounted_ps_ = now_ps;
}

void Link::restart_depth(Ns now_ns) {
  account(now_ns);
  stats_.area = 0;
  stats_.max_bytes = backlog_ps(now_ns) / settings_.ps_per_byte;
  depth_from_ps_ = now_ns * kPsPerNs;
}

u64 Link::mean_bytes(Ns now_ns) {
  account(now_ns);
  const u64 elapsed_ps = accounted_ps_ - depth_from_ps_;
  return elapsed_ps ? static_cast<u64>(stats_.area / elapsed_ps / settings_.ps_per_byte) : 0;
}

bool Link::is_marked(u64 queued_bytes) {
  const Marking& red = settings_.marking;
  if (!red.kmax_bytes || queued_bytes <= red.kmin_bytes) return false;
  if (queued_bytes >= red.kmax_bytes) return true;
  const u64 chance_ppm =
      red.pmax_ppm * (queued_bytes - red.kmin_bytes) / (red.kmax_bytes - red.kmin_bytes);
  return rng_->below(kMillion) < chance_ppm;
}

bool Link::is_lost(Ns now_ns) {
  const Faults& faults = settings_.faults;
  if (now_ns >= faults.outage_from_ns && now_ns - faults.outage_from_ns < faults.outage_ns)
    return true;
  return faults.loss_ppm && rng_->below(kMillion) < faults.loss_ppm;
}

Ns Link::extra_delay() {
  const Faults& faults = settings_.faults;
  if (!faults.extra_ns || rng_->below(kMillion) >= faults.delayed_ppm) return 0;
  if (faults.paths > 1) return rng_->below(faults.paths) * faults.extra_ns / (faults.paths - 1);
  return rng_->below(faults.extra_ns + 1);
}

Ns Link::send(Packet& packet, Ns now_ns) {
  const u32 bytes = wire_bytes(packet.header);
  const u64 queued_bytes = backlog_ps(now_ns) / settings_.ps_per_byte;
  if (queued_bytes + bytes > settings_.limit_bytes) {
    stats_.dropped++;
    return kNever;
  }
  account(now_ns);
  if (!(packet.header.info->flags & SROCE_OPF_CNP) && is_marked(queued_bytes)) {
    packet.marked = true;
    stats_.marked++;
  }
  stats_.max_bytes = std::max(stats_.max_bytes, queued_bytes + bytes);
  busy_until_ps_ = std::max(busy_until_ps_, now_ns * kPsPerNs) + bytes * settings_.ps_per_byte;
  if (is_lost(now_ns)) {
    stats_.lost++;
    return kNever;
  }
  Ns arrival_ns = drained_at(0) + settings_.delay_ns + extra_delay();
  if (settings_.faults.keeps_order) arrival_ns = std::max(arrival_ns, last_arrival_ns_);
  last_arrival_ns_ = arrival_ns;
  return arrival_ns;
}

}  // namespace fabric
