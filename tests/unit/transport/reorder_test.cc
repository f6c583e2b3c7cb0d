// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include "reordering_queue.h"

namespace {

using namespace sroce_test;

// ---------------------------------------------------------------- queued packets

TEST(ReorderQueueing, EarlyPacketsWaitForTheirTurn) {
  ReorderingQueue rq;
  EXPECT_EQ(rq.receive(quiet_write(2002)).verdict, SROCE_RECV_QUEUE);
  EXPECT_EQ(rq.receive(quiet_write(2001)).verdict, SROCE_RECV_QUEUE);
  EXPECT_EQ(rq.resp.epsn, 2000u);
  EXPECT_EQ(rq.resp.msn, 0u);
  EXPECT_EQ(rq.receive(quiet_write(2000)).verdict, SROCE_RECV_PLACE);
  EXPECT_EQ(rq.released, (Psns{2001, 2002}));
  EXPECT_EQ(rq.resp.epsn, 2003u);
  EXPECT_EQ(rq.resp.msn, 3u);
}

TEST(ReorderQueueing, ReleasesPacketsUpToTheNextGap) {
  ReorderingQueue rq;
  rq.write({2001, 2003, 2000});
  EXPECT_EQ(rq.resp.epsn, 2002u);
  EXPECT_EQ(rq.resp.reorder.count, 1u);
  rq.write({2002});
  EXPECT_EQ(rq.resp.epsn, 2004u);
  EXPECT_EQ(rq.released, (Psns{2001, 2003}));
}

TEST(ReorderQueueing, DuplicateIsRecognized) {
  ReorderingQueue rq;
  EXPECT_FALSE(rq.receive(quiet_write(2001)).queued);
  EXPECT_TRUE(rq.receive(quiet_write(2001)).queued);
  EXPECT_EQ(rq.resp.reorder.count, 1u);
}

TEST(ReorderQueueing, CrossesThePsnWrap) {
  ReorderingQueue rq({.psn = 0xfffffe, .reorder_packets = 8});
  rq.write({0xffffff, 0, 1, 0xfffffe});
  EXPECT_EQ(rq.resp.epsn, 2u);
  EXPECT_EQ(rq.released, (Psns{0xffffff, 0, 1}));
}

TEST(ReorderQueueing, MessageMayArriveInReverseOrder) {
  ReorderingQueue rq;
  rq.post(4096);
  rq.receive(with_ack_req(request(SROCE_OP_SEND_LAST, 2002, 100)));
  rq.receive(request(SROCE_OP_SEND_MIDDLE, 2001, 1024));
  EXPECT_EQ(rq.buffers_left(), 1u) << "a queued packet takes no receive";
  rq.receive(request(SROCE_OP_SEND_FIRST, 2000, 1024));
  ASSERT_EQ(rq.completions.size(), 1u);
  EXPECT_EQ(rq.completions[0].byte_len, 2148u);
  EXPECT_EQ(only_response(rq).first_psn, 2002u);
}

TEST(ReorderQueueing, ReadIsExecutedInItsTurn) {
  ReorderingQueue rq;
  rq.receive(read_request(2001, 0x10000, 3000));
  EXPECT_FALSE(rq.next_response());
  rq.write({2000});
  EXPECT_EQ(rq.resp.epsn, 2004u);
  EXPECT_EQ(rq.respond().size(), 3u);
}

TEST(ReorderQueueing, PacketsInsideAReadAreDropped) {
  ReorderingQueue rq;
  rq.write({2001, 2002, 2004});
  rq.receive(read_request(2000, 0x10000, 3000));
  EXPECT_EQ(rq.resp.epsn, 2003u);
  EXPECT_EQ(rq.resp.reorder.count, 1u);
  rq.write({2003});
  EXPECT_EQ(rq.released, Psns{2004});
}

TEST(ReorderQueueing, PacketIsLostWithoutMemory) {
  ReorderingQueue rq;
  rq.receive(quiet_write(2001), kBadKey);
  EXPECT_EQ(rq.resp.reorder.count, 0u);
  rq.write({2000});
  EXPECT_EQ(rq.resp.epsn, 2001u);
  EXPECT_TRUE(rq.released.empty());
}

TEST(ReorderQueueing, InvalidQueuedPacketIsFatalInItsTurn) {
  ReorderingQueue rq;
  rq.receive(request(SROCE_OP_WRITE_MIDDLE, 2001, 1024));
  EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
  rq.write({2000});
  expect_nak(rq, SROCE_NAK_INVALID_REQUEST, 2001);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_FAILED);
}

// ---------------------------------------------------------------- the budget

TEST(ReorderBudget, ZeroMakesAStandardResponder) {
  ReceiveQueue rq;
  EXPECT_EQ(rq.receive(quiet_write(2001)).verdict, SROCE_RECV_NAK);
  EXPECT_FALSE(rq.timer_runs());
}

TEST(ReorderBudget, IsADistanceFromTheExpectedPsn) {
  ReorderingQueue rq({.reorder_packets = 4});
  EXPECT_EQ(rq.receive(quiet_write(2003)).verdict, SROCE_RECV_QUEUE);
  EXPECT_EQ(rq.receive(quiet_write(2004)).verdict, SROCE_RECV_NAK);
}

TEST(ReorderBudget, IsAtMostOneSpan) {
  ReorderingQueue rq({.psn = 0xffff00, .reorder_packets = 1u << 20});
  EXPECT_EQ(rq.receive(quiet_write(0xffff00 + kSpan - 1)).verdict, SROCE_RECV_QUEUE);
  EXPECT_EQ(rq.receive(quiet_write(0xffff00 + kSpan)).verdict, SROCE_RECV_NAK);
}

TEST(ReorderBudget, CoversAWholeSpan) {
  SelectivePair rq(0xffff00, kSpan);
  for (u32 i = 1; i < kSpan; i++) rq.write({psn_add(0xffff00, i)});
  EXPECT_EQ(rq.resp.reorder.count, kSpan - 1);
  const sroce_response_plan plan = only_response(rq);
  EXPECT_EQ(plan.payload_bytes, u32{SROCE_SACK_MAX_BYTES});
  EXPECT_EQ(sacked(rq, plan).size(), kSpan - 1);
  rq.write({0xffff00});
  EXPECT_EQ(rq.released.size(), kSpan - 1);
  EXPECT_EQ(rq.resp.epsn, psn_add(0xffff00, kSpan));
  EXPECT_EQ(sroce_psn_map_count(&rq.resp.reorder.queued, 0, kSpan), 0u);
}

// ---------------------------------------------------------------- emptying the queue

TEST(ReorderPurge, RnrNakDropsTheQueue) {
  ReorderingQueue rq;
  rq.write({2001, 2002});
  EXPECT_EQ(rq.receive(send_only(2000, 10)).verdict, SROCE_RECV_RNR);
  EXPECT_EQ(rq.resp.reorder.count, 0u);
  EXPECT_FALSE(rq.timer_runs());
}

TEST(ReorderPurge, RnrNakStopsQueueingUntilItsPacketReturns) {
  ReorderingQueue rq;
  rq.receive(send_only(2000, 10));
  expect_dropped(rq, quiet_write(2001), SROCE_DROP_SEQUENCE);
  rq.post(100);
  rq.receive(send_only(2000, 10));
  EXPECT_EQ(rq.receive(quiet_write(2002)).verdict, SROCE_RECV_QUEUE);
}

TEST(ReorderPurge, RnrNakForAQueuedSendDropsTheRest) {
  ReorderingQueue rq;
  rq.receive(send_only(2001, 10));
  rq.write({2002, 2003, 2000});
  EXPECT_EQ(rq.resp.epsn, 2001u);
  EXPECT_EQ(rq.resp.reorder.count, 0u);
  expect_nak(rq, SROCE_AETH_RNR_NAK | 12, 2001);
}

TEST(ReorderPurge, ErrorStateDropsTheQueue) {
  ReorderingQueue rq;
  rq.write({2001, 2002});
  sroce_responder_set_state(&rq.resp, SROCE_RQ_ERROR);
  EXPECT_EQ(rq.resp.reorder.count, 0u);
  EXPECT_FALSE(rq.timer_runs());
}

TEST(ReorderPurge, FatalNakDropsTheQueue) {
  ReorderingQueue rq;
  rq.write({2001, 2002});
  expect_fatal_nak(rq, write_only(2000, 0x10000, 16), SROCE_NAK_REMOTE_ACCESS, kBadKey);
  EXPECT_EQ(rq.resp.reorder.count, 0u);
  EXPECT_TRUE(rq.released.empty());
}

TEST(ReorderPurge, ResetEmptiesTheQueue) {
  ReorderingQueue rq;
  rq.write({2001, 2002});
  sroce_responder_reset(&rq.resp);
  EXPECT_EQ(rq.resp.reorder.count, 0u);
  EXPECT_EQ(sroce_psn_map_count(&rq.resp.reorder.queued, 0, kSpan), 0u);
  EXPECT_FALSE(rq.timer_runs());
}

// ---------------------------------------------------------------- NAKs to a standard peer

TEST(ReorderNak, WaitsForTheReorderingWindow) {
  ReorderingQueue rq;
  rq.write({2001});
  EXPECT_FALSE(rq.next_response());
  EXPECT_EQ(sroce_reorder_deadline(&rq.resp), rq.now + 50 * kMicrosecond);
}

TEST(ReorderNak, NamesTheMissingPsn) {
  ReorderingQueue rq;
  rq.write({2001, 2002});
  rq.expire();
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2000);
  EXPECT_FALSE(rq.timer_runs());
}

TEST(ReorderNak, IsNotSentWhenThePacketArrives) {
  ReorderingQueue rq;
  rq.write({2001, 2000});
  EXPECT_FALSE(rq.timer_runs());
  EXPECT_FALSE(rq.next_response());
}

// The ACK waited behind the READ response, and then the NAK took its place.
TEST(ReorderNak, ObsoleteNakBecomesTheAckThatItReplaced) {
  ReorderingQueue rq;
  rq.receive(read_request(2000, 0x10000, 16));
  rq.receive(write_only(2001, 0x10000, 16));
  rq.write({2003});
  rq.expire();
  rq.write({2002});
  const auto packets = rq.respond();
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].opcode, SROCE_OP_READ_RESPONSE_ONLY);
  EXPECT_EQ(packets[1].opcode, SROCE_OP_ACK);
  EXPECT_LE(2001u, packets[1].psn);
}

TEST(ReorderNak, EarlyTimerCallDoesNothing) {
  ReorderingQueue rq;
  rq.write({2001});
  sroce_reorder_timeout(&rq.resp, sroce_reorder_deadline(&rq.resp) - 1);
  EXPECT_FALSE(rq.next_response());
  EXPECT_TRUE(rq.timer_runs());
}

TEST(ReorderNak, IsSentOncePerGap) {
  ReorderingQueue rq;
  rq.write({2001});
  rq.expire();
  rq.respond();
  rq.write({2002, 2003});
  EXPECT_FALSE(rq.timer_runs());
  EXPECT_FALSE(rq.next_response());
}

TEST(ReorderNak, IsRepeatedWhenTheRetransmissionHasTheGapToo) {
  ReorderingQueue rq;
  rq.write({2001});
  rq.expire();
  rq.respond();
  rq.write({2001});
  rq.expire();
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2000);
}

TEST(ReorderNak, IsSentForTheNextGapToo) {
  ReorderingQueue rq;
  rq.write({2001, 2003});
  rq.expire();
  rq.respond();
  rq.write({2000});
  rq.expire();
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2002);
}

TEST(ReorderNak, IsSentAtOnceBeyondTheBudget) {
  ReorderingQueue rq({.reorder_packets = 4});
  rq.receive(quiet_write(2010));
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2000);
  expect_dropped(rq, quiet_write(2011), SROCE_DROP_SEQUENCE);
}

TEST(ReorderNak, TellsASelectivePeerOfPacketsBeyondTheBudget) {
  SelectivePair rq(2000, 4);
  rq.write({2010});
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2000);
  expect_dropped(rq, selective(quiet_write(2011)), SROCE_DROP_SEQUENCE);
  rq.write({2000, 2010});
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2001);
}

// The example of Documentation/wire.md.
TEST(ReorderSack, HasTheDocumentedOctets) {
  const std::vector<u8> example = {0xd1, 0x40, 0xff, 0xff, 0x00, 0x44, 0x55, 0x66,
                                   0x24, 0x00, 0x03, 0xe7, 0x1f, 0x00, 0x00, 0x00,
                                   0x0c, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};
  SelectivePair rq(1000);
  rq.write({1002, 1003});
  rq.write_with_ack_req(1010);
  const auto sack = rq.next_response();
  ASSERT_TRUE(sack);
  const sroce_packet pkt = rq.packet(*sack, 0);
  std::vector<u8> octets(SROCE_MAX_HEADER_BYTES);
  octets.resize(sroce_packet_write(&pkt, octets.data()) + pkt.payload_bytes);
  sroce_reorder_write_sack(&rq.resp, &octets[octets.size() - pkt.payload_bytes], pkt.payload_bytes);
  EXPECT_EQ(example, octets);
}

TEST(ReorderNak, ComesAfterASelectiveAckOfTheQueue) {
  SelectivePair rq(2000, 8);
  rq.write({2002, 2003, 2004, 2005, 2006});
  EXPECT_EQ(rq.resp.reorder.unsacked, 5u) << "the fourth packet made it due";
  rq.write({2010});
  const auto sack = rq.next_response();
  ASSERT_TRUE(sack);
  EXPECT_EQ(sack->kind, SROCE_RESPONSE_SACK);
  EXPECT_EQ(sacked(rq, *sack), (Psns{2002, 2003, 2004, 2005, 2006}));
  rq.sent(*sack);
  EXPECT_EQ(rq.resp.reorder.unsacked, 0u);
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2000);
}

TEST(ReorderNak, ComesAfterASelectiveAckOfFewPackets) {
  SelectivePair rq(2000, 4);
  rq.write({2001});
  EXPECT_FALSE(rq.next_response());
  rq.write({2010});
  const auto sack = rq.next_response();
  ASSERT_TRUE(sack);
  EXPECT_EQ(sacked(rq, *sack), Psns{2001});
  rq.sent(*sack);
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2000);
  // It is known by now.
  rq.write({2000, 2010});
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2002);
}

TEST(ReorderNak, ComesAfterASelectiveAckOfWhatIsQueuedMeanwhile) {
  SelectivePair rq(2000, 4);
  rq.write({2010, 2001});
  const auto sack = rq.next_response();
  ASSERT_TRUE(sack);
  EXPECT_EQ(sack->kind, SROCE_RESPONSE_SACK);
  EXPECT_EQ(sacked(rq, *sack), Psns{2001});
  rq.sent(*sack);
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2000);
}

TEST(ReorderNak, IsSentAtOnceWithoutMemory) {
  ReorderingQueue standard;
  SelectivePair selective_peer;
  for (ReceiveQueue* rq :
       {static_cast<ReceiveQueue*>(&standard), static_cast<ReceiveQueue*>(&selective_peer)}) {
    const auto write = [rq](u32 psn, const sroce_recv_result& result) {
      sroce_packet pkt = quiet_write(psn);
      pkt.selective = rq->resp.attr.selective;
      rq->receive(pkt, result);
    };
    write(2001, kBadKey);
    expect_nak(*rq, SROCE_NAK_PSN_SEQUENCE, 2000);
    write(2002, kBadKey);
    EXPECT_TRUE(rq->respond().empty());
    write(2000, {});
    write(2002, kBadKey);
    expect_nak(*rq, SROCE_NAK_PSN_SEQUENCE, 2001);
  }
}

TEST(ReorderNak, DelayAdaptsToTheReordering) {
  ReorderingQueue rq;
  rq.write({2001});
  rq.now += 40 * kMicrosecond;
  rq.write({2000, 2003});
  EXPECT_EQ(sroce_reorder_deadline(&rq.resp), rq.now + 80 * kMicrosecond);
}

TEST(ReorderNak, IsDelayedByAtMostTwoMilliseconds) {
  ReorderingQueue rq;
  rq.write({2001});
  rq.now += 500'000 * kMicrosecond;
  rq.write({2000, 2003});
  EXPECT_EQ(sroce_reorder_deadline(&rq.resp), rq.now + 2000 * kMicrosecond);
}

// ---------------------------------------------------------------- age

constexpr u64 kMaxAge = 8'000'000 * kMicrosecond;

TEST(ReorderAge, OldPacketsOfEitherPeerAreDropped) {
  ReorderingQueue standard;
  SelectivePair selective_peer;
  standard.write({2001, 2002});
  selective_peer.write({2001, 2002});
  for (ReceiveQueue* rq :
       {static_cast<ReceiveQueue*>(&standard), static_cast<ReceiveQueue*>(&selective_peer)}) {
    const u64 begin = rq->now;
    for (int i = 0;
         rq->resp.reorder.count && i < 4 && sroce_reorder_deadline(&rq->resp) != SROCE_NEVER; i++) {
      rq->now = sroce_reorder_deadline(&rq->resp);
      rq->expire();
      rq->respond();
    }
    EXPECT_EQ(rq->now, begin + kMaxAge);
    EXPECT_EQ(sroce_reorder_deadline(&rq->resp), SROCE_NEVER);
  }
}

TEST(ReorderAge, ProgressRestartsIt) {
  SelectivePair rq;
  rq.write({2001, 2003});
  rq.now += kMaxAge / 2;
  rq.write({2000});
  EXPECT_EQ(sroce_reorder_deadline(&rq.resp), rq.now + kMaxAge);
}

TEST(ReorderAge, MorePacketsBeyondTheGapDoNotRestartIt) {
  SelectivePair rq;
  rq.write({2001});
  const u64 deadline_ns = sroce_reorder_deadline(&rq.resp);
  rq.now += kMaxAge / 2;
  rq.write({2002});
  EXPECT_EQ(sroce_reorder_deadline(&rq.resp), deadline_ns);
}

TEST(ReorderAge, DroppedPacketsAreReceivedAgain) {
  SelectivePair rq;
  rq.write({2001});
  rq.now += kMaxAge;
  rq.expire();
  EXPECT_EQ(rq.resp.reorder.count, 0u);
  rq.write({2000, 2001});
  EXPECT_EQ(rq.resp.epsn, 2002u);
  EXPECT_EQ(rq.resp.reorder.reo_wnd_ns, 0u);
}

// ---------------------------------------------------------------- SACKs to a selective peer

TEST(ReorderSack, ResponsesAcceptAnOfferAtOnce) {
  ReceiveQueue both({.reorder_packets = 64, .selective = true, .offers = 0});
  both.receive(selective(write_only(2000, 0x10000, 16)));
  EXPECT_TRUE(both.respond()[0].selective);
  SelectivePair standard_peer;
  standard_peer.receive(write_only(2000, 0x10000, 16));
  EXPECT_FALSE(standard_peer.respond()[0].selective);
  ReorderingQueue unwilling;
  unwilling.receive(selective(write_only(2000, 0x10000, 16)));
  EXPECT_FALSE(unwilling.respond()[0].selective);
}

TEST(ReorderSack, NeedsFourOffersInARow) {
  ReceiveQueue rq({.reorder_packets = 64, .selective = true, .offers = 0});
  for (u32 psn : {2001, 2002, 2003}) rq.receive(selective(quiet_write(psn)));
  EXPECT_TRUE(rq.timer_runs()) << "like a standard peer, it gets a NAK";
  EXPECT_FALSE(rq.next_response());
  rq.receive(selective(quiet_write(2004)));
  EXPECT_FALSE(rq.timer_runs());
  EXPECT_EQ(only_response(rq).kind, SROCE_RESPONSE_SACK);
}

TEST(ReorderSack, EachOfCoalescedPacketsIsAnOffer) {
  ReceiveQueue rq({.reorder_packets = 64, .selective = true, .offers = 0});
  rq.receive(selective(write_first(2000, 0x10000, 9 * 1024)));
  sroce_packet pkt = selective(request(SROCE_OP_WRITE_MIDDLE, 2001, 3 * 1024));
  pkt.count = 3;
  rq.receive(pkt);
  EXPECT_TRUE(sroce_reorder_peer_selective(&rq.resp.reorder));
}

TEST(ReorderSack, OneRequestWithoutAnOfferMakesThePeerAStandardOne) {
  SelectivePair rq;
  rq.write({2001, 2002});
  EXPECT_FALSE(rq.timer_runs());
  rq.receive(quiet_write(2003));
  EXPECT_TRUE(rq.timer_runs());
  rq.write_with_ack_req(2004);
  EXPECT_FALSE(rq.next_response()) << "one offer is not enough";
  rq.expire();
  expect_nak(rq, SROCE_NAK_PSN_SEQUENCE, 2000);
}

// Anybody who knows the addresses and the QP number can forge one: half of all PSNs are duplicates,
// and the others lie beyond the queue.
TEST(ReorderSack, ForgedRequestWithoutAnOfferDoesNotEndTheOffers) {
  SelectivePair rq;
  rq.write({2001, 2003});
  for (u32 psn : {2000 - kSpan, 2001u, 2003u, 2064u}) {
    rq.receive(quiet_write(psn));
    EXPECT_TRUE(sroce_reorder_peer_selective(&rq.resp.reorder)) << psn;
  }
  for (const sroce_packet& pkt : rq.respond()) EXPECT_TRUE(pkt.selective) << int{pkt.opcode};
  rq.receive(quiet_write(2001 - kSpan));
  EXPECT_FALSE(sroce_reorder_accepts_offer(&rq.resp.reorder));
}

TEST(ReorderSack, QueuedRequestIsOneOffer) {
  ReceiveQueue rq({.reorder_packets = 64, .selective = true, .offers = 0});
  rq.receive(selective(quiet_write(2001)));
  rq.receive(selective(quiet_write(2000)));
  EXPECT_EQ(rq.resp.epsn, 2002u);
  EXPECT_EQ(rq.resp.reorder.offers, 2u);
}

// The queue still holds offers when the peer has withdrawn its own.
TEST(ReorderSack, QueuedRequestDoesNotRenewAnOffer) {
  SelectivePair rq;
  rq.write({2001, 2002});
  rq.receive(quiet_write(2000));
  EXPECT_EQ(rq.resp.epsn, 2003u);
  EXPECT_FALSE(sroce_reorder_accepts_offer(&rq.resp.reorder));
}

TEST(ReorderSack, OffersEndWithTheConnection) {
  SelectivePair rq;
  sroce_responder_reset(&rq.resp);
  EXPECT_FALSE(sroce_reorder_accepts_offer(&rq.resp.reorder));
}

TEST(ReorderSack, ReportsAGapAfterFourPacketsWithoutATimer) {
  SelectivePair rq;
  rq.write({2001, 2002, 2003});
  EXPECT_FALSE(rq.next_response());
  rq.write({2004});
  const sroce_response_plan plan = only_response(rq);
  EXPECT_EQ(plan.kind, SROCE_RESPONSE_SACK);
  EXPECT_EQ(plan.first_psn, 1999u);
  EXPECT_EQ(sacked(rq, plan), (Psns{2001, 2002, 2003, 2004}));
  EXPECT_FALSE(rq.timer_runs());
}

TEST(ReorderSack, IsPaddedToWordsAndHasItsOwnOpcode) {
  SelectivePair rq;
  rq.write_with_ack_req(2001);
  const auto packets = rq.respond();
  ASSERT_EQ(packets.size(), 1u);
  EXPECT_EQ(packets[0].opcode, SROCE_OP_SACK);
  EXPECT_EQ(packets[0].payload_bytes, 8u);
  EXPECT_TRUE(packets[0].selective);
}

TEST(ReorderSack, BecomesRarerWhileTheGapLasts) {
  SelectivePair rq(2000, 1000);
  Psns reports;
  for (u32 psn = 2001; psn < 2200; psn++) {
    rq.write({psn});
    if (rq.next_response()) {
      reports.push_back(psn);
      EXPECT_EQ(sacked(rq, only_response(rq)).size(), psn - 2000);
    }
  }
  EXPECT_EQ(reports, (Psns{2004, 2020, 2052, 2116, 2180}));
}

TEST(ReorderSack, ReportsANewGapSoon) {
  SelectivePair rq(2000, 1000);
  for (u32 psn = 2001; psn < 2100; psn++) rq.write({psn});
  rq.respond();
  rq.write({2000});
  rq.respond();
  EXPECT_EQ(rq.resp.epsn, 2100u);
  rq.write({2101, 2102, 2103});
  EXPECT_FALSE(rq.next_response());
  rq.write({2104});
  EXPECT_EQ(sacked(rq, only_response(rq)), (Psns{2101, 2102, 2103, 2104}));
}

TEST(ReorderSack, ReportsAQueuedReadFlushOrAtomicAtOnce) {
  for (const auto& pkt : {read_request(2010, 0x10000, 4096), fetch_add_request(2010, 1),
                          flush_request(2010), atomic_write_request(2010)}) {
    SelectivePair rq;
    rq.receive(selective(pkt));
    EXPECT_EQ(sacked(rq, only_response(rq)), Psns{2010});
  }
}

TEST(ReorderSack, ReportsEveryHole) {
  SelectivePair rq;
  rq.write({2001, 2003});
  rq.write_with_ack_req(2006);
  EXPECT_EQ(sacked(rq, only_response(rq)), (Psns{2001, 2003, 2006}));
}

TEST(ReorderSack, AcknowledgesADuplicateWithAckReq) {
  SelectivePair rq;
  rq.write({2001});
  rq.write_with_ack_req(2001);
  EXPECT_EQ(sacked(rq, only_response(rq)), Psns{2001});
}

TEST(ReorderSack, IsSentAtOnceForAckReq) {
  SelectivePair rq;
  rq.write({2001});
  rq.write_with_ack_req(2002);
  EXPECT_EQ(sacked(rq, only_response(rq)), (Psns{2001, 2002}));
}

TEST(ReorderSack, EndOfAReportedGapIsAcknowledged) {
  SelectivePair unreported;
  unreported.write({2001, 2002, 2000});
  EXPECT_FALSE(unreported.next_response());
  SelectivePair rq;
  rq.write_with_ack_req(2001);
  rq.respond();
  rq.write({2000});
  EXPECT_EQ(only_response(rq).kind, SROCE_RESPONSE_ACK);
}

TEST(ReorderSack, BecomesAnAckWhenTheQueueIsEmpty) {
  SelectivePair rq;
  rq.write_with_ack_req(2001);
  rq.write({2000});
  const sroce_response_plan plan = only_response(rq);
  EXPECT_EQ(plan.kind, SROCE_RESPONSE_ACK);
  EXPECT_EQ(plan.first_psn, 2001u);
}

TEST(ReorderSack, AckThatIsDueCoversWhatWasQueuedBehindItsPacket) {
  SelectivePair rq;
  rq.write({2001});
  rq.write_with_ack_req(2000);
  EXPECT_EQ(only_response(rq).first_psn, 2001u);
}

TEST(ReorderSack, StartsAtTheExpectedPsn) {
  for (u32 psn : {0u, 1u, 63u, 64u, 65u, 0xffffffu, 0xffffc1u, 0x7fffffu}) {
    SelectivePair rq(psn, 1000);
    const Psns queued = {psn_add(psn, 1), psn_add(psn, 2), psn_add(psn, 64), psn_add(psn, 200)};
    rq.write({queued.begin(), queued.end() - 1});
    rq.write_with_ack_req(queued.back());
    EXPECT_EQ(sacked(rq, only_response(rq)), queued) << psn;
  }
}

TEST(ReorderSack, DoesNotWaitForReadResponses) {
  SelectivePair rq;
  rq.receive(selective(read_request(2000, 0x10000, 1000)));
  rq.write_with_ack_req(2002);
  const auto packets = rq.respond();
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].opcode, SROCE_OP_SACK);
  EXPECT_EQ(packets[0].psn, 2000u);
  EXPECT_EQ(packets[1].opcode, SROCE_OP_READ_RESPONSE_ONLY);
}

TEST(ReorderSack, OrdinaryAckWaitsForReadResponses) {
  SelectivePair rq;
  rq.receive(selective(read_request(2000, 0x10000, 1000)));
  rq.write_with_ack_req(2001);
  const auto packets = rq.respond();
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].opcode, SROCE_OP_READ_RESPONSE_ONLY);
  EXPECT_EQ(packets[1].opcode, SROCE_OP_ACK);
}

}  // namespace
