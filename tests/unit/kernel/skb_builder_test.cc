// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The skbs that we build, cut into packets as the stack would: kernel/net/skb_builder.c.
#include <gtest/gtest.h>

#include "unit/kernel/packets.h"

extern "C" {
#include "net/skb_builder.h"
#include "stand_in/stack.h"
}

namespace {

constexpr u32 BTH_BYTES = 12, ICRC_BYTES = 4, OWN_BYTES = BTH_BYTES + ICRC_BYTES;
constexpr u32 IPV4_BYTES = sizeof(iphdr), IPV6_BYTES = sizeof(ipv6hdr);
constexpr u16 SPORT = 51234;
constexpr u8 TOS = 0x62;

// A packet on the wire: IP and UDP header, and from the BTH to the ICRC.
struct Wire {
  Bytes headers;
  Bytes packet;

  u32 psn() const { return packet[9] << 16 | packet[10] << 8 | packet[11]; }
  u16 ip_id() const { return headers[4] << 8 | headers[5]; }
  u16 udp_bytes() const { return headers[headers.size() - 4] << 8 | headers[headers.size() - 3]; }
  bool icrc_is_right() const {
    u32 icrc = 0;
    for (u32 i = 0; i < 4; i++) icrc |= u32{packet[packet.size() - 4 + i]} << 8 * i;
    return icrc == icrc_by_definition(headers, packet);
  }
};

struct Builder : testing::Test, Received {
  Builder() {
    stand_in_stack = {};
    qdisc.enqueue = this;
    netdev.queue.qdisc = &qdisc;
    netdev.features = NETIF_F_GSO;
    netdev.netdev_ops = &ops;
    dst.dev = &netdev;
    dst.mtu = 9000;
    ep.udp_checksum = SROCE_UDP_CHECKSUM_ON;
    set_family(true);
    __skb_queue_head_init(&out);
    sroce_builder_init(&builder, &ep, &out);
  }
  ~Builder() override {
    sroce_builder_close(&builder);
    __skb_queue_purge(&out);
    __skb_queue_purge(&stand_in_stack.sent);
    EXPECT_EQ(0, stand_in.dst_refs);
  }

  void set_family(bool is_ipv4) {
    path.is_ipv4 = is_ipv4;
    path.saddr = Flow::address(1);
    path.daddr = Flow::address(2);
    if (!is_ipv4) path.saddr.s6_addr[0] = path.daddr.s6_addr[0] = 0xfc;
    path.hop_limit = 61;
    path.flow_label = 0x54321;
    path.priority = 5;
  }
  int open(u32 bytes, u32 expected) {
    return sroce_builder_open(&builder, &path, &dst, htons(SPORT), TOS, bytes, expected);
  }
  static Bytes payload_of(u32 psn, u32 bytes) {
    Bytes payload(bytes);
    for (u32 i = 0; i < bytes; i++) payload[i] = psn * 7 + i;
    return payload;
  }
  // Adds the packet with the next PSN. Whether there was memory.
  bool add(u32 payload_bytes, u32 expected, u8 opcode = SROCE_OP_SEND_MIDDLE) {
    sroce_packet pkt = packet_of(opcode, psn);
    pkt.srqn = 0x123456;
    const u32 header_bytes = pkt.info->header_bytes;
    const u32 bytes = header_bytes + payload_bytes + ICRC_BYTES;
    if (!sroce_builder_can_append(&builder, &path, bytes)) {
      const int err = open(bytes, expected);
      EXPECT_EQ(0, err);
      if (err) return false;
    }
    u8* at = sroce_builder_begin(&builder, bytes, expected);
    if (!at) return false;
    sroce_packet_write(&pkt, at);
    sroce_crc_writer* writer = sroce_builder_start_crc(&builder, ip_id, header_bytes);
    sroce_crc_write(writer, payload_of(psn, payload_bytes).data(), payload_bytes);
    sroce_builder_end(&builder, &ip_id);
    psn = psn_add(psn, 1);
    return true;
  }
  void add_many(u32 count, u32 payload_bytes) {
    for (u32 i = 0; i < count; i++) ASSERT_TRUE(add(payload_bytes, count - i));
  }
  // Adds at most @count packets like the last one, and returns how many there was space for.
  u32 repeat(u32 count, u32 payload_bytes) {
    const u32 fit = sroce_builder_repeat_begin(&builder, count, psn, ip_id);
    if (!fit) return 0;
    for (u32 i = 0; i < fit; i++, psn = psn_add(psn, 1))
      sroce_crc_write(&builder.writer, payload_of(psn, payload_bytes).data(), payload_bytes);
    sroce_builder_repeat_end(&builder, &ip_id);
    return fit;
  }
  // Hands all skbs to the stack.
  std::vector<sk_buff*> send() {
    sroce_builder_close(&builder);
    while (sk_buff* skb = __skb_dequeue(&out)) EXPECT_EQ(0, sroce_skb_xmit(&ep, skb));
    std::vector<sk_buff*> skbs;
    for (sk_buff* skb = stand_in_stack.sent.first; skb; skb = skb->next) skbs.push_back(skb);
    return skbs;
  }
  static void put(Bytes& bytes, u32 at, u16 value) {
    bytes[at] = value >> 8;
    bytes[at + 1] = value;
  }
  // Cuts a GSO skb, or takes a list apart.
  std::vector<Wire> wires(sk_buff* skb) {
    const u32 ip_bytes = path.is_ipv4 ? IPV4_BYTES : IPV6_BYTES;
    Bytes all(skb->len - ip_bytes - UDP_BYTES);
    EXPECT_EQ(0, skb_copy_bits(skb, ip_bytes + UDP_BYTES, all.data(), all.size()));
    const u32 size = skb->shared.gso_size ? skb->shared.gso_size : all.size();
    const sk_buff* member = skb->shared.frag_list;
    const sk_buff* own = skb;
    std::vector<Wire> result;
    for (u32 at = 0; at < all.size(); at += size) {
      const u32 bytes = std::min<u32>(size, all.size() - at);
      Wire wire = {{own->network, own->network + ip_bytes + UDP_BYTES},
                   {all.begin() + at, all.begin() + at + bytes}};
      if (path.is_ipv4) {
        put(wire.headers, 2, ip_bytes + UDP_BYTES + bytes);
        put(wire.headers, 4, (skb->network[4] << 8 | skb->network[5]) + result.size());
      } else {
        put(wire.headers, 4, UDP_BYTES + bytes);
      }
      if (own == skb) put(wire.headers, ip_bytes + 4, UDP_BYTES + bytes);
      result.push_back(wire);
      if (member) {
        own = member;
        member = member->next;
      }
    }
    return result;
  }
  std::vector<Wire> wires() {
    std::vector<Wire> all;
    for (sk_buff* skb : send())
      for (const Wire& wire : wires(skb)) all.push_back(wire);
    return all;
  }
  // They are the packets from PSN 7 on, with these payloads.
  void expect_wires(const std::vector<u32>& payloads, u32 header_bytes = BTH_BYTES) {
    const auto all = wires();
    ASSERT_EQ(payloads.size(), all.size());
    for (u32 i = 0; i < all.size(); i++) {
      const Wire& wire = all[i];
      EXPECT_EQ(psn_add(first_psn, i), wire.psn());
      const Bytes payload = payload_of(wire.psn(), payloads[i]);
      ASSERT_EQ(header_bytes + payloads[i] + ICRC_BYTES, wire.packet.size()) << i;
      EXPECT_TRUE(std::equal(payload.begin(), payload.end(), wire.packet.begin() + header_bytes));
      EXPECT_TRUE(wire.icrc_is_right()) << i;
      const auto same = [&](u32 from, u32 to) {
        return std::equal(wire.packet.begin() + from, wire.packet.begin() + to,
                          all[0].packet.begin() + from);
      };
      EXPECT_TRUE(same(0, 9) && same(BTH_BYTES, header_bytes)) << "headers but for the PSN";
      EXPECT_EQ(UDP_BYTES + wire.packet.size(), wire.udp_bytes());
      if (path.is_ipv4) {
        EXPECT_EQ(u16(100 + i), wire.ip_id());
      }
    }
  }
  // The pseudo header's sum is in the checksum, for the device to add the rest.
  void expect_partial_checksum(const sk_buff* skb, u32 udp_bytes) {
    const u32 ip_bytes = path.is_ipv4 ? IPV4_BYTES : IPV6_BYTES;
    EXPECT_EQ(CHECKSUM_PARTIAL, skb->ip_summed);
    EXPECT_EQ(skb->network + ip_bytes - skb->head, skb->csum_start);
    EXPECT_EQ(6u, skb->csum_offset);
    u32 sum = udp_bytes + IPPROTO_UDP;
    const Bytes addresses(skb->network + (path.is_ipv4 ? 12 : 8), skb->network + ip_bytes);
    for (u32 i = 0; i < addresses.size(); i += 2) sum += addresses[i] << 8 | addresses[i + 1];
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    const u8* check = skb->network + ip_bytes + 6;
    EXPECT_EQ(sum, u32(check[0] << 8 | check[1]));
  }

  Qdisc qdisc = {};
  net_device_ops ops = {};
  dst_entry dst = {};
  sroce_path path = {};
  sk_buff_head out = {};
  sroce_builder builder = {};
  u32 first_psn = 7;
  u32 psn = 7;
  u16 ip_id = 100;
};

TEST_F(Builder, Ipv4HeadersOfASinglePacket) {
  add(64, 1);
  const auto skbs = send();
  ASSERT_EQ(1u, skbs.size());
  const sk_buff* skb = skbs[0];
  const iphdr* ip = ip_hdr(skb);
  EXPECT_EQ(IPV4_BYTES + UDP_BYTES + OWN_BYTES + 64, skb->len);
  EXPECT_EQ(skb->data, skb->network);
  EXPECT_EQ(4, ip->version);
  EXPECT_EQ(5, ip->ihl);
  EXPECT_EQ(TOS, ip->tos);
  EXPECT_EQ(htons(0x4000), ip->frag_off);
  EXPECT_EQ(61, ip->ttl);
  EXPECT_EQ(17, ip->protocol);
  EXPECT_EQ(path.saddr.s6_addr32[3], ip->saddr);
  EXPECT_EQ(path.daddr.s6_addr32[3], ip->daddr);
  EXPECT_EQ(htons(SPORT), udp_hdr(skb)->source);
  EXPECT_EQ(htons(4791), udp_hdr(skb)->dest);
  EXPECT_EQ(htons(ETH_P_IP), skb->protocol);
  EXPECT_EQ(5u, skb->priority);
  EXPECT_EQ(&dst, skb->dst);
  EXPECT_EQ(0, skb->shared.gso_size);
  EXPECT_EQ(32u, skb_headroom(skb)) << "for the link";
  for (char byte : skb->cb) EXPECT_EQ(0, byte) << "it belongs to the stack";
  expect_partial_checksum(skb, UDP_BYTES + OWN_BYTES + 64);
  expect_wires({64});
  EXPECT_EQ(101, ip_id);
}

TEST_F(Builder, Ipv6HeadersOfASinglePacket) {
  set_family(false);
  add(64, 1);
  const auto skbs = send();
  ASSERT_EQ(1u, skbs.size());
  const ipv6hdr* ip = ipv6_hdr(skbs[0]);
  EXPECT_EQ(htonl(0x60000000 | TOS << 20 | 0x54321), *reinterpret_cast<const u32*>(ip));
  EXPECT_EQ(htons(UDP_BYTES + OWN_BYTES + 64), ip->payload_len);
  EXPECT_EQ(17, ip->nexthdr);
  EXPECT_EQ(61, ip->hop_limit);
  EXPECT_EQ(0, memcmp(&path.saddr, &ip->saddr, 16));
  EXPECT_EQ(0, memcmp(&path.daddr, &ip->daddr, 16));
  EXPECT_EQ(htons(ETH_P_IPV6), skbs[0]->protocol);
  expect_partial_checksum(skbs[0], UDP_BYTES + OWN_BYTES + 64);
  expect_wires({64});
}

TEST_F(Builder, BatchIsOneSkb) {
  for (bool is_ipv4 : {true, false}) {
    set_family(is_ipv4);
    psn = 7;
    ip_id = 100;
    add_many(4, 1024);
    EXPECT_EQ(4u, sroce_builder_packets(builder.skb));
    const auto skbs = send();
    ASSERT_EQ(1u, skbs.size());
    EXPECT_EQ(1024 + OWN_BYTES, skbs[0]->shared.gso_size);
    EXPECT_EQ(4, skbs[0]->shared.gso_segs);
    EXPECT_EQ(SKB_GSO_UDP_L4, skbs[0]->shared.gso_type);
    EXPECT_EQ(104, ip_id);
    expect_partial_checksum(skbs[0], UDP_BYTES + 4 * (1024 + OWN_BYTES));
    expect_wires({1024, 1024, 1024, 1024});
    __skb_queue_purge(&stand_in_stack.sent);
  }
  EXPECT_EQ(8u, count(SROCE_CTR_SENT_PKTS));
  EXPECT_EQ(8u * (UDP_BYTES + OWN_BYTES + 1024), count(SROCE_CTR_SENT_BYTES));
}

TEST_F(Builder, ShorterPacketEndsABatch) {
  add_many(3, 256);
  add(100, 1);
  EXPECT_EQ(nullptr, builder.skb);
  EXPECT_FALSE(sroce_builder_can_append(&builder, &path, OWN_BYTES + 100));
  add(256, 2);
  EXPECT_EQ(2u, skb_queue_len(&out));
  expect_wires({256, 256, 256, 100, 256});
}

TEST_F(Builder, SecondPacketThatIsShorterBeginsABatchOfItsOwn) {
  add(256, 2);
  EXPECT_FALSE(sroce_builder_can_append(&builder, &path, OWN_BYTES + 100));
}

TEST_F(Builder, LongerPacketIsNotAppended) {
  add_many(2, 256);
  EXPECT_FALSE(sroce_builder_can_append(&builder, &path, OWN_BYTES + 260));
  EXPECT_TRUE(sroce_builder_can_append(&builder, &path, OWN_BYTES + 256));
}

TEST_F(Builder, PacketOfAnotherPathIsNotAppended) {
  add_many(2, 256);
  const sroce_path other = path;
  EXPECT_FALSE(sroce_builder_can_append(&builder, &other, OWN_BYTES + 256));
}

TEST_F(Builder, PacketMustFitTheMtuOfTheRoute) {
  for (bool is_ipv4 : {true, false}) {
    set_family(is_ipv4);
    dst.mtu = 1024 + OWN_BYTES + UDP_BYTES + (is_ipv4 ? IPV4_BYTES : IPV6_BYTES);
    EXPECT_EQ(0, open(1024 + OWN_BYTES, 1));
    EXPECT_EQ(-EMSGSIZE, open(1024 + OWN_BYTES + 1, 1));
    EXPECT_NE(nullptr, builder.skb) << "the skb before";
  }
}

TEST_F(Builder, BatchHasAtMost64Packets) {
  add_many(70, 64);
  EXPECT_EQ(2u, skb_queue_len(&out));
  EXPECT_EQ(64u, sroce_builder_packets(out.first));
  expect_wires(std::vector<u32>(70, 64));
}

// Its length is one of 16 bits, with headers that the stack adds.
TEST_F(Builder, BatchIsShorterThan64Kib) {
  add_many(20, 4096);
  EXPECT_EQ(2u, skb_queue_len(&out));
  EXPECT_LE(out.first->len, 65535u - 128);
  EXPECT_GT(out.first->len, 65535u - 128 - 4096 - OWN_BYTES);
  expect_wires(std::vector<u32>(20, 4096));
}

TEST_F(Builder, NoPacketCrossesAFragment) {
  add_many(15, 4096);
  for (u32 i = 0; i < out.first->shared.nr_frags; i++)
    EXPECT_EQ(0u, out.first->shared.frags[i].size % (4096 + OWN_BYTES));
  EXPECT_EQ(3u, out.first->shared.nr_frags) << "of 32 KiB";
  expect_wires(std::vector<u32>(15, 4096));
}

TEST_F(Builder, LargeBatchHasAPageOfTheCache) {
  stand_in_stack.batch_pages = true;
  add_many(15, 4096);
  EXPECT_EQ(1u, stand_in_stack.cached);
  EXPECT_EQ(1u, out.first->shared.nr_frags);
  EXPECT_EQ(0u, (out.first->shared.frags[0].offset + BTH_BYTES) % 256) << "aligned payload";
  expect_wires(std::vector<u32>(15, 4096));
}

TEST_F(Builder, SmallBatchHasNoPageOfTheCache) {
  stand_in_stack.batch_pages = true;
  add_many(4, 1024);
  EXPECT_EQ(0u, stand_in_stack.cached);
}

TEST_F(Builder, EqualPacketsDifferByPsnAndPayload) {
  add(1024, 8);
  EXPECT_EQ(7u, repeat(9, 1024)) << "there is space for eight";
  EXPECT_EQ(8u, sroce_builder_packets(builder.skb));
  EXPECT_EQ(8u, builder.packets);
  EXPECT_EQ(108, ip_id);
  expect_wires(std::vector<u32>(8, 1024));
}

TEST_F(Builder, EqualPacketsHaveTheHeadersOfTheFirst) {
  const u8 opcode = u8{SROCE_SERVICE_XRC} | u8{SROCE_OP_SEND_MIDDLE};
  first_psn = psn = 0xfffffe;
  add(512, 4, opcode);
  EXPECT_EQ(3u, repeat(3, 512));
  expect_wires(std::vector<u32>(4, 512), BTH_BYTES + 4);
}

TEST_F(Builder, EqualPacketsStayWithinTheLimits) {
  stand_in_stack.batch_pages = true;
  add(4096, 20);
  EXPECT_EQ(14u, repeat(20, 4096));
  EXPECT_LE(builder.skb->len, 65535u - 128);
  expect_wires(std::vector<u32>(15, 4096));
}

TEST_F(Builder, EqualPacketsAreAtMost64) {
  stand_in_stack.batch_pages = true;
  add(256, 100);
  EXPECT_EQ(63u, repeat(100, 256));
  EXPECT_EQ(64u, sroce_builder_packets(builder.skb));
}

TEST_F(Builder, NothingRepeatsWithoutAPacketBefore) {
  EXPECT_EQ(0u, sroce_builder_repeat_begin(&builder, 3, psn, ip_id));
  open(1024 + OWN_BYTES, 4);
  sroce_builder_begin(&builder, 1024 + OWN_BYTES, 4);
  EXPECT_EQ(0u, sroce_builder_repeat_begin(&builder, 3, psn, ip_id)) << "the fragment is empty";
  const struct sroce_builder_mark none = {};
  sroce_builder_rewind(&builder, &none);
}

TEST_F(Builder, RewindRemovesPacketsOfAnSkb) {
  for (u32 payload : {64u, 4096u}) {
    struct sroce_builder_mark mark;
    psn = 7;
    ip_id = 100;
    add_many(3, payload);
    sroce_builder_mark(&builder, &mark);
    add_many(9, payload);
    sroce_builder_rewind(&builder, &mark);
    EXPECT_EQ(3u, sroce_builder_packets(out.first));
    EXPECT_EQ(mark.packets, builder.packets);
    psn = 10;
    ip_id = 103;
    add_many(2, payload);
    EXPECT_EQ(2u, skb_queue_len(&out)) << "nothing is appended to the old one";
    expect_wires(std::vector<u32>(5, payload));
    __skb_queue_purge(&stand_in_stack.sent);
  }
}

TEST_F(Builder, RewindRemovesLaterSkbs) {
  struct sroce_builder_mark mark;
  sroce_builder_mark(&builder, &mark);
  add_many(70, 64);
  sroce_builder_rewind(&builder, &mark);
  EXPECT_EQ(0u, skb_queue_len(&out));
  EXPECT_EQ(0u, builder.packets);
  EXPECT_EQ(nullptr, builder.skb);
}

// A batch is segmented by software or by hardware, which needs a checksum.
TEST_F(Builder, ChecksumsAndBatchesDependOnTheInterface) {
  const auto build = [&] {
    psn = 7;
    ip_id = 100;
    add_many(2, 256);
    const u32 skbs = skb_queue_len(&out);
    const bool summed = send().back()->ip_summed == CHECKSUM_PARTIAL;
    expect_wires({256, 256});
    __skb_queue_purge(&stand_in_stack.sent);
    return std::pair(skbs, summed);
  };
  EXPECT_EQ(std::pair(1u, true), build());
  ep.udp_checksum = SROCE_UDP_CHECKSUM_AUTO;
  EXPECT_EQ(std::pair(1u, true), build());
  netdev.features = 0;
  EXPECT_EQ(std::pair(2u, false), build());
  ep.udp_checksum = SROCE_UDP_CHECKSUM_ON;
  EXPECT_EQ(std::pair(2u, true), build());
  netdev.features = NETIF_F_GSO;
  ep.udp_checksum = SROCE_UDP_CHECKSUM_OFF;
  EXPECT_EQ(std::pair(2u, false), build());
  ep.udp_checksum = SROCE_UDP_CHECKSUM_ON;
  qdisc.enqueue = nullptr;
  EXPECT_EQ(std::pair(2u, true), build()) << "a full device would drop segments";
}

struct ListBuilder : Builder {
  ListBuilder() { netdev.features = NETIF_F_GSO | NETIF_F_GSO_UDP_L4 | NETIF_F_GSO_FRAGLIST; }
};

// Hardware that segments may write headers that the ICRC does not cover.
TEST_F(ListBuilder, EachPacketHasItsOwnHeaders) {
  add_many(3, 256);
  add(100, 1);
  const auto skbs = send();
  ASSERT_EQ(1u, skbs.size());
  EXPECT_EQ(SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST, skbs[0]->shared.gso_type);
  EXPECT_EQ(256 + OWN_BYTES, skbs[0]->shared.gso_size);
  EXPECT_EQ(4, skbs[0]->shared.gso_segs);
  expect_partial_checksum(skbs[0], UDP_BYTES + 256 + OWN_BYTES);
  u32 members = 0;
  for (const sk_buff* member = skbs[0]->shared.frag_list; member; member = member->next) {
    const u32 bytes = ++members == 3 ? 100 : 256;
    EXPECT_EQ(bytes + OWN_BYTES, member->len);
    EXPECT_EQ(IPV4_BYTES + UDP_BYTES, u32(member->data - member->network));
    EXPECT_EQ(htons(UDP_BYTES + bytes + OWN_BYTES), udp_hdr(member)->len);
    EXPECT_EQ(htons(ETH_P_IP), member->protocol);
    EXPECT_GE(skb_headroom(member), IPV4_BYTES + UDP_BYTES + 32 + 128) << "for tunnels";
    expect_partial_checksum(member, UDP_BYTES + bytes + OWN_BYTES);
  }
  EXPECT_EQ(3u, members);
  expect_wires({256, 256, 256, 100});
}

TEST_F(ListBuilder, NothingRepeats) {
  add_many(2, 256);
  EXPECT_EQ(0u, repeat(3, 256));
}

TEST_F(ListBuilder, RewindCutsTheList) {
  struct sroce_builder_mark mark;
  add_many(2, 256);
  const u32 truesize = out.first->truesize;
  sroce_builder_mark(&builder, &mark);
  add_many(3, 256);
  sroce_builder_rewind(&builder, &mark);
  EXPECT_EQ(truesize, out.first->truesize);
  EXPECT_EQ(2u, sroce_builder_packets(out.first));
  expect_wires({256, 256});
}

TEST_F(ListBuilder, OnlyWhereHardwareMaySegment) {
  const auto is_list = [&] {
    add_many(2, 256);
    const bool result = skb_has_frag_list(out.first);
    __skb_queue_purge(&out);
    sroce_builder_close(&builder);
    return result;
  };
  EXPECT_TRUE(is_list());
  set_family(false);
  EXPECT_FALSE(is_list()) << "no identification";
  set_family(true);
  netdev.flags = IFF_LOOPBACK;
  EXPECT_FALSE(is_list());
  netdev.flags = 0;
  ops.ndo_get_peer_dev = this;
  EXPECT_FALSE(is_list()) << "a veth";
  ops.ndo_get_peer_dev = nullptr;
  dst.xfrm = this;
  EXPECT_FALSE(is_list());
  EXPECT_EQ(0u, skb_queue_len(&out));
}

TEST_F(ListBuilder, TransformOfTheRouteMakesSinglePackets) {
  dst.lwtstate = this;
  add_many(2, 256);
  EXPECT_EQ(2u, skb_queue_len(&out));
}

// The sanitizer finds what nobody frees.
TEST_F(ListBuilder, MemberThatIsBegunIsFreedWithTheSkb) {
  add(256, 3);
  EXPECT_NE(nullptr, sroce_builder_begin(&builder, 256 + OWN_BYTES, 2));
  EXPECT_NE(nullptr, builder.member);
  sroce_builder_close(&builder);
  EXPECT_EQ(nullptr, builder.member);
  expect_wires({256});
}

TEST_F(ListBuilder, MemberWithoutMemoryEndsTheSkb) {
  add(256, 3);
  stand_in.fail_allocation = 1;
  EXPECT_FALSE(add(256, 2));
  EXPECT_EQ(nullptr, builder.skb);
  EXPECT_EQ(1u, skb_queue_len(&out)) << "its first packet stays";
  stand_in.fail_allocation = 0;
  expect_wires({256});
}

TEST_F(Builder, OpenWithoutMemoryKeepsTheSkbBefore) {
  add_many(2, 256);
  const sk_buff* skb = builder.skb;
  for (u32 n : {1, 2}) {
    stand_in.fail_allocation = n;
    EXPECT_EQ(-ENOMEM, open(512, 4));
    EXPECT_EQ(skb, builder.skb);
  }
  stand_in.fail_allocation = 0;
  EXPECT_EQ(1u, skb_queue_len(&out));
}

TEST_F(Builder, SkbWithoutPacketsGoesWhenThereIsNoSpace) {
  ASSERT_EQ(0, open(1024 + OWN_BYTES, 4));
  stand_in.fail_allocation = 1;
  EXPECT_EQ(nullptr, sroce_builder_begin(&builder, 1024 + OWN_BYTES, 4));
  EXPECT_EQ(0u, skb_queue_len(&out));
  EXPECT_EQ(nullptr, builder.skb);
}

TEST_F(Builder, PiggybackedPacketFollowsASingleOne) {
  builder.piggyback_bytes = OWN_BYTES + 4;
  add(64, 1);
  EXPECT_TRUE(sroce_builder_can_append(&builder, &path, OWN_BYTES + 4));
  EXPECT_FALSE(sroce_builder_can_append(&builder, &path, OWN_BYTES + 8));
  add(4, 1);
  EXPECT_EQ(nullptr, builder.skb);
  const auto skbs = send();
  ASSERT_EQ(1u, skbs.size());
  EXPECT_EQ(2, skbs[0]->shared.gso_segs);
  expect_wires({64, 4});
}

// Hardware might not count the identification, which the ICRC covers.
TEST_F(ListBuilder, NothingIsPiggybacked) {
  builder.piggyback_bytes = OWN_BYTES + 4;
  add(64, 1);
  EXPECT_FALSE(sroce_builder_can_append(&builder, &path, OWN_BYTES + 4));
  add(4, 1);
  EXPECT_EQ(2u, skb_queue_len(&out));
  expect_wires({64, 4});
}

// Only the last packet of a batch may be shorter than the others, and none may be longer.
TEST_F(Builder, LongerPacketIsNotPiggybacked) {
  builder.piggyback_bytes = OWN_BYTES + 4;
  add(0, 1);
  EXPECT_EQ(nullptr, builder.skb) << "the skb has no space left";
}

TEST_F(Builder, SinglePacketHasNoSpaceForAnother) {
  add(64, 1);
  EXPECT_FALSE(sroce_builder_can_append(&builder, &path, OWN_BYTES + 64));
}

TEST_F(Builder, DroppedPacketsAreCounted) {
  add_many(3, 256);
  sroce_builder_close(&builder);
  stand_in_stack.xmit_error = NET_XMIT_DROP;
  EXPECT_EQ(NET_XMIT_DROP, sroce_skb_xmit(&ep, __skb_dequeue(&out)));
  EXPECT_EQ(3u, count(SROCE_CTR_SEND_ERR));
  EXPECT_EQ(0u, count(SROCE_CTR_SENT_PKTS));
  add_many(3, 256);
  sroce_builder_close(&builder);
  stand_in_stack.xmit_error = NET_XMIT_CN;
  EXPECT_EQ(NET_XMIT_CN, sroce_skb_xmit(&ep, __skb_dequeue(&out)));
  EXPECT_EQ(3u, count(SROCE_CTR_SEND_ERR)) << "they have been sent";
  EXPECT_EQ(3u, count(SROCE_CTR_SENT_PKTS));
}

}  // namespace
