// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// From the UDP socket to the endpoint: kernel/net/udp.c.
#include <gtest/gtest.h>

#include "unit/kernel/namespace.h"

namespace {

struct Udp : testing::Test, Namespace {
  Udp() {
    EXPECT_EQ(0, init(ep, netdev));
    flow.daddr = address = Flow::address(2);
    EXPECT_EQ(0, sroce_endpoint_add_address(&ep, &address));
    on_receive = [this](sroce_rx* rx) {
      received++;
      last = *rx;
      while (sroce_rx_next(rx)) icrcs += sroce_rx_icrc_ok(rx);
      consume_skb(rx->skb);
    };
  }

  // Packets of one size each, as GRO leaves them.
  sk_buff* skb_of(u32 packets, u32 payload = 64) {
    Bytes all(UDP_BYTES);
    for (u32 i = 0; i < packets; i++) {
      const Bytes packet = packet_bytes(flow, packet_of(SROCE_OP_SEND_MIDDLE, 7 + i),
                                        Bytes(payload, i), flow.ip_id + i);
      all.insert(all.end(), packet.begin(), packet.end());
    }
    sk_buff* skb = make_skb(flow, all);
    if (packets > 1) skb->shared.gso_size = payload + 16;
    skb->dev = &netdev;
    skb->iif = netdev.ifindex;
    return skb;
  }
  void arrive(sk_buff* skb) {
    EXPECT_EQ(0, stand_in_stack.tunnel.encap_rcv(&stand_in_stack.v4.own, skb));
  }
  u64 count(sroce_counter which) { return ep.counters[0].value[which]; }

  Flow flow;
  in6_addr address;
  u32 received = 0;
  u32 icrcs = 0;
  sroce_rx last = {};
};

TEST_F(Udp, PacketGoesToTheEndpointOfItsAddress) {
  stand_in.now_ns = 99;
  arrive(skb_of(1));
  ASSERT_EQ(1u, received);
  EXPECT_EQ(1u, icrcs);
  EXPECT_EQ(&ep, last.ep);
  EXPECT_TRUE(last.is_ipv4);
  EXPECT_FALSE(last.is_multicast || last.ecn_ce);
  EXPECT_EQ(0, memcmp(&flow.saddr, &last.saddr, 16));
  EXPECT_EQ(0, memcmp(&flow.daddr, &last.daddr, 16));
  EXPECT_EQ(SROCE_NO_VLAN, last.vlan_id);
  EXPECT_EQ(99u, last.now_ns);
  EXPECT_EQ(80u, last.packet_bytes);
  EXPECT_EQ(1u, count(SROCE_CTR_RCVD_PKTS));
  EXPECT_EQ(88u, count(SROCE_CTR_RCVD_BYTES));
}

TEST_F(Udp, Ipv6PacketHasItsAddresses) {
  flow.is_ipv4 = false;
  flow.saddr.s6_addr[0] = flow.daddr.s6_addr[0] = 0xfc;
  sroce_endpoint_add_address(&ep, &flow.daddr);
  arrive(skb_of(1));
  ASSERT_EQ(1u, received);
  EXPECT_EQ(1u, icrcs);
  EXPECT_FALSE(last.is_ipv4);
  EXPECT_EQ(0, memcmp(&flow.saddr, &last.saddr, 16));
  EXPECT_EQ(0, memcmp(&flow.daddr, &last.daddr, 16));
}

TEST_F(Udp, SkbOfManyPacketsIsReadAtOnce) {
  flow.tos = 3;
  arrive(skb_of(3));
  EXPECT_EQ(1u, received);
  EXPECT_EQ(3u, icrcs);
  EXPECT_EQ(80u, last.packet_bytes);
  EXPECT_EQ(3u, count(SROCE_CTR_RCVD_PKTS));
  EXPECT_EQ(3u, count(SROCE_CTR_NP_ECN_MARKED));
}

TEST_F(Udp, OnlyBothBitsAreAMark) {
  for (u8 tos : {1, 2}) {
    flow.tos = tos;
    arrive(skb_of(1));
    EXPECT_FALSE(last.ecn_ce);
  }
  EXPECT_EQ(0u, count(SROCE_CTR_NP_ECN_MARKED));
}

TEST_F(Udp, PacketForNobodyIsFreed) {
  flow.daddr = Flow::address(9);
  arrive(skb_of(1));
  EXPECT_EQ(0u, received);
  EXPECT_EQ(0u, count(SROCE_CTR_RCVD_PKTS));
}

TEST_F(Udp, DatagramWithoutABthIsDropped) {
  sk_buff* skb = make_skb(flow, Bytes(UDP_BYTES));
  skb->dev = &netdev;
  arrive(skb);
  EXPECT_EQ(0u, received);
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_TRUNCATED));
}

TEST_F(Udp, SocketThatIsBeingClosedReceivesNothing) {
  sock closing = {};
  EXPECT_EQ(0, sroce_udp_receive(&closing, skb_of(1)));
  EXPECT_EQ(0u, received);
}

TEST_F(Udp, GroupPacketGoesToTheInterface) {
  flow.daddr.s6_addr[12] = 224;
  arrive(skb_of(1));
  ASSERT_EQ(1u, received);
  EXPECT_TRUE(last.is_multicast);
  EXPECT_EQ(&ep, last.ep);
  sk_buff* skb = skb_of(1);
  skb->dev = &other;
  arrive(skb);
  EXPECT_EQ(1u, received) << "no endpoint there";
}

TEST_F(Udp, VlanIsThatOfTheIngress) {
  net_device vlan = {};
  vlan.is_vlan = true;
  vlan.vlan_id = 12;
  vlan.lower = &netdev;
  sk_buff* skb = skb_of(1);
  skb->dev = &vlan;
  arrive(skb);
  ASSERT_EQ(1u, received);
  EXPECT_EQ(12, last.vlan_id);
}

// A packet between two addresses of this host comes in by loopback.
TEST_F(Udp, LoopbackStandsForTheOwnerOfTheAddress) {
  net_device loopback = {};
  loopback.flags = IFF_LOOPBACK;
  loopback.net = &net;
  net_device vlan = {};
  vlan.is_vlan = true;
  vlan.vlan_id = 12;
  vlan.lower = &netdev;
  vlan.net = &net;
  vlan.ifindex = 9;
  stand_in_routes.netdev = &vlan;
  stand_in_routes.local = flow.daddr.s6_addr32[3];
  for (bool is_ipv4 : {true, false}) {
    flow.is_ipv4 = is_ipv4;
    sk_buff* skb = skb_of(1);
    skb->dev = &loopback;
    skb->iif = vlan.ifindex;
    arrive(skb);
    EXPECT_EQ(12, last.vlan_id) << is_ipv4;
  }
  stand_in_routes.netdev = nullptr;
  sk_buff* skb = skb_of(1);
  skb->dev = &loopback;
  arrive(skb);
  EXPECT_EQ(SROCE_NO_VLAN, last.vlan_id);
  EXPECT_EQ(3u, received);
}

}  // namespace
