// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "port/engine.h"
#include "unit/transport/cc_probe.h"

namespace {

constexpr u64 kMicrosecond = 1000;
constexpr u64 kMillisecond = 1000000;
constexpr u64 kSecond = 1000000000;
constexpr u64 kGigabit = 1000 * SROCE_CC_MBPS;
constexpr u32 kMtu = 1024;
constexpr u32 kPacket = kMtu + SROCE_CC_HEADER_BYTES;

class CongestionParameters : public ::testing::Test {
 protected:
  CongestionParameters() { sroce_cc_params_init(&params_); }

  sroce_cc_params params_;
};

u32 param_count() {
  u32 count = 0;
  while (sroce_cc_param_at(count)) count++;
  return count;
}

TEST_F(CongestionParameters, EachHasANameAnOffsetAndADescription) {
  std::set<std::string> names;
  std::set<u32> offsets;
  for (u32 i = 0; const sroce_cc_param* param = sroce_cc_param_at(i); i++) {
    ASSERT_NE(param->name, nullptr) << i;
    EXPECT_TRUE(names.insert(param->name).second) << param->name;
    EXPECT_TRUE(offsets.insert(param->offset).second) << param->name;
    EXPECT_EQ(param->offset % sizeof(u32), 0u) << param->name;
    EXPECT_LT(param->offset, sizeof(params_)) << param->name;
    EXPECT_NE(param->unit, nullptr) << param->name;
    EXPECT_FALSE(std::string(param->doc).empty()) << param->name;
  }
}

TEST_F(CongestionParameters, DefaultsAreInRange) {
  for (u32 i = 0; const sroce_cc_param* param = sroce_cc_param_at(i); i++) {
    EXPECT_EQ(sroce_cc_param_get(&params_, i), param->initial) << param->name;
    EXPECT_GE(param->initial, param->min) << param->name;
    EXPECT_LE(param->initial, param->max) << param->name;
  }
  EXPECT_EQ(params_.algorithm, u32{SROCE_CC_dcqcn});
}

TEST_F(CongestionParameters, AcceptOnlyValuesInRange) {
  for (u32 i = 0; const sroce_cc_param* param = sroce_cc_param_at(i); i++) {
    EXPECT_TRUE(sroce_cc_param_set(&params_, i, param->max)) << param->name;
    EXPECT_EQ(sroce_cc_param_get(&params_, i), param->max) << param->name;
    EXPECT_TRUE(sroce_cc_param_set(&params_, i, param->min)) << param->name;
    EXPECT_FALSE(sroce_cc_param_set(&params_, i, param->max + 1)) << param->name;
    EXPECT_FALSE(sroce_cc_param_set(&params_, i, param->min - 1)) << param->name;
    EXPECT_EQ(sroce_cc_param_get(&params_, i), param->min) << param->name;
  }
}

TEST_F(CongestionParameters, IndexBeyondTheLastIsRejected) {
  EXPECT_GT(param_count(), 0u);
  for (u32 index : {param_count(), param_count() + 1, U32_MAX}) {
    EXPECT_EQ(sroce_cc_param_at(index), nullptr);
    EXPECT_FALSE(sroce_cc_param_set(&params_, index, 0));
    EXPECT_EQ(sroce_cc_param_get(&params_, index), 0u);
  }
}

TEST_F(CongestionParameters, EveryAlgorithmHasAUniqueName) {
  EXPECT_STREQ(sroce_cc_algorithm_name(SROCE_CC_none), "none");
  std::set<std::string> names;
  for (u32 i = 0; i < SROCE_CC_ALGORITHM_COUNT; i++)
    EXPECT_TRUE(names.insert(sroce_cc_algorithm_name(i)).second) << i;
  EXPECT_EQ(sroce_cc_algorithm_name(SROCE_CC_ALGORITHM_COUNT), nullptr);
}

// Netlink and scripts may use the numbers.
TEST_F(CongestionParameters, AlgorithmNumbersDoNotChange) {
  EXPECT_STREQ(sroce_cc_algorithm_name(0), "none");
  EXPECT_STREQ(sroce_cc_algorithm_name(1), "dcqcn");
  EXPECT_STREQ(sroce_cc_algorithm_name(2), "delay");
}

// The pacer alone: no algorithm, and a rate set by hand.
class Pacer : public ::testing::Test {
 protected:
  Pacer() { sroce_cc_params_init(&params_); }

  void start(u64 rate, u32 mtu = kMtu) {
    params_.algorithm = SROCE_CC_none;
    sroce_cc_start(&cc_, &params_, 0, mtu, now_);
    cc_.rate = rate;
    now_ += kSecond;
  }
  u32 sendable() const { return sroce_cc_sendable_bytes(&cc_, now_); }
  // Sends all that the pacer allows, in whole packets, and returns the bytes.
  u64 drain() {
    const u64 bytes = u64{sroce_cc_sendable_packets(&cc_, now_)} * (cc_.mtu_bytes + 60);
    if (bytes) sroce_cc_sent(&cc_, static_cast<u32>(bytes), now_);
    return bytes;
  }

  sroce_cc_params params_;
  sroce_cc cc_;
  u64 now_ = kSecond;
};

TEST_F(Pacer, UnlimitedRateNeverWaits) {
  start(SROCE_CC_UNLIMITED);
  for (int i = 0; i < 1000; i++) {
    sroce_cc_sent(&cc_, 1 << 30, now_);
    EXPECT_EQ(sendable(), U32_MAX);
    EXPECT_EQ(sroce_cc_sendable_packets(&cc_, now_), U32_MAX);
    EXPECT_LE(sroce_cc_next_send_ns(&cc_), now_);
  }
}

TEST_F(Pacer, RateOfZeroIsUnlimited) {
  start(0);
  sroce_cc_sent(&cc_, 1 << 30, now_);
  EXPECT_EQ(sendable(), U32_MAX);
}

TEST_F(Pacer, QuantumIsFiftyMicrosecondsOfTheRate) {
  start(10 * kGigabit);
  EXPECT_EQ(sendable(), 62500u);
}

TEST_F(Pacer, QuantumIsAtLeastTwoPackets) {
  start(SROCE_CC_MBPS);
  EXPECT_EQ(sendable(), 2 * kPacket);
  EXPECT_EQ(sroce_cc_sendable_packets(&cc_, now_), 2u);
}

TEST_F(Pacer, IdleTimeEarnsAtMostOneQuantum) {
  start(10 * kGigabit);
  now_ += 3600 * kSecond;
  EXPECT_EQ(sendable(), 62500u);
  sroce_cc_sent(&cc_, 62500, now_);
  EXPECT_EQ(sendable(), 0u);
}

TEST_F(Pacer, WakeUpComesAfterHalfAQuantum) {
  start(10 * kGigabit);
  sroce_cc_sent(&cc_, 62500, now_);
  const u64 next = sroce_cc_next_send_ns(&cc_);
  EXPECT_EQ(next, now_ + 25 * kMicrosecond);
  now_ = next - 1;
  EXPECT_EQ(sendable(), 0u);
  now_ = next;
  EXPECT_EQ(sendable(), 31250u);
}

TEST_F(Pacer, ExcessBytesDelayTheNextSend) {
  start(10 * kGigabit);
  sroce_cc_sent(&cc_, 62500 + 1250000, now_);
  EXPECT_EQ(sroce_cc_next_send_ns(&cc_), now_ + kMillisecond + 25 * kMicrosecond);
}

TEST_F(Pacer, KeepsTheRateOverTime) {
  for (u64 mbps : {1ull, 10ull, 100ull, 1000ull, 40000ull, 400000ull, 800000ull}) {
    const u64 rate = mbps * SROCE_CC_MBPS;
    start(rate);
    const u64 from = now_;
    const u64 quantum = sendable();
    u64 sent = drain();
    for (int i = 0; i < 2000; i++) {
      now_ = sroce_cc_next_send_ns(&cc_);
      const u64 bytes = drain();
      ASSERT_GT(bytes, 0u) << mbps;
      sent += bytes;
    }
    const double expected = static_cast<double>(rate) * static_cast<double>(now_ - from) / 1e9;
    EXPECT_LE(static_cast<double>(sent), expected + static_cast<double>(quantum) + 1) << mbps;
    EXPECT_GE(static_cast<double>(sent), expected * .999) << mbps;
  }
}

TEST_F(Pacer, PacketsAreSpacedEvenlyAtALowRate) {
  start(10 * SROCE_CC_MBPS);
  drain();
  const u64 spacing = u64{kPacket} * kSecond / (10 * SROCE_CC_MBPS);
  for (int i = 0; i < 10; i++) {
    const u64 before = now_;
    now_ = sroce_cc_next_send_ns(&cc_);
    EXPECT_NEAR(static_cast<double>(now_ - before), static_cast<double>(spacing), 2);
    EXPECT_EQ(drain(), kPacket);
  }
}

TEST_F(Pacer, SlightlyLateTimerCostsNoThroughput) {
  start(10 * kGigabit);
  const u64 from = now_;
  u64 sent = 0;
  for (int i = 0; i < 10000; i++) {
    now_ = std::max(now_, sroce_cc_next_send_ns(&cc_)) + (i % 3) * 10 * kMicrosecond;
    sent += drain();
  }
  EXPECT_GE(sent, (now_ - from) * 125 / 100 * 99 / 100);
}

TEST_F(Pacer, ToleratesAClockThatStepsBack) {
  start(10 * kGigabit);
  sroce_cc_sent(&cc_, 62500, now_);
  const u64 next = sroce_cc_next_send_ns(&cc_);
  now_ -= 10 * kMicrosecond;
  EXPECT_EQ(sendable(), 0u);
  sroce_cc_sent(&cc_, kPacket, now_);
  EXPECT_LE(sroce_cc_next_send_ns(&cc_), next + kMicrosecond);
}

TEST_F(Pacer, ToleratesAClockAtItsMaximum) {
  start(SROCE_CC_MBPS);
  now_ = U64_MAX - 1;
  EXPECT_GT(drain(), 0u);
  EXPECT_EQ(sroce_cc_next_send_ns(&cc_), U64_MAX);
}

TEST_F(Pacer, SendsAPacketAtAnyMtuAndRate) {
  for (u32 mtu : {0u, 256u, 4096u, 65536u, U32_MAX}) {
    for (u64 rate : std::initializer_list<u64>{1, 1000, SROCE_CC_MBPS, SROCE_CC_MAX_RATE}) {
      now_ = 0;
      start(rate, mtu);
      sroce_cc_sent(&cc_, U32_MAX, now_);
      now_ = sroce_cc_next_send_ns(&cc_);
      EXPECT_GE(u64{sendable()}, std::min<u64>(mtu + u64{60}, U32_MAX)) << mtu << " " << rate;
    }
  }
}

// Packets that are passed on before their earliest departure time.
class PacerEdt : public Pacer {
 protected:
  struct Burst {
    u64 edt_ns;
    u32 packets;
    bool operator==(const Burst&) const = default;
  };

  void send(u32 packets, u64 edt_ns) {
    if (edt_ns > now_) sroce_cc_set_edt(&cc_, edt_ns);
    sroce_cc_sent(&cc_, packets * (cc_.mtu_bytes + SROCE_CC_HEADER_BYTES), now_);
  }
  // Sends all that the schedule allows, then advances to the next wake-up.
  using Schedule = decltype(&sroce_cc_allowance);
  std::vector<Burst> wake(Schedule schedule = sroce_cc_schedule_edt) {
    std::vector<Burst> bursts;
    u64 edt_ns;
    while (const u32 packets = schedule(&cc_, now_, &edt_ns)) {
      EXPECT_GE(edt_ns, now_);
      bursts.push_back({edt_ns, packets});
      send(packets, edt_ns);
    }
    EXPECT_GT(edt_ns, now_);
    now_ = edt_ns;
    return bursts;
  }
};

TEST_F(PacerEdt, PathWithoutEdtIsPacedByTheTimer) {
  for (u64 mbps : {1ull, 37ull, 1000ull, 10000ull, 400000ull}) {
    start(mbps * SROCE_CC_MBPS);
    u64 edt_ns;
    for (int i = 0; i < 1000; i++, now_ += 7777) {
      const u32 packets = sroce_cc_sendable_packets(&cc_, now_);
      ASSERT_EQ(sroce_cc_allowance(&cc_, now_, &edt_ns), packets);
      ASSERT_EQ(edt_ns, packets ? now_ : sroce_cc_next_send_ns(&cc_));
      drain();
    }
  }
}

TEST_F(PacerEdt, UnlimitedRateDepartsAtOnce) {
  start(SROCE_CC_UNLIMITED);
  u64 edt_ns;
  sroce_cc_sent(&cc_, 1 << 30, now_);
  EXPECT_EQ(sroce_cc_schedule_edt(&cc_, now_, &edt_ns), U32_MAX);
  EXPECT_EQ(edt_ns, now_);
}

TEST_F(PacerEdt, EndOfTheLimitWaitsForTheLastDeparture) {
  start(10 * kGigabit);
  u64 edt_ns, last;
  wake();
  now_ -= 50 * kMicrosecond;
  last = cc_.edt_ns;
  ASSERT_GT(last, now_);
  cc_.rate = SROCE_CC_UNLIMITED;
  EXPECT_EQ(sroce_cc_schedule_edt(&cc_, now_, &edt_ns), 0u);
  EXPECT_EQ(edt_ns, last);
  EXPECT_EQ(sroce_cc_schedule_edt(&cc_, last, &edt_ns), U32_MAX);
}

TEST_F(PacerEdt, ShortMessagesDepartTogether) {
  start(10 * kGigabit);
  std::map<u64, u32> messages;
  u64 edt_ns;
  wake();
  for (int i = 0; i < 1000; i++) {
    while (!sroce_cc_schedule_edt(&cc_, now_, &edt_ns)) now_ = edt_ns;
    if (edt_ns > now_) sroce_cc_set_edt(&cc_, edt_ns);
    sroce_cc_sent(&cc_, 124, now_);
    messages[edt_ns]++;
  }
  EXPECT_LT(messages.size(), 1000u / 20);
}

TEST_F(PacerEdt, BurstsDepartWhenAPunctualTimerWouldFire) {
  for (u64 mbps : {1ull, 100ull, 1000ull, 10000ull, 100000ull}) {
    std::vector<Burst> with, without;
    for (Schedule schedule : {sroce_cc_schedule_edt, sroce_cc_allowance}) {
      now_ = kSecond;
      start(mbps * SROCE_CC_MBPS);
      auto& bursts = schedule == sroce_cc_schedule_edt ? with : without;
      while (bursts.size() < 500)
        for (const Burst& burst : wake(schedule)) bursts.push_back(burst);
      bursts.resize(500);
    }
    EXPECT_EQ(with, without) << mbps;
  }
}

TEST_F(PacerEdt, WakeUpSendsSeveralBursts) {
  start(10 * kGigabit);
  wake();
  for (int i = 0; i < 100; i++) EXPECT_EQ(wake().size(), 5u);
}

TEST_F(PacerEdt, BytesSentAheadAreLimited) {
  for (u64 mbps : {1ull, 10ull, 100ull, 1000ull, 10000ull, 100000ull, 800000ull}) {
    for (u32 mtu : {256u, 1024u, 4096u}) {
      start(mbps * SROCE_CC_MBPS, mtu);
      const u64 threshold = std::max<u64>(mtu + 60, cc_.rate / 40000) + 1;
      for (int i = 0; i < 50; i++) {
        const u64 from = now_;
        u64 bytes = 0;
        for (const Burst& burst : wake()) {
          EXPECT_LE(burst.edt_ns, from + 200 * kMicrosecond) << mbps;
          if (burst.edt_ns > from) bytes += u64{burst.packets} * (mtu + 60);
        }
        EXPECT_LE(bytes, std::max<u64>(256 * 1024, threshold)) << mbps;
      }
    }
  }
}

TEST_F(PacerEdt, KeepsTheRateOverTime) {
  start(10 * kGigabit);
  const u64 from = now_;
  u64 packets = 0;
  for (int i = 0; i < 2000; i++) {
    for (const Burst& burst : wake()) packets += burst.packets;
    now_ += (i % 3) * 10 * kMicrosecond;
  }
  const double expected = static_cast<double>(now_ - from) * 1.25 / kPacket;
  EXPECT_NEAR(static_cast<double>(packets), expected, expected * .01);
}

TEST_F(PacerEdt, LowerRateAppliesAfterTheLastDeparture) {
  start(10 * kGigabit);
  wake();
  now_ -= 100 * kMicrosecond;
  const u64 last = cc_.edt_ns;
  EXPECT_LE(last, now_ + 100 * kMicrosecond);
  cc_.rate /= 10;
  u64 edt_ns;
  ASSERT_GT(sroce_cc_schedule_edt(&cc_, last, &edt_ns), 0u);
  // Half a quantum at the new rate takes as long as before.
  EXPECT_NEAR(static_cast<double>(edt_ns - last), 25. * kMicrosecond, kMicrosecond);
}

TEST_F(PacerEdt, DeparturesStayInOrderWhenTheRateChanges) {
  std::mt19937_64 random(7);
  start(kGigabit);
  u64 last = 0, edt_ns;
  for (int i = 0; i < 20000; i++) {
    now_ += random() % (50 * kMicrosecond);
    const u64 rates[] = {SROCE_CC_UNLIMITED, kGigabit / 10, kGigabit, 40 * kGigabit};
    if (random() % 8 == 0) cc_.rate = rates[random() % std::size(rates)];
    const u32 packets = sroce_cc_schedule_edt(&cc_, now_, &edt_ns);
    if (!packets) {
      ASSERT_GT(edt_ns, now_);
      continue;
    }
    ASSERT_GE(edt_ns, last);
    ASSERT_LE(edt_ns, now_ + 200 * kMicrosecond);
    last = edt_ns;
    send(std::min(packets, 40u), edt_ns);
  }
}

TEST(CongestionControl, LimitsNothingBeforeItStarts) {
  sroce_cc cc{};
  const sroce_cc_ack ack{};
  sroce_cc_acked(&cc, &ack);
  sroce_cc_cnp(&cc, 0, 1);
  sroce_cc_lost(&cc, SROCE_CC_TIMEOUT, 2);
  sroce_cc_sent(&cc, 1000, 3);
  EXPECT_EQ(sroce_cc_sendable_bytes(&cc, 4), U32_MAX);
  EXPECT_EQ(sroce_cc_window_packets(&cc), SROCE_CC_NO_WINDOW);
  struct sroce_cc_info info;
  sroce_cc_get_info(&cc, 5, &info);
  EXPECT_STREQ(info.state, "off");
  EXPECT_EQ(info.rate, SROCE_CC_UNLIMITED);
}

TEST(CongestionControl, NoneIgnoresAllEvents) {
  sroce_cc_params params;
  sroce_cc_params_init(&params);
  // An unknown algorithm counts as none.
  for (u32 algorithm : {u32{SROCE_CC_none}, u32{SROCE_CC_ALGORITHM_COUNT}, U32_MAX}) {
    params.algorithm = algorithm;
    sroce_cc cc;
    sroce_cc_start(&cc, &params, kGigabit, kMtu, 0);
    const sroce_cc_ack ack = {kMillisecond, 1, 10, kSecond, 1, kSecond};
    sroce_cc_acked(&cc, &ack);
    for (u64 i = 0; i < 10; i++) EXPECT_FALSE(sroce_cc_cnp(&cc, 0, i * kMillisecond));
    sroce_cc_lost(&cc, SROCE_CC_TIMEOUT, kSecond);
    EXPECT_EQ(cc.rate, SROCE_CC_UNLIMITED);
    EXPECT_EQ(sroce_cc_window_packets(&cc), SROCE_CC_NO_WINDOW);
    EXPECT_EQ(cc.cnp_handled, 0u);
    EXPECT_STREQ(sroce_cc_state_name(&cc), "off");
  }
}

// Datagrams have no round trip to measure.
TEST(CongestionControl, DatagramsUseAnAlgorithmThatNeedsNoAcks) {
  sroce_cc_params params;
  sroce_cc_params_init(&params);
  const std::pair<u32, const char*> chosen[] = {
      {SROCE_CC_none, "none"}, {SROCE_CC_dcqcn, "dcqcn"}, {SROCE_CC_delay, "dcqcn"}};
  for (const auto& [i, name] : chosen) {
    params.algorithm = i;
    sroce_cc cc;
    sroce_cc_start_unacked(&cc, &params, kGigabit, kMtu, 0);
    struct sroce_cc_info info;
    sroce_cc_get_info(&cc, 0, &info);
    EXPECT_STREQ(info.algorithm, name);
    EXPECT_EQ(cc.rate, SROCE_CC_UNLIMITED);
    EXPECT_EQ(sroce_cc_window_packets(&cc), SROCE_CC_NO_WINDOW);
    EXPECT_EQ(sroce_cc_cnp(&cc, 0, kSecond), i != SROCE_CC_none);
  }
}

class NotificationPoint : public ::testing::Test {
 protected:
  NotificationPoint() { sroce_cc_params_init(&params_); }
  bool marked(u64 now) { return sroce_np_marked(&np_, &params_, 1, now); }

  sroce_cc_params params_;
  sroce_np np_{};
};

TEST_F(NotificationPoint, FirstMarkSendsACnp) { EXPECT_TRUE(marked(0)); }

TEST_F(NotificationPoint, OneCnpIsSentPerInterval) {
  EXPECT_TRUE(marked(kSecond));
  for (u64 now = kSecond; now < kSecond + 50 * kMicrosecond; now += kMicrosecond)
    EXPECT_FALSE(marked(now));
  EXPECT_TRUE(marked(kSecond + 50 * kMicrosecond));
  EXPECT_EQ(np_.ecn_marked, 52u);
}

TEST_F(NotificationPoint, PacketsOfABatchCountAndCauseOneCnp) {
  EXPECT_TRUE(sroce_np_marked(&np_, &params_, 64, 0));
  EXPECT_EQ(np_.ecn_marked, 64u);
}

TEST_F(NotificationPoint, ZeroIntervalSendsACnpForEveryMark) {
  set_cc_param(params_, "np_min_time_between_cnps", 0);
  for (int i = 0; i < 5; i++) EXPECT_TRUE(marked(kSecond));
}

TEST_F(NotificationPoint, ToleratesAClockThatJumps) {
  EXPECT_TRUE(marked(kSecond));
  EXPECT_FALSE(marked(kSecond - 5));
  EXPECT_TRUE(marked(U64_MAX));
}

class DatagramNotificationPoint : public NotificationPoint {
 protected:
  bool marked_from(u32 host, u32 qpn, u64 now = kSecond) {
    const u32 address[4] = {0, 0, 0xffff, host};
    return sroce_np_marked_datagram(&np_, &sources_, &params_, 1, address, qpn, now);
  }

  sroce_np_sources sources_{};
};

TEST_F(DatagramNotificationPoint, EachSourceGetsOneCnpPerInterval) {
  EXPECT_TRUE(marked_from(1, 17));
  EXPECT_FALSE(marked_from(1, 17));
  // Another QP of that host, and another host, in other slots.
  EXPECT_TRUE(marked_from(1, 18));
  EXPECT_TRUE(marked_from(2, 17));
  EXPECT_FALSE(marked_from(1, 17, kSecond + 49 * kMicrosecond));
  EXPECT_TRUE(marked_from(1, 17, kSecond + 50 * kMicrosecond));
  EXPECT_EQ(np_.ecn_marked, 6u);
}

TEST_F(DatagramNotificationPoint, CnpsPerIntervalAreBounded) {
  u32 notified = 0;
  for (u32 i = 0; i < 10000; i++) notified += marked_from(i / 100, i % 100);
  EXPECT_EQ(notified, SROCE_NP_SOURCES);
}

TEST_F(DatagramNotificationPoint, SeedChangesTheSlotsOfSources) {
  std::set<std::string> patterns;
  for (sources_.seed = 0; sources_.seed < 10; sources_.seed++) {
    std::fill(std::begin(sources_.last_cnp_ns), std::end(sources_.last_cnp_ns), 0);
    std::string notified;
    for (u32 i = 0; i < 40; i++) notified += marked_from(i, 17) ? 'x' : '.';
    patterns.insert(notified);
    // Few of them share a slot.
    EXPECT_GE(std::count(notified.begin(), notified.end(), 'x'), 20);
  }
  EXPECT_GE(patterns.size(), 9u);
}

TEST_F(DatagramNotificationPoint, ZeroIntervalSendsACnpForEveryMark) {
  set_cc_param(params_, "np_min_time_between_cnps", 0);
  for (int i = 0; i < 5; i++) EXPECT_TRUE(marked_from(1, 17));
}

// With any parameters, clock and events there are a rate, a window and a next send time.
class CongestionFuzz : public ::testing::Test {
 protected:
  CongestionFuzz() { sroce_cc_params_init(&params_); }

  u64 any() { return random_() >> (random_() % 64); }
  void event() {
    switch (random_() % 8) {
      case 0:
        now_ += random_() % 64 ? any() >> 20 : any() >> 4;
        break;
      case 1:
        sroce_cc_cnp(&cc_, 0, now_);
        break;
      case 2:
        sroce_cc_lost(&cc_, random_() & 1 ? SROCE_CC_TIMEOUT : SROCE_CC_RETRANSMIT, now_);
        break;
      case 3:
        now_ = std::max(now_, sroce_cc_next_send_ns(&cc_));
        break;
      case 4:
        sroce_cc_sent(&cc_, static_cast<u32>(any()), now_);
        break;
      default:
        const sroce_cc_ack ack = {
            now_, static_cast<u32>(any()), static_cast<u32>(any()), any(), any(), any()};
        sroce_cc_acked(&cc_, &ack);
    }
  }
  void check() {
    ASSERT_GT(cc_.rate, 0u);
    ASSERT_TRUE(cc_.rate <= SROCE_CC_MAX_RATE || cc_.rate == SROCE_CC_UNLIMITED) << cc_.rate;
    ASSERT_GE(sroce_cc_window_packets(&cc_), 1u);
    const u64 next = sroce_cc_next_send_ns(&cc_);
    // U64_MAX ns are 584 years.
    ASSERT_TRUE(next == U64_MAX || sroce_cc_sendable_bytes(&cc_, std::max(now_, next)));
    ASSERT_NE(sroce_cc_state_name(&cc_), nullptr);
    struct sroce_cc_info info;
    sroce_cc_get_info(&cc_, now_, &info);
    ASSERT_LE(info.detail_count, u32{SROCE_CC_DETAILS});
    for (u32 i = 0; i < info.detail_count; i++) {
      const sroce_cc_detail& detail = info.details[i];
      ASSERT_STRNE(detail.key, "");
      if (detail.format == SROCE_CC_AS_FRACTION) {
        ASSERT_LE(detail.value, u64{SROCE_CC_ONE});
      }
      // A rate to return to.
      if (detail.format == SROCE_CC_AS_RATE) {
        ASSERT_LE(info.rate, detail.value);
      }
    }
  }
  void run(u64 line_rate) {
    for (u32 algorithm = 0; algorithm < SROCE_CC_ALGORITHM_COUNT; algorithm++) {
      params_.algorithm = algorithm;
      now_ = kSecond;
      sroce_cc_start(&cc_, &params_, line_rate, kMtu, now_);
      for (int i = 0; i < 300 && !HasFatalFailure(); i++) {
        event();
        check();
      }
    }
  }

  std::mt19937_64 random_{1};
  sroce_cc_params params_;
  sroce_cc cc_;
  u64 now_ = 0;
};

TEST_F(CongestionFuzz, EachParameterAtItsLimitsIsSafe) {
  for (u32 i = 0; const sroce_cc_param* param = sroce_cc_param_at(i); i++) {
    for (u32 value : {param->min, param->max}) {
      SCOPED_TRACE(param->name);
      sroce_cc_params_init(&params_);
      ASSERT_TRUE(sroce_cc_param_set(&params_, i, value));
      for (u64 line_rate : std::initializer_list<u64>{0, 1, 10 * kGigabit, U64_MAX}) run(line_rate);
    }
  }
}

TEST_F(CongestionFuzz, AnyMixOfParametersAtAnyTimeIsSafe) {
  for (int round = 0; round < 300 && !HasFatalFailure(); round++) {
    for (u32 i = 0; const sroce_cc_param* param = sroce_cc_param_at(i); i++) {
      const u32 choice[] = {param->min, param->max, param->initial};
      sroce_cc_param_set(&params_, i, choice[random_() % 3]);
    }
    if (round % 10 == 0) {
      params_.algorithm = static_cast<u32>(random_() % SROCE_CC_ALGORITHM_COUNT);
      now_ = kSecond;
      sroce_cc_start(&cc_, &params_, any(), kMtu, now_);
    }
    for (int i = 0; i < 100 && !HasFatalFailure(); i++) {
      event();
      check();
    }
  }
}

}  // namespace
