// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Address handles and paths from address vectors: kernel/verbs/ah.c.
#include <gtest/gtest.h>

#include "stand_in/route.h"
#include "unit/kernel/packets.h"

extern "C" {
#include "datapath/av.h"
#include "datapath/cq.h"
#include "datapath/device.h"
#include "verbs/verbs.h"
}

namespace {

// A type of service with this priority, for rt_tos2priority() of the stand-in.
constexpr u8 tos_of(u32 priority) { return priority << 2; }

struct Ah : testing::Test {
  Ah() {
    stand_in = {};
    stand_in_routes = {};
    dev.ep.netdev = &netdev;
    xa_init_flags(&dev.ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
    pd.device = ah.ibah.device = &dev.ibdev;
    ah.ibah.pd = &pd;
    set_addresses(Flow::address(2), Flow::address(1));
    attr.ah_flags = IB_AH_GRH;
    attr.port_num = 1;
    attr.grh.sgid_attr = &gid;
  }
  void set_addresses(const in6_addr& source, const in6_addr& destination) {
    memcpy(gid.gid.raw, &source, sizeof(source));
    memcpy(attr.grh.dgid.raw, &destination, sizeof(destination));
  }
  static in6_addr ipv6(u8 first) {
    in6_addr address = {};
    address.s6_addr[0] = first;
    address.s6_addr[15] = 1;
    return address;
  }
  static in6_addr ipv4_group() {
    in6_addr address = Flow::address(1);
    address.s6_addr[12] = 239;
    return address;
  }
  int convert(u32 qpn = 5, u32 dest_qpn = 6) {
    return sroce_path_from_ah_attr(&dev.ibdev, &attr, qpn, dest_qpn, &path);
  }
  // The priority of the skb for the service level and the priority of the type of service.
  u32 priority(u8 level, u32 of_tos) {
    attr.sl = level;
    attr.grh.traffic_class = tos_of(of_tos);
    EXPECT_EQ(0, convert()) << +level;
    return path.priority;
  }
  int create(ib_udata* udata) {
    rdma_ah_init_attr init = {.ah_attr = &attr, .flags = RDMA_CREATE_AH_SLEEPABLE};
    const int err = sroce_create_ah(&ah.ibah, &init, udata);
    EXPECT_EQ(0u, stand_in.uncharged);
    return err;
  }

  net ns = {};
  net_device netdev = {.ifindex = 3, .mtu = 1500, .flags = 0, .net = &ns};
  ib_gid_attr gid = {.gid = {}, .ndev = &netdev};
  rdma_ah_attr attr = {};
  ib_pd pd = {};
  sroce_device dev = {};
  sroce_ah ah = {};
  sroce_path path = {};
};

// --- paths ---------------------------------------------------------------------------------------

TEST_F(Ah, PathHasTheFieldsOfTheAddressVector) {
  attr.grh.traffic_class = 0x2e;
  attr.grh.flow_label = 0xfff12345;
  attr.grh.hop_limit = 9;
  stand_in.random = 0x12345;
  EXPECT_EQ(0, convert());
  EXPECT_TRUE(path.is_ipv4);
  EXPECT_EQ(2, path.saddr.s6_addr[15]);
  EXPECT_EQ(1, path.daddr.s6_addr[15]);
  EXPECT_EQ(3, path.oif);
  EXPECT_EQ(0x2e, path.tos);
  EXPECT_EQ(9, path.hop_limit);
  EXPECT_EQ(0x12345u, path.flow_label) << "20 bits";
  EXPECT_EQ(htons(rdma_get_udp_sport(0x12345, 0, 0)), path.sport);
  EXPECT_EQ(0x2345, path.ip_id);
}

TEST_F(Ah, DefaultsOfAnEmptyAddressVector) {
  EXPECT_EQ(0, convert());
  EXPECT_EQ(64, path.hop_limit);
  EXPECT_EQ(htons(rdma_get_udp_sport(0, 5, 6)), path.sport);
  EXPECT_EQ(0, convert(0, 0));
  EXPECT_EQ(0, path.sport) << "each QP has its own for datagrams";
}

TEST_F(Ah, AddressVectorNeedsAGidAndThePort) {
  attr.ah_flags = 0;
  EXPECT_EQ(-EINVAL, convert());
  attr.ah_flags = IB_AH_GRH;
  attr.grh.sgid_attr = nullptr;
  EXPECT_EQ(-EINVAL, convert());
  attr.grh.sgid_attr = &gid;
  for (u32 port : {0, 2}) {
    attr.port_num = port;
    EXPECT_EQ(-EINVAL, convert()) << port;
  }
}

TEST_F(Ah, AddressesAreOfOneFamilyAndOfOneHost) {
  set_addresses(ipv6(0xfd), ipv6(0xfd));
  EXPECT_EQ(0, convert());
  EXPECT_FALSE(path.is_ipv4);
  set_addresses(ipv6(0xfd), Flow::address(1));
  EXPECT_EQ(-EINVAL, convert());
  set_addresses(Flow::address(2), ipv6(0xfd));
  EXPECT_EQ(-EINVAL, convert());
  set_addresses(ipv6(0xfd), in6_addr{});
  EXPECT_EQ(-EINVAL, convert());
  set_addresses(Flow::address(2), ipv4_group());
  EXPECT_EQ(-EINVAL, convert());
  set_addresses(ipv6(0xfd), ipv6(0xff));
  EXPECT_EQ(-EINVAL, convert());
}

TEST_F(Ah, PathOfRoceV1HasTheMacAddress) {
  const u8 mac[] = {2, 0, 0, 0, 0, 9};
  memcpy(attr.roce.dmac, mac, sizeof(mac));
  gid.gid_type = IB_GID_TYPE_ROCE_UDP_ENCAP;
  EXPECT_EQ(0, convert());
  EXPECT_FALSE(path.is_v1);
  gid.gid_type = IB_GID_TYPE_ROCE;
  EXPECT_EQ(0, convert());
  EXPECT_TRUE(path.is_v1);
  EXPECT_FALSE(path.is_ipv4) << "it has a GRH";
  EXPECT_EQ(0, memcmp(path.dmac, mac, sizeof(mac)));
  // A group has a MAC address of a group, and no other address has one.
  EXPECT_EQ(0, convert(0, 0));
  attr.roce.dmac[0] = 0x33;
  EXPECT_EQ(-EINVAL, convert(0, 0));
  set_addresses(Flow::address(2), ipv6(0xff));
  EXPECT_EQ(0, convert(0, 0)) << "rdma_cm makes a group of IPv4 one of IPv6";
  EXPECT_EQ(-EINVAL, convert());
  attr.roce.dmac[0] = 2;
  EXPECT_EQ(-EINVAL, convert(0, 0));
  set_addresses(Flow::address(2), in6_addr{});
  EXPECT_EQ(-EINVAL, convert(0, 0));
}

TEST_F(Ah, BroadcastIsNoDestination) {
  stand_in_routes.broadcast = Flow::address(1).s6_addr32[3];
  EXPECT_EQ(-EINVAL, convert());
  EXPECT_EQ(-EINVAL, convert(0, 0));
}

TEST_F(Ah, DatagramsReachGroups) {
  set_addresses(Flow::address(2), ipv4_group());
  EXPECT_EQ(0, convert(0, 0));
  EXPECT_EQ(1, path.hop_limit) << "the link";
  EXPECT_TRUE(path.is_ipv4);
  set_addresses(ipv6(0xfd), ipv6(0xff));
  EXPECT_EQ(0, convert(0, 0));
  EXPECT_EQ(1, path.hop_limit);
  attr.grh.hop_limit = 9;
  EXPECT_EQ(0, convert(0, 0));
  EXPECT_EQ(9, path.hop_limit);
  set_addresses(ipv6(0xfd), ipv4_group());
  EXPECT_EQ(-EINVAL, convert(0, 0)) << "of the other family";
}

TEST_F(Ah, GidIsOfAnInterfaceOfTheNamespace) {
  net pod = {};
  net_device elsewhere = netdev;
  elsewhere.net = &pod;
  gid.ndev = &elsewhere;
  EXPECT_EQ(-EINVAL, convert());
  gid.ndev = nullptr;
  EXPECT_EQ(-ENODEV, convert()) << "it has gone";
}

// --- service levels ------------------------------------------------------------------------------

TEST_F(Ah, ServiceLevelIsThePriority) {
  EXPECT_EQ(5u, priority(0, 5)) << "of the type of service";
  for (u32 level = 1; level <= 7; level++) EXPECT_EQ(level, priority(level, 5));
}

TEST_F(Ah, ServiceLevelFitsTheVlanPriority) {
  for (u32 level = 8; level <= 15; level++) {
    attr.sl = level;
    EXPECT_EQ(-EINVAL, convert()) << level;
    const bool is_packet_type = level == SROCE_PACKET_TYPE_IPV4 || level == SROCE_PACKET_TYPE_IPV6;
    if (!is_packet_type) {
      EXPECT_EQ(-EINVAL, create(nullptr)) << level;
    }
  }
}

TEST_F(Ah, PacketTypeOfADatagramIsNoServiceLevel) {
  attr.grh.traffic_class = tos_of(5);
  for (u32 type : {SROCE_PACKET_TYPE_IPV4, SROCE_PACKET_TYPE_IPV6}) {
    attr.sl = type;
    ASSERT_EQ(0, convert(0, 0)) << type;
    EXPECT_EQ(5u, path.priority) << type;
  }
}

// rdma_cm gets the level from the map, which must not be applied to it again.
struct MappedAh : Ah {
  MappedAh() {
    vlan.egress_map[6] = 4;
    outer.egress_map[6] = 2;
  }
  void expect_mapped(net_device* ndev, u32 level) {
    gid.ndev = ndev;
    EXPECT_EQ(6u, priority(level, 6));
    EXPECT_EQ(6u, priority(0, 6));
    EXPECT_EQ(3u, priority(3, 6)) << "of the consumer";
    EXPECT_EQ(5u, priority(0, 5));
  }
  net_device vlan = {.ifindex = 4, .net = &ns, .lower = &netdev, .is_vlan = true};
  net_device outer = {.ifindex = 5, .net = &ns, .lower = &vlan, .is_vlan = true};
  net_device macvlan = {.ifindex = 6, .net = &ns, .lower = &vlan};
  net_device above_macvlan = {.ifindex = 7, .net = &ns, .lower = &macvlan};
};

TEST_F(MappedAh, OfAVlan) { expect_mapped(&vlan, 4); }

TEST_F(MappedAh, OfAVlanAboveAVlan) { expect_mapped(&outer, 2); }

TEST_F(MappedAh, OfTheVlanBelowAnInterface) { expect_mapped(&macvlan, 4); }

TEST_F(MappedAh, OnlyTheFirstInterfaceBelowCounts) {
  gid.ndev = &above_macvlan;
  EXPECT_EQ(4u, priority(4, 6));
}

TEST_F(MappedAh, TrafficClassesOfTheHardwareGoFirst) {
  netdev.num_tc = 4;
  netdev.traffic_classes[6] = 1;
  for (net_device* ndev : {&netdev, &vlan, &outer, &macvlan}) expect_mapped(ndev, 1);
  gid.ndev = &vlan;
  EXPECT_EQ(4u, priority(4, 6)) << "what the egress map would give";
}

TEST_F(MappedAh, MoreTrafficClassesThanPrioritiesAreNoError) {
  netdev.num_tc = 16;
  netdev.traffic_classes[6] = 9;
  expect_mapped(&netdev, 9);
}

// --- address handles -----------------------------------------------------------------------------

TEST_F(Ah, HandleOfTheKernelHasNoNumber) {
  EXPECT_EQ(0, create(nullptr));
  EXPECT_EQ(0u, ah.number);
  EXPECT_EQ(&pd, ah.av->pd);
  EXPECT_EQ(1u, ah.av->refs.count);
  EXPECT_EQ(0, ah.av->path.sport);
  EXPECT_EQ(0, sroce_destroy_ah(&ah.ibah, 0));
}

TEST_F(Ah, HandleOfAProcessIsFoundByItsNumberUntilItIsDestroyed) {
  rxe_create_ah_resp resp = {};
  ib_udata udata = {.outlen = sizeof(resp), .outbuf = &resp};
  EXPECT_EQ(0, create(&udata));
  EXPECT_NE(0u, resp.ah_num);
  sroce_av* av = ah.av;
  EXPECT_EQ(av, xa_load(&dev.ahs, resp.ah_num));
  EXPECT_TRUE(refcount_inc_not_zero(&av->refs));  // a WQE under way
  EXPECT_EQ(0, sroce_destroy_ah(&ah.ibah, 0));
  EXPECT_TRUE(xa_empty(&dev.ahs));
  EXPECT_EQ(1u, av->refs.count) << "the WQE's";
  sroce_av_put(av);
}

TEST_F(Ah, QueryReturnsWhatItWasCreatedWith) {
  attr.sl = 3;
  attr.grh.flow_label = 0x12345;
  attr.grh.hop_limit = 9;
  attr.grh.traffic_class = 0x2e;
  gid.index = 7;
  ah.ibah.sgid_attr = &gid;
  ah.ibah.type = 2;
  ASSERT_EQ(0, create(nullptr));
  rdma_ah_attr got;
  memset(&got, 0xff, sizeof(got));
  EXPECT_EQ(0, sroce_query_ah(&ah.ibah, &got));
  EXPECT_EQ(2, got.type);
  EXPECT_EQ(3, got.sl);
  EXPECT_EQ(1u, got.port_num);
  EXPECT_EQ(IB_AH_GRH, got.ah_flags);
  EXPECT_EQ(0, memcmp(attr.grh.dgid.raw, got.grh.dgid.raw, 16));
  EXPECT_EQ(0x12345u, got.grh.flow_label);
  EXPECT_EQ(7, got.grh.sgid_index);
  EXPECT_EQ(9, got.grh.hop_limit);
  EXPECT_EQ(0x2e, got.grh.traffic_class);
  EXPECT_EQ(nullptr, got.grh.sgid_attr) << "no reference";
  EXPECT_EQ(0, sroce_destroy_ah(&ah.ibah, 0));
}

TEST_F(Ah, ModifiedHandleLeadsElsewhereButNotForRequestsUnderWay) {
  ASSERT_EQ(0, create(nullptr));
  sroce_av* av = ah.av;
  EXPECT_TRUE(refcount_inc_not_zero(&av->refs));  // a WQE under way
  set_addresses(Flow::address(2), Flow::address(3));
  attr.sl = 3;
  EXPECT_EQ(0, sroce_modify_ah(&ah.ibah, &attr));
  in6_addr before = Flow::address(1), after = Flow::address(3);
  EXPECT_EQ(0, memcmp(&before, &av->path.daddr, sizeof(before)));
  EXPECT_EQ(1u, av->refs.count) << "the WQE's";
  EXPECT_EQ(0, memcmp(&after, &ah.av->path.daddr, sizeof(after)));
  EXPECT_EQ(&pd, ah.av->pd);
  EXPECT_EQ(1u, ah.av->refs.count);
  EXPECT_EQ(3, ah.sl);
  sroce_av_put(av);
  EXPECT_EQ(0, sroce_destroy_ah(&ah.ibah, 0));
}

TEST_F(Ah, FailedModificationChangesNothing) {
  ASSERT_EQ(0, create(nullptr));
  const sroce_av* av = ah.av;
  attr.sl = 3;
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, sroce_modify_ah(&ah.ibah, &attr));
  attr.port_num = 2;
  EXPECT_EQ(-EINVAL, sroce_modify_ah(&ah.ibah, &attr));
  EXPECT_EQ(av, ah.av);
  EXPECT_EQ(0, ah.sl);
  EXPECT_EQ(0, sroce_destroy_ah(&ah.ibah, 0));
}

// The sanitizer finds what is left over.
TEST_F(Ah, FailedHandleLeavesNothing) {
  rxe_create_ah_resp resp = {};
  ib_udata udata = {.outlen = sizeof(resp) - 1, .outbuf = &resp};
  EXPECT_EQ(-EINVAL, create(&udata)) << "an old provider";
  udata.outlen = sizeof(resp);
  udata.error = -EFAULT;
  EXPECT_EQ(-EFAULT, create(&udata));
  udata.error = 0;
  for (u32 n : {1, 2}) {
    stand_in.fail_allocation = n;
    EXPECT_EQ(-ENOMEM, create(&udata)) << n;
  }
  EXPECT_TRUE(xa_empty(&dev.ahs));
}

}  // namespace
