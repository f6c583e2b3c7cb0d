// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A malicious peer that knows the protocol, the PSNs and the keys.
#include <algorithm>
#include <cstring>

#include "sim/network.h"
#include "transport/psn.h"

namespace sim {
namespace {

u32 near_psn(Rng& rng, u32 psn) {
  static constexpr u32 kSteps[] = {
      0, 0, 1, 1, 2, 3, 8, 64, 1000, SROCE_PSN_SPAN - 1, SROCE_PSN_SPAN};
  const u32 step = rng.pick(kSteps);
  return (rng.chance(0.5) ? psn + step : psn - step) & SROCE_PSN_MASK;
}

u8 random_opcode(Rng& rng) {
  if (rng.chance(0.05)) return static_cast<u8>(rng.next());
  if (rng.chance(0.1)) return SROCE_OP_SACK;
  return static_cast<u8>(rng.below(0x18));
}

u32 odd_length(Rng& rng, u32 near) {
  static constexpr u32 kLengths[] = {0, 1, 4, 255, 256, 4096, 65536, 1u << 31, (1u << 31) + 1, ~0u};
  return rng.chance(0.5) ? rng.pick(kLengths) : near + static_cast<u32>(rng.below(9)) - 4;
}

u8 random_syndrome(Rng& rng) {
  static constexpr u8 kSyndromes[] = {0x00, 0x1f, 0x20, 0x21, 0x3f, 0x40, 0x60, 0x60,
                                      0x61, 0x62, 0x63, 0x64, 0x7f, 0x80, 0xff};
  return rng.pick(kSyndromes);
}

void change_field(Rng& rng, sroce_packet& pkt) {
  switch (rng.below(14)) {
    case 13:
      pkt.selective = !pkt.selective;
      break;
    case 0:
      pkt.psn = near_psn(rng, pkt.psn);
      break;
    case 1:
      pkt.syndrome = random_syndrome(rng);
      break;
    case 2:
      pkt.msn = static_cast<u32>(rng.next()) & SROCE_PSN_MASK;
      break;
    case 3:
      pkt.va += rng.between(0, 32) - 16;
      break;
    case 4:
      pkt.va = rng.chance(0.5) ? ~u64{0} - rng.below(64) : rng.next();
      break;
    case 5:
      pkt.rkey ^= 1u << rng.below(32);
      break;
    case 6:
    case 11:
    case 12:
      pkt.dma_length = odd_length(rng, pkt.dma_length);
      break;
    case 7:
      pkt.ack_req = !pkt.ack_req;
      break;
    case 8:
      pkt.solicited = !pkt.solicited;
      break;
    case 9:
      pkt.inv_rkey = static_cast<u32>(rng.next());
      break;
    default:
      pkt.atomic_original = rng.next();
      break;
  }
}

Bytes encode(Rng& rng, const sroce_packet& pkt, const u8* payload) {
  Bytes bytes(pkt.info->header_bytes + pkt.payload_bytes + pkt.pad_bytes + SROCE_ICRC_BYTES);
  u8 header[SROCE_MAX_HEADER_BYTES];
  const u32 header_bytes = sroce_packet_write(&pkt, header);
  std::copy_n(header, header_bytes, bytes.begin());
  if (payload)
    std::copy_n(payload, pkt.payload_bytes, bytes.begin() + header_bytes);
  else
    rng.fill(std::span(bytes).subspan(header_bytes));
  return bytes;
}

}  // namespace

Bytes fuzz_datagram(Rng& rng, Bytes bytes) {
  sroce_packet pkt;
  const auto size = static_cast<u32>(bytes.size());
  if (rng.chance(0.1) || sroce_packet_parse(bytes.data(), size, size, &pkt) != SROCE_PARSE_OK) {
    for (u64 flips = rng.between(1, 4); flips; flips--)
      bytes[rng.below(bytes.size())] = static_cast<u8>(rng.next());
    if (rng.chance(0.5)) bytes.resize(rng.between(1, bytes.size()));
    return bytes;
  }
  for (u64 changes = rng.between(1, 3); changes; changes--) change_field(rng, pkt);
  return encode(rng, pkt, bytes.data() + pkt.header_bytes);
}

Bytes forge_datagram(Rng& rng, const Bytes& real, u32 mtu_bytes) {
  sroce_packet pkt;
  const auto size = static_cast<u32>(real.size());
  if (rng.chance(0.03) || sroce_packet_parse(real.data(), size, size, &pkt) != SROCE_PARSE_OK) {
    Bytes garbage(rng.between(1, 100));
    rng.fill(garbage);
    return garbage;
  }
  pkt.opcode = random_opcode(rng);
  const bool is_xrc = (real[0] & SROCE_SERVICE_MASK) == SROCE_SERVICE_XRC;
  if (is_xrc && pkt.opcode < 0x20) {
    pkt.opcode |= SROCE_SERVICE_XRC;
    if (rng.chance(0.2)) pkt.srqn = static_cast<u32>(rng.below(8));
  }
  const bool is_uc = (real[0] & SROCE_SERVICE_MASK) == SROCE_SERVICE_UC;
  if (is_uc && rng.chance(0.9)) pkt.opcode = SROCE_SERVICE_UC | pkt.opcode % 0x0c;
  pkt.info = sroce_opcode_lookup(pkt.opcode);
  // XRC is unknown where it is not used.
  if (!pkt.info || (!is_xrc && (pkt.opcode & SROCE_SERVICE_MASK) == SROCE_SERVICE_XRC)) {
    Bytes unknown = real;
    unknown[0] = pkt.opcode;
    return unknown;
  }
  pkt.psn = near_psn(rng, pkt.psn);
  pkt.ack_req = rng.chance(0.5);
  pkt.syndrome = random_syndrome(rng);
  if (rng.chance(0.3)) change_field(rng, pkt);
  pkt.payload_bytes = 0;
  if (pkt.info->flags & SROCE_OPF_PAYLOAD)
    pkt.payload_bytes = rng.chance(0.5) ? mtu_bytes : static_cast<u32>(rng.below(4097));
  if (pkt.info->flags & SROCE_OPF_SACK) pkt.payload_bytes %= 2 * SROCE_SACK_MAX_BYTES;
  pkt.pad_bytes = -pkt.payload_bytes & 3;
  if ((pkt.info->flags & SROCE_OPF_RETH) && rng.chance(0.5))
    pkt.dma_length = rng.chance(0.5) ? pkt.payload_bytes : odd_length(rng, pkt.payload_bytes);
  return encode(rng, pkt, nullptr);
}

}  // namespace sim
