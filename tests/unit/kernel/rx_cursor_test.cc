// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The packets of a received skb, and their ICRCs: kernel/net/rx_cursor.c.
#include <gtest/gtest.h>

#include "unit/kernel/packets.h"

namespace {

struct Rx : testing::Test, Received {
  // Packets in the middle of a SEND, from @psn on, all of one size; the last has @last_bytes.
  std::vector<Bytes> middles(u32 count, u32 psn = 7, u32 bytes = 32, u32 last_bytes = 32) {
    std::vector<Bytes> packets;
    for (u32 i = 0; i < count; i++)
      packets.push_back(packet_bytes(flow, packet_of(SROCE_OP_SEND_MIDDLE, psn + i),
                                     Bytes(i + 1 < count ? bytes : last_bytes, i + 1),
                                     flow.ip_id + (ip_id_counts ? i : 0)));
    return packets;
  }
  // The PSNs of the packets that are right.
  std::vector<u32> psns() {
    std::vector<u32> found;
    while (sroce_rx_next(&rx))
      if (sroce_rx_icrc_ok(&rx)) found.push_back(rx.pkt.psn);
    return found;
  }
  bool begin_coalesced(const std::vector<Bytes>& packets, const Cut& cut = {}) {
    begin(flow, packets, cut);
    EXPECT_TRUE(sroce_rx_next(&rx));
    EXPECT_TRUE(sroce_rx_icrc_ok(&rx));
    if (sroce_rx_equal_sized(&rx) > 1) sroce_rx_coalesce(&rx);
    return rx.pkt.count > 1;
  }

  Flow flow;
  bool ip_id_counts = true;
};

using PsnList = std::vector<u32>;

TEST_F(Rx, PacketsOfAnSkbComeOneAfterTheOther) {
  begin(flow, middles(3, 7, 32, 20));
  ASSERT_TRUE(sroce_rx_next(&rx));
  EXPECT_EQ(7u, rx.pkt.psn);
  EXPECT_EQ(0u, rx.number);
  EXPECT_EQ(32u, rx.pkt.payload_bytes);
  EXPECT_EQ(rx.skb->data + UDP_BYTES, rx.pos.at);
  ASSERT_TRUE(sroce_rx_next(&rx));
  ASSERT_TRUE(sroce_rx_next(&rx));
  EXPECT_EQ(9u, rx.pkt.psn);
  EXPECT_EQ(2u, rx.number);
  EXPECT_EQ(20u, rx.pkt.payload_bytes);
  EXPECT_FALSE(sroce_rx_next(&rx));
  EXPECT_EQ(3u, rx.packets);
  EXPECT_EQ(3 * UDP_BYTES + 48u + 48 + 36, rx.wire_bytes);
}

TEST_F(Rx, AnyCutIntoFragmentsGivesTheSamePackets) {
  const std::vector<Bytes> packets = middles(4, 7, 32, 12);
  for (bool is_ipv4 : {true, false}) {
    flow.is_ipv4 = is_ipv4;
    const std::vector<Bytes> packets = middles(4, 7, 32, 12);
    for (u32 linear = 0; linear < 162; linear += 3) {
      for (u32 fragment : {16, 37, 48, 4096}) {
        for (u32 part : {30u, 48u, 96u, 125u, ~0u}) {
          begin(flow, packets, {linear, fragment, part});
          EXPECT_EQ((PsnList{7, 8, 9, 10}), psns()) << linear << " " << fragment << " " << part;
          kfree_skb(rx.skb);
          rx.skb = nullptr;
        }
      }
    }
  }
}

TEST_F(Rx, PacketInOneFragmentIsReadInPlace) {
  begin(flow, middles(2), {0, 96});
  const u8* payload = rx.skb->shared.frags[0].page->address + 3;
  ASSERT_TRUE(sroce_rx_next(&rx));
  EXPECT_EQ(payload, rx.pos.at);
  EXPECT_EQ(payload + 96, rx.pos.end);
  ASSERT_TRUE(sroce_rx_next(&rx));
  EXPECT_EQ(payload + 48, rx.pos.at);
  EXPECT_EQ(payload + 96, rx.pos.end);
}

TEST_F(Rx, EachFragmentWithOnePacketIsReadInPlace) {
  begin(flow, middles(3), {0, 48});
  for (u32 i = 0; i < 3; i++) {
    ASSERT_TRUE(sroce_rx_next(&rx));
    EXPECT_EQ(rx.skb->shared.frags[i].page->address + 3, rx.pos.at);
  }
}

// GRO puts fragments into the first skb, and then whole skbs into its list.
TEST_F(Rx, EachPacketOfTheFragmentListIsReadInPlace) {
  for (u32 linear : {0u, 48u}) {
    begin(flow, middles(6), {linear, 48, 96});
    const sk_buff* member = rx.skb->shared.frag_list;
    sroce_rx_next(&rx);
    sroce_rx_next(&rx);
    for (u32 i = 2; i < 6; i++) {
      ASSERT_TRUE(sroce_rx_next(&rx));
      EXPECT_EQ(9u + i - 2, rx.pkt.psn);
      const u32 frag = linear ? 0 : i % 2;
      const u8* at =
          linear && i % 2 == 0 ? member->data : member->shared.frags[frag].page->address + 3;
      EXPECT_EQ(at, rx.pos.at) << linear << " " << i;
      if (i % 2) member = member->next;
    }
    kfree_skb(rx.skb);
    rx.skb = nullptr;
  }
}

// Nobody builds such skbs, and they are read all the same.
TEST_F(Rx, DeeperFragmentListIsNotReadInPlace) {
  const std::vector<Bytes> packets = middles(5);
  begin(flow, {packets[0]});
  sk_buff* member = make_part(packets[1], 48, 64);
  add_members(member, {make_part(packets[2], 48, 64), make_part(packets[3], 48, 64)});
  add_members(rx.skb, {member, make_part(packets[4], 48, 64)});
  rx.pos.next_part = member;
  for (u32 i = 0; i < 5; i++) {
    ASSERT_TRUE(sroce_rx_next(&rx));
    EXPECT_EQ(7 + i, rx.pkt.psn);
    EXPECT_EQ(i < 2, rx.pos.at != nullptr) << i;
    EXPECT_TRUE(sroce_rx_icrc_ok(&rx));
  }
  EXPECT_FALSE(sroce_rx_next(&rx));
}

TEST_F(Rx, HighMemoryAndDeviceMemoryAreNotReadInPlace) {
  begin(flow, middles(1), {0, 96});
  rx.skb->shared.frags[0].page->is_highmem = true;
  ASSERT_TRUE(sroce_rx_next(&rx));
  EXPECT_EQ(nullptr, rx.pos.at);
  EXPECT_TRUE(sroce_rx_icrc_ok(&rx));
}

// The headers of a packet are in memory that the CPU cannot read.
TEST_F(Rx, UnreadablePacketIsDropped) {
  begin(flow, middles(2), {0, 48});
  free(rx.skb->shared.frags[0].page->address);
  free(rx.skb->shared.frags[0].page);
  rx.skb->shared.frags[0].page = nullptr;
  ASSERT_TRUE(sroce_rx_next(&rx));
  EXPECT_EQ(8u, rx.pkt.psn);
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_TRUNCATED));
  EXPECT_FALSE(sroce_rx_next(&rx));
}

TEST_F(Rx, MalformedPacketsAreCountedAndSkipped) {
  std::vector<Bytes> packets = middles(5);
  packets[0][1] |= 1;
  packets[1][0] = 0xff;
  packets[3][1] |= 0x30;
  packets[4].resize(10);
  begin(flow, packets);
  EXPECT_EQ(PsnList{9}, psns());
  EXPECT_EQ(2u, rx.packets) << "one has a wrong ICRC";
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_VERSION));
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_OPCODE));
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_TRUNCATED));
}

TEST_F(Rx, WrongIcrcIsFoundInEachByte) {
  for (u32 linear : {~0u, 20u}) {
    for (u32 i = 0; i < 48; i++) {
      if (i == 4) continue;  // congestion bits, which a switch may set
      std::vector<Bytes> packets = middles(1);
      packets[0][i] ^= i == 1 ? 0x80 : 1;
      begin(flow, packets, {linear});
      while (sroce_rx_next(&rx)) EXPECT_FALSE(sroce_rx_icrc_ok(&rx)) << i;
      kfree_skb(rx.skb);
      rx.skb = nullptr;
    }
  }
}

TEST_F(Rx, FieldsThatRoutersChangeAreNotCovered) {
  begin(flow, middles(1));
  ip_hdr(rx.skb)->tos = 3;
  ip_hdr(rx.skb)->ttl = 1;
  ip_hdr(rx.skb)->check = 0;
  rx.skb->data[UDP_BYTES + 4] = 0x40;
  EXPECT_EQ(PsnList{7}, psns());
}

TEST_F(Rx, AddressesAreCovered) {
  begin(flow, middles(1));
  ip_hdr(rx.skb)->saddr ^= 1;
  EXPECT_EQ(PsnList{}, psns());
}

TEST_F(Rx, IdentificationMayStayOrCount) {
  begin(flow, middles(3));
  EXPECT_EQ((PsnList{7, 8, 9}), psns());
  EXPECT_FALSE(rx.ip_id_stays);
  kfree_skb(rx.skb);
  ip_id_counts = false;
  begin(flow, middles(3));
  EXPECT_EQ((PsnList{7, 8, 9}), psns());
  EXPECT_TRUE(rx.ip_id_stays);
}

TEST_F(Rx, IdentificationThatCountedDoesNotStay) {
  std::vector<Bytes> packets = middles(3);
  packets[2] = packet_bytes(flow, packet_of(SROCE_OP_SEND_MIDDLE, 9), Bytes(32), flow.ip_id);
  begin(flow, packets);
  EXPECT_EQ((PsnList{7, 8}), psns());
}

TEST_F(Rx, OptionsAndExtensionHeadersAreRejected) {
  begin(flow, middles(1));
  u8* ip = rx.skb->network;
  rx.skb->network = static_cast<u8*>(memmove(ip - 4, ip, sizeof(iphdr)));
  ASSERT_TRUE(sroce_rx_next(&rx));
  EXPECT_FALSE(sroce_rx_icrc_ok(&rx));
}

TEST_F(Rx, PacketsThatContinueAreCoalesced) {
  EXPECT_TRUE(begin_coalesced(middles(4, 7, 32, 20)));
  EXPECT_EQ(3u, rx.pkt.count) << "the last one is shorter";
  EXPECT_EQ(3 * 32u, rx.pkt.payload_bytes);
  EXPECT_TRUE(sroce_rx_verify(&rx));
  EXPECT_EQ(3u, rx.packets);
  ASSERT_TRUE(sroce_rx_next(&rx));
  EXPECT_EQ(10u, rx.pkt.psn);
  EXPECT_EQ(3u, rx.number);
  EXPECT_TRUE(sroce_rx_icrc_ok(&rx));
  EXPECT_EQ(4u, rx.packets);
  EXPECT_EQ(4 * UDP_BYTES + 3 * 48u + 36, rx.wire_bytes);
}

TEST_F(Rx, OtherPsnQpOrOpcodeIsNotCoalesced) {
  sroce_packet other = packet_of(SROCE_OP_SEND_MIDDLE, 9);
  for (u32 i = 0; i < 5; i++) {
    std::vector<Bytes> packets = middles(3);
    other = packet_of(SROCE_OP_SEND_MIDDLE, 9);
    if (i == 0) other.psn = 10;
    if (i == 1) other.dest_qpn++;
    if (i == 2) other.opcode = SROCE_OP_SEND_LAST, other.info = sroce_opcode_lookup(other.opcode);
    if (i == 3) other.ack_req = true;
    if (i == 4) other.pkey = 0x7fff;
    packets[2] = packet_bytes(flow, other, Bytes(32), flow.ip_id + 2);
    EXPECT_TRUE(begin_coalesced(packets));
    EXPECT_EQ(2u, rx.pkt.count) << i;
    kfree_skb(rx.skb);
    rx.skb = nullptr;
  }
}

TEST_F(Rx, PsnWrapsWhileCoalescing) {
  EXPECT_TRUE(begin_coalesced(middles(4, SROCE_PSN_MASK - 1)));
  EXPECT_EQ(4u, rx.pkt.count);
}

TEST_F(Rx, PaddedPacketsAreNotCoalesced) { EXPECT_FALSE(begin_coalesced(middles(3, 7, 30, 30))); }

TEST_F(Rx, PacketsOfOtherFragmentsAndPartsAreCoalesced) {
  for (const Cut& cut : {Cut{96, 192}, Cut{0, 48}, Cut{0, 48, 144}, Cut{48, 96, 48}}) {
    EXPECT_TRUE(begin_coalesced(middles(6, 7, 32, 20), cut));
    EXPECT_EQ(5u, rx.pkt.count) << cut.linear;
    EXPECT_TRUE(sroce_rx_verify(&rx));
    ASSERT_TRUE(sroce_rx_next(&rx));
    EXPECT_EQ(12u, rx.pkt.psn);
    EXPECT_TRUE(sroce_rx_icrc_ok(&rx));
    kfree_skb(rx.skb);
    rx.skb = nullptr;
  }
}

TEST_F(Rx, CoalescingEndsAtPacketThatIsNotContiguous) {
  EXPECT_TRUE(begin_coalesced(middles(6), {144 + 20, 48}));
  EXPECT_EQ(3u, rx.pkt.count);
  EXPECT_EQ(PsnList({10, 11, 12}), psns());
}

TEST_F(Rx, CoalescedPacketsAreCutAtTheFirstWrongOne) {
  for (u32 wrong = 1; wrong < 4; wrong++) {
    std::vector<Bytes> packets = middles(4);
    packets[wrong][20] ^= 1;
    EXPECT_TRUE(begin_coalesced(packets, {~0u, 64, wrong % 2 ? ~0u : 48}));
    EXPECT_EQ(4u, rx.pkt.count);
    EXPECT_FALSE(sroce_rx_verify(&rx));
    EXPECT_EQ(wrong, rx.pkt.count);
    EXPECT_EQ(wrong * 32, rx.pkt.payload_bytes);
    EXPECT_EQ(wrong, rx.packets);
    ASSERT_TRUE(sroce_rx_next(&rx)) << "it is handled again, on its own";
    EXPECT_EQ(7 + wrong, rx.pkt.psn);
    EXPECT_FALSE(sroce_rx_icrc_ok(&rx));
    kfree_skb(rx.skb);
    rx.skb = nullptr;
  }
}

TEST_F(Rx, CoalescedPacketsMayHaveOneIdentification) {
  for (bool counts : {false, true}) {
    ip_id_counts = counts;
    begin(flow, middles(4));
    ASSERT_TRUE(sroce_rx_next(&rx));
    EXPECT_TRUE(sroce_rx_icrc_ok(&rx));
    ASSERT_TRUE(sroce_rx_next(&rx));
    EXPECT_TRUE(sroce_rx_icrc_ok(&rx));
    EXPECT_EQ(!counts, rx.ip_id_stays);
    sroce_rx_coalesce(&rx);
    EXPECT_EQ(3u, rx.pkt.count);
    EXPECT_TRUE(sroce_rx_verify(&rx));
    kfree_skb(rx.skb);
    rx.skb = nullptr;
  }
}

}  // namespace
