// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A packet in flight: decoded headers and lengths, no payload.
#ifndef TESTS_SIM_FABRIC_PACKET_H
#define TESTS_SIM_FABRIC_PACKET_H

#include "port/engine.h"

namespace fabric {

using Ns = u64;
inline constexpr Ns kNever = ~0ull;

struct Packet {
  sroce_packet header;
  u32 flow;
  bool to_responder;
  bool marked;  // congestion experienced
};

// UDP, IPv4, Ethernet with FCS, preamble and gap between frames.
inline constexpr u32 kFrameBytes = 8 + 20 + 18 + 20;

// Bytes that the packet occupies on a link.
inline u32 wire_bytes(const sroce_packet& pkt) {
  return pkt.header_bytes + pkt.payload_bytes + pkt.pad_bytes + SROCE_ICRC_BYTES + kFrameBytes;
}

// The same for a middle packet of a message, the unit of goodput.
inline u32 full_wire_bytes(u32 payload_bytes) {
  return u32{sizeof(sroce_bth)} + (payload_bytes + 3) / 4 * 4 + SROCE_ICRC_BYTES + kFrameBytes;
}

}  // namespace fabric

#endif
