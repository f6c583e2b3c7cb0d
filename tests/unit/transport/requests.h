// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Requests as a peer would send them.
#ifndef TESTS_UNIT_TRANSPORT_REQUESTS_H
#define TESTS_UNIT_TRANSPORT_REQUESTS_H

#include "port/engine.h"

namespace sroce_test {

inline sroce_packet request(u8 opcode, u32 psn, u32 payload_bytes = 0) {
  sroce_packet pkt = {};
  pkt.count = 1;
  pkt.opcode = opcode;
  pkt.info = sroce_opcode_lookup(opcode);
  pkt.header_bytes = pkt.info->header_bytes;
  pkt.migreq = true;
  pkt.psn = psn & SROCE_PSN_MASK;
  pkt.payload_bytes = payload_bytes;
  pkt.pad_bytes = -payload_bytes & 3;
  return pkt;
}
inline sroce_packet with_ack_req(sroce_packet pkt) {
  pkt.ack_req = true;
  return pkt;
}
inline sroce_packet with_reth(sroce_packet pkt, u64 va, u32 length, u32 rkey = 0xbeef) {
  pkt.va = va;
  pkt.rkey = rkey;
  pkt.dma_length = length;
  return pkt;
}
inline sroce_packet send_only(u32 psn, u32 bytes) {
  return with_ack_req(request(SROCE_OP_SEND_ONLY, psn, bytes));
}
inline sroce_packet write_only(u32 psn, u64 va, u32 bytes) {
  return with_ack_req(with_reth(request(SROCE_OP_WRITE_ONLY, psn, bytes), va, bytes));
}
inline sroce_packet write_first(u32 psn, u64 va, u32 message_bytes, u32 payload_bytes = 1024) {
  return with_reth(request(SROCE_OP_WRITE_FIRST, psn, payload_bytes), va, message_bytes);
}
inline sroce_packet read_request(u32 psn, u64 va, u32 bytes) {
  return with_reth(request(SROCE_OP_READ_REQUEST, psn), va, bytes);
}
inline sroce_packet fetch_add_request(u32 psn, u64 addend) {
  sroce_packet pkt = request(SROCE_OP_FETCH_ADD, psn);
  pkt.va = 0x20000;
  pkt.rkey = 0xbeef;
  pkt.swap_add = addend;
  return pkt;
}
inline sroce_packet compare_swap_request(u32 psn, u64 compare, u64 swap) {
  sroce_packet pkt = fetch_add_request(psn, swap);
  pkt.opcode = SROCE_OP_COMPARE_SWAP;
  pkt.info = sroce_opcode_lookup(pkt.opcode);
  pkt.compare = compare;
  return pkt;
}
inline sroce_packet atomic_write_request(u32 psn, u32 payload_bytes = 8, u64 va = 0x20000) {
  return with_reth(request(SROCE_OP_ATOMIC_WRITE, psn, payload_bytes), va, payload_bytes);
}
inline sroce_packet flush_request(u32 psn, u8 placement = SROCE_FLUSH_GLOBAL,
                                  u8 level = SROCE_FLUSH_RANGE, u32 bytes = 3000) {
  sroce_packet pkt = with_reth(request(SROCE_OP_FLUSH, psn), 0x10000, bytes);
  pkt.placement = placement;
  pkt.level = level;
  return pkt;
}

}  // namespace sroce_test

#endif
