// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "port/engine.h"

namespace {

using Bytes = std::vector<u8>;

constexpr u8 kRcOpcodes[] = {0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
                             0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11,
                             0x12, 0x13, 0x14, 0x16, 0x17, 0x64, 0x65, 0x81};

// A packet as on the wire after the UDP header, with body (payload and pad) and ICRC.
struct Wire {
  Bytes bytes;

  Wire(u8 opcode, u32 header_bytes, u32 body_bytes)
      : bytes(header_bytes + body_bytes + SROCE_ICRC_BYTES, 0) {
    bytes[0] = opcode;
  }
  explicit Wire(u8 opcode, u32 body_bytes = 0)
      : Wire(opcode, sroce_opcode_lookup(opcode)->header_bytes, body_bytes) {}

  Wire& set(size_t at, Bytes values) {
    std::copy(values.begin(), values.end(), bytes.begin() + static_cast<ptrdiff_t>(at));
    return *this;
  }
  Wire& pad(u8 count) {
    bytes[1] |= static_cast<u8>(count << 4);
    return *this;
  }
};

sroce_parse_status parse(const Bytes& bytes, sroce_packet* pkt) {
  // A copy of the exact length, so that the address sanitizer detects a read beyond it.
  const Bytes exact(bytes.begin(), bytes.end());
  return sroce_packet_parse(exact.data(), static_cast<u32>(exact.size()),
                            static_cast<u32>(exact.size()), pkt);
}

sroce_parse_status parse(const Wire& wire) {
  sroce_packet pkt;
  return parse(wire.bytes, &pkt);
}

sroce_packet parsed(const Wire& wire) {
  sroce_packet pkt;
  EXPECT_EQ(parse(wire.bytes, &pkt), SROCE_PARSE_OK);
  return pkt;
}

TEST(PacketParse, BthFieldsAreDecoded) {
  const sroce_packet pkt = parsed(
      Wire(0x04).set(0, {0x04, 0xc0, 0x80, 0x01, 0x40, 0x12, 0x34, 0x56, 0x80, 0xab, 0xcd, 0xef}));
  EXPECT_EQ(pkt.opcode, SROCE_OP_SEND_ONLY);
  EXPECT_EQ(pkt.info, sroce_opcode_lookup(SROCE_OP_SEND_ONLY));
  EXPECT_TRUE(pkt.solicited);
  EXPECT_TRUE(pkt.migreq);
  EXPECT_TRUE(pkt.becn);
  EXPECT_TRUE(pkt.ack_req);
  EXPECT_EQ(pkt.pkey, 0x8001);
  EXPECT_EQ(pkt.dest_qpn, 0x123456u);
  EXPECT_EQ(pkt.psn, 0xabcdefu);
}

TEST(PacketParse, ClearFlagsAreFalse) {
  const sroce_packet pkt = parsed(Wire(0x04));
  EXPECT_FALSE(pkt.solicited);
  EXPECT_FALSE(pkt.migreq);
  EXPECT_FALSE(pkt.becn);
  EXPECT_FALSE(pkt.ack_req);
}

TEST(PacketParse, ReservedBitsAreIgnored) {
  const sroce_packet pkt = parsed(Wire(0x04).set(4, {0xbf}).set(8, {0x7f}));
  EXPECT_FALSE(pkt.becn);
  EXPECT_FALSE(pkt.ack_req);
}

TEST(PacketParse, RethIsReadFromAWrite) {
  const sroce_packet pkt = parsed(Wire(0x06, 256)
                                      .set(12, {1, 2, 3, 4, 5, 6, 7, 8})
                                      .set(20, {9, 10, 11, 12})
                                      .set(24, {0x80, 0, 0, 0}));
  EXPECT_EQ(pkt.va, 0x0102030405060708u);
  EXPECT_EQ(pkt.rkey, 0x090a0b0cu);
  EXPECT_EQ(pkt.dma_length, 0x80000000u);
}

TEST(PacketParse, ImmediateFollowsTheReth) {
  const Wire wire = Wire(0x0b).set(28, {0xde, 0xad, 0xbe, 0xef});
  const sroce_packet pkt = parsed(wire);
  EXPECT_EQ(memcmp(&pkt.imm, wire.bytes.data() + 28, 4), 0);
}

TEST(PacketParse, AtomicEthIsReadInFull) {
  const sroce_packet pkt = parsed(Wire(0x13)
                                      .set(12, {1, 2, 3, 4, 5, 6, 7, 8})
                                      .set(20, {9, 10, 11, 12})
                                      .set(24, {0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88})
                                      .set(32, {0xff, 0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88}));
  EXPECT_EQ(pkt.va, 0x0102030405060708u);
  EXPECT_EQ(pkt.rkey, 0x090a0b0cu);
  EXPECT_EQ(pkt.swap_add, 0x1122334455667788u);
  EXPECT_EQ(pkt.compare, 0xffeeddccbbaa9988u);
}

// The vector is that of rdma_rxe: FETH, then RETH.
TEST(PacketParse, FethComesBeforeTheReth) {
  const sroce_packet pkt = parsed(Wire(0x1c, 0).set(12, {0xff, 0xff, 0xff, 0xd3}).set(16, {1, 2}));
  EXPECT_EQ(pkt.placement, 3u);
  EXPECT_EQ(pkt.level, 1u) << "reserved bits are ignored";
  EXPECT_EQ(pkt.va >> 48, 0x0102u);
}

TEST(PacketParse, AethOfAnAtomicAckComesBeforeTheOriginalValue) {
  const sroce_packet pkt =
      parsed(Wire(0x12).set(12, {0x1f, 0x01, 0x02, 0x03}).set(16, {8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(pkt.syndrome, 0x1f);
  EXPECT_EQ(pkt.msn, 0x010203u);
  EXPECT_EQ(pkt.atomic_original, 0x0807060504030201u);
}

TEST(PacketParse, IethIsTheKeyToInvalidate) {
  EXPECT_EQ(parsed(Wire(0x17).set(12, {1, 2, 3, 4})).inv_rkey, 0x01020304u);
}

TEST(PacketParse, DethOfADatagramIsRead) {
  const sroce_packet pkt = parsed(Wire(0x64).set(12, {0x80, 0x01, 0, 0, 0xff, 0x0a, 0x0b, 0x0c}));
  EXPECT_EQ(pkt.qkey, 0x80010000u);
  EXPECT_EQ(pkt.src_qpn, 0x0a0b0cu);
}

TEST(PacketParse, PadIsNotPayload) {
  for (u8 pad = 0; pad < 4; pad++) {
    const sroce_packet pkt = parsed(Wire(0x04, 8).pad(pad));
    EXPECT_EQ(pkt.pad_bytes, pad);
    EXPECT_EQ(pkt.payload_bytes, 8u - pad);
  }
}

TEST(PacketParse, LengthsAddUpToTheDatagram) {
  for (u8 opcode : kRcOpcodes) {
    const bool carries = sroce_opcode_lookup(opcode)->flags & SROCE_OPF_PAYLOAD;
    const Wire wire(opcode, carries ? 64 : 0);
    const sroce_packet pkt = parsed(wire);
    EXPECT_EQ(pkt.header_bytes + pkt.payload_bytes + pkt.pad_bytes + SROCE_ICRC_BYTES,
              wire.bytes.size());
  }
}

TEST(PacketParse, LargestPayloadIs4096Bytes) {
  EXPECT_EQ(parse(Wire(0x01, 4096)), SROCE_PARSE_OK);
  EXPECT_EQ(parse(Wire(0x01, 4100)), SROCE_PARSE_BAD_PAYLOAD);
  EXPECT_EQ(parse(Wire(0x01, 4100).pad(3)), SROCE_PARSE_BAD_PAYLOAD);
}

TEST(PacketParse, EveryTruncationOfEveryOpcodeIsRejected) {
  for (u8 opcode : kRcOpcodes) {
    const Bytes whole = Wire(opcode).bytes;
    for (size_t length = 0; length < whole.size(); length++) {
      sroce_packet pkt;
      const Bytes part(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length));
      EXPECT_NE(parse(part, &pkt), SROCE_PARSE_OK) << int{opcode} << " cut to " << length;
    }
  }
}

TEST(PacketParse, UnreadableHeadersAreNotParsed) {
  for (u8 opcode : kRcOpcodes) {
    const Bytes whole = Wire(opcode).bytes;
    const u32 header_bytes = sroce_opcode_lookup(opcode)->header_bytes;
    for (u32 readable = 0; readable < header_bytes; readable++) {
      sroce_packet pkt;
      const Bytes part(whole.begin(), whole.begin() + readable);
      EXPECT_EQ(sroce_packet_parse(part.data(), readable, static_cast<u32>(whole.size()), &pkt),
                SROCE_PARSE_TRUNCATED);
    }
  }
}

TEST(PacketParse, DatagramShorterThanBthAndIcrcIsTruncated) {
  sroce_packet pkt;
  EXPECT_EQ(parse(Bytes(15, 0), &pkt), SROCE_PARSE_TRUNCATED);
  EXPECT_EQ(parse(Bytes{}, &pkt), SROCE_PARSE_TRUNCATED);
}

TEST(PacketParse, OnlyHeaderVersionZeroIsAccepted) {
  for (u8 version = 1; version < 16; version++)
    EXPECT_EQ(parse(Wire(0x04).set(1, {version})), SROCE_PARSE_BAD_VERSION);
}

TEST(PacketParse, UnknownOpcodeIsRejected) {
  for (u8 opcode : {0x2c, 0x36, 0x3c, 0x40, 0x60, 0x80, 0xc4, 0xff})
    EXPECT_EQ(parse(Wire(static_cast<u8>(opcode), 12, 64)), SROCE_PARSE_BAD_OPCODE) << int{opcode};
}

TEST(PacketParse, ReservedRcOpcodeIsFollowedByPayload) {
  for (u8 opcode : {0x15, 0x1b, 0x1f}) {
    const sroce_packet pkt = parsed(Wire(static_cast<u8>(opcode), 20));
    EXPECT_EQ(pkt.header_bytes, 12u) << int{opcode};
    EXPECT_EQ(pkt.payload_bytes, 20u) << int{opcode};
  }
}

TEST(PacketParse, PadLongerThanTheBodyIsRejected) {
  EXPECT_EQ(parse(Wire(0x04, 0).pad(1)), SROCE_PARSE_BAD_PAD);
  EXPECT_EQ(parse(Wire(0x04, 0).pad(3)), SROCE_PARSE_BAD_PAD);
}

TEST(PacketParse, BodyThatIsNotAMultipleOfFourIsRejected) {
  for (u32 body : {1u, 2u, 3u, 5u, 255u}) EXPECT_EQ(parse(Wire(0x04, body)), SROCE_PARSE_BAD_PAD);
}

TEST(PacketParse, UnexpectedPayloadIsRejected) {
  for (u8 opcode : {0x0c, 0x11, 0x12, 0x13, 0x14, 0x1c})
    EXPECT_EQ(parse(Wire(static_cast<u8>(opcode), 4)), SROCE_PARSE_BAD_PAYLOAD) << int{opcode};
}

TEST(PacketParse, UnexpectedPadIsRejected) {
  EXPECT_NE(parse(Wire(0x11, 4).pad(3)), SROCE_PARSE_OK);
}

TEST(PacketParse, CnpCarriesSixteenReservedBytes) {
  const sroce_packet pkt = parsed(Wire(0x81, 16).set(4, {0x40}));
  EXPECT_TRUE(pkt.becn);
  EXPECT_TRUE(pkt.info->flags & SROCE_OPF_CNP);
}

// A packet with every field set that its opcode carries.
sroce_packet full_packet(u8 opcode) {
  sroce_packet pkt = {};
  pkt.info = sroce_opcode_lookup(opcode);
  pkt.opcode = opcode;
  pkt.solicited = true;
  pkt.migreq = true;
  pkt.ack_req = true;
  pkt.pkey = 0xffff;
  pkt.dest_qpn = 0xabcdef;
  pkt.psn = 0xfedcba;
  pkt.header_bytes = pkt.info->header_bytes;
  const u32 flags = pkt.info->flags;
  if (flags & (SROCE_OPF_RETH | SROCE_OPF_ATOMIC_ETH)) {
    pkt.va = 0x8877665544332211;
    pkt.rkey = 0xdeadbeef;
  }
  if (flags & SROCE_OPF_RETH) pkt.dma_length = 0x7fffffff;
  if (flags & SROCE_OPF_FLUSH) {
    pkt.placement = 0x9;
    pkt.level = 2;
  }
  if (flags & SROCE_OPF_ATOMIC_ETH) {
    pkt.swap_add = 0x0123456789abcdef;
    pkt.compare = 0xfedcba9876543210;
  }
  if (flags & SROCE_OPF_AETH) {
    pkt.syndrome = 0x62;
    pkt.msn = 0x123456;
  }
  if (flags & SROCE_OPF_ATOMIC_ACK) pkt.atomic_original = 0x1020304050607080;
  if (flags & SROCE_OPF_IMM) pkt.imm = 0x44332211;
  if (flags & SROCE_OPF_IETH) pkt.inv_rkey = 0xcafebabe;
  if (flags & SROCE_OPF_DETH) {
    pkt.qkey = 0x11223344;
    pkt.src_qpn = 0x654321;
  }
  if (flags & SROCE_OPF_PAYLOAD) {
    pkt.payload_bytes = 61;
    pkt.pad_bytes = 3;
  }
  return pkt;
}

void expect_equal(const sroce_packet& a, const sroce_packet& b) {
  EXPECT_EQ(a.info, b.info);
  EXPECT_EQ(a.opcode, b.opcode);
  EXPECT_EQ(a.solicited, b.solicited);
  EXPECT_EQ(a.migreq, b.migreq);
  EXPECT_EQ(a.ack_req, b.ack_req);
  EXPECT_EQ(a.becn, b.becn);
  EXPECT_EQ(a.pkey, b.pkey);
  EXPECT_EQ(a.dest_qpn, b.dest_qpn);
  EXPECT_EQ(a.psn, b.psn);
  EXPECT_EQ(a.va, b.va);
  EXPECT_EQ(a.rkey, b.rkey);
  EXPECT_EQ(a.dma_length, b.dma_length);
  EXPECT_EQ(a.placement, b.placement);
  EXPECT_EQ(a.level, b.level);
  EXPECT_EQ(a.swap_add, b.swap_add);
  EXPECT_EQ(a.compare, b.compare);
  EXPECT_EQ(a.syndrome, b.syndrome);
  EXPECT_EQ(a.msn, b.msn);
  EXPECT_EQ(a.atomic_original, b.atomic_original);
  EXPECT_EQ(a.imm, b.imm);
  EXPECT_EQ(a.inv_rkey, b.inv_rkey);
  EXPECT_EQ(a.qkey, b.qkey);
  EXPECT_EQ(a.src_qpn, b.src_qpn);
  EXPECT_EQ(a.header_bytes, b.header_bytes);
  EXPECT_EQ(a.payload_bytes, b.payload_bytes);
  EXPECT_EQ(a.pad_bytes, b.pad_bytes);
}

TEST(PacketWrite, EveryOpcodeSurvivesWriteAndParse) {
  for (u8 opcode : kRcOpcodes) {
    SCOPED_TRACE(int{opcode});
    const sroce_packet pkt = full_packet(opcode);
    Bytes bytes(pkt.header_bytes + pkt.payload_bytes + pkt.pad_bytes + SROCE_ICRC_BYTES);
    EXPECT_EQ(sroce_packet_write(&pkt, bytes.data()), pkt.info->header_bytes);
    sroce_packet back;
    ASSERT_EQ(parse(bytes, &back), SROCE_PARSE_OK);
    expect_equal(pkt, back);
  }
}

TEST(PacketWrite, NoByteBeyondTheHeaderIsWritten) {
  for (u8 opcode : kRcOpcodes) {
    const sroce_packet pkt = full_packet(opcode);
    Bytes exact(pkt.info->header_bytes);
    sroce_packet_write(&pkt, exact.data());  // the address sanitizer checks it
  }
}

TEST(PacketWrite, ReservedBitsAreZero) {
  for (u8 opcode : kRcOpcodes) {
    sroce_packet pkt = full_packet(opcode);
    pkt.ack_req = false;
    Bytes bytes(SROCE_MAX_HEADER_BYTES, 0xff);
    sroce_packet_write(&pkt, bytes.data());
    EXPECT_EQ(bytes[1] & SROCE_BTH_TVER_MASK, 0);
    EXPECT_EQ(bytes[4], 0);
    EXPECT_EQ(bytes[8], 0);
  }
}

// Documentation/wire.md freezes the values.
TEST(PacketWrite, OfferAndAcceptanceDiffer) {
  for (u8 opcode : kRcOpcodes) {
    SCOPED_TRACE(int{opcode});
    sroce_packet pkt = full_packet(opcode), back;
    pkt.selective = true;
    Bytes bytes(pkt.header_bytes + pkt.payload_bytes + pkt.pad_bytes + SROCE_ICRC_BYTES);
    sroce_packet_write(&pkt, bytes.data());
    const u8 bits = pkt.info->flags & SROCE_OPF_RESPONSE ? 0x24 : 0x54;
    EXPECT_EQ(bytes[8], 0x80 | bits);
    for (int value = 0; value < 256; value++) {
      bytes[8] = static_cast<u8>(value);
      ASSERT_EQ(parse(bytes, &back), SROCE_PARSE_OK);
      EXPECT_EQ(back.selective, (value & 0x7f) == bits);
      EXPECT_EQ(back.ack_req, value >> 7);
    }
  }
}

TEST(PacketWrite, BecnIsTheOnlyCongestionBit) {
  sroce_packet pkt = full_packet(SROCE_OP_CNP);
  pkt.becn = true;
  Bytes bytes(SROCE_MAX_HEADER_BYTES);
  sroce_packet_write(&pkt, bytes.data());
  EXPECT_EQ(bytes[4], SROCE_BTH_BECN);
}

}  // namespace
