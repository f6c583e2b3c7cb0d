// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The interface's membership in multicast groups: kernel/net/membership.c.
#include <gtest/gtest.h>

#include "unit/kernel/namespace.h"

extern "C" {
#include "net/membership.h"
#include "stand_in/membership.h"
}

namespace {

struct Membership : testing::Test, Namespace {
  Membership() {
    stand_in_membership = {};
    stand_in_membership.v4 = &v4;
    stand_in_membership.v6 = &v6;
    ipv6_addr_set_v4mapped(htonl(0xe0010203), &ipv4_group);
    ipv6_group.s6_addr[0] = 0xff;
    ipv6_group.s6_addr[15] = 9;
    netdev.reg_state = NETREG_REGISTERED;
    EXPECT_EQ(0, init(ep, netdev));
  }
  ~Membership() override {
    EXPECT_EQ(0, v4.refs + v6.refs);
    EXPECT_FALSE(stand_in.rtnl);
    while (v4.mc_list) {
      ip_mc_list* next = v4.mc_list->next_rcu;
      free(v4.mc_list);
      v4.mc_list = next;
    }
  }
  int join(const in6_addr& group) {
    membership = {};
    return sroce_membership_join(&membership, &ep, &group);
  }
  void leave(const in6_addr& group) { sroce_membership_leave(&membership, &ep, &group); }

  in_device v4 = {};
  inet6_dev v6 = {};
  in6_addr ipv4_group = {};
  in6_addr ipv6_group = {};
  sroce_membership membership = {};
};

TEST_F(Membership, OfAnIpv4Group) {
  ASSERT_EQ(0, join(ipv4_group));
  EXPECT_EQ(1, stand_in_membership.users);
  EXPECT_EQ(htonl(0xe0010203), stand_in_membership.group);
  EXPECT_EQ(&v4, membership.in_dev);
  EXPECT_EQ(1, v4.refs);
  EXPECT_EQ(0, stand_in_membership.users6);
  stand_in_membership.group = 0;
  leave(ipv4_group);
  EXPECT_EQ(htonl(0xe0010203), stand_in_membership.group);
  EXPECT_EQ(0, stand_in_membership.users);
}

TEST_F(Membership, OfAnIpv6Group) {
  ASSERT_EQ(0, join(ipv6_group));
  EXPECT_EQ(1, stand_in_membership.users6);
  EXPECT_TRUE(ipv6_addr_equal(&ipv6_group, &stand_in_membership.group6));
  EXPECT_EQ(1, v6.refs);
  EXPECT_EQ(0, stand_in_membership.users);
  stand_in_membership.group6 = {};
  leave(ipv6_group);
  EXPECT_TRUE(ipv6_addr_equal(&ipv6_group, &stand_in_membership.group6));
  EXPECT_EQ(0, stand_in_membership.users6);
}

TEST_F(Membership, InterfaceWithoutTheProtocol) {
  stand_in_membership.v4 = nullptr;
  EXPECT_EQ(-ENODEV, join(ipv4_group));
  stand_in_membership.v6 = nullptr;
  EXPECT_EQ(-ENODEV, join(ipv6_group));
}

TEST_F(Membership, FailureThatTheStackDoesNotReport) {
  ip_mc_list another = {nullptr, htonl(0xe0010204)};
  v4.mc_list = &another;
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, join(ipv4_group));
  EXPECT_EQ(nullptr, membership.in_dev);
  v4.mc_list = nullptr;
}

TEST_F(Membership, IsFoundBehindOthers) {
  ASSERT_EQ(0, join(ipv4_group));
  sroce_membership first = membership;
  in6_addr another;
  ipv6_addr_set_v4mapped(htonl(0xe0010204), &another);
  ASSERT_EQ(0, join(another));
  sroce_membership second = membership;
  // The stack adds no second entry for another user.
  stand_in.fail_allocation = 1;
  ASSERT_EQ(0, join(ipv4_group));
  stand_in.fail_allocation = 0;
  EXPECT_EQ(3, stand_in_membership.users);
  leave(ipv4_group);
  membership = second;
  leave(another);
  membership = first;
  leave(ipv4_group);
  EXPECT_EQ(0, stand_in_membership.users);
  EXPECT_EQ(nullptr, v4.mc_list);
}

TEST_F(Membership, Ipv6FailureLeavesNothing) {
  stand_in_membership.error6 = -ENOMEM;
  EXPECT_EQ(-ENOMEM, join(ipv6_group));
  EXPECT_EQ(nullptr, membership.in6_dev);
}

TEST_F(Membership, InterfaceThatHasGoneOrMoved) {
  netdev.reg_state = 0;
  EXPECT_EQ(-ENODEV, join(ipv4_group));
  EXPECT_EQ(-ENODEV, join(ipv6_group));
  EXPECT_EQ(0, stand_in_membership.users + stand_in_membership.users6);
}

// Its memberships have ended, and a state that follows has its own.
TEST_F(Membership, StateThatHasDiedIsNotLeft) {
  ASSERT_EQ(0, join(ipv4_group));
  v4.dead = true;
  leave(ipv4_group);
  EXPECT_EQ(1, stand_in_membership.users);
  ASSERT_EQ(0, join(ipv6_group));
  inet6_dev later = {};
  stand_in_membership.v6 = &later;
  leave(ipv6_group);
  EXPECT_EQ(1, stand_in_membership.users6);
  EXPECT_EQ(0, later.refs);
}

TEST_F(Membership, ThatHasNotEndedIsNotRenewed) {
  for (const in6_addr& group : {ipv4_group, ipv6_group}) {
    ASSERT_EQ(0, join(group));
    sroce_membership_renew(&membership, &ep, &group);
    EXPECT_EQ(1, stand_in_membership.users + stand_in_membership.users6);
    leave(group);
  }
}

// The MTU was too small for the protocol, and is large again.
TEST_F(Membership, IsRenewedInALaterState) {
  ASSERT_EQ(0, join(ipv4_group));
  v4.dead = true;
  in_device later = {};
  stand_in_membership.v4 = &later;
  sroce_membership_renew(&membership, &ep, &ipv4_group);
  EXPECT_EQ(2, stand_in_membership.users) << "that of the dead state has gone with it";
  EXPECT_EQ(&later, membership.in_dev);
  EXPECT_EQ(0, v4.refs);
  leave(ipv4_group);
  EXPECT_EQ(1, stand_in_membership.users);
  EXPECT_EQ(0, later.refs);
  free(later.mc_list);

  ASSERT_EQ(0, join(ipv6_group));
  inet6_dev later6 = {};
  stand_in_membership.v6 = &later6;
  sroce_membership_renew(&membership, &ep, &ipv6_group);
  EXPECT_EQ(2, stand_in_membership.users6);
  EXPECT_EQ(0, v6.refs);
  leave(ipv6_group);
  EXPECT_EQ(1, stand_in_membership.users6);
  EXPECT_EQ(0, later6.refs);
}

// It is renewed when the interface can join again.
TEST_F(Membership, ThatCannotBeRenewedStays) {
  ASSERT_EQ(0, join(ipv6_group));
  stand_in_membership.v6 = nullptr;
  sroce_membership_renew(&membership, &ep, &ipv6_group);
  EXPECT_EQ(&v6, membership.in6_dev);
  EXPECT_EQ(1, v6.refs);
  leave(ipv6_group);
}

}  // namespace
