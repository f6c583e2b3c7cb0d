// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A device under test, its memory, and the wire to the scripted peer.
#pragma once

#include <vector>

#include "packet_script/packet_text.h"
#include "packet_script/wire_end.h"
#include "verbs/memory.h"
#include "verbs/qp.h"

namespace packet_script {

// The arena: a region for the peer's requests, then receive buffers, then buffers of send requests.
inline constexpr std::size_t region_bytes = 32 << 10;
inline constexpr std::size_t receive_offset = 32 << 10;
inline constexpr std::size_t source_offset = 64 << 10;
inline constexpr std::size_t result_offset = 96 << 10;
inline constexpr std::size_t arena_bytes = 128 << 10;

// Keys for the region; `wrong` belongs to no region.
enum class Key { all, read_only, write_only, local_only, other_pd, wrong };

struct DeviceSpec {
  std::string name;
  int gid_index;
  std::string netns;      // where the interface is; "" is this process's
  std::string interface;  // the other end of its veth pair
};

class Device {
 public:
  explicit Device(const DeviceSpec& spec);

  const verbs::Context& context() const { return context_; }
  const verbs::Pd& pd() const { return pd_; }
  std::span<std::byte> arena() const { return arena_.span(); }
  std::uint32_t key(Key key) const;
  std::uint64_t address(std::size_t offset) const;
  std::uint32_t next_peer_qpn() { return next_peer_qpn_++; }
  verbs::LinkOptions link() const;
  verbs::QpAddress peer(std::uint32_t qpn, std::uint32_t psn) const;

  void send(std::span<const std::uint8_t> transport, std::uint8_t tos = 0);
  // Returns when the device has handled all packets before. Two QPs share no order, so this is
  // certain only for a device that works in the order of arrival.
  void fence();
  // Collects packets for a while.
  void listen(std::chrono::milliseconds time);
  bool has(std::uint32_t peer_qpn) const;
  std::vector<Parsed> take(std::uint32_t peer_qpn);

 private:
  void note(const wire::Bytes& packet);

  verbs::Context context_;
  int gid_index_;
  WireEnd wire_;
  verbs::Pages arena_{arena_bytes};
  verbs::Pd pd_;
  verbs::Pd other_pd_;
  verbs::Mr mr_[5];
  verbs::Cq fence_cq_;
  verbs::Qp fence_qp_;
  std::uint32_t fence_psn_ = 0;
  std::uint32_t next_peer_qpn_ = 0x1000;
  std::vector<Parsed> inbox_;
};

}  // namespace packet_script
