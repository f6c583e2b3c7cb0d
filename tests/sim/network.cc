// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/network.h"

namespace sim {
namespace {

// std::push_heap keeps the greatest element in front, so the earliest must compare greatest.
bool is_later(const Datagram& a, const Datagram& b) {
  return a.arrival_ns != b.arrival_ns ? a.arrival_ns > b.arrival_ns : a.order > b.order;
}

constexpr u32 kLowerHeaderBytes = 42;  // Ethernet, IP, UDP

}  // namespace

void Network::trace(int from, const Bytes& bytes, const char* fate) const {
  if (!log_.on()) return;
  sroce_packet pkt;
  const auto size = static_cast<u32>(bytes.size());
  const bool good = sroce_packet_parse(bytes.data(), size, size, &pkt) == SROCE_PARSE_OK;
  log_.line(format("%c->%c: %s%s", 'A' + from, 'B' - from,
                   good ? describe(pkt).c_str() : "malformed", fate));
}

u64 Network::ready_at(int from, u64 limit) const {
  const double drain_ns = static_cast<double>(limit) * scenario_.ns_per_byte;
  const u64 free_ns = link_free_ns_[from];
  return free_ns > static_cast<u64>(drain_ns) ? free_ns - static_cast<u64>(drain_ns) : 0;
}

void Network::deliver(int from, Bytes bytes, u64 arrival_ns, bool corrupt) {
  in_flight_.push_back({arrival_ns, order_++, 1 - from, corrupt, std::move(bytes)});
  std::push_heap(in_flight_.begin(), in_flight_.end(), is_later);
}

void Network::send_forged(int from, const Bytes& real, u64 arrival_ns) {
  Bytes forged = forge_datagram(rng_, real, scenario_.mtu_bytes);
  trace(from, forged, "  (forged)");
  deliver(from, std::move(forged), arrival_ns + rng_.below(2000), false);
}

void Network::send(int from, Bytes bytes, u64 now_ns) {
  const PathFaults& faults = scenario_.path[from];
  totals_.packets++;
  const double wire_ns =
      static_cast<double>(bytes.size() + kLowerHeaderBytes) * scenario_.ns_per_byte;
  link_free_ns_[from] = std::max(link_free_ns_[from], now_ns) + static_cast<u64>(wire_ns);
  u64 arrival_ns = link_free_ns_[from] + scenario_.latency_ns + rng_.below(faults.jitter_ns + 1);
  if (faulty_ && rng_.chance(faults.reorder)) {
    trace(from, bytes, "  (delayed)");
    deliver(from, std::move(bytes), arrival_ns + rng_.below(faults.reorder_ns + 1), false);
    return;
  }
  arrival_ns = std::max(arrival_ns, last_arrival_ns_[from]);
  last_arrival_ns_[from] = arrival_ns;
  if (!faulty_) {
    trace(from, bytes, "");
    deliver(from, std::move(bytes), arrival_ns, false);
    return;
  }
  if (rng_.chance(faults.forge)) send_forged(from, bytes, arrival_ns);
  if (rng_.chance(faults.loss)) {
    totals_.drops++;
    trace(from, bytes, "  (lost)");
    return;
  }
  if (rng_.chance(faults.fuzz)) {
    trace(from, bytes, "  (to be fuzzed)");
    bytes = fuzz_datagram(rng_, std::move(bytes));
    trace(from, bytes, "  (fuzzed)");
    deliver(from, std::move(bytes), arrival_ns, false);
    return;
  }
  const bool corrupt = rng_.chance(faults.corrupt);
  if (corrupt) {
    totals_.drops++;
    bytes[rng_.below(bytes.size())] ^= static_cast<u8>(1u << rng_.below(8));
  }
  trace(from, bytes, corrupt ? "  (corrupted)" : "");
  if (rng_.chance(faults.duplicate)) {
    trace(from, bytes, "  (duplicated)");
    deliver(from, bytes, arrival_ns + rng_.below(2 * scenario_.latency_ns + 1), corrupt);
  }
  deliver(from, std::move(bytes), arrival_ns, corrupt);
}

Datagram Network::take() {
  std::pop_heap(in_flight_.begin(), in_flight_.end(), is_later);
  Datagram datagram = std::move(in_flight_.back());
  in_flight_.pop_back();
  return datagram;
}

}  // namespace sim
