// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// QPs and the multicast groups that they are attached to: kernel/datapath/mcast.c.
#include <gtest/gtest.h>

#include "stand_in/verbs.h"

extern "C" {
#include "net/membership.h"
#include "stand_in/datapath.h"
}

#include <deque>
#include <set>

namespace {

// jhash2() of the stand-in adds words, so groups whose numbers have the same low bits share a
// chain.
in6_addr group(u32 number) {
  in6_addr address = {};
  address.s6_addr[0] = 0xff;
  address.s6_addr[1] = 0x0e;
  address.s6_addr32[3] = number;
  return address;
}

struct Qp : sroce_qp {
  explicit Qp(sroce_device* device) : sroce_qp{} {
    dev = device;
    ref = &own_ref;
    own_ref.qp = this;
    refcount_set(&own_ref.users, 1);
  }
  Qp(const Qp&) = delete;
  sroce_qp_ref own_ref = {};
};

struct Mcast : testing::Test {
  Mcast() {
    stand_in = {};
    stand_in_datapath = {};
    stand_in.random = 77;
    sroce_mcast_init(&dev.mcast);
  }
  // The sanitizer finds members that are left.
  ~Mcast() {
    for (const auto& [qp, number] : attached) EXPECT_EQ(0, detach(*qp, number));
    EXPECT_EQ(0u, dev.mcast.member_count);
    EXPECT_EQ(0u, dev.mcast.group_count);
    EXPECT_EQ(0, stand_in_datapath.memberships);
    EXPECT_EQ(0u, stand_in.uncharged);
  }
  Qp& add_qp() { return qps.emplace_back(&dev); }
  int attach(Qp& qp, u32 number) {
    const in6_addr address = group(number);
    const int err = sroce_mcast_add_qp(&qp, &address);
    if (!err) attached.insert({&qp, number});
    return err;
  }
  static int detach(Qp& qp, u32 number) {
    const in6_addr address = group(number);
    return sroce_mcast_remove_qp(&qp, &address);
  }
  int leave(Qp& qp, u32 number) {
    attached.erase({&qp, number});
    return detach(qp, number);
  }
  std::set<sroce_qp*> receivers(u32 number) {
    const in6_addr address = group(number);
    const sroce_mcast_member* at = nullptr;
    std::set<sroce_qp*> all;
    while (sroce_qp* qp = sroce_mcast_next_qp(&dev, &address, &at)) {
      EXPECT_EQ(2u, qp->ref->users.count);
      sroce_qp_put(qp);
      EXPECT_TRUE(all.insert(qp).second) << "twice";
    }
    return all;
  }
  bool has_group(u32 number) {
    const in6_addr address = group(number);
    return sroce_mcast_has_group(&dev, &address);
  }

  sroce_device dev = {};
  std::deque<Qp> qps;
  std::set<std::pair<Qp*, u32>> attached;
};

using Receivers = std::set<sroce_qp*>;

TEST_F(Mcast, AttachedQpsReceive) {
  Qp &a = add_qp(), &b = add_qp();
  EXPECT_FALSE(has_group(1));
  EXPECT_EQ(0, attach(a, 1));
  EXPECT_EQ(0, attach(b, 1));
  EXPECT_EQ(0, attach(b, 2));
  EXPECT_EQ((Receivers{&a, &b}), receivers(1));
  EXPECT_EQ(Receivers{&b}, receivers(2));
  EXPECT_EQ(Receivers{}, receivers(3));
  EXPECT_TRUE(has_group(1));
  EXPECT_EQ(3, stand_in_datapath.memberships);
  const in6_addr last = group(2);
  EXPECT_TRUE(ipv6_addr_equal(&last, &stand_in_datapath.group));
  EXPECT_EQ(0, leave(a, 1));
  EXPECT_EQ(Receivers{&b}, receivers(1));
  EXPECT_EQ(2, stand_in_datapath.memberships);
  EXPECT_EQ(0, leave(b, 1));
  EXPECT_FALSE(has_group(1));
}

TEST_F(Mcast, GroupsWithOneHashAreApart) {
  constexpr u32 other = 1 + (1 << SROCE_MCAST_HASH_BITS);
  Qp &qp = add_qp(), &next = add_qp();
  EXPECT_EQ(0, attach(qp, 1));
  EXPECT_FALSE(has_group(other));
  EXPECT_EQ(Receivers{}, receivers(other));
  EXPECT_EQ(0, attach(next, other));
  EXPECT_EQ(2u, dev.mcast.group_count);
  EXPECT_EQ(Receivers{&qp}, receivers(1));
  EXPECT_EQ(Receivers{&next}, receivers(other));
}

TEST_F(Mcast, QpIsAttachedOnce) {
  Qp& qp = add_qp();
  EXPECT_EQ(0, attach(qp, 1));
  EXPECT_EQ(-EEXIST, attach(qp, 1));
  EXPECT_EQ(1, stand_in_datapath.memberships);
  EXPECT_EQ(0, leave(qp, 1));
  EXPECT_EQ(-EINVAL, detach(qp, 1));
  EXPECT_EQ(-EINVAL, detach(qp, 2));
}

TEST_F(Mcast, QpDetachesOnlyItself) {
  Qp &qp = add_qp(), &other = add_qp();
  EXPECT_EQ(0, attach(qp, 1));
  EXPECT_EQ(-EINVAL, detach(other, 1));
  EXPECT_EQ(Receivers{&qp}, receivers(1));
}

TEST_F(Mcast, QpBeingDestroyedDoesNotReceive) {
  Qp &a = add_qp(), &b = add_qp(), &c = add_qp();
  for (Qp* qp : {&a, &b, &c}) EXPECT_EQ(0, attach(*qp, 1));
  refcount_set(&b.own_ref.users, 0);
  EXPECT_EQ((Receivers{&a, &c}), receivers(1));
}

TEST_F(Mcast, FailedAttachLeavesNothing) {
  Qp& qp = add_qp();
  stand_in_datapath.join_error = -ENODEV;
  EXPECT_EQ(-ENODEV, attach(qp, 1));
  EXPECT_FALSE(has_group(1));
  stand_in_datapath.join_error = 0;
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, attach(qp, 1));
  EXPECT_EQ(0, attach(qp, 1));
}

TEST_F(Mcast, MembershipsAreRenewed) {
  Qp &a = add_qp(), &b = add_qp();
  EXPECT_EQ(0, attach(a, 1));
  EXPECT_EQ(0, attach(b, 1));
  EXPECT_EQ(0, attach(b, 2));
  sroce_mcast_renew(&dev.mcast);
  ASSERT_TRUE(dev.mcast.renewal.queued);
  dev.mcast.renewal.function(&dev.mcast.renewal);
  EXPECT_EQ(3, stand_in_datapath.renewals);
  EXPECT_FALSE(dev.mcast.lock.lock.locked);
}

TEST_F(Mcast, DeviceThatGoesRenewsNothing) {
  Qp& qp = add_qp();
  EXPECT_EQ(0, attach(qp, 1));
  sroce_mcast_renew(&dev.mcast);
  EXPECT_EQ(0, leave(qp, 1));
  sroce_mcast_fini(&dev.mcast);
  EXPECT_FALSE(dev.mcast.renewal.queued);
}

TEST_F(Mcast, GroupHasALimit) {
  for (u32 i = 0; i < SROCE_MAX_MCAST_GROUP_QPS; i++) EXPECT_EQ(0, attach(add_qp(), 1));
  Qp& last = add_qp();
  EXPECT_EQ(-ENOSPC, attach(last, 1));
  EXPECT_EQ(0, attach(last, 2)) << "another group";
  EXPECT_EQ(0, leave(qps.front(), 1));
  EXPECT_EQ(0, attach(last, 1));
}

TEST_F(Mcast, DeviceHasALimitOfGroups) {
  Qp &qp = add_qp(), &other = add_qp();
  for (u32 i = 0; i < SROCE_MAX_MCAST_GROUPS; i++) EXPECT_EQ(0, attach(qp, i));
  EXPECT_EQ(-ENOSPC, attach(qp, SROCE_MAX_MCAST_GROUPS));
  EXPECT_EQ(0, attach(other, 5)) << "an existing group";
  EXPECT_EQ(0, leave(qp, 5));
  EXPECT_EQ(-ENOSPC, attach(qp, SROCE_MAX_MCAST_GROUPS)) << "the group still has a QP";
  EXPECT_EQ(0, leave(other, 5));
  EXPECT_EQ(0, attach(qp, SROCE_MAX_MCAST_GROUPS));
}

TEST_F(Mcast, DeviceHasALimitOfQps) {
  constexpr u32 each = 16, groups = SROCE_MAX_MCAST_MEMBERS / each;
  for (u32 i = 0; i < each; i++) {
    Qp& qp = add_qp();
    for (u32 number = 0; number < groups; number++) ASSERT_EQ(0, attach(qp, number));
  }
  Qp& last = add_qp();
  EXPECT_EQ(-ENOSPC, attach(last, 1));
  EXPECT_EQ(0, leave(qps.front(), 0));
  EXPECT_EQ(0, attach(last, 1));
}

}  // namespace
