// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// FLUSH and ATOMIC WRITE (IBTA annex A19), at the responder and at the requester.
#include <gtest/gtest.h>

#include "receive_queue.h"
#include "send_queue.h"

namespace {

using namespace sroce_test;

// ---------------------------------------------------------------- responder

// The peer gets a READ response without data.
void expect_empty_response(const sroce_packet& pkt, u32 psn) {
  EXPECT_EQ(pkt.opcode, SROCE_OP_READ_RESPONSE_ONLY);
  EXPECT_EQ(pkt.psn, psn);
  EXPECT_EQ(pkt.payload_bytes, 0u);
  EXPECT_EQ(pkt.pad_bytes, 0u);
  EXPECT_EQ(pkt.syndrome, kAckSyndrome);
}

void expect_empty_response(ReceiveQueue& rq, u32 psn) {
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 1u);
  expect_empty_response(responses[0], psn);
}

TEST(ResponderAtomicWrite, PassesItsPayloadToMemory) {
  ReceiveQueue rq;
  const sroce_recv_plan plan = rq.receive(atomic_write_request(2000));
  EXPECT_EQ(plan.verdict, SROCE_RECV_ATOMIC);
  EXPECT_EQ(plan.atomic_op, SROCE_OP_ATOMIC_WRITE);
  EXPECT_EQ(plan.va, 0x20000u);
  EXPECT_EQ(plan.rkey, 0xbeefu);
  EXPECT_EQ(plan.check_bytes, 8u);
  EXPECT_EQ(plan.access, u32{SROCE_ACCESS_REMOTE_WRITE});
  expect_empty_response(rq, 2000);
  EXPECT_EQ(rq.resp.epsn, 2001u);
  EXPECT_EQ(rq.resp.msn, 1u);
}

TEST(ResponderAtomicWrite, UsesNoReceive) {
  ReceiveQueue rq;
  rq.post(100);
  rq.receive(atomic_write_request(2000));
  EXPECT_EQ(rq.buffers_left(), 1u);
  EXPECT_TRUE(rq.completions.empty());
}

TEST(ResponderAtomicWrite, LengthOtherThanEightIsInvalid) {
  for (u32 bytes : {0u, 4u, 7u, 9u, 16u}) {
    ReceiveQueue rq;
    expect_fatal_nak(rq, atomic_write_request(2000, bytes), SROCE_NAK_INVALID_REQUEST);
  }
  for (u32 announced : {0u, 7u, 9u, 5000u}) {
    ReceiveQueue rq;
    sroce_packet pkt = atomic_write_request(2000);
    pkt.dma_length = announced;
    expect_fatal_nak(rq, pkt, SROCE_NAK_INVALID_REQUEST);
  }
}

TEST(ResponderAtomicWrite, MisalignedAddressIsInvalid) {
  ReceiveQueue rq;
  expect_fatal_nak(rq, atomic_write_request(2000), SROCE_NAK_INVALID_REQUEST,
                   outcome(SROCE_MEM_MISALIGNED));
  EXPECT_EQ(rq.event(), SROCE_EVENT_REQ_ERR);
}

TEST(ResponderAtomicWrite, NeedsRemoteWriteOfTheQp) {
  ReceiveQueue rq({.access = ~u32{SROCE_ACCESS_REMOTE_WRITE}});
  expect_fatal_nak(rq, atomic_write_request(2000), SROCE_NAK_INVALID_REQUEST);
}

// A later WRITE may have changed the memory.
TEST(ResponderAtomicWrite, DuplicateIsNotWrittenAgain) {
  ReceiveQueue rq;
  rq.receive(atomic_write_request(2000));
  rq.receive(write_only(2001, 0x20000, 8));
  rq.respond();
  const sroce_recv_plan plan = rq.receive(atomic_write_request(2000));
  EXPECT_EQ(plan.verdict, SROCE_RECV_REPLAY);
  EXPECT_EQ(plan.check_bytes, 0u) << "the region may be gone";
  expect_empty_response(rq, 2000);
}

TEST(ResponderAtomicWrite, DuplicateIsDroppedWhenForgotten) {
  ReceiveQueue rq({.max_dest_rd_atomic = 2});
  for (u32 i = 0; i < 3; i++) {
    rq.receive(atomic_write_request(2000 + i));
    rq.respond();
  }
  expect_dropped(rq, atomic_write_request(2000), SROCE_DROP_REPLAY);
}

TEST(ResponderPlacement, DuplicateIsDroppedAtThePsnOfAnotherKind) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x20000, 8));
  rq.receive(fetch_add_request(2001, 1));
  rq.receive(atomic_write_request(2002));
  rq.respond();
  for (u32 psn : {2000u, 2001u}) {
    expect_dropped(rq, atomic_write_request(psn), SROCE_DROP_REPLAY);
    expect_dropped(rq, flush_request(psn), SROCE_DROP_REPLAY);
  }
  expect_dropped(rq, read_request(2002, 0x20000, 8), SROCE_DROP_REPLAY);
  expect_dropped(rq, fetch_add_request(2002, 1), SROCE_DROP_REPLAY);
}

TEST(ResponderPlacement, DuplicateIsDroppedUnlessItRepeatsTheRequest) {
  const sroce_packet requests[] = {fetch_add_request(2000, 1), compare_swap_request(2001, 1, 2),
                                   atomic_write_request(2002, 8, 0x10000), flush_request(2003)};
  ReceiveQueue rq;
  for (const sroce_packet& pkt : requests) rq.receive(pkt);
  rq.respond();
  for (const sroce_packet& pkt : requests) {
    sroce_packet forged = pkt;
    forged.va += 8;
    expect_dropped(rq, forged, SROCE_DROP_REPLAY);
    forged = pkt;
    forged.rkey++;
    expect_dropped(rq, forged, SROCE_DROP_REPLAY);
    EXPECT_EQ(rq.receive(pkt).verdict, SROCE_RECV_REPLAY);
  }
  expect_dropped(rq, compare_swap_request(2000, 1, 2), SROCE_DROP_REPLAY);
  expect_dropped(rq, fetch_add_request(2001, 1), SROCE_DROP_REPLAY);
  sroce_packet write = atomic_write_request(2003, 8, 0x10000);
  expect_dropped(rq, write, SROCE_DROP_REPLAY);
  sroce_packet flush = flush_request(2002);
  expect_dropped(rq, flush, SROCE_DROP_REPLAY);
}

TEST(ResponderPlacement, MoreThanTheLimitIsInvalid) {
  ReceiveQueue rq({.max_dest_rd_atomic = 1});
  rq.receive(read_request(2000, 0x10000, 4));
  for (const sroce_packet& pkt : {atomic_write_request(2001), flush_request(2001)})
    EXPECT_EQ(rq.plan(pkt).syndrome, SROCE_NAK_INVALID_REQUEST);
}

TEST(ResponderPlacement, LimitOfZeroMakesThemInvalid) {
  for (const sroce_packet& pkt : {atomic_write_request(2000), flush_request(2000)}) {
    ReceiveQueue rq({.max_dest_rd_atomic = 0});
    expect_fatal_nak(rq, pkt, SROCE_NAK_INVALID_REQUEST);
  }
}

TEST(ResponderPlacement, MayNotInterruptAMessage) {
  for (const sroce_packet& pkt : {atomic_write_request(2001), flush_request(2001)}) {
    ResponderMidWrite rq;
    expect_fatal_nak(rq, pkt, SROCE_NAK_INVALID_REQUEST);
  }
}

TEST(ResponderPlacement, OtherServicesHaveNone) {
  for (u8 opcode : {0x3c, 0x3d, 0x7c, 0x7d}) EXPECT_EQ(sroce_opcode_lookup(opcode), nullptr);
}

TEST(ResponderPlacement, ResponsesComeInOrderBeforeTheAck) {
  ReceiveQueue rq;
  rq.receive(read_request(2000, 0x10000, 4));
  rq.receive(atomic_write_request(2001));
  rq.receive(flush_request(2002));
  rq.receive(write_only(2003, 0x10000, 4));
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 4u);
  EXPECT_EQ(responses[0].payload_bytes, 4u);
  for (u32 i = 1; i < 3; i++) expect_empty_response(responses[i], 2000 + i);
  EXPECT_EQ(responses[1].msn, 2u);
  EXPECT_EQ(responses[3].opcode, SROCE_OP_ACK);
}

TEST(ResponderFlush, RangeIsCheckedAsAWhole) {
  ReceiveQueue rq;
  const sroce_recv_plan plan = rq.receive(flush_request(2000));
  EXPECT_EQ(plan.verdict, SROCE_RECV_FLUSH);
  EXPECT_EQ(plan.va, 0x10000u);
  EXPECT_EQ(plan.rkey, 0xbeefu);
  EXPECT_EQ(plan.check_bytes, 3000u);
  EXPECT_EQ(plan.access, u32{SROCE_ACCESS_FLUSH_GLOBAL});
  expect_empty_response(rq, 2000);
}

TEST(ResponderFlush, WholeRegionHasNoRange) {
  ReceiveQueue rq;
  const auto plan = rq.receive(flush_request(2000, SROCE_FLUSH_GLOBAL, SROCE_FLUSH_MR, 0xffffffff));
  EXPECT_EQ(plan.verdict, SROCE_RECV_FLUSH);
  EXPECT_EQ(plan.check_bytes, 0u);
}

TEST(ResponderFlush, RangeIsAsLongAsAMessageAtMost) {
  ReceiveQueue rq;
  const auto request = [](u32 bytes) {
    return flush_request(2000, SROCE_FLUSH_GLOBAL, SROCE_FLUSH_RANGE, bytes);
  };
  EXPECT_EQ(rq.plan(request(1u << 31)).verdict, SROCE_RECV_FLUSH);
  expect_fatal_nak(rq, request((1u << 31) + 1), SROCE_NAK_INVALID_REQUEST);
}

TEST(ResponderFlush, EachTypeNeedsItsAccess) {
  constexpr u32 kBoth = SROCE_ACCESS_FLUSH_GLOBAL | SROCE_ACCESS_FLUSH_PERSISTENT;
  for (u32 access : {0u, u32{SROCE_ACCESS_FLUSH_GLOBAL}, u32{SROCE_ACCESS_FLUSH_PERSISTENT}, kBoth})
    for (u8 placement = 1; placement <= 3; placement++) {
      const u32 needed = u32{placement} << 8;
      const bool permitted = (access & needed) == needed;
      ReceiveQueue rq({.access = access});
      const auto plan = rq.plan(flush_request(2000, placement));
      EXPECT_EQ(plan.verdict, permitted ? SROCE_RECV_FLUSH : SROCE_RECV_NAK)
          << access << " " << int{placement};
      EXPECT_EQ(plan.access, permitted ? needed : 0);
    }
}

// An unknown placement must not be acknowledged.
TEST(ResponderFlush, UndefinedTypeOrLevelIsInvalid) {
  for (u8 placement : {0, 4, 5, 8, 15}) {
    ReceiveQueue rq;
    expect_fatal_nak(rq, flush_request(2000, placement), SROCE_NAK_INVALID_REQUEST);
  }
  for (u8 level : {2, 3}) {
    ReceiveQueue rq;
    expect_fatal_nak(rq, flush_request(2000, SROCE_FLUSH_GLOBAL, level), SROCE_NAK_INVALID_REQUEST);
  }
}

TEST(ResponderFlush, BadKeyRangeOrAccessIsARemoteAccessError) {
  for (sroce_mem_status status : {SROCE_MEM_BAD_KEY, SROCE_MEM_BAD_RANGE, SROCE_MEM_BAD_ACCESS}) {
    ReceiveQueue rq;
    expect_fatal_nak(rq, flush_request(2000), SROCE_NAK_REMOTE_ACCESS, outcome(status));
    EXPECT_EQ(rq.event(), SROCE_EVENT_ACCESS_ERR);
  }
}

// The length of the range is not that of the response.
TEST(ResponderFlush, DuplicateGetsAnEmptyResponseAndIsNotExecuted) {
  ReceiveQueue rq;
  rq.receive(flush_request(2000));
  rq.respond();
  EXPECT_EQ(rq.receive(flush_request(2000)).verdict, SROCE_RECV_REPLAY);
  expect_empty_response(rq, 2000);
}

TEST(ResponderFlush, DuplicateBeforeTheResponseGetsOne) {
  ReceiveQueue rq;
  rq.receive(flush_request(2000));
  rq.receive(flush_request(2000));
  expect_empty_response(rq, 2000);
}

TEST(ResponderPlacement, QueuedRequestsAreExecutedInOrder) {
  ReceiveQueue rq({.reorder_packets = 64});
  rq.receive(flush_request(2002));
  rq.receive(atomic_write_request(2001));
  EXPECT_TRUE(rq.respond().empty());
  rq.receive(write_only(2000, 0x10000, 4));
  EXPECT_EQ(rq.released, (std::vector<u32>{2001, 2002}));
  const auto responses = rq.respond();
  ASSERT_EQ(responses.size(), 3u);
  expect_empty_response(responses[0], 2001);
  expect_empty_response(responses[1], 2002);
}

// ---------------------------------------------------------------- requester

TEST(RequesterAtomicWrite, CarriesItsPayload) {
  SendQueue sq;
  sq.post(atomic_write());
  const sroce_send_plan plan = sq.plan();
  EXPECT_EQ(plan.payload_bytes, 8u);
  EXPECT_EQ(plan.offset, 0u);
  const sroce_packet pkt = sq.packet(plan, 0);
  EXPECT_EQ(pkt.opcode, SROCE_OP_ATOMIC_WRITE);
  EXPECT_EQ(pkt.payload_bytes, 8u);
  EXPECT_EQ(pkt.pad_bytes, 0u);
  EXPECT_EQ(pkt.dma_length, 8u);
  EXPECT_EQ(pkt.va, 0x10000u);
  EXPECT_EQ(pkt.rkey, 0xabcdu);
  EXPECT_FALSE(pkt.solicited);
}

TEST(RequesterFlush, CarriesItsRangeAndNoPayload) {
  SendQueue sq;
  sq.post(flush(SROCE_FLUSH_GLOBAL | SROCE_FLUSH_PERSISTENT, SROCE_FLUSH_MR));
  const sroce_send_plan plan = sq.plan();
  EXPECT_EQ(plan.payload_bytes, 0u);
  const sroce_packet pkt = sq.packet(plan, 0);
  EXPECT_EQ(pkt.opcode, SROCE_OP_FLUSH);
  EXPECT_EQ(pkt.dma_length, 3000u);
  EXPECT_EQ(pkt.va, 0x10000u);
  EXPECT_EQ(pkt.rkey, 0xabcdu);
  EXPECT_EQ(pkt.placement, 3u);
  EXPECT_EQ(pkt.level, 1u);
}

TEST(RequesterPlacement, TakesOnePsn) {
  SendQueue sq;
  sq.post(flush());
  sq.post(atomic_write());
  sq.post(send_of(4));
  const auto sent = sq.send_all();
  ASSERT_EQ(sent.size(), 3u);
  for (u32 i = 0; i < 3; i++) EXPECT_EQ(sent[i].psn, 1000 + i);
}

TEST(RequesterPlacement, CountsAgainstMaxRdAtomic) {
  SendQueue sq({.max_rd_atomic = 2});
  for (const Work& work : {flush(), atomic_write(), flush()}) sq.post(work);
  EXPECT_EQ(sq.send_all().size(), 2u);
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 0));
  EXPECT_EQ(sq.send_all().size(), 1u);
}

TEST(RequesterPlacement, LimitOfZeroFailsInsteadOfWaiting) {
  for (const Work& work : {flush(), atomic_write()}) {
    SendQueue sq({.max_rd_atomic = 0});
    sq.post(work);
    sq.send_all();
    const auto wc = sq.completion();
    ASSERT_TRUE(wc);
    EXPECT_EQ(wc->status, SROCE_WC_LOC_QP_OP_ERR);
  }
}

TEST(RequesterPlacement, FenceWaitsForThem) {
  for (const Work& work : {flush(), atomic_write()}) {
    SendQueue sq;
    sq.post(work);
    sq.post(send_of(4).fenced());
    EXPECT_EQ(sq.send_all().size(), 1u);
    sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 0));
    EXPECT_EQ(sq.send_all().size(), 1u);
  }
}

TEST(CompleterPlacement, CompletesWithItsResponse) {
  for (const Work& work : {flush(), atomic_write()}) {
    SendQueue sq;
    sq.post(work);
    sq.send_all();
    const auto plan = sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 0));
    EXPECT_EQ(plan.place_bytes, 0u);
    EXPECT_FALSE(plan.place_atomic);
    const auto wc = sq.completion();
    ASSERT_TRUE(wc);
    EXPECT_EQ(wc->status, SROCE_WC_SUCCESS);
    EXPECT_EQ(wc->opcode, work.opcode == SROCE_WR_FLUSH ? SROCE_WC_FLUSH : SROCE_WC_ATOMIC_WRITE);
  }
}

TEST(CompleterPlacement, PlainAckDoesNotReplaceItsResponse) {
  for (const Work& work : {flush(), atomic_write()}) {
    SendQueue sq;
    sq.post(work);
    const auto first = sq.send_all();
    sq.receive(ack(1000));
    EXPECT_FALSE(sq.completion());
    sq.expire();
    const auto again = sq.send_all();
    ASSERT_EQ(again.size(), 1u);
    EXPECT_EQ(again[0].psn, 1000u);
    EXPECT_EQ(again[0].payload_bytes, first[0].payload_bytes);
    EXPECT_EQ(again[0].dma_length, first[0].dma_length);
  }
}

// The data would have no place.
TEST(CompleterPlacement, ResponseWithDataIsALengthError) {
  for (const Work& work : {flush(), atomic_write()}) {
    SendQueue sq;
    sq.post(work);
    sq.send_all();
    sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 8));
    const auto wc = sq.completion();
    ASSERT_TRUE(wc);
    EXPECT_EQ(wc->status, SROCE_WC_LOC_LEN_ERR);
  }
}

TEST(CompleterPlacement, OtherResponsesAreBad) {
  for (const Work& work : {flush(), atomic_write()})
    for (const sroce_packet& pkt :
         {atomic_ack(1000, 1), read_response(SROCE_OP_READ_RESPONSE_FIRST, 1000, 0)}) {
      SendQueue sq;
      sq.post(work);
      sq.send_all();
      sq.receive(pkt);
      const auto wc = sq.completion();
      ASSERT_TRUE(wc);
      EXPECT_EQ(wc->status, SROCE_WC_BAD_RESP_ERR);
    }
}

TEST(CompleterPlacement, LostRequestIsSentAgainInFull) {
  SendQueue sq({.selective = true});
  sq.post(send_of(4));
  sq.send_all();
  sq.receive(selective(ack(1000)));
  sq.post(atomic_write());
  sq.post(flush());
  sq.post(flush());
  sq.send_all();
  sq.receive(selective(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1003, 0)));
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again[0].opcode, SROCE_OP_ATOMIC_WRITE);
  EXPECT_EQ(again[0].payload_bytes, 8u);
  EXPECT_EQ(again[0].dma_length, 8u);
  EXPECT_EQ(again[1].opcode, SROCE_OP_FLUSH);
  EXPECT_EQ(again[1].dma_length, 3000u);
}

TEST(CompleterPlacement, DuplicateResponseIsDropped) {
  SendQueue sq;
  sq.post(flush());
  sq.post(flush());
  sq.send_all();
  sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 0));
  const auto plan = sq.receive(read_response(SROCE_OP_READ_RESPONSE_ONLY, 1000, 0));
  EXPECT_EQ(plan.reason, SROCE_DROP_DUPLICATE);
}

}  // namespace
