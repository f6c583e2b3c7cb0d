// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Congestion notification packets: kernel/datapath/cnp.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

namespace {

struct Cnp : testing::Test, QueuePair {
  explicit Cnp(sroce_service service = SROCE_SERVICE_RC) : QueuePair(service) {
    stand_in.now_ns = 1'000'000'000;
    start({packet_bytes(flow, packet_of(SROCE_OP_SEND_ONLY, 100), {}, flow.ip_id)});
    rx.pkt.src_qpn = 0x99;
    rx.pkt.qkey = QKEY;
  }
  void marked(u32 packets = 1) { sroce_cnp_marked(&qp, &rx, packets); }
  const sroce_path& path() { return stand_in_datapath.path; }
};

struct DatagramCnp : Cnp {
  DatagramCnp() : Cnp(SROCE_SERVICE_UD) {}
};

TEST_F(Cnp, GoesToThePeerWithItsOwnDscpAndPriority) {
  dev.cc.np_cnp_dscp = 47;
  dev.cc.np_cnp_prio_mode = 0;
  dev.cc.np_cnp_prio = 5;
  marked();
  ASSERT_EQ(1u, stand_in_datapath.packets);
  EXPECT_EQ(SROCE_OP_CNP, stand_in_datapath.packet.opcode);
  EXPECT_EQ(PEER_QPN, stand_in_datapath.packet.dest_qpn);
  EXPECT_TRUE(stand_in_datapath.packet.becn);
  EXPECT_EQ(47, stand_in_datapath.dscp);
  EXPECT_EQ(1u, stand_in_datapath.skbs);
  EXPECT_EQ(5u, stand_in_datapath.priority);
  EXPECT_EQ(1u, count(SROCE_CTR_NP_CNP_SENT));
}

TEST_F(Cnp, PriorityMayFollowFromTheDscp) {
  dev.cc.np_cnp_prio_mode = 1;
  dev.cc.np_cnp_prio = 5;
  marked();
  EXPECT_EQ(0u, stand_in_datapath.priority);
}

TEST_F(Cnp, RateIsLimited) {
  marked();
  marked();
  EXPECT_EQ(1u, stand_in_datapath.packets);
  stand_in.now_ns += 1'000'000'000;
  marked();
  EXPECT_EQ(2u, stand_in_datapath.packets);
}

TEST_F(Cnp, PacketFromElsewhereCausesNone) {
  rx.saddr = Flow::address(9);
  marked();
  EXPECT_EQ(0u, stand_in_datapath.packets);
}

TEST_F(Cnp, QueueThatIsNotReadySendsNone) {
  sroce_responder_set_state(&qp.resp, SROCE_RQ_ERROR);
  marked();
  EXPECT_EQ(0u, stand_in_datapath.packets);
}

TEST_F(Cnp, PacketsOfABatchCount) {
  marked(64);
  EXPECT_EQ(64u, qp.np.ecn_marked);
  EXPECT_EQ(1u, qp.np.cnps);
  marked();
  EXPECT_EQ(65u, qp.np.ecn_marked);
}

TEST_F(Cnp, OneThatCannotBeSentIsNotCounted) {
  stand_in_datapath.tx_error = -ENOMEM;
  marked();
  EXPECT_EQ(0u, count(SROCE_CTR_NP_CNP_SENT));
  EXPECT_EQ(0u, qp.np.cnps);
  EXPECT_EQ(0u, stand_in_datapath.skbs);
}

TEST_F(DatagramCnp, GoesBackToTheSender) {
  marked();
  ASSERT_EQ(1u, stand_in_datapath.packets);
  EXPECT_EQ(0x99u, stand_in_datapath.packet.dest_qpn);
  EXPECT_TRUE(ipv6_addr_equal(&path().saddr, &rx.daddr));
  EXPECT_TRUE(ipv6_addr_equal(&path().daddr, &rx.saddr));
  EXPECT_TRUE(path().is_ipv4);
  EXPECT_EQ(netdev.ifindex, path().oif);
  EXPECT_EQ(64, path().hop_limit);
}

TEST_F(DatagramCnp, LeavesByTheInterfaceOfTheAddressOnThisHost) {
  rx.skb->dev = &loopback;
  marked();
  EXPECT_EQ(netdev.ifindex, path().oif);
}

TEST_F(DatagramCnp, LeavesByTheVlanThatThePacketCameInOn) {
  net_device vlan = {.ifindex = 8};
  rx.skb->dev = &vlan;
  marked();
  EXPECT_EQ(8, path().oif);
}

TEST_F(DatagramCnp, WrongQkeyAndMadsCauseNone) {
  rx.pkt.qkey++;
  marked();
  EXPECT_EQ(0u, stand_in_datapath.packets);
  rx.pkt.qkey = QKEY;
  qp.ibqp.qp_type = IB_QPT_GSI;
  marked();
  EXPECT_EQ(0u, stand_in_datapath.packets);
}

struct CnpReceived : Cnp {
  CnpReceived() {
    sroce_cc_start(&qp.req.cc, &dev.cc, 1'000'000'000, 1024, stand_in.now_ns);
    sroce_cc_start(&qp.resp.cc, &dev.cc, 1'000'000'000, 1024, stand_in.now_ns);
    stand_in.now_ns += 1'000'000'000;
  }
  u64 handled(const sroce_cc& cc) {
    sroce_cc_info info;
    sroce_cc_get_info(&cc, stand_in.now_ns, &info);
    return info.cnp_handled;
  }
};

TEST_F(CnpReceived, SlowsDownBothQueues) {
  sroce_cnp_received(&qp, &rx);
  EXPECT_EQ(1u, handled(qp.req.cc));
  EXPECT_EQ(1u, handled(qp.resp.cc));
  EXPECT_EQ(1u, count(SROCE_CTR_RP_CNP_HANDLED));
}

// Otherwise READ responses, which have no ACKs, would slow down more often than WRITEs.
TEST_F(CnpReceived, ResponsesKnowTheRoundTripOfRequests) {
  qp.req.rtt.srtt_ns = 300'000;
  sroce_cnp_received(&qp, &rx);
  EXPECT_EQ(300'000u, qp.resp.cc.srtt_ns);
  EXPECT_EQ(0u, qp.req.cc.srtt_ns) << "ACKs tell";
}

TEST_F(CnpReceived, OneFromElsewhereIsIgnored) {
  rx.saddr = Flow::address(9);
  sroce_cnp_received(&qp, &rx);
  EXPECT_EQ(0u, handled(qp.req.cc));
  EXPECT_EQ(0u, handled(qp.resp.cc));
  EXPECT_EQ(1u, count(SROCE_CTR_RP_CNP_IGNORED));
}

TEST_F(CnpReceived, ConnectionManagerIsNotSlowedDown) {
  qp.ibqp.qp_type = IB_QPT_GSI;
  qp.service = SROCE_SERVICE_UD;
  sroce_cnp_received(&qp, &rx);
  EXPECT_EQ(0u, handled(qp.req.cc));
  EXPECT_EQ(1u, count(SROCE_CTR_RP_CNP_IGNORED));
}

}  // namespace
