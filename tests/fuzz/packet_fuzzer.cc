// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The parser with arbitrary bytes: lengths of an accepted packet add up, and writing and parsing it
// again gives the same packet.
#include <algorithm>
#include <cstring>
#include <vector>

#include "input.h"

using namespace sroce_fuzz;

namespace {

void check_lengths(const sroce_packet& pkt, size_t total_bytes) {
  require(pkt.info == sroce_opcode_lookup(pkt.opcode), "the opcode is known");
  require(pkt.header_bytes + pkt.payload_bytes + pkt.pad_bytes + SROCE_ICRC_BYTES == total_bytes,
          "lengths add up to the datagram");
  require(pkt.payload_bytes <= 4096, "the payload has at most 4096 bytes");
  require(pkt.pad_bytes < 4, "the pad has at most 3 bytes");
  require(!pkt.payload_bytes || pkt.info->flags & SROCE_OPF_PAYLOAD, "payload only where allowed");
  require(pkt.psn <= SROCE_PSN_MASK && pkt.dest_qpn <= SROCE_QPN_MASK, "PSN and QPN fit 24 bits");
}

void check_round_trip(const sroce_packet& pkt, size_t total_bytes) {
  std::vector<u8> header(pkt.header_bytes);
  require(sroce_packet_write(&pkt, header.data()) == pkt.header_bytes,
          "the writer writes header_bytes");
  sroce_packet again;
  require(sroce_packet_parse(header.data(), pkt.header_bytes, static_cast<u32>(total_bytes),
                             &again) == SROCE_PARSE_OK,
          "a written packet parses");
  require(!memcmp(&pkt, &again, sizeof(pkt)), "a written packet parses as the same packet");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const u8* data, size_t bytes) {
  if (!bytes) return 0;
  // The first byte says how much of the datagram is linear.
  const size_t total = bytes - 1;
  const size_t readable = data[0] & 0x80 ? total : std::min<size_t>(total, data[0]);
  const std::vector<u8> exact(data + 1, data + 1 + readable);
  sroce_packet pkt;
  if (sroce_packet_parse(exact.data(), static_cast<u32>(readable), static_cast<u32>(total), &pkt) !=
      SROCE_PARSE_OK)
    return 0;
  check_lengths(pkt, total);
  check_round_trip(pkt, total);
  return 0;
}
