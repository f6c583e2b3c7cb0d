// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// RC requests whose memory is not present: they wait as without a receive WQE.
#include <gtest/gtest.h>

#include "receive_queue.h"

namespace {

using namespace sroce_test;

constexpr u64 kRnrDelayNs = 200000;

struct DelayedQueue : ReceiveQueue {
  DelayedQueue() : ReceiveQueue({.reorder_packets = 64, .rnr_delay_ns = kRnrDelayNs}) {}
};

TEST(PageWait, RequestsWaitForPages) {
  for (const sroce_packet& pkt :
       {send_only(2000, 10), write_only(2000, 0x1000, 10), read_request(2000, 0x1000, 10),
        fetch_add_request(2000, 1), atomic_write_request(2000)}) {
    DelayedQueue rq;
    rq.post(100);
    rq.pages_present = false;
    EXPECT_EQ(rq.receive(pkt).verdict, SROCE_RECV_QUEUE) << int{pkt.opcode};
    EXPECT_EQ(rq.resp.epsn, 2000u) << int{pkt.opcode};
    EXPECT_TRUE(rq.respond().empty()) << int{pkt.opcode};
    rq.pages_present = true;
    rq.rwqe_posted();
    EXPECT_EQ(rq.resp.epsn, 2001u) << int{pkt.opcode};
    EXPECT_EQ(rq.respond().size(), 1u) << int{pkt.opcode};
  }
}

TEST(PageWait, PagesAreLostAgain) {
  DelayedQueue rq;
  rq.pages_present = false;
  rq.receive(write_only(2000, 0x1000, 10));
  rq.receive(write_only(2001, 0x1000, 10));
  rq.rwqe_posted();
  EXPECT_EQ(rq.resp.reorder.count, 2u);
  EXPECT_TRUE(rq.resp.reorder.waiting_rwqe);
  rq.pages_present = true;
  rq.rwqe_posted();
  EXPECT_EQ(rq.resp.epsn, 2002u);
}

TEST(PageWait, PagesThatDoNotComeGetAnRnrNak) {
  DelayedQueue rq;
  rq.pages_present = false;
  rq.receive(write_only(2000, 0x1000, 10));
  const u64 start = rq.now;
  for (int timeouts = 0; rq.resp.reorder.waiting_rwqe && timeouts < 100; timeouts++) rq.expire();
  EXPECT_EQ(rq.now - start, kRnrDelayNs);
  expect_nak(rq, SROCE_AETH_RNR_NAK | 12, 2000);
  EXPECT_EQ(rq.receive(write_only(2000, 0x1000, 10)).verdict, SROCE_RECV_RNR);
  rq.pages_present = true;
  rq.receive(write_only(2000, 0x1000, 10));
  EXPECT_EQ(rq.resp.epsn, 2001u);
}

TEST(PageWait, MissingPagesGetAnRnrNakAtOnceWithoutAQueue) {
  ReceiveQueue rq;
  rq.pages_present = false;
  EXPECT_EQ(rq.receive(write_only(2000, 0x1000, 10)).verdict, SROCE_RECV_RNR);
  expect_nak(rq, SROCE_AETH_RNR_NAK | 12, 2000);
  EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
}

}  // namespace
