// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/fabric/fabric.h"

#include <algorithm>

namespace fabric {
namespace {

// Consecutive fair samples that count as convergence; a single one may be chance.
constexpr u32 kFairSamples = 5;
constexpr u64 kFair = 950;

}  // namespace

Fabric::Fabric(const Scenario& scenario) : scenario_(scenario), rng_(scenario.seed()) {
  const Link uplink(link_settings(false), rng_), downlink(link_settings(true), rng_);
  LinkSettings port = link_settings(true);
  port.ps_per_byte = scenario.port_ps_per_byte();
  for (u32 i = 0; i <= receiver(); i++) {
    hosts_.emplace_back(i, uplink, scenario.full_bytes(), events_, pool_);
    downlinks_.push_back(i == bottleneck_host() ? Link(port, rng_) : downlink);
  }
  flows_.resize(scenario.senders);
  for (u32 i = 0; i < scenario.senders; i++) {
    flows_[i].requester = make_requester(scenario);
    flows_[i].responder = make_responder(scenario);
    hosts_[i].add(*flows_[i].requester, i, true);
    hosts_[receiver()].add(*flows_[i].responder, i, false);
    events_.push(i == scenario.senders - 1 ? scenario.late_ns : 0, EventKind::start, i);
  }
  events_.push(scenario.warm_ns, EventKind::warm);
  if (scenario.sample_ns) events_.push(scenario.late_ns, EventKind::sample);
  events_.push(scenario.end_ns, EventKind::end);
}

// The links' delay is the round trip less serialisation of a full packet and its ACK, divided by
// the four links that they cross.
LinkSettings Fabric::link_settings(bool downlink) const {
  const u64 ps_per_byte = scenario_.ps_per_byte();
  const u32 ack_bytes = full_wire_bytes(0) + u32{sizeof(sroce_aeth)};
  const Ns serialised_ns = 2 * (scenario_.full_bytes() + ack_bytes) * ps_per_byte / kPsPerNs;
  LinkSettings settings;
  settings.ps_per_byte = ps_per_byte;
  settings.delay_ns = scenario_.rtt_ns > serialised_ns ? (scenario_.rtt_ns - serialised_ns) / 4 : 0;
  if (downlink) {
    settings.limit_bytes = scenario_.queue_bytes;
    settings.marking = scenario_.marking;
    settings.faults = scenario_.faults;
  }
  return settings;
}

Result Fabric::run() {
  while (!ended_) {
    const Event event = events_.pop();
    now_ns_ = event.time_ns;
    handle(event);
  }
  return figures();
}

void Fabric::handle(const Event& event) {
  switch (event.kind) {
    case EventKind::at_switch:
      at_switch(event.index);
      break;
    case EventKind::at_host:
      at_host(event.index);
      break;
    case EventKind::transmit:
      if (hosts_[event.index].transmit_due(now_ns_)) hosts_[event.index].run(now_ns_);
      break;
    case EventKind::timer:
      hosts_[event.index].timer_due(now_ns_);
      hosts_[event.index].run(now_ns_);
      if (event.index < receiver()) note_progress(event.index);
      break;
    case EventKind::start:
      flows_[event.index].started = true;
      flows_[event.index].requester->start(now_ns_);
      hosts_[event.index].run(now_ns_);
      break;
    case EventKind::warm:
      warm();
      break;
    case EventKind::sample:
      sample();
      break;
    case EventKind::end:
      ended_ = true;
      break;
  }
}

void Fabric::at_switch(u32 index) {
  Packet& packet = pool_.at(index);
  const u32 to = packet.to_responder ? receiver() : packet.flow;
  const Ns arrival_ns = downlinks_[to].send(packet, now_ns_);
  if (arrival_ns == kNever)
    pool_.remove(index);
  else
    events_.push(arrival_ns, EventKind::at_host, index);
}

void Fabric::at_host(u32 index) {
  const Packet packet = pool_.at(index);
  Flow& flow = flows_[packet.flow];
  pool_.remove(index);
  if (packet.to_responder) {
    flow.responder->receive(packet, now_ns_);
    hosts_[receiver()].run(now_ns_);
    return;
  }
  flow.requester->receive(packet, now_ns_);
  note_progress(packet.flow);
  hosts_[packet.flow].run(now_ns_);
}

void Fabric::note_progress(u32 number) {
  Flow& flow = flows_[number];
  const u64 acked = flow.requester->acked_packets();
  if (warm_) acked_ += acked - flow.acked;
  flow.acked = acked;
  if (flow.requester->failed() && !flow.failed) {
    flow.failed = true;
    failed_++;
  }
  if (done()) ended_ = true;
}

bool Fabric::done() const {
  return failed_ == flows_.size() || (scenario_.packets && acked_ >= scenario_.packets);
}

u64 Fabric::data_sent() {
  u64 packets = 0;
  for (Host& host : hosts_) packets += host.stats().data_packets;
  return packets;
}

void Fabric::warm() {
  warm_ = true;
  data_sent_at_warm_ = data_sent();
  for (Flow& flow : flows_) {
    flow.acked_at_warm = flow.acked;
    flow.requester->completion_times().clear();
  }
  bottleneck().restart_depth(now_ns_);
}

// Jain's index of the started flows: (sum x)^2 / (n sum x^2), in thousandths; 0 without progress.
u64 Fabric::fairness(u64 Flow::*since) const {
  u64 sum = 0, squares = 0, count = 0;
  for (const Flow& flow : flows_) {
    if (!flow.started) continue;
    const u64 share = flow.acked - flow.*since;
    sum += share;
    squares += share * share;
    count++;
  }
  return squares ? 1000 * sum * sum / (count * squares) : 0;
}

void Fabric::sample() {
  // The first sample is only the base of the second.
  const bool fair = now_ns_ != scenario_.late_ns && fairness(&Flow::acked_at_sample) >= kFair;
  for (Flow& flow : flows_) flow.acked_at_sample = flow.acked;
  fair_samples_ = fair ? fair_samples_ + 1 : 0;
  if (fair_samples_ == kFairSamples && converged_ns_ == kNever)
    converged_ns_ = now_ns_ - scenario_.late_ns - (kFairSamples - 1) * scenario_.sample_ns;
  events_.push(now_ns_ + scenario_.sample_ns, EventKind::sample);
}

void Fabric::percentiles(Result& result) {
  std::vector<Ns> times;
  for (Flow& flow : flows_) {
    const std::vector<Ns>& more = flow.requester->completion_times();
    times.insert(times.end(), more.begin(), more.end());
  }
  result.messages = times.size();
  if (times.empty()) return;
  std::sort(times.begin(), times.end());
  const auto at = [&](u64 thousandths) { return times[(times.size() - 1) * thousandths / 1000]; };
  result.p50_ns = at(500);
  result.p99_ns = at(990);
  result.p999_ns = at(999);
}

Result Fabric::figures() {
  Result result;
  const u64 elapsed_ns = now_ns_ - scenario_.warm_ns;
  // A packet is smaller than 2^13 bytes, a byte takes less than 2^14 ps: 2^27 packets fit.
  result.goodput = acked_ * scenario_.full_bytes() * scenario_.port_ps_per_byte() / elapsed_ns;
  result.sent_per_acked = acked_ ? 1000 * (data_sent() - data_sent_at_warm_) / acked_ : 0;
  percentiles(result);
  result.jain = fairness(&Flow::acked_at_warm);
  result.converged_ns = converged_ns_;
  result.queue_max = bottleneck().stats().max_bytes;
  result.queue_mean = bottleneck().mean_bytes(now_ns_);
  for (u32 i = 0; i <= receiver(); i++) {
    result.lost += downlinks_[i].stats().lost;
    result.dropped += downlinks_[i].stats().dropped;
    result.marked += downlinks_[i].stats().marked;
    result.cnps += hosts_[i].stats().cnps;
  }
  for (const Flow& flow : flows_) {
    result.timeouts += flow.requester->timeouts();
    result.probes += flow.requester->probes();
    result.failed += flow.requester->failed() || flow.responder->failed();
  }
  return result;
}

}  // namespace fabric
