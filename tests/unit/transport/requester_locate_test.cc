// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Which request a PSN belongs to, and where sending continues. A peer decides how often both are
// needed, so they must not look at every request.
#include <gtest/gtest.h>

#include <functional>

#include "send_queue.h"

extern "C" {
#include "transport/requester_internal.h"
}

namespace {

using namespace sroce_test;

// The position that @psn is found at, or -1.
int located(const SendQueue& sq, u32 psn) {
  u32 index;
  return sroce_requester_locate(&sq.req, psn, &index) ? static_cast<int>(index) : -1;
}

// How many requests a function looks at: its result changes if they do.
u32 requests_looked_at(SendQueue& sq, u32 psn, const std::function<u64()>& result) {
  const u64 right = result();
  u32 count = 0;
  for (u32 index = sq.req.acked; index != sq.req.posted; index++) {
    sroce_send_wqe* wqe = sroce_requester_wqe(&sq.req, index);
    const sroce_send_wqe before = *wqe;
    for (const u32 lie : {psn, psn_add(psn, 1), psn_add(psn, 2)}) {
      wqe->first_psn = lie;
      wqe->psn_count = 2;
      if (result() != right) {
        count++;
        break;
      }
    }
    wqe->first_psn = before.first_psn;
    wqe->psn_count = before.psn_count;
  }
  return count;
}

TEST(RequesterLocate, FindsTheFirstAndTheLastPacketOfEachRequest) {
  for (const u32 psn : {1000u, 0xfffffeu}) {
    SendQueue sq({.psn = psn});
    for (const u32 packets : {1u, 3u, 1u, 2u}) sq.post(send_of(packets * 1024));
    EXPECT_EQ(sq.send_all().size(), 7u);
    const int wanted[] = {0, 1, 1, 1, 2, 3, 3};
    for (u32 i = 0; i < 7; i++) EXPECT_EQ(located(sq, psn_add(psn, i)), wanted[i]) << i;
    EXPECT_EQ(located(sq, psn_add(psn, 7)), -1);
  }
}

TEST(RequesterLocate, FindsTheRestOfARequestThatIsPartlyAcknowledged) {
  SendQueue sq;
  sq.post(send_of(3 * 1024));
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1001));
  EXPECT_EQ(located(sq, 1002), 0);
  EXPECT_EQ(located(sq, 1003), 1);
}

TEST(RequesterLocate, PassesLocalOperations) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.post(local_invalidate());
  sq.post(local_invalidate());
  sq.post(send_of(10));
  sq.post(local_invalidate());
  sq.send_all();
  EXPECT_EQ(located(sq, 1000), 0);
  EXPECT_EQ(located(sq, 1001), 3);
}

TEST(RequesterLocate, FindsNothingWhenAllIsAcknowledged) {
  SendQueue sq;
  sq.post(send_of(10));
  sq.send_all();
  sq.receive(ack(1000));
  sq.post(send_of(10));
  EXPECT_EQ(located(sq, 1001), -1);
  sq.send_all();
  EXPECT_EQ(located(sq, 1001), 1);
}

TEST(RequesterLocate, FindsAfterARewindWhatWasSentBefore) {
  SendQueue sq;
  for (int i = 0; i < 4; i++) sq.post(send_of(10));
  sq.send_all();
  sq.expire();
  EXPECT_EQ(sq.req.next_psn, 1000u);
  for (u32 i = 0; i < 4; i++) EXPECT_EQ(located(sq, 1000 + i), static_cast<int>(i));
}

// Three WRITEs of 2^23 packets go round the circle, so that unsent packets have the PSNs of sent.
TEST(RequesterLocate, IgnoresRequestsThatWereNotSent) {
  SendQueue sq({.mtu_bytes = 256, .window_packets = 4});
  for (int i = 0; i < 4; i++) sq.post(send_of(10));
  for (int i = 0; i < 3; i++) sq.post(write_of(1u << 31));
  sq.send_all();
  EXPECT_EQ(sq.req.sent_psn, 1004u);
  for (u32 i = 0; i < 4; i++) EXPECT_EQ(located(sq, 1000 + i), static_cast<int>(i));
}

TEST(RequesterLocate, LooksAtFewRequests) {
  SendQueue sq({.slots = 64});
  for (int i = 0; i < 64; i++) sq.post(send_of(10));
  EXPECT_EQ(sq.send_all().size(), 64u);
  for (const u32 psn : {1000u, 1001u, 1031u, 1062u, 1063u})
    EXPECT_LE(requests_looked_at(sq, psn, [&] { return located(sq, psn); }), 7u) << psn;
}

// A NAK that goes back over two packets does not count the 60 before them.
TEST(RequesterCursor, CountsOnlyThePacketsThatItGoesOver) {
  SendQueue sq({.slots = 64});
  for (int i = 0; i < 64; i++) sq.post(send_of(10));
  sq.send_all();
  const u32 looked_at = requests_looked_at(sq, 1062, [&] {
    sroce_requester req = sq.req;
    sroce_requester_move_cursor(&req, 1062);
    sroce_requester_move_cursor(&req, 1063);
    return u64{req.data_inflight} << 32 | req.send;
  });
  EXPECT_LE(looked_at, 10u);
}

TEST(RequesterCursor, GoesBackAndForth) {
  SendQueue sq({.slots = 8});
  sq.post(send_of(3 * 1024));
  sq.post(read_of(2 * 1024));
  sq.post(local_invalidate());
  sq.post(fetch_add(1));
  sq.post(send_of(2 * 1024));
  EXPECT_EQ(sq.send_all().size(), 7u);
  struct Row {
    u32 psn, data, reads, send;
  };
  const Row rows[] = {{1008, 5, 2, 5}, {1007, 4, 2, 4}, {1006, 3, 2, 4}, {1005, 3, 1, 3},
                      {1004, 3, 0, 1}, {1003, 3, 0, 1}, {1001, 1, 0, 0}, {1000, 0, 0, 0}};
  for (const Row& from : rows)
    for (const Row& to : rows) {
      sroce_requester_move_cursor(&sq.req, from.psn);
      sroce_requester_move_cursor(&sq.req, to.psn);
      EXPECT_EQ(sq.req.next_psn, to.psn);
      EXPECT_EQ(sq.req.data_inflight, to.data) << from.psn << " to " << to.psn;
      EXPECT_EQ(sq.req.rd_inflight, to.reads) << from.psn << " to " << to.psn;
      // A local operation that is done may come before the request.
      const bool passed = sroce_requester_wqe(&sq.req, sq.req.send)->executed;
      EXPECT_EQ(sq.req.send + (passed && sq.req.send != sq.req.posted), to.send)
          << from.psn << " to " << to.psn;
    }
}

}  // namespace
