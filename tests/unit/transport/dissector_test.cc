// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// tshark with tools/wireshark/sroce.lua reads what the engine writes.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "receive_queue.h"

namespace {

using namespace sroce_test;

using Bytes = std::vector<u8>;
using Row = std::map<std::string, std::string>;

void append_be(Bytes& to, u64 value, u32 bytes) {
  while (bytes--) to.push_back(static_cast<u8>(value >> 8 * bytes));
}

constexpr u32 kIcrc = 0x12345678;

// BTH to ICRC, whose least significant octet is first. @payload: with the pad.
Bytes written(const sroce_packet& pkt, Bytes payload) {
  Bytes bytes(SROCE_MAX_HEADER_BYTES);
  bytes.resize(sroce_packet_write(&pkt, bytes.data()));
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  for (u32 i = 0; i < SROCE_ICRC_BYTES; i++) bytes.push_back(static_cast<u8>(kIcrc >> 8 * i));
  return bytes;
}

Bytes ipv4_packet(const Bytes& transport) {
  Bytes packet = {0x45, 0};
  append_be(packet, 28 + transport.size(), 2);
  append_be(packet, 0x4000, 4);              // identification, DF
  append_be(packet, 0x40110000, 4);          // TTL, UDP, no checksum
  append_be(packet, 0x0a0000010a000002, 8);  // 10.0.0.1 to 10.0.0.2
  append_be(packet, 50000u << 16 | SROCE_UDP_PORT, 4);
  append_be(packet, 8 + transport.size(), 2);
  append_be(packet, 0, 2);  // no checksum
  packet.insert(packet.end(), transport.begin(), transport.end());
  return packet;
}

void write_pcap(const std::string& path, const std::vector<Bytes>& transports) {
  constexpr u32 kMagic = 0xa1b2c3d4, kVersion = 2u << 16 | 4, kRawIp = 101;
  Bytes file;
  for (u32 word : {kMagic, kVersion, 0u, 0u, 65535u, kRawIp}) append_be(file, word, 4);
  for (const Bytes& transport : transports) {
    const Bytes packet = ipv4_packet(transport);
    append_be(file, 0, 8);  // time
    append_be(file, packet.size(), 4);
    append_be(file, packet.size(), 4);
    file.insert(file.end(), packet.begin(), packet.end());
  }
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}

const std::vector<std::string> kFields = {
    "infiniband.bth.opcode", "infiniband.bth.psn", "sroce.offer",   "sroce.accept",
    "sroce.sack.psn",        "sroce.sack.msn",     "sroce.icrc",    "sroce.cnp.reserved",
    "sroce.xrceth.srqn",     "_ws.malformed",      "_ws.lua.error", "_ws.expert.message"};

// The fields of each packet. Empty if there is no tshark, or if it fails.
std::vector<Row> dissected(const std::vector<Bytes>& transports) {
  const std::string base = testing::TempDir() + "dissector." + std::to_string(getpid());
  write_pcap(base + ".pcap", transports);
  // Without these options, Wireshark guesses a protocol from the payload.
  std::string command = SROCE_TSHARK " " + base +
                        ".pcap -n --disable-protocol rpcordma --disable-protocol infiniband.eoib "
                        "-o infiniband.identify_payload:FALSE -T fields -E separator='|'";
  for (const std::string& field : kFields) command += " -e " + field;
  const int status = std::system((command + " >" + base + ".out").c_str());
  std::ifstream out(base + ".out");
  std::vector<Row> rows;
  for (std::string line; std::getline(out, line);) {
    std::istringstream words(line);
    for (const std::string& field : kFields) {
      if (&field == &kFields[0]) rows.emplace_back();
      std::getline(words, rows.back()[field], '|');
    }
  }
  std::remove((base + ".pcap").c_str());
  std::remove((base + ".out").c_str());
  EXPECT_EQ(status, 0);
  EXPECT_EQ(rows.size(), transports.size());
  return status ? std::vector<Row>() : rows;
}

class Dissector : public testing::Test {
 protected:
  void SetUp() override {
    const int status = std::system("command -v tshark >/dev/null");
    if (status) GTEST_SKIP() << "tshark is not installed";
  }
};

// A packet of each opcode with everything that it may carry.
sroce_packet packet_of(u8 opcode) {
  sroce_packet pkt = {};
  pkt.opcode = opcode;
  pkt.info = sroce_opcode_lookup(opcode);
  pkt.header_bytes = pkt.info->header_bytes;
  pkt.migreq = true;
  pkt.pkey = SROCE_PKEY_DEFAULT;
  pkt.dest_qpn = 0x112233;
  pkt.src_qpn = 0x445566;
  pkt.srqn = 0x654321;
  pkt.psn = 0xabcd00u + opcode;
  pkt.msn = 77;
  if (pkt.info->flags & SROCE_OPF_PAYLOAD) {
    pkt.payload_bytes = opcode == SROCE_OP_CNP ? 16 : opcode == SROCE_OP_SACK ? 8 : 61;
    pkt.pad_bytes = -pkt.payload_bytes & 3;
  }
  return pkt;
}

Bytes filler(const sroce_packet& pkt) { return Bytes(pkt.payload_bytes + pkt.pad_bytes); }

bool is_acked(const sroce_packet& pkt) {
  return sroce_service_is_acked(static_cast<u8>(sroce_opcode_service(pkt.opcode)));
}

TEST_F(Dissector, DecodesEveryOpcodeOfOurs) {
  std::vector<sroce_packet> packets;
  std::vector<Bytes> transports;
  for (int opcode = 0; opcode < 256; opcode++) {
    const sroce_opcode_info* info = sroce_opcode_lookup(static_cast<u8>(opcode));
    if (!info || info->flags & SROCE_OPF_UNSUPPORTED) continue;
    packets.push_back(packet_of(static_cast<u8>(opcode)));
    packets.back().selective = is_acked(packets.back());
    transports.push_back(written(packets.back(), filler(packets.back())));
  }
  ASSERT_EQ(packets.size(), 66u);
  std::vector<Row> rows = dissected(transports);
  for (size_t i = 0; i < rows.size(); i++) {
    SCOPED_TRACE(int{packets[i].opcode});
    const bool responds = packets[i].info->flags & SROCE_OPF_RESPONSE;
    Row& row = rows[i];
    EXPECT_EQ(row["infiniband.bth.opcode"], std::to_string(packets[i].opcode));
    EXPECT_EQ(row["infiniband.bth.psn"], std::to_string(packets[i].psn));
    EXPECT_EQ(row["sroce.offer"], is_acked(packets[i]) && !responds ? "0x54" : "");
    EXPECT_EQ(row["sroce.accept"], is_acked(packets[i]) && responds ? "0x24" : "");
    EXPECT_EQ(row["_ws.malformed"] + row["_ws.lua.error"] + row["_ws.expert.message"], "");
    // Wireshark itself finds the ICRC of the others.
    const bool is_sack = packets[i].opcode == SROCE_OP_SACK;
    const bool is_cnp = packets[i].opcode == SROCE_OP_CNP;
    EXPECT_EQ(row["sroce.icrc"], is_sack || is_cnp ? "0x12345678" : "");
    EXPECT_EQ(row["sroce.cnp.reserved"], is_cnp ? std::string(32, '0') : "");
    EXPECT_EQ(row["sroce.sack.msn"], is_sack ? "77" : "");
    const bool names_srq = packets[i].info->flags & SROCE_OPF_XRCETH;
    EXPECT_EQ(row["sroce.xrceth.srqn"], names_srq ? "0x654321" : "");
  }
}

// --- selective ACKs
// -------------------------------------------------------------------------------

// The SACK of a responder that has queued some packets beyond @epsn, and their PSNs.
struct Sack {
  Sack(u32 epsn, const std::set<u32>& offsets) {
    ReceiveQueue rq({.psn = epsn, .reorder_packets = SROCE_PSN_MAP_SPAN, .selective = true});
    for (u32 offset : offsets) {
      sroce_packet pkt = write_only(psn_add(epsn, offset), 0x10000, 16);
      pkt.selective = true;
      rq.receive(pkt);
      if (!psns.empty()) psns += ",";
      psns += std::to_string(pkt.psn);
    }
    const auto plan = rq.next_response();
    const sroce_packet pkt = rq.packet(*plan, 0);
    EXPECT_EQ(pkt.opcode, SROCE_OP_SACK);
    Bytes bitmap(pkt.payload_bytes);
    sroce_reorder_write_sack(&rq.resp, bitmap.data(), pkt.payload_bytes);
    bytes = written(pkt, bitmap);
  }
  Bytes bytes;
  std::string psns;
};

TEST_F(Dissector, ListsTheQueuedPacketsOfASack) {
  std::mt19937 random(1);
  std::vector<Sack> sacks;
  for (u32 i = 0; i < 40; i++) {
    const u32 reach = 1 + random() % (SROCE_PSN_MAP_SPAN - 1);
    std::set<u32> offsets = {reach};
    for (u32 n = random() % 200; n; n--) offsets.insert(1 + random() % reach);
    // Some cross the end of the PSNs.
    sacks.emplace_back(i % 2 ? random() & SROCE_PSN_MASK : SROCE_PSN_MASK - random() % 2000,
                       offsets);
  }
  sacks.emplace_back(0, std::set<u32>{1});
  std::vector<Bytes> transports;
  for (const Sack& sack : sacks) transports.push_back(sack.bytes);
  std::vector<Row> rows = dissected(transports);
  for (size_t i = 0; i < rows.size(); i++) {
    EXPECT_EQ(rows[i]["sroce.sack.psn"], sacks[i].psns);
    EXPECT_EQ(rows[i]["_ws.expert.message"], "");
  }
}

TEST(WireDocument, HasTheSackOfThisResponder) {
  const Sack sack(1000, {2, 3, 10});
  std::string hex;
  for (size_t i = 0; i + SROCE_ICRC_BYTES < sack.bytes.size(); i++) {
    char two[4];
    std::snprintf(two, sizeof(two), "%s%02x", i % 4 || !i ? "" : " ", sack.bytes[i]);
    hex += two;
  }
  std::ifstream file(SROCE_WIRE_DOCUMENT);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_NE(text.find(hex), std::string::npos) << hex;
}

// --- lengths
// --------------------------------------------------------------------------------------

const char* counter_of(sroce_parse_status status) {
  switch (status) {
    case SROCE_PARSE_TRUNCATED:
      return "drop_truncated";
    case SROCE_PARSE_BAD_VERSION:
      return "drop_version";
    case SROCE_PARSE_BAD_OPCODE:
      return "drop_opcode";
    case SROCE_PARSE_BAD_PAD:
      return "drop_pad";
    case SROCE_PARSE_BAD_PAYLOAD:
      return "drop_payload";
    default:
      return "";
  }
}

// Any opcode and length, mostly valid ones.
Bytes arbitrary(std::mt19937& random) {
  u8 opcode = static_cast<u8>(random());
  while (random() % 8 && !sroce_opcode_lookup(opcode)) opcode = static_cast<u8>(random());
  const sroce_opcode_info* info = sroce_opcode_lookup(opcode);
  u32 length = (info ? info->header_bytes : 12) + SROCE_ICRC_BYTES + random() % 2 * 4;
  if (random() % 4 == 0) length = 1 + random() % 40;
  if (random() % 4 == 0) length = (256 + random() % 40) & ~3u;
  if (random() % 16 == 0) length = 4096 + 4 * (random() % 16);
  Bytes bytes = written(packet_of(SROCE_OP_SEND_ONLY), Bytes(length + 8));
  bytes[0] = opcode;
  bytes[1] = static_cast<u8>(random() % 4 << 4 | (random() % 16 == 0));
  // A source QP, so that a datagram is no MAD for Wireshark.
  bytes[19] = 0x77;
  bytes.resize(length);
  return bytes;
}

TEST_F(Dissector, NamesTheCounterOfEachPacketThatTheParserDrops) {
  std::mt19937 random(2);
  std::vector<Bytes> transports;
  for (u32 i = 0; i < 1000; i++) transports.push_back(arbitrary(random));
  std::vector<Row> rows = dissected(transports);
  std::map<std::string, u32> counts;
  for (size_t i = 0; i < rows.size(); i++) {
    sroce_packet pkt;
    const u32 bytes = static_cast<u32>(transports[i].size());
    const std::string counter =
        counter_of(sroce_packet_parse(transports[i].data(), bytes, bytes, &pkt));
    const std::string message = rows[i]["_ws.expert.message"];
    counts[counter]++;
    SCOPED_TRACE("opcode " + std::to_string(transports[i][0]) + ", flags " +
                 std::to_string(transports[i][1]) + ", " + std::to_string(bytes) + " bytes");
    EXPECT_EQ(rows[i]["_ws.lua.error"], "");
    // Wireshark finds the opcode of neither a truncated BTH nor some opcodes without their headers.
    if (counter.empty())
      EXPECT_EQ(rows[i]["_ws.malformed"] + message, "");
    else if (rows[i]["infiniband.bth.opcode"].empty())
      EXPECT_EQ(rows[i]["_ws.malformed"], "[Malformed Packet: IB],_ws.malformed");
    else
      EXPECT_NE(message.find(counter), std::string::npos) << message;
  }
  for (const auto& [counter, count] : counts) EXPECT_GT(count, 30u) << counter;
  EXPECT_EQ(rows.empty() ? 6 : counts.size(), 6u);
}

}  // namespace
