// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Frames of RoCE v1, sent and received: kernel/net/roce_v1.c.
#include <gtest/gtest.h>

#include "unit/kernel/namespace.h"

extern "C" {
#include "net/skb_builder.h"
}

namespace {

constexpr u32 GRH_BYTES = SROCE_GRH_BYTES;
constexpr u8 PEER_MAC[] = {2, 0, 0, 0, 0, 9};
constexpr u8 OWN_MAC[] = {2, 0, 0, 0, 0, 7};

Bytes grh_of(const in6_addr& from, const in6_addr& to, u32 bytes) {
  Bytes grh(GRH_BYTES);
  const u8 start[] = {0x62, 0x01, 0x23, 0x45, u8(bytes >> 8), u8(bytes), 0x1b, 64};
  std::copy(std::begin(start), std::end(start), grh.begin());
  memcpy(&grh[8], &from, sizeof(from));
  memcpy(&grh[24], &to, sizeof(to));
  return grh;
}

// IBTA A16.5.1: ones for the local route header, traffic class, flow label, hop limit, BTH byte 4.
u32 icrc_of(Bytes grh, const Bytes& packet) {
  grh[0] |= 0x0f;
  grh[1] = grh[2] = grh[3] = grh[7] = 0xff;
  Bytes all(8, 0xff);
  all.insert(all.end(), grh.begin(), grh.end());
  all.insert(all.end(), packet.begin(), packet.end() - 4);
  all[8 + GRH_BYTES + 4] = 0xff;
  return ~crc32_le(~0u, all.data(), all.size());
}

u32 icrc_in(const Bytes& packet) {
  u32 icrc = 0;
  for (u32 i = 0; i < 4; i++) icrc |= u32{packet[packet.size() - 4 + i]} << 8 * i;
  return icrc;
}

struct RoceV1 : testing::Test, Namespace {
  RoceV1() {
    EXPECT_EQ(0, init(ep, netdev));
    ep.roce_v1 = true;
    EXPECT_EQ(0, sroce_endpoint_add_address(&ep, &own));
    on_receive = [this](sroce_rx* rx) {
      received++;
      last = *rx;
      while (sroce_rx_next(rx)) icrcs += sroce_rx_icrc_ok(rx);
      consume_skb(rx->skb);
    };
    for (net_device* dev : {&netdev, &other, &loopback}) {
      dev->flags = IFF_UP;
      dev->mtu = 1500;
      dev->net = &net;
      dev->addr_len = ETH_ALEN;
      dev->has_header = true;
    }
    loopback.flags |= IFF_LOOPBACK;
    loopback.ifindex = LOOPBACK_IFINDEX;
    loopback.mtu = 65536;
    stand_in_routes.loopback = &loopback;
    memcpy(netdev.dev_addr, OWN_MAC, ETH_ALEN);
    path.saddr = own;
    path.daddr = peer;
    path.is_v1 = true;
    memcpy(path.dmac, PEER_MAC, ETH_ALEN);
    path.oif = netdev.ifindex;
    path.tos = 0x62;
    path.flow_label = 0x12345;
    path.hop_limit = 61;
    path.priority = 5;
    __skb_queue_head_init(&out);
    sroce_builder_init(&builder, &ep, &out);
  }
  ~RoceV1() override {
    sroce_builder_close(&builder);
    __skb_queue_purge(&out);
    __skb_queue_purge(&stand_in_stack.sent);
    __skb_queue_purge(&stand_in_stack.looped);
  }

  u64 count(sroce_counter which) { return ep.counters[0].value[which]; }

  // --- receiving ---

  // A frame for @to, from the GRH on.
  Bytes frame(const in6_addr& to, u32 payload = 64) {
    sroce_packet pkt = packet_of(SROCE_OP_SEND_ONLY, 7);
    Bytes packet(pkt.info->header_bytes);
    sroce_packet_write(&pkt, packet.data());
    packet.resize(packet.size() + payload + 4, 0x5a);
    const Bytes grh = grh_of(peer, to, packet.size());
    const u32 icrc = icrc_of(grh, packet);
    for (u32 i = 0; i < 4; i++) packet[packet.size() - 4 + i] = icrc >> 8 * i;
    packet.insert(packet.begin(), grh.begin(), grh.end());
    return packet;
  }
  Bytes frame() { return frame(own); }
  void arrive(const Bytes& bytes, net_device& dev, u32 linear = ~0u, u8 pkt_type = PACKET_HOST) {
    sk_buff* skb = make_part(bytes, linear, 64);
    skb->dev = &dev;
    skb->pkt_type = pkt_type;
    ASSERT_TRUE(stand_in_stack.frames);
    EXPECT_EQ(htons(ETH_P_IBOE), stand_in_stack.frames->type);
    stand_in_stack.frames->func(skb, &dev, nullptr, &dev);
  }
  void arrive(const Bytes& bytes) { arrive(bytes, netdev); }
  // The frame is dropped before any QP sees it, and counted.
  void expect_drop(const Bytes& bytes, sroce_counter why) {
    const u64 before = count(why);
    received = 0;
    arrive(bytes);
    EXPECT_EQ(0u, received);
    EXPECT_EQ(before + 1, count(why));
  }

  // --- sending ---

  int open(u32 bytes) { return sroce_builder_open_v1(&builder, &path, htons(51234), bytes); }
  int add(u32 payload, u32 psn) {
    sroce_packet pkt = packet_of(SROCE_OP_SEND_ONLY, psn);
    const u32 bytes = pkt.info->header_bytes + payload + 4;
    EXPECT_FALSE(sroce_builder_can_append(&builder, &path, bytes)) << "one packet for each skb";
    if (const int err = open(bytes)) return err;
    sroce_packet_write(&pkt, sroce_builder_begin(&builder, bytes, 8));
    const Bytes data(payload, psn);
    sroce_crc_write(sroce_builder_start_crc(&builder, 1, pkt.info->header_bytes), data.data(),
                    payload);
    sroce_builder_end(&builder, &ip_id);
    return 0;
  }
  int send() {
    int err = 0;
    while (sk_buff* skb = __skb_dequeue(&out)) err = sroce_skb_xmit(&ep, skb);
    return err;
  }
  // The frame that has been sent, with its Ethernet header.
  Bytes sent() {
    const sk_buff* skb = stand_in_stack.sent.first;
    return skb ? Bytes(skb->data, skb->data + skb->len) : Bytes();
  }

  in6_addr own = Flow::address(2);
  in6_addr peer = Flow::address(1);
  net_device loopback = {};
  sroce_path path = {};
  sk_buff_head out = {};
  sroce_builder builder = {};
  u16 ip_id = 1;
  u32 received = 0;
  u32 icrcs = 0;
  sroce_rx last = {};
};

// Computed by another program.
TEST_F(RoceV1, KnownFrame) {
  const Bytes known = {0x62, 0x01, 0x23, 0x45, 0x00, 0x18, 0x1b, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00,
                       0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x0a, 0x00, 0x00, 0x01, 0x00, 0x00,
                       0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x0a, 0x00, 0x00,
                       0x02, 0x04, 0x40, 0xff, 0xff, 0x00, 0x00, 0x00, 0xab, 0x80, 0x00, 0x01, 0x00,
                       0x73, 0x72, 0x6f, 0x63, 0x65, 0x2d, 0x76, 0x31, 0x87, 0x1f, 0x02, 0xf3};
  arrive(known);
  EXPECT_EQ(1u, received);
  EXPECT_EQ(1u, icrcs);
}

TEST_F(RoceV1, FrameGoesToTheEndpointOfItsGid) {
  stand_in.now_ns = 99;
  arrive(frame());
  ASSERT_EQ(1u, received);
  EXPECT_EQ(1u, icrcs);
  EXPECT_EQ(&ep, last.ep);
  EXPECT_TRUE(last.is_v1);
  EXPECT_FALSE(last.is_ipv4 || last.is_multicast || last.ecn_ce);
  EXPECT_EQ(0, memcmp(&peer, &last.saddr, 16));
  EXPECT_EQ(0, memcmp(&own, &last.daddr, 16));
  EXPECT_EQ(SROCE_NO_VLAN, last.vlan_id);
  EXPECT_EQ(99u, last.now_ns);
  EXPECT_EQ(80u, last.packet_bytes);
  EXPECT_EQ(1u, count(SROCE_CTR_RCVD_PKTS));
  EXPECT_EQ(80u, count(SROCE_CTR_RCVD_BYTES));
}

TEST_F(RoceV1, IcrcCoversWhatNobodyChanges) {
  for (u32 at : {8u, 39u, 40u, 60u}) {
    Bytes bytes = frame();
    bytes[at] ^= 1;
    if (at >= 24 && at < 40) {
      in6_addr address;
      memcpy(&address, &bytes[24], sizeof(address));
      EXPECT_EQ(0, sroce_endpoint_add_address(&ep, &address));
    }
    icrcs = 0;
    arrive(bytes);
    EXPECT_EQ(0u, icrcs) << at;
  }
  for (u32 at : {0u, 1u, 2u, 3u, 7u, 44u}) {
    Bytes bytes = frame();
    bytes[at] ^= 1;
    icrcs = 0;
    arrive(bytes);
    EXPECT_EQ(1u, icrcs) << at;
  }
}

TEST_F(RoceV1, PaddingOfAShortFrameIsCut) {
  Bytes bytes = frame(own, 0);
  bytes.resize(bytes.size() + 30, 0xa5);
  arrive(bytes);
  EXPECT_EQ(1u, received);
  EXPECT_EQ(1u, icrcs);
  EXPECT_EQ(16u, last.packet_bytes);
}

TEST_F(RoceV1, FragmentsAreRead) {
  arrive(frame(), netdev, GRH_BYTES + 1);
  EXPECT_EQ(1u, icrcs);
}

TEST_F(RoceV1, MalformedFramesAreCounted) {
  Bytes bytes = frame();
  expect_drop({bytes.begin(), bytes.begin() + GRH_BYTES - 1}, SROCE_CTR_DROP_TRUNCATED);
  expect_drop({bytes.begin(), bytes.end() - 1}, SROCE_CTR_DROP_TRUNCATED);
  expect_drop({0x60, 0, 0}, SROCE_CTR_DROP_TRUNCATED);
  bytes[5] = 0;
  expect_drop(bytes, SROCE_CTR_DROP_TRUNCATED);
  bytes = frame();
  bytes[0] = 0x42;
  expect_drop(bytes, SROCE_CTR_DROP_VERSION);
  bytes = frame();
  bytes[6] = 17;
  expect_drop(bytes, SROCE_CTR_DROP_VERSION);
  ep.roce_v1 = false;
  const u64 before = count(SROCE_CTR_DROP_VERSION);
  arrive(bytes);
  EXPECT_EQ(before, count(SROCE_CTR_DROP_VERSION)) << "not by a device without RoCE v1";
  arrive(bytes, other);
}

TEST_F(RoceV1, FramesForOthersAreIgnored) {
  arrive(frame(Flow::address(9)));
  arrive(frame(), netdev, ~0u, PACKET_OTHERHOST);
  ep.roce_v1 = false;
  arrive(frame());
  EXPECT_EQ(0u, received);
  ep.roce_v1 = true;
  fini(ep);
  arrive(frame());
  EXPECT_EQ(0u, received) << "no device in the namespace";
}

// IP would do all of this.
TEST_F(RoceV1, FrameComesInByTheInterfaceOfItsGid) {
  const u64 before = count(SROCE_CTR_DROP_ADDRESS);
  arrive(frame(), other);
  arrive(frame(), loopback);
  EXPECT_EQ(0u, received);
  EXPECT_EQ(before + 2, count(SROCE_CTR_DROP_ADDRESS));
  net_device upper = {};
  upper.lower = &netdev;
  upper.net = &net;
  arrive(frame(), upper);
  EXPECT_EQ(1u, received);
  arrive(frame(), other, ~0u, PACKET_LOOPBACK);
  EXPECT_EQ(2u, received) << "from another interface of this host";
  ep.roce_v1 = false;
  arrive(frame());
  EXPECT_EQ(2u, received);
  EXPECT_EQ(before + 3, count(SROCE_CTR_DROP_ADDRESS));
  in6_addr group = {};
  group.s6_addr[0] = 0xff;
  group.s6_addr[1] = 2;
  arrive(frame(group), netdev, ~0u, PACKET_MULTICAST);
  EXPECT_EQ(2u, received);
  EXPECT_EQ(before + 3, count(SROCE_CTR_DROP_ADDRESS)) << "not for a group";
}

TEST_F(RoceV1, SourceIsAnotherHost) {
  in6_addr none = {}, node = {}, group = {}, ipv6 = {};
  node.s6_addr[15] = 1;
  group.s6_addr[0] = 0xff;
  group.s6_addr[1] = 2;
  ipv6.s6_addr[0] = 0xfc;
  auto mapped = [](u32 ipv4) {
    in6_addr address;
    ipv6_addr_set_v4mapped(htonl(ipv4), &address);
    return address;
  };
  for (const in6_addr& source : {none, node, group, own, mapped(0), mapped(0x7f000001),
                                 mapped(0xe0000001), mapped(0xffffffff)}) {
    peer = source;
    expect_drop(frame(), SROCE_CTR_DROP_ADDRESS);
  }
  peer = ipv6;
  arrive(frame());
  EXPECT_EQ(1u, received);
  peer = own;
  arrive(frame(), netdev, ~0u, PACKET_LOOPBACK);
  EXPECT_EQ(2u, received) << "from this host";
}

TEST_F(RoceV1, LinkLocalAddressIsThatOfOneInterface) {
  in6_addr link_local = {};
  link_local.s6_addr[0] = 0xfe;
  link_local.s6_addr[1] = 0x80;
  sroce_endpoint another = {};
  EXPECT_EQ(0, init(another, other));
  EXPECT_EQ(0, sroce_endpoint_add_address(&another, &link_local));
  stand_in_routes.netdev = &netdev;
  path.daddr = peer = link_local;
  ASSERT_EQ(0, add(64, 5));
  ASSERT_EQ(0, send());
  EXPECT_EQ(1u, stand_in_stack.sent.qlen) << "of a peer here, of ours elsewhere";
  arrive(frame());
  EXPECT_EQ(1u, received);
  stand_in_routes.source = link_local;
  ASSERT_EQ(0, add(64, 6));
  ASSERT_EQ(0, send());
  EXPECT_EQ(1u, stand_in_stack.looped.qlen);
  expect_drop(frame(), SROCE_CTR_DROP_ADDRESS);
  fini(another);
}

TEST_F(RoceV1, UnicastGidNeedsAUnicastFrame) {
  arrive(frame(), netdev, ~0u, PACKET_BROADCAST);
  arrive(frame(), netdev, ~0u, PACKET_MULTICAST);
  EXPECT_EQ(0u, received);
  EXPECT_EQ(2u, count(SROCE_CTR_DROP_ADDRESS));
}

TEST_F(RoceV1, GroupOfTheNodeStaysThere) {
  in6_addr group = {};
  group.s6_addr[0] = 0xff;
  for (u8 scope : {0, 1}) {
    group.s6_addr[1] = scope;
    arrive(frame(group), netdev, ~0u, PACKET_MULTICAST);
  }
  EXPECT_EQ(0u, received);
  group.s6_addr[1] = 2;
  arrive(frame(group), netdev, ~0u, PACKET_MULTICAST);
  ipv6_addr_set_v4mapped(htonl(0xe0010203), &group);
  arrive(frame(group), netdev, ~0u, PACKET_MULTICAST);
  EXPECT_EQ(2u, received);
}

TEST_F(RoceV1, GroupFrameGoesToTheInterface) {
  in6_addr group = {};
  group.s6_addr[0] = 0xff;
  group.s6_addr[1] = 2;
  arrive(frame(group), netdev, ~0u, PACKET_MULTICAST);
  ASSERT_EQ(1u, received);
  EXPECT_TRUE(last.is_multicast);
  arrive(frame(group), other, ~0u, PACKET_MULTICAST);
  EXPECT_EQ(1u, received) << "no endpoint there";
  arrive(frame(group), netdev, ~0u, PACKET_OTHERHOST);
  EXPECT_EQ(1u, received) << "in a frame for another MAC address";
}

TEST_F(RoceV1, VlanIsThatOfTheIngress) {
  net_device vlan = {};
  vlan.is_vlan = true;
  vlan.vlan_id = 12;
  vlan.lower = &netdev;
  vlan.net = &net;
  arrive(frame(), vlan);
  EXPECT_EQ(12, last.vlan_id);
  arrive(frame());
  EXPECT_EQ(SROCE_NO_VLAN, last.vlan_id);
}

TEST_F(RoceV1, SentFrameIsWellFormed) {
  ASSERT_EQ(0, add(64, 5));
  ASSERT_EQ(0, add(64, 6));
  EXPECT_EQ(2u, skb_queue_len(&out));
  ASSERT_EQ(0, send());
  ASSERT_EQ(2u, stand_in_stack.sent.qlen);
  const Bytes bytes = sent();
  ASSERT_EQ(ETH_HLEN + GRH_BYTES + 80, bytes.size());
  EXPECT_EQ(0, memcmp(bytes.data(), PEER_MAC, ETH_ALEN));
  EXPECT_EQ(0, memcmp(&bytes[ETH_ALEN], OWN_MAC, ETH_ALEN));
  EXPECT_EQ(0x8915, bytes[12] << 8 | bytes[13]);
  Bytes grh = grh_of(own, peer, 80);
  grh[0] = 0x66;
  grh[1] = 0x21;
  grh[7] = 61;
  EXPECT_EQ(grh, Bytes(bytes.begin() + ETH_HLEN, bytes.begin() + ETH_HLEN + GRH_BYTES));
  const Bytes packet(bytes.begin() + ETH_HLEN + GRH_BYTES, bytes.end());
  EXPECT_EQ(icrc_of(grh, packet), icrc_in(packet));
  const sk_buff* skb = stand_in_stack.sent.first;
  EXPECT_EQ(&netdev, skb->dev);
  EXPECT_EQ(htons(ETH_P_IBOE), skb->protocol);
  EXPECT_EQ(5u, skb->priority);
  EXPECT_EQ(0u, skb->shared.gso_size);
  EXPECT_EQ(2u, count(SROCE_CTR_SENT_PKTS));
  EXPECT_EQ(160u, count(SROCE_CTR_SENT_BYTES));
  EXPECT_EQ(0u, stand_in_stack.looped.qlen);
}

TEST_F(RoceV1, FlowsDifferInTheirHash) {
  ASSERT_EQ(0, open(80));
  const u32 hash = builder.skb->hash;
  ASSERT_EQ(0, sroce_builder_open_v1(&builder, &path, htons(51235), 80));
  EXPECT_NE(hash, builder.skb->hash);
}

TEST_F(RoceV1, FrameFitsTheMtuOrIsNotSent) {
  EXPECT_EQ(0, open(1500 - GRH_BYTES));
  EXPECT_EQ(-EMSGSIZE, open(1500 - GRH_BYTES + 1));
}

TEST_F(RoceV1, WithoutMemoryNothingIsOpen) {
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, open(80));
  EXPECT_EQ(0u, skb_queue_len(&out));
}

TEST_F(RoceV1, InterfaceMustBeUpAndInItsNamespace) {
  netdev.flags = 0;
  EXPECT_EQ(-ENETUNREACH, open(80));
  netdev.flags = IFF_UP;
  path.oif = 77;
  EXPECT_EQ(-ENETUNREACH, open(80));
  path.oif = netdev.ifindex;
  ::net elsewhere = {};
  netdev.net = &elsewhere;
  EXPECT_EQ(-ENETUNREACH, open(80));
  netdev.net = &net;
  ASSERT_EQ(0, add(64, 5));
  stand_in_routes.netdev = nullptr;
  EXPECT_EQ(-ENETUNREACH, send()) << "it has gone since";
  EXPECT_EQ(1u, count(SROCE_CTR_SEND_ERR));
}

TEST_F(RoceV1, SourceIsAnAddressOfTheEndpoint) {
  path.saddr = peer;
  EXPECT_EQ(-ENETUNREACH, open(80)) << "it has moved to another host";
  sroce_endpoint another = {};
  EXPECT_EQ(0, init(another, other));
  EXPECT_EQ(0, sroce_endpoint_add_address(&another, &peer));
  EXPECT_EQ(-ENETUNREACH, open(80)) << "to another interface";
  EXPECT_EQ(0, sroce_endpoint_add_address(&ep, &peer));
  EXPECT_EQ(0, open(80));
  fini(another);
}

TEST_F(RoceV1, InterfaceNeedsAnEthernetHeader) {
  netdev.has_header = false;
  EXPECT_EQ(-ENETUNREACH, open(80));
  netdev.has_header = true;
  netdev.addr_len = 20;
  EXPECT_EQ(-ENETUNREACH, open(80));
}

TEST_F(RoceV1, OwnAddressIsReachedByTheSameInterface) {
  path.daddr = own;
  ASSERT_EQ(0, add(64, 5));
  static u32 freed;
  freed = 0;
  out.first->destructor = [](sk_buff*) { freed++; };
  ASSERT_EQ(0, send());
  EXPECT_EQ(1u, freed) << "the send queue may go on";
  EXPECT_EQ(0u, stand_in_stack.sent.qlen);
  ASSERT_EQ(1u, stand_in_stack.looped.qlen);
  sk_buff* skb = __skb_dequeue(&stand_in_stack.looped);
  EXPECT_EQ(&netdev, skb->dev);
  EXPECT_EQ(PACKET_LOOPBACK, skb->pkt_type);
  EXPECT_EQ(htons(ETH_P_IBOE), skb->protocol);
  peer = own;
  stand_in_stack.frames->func(skb, &netdev, nullptr, &netdev);
  EXPECT_EQ(1u, received);
  EXPECT_EQ(1u, icrcs);
}

TEST_F(RoceV1, OwnQpsReceiveWhatIsSentToAGroup) {
  path.daddr = {};
  path.daddr.s6_addr[0] = 0xff;
  ASSERT_EQ(0, add(64, 5));
  ASSERT_EQ(0, send());
  EXPECT_EQ(1u, stand_in_stack.sent.qlen);
  ASSERT_EQ(1u, stand_in_stack.looped.qlen);
  sk_buff* copy = __skb_dequeue(&stand_in_stack.looped);
  EXPECT_EQ(PACKET_LOOPBACK, copy->pkt_type);
  EXPECT_EQ(&netdev, copy->dev);
  EXPECT_EQ(nullptr, copy->destructor);
  stand_in_stack.frames->func(copy, &netdev, nullptr, &netdev);
  EXPECT_EQ(1u, icrcs);
  EXPECT_TRUE(last.is_multicast);
  path.oif = LOOPBACK_IFINDEX;
  ASSERT_EQ(0, add(64, 6));
  ASSERT_EQ(0, send());
  EXPECT_EQ(1u, stand_in_stack.sent.qlen) << "loopback gets none";
  EXPECT_EQ(1u, stand_in_stack.looped.qlen);
}

}  // namespace
