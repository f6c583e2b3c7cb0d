// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/log.h"

#include <cstdarg>
#include <cstdio>

namespace sim {

std::string format(const char* pattern, ...) {
  char text[512];
  va_list args;
  va_start(args, pattern);
  vsnprintf(text, sizeof(text), pattern, args);
  va_end(args);
  return text;
}

std::string opcode_name(u8 opcode) {
  if ((opcode & SROCE_SERVICE_MASK) == SROCE_SERVICE_XRC)
    return "XRC_" + opcode_name(opcode & ~SROCE_SERVICE_MASK);
  switch (opcode) {
    case SROCE_OP_SACK:
      return "SACK";
    case SROCE_OP_SEND_FIRST:
      return "SEND_FIRST";
    case SROCE_OP_SEND_MIDDLE:
      return "SEND_MIDDLE";
    case SROCE_OP_SEND_LAST:
      return "SEND_LAST";
    case SROCE_OP_SEND_LAST_IMM:
      return "SEND_LAST_IMM";
    case SROCE_OP_SEND_ONLY:
      return "SEND_ONLY";
    case SROCE_OP_SEND_ONLY_IMM:
      return "SEND_ONLY_IMM";
    case SROCE_OP_SEND_LAST_INV:
      return "SEND_LAST_INV";
    case SROCE_OP_SEND_ONLY_INV:
      return "SEND_ONLY_INV";
    case SROCE_OP_WRITE_FIRST:
      return "WRITE_FIRST";
    case SROCE_OP_WRITE_MIDDLE:
      return "WRITE_MIDDLE";
    case SROCE_OP_WRITE_LAST:
      return "WRITE_LAST";
    case SROCE_OP_WRITE_LAST_IMM:
      return "WRITE_LAST_IMM";
    case SROCE_OP_WRITE_ONLY:
      return "WRITE_ONLY";
    case SROCE_OP_WRITE_ONLY_IMM:
      return "WRITE_ONLY_IMM";
    case SROCE_OP_READ_REQUEST:
      return "READ_REQUEST";
    case SROCE_OP_READ_RESPONSE_FIRST:
      return "READ_RESPONSE_FIRST";
    case SROCE_OP_READ_RESPONSE_MIDDLE:
      return "READ_RESPONSE_MIDDLE";
    case SROCE_OP_READ_RESPONSE_LAST:
      return "READ_RESPONSE_LAST";
    case SROCE_OP_READ_RESPONSE_ONLY:
      return "READ_RESPONSE_ONLY";
    case SROCE_OP_ACK:
      return "ACK";
    case SROCE_OP_ATOMIC_ACK:
      return "ATOMIC_ACK";
    case SROCE_OP_COMPARE_SWAP:
      return "COMPARE_SWAP";
    case SROCE_OP_FETCH_ADD:
      return "FETCH_ADD";
    case SROCE_OP_FLUSH:
      return "FLUSH";
    case SROCE_OP_ATOMIC_WRITE:
      return "ATOMIC_WRITE";
    default:
      return format("OPCODE_%02x", opcode);
  }
}

std::string syndrome_name(u8 syndrome) {
  const u8 value = syndrome & SROCE_AETH_VALUE_MASK;
  switch (syndrome & SROCE_AETH_KIND_MASK) {
    case SROCE_AETH_ACK:
      return "ack";
    case SROCE_AETH_RNR_NAK:
      return format("RNR(%u)", value);
    case SROCE_AETH_NAK:
      break;
    default:
      return format("syndrome=%02x", syndrome);
  }
  switch (syndrome) {
    case SROCE_NAK_PSN_SEQUENCE:
      return "NAK(sequence)";
    case SROCE_NAK_INVALID_REQUEST:
      return "NAK(invalid request)";
    case SROCE_NAK_REMOTE_ACCESS:
      return "NAK(remote access)";
    case SROCE_NAK_REMOTE_OPERATION:
      return "NAK(remote operation)";
    default:
      return format("NAK(%u)", value);
  }
}

std::string describe(const sroce_packet& pkt) {
  const u32 flags = pkt.info->flags;
  std::string text = format("psn=%06x %s", pkt.psn, opcode_name(pkt.opcode).c_str());
  if (flags & SROCE_OPF_PAYLOAD) text += format(" len=%u", pkt.payload_bytes);
  if (flags & SROCE_OPF_RETH)
    text += format(" va=%llx rkey=%x dma=%u", (unsigned long long)pkt.va, pkt.rkey, pkt.dma_length);
  if (flags & SROCE_OPF_ATOMIC_ETH)
    text += format(" va=%llx rkey=%x", (unsigned long long)pkt.va, pkt.rkey);
  if (flags & SROCE_OPF_AETH)
    text += format(" %s msn=%u", syndrome_name(pkt.syndrome).c_str(), pkt.msn);
  if (pkt.ack_req) text += " ack_req";
  if (pkt.solicited) text += " solicited";
  if (pkt.selective) text += " selective";
  return text;
}

void Log::line(const std::string& text) {
  if (mode_ == Mode::off) return;
  std::string whole = format("%12.3fus ", static_cast<double>(now_ns_) / 1000.0) + text;
  if (mode_ == Mode::print) {
    std::puts(whole.c_str());
    return;
  }
  lines_.push_back(std::move(whole));
  if (lines_.size() > kMaxLines) lines_.pop_front();
}

}  // namespace sim
