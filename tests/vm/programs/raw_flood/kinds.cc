// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "raw_flood/kinds.h"

#include <algorithm>

namespace raw_flood {
namespace {

using harness::Random;
using wire::append;
using wire::Bth;
using wire::Bytes;
using wire::Opcode;

constexpr std::uint32_t psn_mask = 0xffffff;
constexpr std::uint32_t gsi_qkey = 0x80010000;
constexpr std::size_t mad_bytes = 256;

std::uint8_t code(Opcode opcode) { return static_cast<std::uint8_t>(opcode); }

void append_random(Bytes& out, Random& random, std::size_t length) {
  while (length--) out.push_back(random.byte());
}

// One of the 2^23 PSNs that count as duplicates, close to the expected one.
std::uint32_t old_psn(Random& random, const Aim& aim) {
  return (aim.psn - 1 - static_cast<std::uint32_t>(random.below(1000))) & psn_mask;
}

Bth bth_for(Random& random, const Aim& aim, std::uint8_t opcode) {
  Bth bth;
  bth.opcode = opcode;
  bth.dest_qpn = aim.has_qp && random.one_in(2) ? aim.qpn : random.next32() & psn_mask;
  bth.psn = aim.has_qp ? old_psn(random, aim) : random.next32();
  bth.wants_ack = random.one_in(2);
  return bth;
}

// A well-formed packet, with the extended header that its opcode requires.
Bytes plausible(Random& random, const Aim& aim, Opcode opcode, std::size_t payload) {
  Bytes out;
  append(out, bth_for(random, aim, code(opcode)));
  switch (opcode) {
    case Opcode::write_first:
    case Opcode::write_only:
      append(out, wire::Reth{random.next(), random.next32(), static_cast<std::uint32_t>(payload)});
      break;
    case Opcode::read_request:
      append(out, wire::Reth{random.next(), random.next32(), random.next32()});
      break;
    case Opcode::cmp_swap:
    case Opcode::fetch_add:
      append(out, wire::AtomicEth{random.next(), random.next32(), random.next(), random.next()});
      break;
    case Opcode::acknowledge:
    case Opcode::read_response_only:
      wire::append_aeth(out, 0x1f, random.next32());
      break;
    default:
      break;
  }
  append_random(out, random, payload);
  return out;
}

Opcode any_opcode(Random& random) {
  constexpr Opcode all[] = {Opcode::send_only,   Opcode::send_first,   Opcode::write_only,
                            Opcode::write_first, Opcode::read_request, Opcode::cmp_swap,
                            Opcode::fetch_add,   Opcode::acknowledge,  Opcode::read_response_only};
  return all[random.below(std::size(all))];
}

Bytes plausible_any(Random& random, const Aim& aim) {
  return plausible(random, aim, any_opcode(random), 4 * random.below(64));
}

Bytes cut_anywhere(Random& random, const Aim& aim) {
  const Bytes whole = plausible_any(random, aim);
  return wire::raw_datagram(aim.flow, std::span(whole).first(random.below(whole.size())));
}

Bytes cut_with_icrc(Random& random, const Aim& aim) {
  const Bytes whole = plausible(random, aim, any_opcode(random), 0);
  return wire::datagram(aim.flow,
                        std::span(whole).first(random.between(wire::bth_bytes, whole.size() - 1)));
}

Bytes only_bth_and_icrc(Random& random, const Aim& aim) {
  Bytes out;
  append(out, bth_for(random, aim, static_cast<std::uint8_t>(random.below(0x20))));
  return wire::datagram(aim.flow, out);
}

Bytes wrong_icrc(Random& random, const Aim& aim) {
  Bytes packet = wire::datagram(aim.flow, plausible_any(random, aim));
  packet[packet.size() - 1 - random.below(wire::icrc_bytes)] ^=
      static_cast<std::uint8_t>(1U << random.below(8));
  return packet;
}

Bytes opcode_of_another_class(Random& random, const Aim& aim) {
  Bytes out;
  append(out, bth_for(random, aim, static_cast<std::uint8_t>(random.between(0x20, 0xff))));
  append_random(out, random, 4 * random.below(64));
  return wire::datagram(aim.flow, out);
}

template <class Change>
Bytes with_bth(Random& random, const Aim& aim, Change change) {
  Bth bth = bth_for(random, aim, code(Opcode::send_only));
  change(bth);
  Bytes out;
  append(out, bth);
  append_random(out, random, 4 * random.below(16));
  return wire::datagram(aim.flow, out);
}

Bytes wrong_version(Random& random, const Aim& aim) {
  return with_bth(random, aim, [&](Bth& bth) {
    bth.version = static_cast<std::uint8_t>(random.between(1, 15));
  });
}

Bytes wrong_pkey(Random& random, const Aim& aim) {
  return with_bth(random, aim,
                  [&](Bth& bth) { bth.pkey = static_cast<std::uint16_t>(random.below(0x7fff)); });
}

Bytes special_qpn(Random& random, const Aim& aim) {
  constexpr std::uint32_t special[] = {0, 1, 0xffffff};
  return with_bth(random, aim, [&](Bth& bth) { bth.dest_qpn = special[random.below(3)]; });
}

Bytes pad_beyond_payload(Random& random, const Aim& aim) {
  Bth bth =
      bth_for(random, aim, code(random.one_in(2) ? Opcode::send_only : Opcode::send_only_imm));
  bth.pad = 3;
  Bytes out;
  append(out, bth);
  append_random(out, random, random.below(3));
  return wire::datagram(aim.flow, out);
}

Bytes from_a_stranger(Random& random, const Aim& aim) {
  return wire::datagram(aim.stranger, plausible_any(random, aim));
}

Bytes garbage(Random& random, const Aim& aim) {
  Bytes out;
  append_random(out, random, random.below(1400));
  return wire::raw_datagram(aim.flow, out);
}

Bytes garbage_with_icrc(Random& random, const Aim& aim) {
  Bytes out;
  append_random(out, random, wire::bth_bytes + random.below(1400));
  return wire::datagram(aim.flow, out);
}

Bytes udp_length_lies(Random& random, const Aim& aim) {
  Bytes packet = wire::datagram(aim.flow, plausible_any(random, aim));
  const std::size_t field = (aim.flow.is_ipv6 ? 40 : 20) + 4;
  packet[field] = random.byte();
  packet[field + 1] = random.byte();
  return packet;
}

Bytes cnp(Random& random, const Aim& aim) {
  Bth bth = bth_for(random, aim, code(Opcode::cnp));
  bth.is_migrated = false;
  bth.fecn_becn_reserved = random.one_in(2) ? 0x40 : random.byte();
  bth.psn = random.one_in(2) ? 0 : bth.psn;
  Bytes out;
  append(out, bth);
  const std::size_t reserved = random.one_in(2) ? 16 : random.below(40);
  if (random.one_in(2))
    append_random(out, random, reserved);
  else
    out.resize(out.size() + reserved);
  return wire::datagram(aim.flow, out);
}

Bytes response(Random& random, const Aim& aim, Opcode opcode, std::uint8_t syndrome,
               bool is_future) {
  Bth bth = bth_for(random, aim, code(opcode));
  if (is_future) bth.psn = (aim.psn + (1U << 22) + random.next32() % (1U << 20)) & psn_mask;
  Bytes out;
  append(out, bth);
  wire::append_aeth(out, syndrome, random.next32());
  if (opcode == Opcode::atomic_acknowledge) append_random(out, random, 8);
  if (opcode == Opcode::read_response_only) append_random(out, random, 4 * random.below(64));
  return wire::datagram(aim.flow, out);
}

Bytes ack_of_the_past(Random& random, const Aim& aim) {
  return response(random, aim, Opcode::acknowledge, 0x1f, false);
}

Bytes ack_of_the_future(Random& random, const Aim& aim) {
  return response(random, aim, Opcode::acknowledge, 0x1f, true);
}

Bytes nak_with_reserved_code(Random& random, const Aim& aim) {
  const auto syndrome = static_cast<std::uint8_t>(random.one_in(2) ? 0x65 + random.below(0x1b)
                                                                   : random.between(0x80, 0xff));
  return response(random, aim, Opcode::acknowledge, syndrome, random.one_in(2));
}

Bytes rnr_nak_of_the_past(Random& random, const Aim& aim) {
  return response(random, aim, Opcode::acknowledge,
                  static_cast<std::uint8_t>(0x20 + random.below(32)), false);
}

Bytes read_response_unasked(Random& random, const Aim& aim) {
  return response(random, aim, Opcode::read_response_only, 0x1f, random.one_in(2));
}

Bytes atomic_response_unasked(Random& random, const Aim& aim) {
  return response(random, aim, Opcode::atomic_acknowledge, 0x1f, random.one_in(2));
}

Bytes send_of_the_past(Random& random, const Aim& aim) {
  return wire::datagram(aim.flow, plausible(random, aim, Opcode::send_only, 4 * random.below(64)));
}

Bytes mad(Random& random, const Aim& aim, std::uint8_t base_version) {
  Bth bth = bth_for(random, aim, code(Opcode::ud_send_only));
  bth.dest_qpn = 1;
  Bytes out;
  append(out, bth);
  wire::append_deth(out, random.one_in(4) ? random.next32() : gsi_qkey,
                    random.one_in(2) ? 1 : random.next32());
  out.push_back(base_version);
  append_random(out, random, (random.one_in(2) ? mad_bytes : 4 * random.between(1, 80)) - 1);
  return wire::datagram(aim.flow, out);
}

Bytes mad_nonsense(Random& random, const Aim& aim) { return mad(random, aim, 1); }

// ib_core logs a line for each of these that reaches it.
Bytes mad_of_unknown_version(Random& random, const Aim& aim) {
  return mad(random, aim, static_cast<std::uint8_t>(random.between(2, 0x7f)));
}

// From here on, a live QP may rightly go to ERR.

Bth bth_now(Random& random, const Aim& aim, std::uint8_t opcode) {
  Bth bth = bth_for(random, aim, opcode);
  bth.psn = (aim.psn + random.next32() % 8) & psn_mask;
  return bth;
}

Bytes reserved_rc_opcode(Random& random, const Aim& aim) {
  constexpr std::uint8_t reserved[] = {0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1e, 0x1f};
  Bytes out;
  append(out, bth_now(random, aim, reserved[random.below(std::size(reserved))]));
  append_random(out, random, 4 * random.below(64));
  return wire::datagram(aim.flow, out);
}

Bytes read_of_enormous_length(Random& random, const Aim& aim) {
  Bytes out;
  append(out, bth_now(random, aim, code(Opcode::read_request)));
  append(out, wire::Reth{random.next(), random.next32(), 0x80000000U | random.next32()});
  return wire::datagram(aim.flow, out);
}

Bytes unaligned_atomic(Random& random, const Aim& aim) {
  Bytes out;
  append(out, bth_now(random, aim, code(random.one_in(2) ? Opcode::cmp_swap : Opcode::fetch_add)));
  append(out, wire::AtomicEth{random.next() | 1, random.next32(), random.next(), random.next()});
  return wire::datagram(aim.flow, out);
}

Bytes placement_nonsense(Random& random, const Aim& aim) {
  const bool flushes = random.one_in(2);
  Bytes out;
  append(out, bth_now(random, aim, code(flushes ? Opcode::flush : Opcode::atomic_write)));
  if (flushes) append_random(out, random, 4);
  append(out, wire::Reth{random.next(), random.next32(), random.next32()});
  append_random(out, random, 4 * random.below(4));
  return wire::datagram(aim.flow, out);
}

Bytes write_out_of_range(Random& random, const Aim& aim) {
  const auto length = static_cast<std::uint32_t>(4 * random.below(64));
  Bytes out;
  append(out, bth_now(random, aim, code(Opcode::write_only)));
  append(out, wire::Reth{~random.below(64), random.next32(), length});
  append_random(out, random, length);
  return wire::datagram(aim.flow, out);
}

Bytes write_length_lies(Random& random, const Aim& aim) {
  Bytes out;
  append(out,
         bth_now(random, aim, code(random.one_in(2) ? Opcode::write_only : Opcode::write_first)));
  append(out, wire::Reth{random.next(), random.next32(), random.next32()});
  append_random(out, random, 4 * random.below(256));
  return wire::datagram(aim.flow, out);
}

Bytes sequence_nonsense(Random& random, const Aim& aim) {
  Bytes out;
  append(out, bth_now(random, aim, static_cast<std::uint8_t>(random.below(0x17))));
  append_random(out, random, 4 * random.below(320));
  return wire::datagram(aim.flow, out);
}

// Requests that a QP queues until the missing one before them comes.
Bytes beyond_a_gap(Random& random, const Aim& aim) {
  Bth bth = bth_for(random, aim, code(Opcode::send_only));
  bth.psn = (aim.psn + 1 + static_cast<std::uint32_t>(random.below(1000))) & psn_mask;
  Bytes out;
  append(out, bth);
  append_random(out, random, 1024);
  return wire::datagram(aim.flow, out);
}

Bytes nak_now(Random& random, const Aim& aim) {
  Bytes out;
  append(out, bth_now(random, aim, code(Opcode::acknowledge)));
  wire::append_aeth(out, random.byte(), random.next32());
  return wire::datagram(aim.flow, out);
}

constexpr Kind table[] = {
    {"cut_anywhere", true, cut_anywhere},
    {"cut_with_icrc", true, cut_with_icrc},
    {"only_bth_and_icrc", true, only_bth_and_icrc},
    {"wrong_icrc", true, wrong_icrc},
    {"opcode_of_another_class", true, opcode_of_another_class},
    {"wrong_version", true, wrong_version},
    {"wrong_pkey", true, wrong_pkey},
    {"special_qpn", true, special_qpn},
    {"pad_beyond_payload", true, pad_beyond_payload},
    {"from_a_stranger", true, from_a_stranger},
    {"garbage", true, garbage},
    {"garbage_with_icrc", true, garbage_with_icrc},
    {"udp_length_lies", true, udp_length_lies},
    {"cnp", true, cnp},
    {"ack_of_the_past", true, ack_of_the_past},
    {"ack_of_the_future", true, ack_of_the_future},
    {"nak_with_reserved_code", true, nak_with_reserved_code},
    {"rnr_nak_of_the_past", true, rnr_nak_of_the_past},
    {"read_response_unasked", true, read_response_unasked},
    {"atomic_response_unasked", true, atomic_response_unasked},
    {"send_of_the_past", true, send_of_the_past},
    {"mad_nonsense", true, mad_nonsense},
    {"mad_of_unknown_version", true, mad_of_unknown_version},
    {"reserved_rc_opcode", false, reserved_rc_opcode},
    {"read_of_enormous_length", false, read_of_enormous_length},
    {"unaligned_atomic", false, unaligned_atomic},
    {"placement_nonsense", false, placement_nonsense},
    {"write_out_of_range", false, write_out_of_range},
    {"write_length_lies", false, write_length_lies},
    {"sequence_nonsense", false, sequence_nonsense},
    {"beyond_a_gap", false, beyond_a_gap},
    {"nak_now", false, nak_now},
};

}  // namespace

std::span<const Kind> kinds() { return table; }

}  // namespace raw_flood
