// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "receive_queue.h"

namespace {

using namespace sroce_test;

TEST(ResponseAck, IsSentForAckReq) {
  ReceiveQueue rq;
  rq.receive(write_only(2000, 0x10000, 4));
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].opcode, SROCE_OP_ACK);
  EXPECT_EQ(responses[0].psn, 2000u);
  EXPECT_EQ(responses[0].syndrome & SROCE_AETH_KIND_MASK, SROCE_AETH_ACK);
  EXPECT_EQ(responses[0].syndrome & SROCE_AETH_VALUE_MASK, SROCE_AETH_CREDITS_INVALID);
}

TEST(ResponseAck, IsSentInsideAMessageToo) {
  ReceiveQueue rq;
  rq.receive(with_ack_req(write_first(2000, 0x10000, 3000)));
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].psn, 2000u);
  EXPECT_EQ(responses[0].msn, 0u);
}

TEST(ResponseAck, IsNotSentWithoutAckReq) {
  ReceiveQueue rq;
  rq.receive(write_first(2000, 0x10000, 3000));
  EXPECT_TRUE(rq.respond().empty());
}

TEST(ResponseAck, IsSentOnce) {
  ReceiveQueue rq;
  rq.receive(write_only(2000, 0x10000, 4));
  rq.respond();
  EXPECT_TRUE(rq.respond().empty());
}

TEST(ResponseAck, SeveralDueAcksBecomeOne) {
  ReceiveQueue rq;
  for (u32 i = 0; i < 5; i++) rq.receive(write_only(2000 + i, 0x10000, 4));
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].psn, 2004u);
}

TEST(ResponseAck, StaysDueUntilItIsSent) {
  ReceiveQueue rq;
  rq.receive(write_only(2000, 0x10000, 4));
  EXPECT_TRUE(rq.next_response());
  EXPECT_TRUE(rq.next_response());
}

TEST(ResponseAck, IsAddressedToThePeer) {
  ReceiveQueue rq;
  rq.receive(write_only(2000, 0x10000, 4));
  const sroce_packet pkt = rq.respond()[0];
  EXPECT_EQ(pkt.dest_qpn, 0x445566u);
  EXPECT_EQ(pkt.pkey, SROCE_PKEY_DEFAULT);
  EXPECT_TRUE(pkt.migreq);
  EXPECT_EQ(pkt.info, sroce_opcode_lookup(SROCE_OP_ACK));
}

TEST(ResponseNak, ReplacesAnAckThatWasDue) {
  ReceiveQueue rq;
  rq.receive(write_only(2000, 0x10000, 4));
  rq.receive(write_only(2002, 0x10000, 4));
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].syndrome, SROCE_NAK_PSN_SEQUENCE);
  EXPECT_EQ(responses[0].psn, 2001u);
}

TEST(ResponseNak, IsWithdrawnWhenTheMissingPacketArrives) {
  ReceiveQueue rq;
  rq.receive(write_only(2001, 0x10000, 4));
  rq.receive(write_only(2000, 0x10000, 4));
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].syndrome & SROCE_AETH_KIND_MASK, SROCE_AETH_ACK);
}

TEST(ResponseNak, FatalNakIsSentOnce) {
  ReceiveQueue rq;
  rq.receive(request(SROCE_OP_WRITE_LAST, 2000, 4));
  EXPECT_EQ(rq.respond().size(), 1u);
  EXPECT_TRUE(rq.respond().empty());
}

TEST(ResponseOrder, AckNeverOvertakesAReadResponse) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 2048));
  rq.receive(write_only(2002, 0x10000, 4));
  const auto responses = rq.respond(1);
  ASSERT_EQ(responses.size(), 3u);
  EXPECT_EQ(responses[0].psn, 2000u);
  EXPECT_EQ(responses[1].psn, 2001u);
  EXPECT_EQ(responses[2].psn, 2002u);
  EXPECT_EQ(responses[2].opcode, SROCE_OP_ACK);
}

TEST(ResponseOrder, ReadsAndAtomicsGetResponsesInOrder) {
  ReceiveQueue rq;
  rq.receive(fetch_add_request(2000, 1), original(7));
  rq.receive(read_request(2001, 0x10000, 10));
  rq.receive(fetch_add_request(2002, 1), original(8));
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 3u);
  EXPECT_EQ(responses[0].atomic_original, 7u);
  EXPECT_EQ(responses[1].opcode, SROCE_OP_READ_RESPONSE_ONLY);
  EXPECT_EQ(responses[2].atomic_original, 8u);
}

TEST(ResponseOrder, ResponsesCarryTheMsnOfTheirRequest) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 4));
  rq.receive(fetch_add_request(2001, 1));
  rq.receive(write_only(2002, 0x10000, 4));
  std::vector<u32> msns;
  for (const sroce_packet& pkt : rq.respond()) msns.push_back(pkt.msn);
  EXPECT_EQ(msns, (std::vector<u32>{1, 2, 3}));
  rq.receive(read_request(2000, 0x10000, 4));
  ASSERT_EQ(rq.next_response()->kind, SROCE_RESPONSE_READ);
  EXPECT_EQ(rq.packet(*rq.next_response(), 0).msn, 1u) << "a replay";
}

// Credits are not supported. A peer that was sent some would count them.
TEST(ResponseOrder, NoResponseHasCredits) {
  ReceiveQueue rq({.selective = true});
  rq.receive(read_request(2000, 0x10000, 4));
  rq.receive(fetch_add_request(2001, 1));
  rq.receive(write_only(2002, 0x10000, 4));
  std::vector<sroce_packet> responses = rq.respond();
  rq.receive(read_request(2000, 0x10000, 4));
  for (const sroce_packet& pkt : rq.respond()) responses.push_back(pkt);
  EXPECT_EQ(responses.size(), 4u);
  for (const sroce_packet& pkt : responses)
    EXPECT_EQ(pkt.syndrome, SROCE_AETH_ACK | SROCE_AETH_CREDITS_INVALID) << int{pkt.opcode};
}

TEST(ResponseOrder, FatalNakWaitsForEarlierReadResponses) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 2048));
  rq.receive(write_only(2002, 0x10000, 4), kBadKey);
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 3u);
  EXPECT_EQ(responses[2].syndrome, SROCE_NAK_REMOTE_ACCESS);
  EXPECT_EQ(responses[2].psn, 2002u);
}

struct ReadShape {
  u32 mtu_bytes;
  u32 length;
};

class ResponseRead : public ::testing::TestWithParam<ReadShape> {
 protected:
  u32 expected_packets() const {
    const auto [mtu, length] = GetParam();
    return length ? length / mtu + (length % mtu ? 1 : 0) : 1;
  }
};

std::vector<ReadShape> read_shapes() {
  std::vector<ReadShape> all;
  for (u32 mtu : {256u, 512u, 1024u, 2048u, 4096u})
    for (u32 length : {0u, 1u, mtu - 1, mtu, mtu + 1, 2 * mtu, 10 * mtu + 3})
      all.push_back({mtu, length});
  return all;
}

INSTANTIATE_TEST_SUITE_P(EveryMtu, ResponseRead, ::testing::ValuesIn(read_shapes()),
                         [](const auto& info) {
                           return "Mtu" + std::to_string(info.param.mtu_bytes) + "Length" +
                                  std::to_string(info.param.length);
                         });

TEST_P(ResponseRead, PacketsCoverTheRangeForAnyBurst) {
  const auto [mtu, length] = GetParam();
  for (u32 burst : {1u, 3u, 1u << 20}) {
    ReceiveQueue rq({.psn = 0xfffffe, .mtu_bytes = mtu});
    rq.receive(read_request(0xfffffe, 0x10000, length));
    u32 bytes = 0, packets = 0;
    while (auto made = rq.next_response(burst)) {
      EXPECT_EQ(made->kind, SROCE_RESPONSE_READ);
      EXPECT_EQ(made->offset, bytes);
      EXPECT_EQ(made->va, 0x10000u + bytes);
      EXPECT_EQ(made->rkey, 0xbeefu);
      EXPECT_LE(made->packet_count, burst);
      u32 burst_bytes = 0;
      for (u32 i = 0; i < made->packet_count; i++, packets++) {
        const sroce_packet pkt = rq.packet(*made, i);
        EXPECT_EQ(pkt.psn, psn_add(0xfffffe, packets));
        EXPECT_EQ((pkt.payload_bytes + pkt.pad_bytes) % 4, 0u);
        burst_bytes += pkt.payload_bytes;
      }
      EXPECT_EQ(burst_bytes, made->payload_bytes);
      bytes += burst_bytes;
      rq.sent(*made);
    }
    EXPECT_EQ(packets, expected_packets());
    EXPECT_EQ(bytes, length);
  }
}

TEST_P(ResponseRead, OpcodesFollowThePositionInTheResponse) {
  const auto [mtu, length] = GetParam();
  ReceiveQueue rq({.mtu_bytes = mtu});
  rq.receive(read_request(2000, 0x10000, length));
  const auto responses = rq.respond(4);
  ASSERT_EQ(responses.size(), expected_packets());
  for (size_t i = 0; i < responses.size(); i++) {
    const bool first = i == 0, last = i == responses.size() - 1;
    const u8 expected = first && last ? SROCE_OP_READ_RESPONSE_ONLY
                        : first       ? SROCE_OP_READ_RESPONSE_FIRST
                        : last        ? SROCE_OP_READ_RESPONSE_LAST
                                      : SROCE_OP_READ_RESPONSE_MIDDLE;
    EXPECT_EQ(responses[i].opcode, expected) << i;
  }
}

// Whether the next response may wait to be piggybacked on a request.
bool next_may_be_delayed(const ReceiveQueue& rq) {
  const auto plan = rq.next_response();
  return plan && sroce_response_may_be_delayed(&rq.resp, &*plan);
}

TEST(ResponseDelay, AckMayBeDelayed) {
  ReceiveQueue rq;
  rq.receive(write_only(2000, 0x10000, 4));
  EXPECT_TRUE(next_may_be_delayed(rq));
}

TEST(ResponseDelay, NakMayNotBeDelayed) {
  ReceiveQueue gap, no_receive, forbidden({.access = 0});
  gap.receive(write_only(2001, 0x10000, 4));
  no_receive.receive(send_only(2000, 4));
  forbidden.receive(write_only(2000, 0x10000, 4));
  EXPECT_FALSE(next_may_be_delayed(gap));
  EXPECT_FALSE(next_may_be_delayed(no_receive));
  EXPECT_FALSE(next_may_be_delayed(forbidden));
}

TEST(ResponseDelay, ReadResponseMayNotBeDelayed) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 4));
  rq.receive(write_only(2001, 0x10000, 4));
  EXPECT_FALSE(next_may_be_delayed(rq));
  rq.sent(*rq.next_response());
  EXPECT_TRUE(next_may_be_delayed(rq));
}

TEST(ResponseDelay, SackMayNotBeDelayed) {
  ReceiveQueue rq({.reorder_packets = 64, .selective = true});
  for (u32 psn : {2000, 2002}) {
    sroce_packet pkt = write_only(psn, 0x10000, 4);
    pkt.selective = true;
    rq.receive(pkt);
  }
  ASSERT_EQ(rq.next_response()->kind, SROCE_RESPONSE_SACK);
  EXPECT_FALSE(next_may_be_delayed(rq));
}

sroce_packet selective(sroce_packet pkt) {
  pkt.selective = true;
  return pkt;
}

TEST(ResponseAcceptance, RepetitionWithoutTheOfferWithdrawsIt) {
  ReceiveQueue rq({.reorder_packets = 64, .selective = true});
  rq.receive(selective(write_only(2000, 0x10000, 16)));
  EXPECT_TRUE(rq.respond()[0].selective);
  rq.receive(write_only(2000, 0x10000, 16));
  EXPECT_FALSE(rq.respond()[0].selective) << "a path may drop responses with reserved bits";
  rq.receive(selective(write_only(2000, 0x10000, 16)));
  EXPECT_FALSE(rq.respond()[0].selective) << "it may have been sent before";
}

TEST(ResponseAcceptance, RepeatedReadWithoutTheOfferWithdrawsIt) {
  ReceiveQueue rq({.reorder_packets = 64, .selective = true});
  rq.receive(selective(read_request(2000, 0x10000, 3000 * 1024)));
  EXPECT_TRUE(rq.respond()[0].selective);
  rq.receive(selective(read_request(2000, 0x10000, 3000 * 1024)));
  EXPECT_TRUE(rq.respond()[0].selective);
  rq.receive(read_request(2000, 0x10000, 3000 * 1024));
  EXPECT_FALSE(rq.respond()[0].selective);
}

TEST(ResponseAcceptance, RequestBeyondTheQueueIsNoOffer) {
  ReceiveQueue rq({.reorder_packets = 64, .selective = true, .offers = 0});
  EXPECT_EQ(rq.receive(selective(write_only(2064, 0x10000, 16))).verdict, SROCE_RECV_NAK);
  EXPECT_FALSE(rq.respond()[0].selective);
}

TEST(ResponseLongRead, TwoToThe31BytesAreSentInOneSweep) {
  ReceiveQueue rq({.mtu_bytes = 256});
  rq.receive(read_request(2000, 0x10000, 1u << 31));
  u64 bytes = 0;
  u32 packets = 0;
  while (auto made = rq.next_response(1 << 20)) {
    bytes += made->payload_bytes;
    packets += made->packet_count;
    rq.sent(*made);
  }
  EXPECT_EQ(bytes, 1ull << 31);
  EXPECT_EQ(packets, SROCE_PSN_SPAN);
}

TEST(ResponseInvalidatedRead, BecomesARemoteAccessError) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 4096));
  rq.sent(*rq.next_response(2));
  rq.sent(*rq.next_response(1), SROCE_MEM_BAD_KEY);
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].syndrome, SROCE_NAK_REMOTE_ACCESS);
  EXPECT_EQ(responses[0].psn, 2002u);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_FAILED);
  EXPECT_EQ(rq.event(), SROCE_EVENT_ACCESS_ERR);
}

TEST(ResponseCnp, MatchesTheCnpOfHardware) {
  ReceiveQueue rq;
  sroce_packet pkt;
  sroce_responder_cnp_packet(&rq.resp, &pkt);
  u8 header[SROCE_MAX_HEADER_BYTES] = {};
  ASSERT_EQ(sroce_packet_write(&pkt, header), 12u);
  const u8 expected[12] = {0x81, 0x00, 0xff, 0xff, 0x40, 0x44, 0x55, 0x66, 0, 0, 0, 0};
  EXPECT_EQ(memcmp(header, expected, sizeof(expected)), 0);
  EXPECT_EQ(pkt.payload_bytes, 16u);
}

TEST(ResponsePlan, DroppedPlanChangesNothing) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 4096));
  const auto dropped = rq.next_response(2);
  const auto again = rq.next_response(2);
  EXPECT_EQ(memcmp(&*dropped, &*again, sizeof(*again)), 0);
}

// ---------------------------------------------------------------- holes in READs

using Psns = std::vector<u32>;

struct RespondedHoles : RespondedRead {
  using RespondedRead::RespondedRead;
  Psns response_psns() {
    Psns psns;
    for (const sroce_packet& pkt : respond()) psns.push_back(pkt.psn);
    return psns;
  }
};

TEST(ReadHole, IsFilledExactly) {
  RespondedHoles rq;
  rq.repeat(3, 2);
  const auto packets = rq.respond();
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].opcode, SROCE_OP_READ_RESPONSE_FIRST);
  EXPECT_EQ(packets[0].psn, 2003u);
  EXPECT_EQ(packets[1].opcode, SROCE_OP_READ_RESPONSE_LAST);
  EXPECT_EQ(packets[1].payload_bytes, 1024u);
  for (const sroce_packet& pkt : packets)
    EXPECT_EQ(pkt.syndrome, SROCE_AETH_ACK | SROCE_AETH_CREDITS_INVALID);
}

TEST(ReadHole, IsFilledBeforeTheReadContinues) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 10 * 1024));
  rq.sent(*rq.next_response(6));
  rq.receive(read_request(2001, 0x10000 + 1024, 1024));
  Psns psns;
  for (const sroce_packet& pkt : rq.respond()) psns.push_back(pkt.psn);
  EXPECT_EQ(psns, (Psns{2001, 2006, 2007, 2008, 2009}));
}

TEST(ReadHole, SeveralAreFilledInRequestOrder) {
  RespondedHoles rq;
  rq.repeat(5, 1);
  rq.repeat(1, 2);
  EXPECT_EQ(rq.response_psns(), (Psns{2005, 2001, 2002}));
}

TEST(ReadHole, MayReachTheEndOfTheRead) {
  RespondedHoles rq;
  rq.repeat(8, 2);
  EXPECT_EQ(rq.response_psns(), (Psns{2008, 2009}));
}

TEST(ReadHole, ExcessHolesAreForgotten) {
  RespondedHoles rq(100);
  for (u32 i = 0; i < 30; i++) rq.repeat(2 * i, 1);
  EXPECT_EQ(rq.response_psns().size(), u32{SROCE_MAX_REPLAYS});
}

TEST(ReadHole, IsForgottenWithItsRead) {
  ReceiveQueue rq({.max_dest_rd_atomic = 1});
  rq.receive(read_request(2000, 0x10000, 4096));
  rq.respond();
  rq.receive(read_request(2001, 0x10000 + 1024, 1024));
  rq.receive(read_request(2004, 0x20000, 100));
  const auto packets = rq.respond();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].psn, 2004u);
}

// The request may be a late duplicate. Only the peer knows whether it still needs the data.
TEST(ReadHole, GetsANakWhenItsRegionIsGone) {
  RespondedHoles rq;
  rq.repeat(3, 2);
  rq.repeat(5, 1);
  rq.sent(*rq.next_response(), SROCE_MEM_BAD_KEY);
  rq.sent(*rq.next_response());
  expect_nak(rq, SROCE_NAK_REMOTE_ACCESS, 2003);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
  EXPECT_EQ(rq.event(), SROCE_EVENT_COMM_EST);
}

}  // namespace
