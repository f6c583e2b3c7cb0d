// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

#include "port/engine.h"

namespace {

struct Row {
  int opcode;
  const char* name;
  u32 header_bytes;
  u32 headers;  // extended headers
};

// The standard's table for RC, UC, UD, XRC and CNP, and our selective ACK.
const std::array kRows = {
    Row{0x00, "SEND First", 12, 0},
    Row{0x01, "SEND Middle", 12, 0},
    Row{0x02, "SEND Last", 12, 0},
    Row{0x03, "SEND Last with Immediate", 16, SROCE_OPF_IMM},
    Row{0x04, "SEND Only", 12, 0},
    Row{0x05, "SEND Only with Immediate", 16, SROCE_OPF_IMM},
    Row{0x06, "WRITE First", 28, SROCE_OPF_RETH},
    Row{0x07, "WRITE Middle", 12, 0},
    Row{0x08, "WRITE Last", 12, 0},
    Row{0x09, "WRITE Last with Immediate", 16, SROCE_OPF_IMM},
    Row{0x0a, "WRITE Only", 28, SROCE_OPF_RETH},
    Row{0x0b, "WRITE Only with Immediate", 32, SROCE_OPF_RETH | SROCE_OPF_IMM},
    Row{0x0c, "READ Request", 28, SROCE_OPF_RETH},
    Row{0x0d, "READ Response First", 16, SROCE_OPF_AETH},
    Row{0x0e, "READ Response Middle", 12, 0},
    Row{0x0f, "READ Response Last", 16, SROCE_OPF_AETH},
    Row{0x10, "READ Response Only", 16, SROCE_OPF_AETH},
    Row{0x11, "Acknowledge", 16, SROCE_OPF_AETH},
    Row{0x12, "ATOMIC Acknowledge", 24, SROCE_OPF_AETH | SROCE_OPF_ATOMIC_ACK},
    Row{0x13, "CmpSwap", 40, SROCE_OPF_ATOMIC_ETH},
    Row{0x14, "FetchAdd", 40, SROCE_OPF_ATOMIC_ETH},
    Row{0x16, "SEND Last with Invalidate", 16, SROCE_OPF_IETH},
    Row{0x17, "SEND Only with Invalidate", 16, SROCE_OPF_IETH},
    Row{0x1c, "FLUSH", 32, SROCE_OPF_FLUSH | SROCE_OPF_RETH},
    Row{0x1d, "ATOMIC WRITE Only", 28, SROCE_OPF_RETH},
    Row{0x20, "UC SEND First", 12, 0},
    Row{0x21, "UC SEND Middle", 12, 0},
    Row{0x22, "UC SEND Last", 12, 0},
    Row{0x23, "UC SEND Last with Immediate", 16, SROCE_OPF_IMM},
    Row{0x24, "UC SEND Only", 12, 0},
    Row{0x25, "UC SEND Only with Immediate", 16, SROCE_OPF_IMM},
    Row{0x26, "UC WRITE First", 28, SROCE_OPF_RETH},
    Row{0x27, "UC WRITE Middle", 12, 0},
    Row{0x28, "UC WRITE Last", 12, 0},
    Row{0x29, "UC WRITE Last with Immediate", 16, SROCE_OPF_IMM},
    Row{0x2a, "UC WRITE Only", 28, SROCE_OPF_RETH},
    Row{0x2b, "UC WRITE Only with Immediate", 32, SROCE_OPF_RETH | SROCE_OPF_IMM},
    Row{0x64, "UD SEND Only", 20, SROCE_OPF_DETH},
    Row{0x65, "UD SEND Only with Immediate", 24, SROCE_OPF_DETH | SROCE_OPF_IMM},
    Row{0x81, "CNP", 12, 0},
    Row{0xa0, "XRC SEND First", 16, SROCE_OPF_XRCETH},
    Row{0xa1, "XRC SEND Middle", 16, SROCE_OPF_XRCETH},
    Row{0xa2, "XRC SEND Last", 16, SROCE_OPF_XRCETH},
    Row{0xa3, "XRC SEND Last with Immediate", 20, SROCE_OPF_XRCETH | SROCE_OPF_IMM},
    Row{0xa4, "XRC SEND Only", 16, SROCE_OPF_XRCETH},
    Row{0xa5, "XRC SEND Only with Immediate", 20, SROCE_OPF_XRCETH | SROCE_OPF_IMM},
    Row{0xa6, "XRC WRITE First", 32, SROCE_OPF_XRCETH | SROCE_OPF_RETH},
    Row{0xa7, "XRC WRITE Middle", 16, SROCE_OPF_XRCETH},
    Row{0xa8, "XRC WRITE Last", 16, SROCE_OPF_XRCETH},
    Row{0xa9, "XRC WRITE Last with Immediate", 20, SROCE_OPF_XRCETH | SROCE_OPF_IMM},
    Row{0xaa, "XRC WRITE Only", 32, SROCE_OPF_XRCETH | SROCE_OPF_RETH},
    Row{0xab, "XRC WRITE Only with Immediate", 36,
        SROCE_OPF_XRCETH | SROCE_OPF_RETH | SROCE_OPF_IMM},
    Row{0xac, "XRC READ Request", 32, SROCE_OPF_XRCETH | SROCE_OPF_RETH},
    Row{0xad, "XRC READ Response First", 16, SROCE_OPF_AETH},
    Row{0xae, "XRC READ Response Middle", 12, 0},
    Row{0xaf, "XRC READ Response Last", 16, SROCE_OPF_AETH},
    Row{0xb0, "XRC READ Response Only", 16, SROCE_OPF_AETH},
    Row{0xb1, "XRC Acknowledge", 16, SROCE_OPF_AETH},
    Row{0xb2, "XRC ATOMIC Acknowledge", 24, SROCE_OPF_AETH | SROCE_OPF_ATOMIC_ACK},
    Row{0xb3, "XRC CmpSwap", 44, SROCE_OPF_XRCETH | SROCE_OPF_ATOMIC_ETH},
    Row{0xb4, "XRC FetchAdd", 44, SROCE_OPF_XRCETH | SROCE_OPF_ATOMIC_ETH},
    Row{0xb6, "XRC SEND Last with Invalidate", 20, SROCE_OPF_XRCETH | SROCE_OPF_IETH},
    Row{0xb7, "XRC SEND Only with Invalidate", 20, SROCE_OPF_XRCETH | SROCE_OPF_IETH},
    Row{0xbc, "XRC FLUSH", 36, SROCE_OPF_XRCETH | SROCE_OPF_FLUSH | SROCE_OPF_RETH},
    Row{0xbd, "XRC ATOMIC WRITE Only", 32, SROCE_OPF_XRCETH | SROCE_OPF_RETH},
    Row{0xd1, "selective ACK", 16, SROCE_OPF_AETH},
};

// The other opcodes of RC and XRC. Their headers are unknown, but the requester expects a response.
constexpr int kUnsupported[] = {0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1e, 0x1f,
                                0xb5, 0xb8, 0xb9, 0xba, 0xbb, 0xbe, 0xbf};

constexpr u32 kHeaderFlags = SROCE_OPF_RETH | SROCE_OPF_AETH | SROCE_OPF_ATOMIC_ETH |
                             SROCE_OPF_ATOMIC_ACK | SROCE_OPF_IMM | SROCE_OPF_IETH |
                             SROCE_OPF_DETH | SROCE_OPF_FLUSH | SROCE_OPF_XRCETH;

constexpr u32 kKindFlags = SROCE_OPF_SEND | SROCE_OPF_WRITE | SROCE_OPF_READ | SROCE_OPF_ATOMIC |
                           SROCE_OPF_FLUSH | SROCE_OPF_ATOMIC_WRITE | SROCE_OPF_SACK |
                           SROCE_OPF_CNP;

bool has(const Row& row, const char* word) {
  return std::string(row.name).find(word) != std::string::npos;
}

// The kind that the name says; 0 for a plain acknowledgement.
u32 kind_by_name(const Row& row) {
  if (has(row, "ATOMIC WRITE")) return SROCE_OPF_ATOMIC_WRITE;
  if (has(row, "ATOMIC") || has(row, "CmpSwap") || has(row, "FetchAdd")) return SROCE_OPF_ATOMIC;
  if (has(row, "SEND")) return SROCE_OPF_SEND;
  if (has(row, "WRITE")) return SROCE_OPF_WRITE;
  if (has(row, "READ")) return SROCE_OPF_READ;
  if (has(row, "FLUSH")) return SROCE_OPF_FLUSH;
  if (has(row, "selective")) return SROCE_OPF_SACK;
  return has(row, "CNP") ? SROCE_OPF_CNP : 0;
}

u32 flags(int opcode) { return sroce_opcode_lookup(static_cast<u8>(opcode))->flags; }

TEST(OpcodeLookup, KnownOpcodesHaveTheHeadersOfTheStandard) {
  for (const Row& row : kRows) {
    const sroce_opcode_info* info = sroce_opcode_lookup(static_cast<u8>(row.opcode));
    ASSERT_NE(info, nullptr) << row.name;
    EXPECT_EQ(info->header_bytes, row.header_bytes) << row.name;
    EXPECT_EQ(info->flags & kHeaderFlags, row.headers) << row.name;
  }
}

TEST(OpcodeLookup, EveryOtherOpcodeIsUnknown) {
  std::set<int> known;
  for (const Row& row : kRows) known.insert(row.opcode);
  known.insert(std::begin(kUnsupported), std::end(kUnsupported));
  for (int opcode = 0; opcode < 256; opcode++) {
    if (known.contains(opcode)) continue;
    EXPECT_EQ(sroce_opcode_lookup(static_cast<u8>(opcode)), nullptr) << opcode;
  }
}

TEST(OpcodeLookup, ReservedOpcodesAreUnsupportedRequests) {
  for (int opcode : kUnsupported) {
    const sroce_opcode_info* info = sroce_opcode_lookup(static_cast<u8>(opcode));
    ASSERT_NE(info, nullptr) << opcode;
    EXPECT_EQ(info->flags, SROCE_OPF_REQUEST | SROCE_OPF_PAYLOAD | SROCE_OPF_UNSUPPORTED) << opcode;
    EXPECT_EQ(info->header_bytes, 12u) << opcode;
  }
  for (const Row& row : kRows) EXPECT_FALSE(flags(row.opcode) & SROCE_OPF_UNSUPPORTED) << row.name;
}

TEST(OpcodeLookup, NoHeaderIsLongerThanTheMaximum) {
  for (const Row& row : kRows) EXPECT_LE(row.header_bytes, u32{SROCE_MAX_HEADER_BYTES});
}

TEST(OpcodeLookup, EveryPacketIsARequestAResponseOrACnp) {
  for (const Row& row : kRows) {
    const u32 f = flags(row.opcode);
    const int kinds =
        !!(f & SROCE_OPF_REQUEST) + !!(f & SROCE_OPF_RESPONSE) + !!(f & SROCE_OPF_CNP);
    EXPECT_EQ(kinds, 1) << row.name;
  }
}

TEST(OpcodeLookup, ResponsesAreThoseOfTheStandardAndSack) {
  for (const Row& row : kRows)
    EXPECT_EQ(!!(flags(row.opcode) & SROCE_OPF_RESPONSE),
              ((row.opcode & ~0xa0) >= 0x0d && (row.opcode & ~0xa0) <= 0x12) ||
                  row.opcode == SROCE_OP_SACK)
        << row.name;
}

TEST(OpcodeLookup, FirstAndLastFollowTheName) {
  for (const Row& row : kRows) {
    if (!has(row, "SEND") && !has(row, "WRITE") && !has(row, "READ Response")) continue;
    const bool only = has(row, "Only");
    const u32 f = flags(row.opcode);
    EXPECT_EQ(!!(f & SROCE_OPF_FIRST), only || has(row, "First")) << row.name;
    EXPECT_EQ(!!(f & SROCE_OPF_LAST), only || has(row, "Last")) << row.name;
  }
}

TEST(OpcodeLookup, RequestsWithoutPayloadAreOnePacket) {
  constexpr u32 kOnly = SROCE_OPF_FIRST | SROCE_OPF_LAST;
  for (const Row& row : kRows) {
    const u32 f = flags(row.opcode);
    if (!(f & SROCE_OPF_REQUEST) || f & SROCE_OPF_PAYLOAD) continue;
    EXPECT_EQ(f & kOnly, kOnly) << row.name;
  }
}

TEST(OpcodeLookup, KindFollowsTheName) {
  for (const Row& row : kRows)
    EXPECT_EQ(flags(row.opcode) & kKindFlags, kind_by_name(row)) << row.name;
}

TEST(OpcodeLookup, RequestsWithAResponseOfTheirOwnCountAgainstTheirLimit) {
  const std::set<int> counted = {0x0c, 0x13, 0x14, 0x1c, 0x1d, 0xac, 0xb3, 0xb4, 0xbc, 0xbd};
  for (const Row& row : kRows) {
    const u32 f = flags(row.opcode);
    if (!(f & SROCE_OPF_REQUEST)) continue;
    EXPECT_EQ(!!(f & SROCE_OPF_RD_ATOMIC), counted.contains(row.opcode)) << row.name;
  }
}

TEST(OpcodeLookup, ReadRequestsAtomicsFlushesAndAcksCarryNoPayload) {
  for (int opcode : {0x0c, 0x11, 0x12, 0x13, 0x14, 0x1c, 0xac, 0xb1, 0xb2, 0xb3, 0xb4, 0xbc})
    EXPECT_FALSE(flags(opcode) & SROCE_OPF_PAYLOAD) << opcode;
}

TEST(OpcodeLookup, SendsWritesAndReadResponsesCarryPayload) {
  for (int opcode :
       {0x00, 0x04, 0x06, 0x0a, 0x0d, 0x0e, 0x0f, 0x10, 0x17, 0x1d, 0x64, 0xa0, 0xa6, 0xae, 0xbd})
    EXPECT_TRUE(flags(opcode) & SROCE_OPF_PAYLOAD) << opcode;
}

TEST(OpcodeLookup, SelectiveAcksAndCnpsHaveBytesBehindTheirHeaders) {
  for (int opcode : {0xd1, 0x81}) EXPECT_TRUE(flags(opcode) & SROCE_OPF_PAYLOAD) << opcode;
}

TEST(OpcodeService, FollowsTheName) {
  for (const Row& row : kRows) {
    if (has(row, "CNP")) continue;
    const u8 service = sroce_opcode_service(static_cast<u8>(row.opcode));
    EXPECT_EQ(has(row, "UC "), service == SROCE_SERVICE_UC) << row.name;
    EXPECT_EQ(has(row, "UD "), service == SROCE_SERVICE_UD) << row.name;
    EXPECT_EQ(has(row, "XRC "), service == SROCE_SERVICE_XRC) << row.name;
    EXPECT_EQ(has(row, "UC ") || has(row, "UD ") || has(row, "XRC "), service != SROCE_SERVICE_RC)
        << row.name;
  }
}

TEST(OpcodeService, OnlyDatagramsHaveNoConnection) {
  for (u8 service : {SROCE_SERVICE_RC, SROCE_SERVICE_UC, SROCE_SERVICE_XRC})
    EXPECT_TRUE(sroce_service_is_connected(service)) << int{service};
  EXPECT_FALSE(sroce_service_is_connected(SROCE_SERVICE_UD));
}

TEST(OpcodeService, OnlyReliableServicesAcknowledge) {
  for (u8 service : {SROCE_SERVICE_RC, SROCE_SERVICE_XRC})
    EXPECT_TRUE(sroce_service_is_acked(service)) << int{service};
  for (u8 service : {SROCE_SERVICE_UC, SROCE_SERVICE_UD})
    EXPECT_FALSE(sroce_service_is_acked(service)) << int{service};
}

}  // namespace
