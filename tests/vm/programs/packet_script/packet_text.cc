// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "packet_script/packet_text.h"

#include <cstdio>

#include "harness/failure.h"

namespace packet_script {
namespace {

using wire::Opcode;

constexpr std::size_t ip_udp_bytes = 28;
constexpr std::uint32_t psn_mask = 0xffffff;

enum Header : unsigned { none = 0, reth = 1, atomic = 2, aeth = 4, atomic_ack = 8, word = 16 };

struct OpcodeInfo {
  Opcode opcode;
  const char* name;
  unsigned headers;
};

constexpr OpcodeInfo opcodes[] = {
    {Opcode::send_first, "SEND_FIRST", none},
    {Opcode::send_middle, "SEND_MIDDLE", none},
    {Opcode::send_last, "SEND_LAST", none},
    {Opcode::send_last_imm, "SEND_LAST_IMM", word},
    {Opcode::send_only, "SEND_ONLY", none},
    {Opcode::send_only_imm, "SEND_ONLY_IMM", word},
    {Opcode::write_first, "WRITE_FIRST", reth},
    {Opcode::write_middle, "WRITE_MIDDLE", none},
    {Opcode::write_last, "WRITE_LAST", none},
    {Opcode::write_last_imm, "WRITE_LAST_IMM", word},
    {Opcode::write_only, "WRITE_ONLY", reth},
    {Opcode::write_only_imm, "WRITE_ONLY_IMM", reth | word},
    {Opcode::read_request, "READ", reth},
    {Opcode::read_response_first, "READ_RESPONSE_FIRST", aeth},
    {Opcode::read_response_middle, "READ_RESPONSE_MIDDLE", none},
    {Opcode::read_response_last, "READ_RESPONSE_LAST", aeth},
    {Opcode::read_response_only, "READ_RESPONSE_ONLY", aeth},
    {Opcode::acknowledge, "ACK", aeth},
    {Opcode::atomic_acknowledge, "ATOMIC_ACK", aeth | atomic_ack},
    {Opcode::cmp_swap, "CMP_SWAP", atomic},
    {Opcode::fetch_add, "FETCH_ADD", atomic},
    {Opcode::send_last_inv, "SEND_LAST_INV", word},
    {Opcode::send_only_inv, "SEND_ONLY_INV", word},
    {Opcode::cnp, "CNP", none},
};

const OpcodeInfo* find(std::uint8_t opcode) {
  for (const OpcodeInfo& info : opcodes)
    if (static_cast<std::uint8_t>(info.opcode) == opcode) return &info;
  return nullptr;
}

// Takes big-endian numbers from the front of a packet.
class Cursor {
 public:
  explicit Cursor(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  std::uint64_t take(std::size_t count) {
    std::uint64_t value = 0;
    if (count > bytes_.size()) {
      is_short_ = true;
      return 0;
    }
    for (std::size_t i = 0; i < count; ++i) value = value << 8 | bytes_[i];
    bytes_ = bytes_.subspan(count);
    return value;
  }
  std::uint32_t take32(std::size_t count) { return static_cast<std::uint32_t>(take(count)); }

  bool is_short() const { return is_short_; }
  std::span<const std::uint8_t> rest() const { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
  bool is_short_ = false;
};

wire::Bth take_bth(Cursor& from) {
  wire::Bth bth;
  bth.opcode = static_cast<std::uint8_t>(from.take(1));
  const std::uint32_t flags = from.take32(1);
  bth.is_solicited = flags & 0x80;
  bth.is_migrated = flags & 0x40;
  bth.pad = flags >> 4 & 3;
  bth.version = flags & 0xf;
  bth.pkey = static_cast<std::uint16_t>(from.take(2));
  bth.fecn_becn_reserved = static_cast<std::uint8_t>(from.take(1));
  bth.dest_qpn = from.take32(3);
  const std::uint32_t ack = from.take32(1);
  bth.wants_ack = ack & 0x80;
  bth.reserved7 = ack & 0x7f;
  bth.psn = from.take32(3);
  return bth;
}

void take_headers(Cursor& from, unsigned headers, Parsed& packet) {
  if ((packet.has_reth = headers & reth)) {
    packet.reth.address = from.take(8);
    packet.reth.rkey = from.take32(4);
    packet.reth.length = from.take32(4);
  }
  if ((packet.has_atomic = headers & atomic)) {
    packet.atomic.address = from.take(8);
    packet.atomic.rkey = from.take32(4);
    packet.atomic.swap_or_add = from.take(8);
    packet.atomic.compare = from.take(8);
  }
  if ((packet.has_aeth = headers & aeth)) {
    packet.syndrome = static_cast<std::uint8_t>(from.take(1));
    packet.msn = from.take32(3);
  }
  if ((packet.has_atomic_ack = headers & atomic_ack)) packet.original = from.take(8);
  if ((packet.has_word = headers & word)) packet.word = from.take32(4);
}

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "%#llx", static_cast<unsigned long long>(value));
  return text;
}

std::string syndrome_text(std::uint8_t syndrome) {
  const unsigned value = syndrome & 0x1f;
  switch (syndrome >> 5) {
    case 0:
      return "";
    case 1:
      return harness::text(" RNR timer ", value);
    case 3:
      switch (value) {
        case 0:
          return " NAK sequence error";
        case 1:
          return " NAK invalid request";
        case 2:
          return " NAK remote access error";
        case 3:
          return " NAK remote operational error";
        default:
          return harness::text(" NAK ", value);
      }
    default:
      return " syndrome " + hex(syndrome);
  }
}

}  // namespace

std::string opcode_name(std::uint8_t opcode) {
  const OpcodeInfo* info = find(opcode);
  return info ? info->name : "opcode " + hex(opcode);
}

std::string digest(std::span<const std::uint8_t> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3U;
  char text[16];
  std::snprintf(text, sizeof text, "#%06llx", static_cast<unsigned long long>(hash >> 40));
  return text;
}

std::string describe_psn(std::uint32_t psn, const Names& names) {
  const std::uint32_t forward = (psn - names.start_psn) & psn_mask;
  return forward <= psn_mask / 2 ? harness::text("psn+", forward)
                                 : harness::text("psn-", psn_mask + 1 - forward);
}

std::optional<Parsed> parse(std::span<const std::uint8_t> ip_packet) {
  Parsed packet;
  Cursor from(ip_packet.subspan(ip_udp_bytes));
  packet.bth = take_bth(from);
  const OpcodeInfo* info = find(packet.bth.opcode);
  take_headers(from, info ? info->headers : none, packet);
  const std::size_t tail = wire::icrc_bytes + packet.bth.pad;
  if (from.is_short() || from.rest().size() < tail) return std::nullopt;
  const auto payload = from.rest().first(from.rest().size() - tail);
  packet.payload.assign(payload.begin(), payload.end());
  const auto icrc = ip_packet.last(wire::icrc_bytes);
  packet.right_icrc =
      wire::icrc(ip_packet) ==
      (static_cast<std::uint32_t>(icrc[0]) | static_cast<std::uint32_t>(icrc[1]) << 8 |
       static_cast<std::uint32_t>(icrc[2]) << 16 | static_cast<std::uint32_t>(icrc[3]) << 24);
  return packet;
}

std::string describe(const Parsed& packet, const Names& names) {
  std::string text = opcode_name(packet.bth.opcode);
  if (packet.has_aeth) text += syndrome_text(packet.syndrome);
  text += " " + describe_psn(packet.bth.psn, names);
  if (packet.has_aeth && !names.hides_msn) text += harness::text(" msn ", packet.msn);
  if (packet.has_reth)
    text += harness::text(" va ", hex(packet.reth.address), " key ", hex(packet.reth.rkey),
                          " length ", packet.reth.length);
  if (packet.has_atomic)
    text += harness::text(" va ", hex(packet.atomic.address), " key ", hex(packet.atomic.rkey), " ",
                          hex(packet.atomic.swap_or_add));
  // FETCH_ADD has no operand here.
  if (packet.bth.opcode == static_cast<std::uint8_t>(Opcode::cmp_swap))
    text += " compare " + hex(packet.atomic.compare);
  if (packet.has_atomic_ack) text += " original " + hex(packet.original);
  if (packet.has_word) text += " word " + hex(packet.word);
  if (!packet.payload.empty())
    text += harness::text(" ", packet.payload.size(), " bytes ", digest(packet.payload));
  if (packet.bth.is_solicited) text += " solicited";
  if (names.shows_migration && !packet.bth.is_migrated) text += " MigReq 0";
  if (packet.bth.version) text += " version";
  if (packet.bth.pkey != 0xffff) text += " pkey " + hex(packet.bth.pkey);
  if (packet.bth.pad != (-packet.payload.size() & 3)) text += " wrong pad";
  if (packet.bth.fecn_becn_reserved & 0xc0) text += " FECN or BECN";
  if (!packet.right_icrc) text += " wrong ICRC";
  return text;
}

}  // namespace packet_script
