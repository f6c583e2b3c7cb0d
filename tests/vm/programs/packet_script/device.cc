// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "packet_script/device.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "harness/failure.h"

namespace packet_script {
namespace {

using harness::fail;

// The case gives the device the first address, and a permanent neighbour the second.
constexpr std::uint8_t device_ip[] = {10, 6, 0, 1};
constexpr std::uint8_t peer_ip[] = {10, 6, 0, 2};
constexpr std::uint32_t fence_peer = 0xfe;
constexpr std::uint32_t psn_mask = 0xffffff;
constexpr std::chrono::seconds fence_limit{10};

constexpr int region_access[] = {IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
                                 IBV_ACCESS_REMOTE_READ,
                                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE,
                                 IBV_ACCESS_LOCAL_WRITE,
                                 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                     IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC};

}  // namespace

Device::Device(const DeviceSpec& spec)
    : context_(spec.name),
      gid_index_(spec.gid_index),
      wire_(spec.netns, spec.interface),
      pd_(verbs::make_pd(context_)),
      other_pd_(verbs::make_pd(context_)),
      fence_cq_(context_, 16),
      fence_qp_(pd_, fence_cq_, fence_cq_, {}) {
  for (std::size_t i = 0; i < std::size(mr_); ++i) {
    const Key key = static_cast<Key>(i);
    // The key for local use only is also that of buffers.
    const std::size_t length = key == Key::local_only ? arena_bytes : region_bytes;
    mr_[i] = verbs::make_mr(key == Key::other_pd ? other_pd_ : pd_, arena_.data(), length,
                            region_access[i]);
  }
  fence_qp_.modify(verbs::rc_to_init(link()), "INIT");
  fence_qp_.modify(verbs::rc_to_rtr(link(), peer(fence_peer, 0)), "RTR");
  fence_qp_.modify(verbs::rc_to_rts(link(), 0), "RTS");
}

std::uint32_t Device::key(Key key) const {
  if (key == Key::wrong) return mr_[0]->rkey ^ 0x55;
  return mr_[static_cast<std::size_t>(key)]->rkey;
}

std::uint64_t Device::address(std::size_t offset) const {
  return reinterpret_cast<std::uint64_t>(arena_.data()) + offset;
}

verbs::LinkOptions Device::link() const {
  verbs::LinkOptions link;
  link.gid_index = gid_index_;
  return link;
}

verbs::QpAddress Device::peer(std::uint32_t qpn, std::uint32_t psn) const {
  verbs::QpAddress address{qpn, psn, {}};
  address.gid.raw[10] = address.gid.raw[11] = 0xff;
  std::memcpy(&address.gid.raw[12], peer_ip, sizeof peer_ip);
  return address;
}

void Device::send(std::span<const std::uint8_t> transport, std::uint8_t tos) {
  wire::Flow flow;
  std::memcpy(&flow.source, peer_ip, sizeof peer_ip);
  std::memcpy(&flow.destination, device_ip, sizeof device_ip);
  flow.tos = tos;
  wire_.send(wire::datagram(flow, transport));
}

void Device::note(const wire::Bytes& packet) {
  const auto parsed = parse(packet);
  if (!parsed) fail("the device sent a packet that is too short");
  inbox_.push_back(*parsed);
}

// A WRITE of no bytes. The ACK of this PSN answers it and nothing else.
void Device::fence() {
  wire::Bth bth;
  bth.opcode = static_cast<std::uint8_t>(wire::Opcode::write_only);
  bth.dest_qpn = fence_qp_.number();
  bth.wants_ack = true;
  bth.psn = fence_psn_;
  wire::Bytes transport;
  append(transport, bth);
  append(transport, wire::Reth{});
  send(transport);
  const auto deadline = harness::Deadline::after(fence_limit);
  while (true) {
    const auto packet = wire_.receive(deadline);
    if (!packet) fail("device ", context_.name(), " no longer answers");
    note(*packet);
    const wire::Bth& response = inbox_.back().bth;
    if (response.dest_qpn != fence_peer) continue;
    if (!is_ack(inbox_.back()) || response.psn != fence_psn_)
      fail("the fence is answered by ", describe(inbox_.back(), {.start_psn = fence_psn_}));
    inbox_.pop_back();
    fence_psn_ = (fence_psn_ + 1) & psn_mask;
    return;
  }
}

void Device::listen(std::chrono::milliseconds time) {
  const auto deadline = harness::Deadline::after(time);
  while (const auto packet = wire_.receive(deadline)) note(*packet);
}

bool Device::has(std::uint32_t peer_qpn) const {
  return std::any_of(inbox_.begin(), inbox_.end(),
                     [=](const Parsed& packet) { return packet.bth.dest_qpn == peer_qpn; });
}

std::vector<Parsed> Device::take(std::uint32_t peer_qpn) {
  std::vector<Parsed> mine;
  for (const Parsed& packet : std::exchange(inbox_, {}))
    if (packet.bth.dest_qpn == peer_qpn) mine.push_back(packet);
  return mine;
}

}  // namespace packet_script
