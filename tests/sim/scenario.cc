// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/scenario.h"

#include <algorithm>
#include <bit>

#include "sim/log.h"

namespace sim {
namespace {

// Small rates are common, large ones rare.
double random_rate(Rng& rng) {
  static constexpr double kRates[] = {0.001, 0.003, 0.01, 0.01, 0.02, 0.03, 0.05, 0.1, 0.2};
  return rng.pick(kRates);
}

PathFaults make_faults(Rng& rng, u64 latency_ns) {
  PathFaults faults;
  if (rng.chance(0.5)) faults.loss = random_rate(rng);
  if (rng.chance(0.3)) faults.duplicate = random_rate(rng);
  if (rng.chance(0.3)) faults.reorder = random_rate(rng);
  if (rng.chance(0.2)) faults.corrupt = random_rate(rng);
  if (rng.chance(0.3)) faults.jitter_ns = rng.between(1, 4 * latency_ns);
  faults.reorder_ns = rng.between(100, 6 * latency_ns);
  return faults;
}

void add_hostility(Rng& rng, PathFaults& faults) {
  if (rng.chance(0.7)) faults.fuzz = random_rate(rng);
  if (rng.chance(0.7) || !faults.fuzz) faults.forge = 3 * random_rate(rng);
}

u32 random_psn(Rng& rng) {
  if (rng.chance(0.4)) return (SROCE_PSN_MASK - rng.below(300)) & SROCE_PSN_MASK;
  if (rng.chance(0.2)) return (SROCE_PSN_SPAN - rng.below(300)) & SROCE_PSN_MASK;
  return static_cast<u32>(rng.next()) & SROCE_PSN_MASK;
}

Side make_side(Rng& rng) {
  static constexpr u32 kWindows[] = {1, 2, 3, 4, 8, 16, 64, 128, 256};
  static constexpr u8 kRdAtomic[] = {1, 1, 2, 4, 8, 16};
  Side side;
  side.slots = 2u << rng.below(6);
  side.window_packets = rng.pick(kWindows);
  side.max_rd_atomic = rng.pick(kRdAtomic);
  side.max_dest_rd_atomic = rng.pick(kRdAtomic);
  side.retry_cnt = static_cast<u8>(rng.chance(0.7) ? 7 : rng.below(8));
  side.rnr_retry = static_cast<u8>(rng.chance(0.6) ? 7 : rng.below(7));
  side.min_rnr_timer = static_cast<u8>(rng.between(1, 16));
  side.start_psn = random_psn(rng);
  side.max_sge = static_cast<u32>(rng.between(1, 6));
  side.max_inline = static_cast<u32>(rng.between(0, 200));
  side.burst_packets = rng.chance(0.3) ? 1 : static_cast<u32>(rng.between(1, 64));
  side.round_packets = rng.chance(0.3) ? static_cast<u32>(rng.between(1, 64)) : 256;
  if (rng.chance(0.3)) side.tx_queue_bytes = rng.between(1, 65536);
  if (rng.chance(0.3)) side.drop_plan = random_rate(rng);
  if (rng.chance(0.2)) side.drop_received = random_rate(rng);
  if (rng.chance(0.3)) side.timer_slack_ns = rng.between(1, 50000);
  if (rng.chance(0.3)) side.late_receives = 0.2 + 0.1 * static_cast<double>(rng.below(8));
  side.post_gap_ns = rng.chance(0.4) ? 0 : rng.between(100, 40000);
  side.post_batch = static_cast<u32>(rng.between(1, 16));
  if (rng.chance(0.2)) side.sqd = 0.05;
  static constexpr u32 kReorderPackets[] = {0, 3, 16, 64, 500, 2048};
  side.adaptive = rng.chance(0.6);
  side.reorder_packets = rng.pick(kReorderPackets);
  side.selective = side.reorder_packets && rng.chance(0.8);
  static constexpr ReservedBits kReservedBits[] = {ReservedBits::zero, ReservedBits::routed,
                                                   ReservedBits::copied, ReservedBits::random};
  if (!side.selective) side.reserved_bits = kReservedBits[side.start_psn / 2 % 4];
  side.delays_rnr = side.reorder_packets && side.start_psn % 2;
  return side;
}

// Returns an exponent whose timeout is @slack times the longest plausible round trip.
u8 timeout_for(const Scenario& s, const Side& side, double slack) {
  const auto steps = static_cast<u64>(slack * longest_round_trip_ns(s, side) / 4096) + 1;
  return static_cast<u8>(std::clamp<int>(std::bit_width(steps), 1, 31));
}

void make_clean(Rng& rng, Scenario& s) {
  s.clean = true;
  s.flaw = 0;
  s.restart = 0;
  s.kill = 0;
  for (int i = 0; i < 2; i++) {
    const u64 jitter_ns = s.path[i].jitter_ns;
    s.path[i] = PathFaults{};
    s.path[i].jitter_ns = jitter_ns;  // jitter keeps the order
    s.side[i].late_receives = 0;
    s.side[i].drop_received = 0;
    s.side[i].timer_slack_ns = 0;
    s.side[i].missing_pages = 0;
  }
  for (Side& side : s.side) side.timeout_exponent = rng.chance(0.15) ? 0 : timeout_for(s, side, 20);
}

// Each gap may cause all the rest of a long message to be sent again, so limit the gaps.
void make_affordable(Scenario& s) {
  s.mtu_bytes = std::max(s.mtu_bytes, 1024u);
  for (PathFaults& faults : s.path)
    for (double* rate : {&faults.loss, &faults.duplicate, &faults.reorder, &faults.corrupt})
      *rate = std::min(*rate, 0.01);
}

void make_sizes(Rng& rng, Scenario& s) {
  s.mtu_bytes = 256u << rng.below(5);
  s.messages = static_cast<u32>(rng.between(5, 120));
  const double size = static_cast<double>(rng.below(1000));
  if (size < 20) {
    s.max_message_bytes = 3u << 20;
    s.volume_bytes = 6u << 20;
  } else if (size < 500) {
    s.max_message_bytes = 65536;
    s.volume_bytes = 1u << 20;
  } else {
    s.max_message_bytes = 8192;
    s.volume_bytes = 300000;
  }
}

}  // namespace

double longest_round_trip_ns(const Scenario& s, const Side& side) {
  const double window =
      std::max<double>(side.window_packets * (s.mtu_bytes + 64.0), 2.0 * s.max_message_bytes);
  return 2.0 * static_cast<double>(s.latency_ns) + 4.0 * window * s.ns_per_byte +
         static_cast<double>(s.path[0].jitter_ns + s.path[1].jitter_ns) + 200000;
}

Scenario make_scenario(Rng& rng, Style style) {
  Scenario s;
  s.placement = style == Style::placement;
  s.revoke = style == Style::revoke;
  s.xrc = style == Style::xrc;
  const bool mixed = style == Style::any || style == Style::xrc || style == Style::uc;
  s.hostile = style == Style::hostile || (mixed && rng.chance(style == Style::uc ? 0.3 : 0.15));
  make_sizes(rng, s);
  s.epochs = static_cast<u32>(rng.between(1, 3));
  s.latency_ns = rng.between(100, 20000);
  s.ns_per_byte = rng.chance(0.3) ? 0.0 : 0.01 * static_cast<double>(rng.between(1, 100));
  if (rng.chance(0.35)) s.flaw = 0.6;
  if (s.revoke) s.flaw = 0.9;
  if (rng.chance(0.1)) s.restart = 0.5;
  if (rng.chance(0.1)) s.kill = 0.5;
  for (int i = 0; i < 2; i++) {
    s.path[i] = make_faults(rng, s.latency_ns);
    s.side[i] = make_side(rng);
    if (s.hostile) add_hostility(rng, s.path[i]);
  }
  if (style == Style::paging)
    for (Side& side : s.side) side.missing_pages = random_rate(rng);
  // rdma_cm negotiates this.
  for (int i = 0; i < 2; i++)
    s.side[i].max_rd_atomic = std::min(s.side[i].max_rd_atomic, s.side[1 - i].max_dest_rd_atomic);
  for (Side& side : s.side)
    side.timeout_exponent = timeout_for(s, side, rng.chance(0.8) ? 2 : 0.05);
  s.fault_ns = rng.between(0, 1 << rng.between(14, 26));
  // A fatal NAK, which is sent once, must sometimes overtake responses.
  if (s.flaw && s.side[0].start_psn % 2 == 0)
    for (PathFaults& faults : s.path) faults.reorder = std::max(faults.reorder, 0.2);
  if (s.max_message_bytes > 1u << 20) make_affordable(s);
  if (!s.hostile && rng.chance(0.15)) make_clean(rng, s);
  return s;
}

std::string Scenario::describe() const {
  std::string text = format(
      "%s%smtu=%u epochs=%u messages=%u max=%u latency=%lluns rate=%.2fns/B faults for %lluus",
      hostile ? "hostile " : "", clean ? "clean " : "", mtu_bytes, epochs, messages,
      max_message_bytes, (unsigned long long)latency_ns, ns_per_byte,
      (unsigned long long)fault_ns / 1000);
  for (int i = 0; i < 2; i++) {
    const Side& side = this->side[i];
    const PathFaults& faults = path[i];
    text += format(
        "\n  %c: psn=%06x slots=%u window=%u rd=%u/%u retry=%u rnr=%u timeout=%u rnr_timer=%u"
        " burst=%u drop_plan=%g late_receives=%g sqd=%g adaptive=%d selective=%d reorder=%u"
        " rnr_delay=%d reserved=%d missing_pages=%g",
        'A' + i, side.start_psn, side.slots, side.window_packets, side.max_rd_atomic,
        side.max_dest_rd_atomic, side.retry_cnt, side.rnr_retry, side.timeout_exponent,
        side.min_rnr_timer, side.burst_packets, side.drop_plan, side.late_receives, side.sqd,
        side.adaptive, side.selective, side.reorder_packets, side.delays_rnr,
        static_cast<int>(side.reserved_bits), side.missing_pages);
    text += format(
        "\n  %c->%c: loss=%g duplicate=%g reorder=%g corrupt=%g fuzz=%g forge=%g jitter=%lluns",
        'A' + i, 'B' - i, faults.loss, faults.duplicate, faults.reorder, faults.corrupt,
        faults.fuzz, faults.forge, (unsigned long long)faults.jitter_ns);
  }
  return text;
}

}  // namespace sim
