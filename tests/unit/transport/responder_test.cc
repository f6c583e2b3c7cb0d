// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "receive_queue.h"

namespace {

using namespace sroce_test;

// ---------------------------------------------------------------- quiet

TEST(ResponderQuiet, InTheMiddleOfAMessage) {
  ResponderMidSend rq;
  EXPECT_FALSE(sroce_responder_is_quiet(&rq.resp)) << "communication is established";
  rq.event();
  EXPECT_TRUE(sroce_responder_is_quiet(&rq.resp));
  rq.receive(request(SROCE_OP_SEND_MIDDLE, 2001, 1024));
  EXPECT_TRUE(sroce_responder_is_quiet(&rq.resp));
}

TEST(ResponderQuiet, NotWhileAnAckIsDue) {
  ResponderMidSend rq;
  rq.event();
  sroce_packet pkt = request(SROCE_OP_SEND_LAST, 2001, 10);
  pkt.ack_req = true;
  rq.receive(pkt);
  EXPECT_FALSE(sroce_responder_is_quiet(&rq.resp));
  rq.respond();
  EXPECT_TRUE(sroce_responder_is_quiet(&rq.resp));
}

TEST(ResponderQuiet, NotWhileAPacketIsQueued) {
  ReceiveQueue rq({.reorder_packets = 64});
  sroce_packet pkt = write_only(2000, 0x10000, 16);
  pkt.ack_req = false;
  rq.receive(pkt);
  rq.event();
  pkt.psn = 2002;
  rq.receive(pkt);
  EXPECT_TRUE(sroce_responder_is_idle(&rq.resp));
  EXPECT_FALSE(sroce_responder_is_quiet(&rq.resp));
  pkt.psn = 2001;
  rq.receive(pkt);
  EXPECT_TRUE(sroce_responder_is_quiet(&rq.resp));
}

TEST(ResponderQuiet, NotAfterAFailure) {
  ResponderMidSend rq;
  rq.receive(request(SROCE_OP_WRITE_MIDDLE, 2001, 1024));
  rq.respond();
  rq.event();
  EXPECT_TRUE(sroce_responder_is_idle(&rq.resp));
  EXPECT_FALSE(sroce_responder_is_quiet(&rq.resp)) << "the QP must move to ERR";
}

// ---------------------------------------------------------------- SEND

TEST(ResponderSend, OnePacketFillsOneReceive) {
  ReceiveQueue rq;
  rq.post(100);
  const sroce_recv_plan plan = rq.receive(send_only(2000, 60));
  EXPECT_EQ(plan.verdict, SROCE_RECV_PLACE);
  EXPECT_EQ(plan.target, SROCE_TARGET_RECV);
  EXPECT_EQ(plan.offset, 0u);
  EXPECT_EQ(plan.place_bytes, 60u);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].status, SROCE_WC_SUCCESS);
  EXPECT_EQ(rq.completions[0].opcode, SROCE_WC_RECV);
  EXPECT_EQ(rq.completions[0].byte_len, 60u);
  EXPECT_EQ(rq.completions[0].src_qpn, 0x445566u);
  EXPECT_EQ(rq.completions[0].wr_id, 0u);
}

TEST(ResponderSend, PacketsOfAMessageArePlacedInSequence) {
  ResponderMidSend rq;
  EXPECT_EQ(rq.receive(request(SROCE_OP_SEND_MIDDLE, 2001, 1024)).offset, 1024u);
  EXPECT_EQ(rq.receive(request(SROCE_OP_SEND_LAST, 2002, 952)).offset, 2048u);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].byte_len, 3000u);
}

TEST(ResponderSend, CompletesOnlyWithTheLastPacket) {
  ResponderMidSend rq;
  rq.receive(request(SROCE_OP_SEND_MIDDLE, 2001, 1024));
  EXPECT_TRUE(rq.completions.empty());
}

TEST(ResponderSend, MessageUsesOneReceive) {
  ResponderMidSend rq;
  rq.post(100);
  rq.receive(request(SROCE_OP_SEND_LAST, 2001, 100));
  EXPECT_EQ(rq.buffers_left(), 1u);
}

TEST(ResponderSend, ReceivesAreUsedInOrder) {
  ReceiveQueue rq;
  for (int i = 0; i < 3; i++) rq.post(100);
  for (u32 i = 0; i < 3; i++) rq.receive(send_only(2000 + i, 10));
  ASSERT_EQ(rq.completions.size(), 3u);
  for (u32 i = 0; i < 3; i++) EXPECT_EQ(rq.completions[i].wr_id, i);
}

TEST(ResponderSend, EmptyMessageCompletesAReceive) {
  ReceiveQueue rq;
  rq.post(0);
  EXPECT_EQ(rq.receive(send_only(2000, 0)).place_bytes, 0u);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].byte_len, 0u);
}

TEST(ResponderSend, ExactFitIsAccepted) {
  ResponderMidSend rq(2048);
  rq.receive(request(SROCE_OP_SEND_LAST, 2001, 1024));
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].status, SROCE_WC_SUCCESS);
}

// IBTA 9.7.7. A receive may have space for more.
TEST(ResponderSend, MessageIsAtMost2GiB) {
  for (const u32 bytes : {1023u, 1024u, 1025u}) {
    ResponderMidSend rq(0xffffffff);
    rq.resp.received_bytes = SROCE_MAX_MESSAGE_BYTES - 1024;
    rq.resp.attr.mtu_bytes = 2048;
    const sroce_recv_plan plan = rq.plan(request(SROCE_OP_SEND_LAST, 2001, bytes));
    EXPECT_EQ(plan.verdict, bytes > 1024 ? SROCE_RECV_NAK : SROCE_RECV_PLACE) << bytes;
  }
}

TEST(ResponderSend, OneByteTooManyIsALengthErrorOnBothSides) {
  ResponderMidSend rq(2047);
  const sroce_recv_plan plan = rq.receive(request(SROCE_OP_SEND_LAST, 2001, 1024));
  EXPECT_EQ(plan.verdict, SROCE_RECV_NAK) << "nothing may be placed";
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].status, SROCE_WC_LOC_LEN_ERR);
  expect_nak(rq, SROCE_NAK_INVALID_REQUEST, 2001);
}

TEST(ResponderSend, ImmediateReachesTheCompletion) {
  ReceiveQueue rq;
  rq.post(100);
  sroce_packet pkt = request(SROCE_OP_SEND_ONLY_IMM, 2000, 10);
  pkt.imm = 0x0a0b0c0d;
  rq.receive(pkt);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_TRUE(rq.completions[0].flags & SROCE_WC_WITH_IMM);
  EXPECT_EQ(rq.completions[0].imm, pkt.imm);
}

TEST(ResponderSend, SolicitedReachesTheCompletion) {
  ReceiveQueue rq;
  rq.post(100);
  rq.post(100);
  sroce_packet pkt = send_only(2000, 10);
  pkt.solicited = true;
  rq.receive(pkt);
  rq.receive(send_only(2001, 10));
  ASSERT_EQ(rq.completions.size(), 2u);
  EXPECT_TRUE(rq.completions[0].solicited);
  EXPECT_FALSE(rq.completions[1].solicited);
}

TEST(ResponderSendInvalidate, KeyIsInvalidatedAndReported) {
  ReceiveQueue rq;
  rq.post(100);
  sroce_packet pkt = request(SROCE_OP_SEND_ONLY_INV, 2000, 10);
  pkt.inv_rkey = 0x77;
  const sroce_recv_plan plan = rq.receive(pkt);
  EXPECT_TRUE(plan.invalidate);
  EXPECT_EQ(plan.inv_rkey, 0x77u);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_TRUE(rq.completions[0].flags & SROCE_WC_WITH_INVALIDATE);
  EXPECT_EQ(rq.completions[0].invalidate_rkey, 0x77u);
}

TEST(ResponderSendInvalidate, OnlyTheLastPacketInvalidates) {
  ResponderMidSend rq;
  EXPECT_FALSE(rq.plan(request(SROCE_OP_SEND_MIDDLE, 2001, 1024)).invalidate);
  EXPECT_TRUE(rq.plan(request(SROCE_OP_SEND_LAST_INV, 2001, 10)).invalidate);
}

TEST(ResponderSendInvalidate, KeyThatCannotBeInvalidatedIsAnAccessError) {
  ReceiveQueue rq;
  rq.post(100);
  expect_fatal_nak(rq, request(SROCE_OP_SEND_ONLY_INV, 2000, 10), SROCE_NAK_REMOTE_ACCESS,
                   {SROCE_MEM_OK, SROCE_MEM_BAD_KEY, 0});
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_NE(rq.completions[0].status, SROCE_WC_SUCCESS);
}

TEST(ResponderSend, BadReceiveBufferIsARemoteOperationError) {
  ReceiveQueue rq;
  rq.post(100);
  expect_fatal_nak(rq, send_only(2000, 10), SROCE_NAK_REMOTE_OPERATION,
                   outcome(SROCE_MEM_BAD_LOCAL));
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].status, SROCE_WC_LOC_PROT_ERR);
}

TEST(ResponderSend, RejectedReceiveFailsEvenAnEmptyMessage) {
  for (u32 bytes : {0u, 10u}) {
    ReceiveQueue rq;
    rq.post_rejected(SROCE_WC_LOC_QP_OP_ERR);
    EXPECT_EQ(rq.receive(send_only(2000, bytes)).verdict, SROCE_RECV_NAK);
    expect_nak(rq, SROCE_NAK_REMOTE_OPERATION, 2000);
    EXPECT_EQ(rq.resp.state, SROCE_RQ_FAILED);
    ASSERT_EQ(rq.completions.size(), 1u);
    EXPECT_EQ(rq.completions[0].status, SROCE_WC_LOC_QP_OP_ERR);
    EXPECT_EQ(rq.event(), SROCE_EVENT_NONE);
  }
}

TEST(ResponderWriteImmediate, RejectedReceiveFailsIt) {
  ReceiveQueue rq;
  rq.post_rejected(SROCE_WC_LOC_QP_OP_ERR);
  rq.receive(with_reth(request(SROCE_OP_WRITE_ONLY_IMM, 2000), 0x10000, 0));
  expect_nak(rq, SROCE_NAK_REMOTE_OPERATION, 2000);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].status, SROCE_WC_LOC_QP_OP_ERR);
}

TEST(ResponderWrite, DoesNotUseARejectedReceive) {
  ReceiveQueue rq;
  rq.post_rejected(SROCE_WC_LOC_QP_OP_ERR);
  EXPECT_EQ(rq.receive(write_only(2000, 0x10000, 10)).verdict, SROCE_RECV_PLACE);
  EXPECT_EQ(rq.completions.size(), 0u);
}

// ---------------------------------------------------------------- RNR

TEST(ResponderRnr, SendWithoutAReceiveGetsAnRnrNak) {
  ReceiveQueue rq;
  EXPECT_EQ(rq.receive(send_only(2000, 10)).verdict, SROCE_RECV_RNR);
  expect_nak(rq, SROCE_AETH_RNR_NAK | 12, 2000);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
}

TEST(ResponderRnr, FollowingPacketsAreDroppedSilently) {
  ReceiveQueue rq;
  rq.receive(send_only(2000, 10));
  rq.respond();
  expect_dropped(rq, send_only(2001, 10), SROCE_DROP_SEQUENCE);
  EXPECT_TRUE(rq.respond().empty());
}

TEST(ResponderRnr, RepeatedSendIsAcceptedWithAReceive) {
  ReceiveQueue rq;
  rq.receive(send_only(2000, 10));
  rq.respond();
  rq.post(100);
  rq.receive(send_only(2000, 10));
  EXPECT_EQ(rq.completions.size(), 1u);
  expect_nak(rq, kAckSyndrome, 2000);
}

TEST(ResponderRnr, EachRetransmissionGetsAnRnrNak) {
  ReceiveQueue rq;
  for (int i = 0; i < 3; i++) {
    rq.receive(send_only(2000, 10));
    expect_nak(rq, SROCE_AETH_RNR_NAK | 12, 2000);
  }
}

TEST(ResponderRnr, WriteNeedsNoReceive) {
  ReceiveQueue rq;
  EXPECT_EQ(rq.receive(write_only(2000, 0x10000, 10)).verdict, SROCE_RECV_PLACE);
}

TEST(ResponderRnr, WriteWithImmediateNeedsAReceiveAtItsEnd) {
  ResponderMidWrite rq(2048);
  sroce_packet last = request(SROCE_OP_WRITE_LAST_IMM, 2001, 1024);
  EXPECT_EQ(rq.receive(last).verdict, SROCE_RECV_RNR);
  rq.post(0);
  const sroce_recv_plan plan = rq.receive(last);
  EXPECT_EQ(plan.verdict, SROCE_RECV_PLACE);
  EXPECT_EQ(plan.va, 0x10000u + 1024);
  EXPECT_EQ(rq.completions.size(), 1u);
}

TEST(ResponderRnr, OnlyTheExpectedPacketFetchesAReceive) {
  ReceiveQueue rq;
  rq.post(100);
  const sroce_packet early = send_only(2005, 10), duplicate = send_only(1999, 10);
  EXPECT_FALSE(sroce_responder_wants_wqe(&rq.resp, &early));
  EXPECT_FALSE(sroce_responder_wants_wqe(&rq.resp, &duplicate));
}

// ---------------------------------------------------------------- WRITE

TEST(ResponderWrite, GoesToTheRegionItNames) {
  ReceiveQueue rq;
  const sroce_recv_plan plan = rq.receive(write_only(2000, 0x12345, 10));
  EXPECT_EQ(plan.verdict, SROCE_RECV_PLACE);
  EXPECT_EQ(plan.target, SROCE_TARGET_REGION);
  EXPECT_EQ(plan.va, 0x12345u);
  EXPECT_EQ(plan.rkey, 0xbeefu);
  EXPECT_EQ(plan.place_bytes, 10u);
  EXPECT_EQ(plan.access, SROCE_ACCESS_REMOTE_WRITE);
}

TEST(ResponderWrite, UsesNoReceive) {
  ReceiveQueue rq;
  rq.post(100);
  rq.receive(write_only(2000, 0x10000, 10));
  EXPECT_TRUE(rq.completions.empty());
  EXPECT_EQ(rq.buffers_left(), 1u);
}

TEST(ResponderWrite, FirstPacketChecksTheWholeRange) {
  ReceiveQueue rq;
  const sroce_recv_plan plan = rq.plan(write_first(2000, 0x10000, 3000));
  EXPECT_EQ(plan.check_bytes, 3000u);
  EXPECT_EQ(plan.place_bytes, 1024u);
}

TEST(ResponderWrite, PacketsArePlacedInSequence) {
  ResponderMidWrite rq;
  const sroce_recv_plan middle = rq.receive(request(SROCE_OP_WRITE_MIDDLE, 2001, 1024));
  EXPECT_EQ(middle.va, 0x10000u + 1024);
  EXPECT_EQ(middle.rkey, 0xbeefu);
  const sroce_recv_plan last = rq.receive(request(SROCE_OP_WRITE_LAST, 2002, 952));
  EXPECT_EQ(last.va, 0x10000u + 2048);
  EXPECT_EQ(rq.resp.msn, 1u);
}

TEST(ResponderWrite, EmptyWriteTouchesNoMemory) {
  ReceiveQueue rq;
  const sroce_recv_plan plan = rq.receive(write_only(2000, 0, 0));
  EXPECT_EQ(plan.verdict, SROCE_RECV_PLACE);
  EXPECT_EQ(plan.target, SROCE_TARGET_NONE);
  EXPECT_EQ(rq.resp.epsn, 2001u);
}

TEST(ResponderWriteImmediate, CompletesAReceiveWithTheMessageLength) {
  ResponderMidWrite rq;
  rq.post(0);
  rq.receive(request(SROCE_OP_WRITE_MIDDLE, 2001, 1024));
  sroce_packet last = request(SROCE_OP_WRITE_LAST_IMM, 2002, 952);
  last.imm = 0x01020304;
  rq.receive(last);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].opcode, SROCE_WC_RECV_WRITE_IMM);
  EXPECT_EQ(rq.completions[0].byte_len, 3000u);
  EXPECT_EQ(rq.completions[0].imm, last.imm);
  EXPECT_TRUE(rq.completions[0].flags & SROCE_WC_WITH_IMM);
}

TEST(ResponderWrite, BadKeyOrRangeIsARemoteAccessError) {
  for (sroce_mem_status status : {SROCE_MEM_BAD_KEY, SROCE_MEM_BAD_RANGE, SROCE_MEM_BAD_ACCESS}) {
    ReceiveQueue rq;
    expect_fatal_nak(rq, write_only(2000, 0x10000, 10), SROCE_NAK_REMOTE_ACCESS, outcome(status));
    EXPECT_EQ(rq.event(), SROCE_EVENT_ACCESS_ERR);
  }
}

TEST(ResponderWrite, MoreDataThanAnnouncedIsInvalid) {
  ResponderMidWrite rq(2048);
  EXPECT_EQ(rq.plan(request(SROCE_OP_WRITE_LAST, 2001, 1024)).verdict, SROCE_RECV_PLACE);
  expect_fatal_nak(rq, request(SROCE_OP_WRITE_MIDDLE, 2001, 1024), SROCE_NAK_INVALID_REQUEST);
}

TEST(ResponderWrite, LessDataThanAnnouncedIsInvalid) {
  ResponderMidWrite rq(3000);
  expect_fatal_nak(rq, request(SROCE_OP_WRITE_LAST, 2001, 1024), SROCE_NAK_INVALID_REQUEST);
}

TEST(ResponderWrite, OnlyPacketMustMatchItsAnnouncedLength) {
  for (u32 announced : {0u, 9u, 11u, 5000u}) {
    ReceiveQueue rq;
    sroce_packet pkt = write_only(2000, 0x10000, 10);
    pkt.dma_length = announced;
    expect_fatal_nak(rq, pkt, SROCE_NAK_INVALID_REQUEST);
  }
}

TEST(ResponderWrite, MoreThanTwoToThe31BytesIsInvalid) {
  ReceiveQueue rq;
  EXPECT_EQ(rq.plan(write_first(2000, 0x10000, 1u << 31)).verdict, SROCE_RECV_PLACE);
  expect_fatal_nak(rq, write_first(2000, 0x10000, (1u << 31) + 1), SROCE_NAK_INVALID_REQUEST);
}

// ---------------------------------------------------------------- payload lengths

TEST(ResponderLength, FirstAndMiddlePacketsAreFull) {
  for (u32 bytes : {0u, 1020u, 1028u}) {
    ReceiveQueue first;
    first.post(8192);
    expect_fatal_nak(first, request(SROCE_OP_SEND_FIRST, 2000, bytes), SROCE_NAK_INVALID_REQUEST);
    ResponderMidSend middle;
    expect_fatal_nak(middle, request(SROCE_OP_SEND_MIDDLE, 2001, bytes), SROCE_NAK_INVALID_REQUEST);
  }
}

TEST(ResponderLength, NoPacketIsLongerThanThePathMtu) {
  ReceiveQueue only;
  only.post(8192);
  expect_fatal_nak(only, send_only(2000, 1025), SROCE_NAK_INVALID_REQUEST);
  ResponderMidSend last;
  expect_fatal_nak(last, request(SROCE_OP_SEND_LAST, 2001, 1028), SROCE_NAK_INVALID_REQUEST);
}

TEST(ResponderLength, LastPacketOfSeveralIsNotEmpty) {
  ResponderMidSend rq;
  expect_fatal_nak(rq, request(SROCE_OP_SEND_LAST, 2001, 0), SROCE_NAK_INVALID_REQUEST);
}

// ---------------------------------------------------------------- opcode sequence

TEST(ResponderOpcode, UnsupportedOperationGetsAFatalNak) {
  for (u8 opcode : {0x15, 0x18, 0x1b, 0x1e, 0x1f}) {
    ReceiveQueue rq;
    rq.post(100);
    expect_fatal_nak(rq, request(opcode, 2000, 20), SROCE_NAK_INVALID_REQUEST);
    EXPECT_EQ(rq.event(), SROCE_EVENT_REQ_ERR);
    EXPECT_EQ(rq.buffers_left(), 1u);
  }
}

TEST(ResponderOpcode, UnsupportedOperationEndsTheCurrentSend) {
  ResponderMidSend rq;
  expect_fatal_nak(rq, request(0x1e, 2001, 24), SROCE_NAK_INVALID_REQUEST);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].status, SROCE_WC_REM_INV_REQ_ERR);
}

TEST(ResponderOpcode, UnsupportedOperationWaitsForItsTurn) {
  ReceiveQueue rq;
  rq.receive(request(0x1b, 2001, 20));
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2000);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
}

TEST(ResponderSequence, MessageBeginsWithFirstOrOnly) {
  for (u8 opcode :
       {SROCE_OP_SEND_MIDDLE, SROCE_OP_SEND_LAST, SROCE_OP_SEND_LAST_IMM, SROCE_OP_SEND_LAST_INV,
        SROCE_OP_WRITE_MIDDLE, SROCE_OP_WRITE_LAST, SROCE_OP_WRITE_LAST_IMM}) {
    ReceiveQueue rq;
    rq.post(8192);
    expect_fatal_nak(rq, request(opcode, 2000, 1024), SROCE_NAK_INVALID_REQUEST);
    EXPECT_EQ(rq.buffers_left(), 1u) << "it uses no receive";
  }
}

TEST(ResponderSequence, MessageIsFinishedBeforeAnotherBegins) {
  for (u8 opcode : {SROCE_OP_SEND_FIRST, SROCE_OP_SEND_ONLY, SROCE_OP_WRITE_FIRST,
                    SROCE_OP_WRITE_ONLY, SROCE_OP_READ_REQUEST, SROCE_OP_FETCH_ADD}) {
    ResponderMidSend rq;
    expect_fatal_nak(rq, request(opcode, 2001), SROCE_NAK_INVALID_REQUEST);
    ASSERT_EQ(rq.completions.size(), 1u) << "the current receive fails";
    EXPECT_EQ(rq.completions[0].status, SROCE_WC_REM_INV_REQ_ERR);
  }
}

TEST(ResponderSequence, MessageDoesNotChangeItsType) {
  ResponderMidSend mid_send;
  expect_fatal_nak(mid_send, request(SROCE_OP_WRITE_MIDDLE, 2001, 1024), SROCE_NAK_INVALID_REQUEST);
  ResponderMidWrite mid_write;
  mid_write.post(8192);
  expect_fatal_nak(mid_write, request(SROCE_OP_SEND_LAST, 2001, 10), SROCE_NAK_INVALID_REQUEST);
}

TEST(ResponderSequence, InvalidRequestWithoutAReceiveRaisesAnEvent) {
  ReceiveQueue rq;
  rq.receive(request(SROCE_OP_WRITE_LAST, 2000, 4));
  EXPECT_EQ(rq.event(), SROCE_EVENT_REQ_ERR);
  EXPECT_EQ(rq.event(), SROCE_EVENT_NONE) << "taken once";
}

TEST(ResponderOpcode, OtherServicesAreDropped) {
  ReceiveQueue rq;
  expect_dropped(rq, request(SROCE_OP_UD_SEND_ONLY, 2000, 4), SROCE_DROP_OPCODE);
  expect_dropped(rq, request(SROCE_OP_CNP, 2000, 16), SROCE_DROP_OPCODE);
}

TEST(ResponderOpcode, ResponsesAreDropped) {
  ReceiveQueue rq;
  for (u8 opcode = SROCE_OP_READ_RESPONSE_FIRST; opcode <= SROCE_OP_ATOMIC_ACK; opcode++)
    expect_dropped(rq, request(opcode, 2000), SROCE_DROP_OPCODE);
}

TEST(ResponderOpcode, ForbiddenOperationIsInvalid) {
  const sroce_packet forbidden[] = {write_only(2000, 0x10000, 4), read_request(2000, 0x10000, 4),
                                    fetch_add_request(2000, 1), compare_swap_request(2000, 1, 2)};
  for (const sroce_packet& pkt : forbidden) {
    ReceiveQueue rq({.access = 0});
    expect_fatal_nak(rq, pkt, SROCE_NAK_INVALID_REQUEST);
  }
}

// ---------------------------------------------------------------- READ and atomics

TEST(ResponderRead, IsCheckedAndRemembered) {
  ReceiveQueue rq;
  const sroce_recv_plan plan = rq.receive(read_request(2000, 0x10000, 3000));
  EXPECT_EQ(plan.verdict, SROCE_RECV_READ);
  EXPECT_EQ(plan.va, 0x10000u);
  EXPECT_EQ(plan.rkey, 0xbeefu);
  EXPECT_EQ(plan.check_bytes, 3000u);
  EXPECT_EQ(plan.access, SROCE_ACCESS_REMOTE_READ);
}

TEST(ResponderRead, BadRangeIsARemoteAccessError) {
  ReceiveQueue rq;
  expect_fatal_nak(rq, read_request(2000, 0x10000, 3000), SROCE_NAK_REMOTE_ACCESS, kBadRange);
}

TEST(ResponderRead, MoreThanTwoToThe31BytesIsInvalid) {
  ReceiveQueue rq;
  expect_fatal_nak(rq, read_request(2000, 0x10000, (1u << 31) + 1), SROCE_NAK_INVALID_REQUEST);
}

TEST(ResponderAtomic, CompareSwapIsPassedToMemory) {
  ReceiveQueue rq;
  const sroce_recv_plan plan = rq.receive(compare_swap_request(2000, 7, 9));
  EXPECT_EQ(plan.verdict, SROCE_RECV_ATOMIC);
  EXPECT_EQ(plan.atomic_op, SROCE_OP_COMPARE_SWAP);
  EXPECT_EQ(plan.compare, 7u);
  EXPECT_EQ(plan.swap_add, 9u);
  EXPECT_EQ(plan.va, 0x20000u);
  EXPECT_EQ(plan.check_bytes, 8u);
  EXPECT_EQ(plan.access, SROCE_ACCESS_REMOTE_ATOMIC);
}

TEST(ResponderAtomic, ResponseCarriesTheOriginalValue) {
  ReceiveQueue rq;
  rq.receive(fetch_add_request(2000, 5), original(0x1122334455667788));
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  EXPECT_EQ(responses[0].opcode, SROCE_OP_ATOMIC_ACK);
  EXPECT_EQ(responses[0].atomic_original, 0x1122334455667788u);
  EXPECT_EQ(responses[0].psn, 2000u);
}

TEST(ResponderAtomic, MisalignedAddressIsInvalid) {
  ReceiveQueue rq;
  expect_fatal_nak(rq, fetch_add_request(2000, 5), SROCE_NAK_INVALID_REQUEST,
                   outcome(SROCE_MEM_MISALIGNED));
}

TEST(ResponderRdAtomic, MoreThanTheLimitIsInvalid) {
  ReceiveQueue rq({.max_dest_rd_atomic = 2});
  rq.receive(read_request(2000, 0x10000, 4));
  rq.receive(fetch_add_request(2001, 1));
  EXPECT_EQ(rq.receive(read_request(2002, 0x10000, 4)).verdict, SROCE_RECV_NAK);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_FAILED);
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 3u) << "accepted requests still get their responses";
  EXPECT_EQ(responses[2].syndrome, SROCE_NAK_INVALID_REQUEST);
  EXPECT_EQ(responses[2].psn, 2002u);
}

TEST(ResponderRdAtomic, LimitOfZeroMakesThemInvalid) {
  for (const sroce_packet& pkt : {read_request(2000, 0x10000, 4), fetch_add_request(2000, 1)}) {
    ReceiveQueue rq({.max_dest_rd_atomic = 0});
    expect_fatal_nak(rq, pkt, SROCE_NAK_INVALID_REQUEST);
  }
}

// ---------------------------------------------------------------- states and events

TEST(ResponderState, UnreadyQueueDropsRequests) {
  for (sroce_rq_state state : {SROCE_RQ_IDLE, SROCE_RQ_ERROR}) {
    ReceiveQueue rq;
    sroce_responder_set_state(&rq.resp, state);
    expect_dropped(rq, send_only(2000, 4), SROCE_DROP_STATE);
    EXPECT_TRUE(rq.respond().empty());
  }
}

TEST(ResponderState, NothingIsExecutedAfterAFatalNak) {
  ReceiveQueue rq;
  rq.receive(request(SROCE_OP_WRITE_LAST, 2000, 4));
  expect_dropped(rq, write_only(2000, 0x10000, 4), SROCE_DROP_STATE);
}

TEST(ResponderState, ErrorFlushesTheCurrentReceive) {
  ResponderMidSend rq;
  sroce_responder_set_state(&rq.resp, SROCE_RQ_ERROR);
  sroce_completion wc;
  ASSERT_TRUE(sroce_responder_next_completion(&rq.resp, &wc));
  EXPECT_EQ(wc.status, SROCE_WC_WR_FLUSH_ERR);
  EXPECT_EQ(wc.wr_id, 0u);
  EXPECT_FALSE(sroce_responder_next_completion(&rq.resp, &wc));
}

TEST(ResponderState, ReceiveOfARejectedPacketIsNotLost) {
  ReceiveQueue rq;
  rq.post(100);
  rq.receive(send_only(2000, 1025));
  sroce_responder_set_state(&rq.resp, SROCE_RQ_ERROR);
  sroce_completion wc;
  const bool flushed = sroce_responder_next_completion(&rq.resp, &wc);
  EXPECT_EQ(rq.completions.size() + flushed + rq.buffers_left(), 1u);
}

TEST(ResponderReset, ForgetsTheCurrentMessage) {
  ResponderMidSend rq;
  rq.receive(with_ack_req(request(SROCE_OP_SEND_MIDDLE, 2001, 1024)));
  sroce_responder_reset(&rq.resp);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_IDLE);
  EXPECT_TRUE(rq.respond().empty());
  sroce_completion wc;
  EXPECT_FALSE(sroce_responder_next_completion(&rq.resp, &wc));
}

TEST(ResponderReset, ForgetsReadsAndAtomics) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 4));
  sroce_responder_reset(&rq.resp);
  sroce_responder_set_state(&rq.resp, SROCE_RQ_READY);
  EXPECT_TRUE(rq.respond().empty());
}

TEST(ResponderEvent, FirstPacketEstablishesTheConnection) {
  ReceiveQueue rq;
  rq.receive(write_only(2000, 0x10000, 4));
  EXPECT_EQ(rq.event(), SROCE_EVENT_COMM_EST);
  rq.receive(write_only(2001, 0x10000, 4));
  EXPECT_EQ(rq.event(), SROCE_EVENT_NONE);
}

TEST(ResponderEvent, DroppedPacketEstablishesNothing) {
  ReceiveQueue rq;
  rq.receive(request(SROCE_OP_UD_SEND_ONLY, 2000, 4));
  EXPECT_EQ(rq.event(), SROCE_EVENT_NONE);
}

// ---------------------------------------------------------------- hostile peers

TEST(ResponderHostile, NoRequestPlacesBeyondItsBufferOrLength) {
  for (u8 opcode = 0; opcode <= SROCE_OP_SEND_ONLY_INV; opcode++) {
    if (!sroce_opcode_lookup(opcode)) continue;
    for (u32 psn : {0u, 1999u, 2000u, 2001u, 2002u, 3000u, 0x8007d1u, 0xffffffu}) {
      for (u32 bytes : {0u, 1u, 1023u, 1024u, 1025u, 4096u}) {
        for (u32 announced : {0u, 1u, 1024u, 4096u, 0x80000000u, 0xffffffffu}) {
          ResponderMidSend rq(1500);
          const sroce_packet pkt = with_reth(request(opcode, psn, bytes), ~0ull - 4, announced);
          const sroce_recv_plan plan = rq.receive(pkt);
          const bool places = plan.verdict == SROCE_RECV_PLACE;
          const bool in_buffer = places && plan.target == SROCE_TARGET_RECV;
          const bool in_region = places && plan.target == SROCE_TARGET_REGION;
          ASSERT_TRUE(!in_buffer || plan.offset + plan.place_bytes <= 1500u);
          ASSERT_TRUE(!in_region || plan.place_bytes <= plan.check_bytes);
          ASSERT_LE(rq.respond(100).size(), 1000u);
        }
      }
    }
  }
}

// With these, struct sroce_qp just fits into 4 KiB in Debian's kernel configuration. One byte more
// and the allocator uses 8 KiB.
TEST(Engine, StateLeavesRoomInAPage) {
  EXPECT_LE(sizeof(sroce_requester) + sizeof(sroce_responder), 2640u);
}

}  // namespace
