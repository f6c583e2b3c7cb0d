// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Checks of modify_qp, and the path and resources that it installs: kernel/verbs/modify_qp.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

extern "C" {
#include "verbs/verbs.h"
}

namespace {

struct ModifyQp : testing::Test, QueuePair {
  ModifyQp() {
    qp.state = IB_QPS_INIT;
    attr.qp_state = IB_QPS_RTR;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.ah_flags = IB_AH_GRH;
    attr.ah_attr.grh.sgid_attr = &gid;
    attr.ah_attr.grh.hop_limit = 64;
    memcpy(gid.gid.raw, &flow.daddr, sizeof(flow.daddr));
    memcpy(attr.ah_attr.grh.dgid.raw, &flow.saddr, sizeof(flow.saddr));
  }
  ~ModifyQp() override { free(qp.resources); }
  int modify(int mask) { return sroce_modify_qp(&qp.ibqp, &attr, mask, nullptr); }
  // @field takes @good and not @bad, and is checked only if @mask names it.
  template <typename Field, typename Value>
  void expect_limit(Field* field, Value good, Value bad, int mask) {
    *field = static_cast<Field>(good);
    EXPECT_EQ(0, modify(mask)) << mask;
    *field = static_cast<Field>(bad);
    EXPECT_EQ(-EINVAL, modify(mask)) << mask;
    EXPECT_EQ(0, modify(IB_QP_QKEY)) << mask;
    *field = static_cast<Field>(good);
  }

  ib_gid_attr gid = {.gid = {}, .ndev = &netdev};
  ib_qp_attr attr = {};
};

TEST_F(ModifyQp, StateIsSetAndLocksAreFree) {
  EXPECT_EQ(0, modify(IB_QP_STATE));
  EXPECT_EQ(1u, stand_in_datapath.state_changes);
  EXPECT_EQ(IB_QPS_INIT, stand_in_datapath.from);
  EXPECT_EQ(IB_QPS_RTR, stand_in_datapath.to);
  EXPECT_FALSE(qp.modify_lock.lock.locked);
}

TEST_F(ModifyQp, StateIsThatWhichCompletionsHaveShown) {
  stand_in_datapath.settles = true;
  modify(IB_QP_STATE);
  EXPECT_EQ(IB_QPS_ERR, stand_in_datapath.from);
  ib_qp_attr found;
  ib_qp_init_attr init;
  qp.state = IB_QPS_RTS;
  EXPECT_EQ(0, sroce_query_qp(&qp.ibqp, &found, 0, &init));
  EXPECT_EQ(IB_QPS_ERR, found.qp_state);
}

TEST_F(ModifyQp, WithoutANewStateTheOldOneStays) {
  EXPECT_EQ(0, modify(IB_QP_QKEY));
  EXPECT_EQ(IB_QPS_INIT, stand_in_datapath.to);
}

TEST_F(ModifyQp, UnknownAttributesAreNotSupported) {
  EXPECT_EQ(-EOPNOTSUPP, modify(IB_QP_STATE | 1 << 25));
  EXPECT_EQ(0u, stand_in_datapath.state_changes);
}

TEST_F(ModifyQp, PathMtuFitsTheInterfaceOfTheGid) {
  net_device vlan = netdev;
  netdev.mtu = 9000;
  vlan.mtu = 1500;
  attr.path_mtu = IB_MTU_2048;
  EXPECT_EQ(0, modify(IB_QP_PATH_MTU | IB_QP_AV));
  gid.ndev = &vlan;
  EXPECT_EQ(-EINVAL, modify(IB_QP_PATH_MTU | IB_QP_AV));
  qp.req.attr.mtu_bytes = 1024;
  EXPECT_EQ(0, modify(IB_QP_AV)) << "the QP keeps its own";
  qp.req.attr.mtu_bytes = 2048;
  EXPECT_EQ(-EINVAL, modify(IB_QP_AV));
  attr.path_mtu = IB_MTU_1024;
  EXPECT_EQ(0, modify(IB_QP_PATH_MTU | IB_QP_AV));
}

TEST_F(ModifyQp, TransitionsAreThoseOfTheTable) {
  stand_in.forbids_transition = true;
  EXPECT_EQ(-EINVAL, modify(IB_QP_STATE));
  attr.qp_state = IB_QPS_ERR;
  EXPECT_EQ(-EINVAL, modify(IB_QP_STATE));
  qp.state = IB_QPS_RESET;
  EXPECT_EQ(-EINVAL, modify(IB_QP_STATE | IB_QP_QKEY));
  EXPECT_EQ(0u, stand_in_datapath.state_changes);
  EXPECT_EQ(0, modify(IB_QP_STATE)) << "RESET to ERR, for ib_drain_qp()";
}

TEST_F(ModifyQp, CurrentStateMustBeRight) {
  attr.cur_qp_state = IB_QPS_RTS;
  EXPECT_EQ(-EINVAL, modify(IB_QP_STATE | IB_QP_CUR_STATE));
  attr.cur_qp_state = IB_QPS_INIT;
  EXPECT_EQ(0, modify(IB_QP_STATE | IB_QP_CUR_STATE));
}

TEST_F(ModifyQp, ValuesHaveLimits) {
  expect_limit(&attr.port_num, 1, 2, IB_QP_PORT);
  expect_limit(&attr.port_num, 1, 0, IB_QP_PORT);
  expect_limit(&attr.pkey_index, 0, 1, IB_QP_PKEY_INDEX);
  expect_limit(&attr.dest_qp_num, 0xffffffu, 0x1000000u, IB_QP_DEST_QPN);
  expect_limit(&attr.path_mig_state, IB_MIG_MIGRATED, IB_MIG_REARM, IB_QP_PATH_MIG_STATE);
  expect_limit(&attr.qp_access_flags, 0x1f, 0x20, IB_QP_ACCESS_FLAGS);
  expect_limit(&attr.qp_access_flags, int{IB_ACCESS_OPTIONAL}, 0x80, IB_QP_ACCESS_FLAGS);
  expect_limit(&attr.timeout, 31, 32, IB_QP_TIMEOUT);
  expect_limit(&attr.min_rnr_timer, 31, 32, IB_QP_MIN_RNR_TIMER);
  expect_limit(&attr.retry_cnt, 7, 8, IB_QP_RETRY_CNT);
  expect_limit(&attr.rnr_retry, 7, 8, IB_QP_RNR_RETRY);
  expect_limit(&attr.max_rd_atomic, SROCE_MAX_RD_ATOMIC, SROCE_MAX_RD_ATOMIC + 1,
               IB_QP_MAX_QP_RD_ATOMIC);
  expect_limit(&attr.max_dest_rd_atomic, SROCE_MAX_RD_ATOMIC, SROCE_MAX_RD_ATOMIC + 1,
               IB_QP_MAX_DEST_RD_ATOMIC);
  EXPECT_EQ(-EINVAL, modify(IB_QP_ALT_PATH));
}

TEST_F(ModifyQp, PathMtuFitsTheInterface) {
  expect_limit(&attr.path_mtu, IB_MTU_256, ib_mtu{}, IB_QP_PATH_MTU);
  netdev.mtu = 1024 + SROCE_OVERHEAD_BYTES;
  expect_limit(&attr.path_mtu, IB_MTU_1024, IB_MTU_2048, IB_QP_PATH_MTU);
  netdev.mtu--;
  expect_limit(&attr.path_mtu, IB_MTU_512, IB_MTU_1024, IB_QP_PATH_MTU);
  netdev.mtu = 100;
  expect_limit(&attr.path_mtu, IB_MTU_256, IB_MTU_512, IB_QP_PATH_MTU);
}

TEST_F(ModifyQp, PathOfBothQueuesIsReplacedAndTheirRoutesDropped) {
  dst_entry route = {};
  qp.sq.dst = qp.rq.dst = &route;
  attr.dest_qp_num = 0x777;
  EXPECT_EQ(0, modify(IB_QP_STATE | IB_QP_AV | IB_QP_DEST_QPN));
  EXPECT_EQ(64, qp.sq.path.hop_limit);
  EXPECT_EQ(64, qp.rq.path.hop_limit);
  EXPECT_EQ(nullptr, qp.sq.dst);
  EXPECT_EQ(nullptr, qp.rq.dst);
  EXPECT_EQ(-2, stand_in.dst_refs);
  EXPECT_EQ(htons(rdma_get_udp_sport(0, QPN, 0x777)), qp.sq.path.sport);
  EXPECT_EQ(0, modify(IB_QP_AV));
  EXPECT_EQ(htons(rdma_get_udp_sport(0, QPN, PEER_QPN)), qp.sq.path.sport) << "as set before";
}

TEST_F(ModifyQp, BadPathChangesNothing) {
  attr.ah_attr.port_num = 2;
  dst_entry route = {};
  qp.sq.dst = &route;
  EXPECT_EQ(-EINVAL, modify(IB_QP_STATE | IB_QP_AV));
  EXPECT_EQ(0u, stand_in_datapath.state_changes);
  EXPECT_EQ(&route, qp.sq.dst);
}

TEST_F(ModifyQp, ResourcesAreReplaced) {
  attr.max_dest_rd_atomic = 8;
  EXPECT_EQ(0, modify(IB_QP_MAX_DEST_RD_ATOMIC));
  EXPECT_EQ(8u, sroce_resources_capacity(&qp.resp.resources));
  const sroce_resource_storage* before = qp.resources;
  ASSERT_NE(nullptr, before);
  EXPECT_EQ(0, modify(IB_QP_MAX_DEST_RD_ATOMIC));
  EXPECT_EQ(before, qp.resources) << "the same number";
  stand_in.fail_allocation = 1;
  attr.max_dest_rd_atomic = 9;
  EXPECT_EQ(-ENOMEM, modify(IB_QP_MAX_DEST_RD_ATOMIC));
  EXPECT_EQ(8u, sroce_resources_capacity(&qp.resp.resources));
  attr.max_dest_rd_atomic = 0;
  EXPECT_EQ(0, modify(IB_QP_MAX_DEST_RD_ATOMIC));
  EXPECT_EQ(nullptr, qp.resources);
}

TEST_F(ModifyQp, ValuesForQueriesAreSavedOnSuccessAndClearedByReset) {
  attr.ah_attr.sl = 3;
  attr.timeout = 14;
  stand_in_datapath.state_error = -EBUSY;
  EXPECT_EQ(-EBUSY, modify(IB_QP_AV | IB_QP_TIMEOUT));
  EXPECT_EQ(0, qp.timeout);
  stand_in_datapath.state_error = 0;
  EXPECT_EQ(0, modify(IB_QP_AV | IB_QP_TIMEOUT));
  EXPECT_EQ(14, qp.timeout);
  EXPECT_EQ(3, qp.ah_attr.sl);
  EXPECT_EQ(nullptr, qp.ah_attr.grh.sgid_attr) << "the reference is not ours";
  attr.qp_state = IB_QPS_RESET;
  EXPECT_EQ(0, modify(IB_QP_STATE));
  EXPECT_EQ(0, qp.timeout);
  EXPECT_EQ(0, qp.ah_attr.sl);
}

}  // namespace
