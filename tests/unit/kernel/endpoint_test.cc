// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Endpoints, their sockets and addresses, and the end of a namespace: kernel/net/endpoint.c.
#include <gtest/gtest.h>

#include "unit/kernel/namespace.h"

namespace {

struct Endpoint : testing::Test, Namespace {
  sroce_endpoint* find(const in6_addr& address, const net_device& ingress) {
    return sroce_demux_find_endpoint(sockets(), &ingress, &address);
  }
};

TEST_F(Endpoint, FirstOneOpensTheSocketsOfTheNamespace) {
  ASSERT_EQ(0, init(ep, netdev));
  EXPECT_TRUE(stand_in_stack.v4.is_open && stand_in_stack.v6.is_open);
  EXPECT_TRUE(stand_in_stack.v4.gro && stand_in_stack.v6.gro);
  EXPECT_TRUE(stand_in_stack.v4.loops) << "QPs of this host are in groups, too";
  EXPECT_EQ(htons(4791), stand_in_stack.port.local_udp_port);
  EXPECT_TRUE(stand_in_stack.port.ipv6_v6only);
  EXPECT_EQ(sroce_udp_receive, stand_in_stack.tunnel.encap_rcv);
  EXPECT_NE(0, stand_in_stack.tunnel.encap_type);
  EXPECT_NE(nullptr, stand_in_stack.hooks);
  EXPECT_EQ(1, netdev.refs);
  EXPECT_EQ(&net, sroce_endpoint_net(&ep));
  ASSERT_EQ(0, init(other_ep, other)) << "the same sockets";
  EXPECT_EQ(ep.sockets, other_ep.sockets);
  fini(ep);
  EXPECT_TRUE(stand_in_stack.v4.is_open);
  fini(other_ep);
  EXPECT_FALSE(stand_in_stack.v4.is_open || stand_in_stack.v6.is_open);
  EXPECT_EQ(nullptr, stand_in_stack.hooks);
  EXPECT_EQ(0, netdev.refs + other.refs);
  ASSERT_EQ(0, init(ep, netdev)) << "they are opened again";
  EXPECT_TRUE(stand_in_stack.v4.is_open);
}

TEST_F(Endpoint, PortInUseLeavesNothing) {
  stand_in_stack.v4_error = -EADDRINUSE;
  EXPECT_EQ(-EADDRINUSE, init(ep, netdev));
  EXPECT_EQ(0, netdev.refs);
  EXPECT_EQ(nullptr, ep.counters);
  EXPECT_EQ(nullptr, stand_in_stack.hooks);
  stand_in_stack.v4_error = 0;
  stand_in_stack.v6_error = -EADDRINUSE;
  EXPECT_EQ(-EADDRINUSE, init(ep, netdev));
  EXPECT_FALSE(stand_in_stack.v4.is_open);
  stand_in_stack.v6_error = 0;
  EXPECT_EQ(0, init(ep, netdev));
}

TEST_F(Endpoint, WithoutIpv6ThereIsOneSocket) {
  stand_in_stack.v6_error = -EAFNOSUPPORT;
  ASSERT_EQ(0, init(ep, netdev));
  EXPECT_EQ(nullptr, sroce_endpoint_get_sock(&ep, false));
  EXPECT_EQ(&stand_in_stack.v4.own, sroce_endpoint_get_sock(&ep, true));
  EXPECT_EQ(2, stand_in_stack.v4.own.refs);
}

TEST_F(Endpoint, WithoutIpv4ThereIsNone) {
  stand_in_stack.v4_error = -EAFNOSUPPORT;
  EXPECT_EQ(-EAFNOSUPPORT, init(ep, netdev));
  EXPECT_FALSE(stand_in_stack.v6.is_open);
}

TEST_F(Endpoint, SocketWithoutGroIsClosed) {
  stand_in_stack.gro_error = -ENOPROTOOPT;
  EXPECT_EQ(-ENOPROTOOPT, init(ep, netdev));
  EXPECT_FALSE(stand_in_stack.v4.is_open);
}

TEST_F(Endpoint, MemoryOrHooksThatFailLeaveNothing) {
  for (u32 n : {1, 2}) {
    stand_in.fail_allocation = n;
    EXPECT_EQ(-ENOMEM, init(ep, netdev)) << n;
    EXPECT_EQ(0, netdev.refs);
  }
  stand_in.fail_allocation = 0;
  stand_in_stack.hook_error = -ENOMEM;
  EXPECT_EQ(-ENOMEM, init(ep, netdev));
  EXPECT_FALSE(stand_in_stack.v4.is_open);
}

// Routes must be gone before the namespace is, and no packet of a run under way may be lost in it.
TEST_F(Endpoint, NamespaceEndsInOrder) {
  ASSERT_EQ(0, init(ep, netdev));
  ASSERT_EQ(0, init(other_ep, other));
  static u32 graces;
  graces = 0;
  stand_in_stack.grace = [] {
    EXPECT_EQ(nullptr, sroce_endpoint_net(&current->ep)) << "nobody may find another route";
    EXPECT_EQ(graces++ ? 2u : 0u, current->released.size());
    EXPECT_TRUE(stand_in_stack.v4.is_open);
    EXPECT_FALSE(sroce_endpoint_has_ended(&current->ep));
  };
  end();
  EXPECT_STREQ(" grace routes routes grace close-v4 close-v6 unhook", stand_in_stack.events);
  EXPECT_EQ((std::set<sroce_endpoint*>{&ep, &other_ep}), released);
  EXPECT_TRUE(sroce_endpoint_has_ended(&ep));
  EXPECT_EQ(nullptr, sroce_endpoint_get_sock(&ep, true));
  EXPECT_FALSE(stand_in_stack.v4.own.user_data);
}

// They are unregistered later.
TEST_F(Endpoint, EndpointOutlivesItsNamespace) {
  ASSERT_EQ(0, init(ep, netdev));
  stand_in_stack.grace = nullptr;
  end();
  EXPECT_EQ(nullptr, net_sockets()) << "the namespace has none";
  const std::string before = stand_in_stack.events;
  fini(ep);
  EXPECT_EQ(before + " grace", stand_in_stack.events) << "the sockets were closed";
}

TEST_F(Endpoint, NamespaceWithoutEndpointsEnds) {
  end();
  EXPECT_STREQ("", stand_in_stack.events);
}

TEST_F(Endpoint, FiniWaitsForReceivers) {
  ASSERT_EQ(0, init(ep, netdev));
  stand_in_stack.grace = [] { EXPECT_EQ(1, current->netdev.refs); };
  fini(ep);
  EXPECT_STREQ(" close-v4 close-v6 unhook grace", stand_in_stack.events);
}

TEST_F(Endpoint, ModuleWaitsForReceiversBeforeItsEnd) {
  sroce_net_fini();
  EXPECT_STREQ(" frames unregister grace barrier cache", stand_in_stack.events);
}

TEST_F(Endpoint, NetdevThatMovedHasNoNamespace) {
  ASSERT_EQ(0, init(ep, netdev));
  ::net elsewhere = {};
  stand_in.rtnl = true;
  netdev.reg_state = NETREG_REGISTERED;
  EXPECT_TRUE(sroce_endpoint_is_in_place(&ep));
  netdev.net = &elsewhere;
  EXPECT_EQ(nullptr, sroce_endpoint_net(&ep));
  EXPECT_FALSE(sroce_endpoint_is_in_place(&ep));
  netdev.net = &net;
  netdev.reg_state = NETREG_REGISTERED + 1;
  EXPECT_FALSE(sroce_endpoint_is_in_place(&ep));
}

TEST_F(Endpoint, AddressIsFoundUntilItsLastGidGoes) {
  const in6_addr one = Flow::address(1), two = Flow::address(2);
  ASSERT_EQ(0, init(ep, netdev));
  EXPECT_EQ(0, sroce_endpoint_add_address(&ep, &one));
  EXPECT_EQ(0, sroce_endpoint_add_address(&ep, &one));
  EXPECT_EQ(&ep, find(one, netdev));
  EXPECT_EQ(&ep, find(one, other)) << "of this host";
  EXPECT_EQ(nullptr, find(two, netdev));
  sroce_endpoint_del_address(&ep, &two);
  sroce_endpoint_del_address(&ep, &one);
  EXPECT_EQ(&ep, find(one, netdev));
  sroce_endpoint_del_address(&ep, &one);
  EXPECT_EQ(nullptr, find(one, netdev));
}

TEST_F(Endpoint, AllOfAnIpv6AddressIsHashed) {
  in6_addr one = Flow::address(1);
  one.s6_addr[0] = 0xfe;
  ASSERT_EQ(0, init(ep, netdev));
  EXPECT_EQ(0, sroce_endpoint_add_address(&ep, &one));
  EXPECT_EQ(&ep, find(one, netdev));
  sroce_endpoint_del_address(&ep, &one);
  EXPECT_EQ(nullptr, find(one, netdev));
}

TEST_F(Endpoint, AddressWithoutMemoryIsNotThere) {
  const in6_addr one = Flow::address(1);
  ASSERT_EQ(0, init(ep, netdev));
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, sroce_endpoint_add_address(&ep, &one));
  EXPECT_EQ(nullptr, find(one, netdev));
}

TEST_F(Endpoint, GroupIsNoAddress) {
  in6_addr group = Flow::address(1);
  group.s6_addr[12] = 224;
  ASSERT_EQ(0, init(ep, netdev));
  EXPECT_EQ(0, sroce_endpoint_add_address(&ep, &group));
  EXPECT_EQ(nullptr, find(group, netdev));
}

// For example the link-local address of a VLAN.
TEST_F(Endpoint, AddressOfTwoIsThatOfTheIngress) {
  const in6_addr one = Flow::address(1);
  ASSERT_EQ(0, init(ep, netdev));
  ASSERT_EQ(0, init(other_ep, other));
  for (sroce_endpoint* endpoint : {&ep, &other_ep}) sroce_endpoint_add_address(endpoint, &one);
  EXPECT_EQ(&ep, find(one, netdev));
  EXPECT_EQ(&other_ep, find(one, other));
  net_device vlan = {};
  vlan.is_vlan = true;
  vlan.lower = &netdev;
  EXPECT_EQ(&ep, find(one, vlan));
  vlan.lower = &other;
  EXPECT_EQ(&other_ep, find(one, vlan));
}

TEST_F(Endpoint, AddressesGoWithTheirEndpoint) {
  const in6_addr one = Flow::address(1), two = Flow::address(2);
  ASSERT_EQ(0, init(ep, netdev));
  ASSERT_EQ(0, init(other_ep, other));
  sroce_endpoint_add_address(&ep, &one);
  sroce_endpoint_add_address(&other_ep, &one);
  sroce_endpoint_add_address(&ep, &two);
  fini(ep);
  EXPECT_EQ(&other_ep, find(one, netdev));
  EXPECT_EQ(nullptr, find(two, netdev));
}

TEST_F(Endpoint, GroupPacketBelongsToTheInterface) {
  net_device vlan = {};
  vlan.is_vlan = true;
  vlan.lower = &netdev;
  ASSERT_EQ(0, init(ep, netdev));
  EXPECT_EQ(&ep, sroce_demux_find_netdev(sockets(), &netdev));
  EXPECT_EQ(&ep, sroce_demux_find_netdev(sockets(), &vlan));
  EXPECT_EQ(nullptr, sroce_demux_find_netdev(sockets(), &other));
  vlan.net = &net;
  ASSERT_EQ(0, init(other_ep, vlan));
  EXPECT_EQ(&other_ep, sroce_demux_find_netdev(sockets(), &vlan)) << "the nearest";
  fini(other_ep);
}

}  // namespace
