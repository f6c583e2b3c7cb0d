// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "send_queue.h"

namespace {

using namespace sroce_test;

// ---------------------------------------------------------------- segmentation

struct Message {
  u32 mtu_bytes;
  u32 length;
};

class RequesterSegmentation : public ::testing::TestWithParam<Message> {
 protected:
  u32 expected_packets() const {
    const auto [mtu, length] = GetParam();
    return length ? length / mtu + (length % mtu ? 1 : 0) : 1;
  }
};

std::vector<Message> all_messages() {
  std::vector<Message> all;
  for (u32 mtu : {256u, 512u, 1024u, 2048u, 4096u})
    for (u32 length : {0u, 1u, mtu - 1, mtu, mtu + 1, 2 * mtu, 10 * mtu + 3, 1u << 31})
      all.push_back({mtu, length});
  return all;
}

std::string message_name(const ::testing::TestParamInfo<Message>& info) {
  return "Mtu" + std::to_string(info.param.mtu_bytes) + "Length" +
         std::to_string(info.param.length);
}

INSTANTIATE_TEST_SUITE_P(EveryMtu, RequesterSegmentation, ::testing::ValuesIn(all_messages()),
                         message_name);

TEST_P(RequesterSegmentation, MessageConsumesOnePsnForEachPacket) {
  SendQueue sq({.mtu_bytes = GetParam().mtu_bytes});
  for (const Work& work :
       {send_of(GetParam().length), write_of(GetParam().length), read_of(GetParam().length)})
    EXPECT_EQ(sroce_requester_wqe(&sq.req, sq.post(work))->psn_count, expected_packets());
}

TEST_P(RequesterSegmentation, BurstsCoverTheMessageOnceAndInOrder) {
  const auto [mtu, length] = GetParam();
  SendQueue sq({.psn = 0xfffff0, .mtu_bytes = mtu, .window_packets = SROCE_PSN_SPAN});
  sq.post(write_of(length));
  u32 packets = 0;
  u64 bytes = 0;
  while (packets < expected_packets()) {
    const sroce_send_plan burst = sq.send(1 << 20);
    ASSERT_EQ(burst.action, SROCE_SEND_PACKETS);
    EXPECT_EQ(burst.first_psn, psn_add(0xfffff0, packets));
    EXPECT_EQ(burst.offset, bytes);
    packets += burst.packet_count;
    bytes += burst.payload_bytes;
  }
  EXPECT_EQ(packets, expected_packets());
  EXPECT_EQ(bytes, length);
  EXPECT_EQ(sq.plan().action, SROCE_SEND_NOTHING);
}

// The datapath may build only the first packets of a burst, and then plans again for so many.
TEST_P(RequesterSegmentation, ShorterPlanIsTheBeginningOfTheLonger) {
  const auto [mtu, length] = GetParam();
  SendQueue sq({.mtu_bytes = mtu, .window_packets = SROCE_PSN_SPAN});
  sq.post(write_of(length));
  const sroce_send_plan whole = sq.plan();
  for (u32 count = 1; count < whole.packet_count; count *= 2) {
    sroce_send_plan begun = sq.plan(count);
    EXPECT_EQ(begun.packet_count, count);
    EXPECT_EQ(begun.payload_bytes, count * mtu);
    begun.packet_count = whole.packet_count;
    begun.payload_bytes = whole.payload_bytes;
    begun.ack_req = whole.ack_req;
    EXPECT_EQ(memcmp(&begun, &whole, sizeof(whole)), 0);
  }
}

TEST(RequesterPlan, BurstCutBeforeItsAckReqIsFollowedByOneThatHasIt) {
  SendQueue sq({.mtu_bytes = 1024, .window_packets = SROCE_PSN_SPAN});
  sq.post(write_of(256 * 1024));
  EXPECT_TRUE(sq.plan(64).ack_req);
  sroce_send_plan begun = sq.plan(16);
  begun.ack_req = false;
  sq.commit(begun);
  EXPECT_FALSE(sq.plan(47).ack_req);
  EXPECT_TRUE(sq.plan(48).ack_req);
}

TEST_P(RequesterSegmentation, EveryPacketButTheLastIsFull) {
  const auto [mtu, length] = GetParam();
  SendQueue sq({.mtu_bytes = mtu, .window_packets = SROCE_PSN_SPAN});
  sq.post(send_of(length));
  const sroce_send_plan burst = sq.plan();
  ASSERT_EQ(burst.packet_count, expected_packets());
  const u32 step = std::max(1u, burst.packet_count / 64);
  for (u32 i = (burst.packet_count - 1) % step; i < burst.packet_count; i += step) {
    const sroce_packet pkt = sq.packet(burst, i);
    const bool last = i == burst.packet_count - 1;
    EXPECT_EQ(pkt.payload_bytes, last ? length - i * mtu : mtu);
    EXPECT_EQ((pkt.payload_bytes + pkt.pad_bytes) % 4, 0u);
    EXPECT_LT(pkt.pad_bytes, 4u);
    EXPECT_EQ(pkt.psn, psn_add(1000, i));
  }
}

TEST_P(RequesterSegmentation, FirstAndLastPacketHaveStandardOpcodes) {
  const auto [mtu, length] = GetParam();
  SendQueue sq({.mtu_bytes = mtu, .window_packets = SROCE_PSN_SPAN});
  sq.post(write_of(length));
  const sroce_send_plan burst = sq.plan();
  const u32 count = expected_packets();
  ASSERT_EQ(burst.packet_count, count);
  if (count == 1) {
    EXPECT_EQ(sq.packet(burst, 0).opcode, SROCE_OP_WRITE_ONLY);
    return;
  }
  EXPECT_EQ(sq.packet(burst, 0).opcode, SROCE_OP_WRITE_FIRST);
  EXPECT_EQ(sq.packet(burst, count - 1).opcode, SROCE_OP_WRITE_LAST);
  if (count > 2) {
    EXPECT_EQ(sq.packet(burst, 1).opcode, SROCE_OP_WRITE_MIDDLE);
    EXPECT_EQ(sq.packet(burst, count - 2).opcode, SROCE_OP_WRITE_MIDDLE);
  }
}

TEST_P(RequesterSegmentation, ReadIsOneRequestForTheWholeRange) {
  SendQueue sq({.mtu_bytes = GetParam().mtu_bytes});
  sq.post(read_of(GetParam().length));
  const sroce_send_plan burst = sq.send();
  ASSERT_EQ(burst.packet_count, 1u);
  EXPECT_EQ(burst.payload_bytes, 0u);
  const sroce_packet pkt = sq.packet(burst, 0);
  EXPECT_EQ(pkt.opcode, SROCE_OP_READ_REQUEST);
  EXPECT_EQ(pkt.dma_length, GetParam().length);
  EXPECT_EQ(sq.req.next_psn, psn_add(1000, expected_packets()));
}

// ---------------------------------------------------------------- packets

struct OpcodeRow {
  u8 wr_opcode;
  u8 only, first, middle, last;
};

class RequesterOpcodes : public ::testing::TestWithParam<OpcodeRow> {};

INSTANTIATE_TEST_SUITE_P(EveryMessage, RequesterOpcodes,
                         ::testing::Values(OpcodeRow{SROCE_WR_SEND, 0x04, 0x00, 0x01, 0x02},
                                           OpcodeRow{SROCE_WR_SEND_IMM, 0x05, 0x00, 0x01, 0x03},
                                           OpcodeRow{SROCE_WR_SEND_INV, 0x17, 0x00, 0x01, 0x16},
                                           OpcodeRow{SROCE_WR_WRITE, 0x0a, 0x06, 0x07, 0x08},
                                           OpcodeRow{SROCE_WR_WRITE_IMM, 0x0b, 0x06, 0x07, 0x09}));

TEST_P(RequesterOpcodes, FollowThePositionInTheMessage) {
  const OpcodeRow row = GetParam();
  SendQueue sq;
  sq.post(send_of(3000).as(row.wr_opcode));
  sq.post(send_of(10).as(row.wr_opcode));
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 4u);
  EXPECT_EQ(packets[0].opcode, row.first);
  EXPECT_EQ(packets[1].opcode, row.middle);
  EXPECT_EQ(packets[2].opcode, row.last);
  EXPECT_EQ(packets[3].opcode, row.only);
}

TEST(RequesterPacket, EveryPacketIsAddressedToThePeer) {
  SendQueue sq;
  sq.post(send_of(3000));
  sq.post(read_of(3000));
  sq.post(fetch_add(1));
  for (const sroce_packet& pkt : sq.send_all()) {
    EXPECT_EQ(pkt.dest_qpn, 0x112233u);
    EXPECT_EQ(pkt.pkey, SROCE_PKEY_DEFAULT);
    EXPECT_TRUE(pkt.migreq);
    EXPECT_EQ(pkt.info, sroce_opcode_lookup(pkt.opcode));
    EXPECT_EQ(pkt.header_bytes, pkt.info->header_bytes);
  }
}

TEST(RequesterPacket, WriteNamesTheWholeRangeInItsFirstPacket) {
  SendQueue sq;
  sq.post(write_of(3000));
  const sroce_packet pkt = sq.packet(sq.plan(), 0);
  EXPECT_EQ(pkt.va, 0x10000u);
  EXPECT_EQ(pkt.rkey, 0xabcdu);
  EXPECT_EQ(pkt.dma_length, 3000u);
}

TEST(RequesterPacket, CompareSwapCarriesBothOperands) {
  SendQueue sq;
  sq.post(compare_swap(0x11, 0x22));
  const sroce_packet pkt = sq.packet(sq.plan(), 0);
  EXPECT_EQ(pkt.opcode, SROCE_OP_COMPARE_SWAP);
  EXPECT_EQ(pkt.compare, 0x11u);
  EXPECT_EQ(pkt.swap_add, 0x22u);
  EXPECT_EQ(pkt.va, 0x10000u);
  EXPECT_EQ(pkt.rkey, 0xabcdu);
  EXPECT_EQ(pkt.payload_bytes, 0u);
}

TEST(RequesterPacket, FetchAddCarriesTheAddend) {
  SendQueue sq;
  sq.post(fetch_add(0x33));
  const sroce_packet pkt = sq.packet(sq.plan(), 0);
  EXPECT_EQ(pkt.opcode, SROCE_OP_FETCH_ADD);
  EXPECT_EQ(pkt.swap_add, 0x33u);
}

TEST(RequesterPacket, ImmediateAndInvalidateAreInTheLastPacket) {
  SendQueue sq;
  Work with_imm = send_of(10).as(SROCE_WR_WRITE_IMM);
  with_imm.imm = 0x78563412;
  Work with_inv = send_of(10).as(SROCE_WR_SEND_INV);
  with_inv.invalidate_rkey = 0x55aa;
  sq.post(with_imm);
  sq.post(with_inv);
  const auto packets = sq.send_all();
  EXPECT_EQ(packets[0].imm, with_imm.imm);
  EXPECT_EQ(packets[1].inv_rkey, 0x55aau);
}

TEST(RequesterSolicited, OnlyTheLastPacketOfAMessageIsSolicited) {
  SendQueue sq;
  sq.post(send_of(3000).solicited());
  const auto packets = sq.send_all();
  EXPECT_FALSE(packets[0].solicited);
  EXPECT_FALSE(packets[1].solicited);
  EXPECT_TRUE(packets[2].solicited);
}

TEST(RequesterSolicited, BitIsClearByDefault) {
  SendQueue sq;
  sq.post(send_of(10));
  EXPECT_FALSE(sq.send_all()[0].solicited);
}

TEST(RequesterSolicited, BitNeedsAMessageThatUsesAReceive) {
  SendQueue sq;
  sq.post(write_of(10).solicited());
  sq.post(read_of(10).solicited());
  sq.post(fetch_add(1).solicited());
  for (const sroce_packet& pkt : sq.send_all()) EXPECT_FALSE(pkt.solicited);
}

TEST(RequesterSolicited, WriteWithImmediateMayBeSolicited) {
  SendQueue sq;
  sq.post(write_of(10).as(SROCE_WR_WRITE_IMM).solicited());
  EXPECT_TRUE(sq.send_all()[0].solicited);
}

// ---------------------------------------------------------------- plan and commit

TEST(RequesterPlan, EmptyQueueSendsNothing) {
  EXPECT_EQ(SendQueue().plan().action, SROCE_SEND_NOTHING);
}

TEST(RequesterPlan, NothingIsSentWithoutABudget) {
  SendQueue sq;
  sq.post(send_of(10));
  EXPECT_EQ(sq.plan(0).action, SROCE_SEND_NOTHING);
}

TEST(RequesterPlan, BurstIsLimitedByTheBudget) {
  SendQueue sq;
  sq.post(send_of(10 * 1024));
  EXPECT_EQ(sq.send(4).packet_count, 4u);
  EXPECT_EQ(sq.send(4).packet_count, 4u);
  EXPECT_EQ(sq.send(4).packet_count, 2u);
}

TEST(RequesterPlan, BurstBelongsToOneRequest) {
  SendQueue sq;
  sq.post(send_of(2048));
  sq.post(send_of(2048));
  EXPECT_EQ(sq.send().packet_count, 2u);
  EXPECT_EQ(sq.plan().index, 1u);
}

TEST(RequesterPlan, DroppedPlanChangesNothing) {
  SendQueue sq;
  sq.post(send_of(10 * 1024));
  const sroce_send_plan dropped = sq.plan(3);
  const sroce_send_plan again = sq.plan(3);
  EXPECT_EQ(memcmp(&dropped, &again, sizeof(again)), 0);
  EXPECT_FALSE(sq.timer_runs());
}

TEST(RequesterPlan, OnlyAReadyQueueSends) {
  for (sroce_sq_state state : {SROCE_SQ_IDLE, SROCE_SQ_ERROR}) {
    SendQueue sq;
    sq.post(send_of(10));
    sroce_requester_set_state(&sq.req, state);
    EXPECT_EQ(sq.plan().action, SROCE_SEND_NOTHING);
  }
}

TEST(RequesterWindow, LimitsUnacknowledgedPackets) {
  SendQueue sq({.window_packets = 8});
  sq.post(send_of(20 * 1024));
  EXPECT_EQ(sq.send_all(3).size(), 8u);
  sq.receive(ack(1004));
  EXPECT_EQ(sq.send_all(3).size(), 5u);
}

TEST(RequesterWindow, NeverExceedsHalfOfThePsnCircle) {
  SendQueue sq({.mtu_bytes = 256, .window_packets = SROCE_PSN_SPAN + 1});
  sq.post(write_of(1u << 31));
  sq.post(write_of(256));
  const sroce_send_plan burst = sq.send();
  EXPECT_EQ(burst.packet_count, SROCE_PSN_SPAN);
  EXPECT_TRUE(burst.ack_req);
  EXPECT_EQ(sq.plan().action, SROCE_SEND_NOTHING);
  sq.receive(ack(1000));
  EXPECT_EQ(sq.plan().packet_count, 1u);
}

TEST(RequesterWindow, LongestReadBlocksLaterRequests) {
  SendQueue sq({.mtu_bytes = 256});
  sq.post(read_of(1u << 31));
  sq.post(send_of(1));
  EXPECT_EQ(sq.send_all().size(), 1u);
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 256));
  EXPECT_EQ(sq.send_all().size(), 1u);
}

// Out-of-order responses further ahead could not be recorded and would be requested again.
TEST(RequesterWindow, ReadsAreLimitedToTheSpanOfAPsnMap) {
  SendQueue sq;
  sq.post(read_of(SROCE_PSN_MAP_SPAN * 1024));
  sq.post(read_of(1024));
  EXPECT_EQ(sq.send_all().size(), 1u);
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 1024));
  EXPECT_EQ(sq.send_all().size(), 1u);
}

// ---------------------------------------------------------------- AckReq

// The newest packet of a sender that has stopped must have AckReq, or be a READ or atomic.
void expect_newest_packet_requests_response(SendQueue& sq, u32 max_packets) {
  const auto packets = sq.send_all(max_packets);
  ASSERT_FALSE(packets.empty());
  const sroce_packet& newest = packets.back();
  EXPECT_TRUE(newest.ack_req || newest.info->flags & (SROCE_OPF_READ | SROCE_OPF_ATOMIC));
}

TEST(RequesterAckReq, SignaledMessageHasItInItsLastPacketOnly) {
  SendQueue sq;
  sq.post(send_of(4 * 1024));
  sq.post(send_of(10));
  const auto packets = sq.send_all();
  EXPECT_FALSE(packets[0].ack_req);
  EXPECT_FALSE(packets[2].ack_req);
  EXPECT_TRUE(packets[3].ack_req);
}

TEST(RequesterAckReq, UnsignaledMessagesShareOne) {
  SendQueue sq;
  for (int i = 0; i < 5; i++) sq.post(send_of(10).unsignaled());
  const auto packets = sq.send_all();
  EXPECT_EQ(std::count_if(packets.begin(), packets.end(),
                          [](const sroce_packet& pkt) { return pkt.ack_req; }),
            1);
  EXPECT_TRUE(packets.back().ack_req);
}

TEST(RequesterAckReq, IsSetByAFullWindow) {
  for (u32 burst : {1u, 3u, 100u}) {
    SendQueue sq({.window_packets = 10});
    sq.post(send_of(40 * 1024).unsignaled());
    expect_newest_packet_requests_response(sq, burst);
  }
}

TEST(RequesterAckReq, IsSetByTheLastUnsignaledMessage) {
  SendQueue sq;
  sq.post(write_of(10).unsignaled());
  sq.post(write_of(3000).unsignaled());
  expect_newest_packet_requests_response(sq, 100);
}

TEST(RequesterAckReq, IsSetBeforeAFencedRequest) {
  SendQueue sq;
  sq.post(read_of(10));
  sq.post(send_of(10).unsignaled());
  sq.post(send_of(10).unsignaled().fenced());
  expect_newest_packet_requests_response(sq, 100);
}

TEST(RequesterAckReq, IsSetBeforeARejectedRequest) {
  SendQueue sq;
  sq.post(send_of(10).unsignaled());
  sq.post(send_of(10).rejected(SROCE_WC_LOC_LEN_ERR));
  expect_newest_packet_requests_response(sq, 100);
}

TEST(RequesterAckReq, IsSetBeforeAReadBeyondTheLimit) {
  SendQueue sq({.max_rd_atomic = 1});
  sq.post(read_of(10).unsignaled());
  sq.post(send_of(10).unsignaled());
  sq.post(read_of(10).unsignaled());
  expect_newest_packet_requests_response(sq, 100);
}

TEST(RequesterAckReq, IsSentAgainAfterALocalFailure) {
  SendQueue sq;
  sq.post(send_of(10).unsignaled());
  sq.post(send_of(10).unsignaled());
  const sroce_send_plan first = sq.send();
  EXPECT_EQ(first.index, 0u);
  sq.commit(sq.plan(), SROCE_WC_LOC_PROT_ERR);
  if (!first.ack_req) expect_newest_packet_requests_response(sq, 100);
  sq.receive(ack(1000));
  sq.send();
  EXPECT_TRUE(sq.failed());
}

TEST(RequesterAckReq, IsSetWithinLongMessagesForTheAckClock) {
  SendQueue sq({.window_packets = 16});
  sq.post(send_of(16 * 1024));
  const auto packets = sq.send_all(1);
  EXPECT_GE(std::count_if(packets.begin(), packets.end(),
                          [](const sroce_packet& pkt) { return pkt.ack_req; }),
            2);
}

TEST(RequesterAckReq, IsSetInRetransmissions) {
  SendQueue sq;
  sq.post(send_of(3000).unsignaled());
  sq.send_all();
  sq.expire();
  expect_newest_packet_requests_response(sq, 100);
}

TEST(RequesterAckReq, IsSetInTheLastPacketOfABurstOnly) {
  SendQueue sq;
  sq.post(send_of(5 * 1024));
  const sroce_send_plan burst = sq.plan();
  EXPECT_TRUE(burst.ack_req);
  for (u32 i = 0; i < burst.packet_count; i++)
    EXPECT_EQ(sq.packet(burst, i).ack_req, i == burst.packet_count - 1);
}

// ---------------------------------------------------------------- the TSQ limit

TEST(BypassTsq, IsForTheRetransmissionAfterAnAckTimeout) {
  SendQueue sq;
  sq.post(send_of(10));
  EXPECT_FALSE(sq.send().bypass_tsq);
  sq.expire();
  EXPECT_TRUE(sq.plan().retransmit);
  EXPECT_TRUE(sq.plan().bypass_tsq);
}

TEST(BypassTsq, IsNotForNewPacketsAfterAnAckTimeout) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  sq.send();
  sq.post(send_of(10));
  EXPECT_FALSE(sq.plan().bypass_tsq);
}

TEST(BypassTsq, IsNotForARetransmissionAfterANak) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(nak(SROCE_NAK_PSN_SEQUENCE, 1000));
  EXPECT_TRUE(sq.plan().retransmit);
  EXPECT_FALSE(sq.plan().bypass_tsq);
}

TEST(BypassTsq, IsForAProbeOnlyAfterAnAckTimeout) {
  SendQueue sq({.adaptive = true, .selective = true});
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(selective(ack(1000)));
  sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  EXPECT_TRUE(sq.req.probe.due);
  EXPECT_FALSE(sq.send().bypass_tsq);
  sroce_requester_timeout(&sq.req, sq.req.ack_deadline_ns);
  EXPECT_TRUE(sq.req.probe.due);
  EXPECT_TRUE(sq.plan().bypass_tsq);
}

// The window shrinks while packets without AckReq are in flight. Without another request for an ACK
// the sender would wait for the ACK timeout.
TEST(SendWindow, OneMorePacketRequestsAnAckWhenItShrinks) {
  SendQueue sq;
  sq.post(send_of(64 * 1024));
  EXPECT_FALSE(sq.packet(sq.send(8), 7).ack_req);
  sq.req.window.packets = 2;
  const auto more = sq.send_all();
  ASSERT_EQ(more.size(), 1u);
  EXPECT_TRUE(more[0].ack_req);
}

}  // namespace
