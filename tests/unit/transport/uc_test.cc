// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "receive_queue.h"
#include "send_queue.h"

namespace {

using namespace sroce_test;

struct UcReceiveQueue : ReceiveQueue {
  explicit UcReceiveQueue(ReceiveQueueOptions options = {}) : ReceiveQueue(as_uc(options)) {}
  static ReceiveQueueOptions as_uc(ReceiveQueueOptions options) {
    options.service = SROCE_SERVICE_UC;
    return options;
  }
  // The bytes of the messages that have completed.
  std::vector<u32> received() const {
    std::vector<u32> bytes;
    for (const sroce_completion& wc : completions) bytes.push_back(wc.byte_len);
    return bytes;
  }
};

sroce_packet uc(u8 opcode, u32 psn, u32 bytes = 1024) {
  return request(SROCE_SERVICE_UC | opcode, psn, bytes);
}
sroce_packet uc_write_first(u32 psn, u32 message_bytes) {
  return with_reth(uc(SROCE_OP_WRITE_FIRST, psn), 0x10000, message_bytes);
}
sroce_packet uc_write_only(u32 psn, u32 bytes) {
  return with_reth(uc(SROCE_OP_WRITE_ONLY, psn, bytes), 0x10000, bytes);
}

// ------------------------------------------------------------------------------------ responder

TEST(UcReceive, SendIsPlacedPieceByPiece) {
  UcReceiveQueue rq;
  rq.post(4096);
  EXPECT_EQ(rq.receive(uc(SROCE_OP_SEND_FIRST, 2000)).offset, 0u);
  EXPECT_EQ(rq.receive(uc(SROCE_OP_SEND_MIDDLE, 2001)).offset, 1024u);
  EXPECT_TRUE(rq.completions.empty());
  const sroce_recv_plan plan = rq.receive(uc(SROCE_OP_SEND_LAST, 2002, 10));
  EXPECT_EQ(plan.target, SROCE_TARGET_RECV);
  EXPECT_EQ(plan.offset, 2048u);
  EXPECT_EQ(plan.place_bytes, 10u);
  EXPECT_EQ(rq.received(), std::vector<u32>{2058});
  EXPECT_EQ(rq.completions[0].opcode, SROCE_WC_RECV);
  EXPECT_EQ(rq.completions[0].src_qpn, 0x445566u);
}

TEST(UcReceive, ImmediateAndSolicitedReachTheCompletion) {
  UcReceiveQueue rq;
  rq.post(100);
  sroce_packet pkt = uc(SROCE_OP_SEND_ONLY_IMM, 2000, 10);
  pkt.imm = 0x99887766;
  pkt.solicited = true;
  rq.receive(pkt);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].imm, pkt.imm);
  EXPECT_TRUE(rq.completions[0].solicited);
}

TEST(UcReceive, WriteNeedsNoReceive) {
  UcReceiveQueue rq;
  rq.post(100);
  EXPECT_EQ(rq.receive(uc_write_first(2000, 1034)).check_bytes, 1034u);
  const sroce_recv_plan plan = rq.receive(uc(SROCE_OP_WRITE_LAST, 2001, 10));
  EXPECT_EQ(plan.target, SROCE_TARGET_REGION);
  EXPECT_EQ(plan.va, 0x10000u + 1024);
  EXPECT_EQ(rq.buffers_left(), 1u);
  EXPECT_TRUE(rq.completions.empty());
}

TEST(UcReceive, WriteWithImmediateCompletes) {
  UcReceiveQueue rq;
  rq.post(0);
  rq.receive(uc_write_first(2000, 1034));
  rq.receive(uc(SROCE_OP_WRITE_LAST_IMM, 2001, 10));
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].opcode, SROCE_WC_RECV_WRITE_IMM);
  EXPECT_EQ(rq.completions[0].byte_len, 1034u);
}

// Whatever the peer requests and however wrong it is.
TEST(UcReceive, NothingIsEverSentBack) {
  UcReceiveQueue rq;
  rq.post(100);
  rq.receive(with_ack_req(uc(SROCE_OP_SEND_ONLY, 2000, 10)));
  rq.receive(with_ack_req(uc(SROCE_OP_SEND_ONLY, 2001, 10)));
  rq.receive(with_ack_req(uc(SROCE_OP_SEND_LAST, 2005, 10)));
  rq.receive(with_ack_req(uc(SROCE_OP_SEND_MIDDLE, 2006, 1)));
  rq.receive(with_ack_req(uc_write_only(2007, 10)), kBadKey);
  EXPECT_TRUE(rq.respond().empty());
  EXPECT_FALSE(rq.timer_runs());
}

TEST(UcReceive, MessageWithALostPacketIsDropped) {
  UcReceiveQueue rq;
  rq.post(4096);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2000));
  expect_dropped(rq, uc(SROCE_OP_SEND_MIDDLE, 2002), SROCE_DROP_GAP);
  expect_dropped(rq, uc(SROCE_OP_SEND_LAST, 2003, 10), SROCE_DROP_GAP);
  EXPECT_TRUE(rq.completions.empty());
}

TEST(UcReceive, MessageWithoutItsFirstPacketIsDropped) {
  UcReceiveQueue rq;
  rq.post(4096);
  expect_dropped(rq, uc(SROCE_OP_SEND_MIDDLE, 2000), SROCE_DROP_GAP);
  expect_dropped(rq, uc(SROCE_OP_SEND_LAST, 2001, 10), SROCE_DROP_GAP);
  EXPECT_EQ(rq.buffers_left(), 1u);
}

TEST(UcReceive, ReceiveOfADroppedMessageServesTheNext) {
  UcReceiveQueue rq;
  rq.post(4096);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2000));
  rq.receive(uc(SROCE_OP_SEND_LAST, 2002, 10));
  const sroce_recv_plan plan = rq.receive(uc(SROCE_OP_SEND_ONLY, 2003, 7));
  EXPECT_EQ(plan.offset, 0u);
  EXPECT_EQ(rq.received(), std::vector<u32>{7});
  EXPECT_EQ(rq.completions[0].wr_id, 0u);
}

TEST(UcReceive, FirstPacketMayHaveAnyPsn) {
  UcReceiveQueue rq;
  for (u32 psn : {2000u, 2001u, 5u, 0xffffffu, 0u, 0x800000u}) {
    rq.post(100);
    EXPECT_EQ(rq.receive(uc(SROCE_OP_SEND_ONLY, psn, 4)).verdict, SROCE_RECV_PLACE) << psn;
  }
}

// The last packet of the message before it is lost.
TEST(UcReceive, FirstPacketEndsAnIncompleteMessage) {
  UcReceiveQueue rq;
  rq.post(4096);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2000));
  EXPECT_EQ(rq.receive(uc(SROCE_OP_SEND_FIRST, 2002)).offset, 0u);
  EXPECT_EQ(rq.receive(uc(SROCE_OP_SEND_LAST, 2003, 1)).offset, 1024u);
  EXPECT_EQ(rq.received(), std::vector<u32>{1025});
}

TEST(UcReceive, WriteMayFollowAnIncompleteSend) {
  UcReceiveQueue rq;
  rq.post(4096);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2000));
  EXPECT_EQ(rq.receive(uc_write_only(2002, 10)).target, SROCE_TARGET_REGION);
  expect_dropped(rq, uc(SROCE_OP_SEND_LAST, 2003, 10), SROCE_DROP_GAP);
}

TEST(UcReceive, OtherKindOfPacketEndsTheMessage) {
  UcReceiveQueue rq;
  rq.post(4096);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2000));
  expect_dropped(rq, uc(SROCE_OP_WRITE_MIDDLE, 2001), SROCE_DROP_GAP);
  expect_dropped(rq, uc(SROCE_OP_SEND_LAST, 2002, 10), SROCE_DROP_GAP);
}

TEST(UcReceive, LatePacketTakesNothingFromTheMessage) {
  UcReceiveQueue rq;
  rq.post(4096);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2000));
  rq.receive(uc(SROCE_OP_SEND_MIDDLE, 2001));
  expect_dropped(rq, uc(SROCE_OP_SEND_MIDDLE, 2001), SROCE_DROP_DUPLICATE);
  expect_dropped(rq, uc(SROCE_OP_SEND_LAST, 1999, 10), SROCE_DROP_DUPLICATE);
  rq.receive(uc(SROCE_OP_SEND_LAST, 2002, 10));
  EXPECT_EQ(rq.received(), std::vector<u32>{2058});
}

TEST(UcReceive, CrossesThePsnWrap) {
  UcReceiveQueue rq;
  rq.post(4096);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 0xfffffe));
  rq.receive(uc(SROCE_OP_SEND_MIDDLE, 0xffffff));
  rq.receive(uc(SROCE_OP_SEND_LAST, 0, 10));
  EXPECT_EQ(rq.received(), std::vector<u32>{2058});
}

TEST(UcReceive, CoalescedPacketsAreOneStep) {
  UcReceiveQueue rq;
  rq.post(8192);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2000));
  sroce_packet three = uc(SROCE_OP_SEND_MIDDLE, 2001, 3 * 1024);
  three.count = 3;
  EXPECT_TRUE(sroce_responder_can_coalesce(&rq.resp, &three));
  EXPECT_EQ(rq.receive(three).place_bytes, 3u * 1024);
  rq.receive(uc(SROCE_OP_SEND_LAST, 2004, 10));
  EXPECT_EQ(rq.received(), std::vector<u32>{4 * 1024 + 10});
}

// The packets behind it are no gap that would have to be counted again.
TEST(UcReceive, GapOfCoalescedPacketsEndsBehindThem) {
  UcReceiveQueue rq;
  sroce_packet three = uc(SROCE_OP_SEND_MIDDLE, 2000, 3 * 1024);
  EXPECT_FALSE(sroce_responder_can_coalesce(&rq.resp, &three)) << "each is counted";
  three.count = 3;
  expect_dropped(rq, three, SROCE_DROP_GAP);
  EXPECT_EQ(rq.resp.epsn, 2003u);
}

TEST(UcReceive, SendWithoutAReceiveIsDropped) {
  UcReceiveQueue rq({.reorder_packets = 64, .rnr_delay_ns = 1000000});
  expect_dropped(rq, uc(SROCE_OP_SEND_FIRST, 2000), SROCE_DROP_NO_WQE);
  rq.post(4096);
  expect_dropped(rq, uc(SROCE_OP_SEND_LAST, 2001, 10), SROCE_DROP_GAP);
  rq.receive(uc(SROCE_OP_SEND_ONLY, 2002, 10));
  EXPECT_EQ(rq.received(), std::vector<u32>{10});
}

TEST(UcReceive, ImmediateWithoutAReceiveIsDropped) {
  UcReceiveQueue rq;
  rq.receive(uc_write_first(2000, 1034));
  expect_dropped(rq, uc(SROCE_OP_WRITE_LAST_IMM, 2001, 10), SROCE_DROP_NO_WQE);
  EXPECT_EQ(rq.receive(uc_write_only(2002, 10)).verdict, SROCE_RECV_PLACE);
}

TEST(UcReceive, MessageLongerThanTheReceiveIsDropped) {
  UcReceiveQueue rq;
  rq.post(1030);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2000));
  expect_dropped(rq, uc(SROCE_OP_SEND_LAST, 2001, 7), SROCE_DROP_LENGTH);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2002));
  rq.receive(uc(SROCE_OP_SEND_LAST, 2003, 6));
  EXPECT_EQ(rq.received(), std::vector<u32>{1030});
}

// The other QPs of a shared queue need the receive more.
TEST(UcReceive, SharedReceiveOfADroppedMessageCompletesInError) {
  const std::vector<sroce_packet> kBreaks[] = {
      {uc(SROCE_OP_SEND_LAST, 2002, 10)},  // a gap
      {uc_write_only(2001, 10)},           // another message, which needs no receive
      {uc(SROCE_OP_SEND_MIDDLE, 2001), uc(SROCE_OP_SEND_MIDDLE, 2002)},  // too long
  };
  for (const auto& packets : kBreaks) {
    UcReceiveQueue rq;
    rq.resp.attr.shares_rwqes = true;
    rq.post(2100);
    rq.receive(uc(SROCE_OP_SEND_FIRST, 2000));
    EXPECT_TRUE(rq.completions.empty()) << "a SEND in progress holds its receive";
    for (const sroce_packet& pkt : packets) rq.receive(pkt);
    ASSERT_EQ(rq.completions.size(), 1u);
    EXPECT_EQ(rq.completions[0].status, SROCE_WC_REM_INV_REQ_ERR);
    EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
    EXPECT_FALSE(rq.resp.has_recv_wqe);
  }
}

TEST(UcReceive, SharedReceiveServesTheSendThatEndsAnIncompleteOne) {
  UcReceiveQueue rq;
  rq.resp.attr.shares_rwqes = true;
  rq.post(2100);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2000));
  rq.receive(uc(SROCE_OP_SEND_ONLY, 2002, 7));
  EXPECT_EQ(rq.received(), std::vector<u32>{7});
}

TEST(UcReceive, InvalidFirstPacketTakesNoReceive) {
  UcReceiveQueue rq;
  const sroce_packet too_short = uc(SROCE_OP_SEND_FIRST, 2000, 1000);
  EXPECT_FALSE(sroce_responder_wants_wqe(&rq.resp, &too_short));
}

// A request that gets a fatal NAK on RC ends the message only.
TEST(UcReceive, InvalidRequestIsDropped) {
  UcReceiveQueue rq;
  rq.post(4096);
  expect_dropped(rq, uc(SROCE_OP_SEND_FIRST, 2000, 1000), SROCE_DROP_INVALID);
  expect_dropped(rq, uc(SROCE_OP_SEND_ONLY, 2000, 1025), SROCE_DROP_INVALID);
  expect_dropped(rq, uc_write_first(2000, 1024), SROCE_DROP_INVALID);
  rq.receive(uc_write_first(2000, 2048));
  expect_dropped(rq, uc(SROCE_OP_WRITE_LAST, 2001, 1023), SROCE_DROP_INVALID);
  expect_dropped(rq, with_reth(uc(SROCE_OP_WRITE_FIRST, 2000), 0, 0x80000001), SROCE_DROP_INVALID);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
  EXPECT_EQ(rq.event(), SROCE_EVENT_COMM_EST) << "of the valid packet, and no error";
}

TEST(UcReceive, WriteNeedsPermission) {
  UcReceiveQueue rq({.access = SROCE_ACCESS_REMOTE_READ});
  expect_dropped(rq, uc_write_only(2000, 10), SROCE_DROP_INVALID);
}

TEST(UcReceive, WriteWithABadKeyEndsTheMessage) {
  for (const sroce_recv_result& result : {kBadKey, kBadRange}) {
    UcReceiveQueue rq;
    rq.receive(uc_write_first(2000, 1034), result);
    expect_dropped(rq, uc(SROCE_OP_WRITE_LAST, 2001, 10), SROCE_DROP_GAP);
    EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
    EXPECT_EQ(rq.event(), SROCE_EVENT_NONE);
    EXPECT_EQ(rq.receive(uc_write_only(2002, 10)).verdict, SROCE_RECV_PLACE);
  }
}

TEST(UcReceive, OtherServicesAreDropped) {
  UcReceiveQueue rq;
  rq.post(100);
  expect_dropped(rq, send_only(2000, 10), SROCE_DROP_OPCODE);
  expect_dropped(rq, request(SROCE_OP_UD_SEND_ONLY, 2000, 10), SROCE_DROP_OPCODE);
  expect_dropped(rq, request(SROCE_OP_ACK, 2000), SROCE_DROP_OPCODE);
  EXPECT_EQ(rq.resp.epsn, 2000u);
  EXPECT_EQ(rq.buffers_left(), 1u);
}

TEST(UcReceive, UnreadyQueueDropsMessages) {
  UcReceiveQueue rq;
  rq.post(100);
  sroce_responder_set_state(&rq.resp, SROCE_RQ_IDLE);
  expect_dropped(rq, uc(SROCE_OP_SEND_ONLY, 2000, 10), SROCE_DROP_STATE);
  EXPECT_EQ(rq.resp.epsn, 2000u);
}

TEST(UcReceive, RejectedReceiveFailsUntouched) {
  UcReceiveQueue rq;
  rq.post_rejected(SROCE_WC_LOC_QP_OP_ERR);
  const sroce_recv_plan plan = rq.receive(uc(SROCE_OP_SEND_ONLY, 2000, 10));
  EXPECT_EQ(plan.verdict, SROCE_RECV_PLACE);
  EXPECT_EQ(plan.target, SROCE_TARGET_NONE);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].status, SROCE_WC_LOC_QP_OP_ERR);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_FAILED);
}

TEST(UcReceive, BadBufferIsALocalProtectionError) {
  UcReceiveQueue rq;
  rq.post(4096);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2000), outcome(SROCE_MEM_BAD_LOCAL));
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].status, SROCE_WC_LOC_PROT_ERR);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_FAILED);
}

TEST(UcReceive, FirstRequestEstablishesTheConnection) {
  UcReceiveQueue rq;
  expect_dropped(rq, uc(SROCE_OP_SEND_MIDDLE, 2000), SROCE_DROP_GAP);
  EXPECT_EQ(rq.event(), SROCE_EVENT_NONE);
  rq.receive(uc_write_only(2001, 10));
  EXPECT_EQ(rq.event(), SROCE_EVENT_COMM_EST);
  rq.receive(uc_write_only(2002, 10));
  EXPECT_EQ(rq.event(), SROCE_EVENT_NONE);
}

TEST(UcReceive, ErrorStateFlushesTheReceiveOfADroppedMessage) {
  UcReceiveQueue rq;
  rq.post(4096);
  rq.receive(uc(SROCE_OP_SEND_FIRST, 2000));
  rq.receive(uc(SROCE_OP_SEND_LAST, 2002, 10));
  sroce_responder_set_state(&rq.resp, SROCE_RQ_ERROR);
  sroce_completion wc;
  ASSERT_TRUE(sroce_responder_next_completion(&rq.resp, &wc));
  EXPECT_EQ(wc.status, SROCE_WC_WR_FLUSH_ERR);
}

TEST(UcReceive, OnlyThePacketThatNeedsAReceiveTakesOne) {
  UcReceiveQueue rq;
  const auto wants = [&](const sroce_packet& pkt) {
    return sroce_responder_wants_wqe(&rq.resp, &pkt);
  };
  EXPECT_TRUE(wants(uc(SROCE_OP_SEND_FIRST, 7)));
  EXPECT_TRUE(wants(uc(SROCE_OP_WRITE_ONLY_IMM, 7)));
  EXPECT_FALSE(wants(uc(SROCE_OP_SEND_LAST, 2000)));
  EXPECT_FALSE(wants(uc(SROCE_OP_WRITE_LAST_IMM, 2000)));
  rq.receive(uc_write_first(2000, 1034));
  EXPECT_FALSE(wants(uc(SROCE_OP_WRITE_LAST, 2001, 10)));
  EXPECT_FALSE(wants(uc(SROCE_OP_WRITE_LAST_IMM, 2002, 10)));
  EXPECT_TRUE(wants(uc(SROCE_OP_WRITE_LAST_IMM, 2001, 10)));
}

// ------------------------------------------------------------------------------------ requester

TEST(UcSend, MessageIsSentInOrderAndCompletesAtOnce) {
  SendQueue sq({.service = SROCE_SERVICE_UC, .selective = true});
  sq.post(send_of(2058));
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 3u);
  for (u32 i = 0; i < 3; i++) {
    EXPECT_EQ(packets[i].psn, 1000 + i);
    EXPECT_EQ(packets[i].dest_qpn, 0x112233u);
    EXPECT_FALSE(packets[i].ack_req);
    EXPECT_FALSE(packets[i].selective);
  }
  EXPECT_EQ(packets[0].opcode, 0x20);
  EXPECT_EQ(packets[1].opcode, 0x21);
  EXPECT_EQ(packets[2].opcode, 0x22);
  EXPECT_EQ(sq.completions().size(), 1u);
}

TEST(UcSend, WriteNamesTheRegion) {
  SendQueue sq({.service = SROCE_SERVICE_UC});
  Work work = write_of(1034).as(SROCE_WR_WRITE_IMM);
  work.imm = 0x04030201;
  sq.post(work);
  const auto packets = sq.send_all();
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].opcode, 0x26);
  EXPECT_EQ(packets[0].va, 0x10000u);
  EXPECT_EQ(packets[0].dma_length, 1034u);
  EXPECT_EQ(packets[1].opcode, 0x29);
  EXPECT_EQ(packets[1].imm, work.imm);
}

TEST(UcSend, PsnsGoOnFromMessageToMessage) {
  SendQueue sq({.service = SROCE_SERVICE_UC, .psn = 0xfffffe});
  for (int i = 0; i < 2; i++) sq.post(write_of(2048));
  std::vector<u32> psns;
  for (const sroce_packet& pkt : sq.send_all()) psns.push_back(pkt.psn);
  EXPECT_EQ(psns, (std::vector<u32>{0xfffffe, 0xffffff, 0, 1}));
}

TEST(UcSend, NeitherWindowNorTimerHoldsItUp) {
  SendQueue sq({.service = SROCE_SERVICE_UC, .window_packets = 2, .adaptive = true});
  for (int i = 0; i < 4; i++) sq.post(send_of(8 * 1024));
  EXPECT_EQ(sq.send_all().size(), 32u);
  EXPECT_EQ(sq.completions().size(), 4u);
  EXPECT_EQ(sroce_requester_deadline(&sq.req), SROCE_NEVER);
}

TEST(UcSend, ResponsesAreDropped) {
  SendQueue sq({.service = SROCE_SERVICE_UC});
  sq.post(send_of(10));
  sq.send_all();
  EXPECT_EQ(sq.receive(ack(1000)).action, SROCE_ACK_DROP);
}

// The rest of the message is not sent, and the peer drops what it has of it.
TEST(UcSend, UnreadableBufferFailsInTheMiddleOfAMessage) {
  SendQueue sq({.service = SROCE_SERVICE_UC});
  sq.post(send_of(4096));
  sq.post(send_of(10));
  sq.send(2);
  const sroce_send_plan plan = sq.plan();
  sroce_requester_commit(&sq.req, &plan, SROCE_WC_LOC_PROT_ERR, sq.now);
  EXPECT_TRUE(sq.send_all().empty());
  const auto completions = sq.completions();
  ASSERT_EQ(completions.size(), 2u);
  EXPECT_EQ(completions[0].status, SROCE_WC_LOC_PROT_ERR);
  EXPECT_EQ(completions[1].status, SROCE_WC_WR_FLUSH_ERR);
}

}  // namespace
