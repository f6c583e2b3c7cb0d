// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Builds RoCEv2 packets from fields, which may be wrong on purpose. Pure.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace wire {

using Bytes = std::vector<std::uint8_t>;

inline constexpr std::uint16_t roce_port = 4791;
inline constexpr std::size_t bth_bytes = 12;
inline constexpr std::size_t icrc_bytes = 4;

// RC opcodes by their names in the standard. Other transports have another value in the upper three
// bits.
enum class Opcode : std::uint8_t {
  send_first = 0x00,
  send_middle = 0x01,
  send_last = 0x02,
  send_last_imm = 0x03,
  send_only = 0x04,
  send_only_imm = 0x05,
  write_first = 0x06,
  write_middle = 0x07,
  write_last = 0x08,
  write_last_imm = 0x09,
  write_only = 0x0a,
  write_only_imm = 0x0b,
  read_request = 0x0c,
  read_response_first = 0x0d,
  read_response_middle = 0x0e,
  read_response_last = 0x0f,
  read_response_only = 0x10,
  acknowledge = 0x11,
  atomic_acknowledge = 0x12,
  cmp_swap = 0x13,
  fetch_add = 0x14,
  send_last_inv = 0x16,
  send_only_inv = 0x17,
  flush = 0x1c,
  atomic_write = 0x1d,
  ud_send_only = 0x64,
  cnp = 0x81,
};

struct Bth {
  std::uint8_t opcode = 0;
  bool is_solicited = false;
  bool is_migrated = true;
  std::uint8_t pad = 0;
  std::uint8_t version = 0;
  std::uint16_t pkey = 0xffff;
  std::uint8_t fecn_becn_reserved = 0;  // FECN 0x80, BECN 0x40
  std::uint32_t dest_qpn = 0;
  bool wants_ack = false;
  std::uint8_t reserved7 = 0;
  std::uint32_t psn = 0;
};

struct Reth {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint32_t length = 0;
};

struct AtomicEth {
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
  std::uint64_t swap_or_add = 0;
  std::uint64_t compare = 0;
};

void append(Bytes& out, const Bth& bth);
void append(Bytes& out, const Reth& reth);
void append(Bytes& out, const AtomicEth& atomic);
void append_aeth(Bytes& out, std::uint8_t syndrome, std::uint32_t msn);
void append_deth(Bytes& out, std::uint32_t qkey, std::uint32_t source_qpn);
void append_u32(Bytes& out, std::uint32_t value);  // ImmDt, IETH

// Addresses and ports, and the IP header fields that a packet gets.
struct Flow {
  bool is_ipv6 = false;
  in6_addr source{};  // IPv4 addresses in the first four bytes
  in6_addr destination{};
  std::uint16_t source_port = 0xc000;
  std::uint16_t destination_port = roce_port;
  std::uint16_t identification = 1;  // IPv4 only
  std::uint8_t tos = 0;
  std::uint8_t ttl = 64;
};

// An IP packet with `transport` (from the BTH to the pad bytes) and the right ICRC as its payload.
Bytes datagram(const Flow& flow, std::span<const std::uint8_t> transport);
// An IP packet with exactly this UDP payload.
Bytes raw_datagram(const Flow& flow, std::span<const std::uint8_t> payload);

// The invariant CRC of an IP packet whose UDP payload ends with four bytes for it, which store it
// in little-endian order.
std::uint32_t icrc(std::span<const std::uint8_t> ip_packet);

}  // namespace wire
