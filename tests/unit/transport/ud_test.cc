// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "receive_queue.h"

namespace {

using namespace sroce_test;

struct DatagramQueue : ReceiveQueue {
  DatagramQueue() : ReceiveQueue({.service = SROCE_SERVICE_UD}) {}
};

sroce_packet datagram(u32 bytes, u32 qkey = 0x1234) {
  sroce_packet pkt = request(SROCE_OP_UD_SEND_ONLY, 77, bytes);
  pkt.qkey = qkey;
  pkt.src_qpn = 0x31;
  return pkt;
}

TEST(DatagramReceive, IsPlacedBehindTheGrh) {
  DatagramQueue rq;
  rq.post(1000);
  const sroce_recv_plan plan = rq.receive(datagram(100));
  EXPECT_EQ(plan.verdict, SROCE_RECV_PLACE);
  EXPECT_EQ(plan.target, SROCE_TARGET_RECV);
  EXPECT_EQ(plan.offset, u32{SROCE_GRH_BYTES});
  EXPECT_EQ(plan.place_bytes, 100u);
}

TEST(DatagramReceive, CompletionNamesTheSenderAndCountsTheGrh) {
  DatagramQueue rq;
  rq.post(1000);
  rq.receive(datagram(100));
  ASSERT_EQ(rq.completions.size(), 1u);
  const sroce_completion& wc = rq.completions[0];
  EXPECT_EQ(wc.status, SROCE_WC_SUCCESS);
  EXPECT_EQ(wc.opcode, SROCE_WC_RECV);
  EXPECT_EQ(wc.byte_len, 140u);
  EXPECT_EQ(wc.src_qpn, 0x31u);
  EXPECT_TRUE(wc.flags & SROCE_WC_GRH);
}

TEST(DatagramReceive, ImmediateReachesTheCompletion) {
  DatagramQueue rq;
  rq.post(1000);
  sroce_packet pkt = request(SROCE_OP_UD_SEND_ONLY_IMM, 0, 10);
  pkt.qkey = 0x1234;
  pkt.imm = 0x99887766;
  rq.receive(pkt);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_TRUE(rq.completions[0].flags & SROCE_WC_WITH_IMM);
  EXPECT_EQ(rq.completions[0].imm, pkt.imm);
}

TEST(DatagramReceive, ExactFitIsAccepted) {
  DatagramQueue rq;
  rq.post(140);
  rq.receive(datagram(100));
  EXPECT_EQ(rq.completions.size(), 1u);
}

TEST(DatagramReceive, OneByteTooLongIsDropped) {
  DatagramQueue rq;
  rq.post(139);
  expect_dropped(rq, datagram(100), SROCE_DROP_LENGTH);
}

TEST(DatagramReceive, IsDroppedWhenLongerThanThePathMtu) {
  DatagramQueue rq;
  rq.post(8192);
  expect_dropped(rq, datagram(1025), SROCE_DROP_LENGTH);
}

TEST(DatagramReceive, MadThatIsTooShortOrTooLongIsDropped) {
  DatagramQueue rq;
  rq.resp.attr.mad_bytes = 256;
  rq.post(1000);
  for (u32 bytes : {0u, 24u, 252u, 260u}) expect_dropped(rq, datagram(bytes), SROCE_DROP_LENGTH);
  rq.receive(datagram(256));
  EXPECT_EQ(rq.completions.size(), 1u);
}

TEST(DatagramReceive, ReceiveOfADroppedDatagramServesTheNext) {
  DatagramQueue rq;
  rq.post(140);
  rq.receive(datagram(200));
  rq.receive(datagram(100));
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].wr_id, 0u);
}

TEST(DatagramReceive, WrongQkeyIsDroppedAndUsesNoReceive) {
  DatagramQueue rq;
  rq.post(1000);
  expect_dropped(rq, datagram(100, 0x1235), SROCE_DROP_QKEY);
  EXPECT_EQ(rq.buffers_left(), 1u);
}

// It was taken for a datagram whose pages are missing. Other QPs need it.
TEST(DatagramReceive, SharedReceiveOfALostOneCompletes) {
  for (const bool shared : {false, true}) {
    DatagramQueue rq;
    rq.resp.attr.shares_rwqes = shared;
    const sroce_packet pkt = datagram(100);
    rq.resp.has_recv_wqe = true;
    rq.resp.recv->length = 1000;
    sroce_recv_plan plan;
    sroce_recv_result result = {};
    sroce_uc_plan_loss(&plan);
    sroce_ud_commit(&rq.resp, &pkt, &plan, &result);
    sroce_completion wc;
    ASSERT_EQ(shared, sroce_responder_next_completion(&rq.resp, &wc));
    if (shared) EXPECT_EQ(wc.status, SROCE_WC_REM_INV_REQ_ERR);
    EXPECT_EQ(!shared, rq.resp.has_recv_wqe);
    EXPECT_TRUE(sroce_responder_is_ready(&rq.resp));
  }
}

// A process that has posted sees so that its peer responds.
TEST(DatagramReceive, EachIsAMessage) {
  DatagramQueue rq;
  for (u32 messages = 1; messages < 4; messages++) {
    rq.post(1000);
    rq.receive(datagram(100));
    EXPECT_EQ(messages, sroce_responder_messages(&rq.resp));
  }
}

TEST(DatagramReceive, IsDroppedWithoutAReceive) {
  DatagramQueue rq;
  expect_dropped(rq, datagram(100), SROCE_DROP_NO_WQE);
}

TEST(DatagramReceive, ReliableOpcodesAreDropped) {
  DatagramQueue rq;
  rq.post(1000);
  expect_dropped(rq, send_only(0, 10), SROCE_DROP_OPCODE);
}

TEST(DatagramReceive, IsNeverAcknowledged) {
  DatagramQueue rq;
  rq.post(1000);
  rq.receive(with_ack_req(datagram(100)));
  EXPECT_TRUE(rq.respond().empty());
}

TEST(DatagramReceive, AnyPsnIsAccepted) {
  DatagramQueue rq;
  for (u32 psn : {0u, 5u, 0xffffffu, 3u}) {
    rq.post(1000);
    sroce_packet pkt = datagram(4);
    pkt.psn = psn;
    EXPECT_EQ(rq.receive(pkt).verdict, SROCE_RECV_PLACE);
  }
}

TEST(DatagramReceive, UnreadyQueueDropsDatagrams) {
  DatagramQueue rq;
  rq.post(1000);
  sroce_responder_set_state(&rq.resp, SROCE_RQ_IDLE);
  expect_dropped(rq, datagram(100), SROCE_DROP_STATE);
  EXPECT_EQ(rq.buffers_left(), 1u);
}

TEST(DatagramReceive, BadBufferIsALocalProtectionError) {
  DatagramQueue rq;
  rq.post(1000);
  rq.receive(datagram(100), outcome(SROCE_MEM_BAD_LOCAL));
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].status, SROCE_WC_LOC_PROT_ERR);
}

TEST(DatagramReceive, RejectedReceiveFailsUntouched) {
  for (u32 bytes : {0u, 100u}) {
    DatagramQueue rq;
    rq.post_rejected(SROCE_WC_LOC_QP_OP_ERR);
    const sroce_recv_plan plan = rq.receive(datagram(bytes));
    EXPECT_EQ(plan.verdict, SROCE_RECV_PLACE);
    EXPECT_EQ(plan.target, SROCE_TARGET_NONE);
    ASSERT_EQ(rq.completions.size(), 1u);
    EXPECT_EQ(rq.completions[0].status, SROCE_WC_LOC_QP_OP_ERR);
    EXPECT_EQ(rq.resp.state, SROCE_RQ_FAILED);
  }
}

TEST(DatagramReceive, SolicitedReachesTheCompletion) {
  DatagramQueue rq;
  rq.post(1000);
  sroce_packet pkt = datagram(4);
  pkt.solicited = true;
  rq.receive(pkt);
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_TRUE(rq.completions[0].solicited);
}

TEST(DatagramReceive, LongerThanTheMtuNeedsNoReceive) {
  DatagramQueue rq;
  const sroce_packet too_long = datagram(1025), longest = datagram(1024);
  EXPECT_FALSE(sroce_responder_wants_wqe(&rq.resp, &too_long));
  EXPECT_TRUE(sroce_responder_wants_wqe(&rq.resp, &longest));
  EXPECT_EQ(rq.plan(too_long).reason, SROCE_DROP_LENGTH);
  EXPECT_EQ(rq.plan(longest).reason, SROCE_DROP_NO_WQE);
}

TEST(DatagramReceive, ReturnedReceiveIsFetchedAgain) {
  DatagramQueue rq;
  const sroce_packet pkt = datagram(100);
  sroce_responder_take_wqe(&rq.resp);
  EXPECT_FALSE(sroce_responder_wants_wqe(&rq.resp, &pkt));
  sroce_responder_return_wqe(&rq.resp);
  EXPECT_TRUE(sroce_responder_wants_wqe(&rq.resp, &pkt));
  EXPECT_EQ(sroce_ud_needs_bytes(&pkt), 140u);
}

}  // namespace
