// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A send ring is replaced by a larger one while requests are in flight.
#include <gtest/gtest.h>

#include "send_queue.h"

namespace {

using namespace sroce_test;

// New storage for the WQEs of a queue; the old one is overwritten.
struct Moved {
  Moved(SendQueue& sq, u32 slots) : ring(slots * kStride / sizeof(u64)) {
    void* old = sq.req.ring;
    const size_t bytes = (sq.req.ring_mask + 1) * kStride;
    sroce_requester_set_storage(&sq.req, ring.data(), slots);
    memset(old, 0xff, bytes);
  }
  std::vector<u64> ring;
};

TEST(SendRing, LargerRingHasRoom) {
  SendQueue sq({.slots = 2});
  sq.post(send_of(10));
  sq.post(send_of(10));
  EXPECT_EQ(sroce_requester_room(&sq.req), 0u);
  const Moved moved(sq, 8);
  EXPECT_EQ(sroce_requester_room(&sq.req), 6u);
}

// They wrap around the end of the old ring and have other positions in the new one.
TEST(SendRing, RequestsInFlightSurviveTheMove) {
  SendQueue sq({.slots = 4});
  for (u32 i = 0; i < 3; i++) sq.post(write_of(10));
  sq.send_all();
  sq.receive(ack(1002));
  EXPECT_EQ(sq.completions().size(), 3u);
  for (u32 i = 3; i < 7; i++) sq.post(write_of(10 + i));
  const auto before = sq.send_all();
  ASSERT_EQ(before.size(), 4u);
  const Moved moved(sq, 16);
  sq.expire();
  const auto again = sq.send_all();
  ASSERT_EQ(again.size(), before.size());
  for (size_t i = 0; i < again.size(); i++) {
    EXPECT_EQ(again[i].psn, before[i].psn);
    EXPECT_EQ(again[i].payload_bytes, before[i].payload_bytes);
  }
  sq.receive(ack(1006));
  u64 expected = 3;
  for (const sroce_completion& wc : sq.completions()) EXPECT_EQ(wc.wr_id, expected++);
  EXPECT_EQ(expected, 7u);
}

TEST(SendRing, LaterRequestsFollowEarlierOnes) {
  SendQueue sq({.slots = 2});
  sq.post(send_of(1));
  sq.post(send_of(2));
  sq.send();
  const Moved moved(sq, 4);
  sq.post(send_of(3));
  sq.post(send_of(4));
  const auto rest = sq.send_all();
  ASSERT_EQ(rest.size(), 3u);
  for (u32 i = 0; i < 3; i++) EXPECT_EQ(rest[i].payload_bytes, i + 2);
  sq.receive(ack(1003));
  EXPECT_EQ(sq.completions().size(), 4u);
}

}  // namespace
