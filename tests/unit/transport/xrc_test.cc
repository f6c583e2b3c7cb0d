// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// XRC: RC whose requests name a shared receive queue of the peer.
#include <gtest/gtest.h>

#include "receive_queue.h"
#include "send_queue.h"

namespace {

using namespace sroce_test;

constexpr u32 kSrq = 0x123456, kOtherSrq = 0x654321;

struct XrcReceiveQueue : ReceiveQueue {
  explicit XrcReceiveQueue(ReceiveQueueOptions options = {}) : ReceiveQueue(as_xrc(options)) {}
  static ReceiveQueueOptions as_xrc(ReceiveQueueOptions options) {
    options.service = SROCE_SERVICE_XRC;
    return options;
  }
};

// The datapath has found the queue.
sroce_packet to_srq(sroce_packet pkt, u32 srqn = kSrq) {
  pkt.opcode |= SROCE_SERVICE_XRC;
  pkt.info = sroce_opcode_lookup(pkt.opcode);
  pkt.header_bytes = pkt.info->header_bytes;
  pkt.srqn = srqn;
  pkt.has_srq = true;
  return pkt;
}
sroce_packet to_no_srq(sroce_packet pkt) {
  pkt = to_srq(pkt);
  pkt.has_srq = false;
  return pkt;
}
sroce_packet xrc(u8 opcode, u32 psn, u32 bytes = 1024) {
  return to_srq(request(opcode, psn, bytes));
}

void expect_xrc_nak(XrcReceiveQueue& rq, u8 syndrome, u32 psn) {
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].opcode, SROCE_SERVICE_XRC | SROCE_OP_ACK);
  EXPECT_EQ(responses[0].syndrome, syndrome);
  EXPECT_EQ(responses[0].psn, psn);
}

// ------------------------------------------------------------------------------------ packets

TEST(XrcPacket, HeaderWithTheQueueFollowsTheBth) {
  const u8 bytes[] = {0xaa, 0, 0xff, 0xff, 0,    0x44, 0x55, 0x66, 0, 0,  0,  7,  // BTH
                      0xee, 1, 2,    3,                                           // XRCETH
                      1,    2, 3,    4,    5,    6,    7,    8,    9, 10, 11, 12,
                      0,    0, 0,    4,    0xde, 0xad, 0xbe, 0xef, 0, 0,  0,  0};
  sroce_packet pkt;
  ASSERT_EQ(sroce_packet_parse(bytes, sizeof(bytes), sizeof(bytes), &pkt), SROCE_PARSE_OK);
  EXPECT_EQ(pkt.srqn, 0x010203u) << "the first octet is reserved";
  EXPECT_EQ(pkt.va, 0x0102030405060708u);
  EXPECT_EQ(pkt.rkey, 0x090a0b0cu);
  EXPECT_EQ(pkt.dma_length, 4u);
  EXPECT_EQ(pkt.payload_bytes, 4u);
  EXPECT_FALSE(pkt.has_srq);
}

TEST(XrcPacket, EachRequestIsReadAsItWasWritten) {
  for (u32 opcode = 0xa0; opcode < 0xc0; opcode++) {
    const sroce_opcode_info* info = sroce_opcode_lookup(static_cast<u8>(opcode));
    if (!info || !(info->flags & SROCE_OPF_XRCETH)) continue;
    SCOPED_TRACE(opcode);
    sroce_packet pkt = request(static_cast<u8>(opcode), 77, 0);
    pkt.srqn = kSrq;
    pkt.va = 0x1111222233334444;
    pkt.rkey = 0x55667788;
    pkt.imm = 0x01020304;
    pkt.inv_rkey = 0x99;
    pkt.swap_add = 5;
    pkt.compare = 6;
    std::vector<u8> bytes(SROCE_MAX_HEADER_BYTES + SROCE_ICRC_BYTES);
    bytes.resize(sroce_packet_write(&pkt, bytes.data()) + SROCE_ICRC_BYTES);
    sroce_packet read;
    const u32 length = static_cast<u32>(bytes.size());
    ASSERT_EQ(sroce_packet_parse(bytes.data(), length, length, &read), SROCE_PARSE_OK);
    EXPECT_EQ(read.srqn, kSrq);
    const u32 flags = info->flags;
    if (flags & (SROCE_OPF_RETH | SROCE_OPF_ATOMIC_ETH)) {
      EXPECT_EQ(read.va, pkt.va);
      EXPECT_EQ(read.rkey, pkt.rkey);
    }
    if (flags & SROCE_OPF_ATOMIC_ETH) EXPECT_EQ(read.compare, 6u);
    if (flags & SROCE_OPF_IMM) EXPECT_EQ(read.imm, pkt.imm);
    if (flags & SROCE_OPF_IETH) EXPECT_EQ(read.inv_rkey, 0x99u);
  }
}

// ------------------------------------------------------------------------------------ requester

TEST(XrcSend, EachPacketOfAMessageNamesTheQueue) {
  SendQueue sq({.service = SROCE_SERVICE_XRC});
  Work work = send_of(2058);
  work.srqn = kSrq;
  sq.post(work);
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 3u);
  for (const sroce_packet& pkt : packets) EXPECT_EQ(pkt.srqn, kSrq);
  EXPECT_EQ(packets[0].opcode, 0xa0);
  EXPECT_EQ(packets[1].opcode, 0xa1);
  EXPECT_EQ(packets[2].opcode, 0xa2);
  EXPECT_TRUE(packets[2].ack_req);
}

TEST(XrcSend, ReadsAndAtomicsNameTheQueue) {
  SendQueue sq({.service = SROCE_SERVICE_XRC});
  for (Work work : {read_of(100), fetch_add(1), compare_swap(1, 2), atomic_write(), flush()}) {
    work.srqn = kOtherSrq;
    sq.post(work);
  }
  std::vector<u8> opcodes;
  for (const sroce_packet& pkt : sq.send_all()) {
    EXPECT_EQ(pkt.srqn, kOtherSrq);
    opcodes.push_back(pkt.opcode);
  }
  EXPECT_EQ(opcodes, (std::vector<u8>{0xac, 0xb4, 0xb3, 0xbd}));
}

TEST(XrcSend, ResponsesOfXrcCompleteRequests) {
  SendQueue sq({.service = SROCE_SERVICE_XRC});
  sq.post(send_of(10));
  sq.post(read_of(3000));
  sq.send_all();
  const auto as_xrc = [](sroce_packet pkt) {
    pkt.opcode |= SROCE_SERVICE_XRC;
    pkt.info = sroce_opcode_lookup(pkt.opcode);
    return pkt;
  };
  sq.receive(as_xrc(ack(1000)));
  EXPECT_EQ(sq.completions().size(), 1u);
  for (u32 i = 0; i < 3; i++) {
    sroce_packet pkt =
        request(static_cast<u8>(SROCE_OP_READ_RESPONSE_FIRST + i), 1001 + i, i < 2 ? 1024 : 952);
    pkt.syndrome = kAckSyndrome;
    sq.receive(as_xrc(pkt));
  }
  const auto completions = sq.completions();
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].opcode, SROCE_WC_READ);
}

TEST(XrcSend, QueueNumberHas24Bits) {
  sroce_wqe_limits limits = {SROCE_SERVICE_XRC, 2, 0, 1024};
  sroce_send_wqe wqe = {};
  wqe.opcode = SROCE_WR_SEND;
  wqe.srqn = 0xffffff;
  EXPECT_EQ(sroce_wqe_check(&wqe, &limits), SROCE_WC_SUCCESS);
  wqe.srqn = 0x1000001;
  EXPECT_EQ(sroce_wqe_check(&wqe, &limits), SROCE_WC_LOC_QP_OP_ERR);
  limits.service = SROCE_SERVICE_RC;
  EXPECT_EQ(sroce_wqe_check(&wqe, &limits), SROCE_WC_SUCCESS) << "RC has none";
}

// ------------------------------------------------------------------------------------ responder

TEST(XrcReceive, SendUsesTheReceiveOfItsQueue) {
  XrcReceiveQueue rq;
  rq.post(4096);
  rq.receive(xrc(SROCE_OP_SEND_FIRST, 2000));
  EXPECT_EQ(rq.resp.recv->srqn, kSrq);
  rq.receive(with_ack_req(xrc(SROCE_OP_SEND_LAST, 2001, 10)));
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].byte_len, 1034u);
  expect_xrc_nak(rq, kAckSyndrome, 2001);
}

TEST(XrcReceive, MessagesMayNameDifferentQueues) {
  XrcReceiveQueue rq;
  for (u32 i = 0; i < 4; i++) {
    rq.post(100);
    rq.receive(to_srq(request(SROCE_OP_SEND_ONLY, 2000 + i, 10), i % 2 ? kOtherSrq : kSrq));
    EXPECT_EQ(rq.resp.recv->srqn, i % 2 ? kOtherSrq : kSrq);
  }
  EXPECT_EQ(rq.completions.size(), 4u);
}

// Also requests that need no receive: the region must be one of the queue's protection domain.
TEST(XrcReceive, UnknownQueueIsAnInvalidRequest) {
  const sroce_packet requests[] = {
      request(SROCE_OP_SEND_ONLY, 2000, 10),
      write_only(2000, 0x10000, 10),
      read_request(2000, 0x10000, 10),
      fetch_add_request(2000, 1),
      atomic_write_request(2000),
      flush_request(2000),
  };
  for (const sroce_packet& pkt : requests) {
    SCOPED_TRACE(int{pkt.opcode});
    XrcReceiveQueue rq;
    rq.post(100);
    rq.receive(to_no_srq(pkt));
    expect_xrc_nak(rq, SROCE_NAK_INVALID_REQUEST, 2000);
    EXPECT_EQ(rq.resp.state, SROCE_RQ_FAILED);
    EXPECT_EQ(rq.event(), SROCE_EVENT_REQ_ERR);
    EXPECT_EQ(rq.buffers_left(), 1u) << "no receive is taken";
  }
}

TEST(XrcReceive, QueueThatGoesAwayEndsTheMessage) {
  XrcReceiveQueue rq;
  rq.post(4096);
  rq.receive(xrc(SROCE_OP_SEND_FIRST, 2000));
  rq.receive(to_no_srq(request(SROCE_OP_SEND_LAST, 2001, 10)));
  expect_xrc_nak(rq, SROCE_NAK_INVALID_REQUEST, 2001);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].status, SROCE_WC_REM_INV_REQ_ERR);
}

TEST(XrcReceive, MessageMustNotChangeItsQueue) {
  for (const bool writes : {false, true}) {
    XrcReceiveQueue rq;
    rq.post(4096);
    rq.receive(writes ? to_srq(write_first(2000, 0x10000, 2048)) : xrc(SROCE_OP_SEND_FIRST, 2000));
    const u8 last = writes ? SROCE_OP_WRITE_LAST_IMM : SROCE_OP_SEND_LAST;
    rq.receive(to_srq(request(last, 2001, 1024), kOtherSrq));
    expect_xrc_nak(rq, SROCE_NAK_INVALID_REQUEST, 2001);
    EXPECT_EQ(rq.buffers_left(), writes ? 1u : 0u);
  }
}

// The first try has taken a receive, and waits for pages.
TEST(XrcReceive, SecondTryMustNotChangeTheQueue) {
  XrcReceiveQueue rq;
  rq.post(100);
  rq.pages_present = false;
  EXPECT_EQ(SROCE_RECV_RNR, rq.receive(xrc(SROCE_OP_SEND_ONLY, 2000, 10)).verdict);
  rq.respond();
  rq.pages_present = true;
  rq.receive(to_srq(request(SROCE_OP_SEND_ONLY, 2000, 10), kOtherSrq));
  expect_xrc_nak(rq, SROCE_NAK_INVALID_REQUEST, 2000);
}

TEST(XrcReceive, ReservedOpcodeGetsANak) {
  XrcReceiveQueue rq;
  rq.receive(request(0xb5, 2000));
  expect_xrc_nak(rq, SROCE_NAK_INVALID_REQUEST, 2000);
}

TEST(XrcReceive, DuplicateNeedsNoQueue) {
  XrcReceiveQueue rq;
  rq.post(100);
  rq.receive(xrc(SROCE_OP_SEND_ONLY, 2000, 10));
  EXPECT_EQ(rq.receive(to_no_srq(request(SROCE_OP_SEND_ONLY, 2000, 10))).verdict,
            SROCE_RECV_ACK_AGAIN);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
}

TEST(XrcReceive, DuplicateReadOrAtomicNamesTheSameQueue) {
  for (const sroce_packet& pkt : {read_request(2000, 0x10000, 100), fetch_add_request(2000, 1)}) {
    XrcReceiveQueue rq;
    rq.receive(to_srq(pkt));
    rq.respond();
    EXPECT_EQ(rq.receive(to_srq(pkt, kOtherSrq)).reason, SROCE_DROP_REPLAY);
    EXPECT_EQ(rq.receive(to_srq(pkt)).verdict, SROCE_RECV_REPLAY);
  }
}

TEST(XrcReceive, ResponsesAreThoseOfXrc) {
  XrcReceiveQueue rq;
  rq.receive(to_srq(read_request(2000, 0x10000, 3000)));
  rq.receive(to_srq(fetch_add_request(2003, 1)), original(7));
  const auto plan = rq.next_response();
  EXPECT_EQ(plan->srqn, kSrq) << "its protection domain has the region";
  std::vector<u8> opcodes;
  for (const sroce_packet& pkt : rq.respond()) opcodes.push_back(pkt.opcode);
  EXPECT_EQ(opcodes, (std::vector<u8>{0xad, 0xae, 0xaf, 0xb2}));
}

TEST(XrcReceive, AtomicIsPlannedAsThatOfRc) {
  XrcReceiveQueue rq;
  EXPECT_EQ(rq.receive(to_srq(fetch_add_request(2000, 1))).atomic_op, SROCE_OP_FETCH_ADD);
}

TEST(XrcReceive, EmptyQueueMakesThePeerWait) {
  XrcReceiveQueue rq;
  rq.receive(xrc(SROCE_OP_SEND_ONLY, 2000, 10));
  expect_xrc_nak(rq, SROCE_AETH_RNR_NAK | 12, 2000);
}

TEST(XrcReceive, RequestThatWaitsSaysForWhichQueue) {
  XrcReceiveQueue rq({.reorder_packets = 64, .rnr_delay_ns = 1'000'000});
  rq.receive(to_srq(request(SROCE_OP_SEND_ONLY, 2000, 10), kOtherSrq));
  EXPECT_TRUE(sroce_responder_waits_rwqe(&rq.resp));
  EXPECT_EQ(rq.resp.reorder.waiting_srqn, kOtherSrq);
}

// The header is compared for the first of them only.
TEST(XrcReceive, NothingIsCoalesced) {
  XrcReceiveQueue rq;
  rq.post(8192);
  rq.receive(xrc(SROCE_OP_SEND_FIRST, 2000));
  const sroce_packet middle = xrc(SROCE_OP_SEND_MIDDLE, 2001);
  EXPECT_FALSE(sroce_responder_can_coalesce(&rq.resp, &middle));
}

TEST(XrcReceive, SelectivePeerGetsSacks) {
  XrcReceiveQueue rq({.reorder_packets = SROCE_PSN_MAP_SPAN, .selective = true});
  for (u32 psn : {2001u, 2002u, 2003u, 2004u}) {
    sroce_packet pkt = to_srq(write_only(psn, 0x10000, 16));
    pkt.selective = true;
    rq.receive(pkt);
  }
  const auto responses = rq.respond();
  ASSERT_FALSE(responses.empty());
  EXPECT_EQ(responses[0].opcode, SROCE_OP_SACK);
}

TEST(XrcReceive, OtherServicesAreDropped) {
  XrcReceiveQueue rq;
  expect_dropped(rq, send_only(2000, 10), SROCE_DROP_OPCODE);
  ReceiveQueue rc;
  expect_dropped(rc, xrc(SROCE_OP_SEND_ONLY, 2000, 10), SROCE_DROP_OPCODE);
}

}  // namespace
