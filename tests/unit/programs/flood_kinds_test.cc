// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "raw_flood/kinds.h"

namespace {

using raw_flood::Aim;
using wire::Bytes;

constexpr std::uint32_t live_qpn = 0x1234;
constexpr std::uint32_t live_psn = 0x5678;

Aim make_aim(bool is_ipv6) {
  Aim aim;
  aim.flow.is_ipv6 = aim.stranger.is_ipv6 = is_ipv6;
  aim.stranger.source.s6_addr[0] = 9;
  aim.has_qp = true;
  aim.qpn = live_qpn;
  aim.psn = live_psn;
  return aim;
}

struct Parsed {
  Bytes bth;  // to the end, with the ICRC
  bool has_right_icrc = false;
};

Parsed parse(const Bytes& packet, bool is_ipv6) {
  const std::size_t head = (is_ipv6 ? 40 : 20) + 8;
  Parsed parsed;
  parsed.bth.assign(packet.begin() + static_cast<std::ptrdiff_t>(head), packet.end());
  if (parsed.bth.size() < wire::bth_bytes + wire::icrc_bytes) return parsed;
  const std::uint32_t crc = wire::icrc(packet);
  parsed.has_right_icrc = true;
  for (std::size_t i = 0; i < wire::icrc_bytes; ++i)
    parsed.has_right_icrc &=
        packet[packet.size() - wire::icrc_bytes + i] == static_cast<std::uint8_t>(crc >> (8 * i));
  return parsed;
}

const raw_flood::Kind& kind(const std::string& name) {
  for (const raw_flood::Kind& candidate : raw_flood::kinds())
    if (name == candidate.name) return candidate;
  throw std::runtime_error("no kind " + name);
}

TEST(FloodKinds, HaveUniqueNames) {
  std::set<std::string> names;
  for (const raw_flood::Kind& each : raw_flood::kinds())
    EXPECT_TRUE(names.insert(each.name).second) << each.name;
}

TEST(FloodKinds, AreReproducibleFromTheSeed) {
  for (const raw_flood::Kind& each : raw_flood::kinds()) {
    harness::Random one(5);
    harness::Random two(5);
    EXPECT_EQ(each.make(one, make_aim(false)), each.make(two, make_aim(false))) << each.name;
  }
}

TEST(FloodKinds, MakePacketsThatAnIpStackDelivers) {
  for (const bool is_ipv6 : {false, true}) {
    for (const raw_flood::Kind& each : raw_flood::kinds()) {
      harness::Random random(1);
      for (int i = 0; i < 200; ++i) {
        const Bytes packet = each.make(random, make_aim(is_ipv6));
        ASSERT_GE(packet.size(), is_ipv6 ? 48U : 28U) << each.name;
        ASSERT_LE(packet.size(), 1500U) << each.name;
        ASSERT_EQ(packet[0] >> 4, is_ipv6 ? 6 : 4) << each.name;
      }
    }
  }
}

// A valid request to a live QP is harmless only if it is old or comes from the wrong address.
TEST(FloodKinds, HarmlessOnesNeverMatchTheExpectedPsn) {
  for (const raw_flood::Kind& each : raw_flood::kinds()) {
    if (!each.is_harmless || std::string(each.name) == "from_a_stranger") continue;
    harness::Random random(2);
    for (int i = 0; i < 2000; ++i) {
      const Parsed parsed = parse(each.make(random, make_aim(false)), false);
      if (!parsed.has_right_icrc) continue;
      const std::uint32_t qpn = parsed.bth[5] << 16 | parsed.bth[6] << 8 | parsed.bth[7];
      const std::uint32_t psn = parsed.bth[9] << 16 | parsed.bth[10] << 8 | parsed.bth[11];
      const bool is_old = ((psn - live_psn) & 0xffffff) > 0x800000;
      const bool is_request =
          parsed.bth[0] < 0x0d || (parsed.bth[0] > 0x12 && parsed.bth[0] < 0x20);
      if (qpn == live_qpn && is_request) {
        ASSERT_TRUE(is_old) << each.name;
      }
    }
  }
}

TEST(FloodKinds, OnlyWrongIcrcHasAWrongIcrc) {
  harness::Random random(3);
  for (int i = 0; i < 500; ++i) {
    EXPECT_FALSE(parse(kind("wrong_icrc").make(random, make_aim(false)), false).has_right_icrc);
    EXPECT_TRUE(parse(kind("wrong_version").make(random, make_aim(true)), true).has_right_icrc);
    EXPECT_TRUE(parse(kind("cnp").make(random, make_aim(false)), false).has_right_icrc);
  }
}

TEST(FloodKinds, CutAnywhereCoversEveryLength) {
  harness::Random random(4);
  std::set<std::size_t> lengths;
  for (int i = 0; i < 20000; ++i)
    lengths.insert(kind("cut_anywhere").make(random, make_aim(false)).size() - 28);
  for (std::size_t length = 0; length < 64; ++length)
    EXPECT_TRUE(lengths.contains(length)) << length;
}

}  // namespace
