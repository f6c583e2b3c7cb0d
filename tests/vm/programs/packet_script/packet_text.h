// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Received packets, and their normalised description. Pure.
//
// The description leaves out what IBTA leaves to the sender: credits, the AckReq bit, the UDP
// source port, IP identification, and reserved bits (IBTA 9.2: ignored; sroce offers selective
// repeat there).
#pragma once

#include <optional>
#include <string>

#include "wire/packet.h"

namespace packet_script {

struct Parsed {
  wire::Bth bth;
  bool right_icrc = false;
  bool has_reth = false;
  bool has_atomic = false;
  bool has_aeth = false;
  bool has_atomic_ack = false;
  bool has_word = false;  // ImmDt or IETH
  wire::Reth reth;
  wire::AtomicEth atomic;
  std::uint8_t syndrome = 0;
  std::uint32_t msn = 0;
  std::uint64_t original = 0;
  std::uint32_t word = 0;
  wire::Bytes payload;  // without pad bytes
};

// How a script is described: PSNs count from its first, so that two devices can be compared.
struct Names {
  std::uint32_t start_psn = 0;
  bool shows_migration = false;  // MigReq, in one script only: rdma_rxe differs in every packet
  bool hides_msn = false;
};

std::string opcode_name(std::uint8_t opcode);
// Nothing if the packet is too short for its headers.
std::optional<Parsed> parse(std::span<const std::uint8_t> ip_packet);
std::string describe(const Parsed& packet, const Names& names);
std::string describe_psn(std::uint32_t psn, const Names& names);
// A short name for bytes: equal bytes have equal names.
std::string digest(std::span<const std::uint8_t> bytes);

inline bool is_ack(const Parsed& packet) {
  return packet.bth.opcode == static_cast<std::uint8_t>(wire::Opcode::acknowledge) &&
         (packet.syndrome & 0xe0) == 0;
}

inline bool is_sequence_nak(const Parsed& packet) {
  return packet.bth.opcode == static_cast<std::uint8_t>(wire::Opcode::acknowledge) &&
         packet.syndrome == 0x60;
}

}  // namespace packet_script
