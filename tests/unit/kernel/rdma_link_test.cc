// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The interfaces that get a device, and the messages in the log: kernel/control/rdma_link.c.
#include <gtest/gtest.h>

#include "stand_in/control.h"

extern "C" {
#include "control/rdma_link.h"
}

namespace {

struct RdmaLink : testing::Test {
  RdmaLink() {
    stand_in = {};
    stand_in_control = {};
    netdev.name = "eth0";
    netdev.type = ARPHRD_ETHER;
  }
  ~RdmaLink() override { stand_in = {}; }
  int add(net_device& to) {
    stand_in.log[0] = 0;
    stand_in_control.attached = nullptr;
    return sroce_link_ops.newlink("sroce0", &to);
  }
  static bool is_logged(const char* text) { return strstr(stand_in.log, text); }

  net_device netdev = {};
};

TEST_F(RdmaLink, KindsOfInterfaces) {
  EXPECT_STREQ("sroce", sroce_link_ops.type);
  for (u16 type : {ARPHRD_ETHER, ARPHRD_LOOPBACK, ARPHRD_NONE, ARPHRD_TUNNEL, ARPHRD_TUNNEL6,
                   ARPHRD_SIT, ARPHRD_IPGRE, ARPHRD_IP6GRE}) {
    netdev.type = type;
    EXPECT_EQ(0, add(netdev)) << type;
    EXPECT_EQ(&netdev, stand_in_control.attached);
    EXPECT_STREQ("", stand_in.log);
  }
  netdev.type = ARPHRD_INFINIBAND;
  EXPECT_EQ(-EOPNOTSUPP, add(netdev));
  EXPECT_EQ(nullptr, stand_in_control.attached);
  EXPECT_TRUE(is_logged("eth0 is neither"));
}

TEST_F(RdmaLink, RoceV1IsATypeOfItsOwnAndNeedsEthernet) {
  netdev.addr_len = 6;
  netdev.has_header = true;
  EXPECT_STREQ("sroce_v1", sroce_v1_link_ops.type);
  for (u16 type : {ARPHRD_ETHER, ARPHRD_LOOPBACK}) {
    netdev.type = type;
    EXPECT_EQ(0, add(netdev));
    EXPECT_FALSE(stand_in_control.roce_v1);
    EXPECT_EQ(0, sroce_v1_link_ops.newlink("sroce0", &netdev));
    EXPECT_TRUE(stand_in_control.roce_v1);
  }
  stand_in_control.attached = nullptr;
  netdev.type = ARPHRD_NONE;
  netdev.has_header = false;
  EXPECT_EQ(-EOPNOTSUPP, sroce_v1_link_ops.newlink("sroce0", &netdev));
  EXPECT_EQ(nullptr, stand_in_control.attached);
  EXPECT_TRUE(is_logged("eth0 has no Ethernet header"));
}

TEST_F(RdmaLink, VlanIsServedByTheInterfaceBelow) {
  net_device vlan = {};
  vlan.name = "eth0.5";
  vlan.type = ARPHRD_ETHER;
  vlan.is_vlan = true;
  vlan.lower = &netdev;
  EXPECT_EQ(-EOPNOTSUPP, add(vlan));
  EXPECT_EQ(nullptr, stand_in_control.attached);
  EXPECT_TRUE(is_logged("eth0.5 is a VLAN: attach to eth0,"));
}

TEST_F(RdmaLink, ErrorsAreExplained) {
  const struct {
    int from, to;
    const char* text;
  } errors[] = {
      {-EEXIST, -EEXIST, "eth0 has a device"},
      {-ENFILE, -EEXIST, "called sroce0"},
      {-EADDRINUSE, -EADDRINUSE, "eth0: UDP port 4791"},
      {-ENOMEM, -ENOMEM, ""},
  };
  for (const auto& error : errors) {
    stand_in_control.attach_error = error.from;
    EXPECT_EQ(error.to, add(netdev));
    EXPECT_TRUE(is_logged(error.text)) << stand_in.log;
    EXPECT_EQ(!*error.text, !*stand_in.log);
  }
}

}  // namespace
