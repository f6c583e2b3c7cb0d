// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// From a received skb to memory and completions: kernel/datapath/receive.c and rx_copy.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

namespace {

struct Receive : testing::Test, WriteReceiver {
  using WriteReceiver::WriteReceiver;
  Receive() = default;
};

TEST_F(Receive, WriteReachesItsRegion) {
  receive({bytes_of(write_only(100, IOVA + 5, 8), Bytes(8, 7))});
  EXPECT_EQ(101u, epsn());
  EXPECT_EQ(0, blocks[4]);
  EXPECT_EQ(7, blocks[5]);
  EXPECT_EQ(7, blocks[12]);
  EXPECT_EQ(0, blocks[13]);
  EXPECT_EQ(1u, rounds);
  EXPECT_EQ(1u, count(SROCE_CTR_RX_WRITE_REQUESTS));
}

TEST_F(Receive, CoalescedPacketsReachTheirPlaces) {
  const std::vector<Bytes> packets = write_of(8);
  // GRO puts packets of one size into an skb; the first has a longer header.
  receive({packets[0]});
  flow.ip_id++;
  receive({packets.begin() + 1, packets.end()});
  expect_written(8);
  EXPECT_EQ(108u, epsn());
  EXPECT_EQ(2u, rounds) << "the queue runs once for each skb";
}

struct WrongPacket : Receive, testing::WithParamInterface<u32> {};

TEST_P(WrongPacket, EndsTheCoalescedPackets) {
  const u32 wrong = GetParam();
  const std::vector<Bytes> right = write_of(8);
  std::vector<Bytes> packets = right;
  packets[wrong][50] ^= 1;
  receive({packets[0]});
  flow.ip_id++;
  receive({packets.begin() + 1, packets.end()});
  EXPECT_EQ(100 + wrong, epsn());
  for (u32 i = 0; i < wrong; i++) EXPECT_EQ(i + 1, blocks[i * 1024 + 500]);
  EXPECT_EQ(1u, count(SROCE_CTR_RX_ICRC_ENCAPSULATED));
  // Retransmitted, they complete the message.
  for (u32 i = wrong; i < 8; i++) {
    flow.ip_id = 100 + i;
    receive({right[i]});
  }
  expect_written(8);
  EXPECT_EQ(108u, epsn());
  EXPECT_EQ(SROCE_RQ_READY, qp.resp.state);
}
INSTANTIATE_TEST_SUITE_P(Each, WrongPacket, testing::Range(1u, 8u));

struct UcReceive : testing::Test, WriteReceiver {
  UcReceive() : WriteReceiver(SROCE_SERVICE_UC) {}
  void receive_apart(const std::vector<Bytes>& packets) {
    receive({packets[0]});
    flow.ip_id++;
    receive({packets.begin() + 1, packets.end()});
  }
};

TEST_F(UcReceive, WriteReachesItsRegion) {
  receive_apart(write_of(8));
  expect_written(8);
  EXPECT_EQ(108u, epsn());
}

// Nobody sends it again, so its bytes would stay.
TEST_F(UcReceive, WrongPacketIsNotWritten) {
  std::vector<Bytes> packets = write_of(8);
  packets[4][50] ^= 1;
  receive_apart(packets);
  expect_written(4);
  EXPECT_EQ(1u, count(SROCE_CTR_RX_ICRC_ENCAPSULATED));
  EXPECT_EQ(SROCE_RQ_READY, qp.resp.state);
}

TEST_F(UcReceive, EveryPacketOfADroppedMessageIsCounted) {
  const std::vector<Bytes> packets = write_of(8);
  flow.ip_id++;
  receive({packets.begin() + 1, packets.end()});
  EXPECT_EQ(7u, count(SROCE_CTR_DROP_GAP));
  expect_written(0);
}

TEST_F(UcReceive, BadKeyIsCountedAndEndsTheMessageOnly) {
  sroce_packet pkt = write_only(100, IOVA, 8);
  pkt.rkey ^= 1;
  receive({bytes_of(pkt, Bytes(8, 7))});
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_INVALID));
  EXPECT_EQ(SROCE_RQ_READY, qp.resp.state);
  receive({bytes_of(write_only(101, IOVA, 8), Bytes(8, 7))});
  EXPECT_EQ(7, blocks[0]);
}

// The middle of a message that has not begun is not placed.
TEST_F(Receive, CoalescedPacketsThatAreNotPlacedAreChecked) {
  std::vector<Bytes> packets;
  for (u32 i = 0; i < 3; i++)
    packets.push_back(bytes_of(packet_of(SROCE_OP_WRITE_MIDDLE, 100 + i), Bytes(1024), 100 + i));
  packets[1][50] ^= 1;
  receive(packets);
  EXPECT_EQ(1u, count(SROCE_CTR_RX_ICRC_ENCAPSULATED));
}

TEST_F(Receive, WrongAddressIsDropped) {
  const Bytes packet = bytes_of(write_only(100, IOVA, 8), Bytes(8, 7));
  for (in6_addr* end : {&qp.rq.path.daddr, &qp.rq.path.saddr}) {
    const in6_addr right = *end;
    *end = Flow::address(9);
    receive({packet});
    *end = right;
  }
  EXPECT_EQ(2u, count(SROCE_CTR_DROP_ADDRESS));
  EXPECT_EQ(100u, epsn());
  EXPECT_EQ(0, blocks[0]);
}

TEST_F(Receive, WrongIcrcPkeyServiceAndQpAreDropped) {
  Bytes packet = bytes_of(write_only(100, IOVA, 8), Bytes(8, 7));
  packet[30] ^= 1;
  receive({packet});
  EXPECT_EQ(1u, count(SROCE_CTR_RX_ICRC_ENCAPSULATED));
  sroce_packet pkt = write_only(100, IOVA, 8);
  pkt.pkey = 0x1234;
  receive({bytes_of(pkt, Bytes(8, 7))});
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_PKEY));
  receive({bytes_of(packet_of(SROCE_OP_UD_SEND_ONLY, 100), Bytes(8, 7))});
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_SERVICE));
  pkt = write_only(100, IOVA, 8);
  pkt.dest_qpn++;
  receive({bytes_of(pkt, Bytes(8, 7))});
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_NO_QP));
  EXPECT_EQ(100u, epsn());
  EXPECT_EQ(0, blocks[0]);
}

TEST_F(Receive, LimitedMemberIsAPartner) {
  sroce_packet pkt = write_only(100, IOVA, 8);
  pkt.pkey = 0x7fff;
  receive({bytes_of(pkt, Bytes(8, 7))});
  EXPECT_EQ(101u, epsn());
}

TEST_F(Receive, BadKeyChangesNothing) {
  sroce_packet pkt = write_only(100, IOVA, 8);
  pkt.rkey ^= 1;
  receive({bytes_of(pkt, Bytes(8, 7))});
  EXPECT_EQ(0, blocks[0]);
  EXPECT_EQ(SROCE_RQ_FAILED, qp.resp.state);
}

TEST_F(Receive, SendFillsAReceiveAndCompletesIt) {
  post_receive(IOVA + 100, 50, key);
  receive({bytes_of(packet_of(SROCE_OP_SEND_ONLY, 100), Bytes(50, 3))});
  const std::vector<ib_wc> all = completions();
  ASSERT_EQ(1u, all.size());
  EXPECT_EQ(5u, all[0].wr_id);
  EXPECT_EQ(50u, all[0].byte_len);
  EXPECT_EQ(PEER_QPN, all[0].src_qp);
  EXPECT_EQ(3, blocks[149]);
  EXPECT_EQ(0, blocks[150]);
  EXPECT_EQ(1u, count(SROCE_CTR_RDMA_RECV));
}

TEST_F(Receive, PeerInvalidatesTheKeyThatItNames) {
  sroce_region* region = sroce_region_create(SROCE_REGION_FAST, &pd);
  Memory::list(&region->pages, blocks, 0);
  region->range = {0, 4096, SROCE_ACCESS_REMOTE_READ};
  region->valid = true;
  ASSERT_EQ(0, sroce_region_publish(&dev.memory, region));
  regions.push_back(region);
  post_receive(IOVA, 50, key);
  sroce_packet pkt = packet_of(SROCE_OP_SEND_ONLY_INV, 100);
  pkt.inv_rkey = region->key;
  receive({bytes_of(pkt, Bytes(4, 3))});
  EXPECT_FALSE(region->valid);
  ASSERT_EQ(1u, completions().size());
}

TEST_F(Receive, PeerCannotInvalidateWhatItMayNotAccess) {
  sroce_region* region = sroce_region_create(SROCE_REGION_FAST, &pd);
  region->range.access = SROCE_ACCESS_LOCAL_WRITE;
  region->valid = true;
  ASSERT_EQ(0, sroce_region_publish(&dev.memory, region));
  regions.push_back(region);
  post_receive(IOVA, 50, key);
  sroce_packet pkt = packet_of(SROCE_OP_SEND_ONLY_INV, 100);
  pkt.inv_rkey = region->key;
  receive({bytes_of(pkt, Bytes(4, 3))});
  EXPECT_TRUE(region->valid);
  const std::vector<ib_wc> all = completions();
  ASSERT_EQ(1u, all.size());
  EXPECT_NE(SROCE_WC_SUCCESS, all[0].status);
  EXPECT_EQ(SROCE_VENDOR_ACCESS, static_cast<int>(all[0].vendor_err));
}

// Otherwise a slow peer that responds to what was repeated would use up the retries.
TEST_F(Receive, DuplicateAckShowsThatThePeerIsAlive) {
  sroce_requester_set_state(&qp.req, SROCE_SQ_READY);
  const u32 psn = psn_add(qp.req.unacked_psn, SROCE_PSN_MASK);
  receive({bytes_of(packet_of(SROCE_OP_ACK, psn), Bytes())});
  EXPECT_TRUE(qp.req.responded);
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_DUPLICATE));
}

TEST_F(Receive, MarkedSkbCausesOneCnp) {
  stand_in.now_ns = 1'000'000'000;
  flow.tos = 3;
  dev.cc.np_min_time_between_cnps = 0;
  const std::vector<Bytes> packets = write_of(4);
  receive({packets[0]});
  EXPECT_EQ(1u, stand_in_datapath.packets);
  flow.ip_id++;
  receive({packets.begin() + 1, packets.end()});
  EXPECT_EQ(2u, stand_in_datapath.packets);
}

struct DatagramReceiver : Receive {
  DatagramReceiver() : Receive(SROCE_SERVICE_UD) {}
  sroce_packet datagram() {
    sroce_packet pkt = packet_of(SROCE_OP_UD_SEND_ONLY, 7);
    pkt.qkey = QKEY;
    pkt.src_qpn = 0x321;
    return pkt;
  }
};

TEST_F(DatagramReceiver, GrhIsTheHeaderOfItsOwnPacket) {
  for (u32 i = 0; i < 2; i++) post_receive(IOVA + 100 * i, 60, key, i);
  receive({bytes_of(datagram(), Bytes(16, 8)), bytes_of(datagram(), Bytes(16, 9), 101)});
  const std::vector<ib_wc> all = completions();
  ASSERT_EQ(2u, all.size());
  EXPECT_EQ(0x321u, all[1].src_qp);
  EXPECT_EQ(56u, all[1].byte_len);
  EXPECT_EQ(RDMA_NETWORK_IPV4, all[1].network_hdr_type);
  for (u32 i = 0; i < 2; i++) {
    iphdr ip;
    memcpy(&ip, &blocks[100 * i + 20], sizeof(ip));
    EXPECT_EQ(4, ip.version);
    EXPECT_EQ(cpu_to_be16(100 + i), ip.id);
    EXPECT_EQ(cpu_to_be16(20 + 8 + 40), ip.tot_len);
    const u16 check = ip.check;
    ip_send_check(&ip);
    EXPECT_EQ(check, ip.check);
    EXPECT_EQ(8 + i, blocks[100 * i + 40]);
    EXPECT_EQ(0, blocks[100 * i + 56]);
  }
}

TEST_F(DatagramReceiver, AnyAddressMaySend) {
  post_receive(IOVA, 60, key);
  qp.rq.path.daddr = Flow::address(9);
  receive({bytes_of(datagram(), Bytes(16, 8))});
  EXPECT_EQ(1u, completions().size());
}

}  // namespace
