// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// UC over a network that loses, duplicates and reorders packets: a message arrives whole or not at
// all.
#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "receive_queue.h"
#include "send_queue.h"
#include "sim/rng.h"

namespace {

using namespace sroce_test;

constexpr u32 kMessages = 40;
constexpr u32 kMtu = 1024;

struct Delivered {
  sroce_packet pkt;
  u32 message;
  u32 number;  // in the message
};

// The messages of a run. Each is as long as its number says, so that a completion names it.
u32 length_of(u32 message) { return message * 97 % 7 * 800 + message + 1; }
u32 packets_of(u32 message) { return (length_of(message) + kMtu - 1) / kMtu; }
bool is_write(u32 message) { return message % 3 == 1; }

std::vector<Delivered> sent_messages(u32 psn) {
  SendQueue sq({.service = SROCE_SERVICE_UC, .psn = psn});
  std::vector<Delivered> all;
  for (u32 message = 0; message < kMessages; message++) {
    const Work work = send_of(length_of(message));
    sq.post(is_write(message) ? work.as(SROCE_WR_WRITE_IMM) : work);
    u32 number = 0;
    for (const sroce_packet& pkt : sq.send_all()) all.push_back({pkt, message, number++});
    EXPECT_EQ(number, packets_of(message));
    EXPECT_EQ(sq.completions().size(), 1u);
  }
  return all;
}

std::vector<Delivered> through_network(sim::Rng& rng, std::vector<Delivered> packets) {
  const double loss = rng.pick({0.0, 0.02, 0.2}), copies = rng.pick({0.0, 0.1}),
               late = rng.pick({0.0, 0.05});
  std::vector<Delivered> all;
  std::vector<std::pair<size_t, Delivered>> delayed;
  for (size_t i = 0; i < packets.size(); i++) {
    std::erase_if(delayed, [&](const auto& one) {
      if (one.first > i) return false;
      all.push_back(one.second);
      return true;
    });
    if (rng.chance(loss)) continue;
    if (rng.chance(copies)) delayed.push_back({i + rng.between(1, 8), packets[i]});
    if (rng.chance(late))
      delayed.push_back({i + rng.between(1, 8), packets[i]});
    else
      all.push_back(packets[i]);
  }
  return all;
}

// The rule in terms of messages: which of them are complete, in the order of their last packets.
std::vector<u32> complete_messages(const std::vector<Delivered>& packets) {
  std::vector<u32> complete;
  std::optional<Delivered> last;  // of the message in progress
  s64 newest = -1;                // position of the newest packet, as the sender counts
  std::vector<s64> start(kMessages + 1, 0);
  for (u32 i = 0; i < kMessages; i++) start[i + 1] = start[i] + packets_of(i);
  for (const Delivered& one : packets) {
    const s64 position = start[one.message] + one.number;
    if (one.number == 0) {
      last = one;
    } else if (position <= newest) {
      continue;
    } else if (last && position == newest + 1) {
      last = one;
    } else {
      last.reset();
    }
    newest = position;
    if (!last || one.number + 1 != packets_of(one.message)) continue;
    complete.push_back(one.message);
    last.reset();
  }
  return complete;
}

// Places the packets and returns the messages that complete. Every byte must be in its place.
std::vector<u32> received_messages(const std::vector<Delivered>& packets, u32 psn) {
  ReceiveQueue rq({.service = SROCE_SERVICE_UC, .psn = psn});
  for (size_t i = 0; i < packets.size(); i++) rq.post(16 * kMtu);
  std::vector<u32> received;
  for (const Delivered& one : packets) {
    const sroce_recv_plan plan = rq.receive(one.pkt);
    if (plan.verdict == SROCE_RECV_PLACE) {
      EXPECT_EQ(plan.target, is_write(one.message) ? SROCE_TARGET_REGION : SROCE_TARGET_RECV);
      EXPECT_EQ(is_write(one.message) ? plan.va - 0x10000 : plan.offset, one.number * kMtu);
      EXPECT_EQ(plan.place_bytes, one.pkt.payload_bytes);
    }
    for (const sroce_completion& wc : rq.completions) {
      EXPECT_EQ(wc.status, SROCE_WC_SUCCESS);
      EXPECT_EQ(wc.byte_len, length_of(one.message));
      received.push_back(one.message);
    }
    rq.completions.clear();
    EXPECT_TRUE(rq.respond().empty());
  }
  EXPECT_EQ(rq.resp.state, SROCE_RQ_READY);
  return received;
}

TEST(UcNetwork, MessageArrivesWholeOrNotAtAll) {
  u32 dropped = 0;
  for (u64 seed = 1; seed <= 500 && !testing::Test::HasFailure(); seed++) {
    SCOPED_TRACE(seed);
    sim::Rng rng(seed);
    const u32 psn = static_cast<u32>(rng.pick({0u, 0xffffe0u, 0x7fffe0u}) + rng.below(32));
    const auto delivered = through_network(rng, sent_messages(psn));
    const auto received = received_messages(delivered, psn);
    EXPECT_EQ(received, complete_messages(delivered));
    dropped += received.size() < kMessages;
  }
  EXPECT_GT(dropped, 100u) << "the network must lose something";
}

}  // namespace
