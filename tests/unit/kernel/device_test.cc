// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Attributes of a device and its port, as ib_core asks for them: kernel/verbs/device.c.
#include <gtest/gtest.h>

#include "stand_in/control.h"

extern "C" {
#include "datapath/device.h"
#include "verbs/verbs.h"
}

namespace {

struct Device : testing::Test {
  Device() {
    stand_in = {};
    stand_in_control = {};
    netdev.mtu = 1500;
    dev.ep.netdev = &netdev;
    dev.ibdev.node_guid = 0x1234;
  }
  ib_port_attr port() {
    ib_port_attr attr = {};
    EXPECT_EQ(0, sroce_query_port(&dev.ibdev, 1, &attr));
    return attr;
  }

  net_device netdev = {};
  sroce_device dev = {};
};

TEST_F(Device, LimitsAreThoseThatVerbsCheck) {
  ib_device_attr attr = {};
  ASSERT_EQ(0, sroce_query_device(&dev.ibdev, &attr, nullptr));
  EXPECT_EQ(0x1234u, attr.sys_image_guid);
  EXPECT_EQ(SROCE_MAX_QP_WR, attr.max_qp_wr);
  EXPECT_EQ(SROCE_MAX_QP_WR, attr.max_srq_wr);
  for (int sges : {attr.max_send_sge, attr.max_recv_sge, attr.max_sge_rd, attr.max_srq_sge})
    EXPECT_EQ(SROCE_MAX_SGE, sges);
  EXPECT_EQ(SROCE_MAX_CQE, attr.max_cqe);
  EXPECT_EQ(SROCE_MAX_QP, attr.max_qp);
  EXPECT_EQ(SROCE_MAX_SRQ, attr.max_srq);
  EXPECT_EQ(SROCE_MAX_CQ, attr.max_cq);
  EXPECT_EQ(SROCE_MAX_PD, attr.max_pd);
  EXPECT_EQ(SROCE_MAX_AH, attr.max_ah);
  EXPECT_EQ(SROCE_MAX_MR, attr.max_mr);
  EXPECT_EQ(SROCE_MAX_MR, attr.max_mw);
  EXPECT_EQ(U64_MAX, attr.max_mr_size);
  EXPECT_EQ(SROCE_MAX_MCAST_GROUPS, attr.max_mcast_grp);
  EXPECT_EQ(SROCE_MAX_MCAST_GROUP_QPS, attr.max_mcast_qp_attach);
  EXPECT_EQ(SROCE_MAX_MCAST_MEMBERS, attr.max_total_mcast_qp_attach);
  EXPECT_EQ(U16_MAX, attr.cq_caps.max_cq_moderation_count);
  EXPECT_EQ(U16_MAX, attr.cq_caps.max_cq_moderation_period);
  EXPECT_EQ(int{SROCE_MAX_RD_ATOMIC}, attr.max_qp_rd_atom);
  EXPECT_EQ(int{SROCE_MAX_RD_ATOMIC}, attr.max_qp_init_rd_atom);
  EXPECT_EQ(int{SROCE_MAX_RD_ATOMIC} * SROCE_MAX_QP, attr.max_res_rd_atom);
  EXPECT_EQ(u32{SROCE_MAX_FAST_REG_PAGES}, attr.max_fast_reg_page_list_len);
  EXPECT_EQ(~u64{4095}, attr.page_size_cap);
  EXPECT_EQ(1, attr.max_pkeys);
  EXPECT_EQ(12, attr.local_ca_ack_delay) << "17 ms";
}

TEST_F(Device, CapabilitiesAreReported) {
  ib_device_attr attr = {};
  ASSERT_EQ(0, sroce_query_device(&dev.ibdev, &attr, nullptr));
  EXPECT_EQ(u64{IB_DEVICE_CURR_QP_STATE_MOD} | IB_DEVICE_BAD_QKEY_CNTR |
                IB_DEVICE_UD_AV_PORT_ENFORCE | IB_DEVICE_PORT_ACTIVE_EVENT |
                IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_RC_RNR_NAK_GEN | IB_DEVICE_MEM_MGT_EXTENSIONS |
                IB_DEVICE_SRQ_RESIZE | IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B |
                IB_DEVICE_ATOMIC_WRITE | IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_FLUSH_PERSISTENT,
            attr.device_cap_flags);
  EXPECT_TRUE(attr.kernel_cap_flags & IBK_ALLOW_USER_UNREG);
  EXPECT_TRUE(attr.odp_caps.general_caps);
  EXPECT_EQ(int{IB_ATOMIC_GLOB}, attr.atomic_cap);
  EXPECT_EQ(0xffffffu, attr.vendor_id) << "none";
}

TEST_F(Device, RequestWithDataIsNotUnderstood) {
  ib_device_attr attr = {};
  ib_udata udata = {};
  EXPECT_EQ(0, sroce_query_device(&dev.ibdev, &attr, &udata));
  udata.inlen = 1;
  EXPECT_EQ(-EINVAL, sroce_query_device(&dev.ibdev, &attr, &udata));
  udata.inlen = 0;
  udata.outlen = 1;
  EXPECT_EQ(-EINVAL, sroce_query_device(&dev.ibdev, &attr, &udata));
}

TEST_F(Device, OnlyTheDescriptionIsModified) {
  ib_device_modify modify = {};
  memset(modify.node_desc, 'x', sizeof(modify.node_desc));
  EXPECT_EQ(-EOPNOTSUPP,
            sroce_modify_device(
                &dev.ibdev, IB_DEVICE_MODIFY_NODE_DESC | IB_DEVICE_MODIFY_SYS_IMAGE_GUID, &modify));
  EXPECT_EQ(0, sroce_modify_device(&dev.ibdev, 0, &modify));
  EXPECT_EQ(0, dev.ibdev.node_desc[0]);
  EXPECT_EQ(0, sroce_modify_device(&dev.ibdev, IB_DEVICE_MODIFY_NODE_DESC, &modify));
  EXPECT_EQ('x', dev.ibdev.node_desc[63]);
}

TEST_F(Device, PortIsActiveWithALinkOnly) {
  stand_in_control.has_carrier = true;
  EXPECT_EQ(IB_PORT_DOWN, port().state);
  EXPECT_EQ(IB_PORT_PHYS_STATE_DISABLED, port().phys_state);
  stand_in_control.is_running = true;
  EXPECT_EQ(IB_PORT_ACTIVE, port().state);
  EXPECT_EQ(IB_PORT_PHYS_STATE_LINK_UP, port().phys_state);
  stand_in_control.has_carrier = false;
  EXPECT_EQ(IB_PORT_DOWN, port().state);
  EXPECT_EQ(IB_PORT_PHYS_STATE_POLLING, port().phys_state);
}

TEST_F(Device, MtuIsTheLargestThatFits) {
  for (const auto& [mtu, active] : {std::pair{1500u, IB_MTU_1024},
                                    {1024u + 88, IB_MTU_1024},
                                    {1024u + 87, IB_MTU_512},
                                    {9000u, IB_MTU_4096},
                                    {100u, IB_MTU_256}}) {
    netdev.mtu = mtu;
    EXPECT_EQ(active, port().active_mtu) << mtu;
    EXPECT_EQ(mtu, port().phys_mtu);
  }
  EXPECT_EQ(IB_MTU_4096, port().max_mtu);
}

TEST_F(Device, UnknownSpeedIsTheLowest) {
  EXPECT_EQ(32, port().active_speed);
  EXPECT_EQ(4, port().active_width);
  stand_in_control.speed_error = -EOPNOTSUPP;
  EXPECT_EQ(IB_SPEED_SDR, port().active_speed);
  EXPECT_EQ(IB_WIDTH_1X, port().active_width);
}

TEST_F(Device, ThereIsOnePort) {
  ib_port_attr attr = {};
  ib_port_immutable immutable = {};
  ib_port_modify modify = {};
  u16 pkey = 0;
  for (u32 number : {0u, 2u}) {
    EXPECT_EQ(-EINVAL, sroce_query_port(&dev.ibdev, number, &attr));
    EXPECT_EQ(-EINVAL, sroce_modify_port(&dev.ibdev, number, 0, &modify));
    EXPECT_EQ(-EINVAL, sroce_get_port_immutable(&dev.ibdev, number, &immutable));
    EXPECT_EQ(-EINVAL, sroce_query_pkey(&dev.ibdev, number, 0, &pkey));
    EXPECT_EQ(nullptr, sroce_get_netdev(&dev.ibdev, number));
  }
  EXPECT_EQ(0, netdev.refs);
}

TEST_F(Device, PortIsRoceVersion2) {
  ib_port_immutable immutable = {};
  EXPECT_EQ(0, sroce_get_port_immutable(&dev.ibdev, 1, &immutable));
  EXPECT_EQ(u32{RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP}, immutable.core_cap_flags);
  dev.ep.roce_v1 = true;
  EXPECT_EQ(0, sroce_get_port_immutable(&dev.ibdev, 1, &immutable));
  EXPECT_EQ(u32{RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP | RDMA_CORE_PORT_IBA_ROCE},
            immutable.core_cap_flags);
  EXPECT_EQ(port().gid_tbl_len, immutable.gid_tbl_len) << "ib_core allocates this one";
  EXPECT_EQ(port().pkey_tbl_len, immutable.pkey_tbl_len);
  EXPECT_EQ(256u, immutable.max_mad_size);
  EXPECT_EQ(IB_LINK_LAYER_ETHERNET, sroce_get_link_layer(&dev.ibdev, 1));
  EXPECT_TRUE(port().ip_gids);
  EXPECT_EQ(SROCE_MAX_MESSAGE_BYTES, port().max_msg_sz);
  EXPECT_EQ(1, port().max_vl_num);
}

TEST_F(Device, PortAnnouncesCapabilitiesOfConsumers) {
  ib_port_modify modify = {.set_port_cap_mask = IB_PORT_CM_SUP | IB_PORT_DEVICE_MGMT_SUP,
                           .clr_port_cap_mask = 0,
                           .init_type = 0};
  EXPECT_EQ(-EOPNOTSUPP, sroce_modify_port(&dev.ibdev, 1, IB_PORT_SHUTDOWN, &modify));
  EXPECT_EQ(0u, port().port_cap_flags);
  EXPECT_EQ(0, sroce_modify_port(&dev.ibdev, 1, 0, &modify));
  EXPECT_EQ(u32{IB_PORT_CM_SUP | IB_PORT_DEVICE_MGMT_SUP}, port().port_cap_flags);
  modify = {.set_port_cap_mask = 0, .clr_port_cap_mask = IB_PORT_DEVICE_MGMT_SUP, .init_type = 0};
  EXPECT_EQ(0, sroce_modify_port(&dev.ibdev, 1, 0, &modify));
  EXPECT_EQ(u32{IB_PORT_CM_SUP}, port().port_cap_flags);
}

TEST_F(Device, QkeyViolationsAreSinceTheLastReset) {
  ib_port_modify modify = {};
  dev.qkey_violations.counter = 70000;
  EXPECT_EQ(0xffffu, port().qkey_viol_cntr) << "16 bits";
  EXPECT_EQ(0, sroce_modify_port(&dev.ibdev, 1, 0, &modify));
  EXPECT_EQ(0xffffu, port().qkey_viol_cntr);
  EXPECT_EQ(0, sroce_modify_port(&dev.ibdev, 1, IB_PORT_RESET_QKEY_CNTR, &modify));
  EXPECT_EQ(0u, port().qkey_viol_cntr);
}

TEST_F(Device, NetdevHasAReferenceForTheCaller) {
  EXPECT_EQ(&netdev, sroce_get_netdev(&dev.ibdev, 1));
  EXPECT_EQ(1, netdev.refs);
}

TEST_F(Device, ThereIsOnePartition) {
  u16 pkey = 0;
  EXPECT_EQ(-EINVAL, sroce_query_pkey(&dev.ibdev, 1, 1, &pkey));
  EXPECT_EQ(0, pkey);
  EXPECT_EQ(0, sroce_query_pkey(&dev.ibdev, 1, 0, &pkey));
  EXPECT_EQ(0xffff, pkey);
}

TEST_F(Device, GidsAreAddressesOfTheEndpoint) {
  ib_gid_attr attr = {};
  void *context = nullptr, *other = nullptr;
  attr.device = &dev.ibdev;
  attr.gid.raw[15] = 7;
  EXPECT_EQ(0, sroce_add_gid(&attr, &context)) << "its interface has gone";
  EXPECT_EQ(0, stand_in_control.addresses);
  attr.ndev = dev.ep.netdev;
  EXPECT_EQ(0, sroce_add_gid(&attr, &context));
  EXPECT_EQ(7, stand_in_control.address.s6_addr[15]);
  EXPECT_EQ(1, stand_in_control.addresses);
  // That of a container's macvlan.
  net elsewhere = {};
  net_device macvlan = {};
  macvlan.net = &elsewhere;
  attr.ndev = &macvlan;
  EXPECT_EQ(0, sroce_add_gid(&attr, &other));
  EXPECT_EQ(1, stand_in_control.addresses);
  EXPECT_EQ(0, sroce_del_gid(&attr, &other));
  EXPECT_EQ(1, stand_in_control.addresses);
  attr.gid.raw[15] = 8;
  EXPECT_EQ(0, sroce_del_gid(&attr, &context));
  EXPECT_EQ(8, stand_in_control.address.s6_addr[15]);
  EXPECT_EQ(0, stand_in_control.addresses);
  EXPECT_EQ(0, sroce_del_gid(&attr, &context));
  EXPECT_EQ(0, stand_in_control.addresses);
}

}  // namespace
