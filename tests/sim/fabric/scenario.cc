// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The table of scenarios. Limits that the engine cannot meet yet are pending.
#include "sim/fabric/scenario.h"

#include <algorithm>
#include <array>

namespace fabric {
namespace {

constexpr Ns kMicro = 1000;
constexpr Ns kMilli = 1'000'000;
constexpr u64 kKilobyte = 1000;
constexpr u32 kDepth = 128;
constexpr u64 kShort = 20'000;  // packets until the figures are stable
constexpr u64 kLong = 100'000;
// A packet of 1024 bytes at 10 Gb/s, with all headers: 885 ns.
constexpr Ns kPacketNs = 885;

constexpr std::array kAllPeers = {Peers::sroce_sroce, Peers::sroce_standard, Peers::standard_sroce};

std::string peers_name(Peers peers) {
  switch (peers) {
    case Peers::sroce_sroce:
      return "sroce-sroce";
    case Peers::sroce_standard:
      return "sroce-std";
    default:
      return "std-sroce";
  }
}

std::string operation_name(Operation operation) {
  switch (operation) {
    case Operation::write:
      return "write";
    case Operation::send:
      return "send";
    default:
      return "read";
  }
}

// The names of all congestion-control algorithms. A new one gets a row in every scenario below.
std::vector<std::string> all_cc() {
  std::vector<std::string> names;
  for (u32 i = 0; const char* name = sroce_cc_algorithm_name(i); i++) names.emplace_back(name);
  return names;
}

std::string percent(u32 ppm) {
  return std::to_string(ppm / 10'000) + "." + std::to_string(ppm / 1000 % 10) + "%";
}

Limit at_least(Metric metric, u64 value, bool pending = false) {
  return {metric, true, value, pending};
}

Limit at_most(Metric metric, u64 value, bool pending = false) {
  return {metric, false, value, pending};
}

// Limits for one flow under loss.
std::vector<Limit> loss_limits(Operation operation, u32 loss_ppm, Peers peers) {
  if (!loss_ppm) return {at_least(Metric::goodput, 980)};
  if (peers == Peers::sroce_sroce && loss_ppm <= 10'000) return {at_least(Metric::goodput, 950)};
  if (peers == Peers::sroce_sroce && loss_ppm <= 30'000) return {at_least(Metric::goodput, 850)};
  // A lost response costs the rest of its READ.
  if (peers == Peers::sroce_standard && operation == Operation::read)
    return {at_least(Metric::goodput, loss_ppm <= 10'000 ? 700 : 500)};
  // Near the maximum (0.61), because each gap costs a round trip.
  if (peers == Peers::sroce_standard && loss_ppm <= 10'000)
    return {at_least(Metric::goodput, operation == Operation::write ? 600 : 590)};
  return {};
}

// One message at a time: a standard peer that has lost its end, or whose NAK was lost, is silent.
void add_lone_messages(std::vector<Scenario>& table) {
  for (const u32 bytes : {16'384u, 65'536u})
    for (const u32 loss_ppm : {50'000u, 100'000u}) {
      Scenario alone;
      alone.name =
          "loss/write-" + std::to_string(bytes / 1024) + "K-1/" + percent(loss_ppm) + "/sroce-std";
      alone.peers = Peers::sroce_standard;
      alone.message_bytes = bytes;
      alone.depth = 1;
      alone.faults.loss_ppm = loss_ppm;
      alone.packets = kLong;
      alone.limits = {at_least(Metric::goodput, loss_ppm == 50'000 ? 90 : 50)};
      table.push_back(alone);
    }
}

void add_loss(std::vector<Scenario>& table) {
  constexpr std::array kOperations = {Operation::write, Operation::send, Operation::read};
  for (const Operation operation : kOperations)
    for (const u32 loss_ppm : {0u, 1'000u, 10'000u, 30'000u, 50'000u})
      for (const Peers peers : kAllPeers) {
        const bool all = operation == Operation::write;
        if (!all && (loss_ppm == 1'000 || loss_ppm == 50'000)) continue;
        Scenario row;
        row.name =
            "loss/" + operation_name(operation) + "/" + percent(loss_ppm) + "/" + peers_name(peers);
        row.operation = operation;
        row.peers = peers;
        row.faults.loss_ppm = loss_ppm;
        row.packets = all ? kLong : 2 * kShort;
        row.limits = loss_limits(operation, loss_ppm, peers);
        table.push_back(row);
      }
  // Retransmitted READs wait in a queue behind all earlier responses.
  for (const u32 loss_ppm : {30'000u, 200'000u}) {
    Scenario queued;
    queued.name = "loss/read-queued/" + percent(loss_ppm) + "/sroce-sroce";
    queued.operation = Operation::read;
    queued.faults.loss_ppm = loss_ppm;
    queued.port_mbps = 2'500;
    queued.packets = 2 * kShort;
    queued.limits = {at_least(Metric::goodput, loss_ppm <= 30'000 ? 850 : 500)};
    table.push_back(queued);
  }
  // A READ completes when its last response has arrived, and only 16 READs are in flight.
  for (const Operation operation : {Operation::write, Operation::read}) {
    Scenario heavy;
    heavy.name = "loss/" + operation_name(operation) + "/20.0%/sroce-sroce";
    heavy.operation = operation;
    heavy.faults.loss_ppm = 200'000;
    heavy.packets = kLong;
    heavy.limits = {at_least(Metric::goodput, operation == Operation::read ? 300 : 750)};
    table.push_back(heavy);
  }
  // The responder has little memory for packets that are out of order, or none.
  for (const u32 room : {0u, 3u, 16u}) {
    Scenario full;
    full.name = "loss/write-room-" + std::to_string(room) + "/1.0%/sroce-sroce";
    full.faults.loss_ppm = 10'000;
    full.reorder_room = room;
    full.packets = kLong;
    full.limits = {at_least(Metric::goodput, room == 3 ? 400 : 500)};
    table.push_back(full);
  }
  // The first probes are sent long before the first response arrives.
  Scenario distant;
  distant.name = "loss/read-10ms/1.0%/sroce-sroce";
  distant.operation = Operation::read;
  distant.rate_mbps = 1'000;
  distant.rtt_ns = 10 * kMilli;
  distant.depth = 16;
  distant.faults.loss_ppm = 10'000;
  distant.packets = kLong;
  distant.limits = {at_least(Metric::goodput, 250)};
  table.push_back(distant);
  // A request is longer than the span of a PSN map.
  for (const Peers peers : {Peers::sroce_sroce, Peers::sroce_standard}) {
    Scenario large;
    large.name = "loss/read-1M/0.1%/" + peers_name(peers);
    large.operation = Operation::read;
    large.peers = peers;
    large.message_bytes = 1 << 20;
    large.depth = 16;
    large.faults.loss_ppm = 1'000;
    large.packets = kLong;
    large.limits = {at_least(Metric::goodput, peers == Peers::sroce_sroce ? 950 : 700)};
    table.push_back(large);
  }
}

// A standard responder drops packets beyond the expected PSN, so each overtaken packet costs a
// round trip, here 62 packets. The limit holds only where that is rare. The sroce requester puts
// READ responses in order itself.
bool can_be_in_order(Operation operation, Peers peers, u32 delayed_ppm) {
  return peers != Peers::sroce_standard || operation == Operation::read || delayed_ppm <= 500;
}

Scenario reordered(const std::string& name, Operation operation, Peers peers,
                   const Faults& faults) {
  Scenario row;
  row.name = name + "/" + operation_name(operation) + "/" + peers_name(peers);
  row.operation = operation;
  row.peers = peers;
  row.faults = faults;
  row.packets = 2 * kShort;
  row.end_ns = 4'000 * kMilli;
  return row;
}

void add_reordering(std::vector<Scenario>& table) {
  struct Kind {
    const char* name;
    Operation operation;
    u32 delayed_ppm;
    u32 paths;
  };
  constexpr Kind kKinds[] = {
      {"reorder/32-each", Operation::write, kMillion, 0},
      {"reorder/32-each", Operation::read, kMillion, 0},
      {"reorder/32-of-1%", Operation::write, 10'000, 0},
      {"reorder/32-of-0.05%", Operation::write, 500, 0},
      {"reorder/2-paths", Operation::write, kMillion, 2},
      {"reorder/4-paths", Operation::write, kMillion, 4},
  };
  for (const Kind& kind : kKinds)
    for (const Peers peers : kAllPeers) {
      const Faults faults = {
          .delayed_ppm = kind.delayed_ppm, .extra_ns = 32 * kPacketNs, .paths = kind.paths};
      Scenario row = reordered(kind.name, kind.operation, peers, faults);
      // A standard requester needs its responses in order.
      const bool hopeless = peers == Peers::standard_sroce && kind.operation == Operation::read;
      if (!hopeless && can_be_in_order(kind.operation, peers, kind.delayed_ppm))
        row.limits = {at_least(Metric::goodput, 950)};
      table.push_back(row);
    }
}

// 100 to 300 us in each direction, with and without overtaking.
void add_jitter(std::vector<Scenario>& table) {
  for (const Operation operation : {Operation::write, Operation::read})
    for (const bool in_order : {false, true})
      for (const Peers peers : kAllPeers) {
        const Faults faults = {
            .delayed_ppm = kMillion, .extra_ns = 200 * kMicro, .keeps_order = in_order};
        Scenario row =
            reordered(in_order ? "jitter/in-order" : "jitter/any-order", operation, peers, faults);
        row.rtt_ns = 200 * kMicro;
        if (in_order && operation == Operation::write)
          row.limits = {at_least(Metric::goodput, 950)};
        table.push_back(row);
      }
}

// No loss: distances from a rack to another continent, and link rates.
void add_distances(std::vector<Scenario>& table) {
  struct Distance {
    const char* name;
    u64 rate_mbps;
    Ns rtt_ns;
    u32 mtu_bytes;
  };
  const Distance distances[] = {
      {"distance/10G-5us", 10'000, 5 * kMicro, 1024},
      {"distance/10G-50us", 10'000, 50 * kMicro, 1024},
      {"distance/10G-500us", 10'000, 500 * kMicro, 1024},
      {"distance/10G-5ms", 10'000, 5 * kMilli, 1024},
      {"distance/10G-50ms", 10'000, 50 * kMilli, 4096},
      {"distance/25G-10us", 25'000, 10 * kMicro, 1024},
      {"distance/100G-10us", 100'000, 10 * kMicro, 4096},
      {"distance/100G-1ms", 100'000, 1 * kMilli, 4096},
  };
  for (const Distance& distance : distances) {
    Scenario row;
    row.name = distance.name;
    row.rate_mbps = distance.rate_mbps;
    row.rtt_ns = distance.rtt_ns;
    row.mtu_bytes = distance.mtu_bytes;
    row.timeout_exponent = 16;
    // The window doubles with each round trip until it fills the path.
    row.warm_ns = 20 * distance.rtt_ns;
    row.depth = row.window() / row.message_packets() + 2;
    row.packets = kLong;
    row.limits = {at_least(Metric::goodput, 980)};
    table.push_back(row);
  }
}

// One message of one packet at a time: the latency that an application sees.
void add_latency(std::vector<Scenario>& table) {
  for (const Operation operation : {Operation::write, Operation::send, Operation::read})
    for (const Peers peers : kAllPeers) {
      Scenario row;
      row.name = "latency/" + operation_name(operation) + "/1.0%/" + peers_name(peers);
      row.operation = operation;
      row.peers = peers;
      row.message_bytes = 1024;
      row.depth = 1;
      row.window_packets = 64;
      row.faults.loss_ppm = 10'000;
      row.packets = kShort;
      row.end_ns = 100'000 * kMilli;
      table.push_back(row);
    }
}

// Senders that share a bottleneck. The marking thresholds are customary for the rate.
Scenario shared(const std::string& name, u64 rate_mbps, u32 senders, const std::string& cc) {
  const bool fast = rate_mbps == 100'000;
  Scenario row;
  row.name = name + "/" + cc;
  row.senders = senders;
  row.cc = cc;
  row.rate_mbps = rate_mbps;
  row.rtt_ns = 10 * kMicro;
  row.mtu_bytes = fast ? 4096 : 1024;
  row.queue_bytes = (fast ? 4000 : 1000) * kKilobyte;
  row.marking = {.kmin_bytes = (fast ? 400 : 100) * kKilobyte,
                 .kmax_bytes = (fast ? 1600 : 400) * kKilobyte,
                 .pmax_ppm = 200'000};
  row.warm_ns = 20 * kMilli;
  row.end_ns = 60 * kMilli;
  return row;
}

// Marks keep the queue below half of the buffer. "delay" keeps it at its target, 200 us for eight
// flows.
u64 most_queued(const Scenario& row) {
  return row.cc == "delay" ? 200 * kMicro * kPsPerNs / row.ps_per_byte() : row.queue_bytes / 2;
}

void add_incast(std::vector<Scenario>& table) {
  for (const std::string& cc : all_cc()) {
    const bool controlled = cc != "none";
    for (const u64 rate_mbps : {25'000, 100'000}) {
      const std::string rate = std::to_string(rate_mbps / 1000) + "G";
      Scenario eight = shared("incast/8-to-1/" + rate, rate_mbps, 8, cc);
      if (controlled)
        eight.limits = {at_least(Metric::goodput, 900), at_least(Metric::jain, 950),
                        at_most(Metric::queue_max, most_queued(eight)), at_most(Metric::drops, 0)};
      table.push_back(eight);
    }
    Scenario many = shared("incast/32-to-1/25G", 25'000, 32, cc);
    many.end_ns = 220 * kMilli;  // past the timeouts of flows that lost everything at the start
    // Drops only at the start.
    if (cc == "dcqcn")
      many.limits = {at_least(Metric::goodput, 970), at_least(Metric::jain, 950),
                     at_most(Metric::drops, 5000)};
    table.push_back(many);
    Scenario two = shared("two-flows/25G", 25'000, 2, cc);
    two.warm_ns = two.late_ns = 20 * kMilli;
    two.end_ns = 120 * kMilli;
    two.sample_ns = kMilli;
    if (controlled) two.limits = {at_most(Metric::converged, 50 * kMilli)};
    table.push_back(two);
  }
}

// The senders' links have 10 Gb/s, the receiver's link less. Each flow sends few packets, and the
// queue is far longer than the path.
Scenario slow_port(u32 senders, u64 port_mbps, const std::string& cc) {
  Scenario row;
  row.name =
      "slow-port/" + std::to_string(senders) + "-to-1/" + std::to_string(port_mbps) + "M/" + cc;
  row.senders = senders;
  row.cc = cc;
  row.port_mbps = port_mbps;
  row.rtt_ns = 100 * kMicro;
  row.queue_bytes = 4000 * kKilobyte;
  row.marking = {.kmin_bytes = 60 * kKilobyte, .kmax_bytes = 180 * kKilobyte, .pmax_ppm = 100'000};
  row.window_packets = 256;
  row.timeout_exponent = 18;  // a full queue of eight flows takes 90 ms at 200 Mb/s
  row.warm_ns = 2000 * kMilli;
  row.end_ns = 8000 * kMilli;
  return row;
}

void add_slow_port(std::vector<Scenario>& table) {
  for (const std::string& cc : all_cc())
    for (const u64 port_mbps : {1000, 200})
      for (const u32 senders : {1u, 8u}) {
        Scenario row = slow_port(senders, port_mbps, cc);
        row.limits = {at_most(Metric::drops, 0)};
        if (cc == "dcqcn")
          row.limits = {at_least(Metric::goodput, 970), at_least(Metric::jain, 950),
                        at_most(Metric::queue_max, 500 * kKilobyte), at_most(Metric::drops, 0)};
        table.push_back(row);
      }
}

// The receiver takes 1.1 ms for a packet, and its queue has no end. Nothing is marked or dropped,
// but the packets of eight windows wait there for longer than all retries last.
Scenario slow_receiver(u32 senders, Peers peers, const std::string& cc) {
  Scenario row;
  row.name = "slow-receiver/" + std::to_string(senders) + "-to-1/" + peers_name(peers) + "/" + cc;
  row.senders = senders;
  row.cc = cc;
  row.peers = peers;
  row.port_mbps = 8;
  row.rtt_ns = 100 * kMicro;
  row.message_bytes = 16'384;
  row.window_packets = 8192;
  row.warm_ns = 5'000 * kMilli;
  row.end_ns = 30'000 * kMilli;
  row.limits = {at_least(Metric::goodput, 980), at_most(Metric::sent, 1010)};
  if (cc != "delay") row.limits.push_back(at_least(Metric::jain, 950));
  return row;
}

void add_slow_receiver(std::vector<Scenario>& table) {
  for (const Peers peers : {Peers::sroce_sroce, Peers::sroce_standard})
    for (const std::string& cc : all_cc()) table.push_back(slow_receiver(8, peers, cc));
  // Many: even two packets of each take about as long as the ACK timeout.
  for (const u32 senders : {24u, 40u})
    for (const Peers peers : {Peers::sroce_sroce, Peers::sroce_standard}) {
      Scenario row = slow_receiver(senders, peers, "none");
      row.window_packets = 16;
      table.push_back(row);
    }
  // Their whole windows, 256 packets each, wait for longer than all retries last. Until they have
  // been executed, some packets are repeated.
  for (const Peers peers : {Peers::sroce_sroce, Peers::sroce_standard}) {
    Scenario row = slow_receiver(24, peers, "none");
    row.name = "slow-receiver/24-full/" + peers_name(peers) + "/none";
    row.limits = {at_least(Metric::goodput, 800), at_most(Metric::sent, 1010),
                  at_least(Metric::jain, 950), at_most(Metric::failed, 0)};
    table.push_back(row);
  }
  // The send queue of perftest: 128 messages of a packet, each with an ACK of its own. The first
  // comes before the queue is long, so the RTT seems short. Then the ACK of an original must not be
  // taken for that of its probe, or what follows seems lost. Nor must a standard peer that is
  // silent be sent everything again. With 24 QPs the smallest windows wait for almost the ACK
  // timeout.
  for (const u32 senders : {8u, 24u})
    for (const Peers peers : {Peers::sroce_sroce, Peers::sroce_standard}) {
      Scenario row = slow_receiver(senders, peers, "none");
      row.name =
          "slow-receiver/" + std::to_string(senders) + "-short/" + peers_name(peers) + "/none";
      row.message_bytes = 1024;
      row.depth = 128;
      const bool pending = senders > 8 && peers == Peers::sroce_standard;
      row.limits = {at_least(Metric::goodput, senders > 8 ? 970 : 980, pending),
                    at_most(Metric::failed, 0)};
      if (pending) row.limits.push_back(at_least(Metric::goodput, 900));
      table.push_back(row);
    }
  // A QP that starts behind the windows of others gets no response before its retries are used up.
  // Only a small first window would help, and it would double the time of short transfers.
  for (const u32 senders : {24u, 40u}) {
    Scenario row = slow_receiver(senders, Peers::sroce_sroce, "none");
    row.name = senders == 24 ? "slow-receiver/24-late/none" : "slow-receiver/40-full/none";
    row.late_ns = senders == 24 ? kMilli : 0;
    row.limits = {at_most(Metric::failed, 0, true)};
    table.push_back(row);
  }
}

// The windows of all flows are larger than the queue, and what does not fit is dropped without a
// mark: a tun interface whose reader takes 1.1 ms for a packet. It takes a minute until the shares
// are equal. Before retransmissions kept to the window, 16 flows lost 25,040 packets. A standard
// peer needs everything again that follows a loss.
void add_full_queue(std::vector<Scenario>& table) {
  for (const u32 senders : {4u, 16u})
    for (const Peers peers : {Peers::sroce_sroce, Peers::sroce_standard}) {
      Scenario row = slow_receiver(senders, peers, "none");
      row.name = "full-queue/" + std::to_string(senders) + "-to-1/" + peers_name(peers);
      row.timeout_exponent = 16;
      row.queue_bytes = 500 * row.full_bytes();
      row.warm_ns = 60'000 * kMilli;
      row.end_ns = 120'000 * kMilli;
      row.limits = {};
      if (peers == Peers::sroce_sroce)
        row.limits = {at_least(Metric::goodput, 980), at_least(Metric::jain, 950),
                      at_most(Metric::drops, senders == 4 ? 2000 : 5000),
                      at_most(Metric::failed, 0)};
      table.push_back(row);
    }
}

// The path is longer than perftest's ACK timeout of 67 ms.
void add_long_path(std::vector<Scenario>& table) {
  for (const Peers peers : {Peers::sroce_sroce, Peers::sroce_standard}) {
    Scenario row;
    row.name = "long-path/80ms/" + peers_name(peers) + "/none";
    row.peers = peers;
    row.cc = "none";
    row.port_mbps = 100;
    row.rtt_ns = 80'000 * kMicro;
    row.window_packets = 8192;
    row.warm_ns = 5'000 * kMilli;
    row.end_ns = 20'000 * kMilli;
    row.limits = {at_least(Metric::goodput, 950), at_most(Metric::sent, 1010)};
    table.push_back(row);
  }
}

// Nothing arrives for a second. Thousands of packets were in flight, and a standard peer needs all
// of them again, so a small window would last for minutes.
void add_outage(std::vector<Scenario>& table) {
  for (const Peers peers : {Peers::sroce_sroce, Peers::sroce_standard}) {
    Scenario row;
    row.name = "outage/30ms/" + peers_name(peers) + "/none";
    row.peers = peers;
    row.rate_mbps = 2'000;
    row.rtt_ns = 30 * kMilli;
    row.window_packets = 8192;
    row.faults.outage_from_ns = 3'000 * kMilli;
    row.faults.outage_ns = 1'000 * kMilli;
    row.warm_ns = 3'000 * kMilli;
    row.end_ns = 13'000 * kMilli;
    row.limits = {at_least(Metric::goodput, 800)};
    table.push_back(row);
  }
}

}  // namespace

u32 Scenario::message_packets() const {
  return std::max((message_bytes + mtu_bytes - 1) / mtu_bytes, 1u);
}

u32 Scenario::window() const {
  if (window_packets) return window_packets;
  const u64 packet_ps = full_bytes() * ps_per_byte();
  const u64 in_flight = (rtt_ns + 2 * faults.extra_ns) * kPsPerNs / packet_ps + 1;
  return static_cast<u32>(std::max<u64>(4 * in_flight, 16));
}

// By default as many as perftest posts, so that posting does not limit a flow.
u32 Scenario::messages_posted() const { return depth ? depth : kDepth; }

u32 Scenario::cc_algorithm() const {
  const std::vector<std::string> names = all_cc();
  return static_cast<u32>(std::find(names.begin(), names.end(), cc) - names.begin());
}

// The seed does not depend on the other rows. Rows that differ only in the last part of their names
// (peers, congestion control) have the same seed.
u64 Scenario::seed() const {
  u64 hash = 0xcbf29ce484222325;
  for (const char letter : name.substr(0, name.rfind('/')))
    hash = (hash ^ static_cast<u8>(letter)) * 0x100000001b3;
  return hash;
}

std::vector<Scenario> all_scenarios() {
  std::vector<Scenario> table;
  add_loss(table);
  add_lone_messages(table);
  add_reordering(table);
  add_jitter(table);
  add_distances(table);
  add_latency(table);
  add_incast(table);
  add_slow_port(table);
  add_slow_receiver(table);
  add_full_queue(table);
  add_long_path(table);
  add_outage(table);
  return table;
}

}  // namespace fabric
