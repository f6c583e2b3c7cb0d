// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "harness/failure.h"
#include "packet_script/known.h"
#include "packet_script/packet_text.h"

namespace {

using packet_script::describe;
using packet_script::Difference;
using packet_script::first_difference;
using packet_script::parse;
using packet_script::read_known;
using wire::Bytes;
using wire::Opcode;

Bytes packet(const wire::Bth& bth, const std::function<void(Bytes&)>& headers) {
  Bytes transport;
  append(transport, bth);
  headers(transport);
  return wire::datagram(wire::Flow{}, transport);
}

wire::Bth bth_of(Opcode opcode, std::uint32_t psn) {
  wire::Bth bth;
  bth.opcode = static_cast<std::uint8_t>(opcode);
  bth.psn = psn;
  return bth;
}

std::string text_of(const Bytes& bytes, const packet_script::Names& names = {}) {
  const auto parsed = parse(bytes);
  return parsed ? describe(*parsed, names) : "too short";
}

TEST(PacketText, AckWithoutCreditsButWithPsnAndMsn) {
  const auto ack = [](std::uint8_t syndrome) {
    return packet(bth_of(Opcode::acknowledge, 2),
                  [=](Bytes& out) { wire::append_aeth(out, syndrome, 7); });
  };
  EXPECT_EQ(text_of(ack(0x1f), {.start_psn = 0xffffff}), "ACK psn+3 msn 7");
  EXPECT_EQ(text_of(ack(0x05), {.start_psn = 0xffffff}), "ACK psn+3 msn 7");
  EXPECT_EQ(text_of(ack(0x1f), {.start_psn = 3}), "ACK psn-1 msn 7");
  EXPECT_EQ(text_of(ack(0x1f), {.hides_msn = true}), "ACK psn+2");
  EXPECT_EQ(text_of(ack(0x61)), "ACK NAK invalid request psn+2 msn 7");
  EXPECT_EQ(text_of(ack(0x25)), "ACK RNR timer 5 psn+2 msn 7");
}

TEST(PacketText, HeadersOfAWrite) {
  wire::Bth bth = bth_of(Opcode::write_only_imm, 0);
  bth.pad = 1;
  bth.is_migrated = false;
  const Bytes bytes = packet(bth, [](Bytes& out) {
    append(out, wire::Reth{0x1000, 0x22, 3});
    wire::append_u32(out, 0x99);
    out.insert(out.end(), {1, 2, 3, 0});
  });
  const std::string line = "WRITE_ONLY_IMM psn+0 va 0x1000 key 0x22 length 3 word 0x99 3 bytes " +
                           packet_script::digest(Bytes{1, 2, 3});
  EXPECT_EQ(text_of(bytes), line);
  EXPECT_EQ(text_of(bytes, {.shows_migration = true}), line + " MigReq 0");
  Bytes spoilt = bytes;
  spoilt.back() ^= 1;
  EXPECT_EQ(text_of(spoilt), line + " wrong ICRC");
}

TEST(PacketText, TooShortForItsHeaders) {
  EXPECT_EQ(text_of(packet(bth_of(Opcode::acknowledge, 0), [](Bytes&) {})), "too short");
}

TEST(Known, FirstDifference) {
  EXPECT_EQ(first_difference({"a", "b"}, {"a", "b"}), std::nullopt);
  EXPECT_EQ(first_difference({"a", "b", "x"}, {"a", "c", "y"}), (Difference{"b", "c"}));
  EXPECT_EQ(first_difference({"a"}, {"a", "b"}), (Difference{"nothing", "b"}));
}

TEST(Known, LinesOfOtherKernelsAreLeftOut) {
  std::istringstream list(
      "# a comment\n\n"
      "* | one | ours | theirs | a rule\n"
      "@(6.1|6.12) | two | ours | theirs | a rule\n");
  const auto known = read_known(list, "newest");
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known.at("one"), (Difference{"ours", "theirs"}));
}

TEST(Known, BadLinesAreRejected) {
  for (const char* text : {"* | one | ours | theirs", "* | one | ours | theirs | ",
                           "* | one | a | b | rule\n* | one | a | b | rule"}) {
    std::istringstream list(text);
    EXPECT_THROW(read_known(list, "newest"), harness::Failure) << text;
  }
}

}  // namespace
