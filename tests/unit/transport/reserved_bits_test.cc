// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Reserved bits of the BTH from a standard peer: any value but the offer and the acceptance of
// selective repeat is without effect.
#include <gtest/gtest.h>

#include <vector>

#include "receive_queue.h"
#include "send_queue.h"

namespace {

using namespace sroce_test;

constexpr u32 kCongestionOctet = 4;  // FECN, BECN and six reserved bits
constexpr u32 kReservedOctet = 8;    // AckReq and seven reserved bits

// The bits that a standard peer sets in each of its packets.
struct Bits {
  u8 congestion = 0;
  u8 reserved = 0;
};

// Each value of either octet, with none and with all or the same bits of the other.
std::vector<Bits> all_bits(u8 ours) {
  std::vector<Bits> all;
  for (u32 value = 0; value < 256; value++) {
    const u8 octet = static_cast<u8>(value), low = octet & SROCE_BTH_RESERVED_MASK;
    all.push_back({octet, 0});
    all.push_back({octet, SROCE_BTH_RESERVED_MASK});
    if (low == ours) continue;
    all.push_back({0, low});
    all.push_back({octet, low});
  }
  return all;
}

// The headers as the peer sends them, and as they are parsed here.
sroce_packet arrived(const sroce_packet& pkt, const Bits& bits) {
  std::vector<u8> bytes(pkt.header_bytes + pkt.payload_bytes + pkt.pad_bytes + SROCE_ICRC_BYTES);
  sroce_packet parsed;
  sroce_packet_write(&pkt, bytes.data());
  bytes[kCongestionOctet] = bits.congestion;
  bytes[kReservedOctet] |= bits.reserved;
  const u32 size = static_cast<u32>(bytes.size());
  EXPECT_EQ(sroce_packet_parse(bytes.data(), size, size, &parsed), SROCE_PARSE_OK);
  EXPECT_EQ(parsed.becn, (bits.congestion & SROCE_BTH_BECN) != 0);
  EXPECT_EQ(parsed.ack_req, pkt.ack_req);
  EXPECT_EQ(parsed.psn, pkt.psn);
  return parsed;
}

// A packet that leaves here: an opcode of the standard, and no reserved bit but @reserved.
void expect_standard(const sroce_packet& pkt, u8 reserved = 0) {
  u8 header[SROCE_MAX_HEADER_BYTES];
  sroce_packet_write(&pkt, header);
  EXPECT_NE(pkt.opcode, SROCE_OP_SACK);
  EXPECT_EQ(header[kCongestionOctet], 0);
  EXPECT_EQ(header[kReservedOctet] & SROCE_BTH_RESERVED_MASK, reserved);
}

std::vector<u32> standard_psns(const std::vector<sroce_packet>& packets, u8 reserved = 0) {
  std::vector<u32> psns;
  for (const sroce_packet& pkt : packets) {
    expect_standard(pkt, reserved);
    psns.push_back(pkt.psn);
  }
  return psns;
}

// A WRITE is lost, and a READ behind it is answered in parts.
void run_requester(const Bits& bits) {
  SendQueue sq({.selective = true});
  sq.keeps_accepting = false;
  for (int i = 0; i < 4; i++) sq.post(write_of(10));
  sq.post(read_of(4 * 1024));
  EXPECT_EQ(standard_psns(sq.send_all(), SROCE_BTH_OFFER),
            (std::vector<u32>{1000, 1001, 1002, 1003, 1004}));
  sq.receive(arrived(ack(1000), bits));
  EXPECT_EQ(sq.req.sb.mode, SROCE_SELECTIVE_OFF);
  sroce_packet sack = response(SROCE_OP_SACK, 1000);
  const u8 bitmap[8] = {2};
  sack.payload_bytes = sizeof(bitmap);
  sack = arrived(sack, bits);
  sack.sack = bitmap;
  EXPECT_EQ(sq.receive(sack).action, SROCE_ACK_DROP);
  EXPECT_EQ(standard_psns(sq.send_all()), std::vector<u32>{});

  sq.receive(arrived(nak(SROCE_NAK_PSN_SEQUENCE, 1001), bits));
  EXPECT_EQ(standard_psns(sq.send_all()), (std::vector<u32>{1001, 1002, 1003, 1004}));
  sq.receive(arrived(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1004, 1024), bits));
  for (u32 psn : {1006u, 1007u})
    sq.receive(arrived(
        read_response(psn == 1007 ? SROCE_OP_READ_RESPONSE_LAST : SROCE_OP_READ_RESPONSE_MIDDLE,
                      psn, 1024),
        bits));
  sq.expire();
  const auto again = sq.send_all();
  ASSERT_EQ(standard_psns(again), std::vector<u32>{1005});
  EXPECT_EQ(again[0].dma_length, 3 * 1024u) << "a standard peer responds up to the end";
  sq.receive(arrived(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1005, 1024), bits));
  EXPECT_EQ(sq.completions().size(), 5u);
  EXPECT_FALSE(sq.timer_runs());
}

// Of 12 WRITEs the third comes last.
void run_responder(const Bits& bits) {
  ReceiveQueue rq({.reorder_packets = 64, .selective = true, .offers = 0});
  const auto receive = [&](u32 psn) { rq.receive(arrived(write_only(psn, 0x10000, 4), bits)); };
  receive(2000);
  receive(2001);
  EXPECT_EQ(standard_psns(rq.respond()), std::vector<u32>{2001});
  for (u32 psn = 2003; psn < 2012; psn++) receive(psn);
  EXPECT_EQ(standard_psns(rq.respond()), std::vector<u32>{});
  rq.expire();
  const auto responses = rq.respond();
  ASSERT_EQ(standard_psns(responses), std::vector<u32>{2002});
  EXPECT_EQ(responses[0].syndrome, SROCE_NAK_PSN_SEQUENCE);
  receive(2002);
  EXPECT_EQ(standard_psns(rq.respond()), std::vector<u32>{2011});
  EXPECT_EQ(rq.resp.epsn, 2012u);
}

template <typename Run>
void run_all(u8 ours, Run run) {
  for (const Bits& bits : all_bits(ours)) {
    SCOPED_TRACE(testing::Message()
                 << std::hex << "octet 4 " << u32{bits.congestion} << ", 8 " << u32{bits.reserved});
    run(bits);
    if (testing::Test::HasFailure()) return;
  }
}

// A peer that echoes the offer does not accept it.
TEST(ReservedBits, OfResponsesAreWithoutEffect) { run_all(SROCE_BTH_ACCEPT, run_requester); }

TEST(ReservedBits, OfRequestsAreWithoutEffect) { run_all(SROCE_BTH_OFFER, run_responder); }

}  // namespace
