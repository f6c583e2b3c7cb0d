// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "wire/packet.h"

#include <arpa/inet.h>
#include <zlib.h>

#include <cstring>
#include <stdexcept>

namespace wire {
namespace {

constexpr std::size_t ipv4_bytes = 20;
constexpr std::size_t ipv6_bytes = 40;
constexpr std::size_t udp_bytes = 8;
constexpr std::uint8_t ip_protocol_udp = 17;

void append_u8(Bytes& out, std::uint32_t value) { out.push_back(static_cast<std::uint8_t>(value)); }

void append_u16(Bytes& out, std::uint32_t value) {
  append_u8(out, value >> 8);
  append_u8(out, value);
}

void append_u64(Bytes& out, std::uint64_t value) {
  append_u32(out, static_cast<std::uint32_t>(value >> 32));
  append_u32(out, static_cast<std::uint32_t>(value));
}

void append_bytes(Bytes& out, const void* bytes, std::size_t length) {
  const auto* from = static_cast<const std::uint8_t*>(bytes);
  out.insert(out.end(), from, from + length);
}

std::uint16_t ipv4_checksum(std::span<const std::uint8_t> header) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < header.size(); i += 2)
    sum += static_cast<std::uint32_t>(header[i] << 8 | header[i + 1]);
  while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void append_ipv4(Bytes& out, const Flow& flow, std::size_t udp_length) {
  append_u8(out, 0x45);
  append_u8(out, flow.tos);
  append_u16(out, static_cast<std::uint32_t>(ipv4_bytes + udp_length));
  append_u16(out, flow.identification);
  append_u16(out, 0x4000);  // DF
  append_u8(out, flow.ttl);
  append_u8(out, ip_protocol_udp);
  append_u16(out, 0);
  append_bytes(out, &flow.source, 4);
  append_bytes(out, &flow.destination, 4);
  const std::uint16_t checksum = ipv4_checksum(out);
  out[10] = static_cast<std::uint8_t>(checksum >> 8);
  out[11] = static_cast<std::uint8_t>(checksum);
}

void append_ipv6(Bytes& out, const Flow& flow, std::size_t udp_length) {
  append_u32(out, 6U << 28 | static_cast<std::uint32_t>(flow.tos) << 20);
  append_u16(out, static_cast<std::uint32_t>(udp_length));
  append_u8(out, ip_protocol_udp);
  append_u8(out, flow.ttl);
  append_bytes(out, &flow.source, 16);
  append_bytes(out, &flow.destination, 16);
}

// Fields that routers may change count as ones.
void mask_variant_fields(std::span<std::uint8_t> packet) {
  const bool is_ipv6 = packet[0] >> 4 == 6;
  const std::size_t ip_bytes = is_ipv6 ? ipv6_bytes : ipv4_bytes;
  if (packet.size() < ip_bytes + udp_bytes + bth_bytes)
    throw std::invalid_argument("an ICRC needs a BTH");
  if (is_ipv6) {
    packet[0] |= 0x0f;  // traffic class and flow label
    packet[1] = packet[2] = packet[3] = 0xff;
    packet[7] = 0xff;  // hop limit
  } else {
    packet[1] = 0xff;                // type of service
    packet[8] = 0xff;                // time to live
    packet[10] = packet[11] = 0xff;  // header checksum
  }
  packet[ip_bytes + 6] = packet[ip_bytes + 7] = 0xff;  // UDP checksum
  packet[ip_bytes + udp_bytes + 4] = 0xff;             // FECN, BECN, reserved
}

}  // namespace

void append_u32(Bytes& out, std::uint32_t value) {
  append_u16(out, value >> 16);
  append_u16(out, value);
}

void append(Bytes& out, const Bth& bth) {
  append_u8(out, bth.opcode);
  append_u8(out, (bth.is_solicited ? 0x80U : 0U) | (bth.is_migrated ? 0x40U : 0U) |
                     (bth.pad & 3U) << 4 | (bth.version & 0xfU));
  append_u16(out, bth.pkey);
  append_u32(out,
             static_cast<std::uint32_t>(bth.fecn_becn_reserved) << 24 | (bth.dest_qpn & 0xffffffU));
  append_u32(out, (bth.wants_ack ? 0x80000000U : 0U) | (bth.reserved7 & 0x7fU) << 24 |
                      (bth.psn & 0xffffffU));
}

void append(Bytes& out, const Reth& reth) {
  append_u64(out, reth.address);
  append_u32(out, reth.rkey);
  append_u32(out, reth.length);
}

void append(Bytes& out, const AtomicEth& atomic) {
  append_u64(out, atomic.address);
  append_u32(out, atomic.rkey);
  append_u64(out, atomic.swap_or_add);
  append_u64(out, atomic.compare);
}

void append_aeth(Bytes& out, std::uint8_t syndrome, std::uint32_t msn) {
  append_u32(out, static_cast<std::uint32_t>(syndrome) << 24 | (msn & 0xffffffU));
}

void append_deth(Bytes& out, std::uint32_t qkey, std::uint32_t source_qpn) {
  append_u32(out, qkey);
  append_u32(out, source_qpn & 0xffffffU);
}

Bytes raw_datagram(const Flow& flow, std::span<const std::uint8_t> payload) {
  Bytes out;
  const std::size_t udp_length = udp_bytes + payload.size();
  if (flow.is_ipv6)
    append_ipv6(out, flow, udp_length);
  else
    append_ipv4(out, flow, udp_length);
  append_u16(out, flow.source_port);
  append_u16(out, flow.destination_port);
  append_u16(out, static_cast<std::uint32_t>(udp_length));
  append_u16(out, 0);
  append_bytes(out, payload.data(), payload.size());
  return out;
}

Bytes datagram(const Flow& flow, std::span<const std::uint8_t> transport) {
  Bytes payload(transport.begin(), transport.end());
  payload.resize(payload.size() + icrc_bytes);
  Bytes packet = raw_datagram(flow, payload);
  const std::uint32_t crc = icrc(packet);
  for (std::size_t i = 0; i < icrc_bytes; ++i)
    packet[packet.size() - icrc_bytes + i] = static_cast<std::uint8_t>(crc >> (8 * i));
  return packet;
}

std::uint32_t icrc(std::span<const std::uint8_t> ip_packet) {
  // Eight bytes of ones stand in for the local routing header of InfiniBand.
  constexpr std::size_t stand_in = 8;
  if (ip_packet.size() < icrc_bytes) throw std::invalid_argument("no room for an ICRC");
  const auto packet = ip_packet.first(ip_packet.size() - icrc_bytes);
  Bytes covered;
  covered.reserve(stand_in + packet.size());
  covered.resize(stand_in, 0xff);
  append_bytes(covered, packet.data(), packet.size());
  mask_variant_fields(std::span(covered).last(packet.size()));
  return static_cast<std::uint32_t>(crc32(0, covered.data(), static_cast<uInt>(covered.size())));
}

}  // namespace wire
