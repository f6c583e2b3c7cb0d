// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Many losses: how much is retransmitted at once.
#include <gtest/gtest.h>

#include "scoreboard_queue.h"

namespace {

using namespace sroce_test;

// Twenty SENDs from PSN 1000. The first ten packets were lost, the next three have arrived, the
// other seven are in flight.
struct TenLost : SelectiveSends {
  explicit TenLost(SendQueueOptions options = {.slots = 32}) : SelectiveSends(20, options) {
    receive_sack(999, range(1010, 3));
  }
  // Slow start ends at the limit, so that it hardly grows.
  void limit(u32 packets) { req.window.packets = req.window.ssthresh = packets; }
};

// Two SACKs, because retransmissions have two generations.
void lose_retransmissions(SendQueue& sq, u32 psn, const Psns& queued) {
  sq.now += sroce_rtt_rtx_ns(&sq.req.rtt) + 1;
  sq.receive_sack(psn, queued);
  sq.now++;
  sq.receive_sack(psn, queued);
}

TEST(SelectivePipe, AllHolesAreFilledIfTheWindowIsLarge) {
  TenLost sq;
  EXPECT_EQ(psns_of(sq.send_all()), range(1000, 10));
}

// A queue that is still full would drop them again.
TEST(SelectivePipe, WindowLimitsRetransmissions) {
  TenLost sq;
  sq.limit(11);
  EXPECT_EQ(psns_of(sq.send_all()), range(1000, 4)) << "seven packets are in flight";
  EXPECT_TRUE(sq.send_all().empty());
  sq.receive_sack(1001, range(1010, 3), 8);
  EXPECT_EQ(psns_of(sq.send_all()), range(1004, 2));
  sq.receive_sack(1001, range(1010, 10), 8);
  EXPECT_EQ(psns_of(sq.send_all()), range(1006, 4));
}

TEST(SelectivePipe, RetransmissionsAreInFlight) {
  TenLost sq;
  sq.limit(9);
  const sroce_send_plan plan = sq.plan();
  EXPECT_EQ(plan.packet_count, 1u) << "a request of its own";
  EXPECT_EQ(sq.send_all().size(), 2u);
  lose_retransmissions(sq, 999, range(1010, 4));
  EXPECT_EQ(psns_of(sq.send_all()), range(1000, 3)) << "the two are lost, too, and one has arrived";
}

TEST(SelectivePipe, BurstEndsAtTheWindow) {
  SelectiveQueue sq;
  sq.post(write_of(20 * 1024));
  sq.send_all();
  sq.receive_sack(999, range(1010, 3));
  sq.req.window.packets = sq.req.window.ssthresh = 12;
  EXPECT_EQ(sq.plan().packet_count, 5u);
  EXPECT_EQ(sq.plan(3).packet_count, 3u);
}

// Otherwise nothing might be sent before a timeout.
TEST(SelectivePipe, OneRetransmissionIsAlwaysPossible) {
  TenLost sq;
  sq.limit(2);
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  EXPECT_TRUE(sq.send_all().empty());
  lose_retransmissions(sq, 999, range(1010, 3));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
}

TEST(SelectivePipe, OldestHoleNeedsNoRoomAfterEarlierRetransmissions) {
  TenLost sq;
  EXPECT_EQ(sq.send_all().size(), 10u);
  sq.now += 20 * kMicrosecond;
  sq.receive(selective(ack(1012)));
  for (int i = 0; i < 10; i++) sq.post(send_of(10));
  sq.send_all();
  sq.limit(2);
  sq.receive_sack(1013, range(1015, 3));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1014}) << "the others are in flight";
}

TEST(SelectivePipe, ReadsAreNotInFlight) {
  SelectiveQueue sq({.slots = 32, .window_packets = 200});
  sq.post(write_of(10 * 1024));  // 1000 to 1009
  sq.post(read_of(60 * 1024));   // 1010 to 1069
  for (int i = 0; i < 20; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(999, range(1085, 5), 16);
  sq.req.window.packets = sq.req.window.ssthresh = 4;
  ASSERT_EQ(sq.req.sb.lost_psn, 1089u);
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001, 1002, 1003})) << "everything is lost";
}

TEST(SelectivePipe, PacketsBehindAReadAreInFlight) {
  SelectiveQueue sq({.slots = 32, .window_packets = 200});
  sq.post(write_of(10 * 1024));
  sq.post(read_of(60 * 1024));
  for (int i = 0; i < 20; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(999, range(1070, 5), 16);
  sq.req.window.packets = sq.req.window.ssthresh = 18;
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1000, 1001, 1002})) << "fifteen are in flight";
}

TEST(SelectivePipe, DoesNotLimitProbes) {
  SelectiveSends sq(20, {.slots = 32, .adaptive = true});
  sq.req.window.packets = sq.req.window.ssthresh = 2;
  sq.expire();
  ASSERT_TRUE(sq.req.probe.due);
  EXPECT_EQ(sq.send().first_psn, 1019u);
}

TEST(SelectivePipe, DoesNotLimitReads) {
  SelectiveRead sq(12);
  sq.respond_all({0, 1, 4, 5, 6, 7, 8, 9, 10, 11});
  sq.req.window.packets = 2;
  sq.req.data_inflight = 100;
  sq.req.sb.rtx[0].any = true;
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1002});
}

// ---------------------------------------------------------------- reneging

// The peer had queued 1001 to 1007, and drops them.
struct RenegingPeer : SelectiveSends {
  RenegingPeer() : SelectiveSends(8) {
    receive_sack(999, range(1001, 7));
    EXPECT_EQ(psns_of(send_all()), Psns{1000});
  }
};

TEST(Reneging, PacketThatThePeerExpectsIsNotQueuedThere) {
  RenegingPeer sq;
  sq.receive_sack(1000, {});
  EXPECT_EQ(psns_of(sq.send_all()), range(1001, 6)) << "the newest one takes a probe";
}

TEST(Reneging, OnlyWhatIsMissingIsSentAgain) {
  RenegingPeer sq;
  sq.receive(selective(ack(1000)));
  sq.req.sb.reordering = 0;
  sq.receive_sack(1000, {1002, 1003, 1007});
  EXPECT_EQ(psns_of(sq.send_all()), (Psns{1001, 1004, 1005, 1006}));
  EXPECT_EQ(sq.req.sb.reordering, 0u) << "nothing has been overtaken";
}

TEST(Reneging, IsNoProgress) {
  RenegingPeer sq;
  const sroce_rtt before = sq.req.rtt;
  sq.receive_sack(1000, {});
  EXPECT_EQ(sq.req.rtt.round_packets, before.round_packets + 1) << "1000";
}

TEST(Reneging, ReadIsRequestedAgain) {
  SelectiveQueue sq;
  sq.post(send_of(10));
  sq.post(read_of(10));
  for (int i = 0; i < 4; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(999, range(1001, 5));
  EXPECT_EQ(psns_of(sq.send_all()), Psns{1000});
  sq.receive_sack(1000, {});
  EXPECT_EQ(psns_of(sq.send_all()), range(1001, 4));
}

// The peer executes it next.
TEST(Reneging, AckDoesNotShowIt) {
  RenegingPeer sq;
  sq.receive(selective(ack(1000)));
  EXPECT_TRUE(sq.send_all().empty());
}

TEST(Reneging, QueuedPacketThatThePeerExpectsDoesNotShowIt) {
  RenegingPeer sq;
  sq.receive_sack(1000, {1001});
  EXPECT_TRUE(sq.send_all().empty());
}

// A READ that is open keeps what was executed behind it in the map.
TEST(Reneging, OldReportDoesNotShowIt) {
  SelectiveQueue sq;
  sq.post(read_of(10));
  for (int i = 0; i < 6; i++) sq.post(send_of(10));
  sq.send_all();
  sq.receive_sack(1002, {1004, 1005, 1006});
  sq.send_all();
  sq.receive_sack(1001, {1006});
  EXPECT_TRUE(sq.send_all().empty()) << "1002 has been executed since";
}

}  // namespace
