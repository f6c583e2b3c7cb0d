// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "wire/packet.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "harness/random.h"

namespace {

using wire::Bytes;

Bytes from_hex(const std::string& hex) {
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  std::string hex;
  for (const std::uint8_t byte : bytes) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", byte);
    hex += two;
  }
  return hex;
}

wire::Flow ipv4_flow(const char* source, const char* destination) {
  wire::Flow flow;
  inet_pton(AF_INET, source, &flow.source);
  inet_pton(AF_INET, destination, &flow.destination);
  return flow;
}

// Packets with an ICRC from other implementations: a CNP captured from a ConnectX-4 Lx, and a UC
// SEND captured on a RoCE network.
const std::string captured_cnp =
    "45c2003c718c4000401191610a0011010a001201000012b7002800008100ffff4000011800000000"
    "0000000000000000000000000000000082fd002a";

TEST(Icrc, MatchesAConnectX4Cnp) {
  const Bytes packet = from_hex(captured_cnp);
  const std::uint32_t crc = wire::icrc(packet);
  EXPECT_EQ(crc, 0x2a00fd82U);
}

TEST(Icrc, MatchesACapturedUcSend) {
  wire::Flow flow = ipv4_flow("192.168.0.7", "192.168.0.7");
  flow.tos = 1;
  flow.identification = 1144;
  flow.source_port = 49152;
  wire::Bth bth;
  bth.opcode = 0x24;
  bth.pad = 2;
  bth.dest_qpn = 211;
  bth.psn = 13571856;
  Bytes transport;
  append(transport, bth);
  const Bytes payload = from_hex("4630818be28935d90e9a95505401be885e500000");
  transport.insert(transport.end(), payload.begin(), payload.end());
  const Bytes packet = wire::datagram(flow, transport);
  EXPECT_EQ(to_hex(std::span(packet).last(4)), "78f353f3");
}

TEST(Packet, MatchesTheCapturedCnpByteForByte) {
  wire::Flow flow = ipv4_flow("10.0.17.1", "10.0.18.1");
  flow.tos = 0xc2;
  flow.identification = 0x718c;
  flow.source_port = 0;
  wire::Bth bth;
  bth.opcode = static_cast<std::uint8_t>(wire::Opcode::cnp);
  bth.is_migrated = false;
  bth.fecn_becn_reserved = 0x40;
  bth.dest_qpn = 0x118;
  Bytes transport;
  append(transport, bth);
  transport.resize(transport.size() + 16);
  EXPECT_EQ(to_hex(wire::datagram(flow, transport)), captured_cnp);
}

TEST(Icrc, CoversEverythingButVariantFields) {
  const Bytes packet = from_hex(captured_cnp);
  const std::uint32_t crc = wire::icrc(packet);
  for (std::size_t i = 0; i < packet.size() - wire::icrc_bytes; ++i) {
    Bytes changed = packet;
    changed[i] ^= 0x01;
    const bool is_variant = i == 1 || i == 8 || i == 10 || i == 11 || i == 26 || i == 27 || i == 32;
    EXPECT_EQ(wire::icrc(changed) == crc, is_variant) << "byte " << i;
  }
}

TEST(Icrc, IgnoresVariantIpv6Fields) {
  wire::Flow flow;
  flow.is_ipv6 = true;
  inet_pton(AF_INET6, "fd00::1", &flow.source);
  inet_pton(AF_INET6, "fd00::2", &flow.destination);
  Bytes transport;
  append(transport, wire::Bth{});
  const Bytes packet = wire::datagram(flow, transport);
  const std::uint32_t crc = wire::icrc(packet);
  for (std::size_t i = 1; i < packet.size() - wire::icrc_bytes; ++i) {
    Bytes changed = packet;
    changed[i] ^= 0x01;
    const bool is_variant = i <= 3 || i == 7 || i == 46 || i == 47 || i == 52;
    EXPECT_EQ(wire::icrc(changed) == crc, is_variant) << "byte " << i;
  }
}

TEST(Bth, EncodesEveryField) {
  wire::Bth bth;
  bth.opcode = 0x0a;
  bth.is_solicited = true;
  bth.pad = 3;
  bth.version = 5;
  bth.pkey = 0x8001;
  bth.fecn_becn_reserved = 0xc3;
  bth.dest_qpn = 0x123456;
  bth.wants_ack = true;
  bth.reserved7 = 0x55;
  bth.psn = 0xabcdef;
  Bytes bytes;
  append(bytes, bth);
  EXPECT_EQ(to_hex(bytes), "0af58001c3123456d5abcdef");
}

TEST(Icrc, MatchesScapy) {
  harness::Random random(1);
  std::string input;
  std::string wanted;
  for (int i = 0; i < 50; ++i) {
    wire::Flow flow = ipv4_flow("10.0.0.1", "10.0.0.2");
    flow.identification = static_cast<std::uint16_t>(random.next());
    flow.tos = random.byte();
    flow.source_port = static_cast<std::uint16_t>(random.between(0xc000, 0xffff));
    wire::Bth bth;
    bth.opcode = 0x0b;  // an opcode for which scapy adds no header
    bth.dest_qpn = random.next32() & 0xffffff;
    bth.psn = random.next32() & 0xffffff;
    Bytes transport;
    append(transport, bth);
    for (std::uint64_t n = 4 * random.below(300); n; --n) transport.push_back(random.byte());
    const Bytes packet = wire::datagram(flow, transport);
    input += to_hex(packet) + "\n";
    wanted += to_hex(std::span(packet).last(4)) + "\n";
  }
  const std::string base = testing::TempDir() + "icrc." + std::to_string(getpid());
  std::ofstream(base + ".in") << input;
  const std::string command = "/usr/bin/python3 " SCAPY_ICRC " <" + base + ".in >" + base + ".out";
  const int status = std::system(command.c_str());
  std::ifstream out(base + ".out");
  const std::string found((std::istreambuf_iterator<char>(out)), std::istreambuf_iterator<char>());
  std::remove((base + ".in").c_str());
  std::remove((base + ".out").c_str());
  if (WEXITSTATUS(status) == 77 || WEXITSTATUS(status) == 127)
    GTEST_SKIP() << "scapy is not installed";
  ASSERT_EQ(status, 0);
  EXPECT_EQ(found, wanted);
}

}  // namespace
