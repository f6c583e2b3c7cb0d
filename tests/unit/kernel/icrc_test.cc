// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The invariant CRC, compared with its definition and with captured packets: kernel/net/icrc.c.
#include <gtest/gtest.h>

#include "unit/kernel/packets.h"

namespace {

Bytes from_hex(const std::string& hex) {
  Bytes bytes;
  for (size_t i = 0; i < hex.size(); i += 2) bytes.push_back(std::stoul(hex.substr(i, 2), 0, 16));
  return bytes;
}

u32 linear(const Bytes& headers, u16 ip_id, const Bytes& packet) {
  sroce_icrc icrc;
  sroce_icrc_init(&icrc, headers.data(),
                  reinterpret_cast<const udphdr*>(&headers[headers.size() - UDP_BYTES]));
  return le32_to_cpu(sroce_icrc_linear(&icrc, ip_id, packet.data(), packet.size()));
}

// Captured from a ConnectX-4 Lx.
TEST(Icrc, IsThatOfAConnectX4) {
  const Bytes all = from_hex(
      "45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000011800000000"
      "0000000000000000000000000000000082fd002a");
  const Bytes headers(all.begin(), all.begin() + 28), packet(all.begin() + 28, all.end());
  EXPECT_EQ(0x2a00fd82u, icrc_by_definition(headers, packet));
  EXPECT_EQ(0x2a00fd82u, linear(headers, 0x718c, packet));
}

TEST(Icrc, IsAsDefinedForEachLengthAndFamily) {
  for (bool is_ipv4 : {true, false}) {
    Flow flow;
    flow.is_ipv4 = is_ipv4;
    for (u32 bytes = 0; bytes < 80; bytes += 4) {
      const Bytes packet =
          packet_bytes(flow, packet_of(SROCE_OP_SEND_ONLY, bytes), Bytes(bytes, 0x5a), 77);
      const Bytes headers = flow.headers(packet.size(), 77);
      EXPECT_EQ(icrc_by_definition(headers, packet), linear(headers, 77, packet)) << bytes;
    }
  }
}

// Lengths and identification in the headers of an skb are those of its first packet.
TEST(Icrc, OneStateServesPacketsOfAllSizes) {
  Flow flow;
  const Bytes headers = flow.headers(5, 3);
  sroce_icrc icrc;
  sroce_icrc_init(&icrc, headers.data(), reinterpret_cast<const udphdr*>(&headers[20]));
  for (u32 bytes : {32, 32, 16, 64, 32}) {
    const u16 ip_id = 1000 + bytes;
    const Bytes packet = packet_bytes(flow, packet_of(SROCE_OP_SEND_ONLY, 5), Bytes(bytes), ip_id);
    EXPECT_EQ(icrc_by_definition(flow.headers(packet.size(), ip_id), packet),
              le32_to_cpu(sroce_icrc_linear(&icrc, ip_id, packet.data(), packet.size())));
  }
}

TEST(Icrc, BytesBehindThePacketDoNotCount) {
  Flow flow;
  const Bytes packet = packet_bytes(flow, packet_of(SROCE_OP_SEND_ONLY, 5), Bytes(64, 1), 100);
  Bytes all(UDP_BYTES);
  all.insert(all.end(), packet.begin(), packet.end());
  all.insert(all.end(), 40, 0xee);
  const Bytes headers = flow.headers(packet.size(), 100);
  for (u32 linear_bytes : {0u, 12u, 25u, 4096u}) {
    sk_buff* skb = make_skb(flow, all, {linear_bytes, 30});
    sroce_icrc icrc;
    sroce_icrc_init(&icrc, headers.data(), reinterpret_cast<const udphdr*>(&headers[20]));
    EXPECT_EQ(icrc_by_definition(headers, packet),
              le32_to_cpu(sroce_icrc_nonlinear(&icrc, 100, skb, UDP_BYTES, packet.size())));
    kfree_skb(skb);
  }
}

}  // namespace
