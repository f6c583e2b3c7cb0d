// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Routes: kernel/net/path.c.
#include <gtest/gtest.h>

#include "stand_in/route.h"

extern "C" {
#include "net/path.h"
}

#include <initializer_list>

namespace {

in6_addr ipv4(u32 address) {
  in6_addr mapped = {};
  mapped.s6_addr32[2] = htonl(0xffff);
  mapped.s6_addr32[3] = htonl(address);
  return mapped;
}

in6_addr ipv6(u8 first, u8 last) {
  in6_addr address = {};
  address.s6_addr[0] = first;
  address.s6_addr[15] = last;
  return address;
}

constexpr u32 OWN = 0x0a000001, OTHER_OWN = 0x0a000101, PEER = 0x0a000002, SUBNET = 0x0a0000ff;

struct Path : testing::Test {
  Path() {
    stand_in = {};
    stand_in_routes = {};
    stand_in_routes.local = htonl(OTHER_OWN);
    stand_in_routes.broadcast = htonl(SUBNET);
    stand_in_routes.source = ipv6(0xfd, 1);
    stand_in_routes.netdev = &netdev;
    stand_in_routes.rt.dst.dev = &netdev;
    stand_in_routes.rt6.dst.dev = &netdev;
    stand_in_routes.rt6.dst.cookie = 77;
  }
  // The reference that is left is that of @dst, if it is a route.
  void expect_error(int error, const dst_entry* dst) {
    EXPECT_TRUE(IS_ERR(dst));
    EXPECT_EQ(error, PTR_ERR(dst));
    EXPECT_EQ(0, stand_in.dst_refs);
  }
  void expect_route(const dst_entry* expected, dst_entry* dst) {
    EXPECT_EQ(expected, dst);
    EXPECT_EQ(1, stand_in.dst_refs);
    dst_release(dst);
  }
  dst_entry* route(const sroce_path& path) { return sroce_path_route(&ep, &path, htons(0xc123)); }
  dst_entry* again(const sroce_path& path) {
    return sroce_path_route_again(&ep, &path, &cache, &cookie);
  }
  dst_entry* cached(const sroce_path& path) {
    return sroce_path_route_cached(&ep, &path, &cache, &cookie);
  }
  bool edt_with(const char* id) {
    const Qdisc_ops ops = {id};
    Qdisc qdisc = {&ops};
    netdev.queue.qdisc = &qdisc;
    return sroce_path_supports_edt(&stand_in_routes.rt.dst);
  }

  net ns = {};
  net_device netdev = {.ifindex = 5, .mtu = 1500, .flags = 0, .net = &ns, .queue = {}};
  net_device other = {.ifindex = 6, .mtu = 1500, .flags = 0, .net = &ns, .queue = {}};
  sroce_endpoint ep = {.netdev = &netdev};
  sroce_path v4 = {.saddr = ipv4(OWN),
                   .daddr = ipv4(PEER),
                   .is_ipv4 = true,
                   .tos = 0xba,
                   .sport = htons(0xc777),
                   .oif = 5};
  sroce_path v6 = {.saddr = ipv6(0xfd, 1),
                   .daddr = ipv6(0xfd, 2),
                   .tos = 0xba,
                   .sport = htons(0xc777),
                   .flow_label = 0x12345,
                   .oif = 5};
  dst_entry* cache = nullptr;
  u32 cookie = 0;
};

TEST_F(Path, Ipv4KeyIsThatOfThePackets) {
  expect_route(&stand_in_routes.rt.dst, route(v4));
  const flowi4& key = stand_in_routes.fl4;
  EXPECT_EQ(htonl(OWN), key.saddr);
  EXPECT_EQ(htonl(PEER), key.daddr);
  EXPECT_EQ(5, key.flowi4_oif);
  EXPECT_EQ(IPPROTO_UDP, key.flowi4_proto);
  EXPECT_EQ(htons(0xc123), key.fl4_sport);
  EXPECT_EQ(htons(4791), key.fl4_dport);
  EXPECT_EQ(0xb8, key.flowi4_dscp);
}

TEST_F(Path, Ipv6KeyIsThatOfThePackets) {
  expect_route(&stand_in_routes.rt6.dst, route(v6));
  const flowi6& key = stand_in_routes.fl6;
  EXPECT_TRUE(ipv6_addr_equal(&v6.saddr, &key.saddr));
  EXPECT_TRUE(ipv6_addr_equal(&v6.daddr, &key.daddr));
  EXPECT_EQ(5, key.flowi6_oif);
  EXPECT_EQ(IPPROTO_UDP, key.flowi6_proto);
  EXPECT_EQ(htons(0xc123), key.fl6_sport);
  EXPECT_EQ(htons(4791), key.fl6_dport);
  EXPECT_EQ(htonl(0xba << 20 | 0x12345), key.flowlabel);
}

TEST_F(Path, AddressOfThisHostIsReachedWithoutTheInterface) {
  v4.daddr = ipv4(OTHER_OWN);
  expect_route(&stand_in_routes.rt.dst, route(v4));
  EXPECT_EQ(0, stand_in_routes.fl4.flowi4_oif);
}

TEST_F(Path, ErrorsOfTheLookupAreReturned) {
  stand_in_routes.error = -EHOSTUNREACH;
  expect_error(-EHOSTUNREACH, route(v4));
  expect_error(-EHOSTUNREACH, route(v6));
}

TEST_F(Path, RouteMayBeAnError) {
  stand_in_routes.rt.dst.error = stand_in_routes.rt6.dst.error = -EACCES;
  expect_error(-EACCES, route(v4));
  expect_error(-EACCES, route(v6));
}

TEST_F(Path, BroadcastRouteIsUnusable) {
  stand_in_routes.rt.rt_flags = RTCF_BROADCAST;
  expect_error(-ENETUNREACH, route(v4));
  for (unsigned int flag : {RTCF_MULTICAST + 0u, 0x80000000u}) {
    stand_in_routes.rt.rt_flags = flag;
    expect_route(&stand_in_routes.rt.dst, route(v4));
  }
}

TEST_F(Path, GroupIsReachedByTheInterface) {
  v4.daddr = ipv4(0xefff0001);
  expect_route(&stand_in_routes.rt.dst, route(v4));
  EXPECT_EQ(5, stand_in_routes.fl4.flowi4_oif);
}

TEST_F(Path, Ipv6LeavesByTheInterfaceOfItsGid) {
  stand_in_routes.rt6.dst.dev = &other;
  expect_error(-ENETUNREACH, route(v6));
  stand_in_routes.rt6.rt6i_flags = RTF_LOCAL;
  expect_route(&stand_in_routes.rt6.dst, route(v6));
}

TEST_F(Path, Ipv6SourceMustBeOurs) {
  v6.saddr = ipv6(0xfd, 9);
  expect_error(-ENETUNREACH, route(v6));
  stand_in_routes.rt6.rt6i_flags = RTF_LOCAL;
  expect_error(-ENETUNREACH, route(v6));
}

TEST_F(Path, Ipv6SourceMustBeOnTheInterface) {
  stand_in_routes.netdev = &other;
  expect_error(-ENETUNREACH, route(v6));
  stand_in_routes.netdev = nullptr;
  expect_error(-ENETUNREACH, route(v6));
  net elsewhere = {};
  netdev.net = &elsewhere;
  net_device copy = netdev;
  copy.net = &ns;
  stand_in_routes.netdev = &copy;
  expect_error(-ENETUNREACH, route(v6));
}

TEST_F(Path, NoRouteOnceTheInterfaceHasLeftItsNamespace) {
  stand_in_routes.left = true;
  expect_error(-ENETUNREACH, route(v4));
  expect_error(-ENETUNREACH, route(v6));
  EXPECT_EQ(0u, stand_in_routes.lookups);
  expect_error(-ENETUNREACH, again(v6));
  EXPECT_EQ(nullptr, cache);
}

TEST_F(Path, BroadcastIsThatOfTheInterfaces) {
  for (u32 address : {PEER, OTHER_OWN, 0xe0000001u}) {
    v4.daddr = ipv4(address);
    EXPECT_FALSE(sroce_path_is_broadcast(&ep, &v4)) << address;
  }
  v4.daddr = ipv4(SUBNET);
  EXPECT_TRUE(sroce_path_is_broadcast(&ep, &v4));
  memcpy(&v6.daddr.s6_addr[12], &v4.daddr.s6_addr[12], 4);
  EXPECT_FALSE(sroce_path_is_broadcast(&ep, &v6));
}

TEST_F(Path, NewRouteReplacesTheCachedOne) {
  EXPECT_EQ(&stand_in_routes.rt6.dst, again(v6));
  EXPECT_EQ(&stand_in_routes.rt6.dst, again(v6));
  EXPECT_EQ(cache, &stand_in_routes.rt6.dst);
  EXPECT_EQ(77u, cookie);
  EXPECT_EQ(htons(0xc777), stand_in_routes.fl6.fl6_sport) << "the path's own";
  EXPECT_EQ(1, stand_in.dst_refs) << "the cache's";
  EXPECT_EQ(&stand_in_routes.rt.dst, again(v4));
  EXPECT_EQ(0u, cookie) << "of IPv4";
  EXPECT_EQ(1, stand_in.dst_refs);
}

TEST_F(Path, FailedLookupEmptiesTheCache) {
  again(v6);
  stand_in_routes.error = -ENETUNREACH;
  expect_error(-ENETUNREACH, again(v6));
  EXPECT_EQ(nullptr, cache);
  stand_in_routes.error = 0;
  EXPECT_EQ(&stand_in_routes.rt6.dst, cached(v6));
  EXPECT_EQ(1, stand_in.dst_refs);
}

TEST_F(Path, CachedRouteServesUntilItExpires) {
  EXPECT_EQ(&stand_in_routes.rt6.dst, cached(v6));
  EXPECT_EQ(&stand_in_routes.rt6.dst, cached(v6));
  EXPECT_EQ(1u, stand_in_routes.lookups);
  stand_in_routes.rt6.dst.cookie++;
  EXPECT_EQ(&stand_in_routes.rt6.dst, cached(v6));
  EXPECT_EQ(2u, stand_in_routes.lookups);
  EXPECT_EQ(78u, cookie);
  EXPECT_EQ(1, stand_in.dst_refs);
}

TEST_F(Path, OnlyFqObeysDepartureTimes) {
  EXPECT_TRUE(edt_with("fq"));
  for (const char* id : {"fq_codel", "fq_pie", "f", "noqueue", "pfifo_fast", "mq", "etf", ""})
    EXPECT_FALSE(edt_with(id)) << id;
  EXPECT_FALSE(sroce_path_supports_edt(nullptr));
  stand_in_routes.rt.dst.xfrm = &ns;
  EXPECT_FALSE(edt_with("fq")) << "behind ESP";
}

}  // namespace
