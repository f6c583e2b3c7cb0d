// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// From a received skb to memory and completions: kernel/datapath/receive.c and rx_copy.c.
#include <gtest/gtest.h>

#include <utility>

#include "unit/kernel/on_demand.h"

namespace {

struct Receive : testing::Test, WriteReceiver {
  using WriteReceiver::WriteReceiver;
  Receive() = default;

  // Receives a SEND that invalidates a region of fast registration with this access.
  bool is_valid_after_send(u32 access) {
    sroce_region* region = sroce_region_create(SROCE_REGION_FAST, &pd);
    Memory::list(&region->pages, blocks, 0);
    region->range = {0, 4096, access};
    region->valid = true;
    EXPECT_EQ(0, sroce_region_publish(&dev.memory, region));
    regions.push_back(region);
    post_receive(IOVA, 50, key);
    sroce_packet pkt = packet_of(SROCE_OP_SEND_ONLY_INV, 100);
    pkt.inv_rkey = region->key;
    receive({bytes_of(pkt, Bytes(4, 3))});
    return region->valid;
  }
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

TEST_F(Receive, AtomicWriteKeepsTheOrderOfItsBytes) {
  const Bytes value = {1, 2, 3, 4, 5, 6, 7, 8};
  sroce_packet pkt = write_only(100, IOVA + 8, 8);
  pkt.opcode = SROCE_OP_ATOMIC_WRITE;
  pkt.info = sroce_opcode_lookup(pkt.opcode);
  ResourceStorage storage(1);
  sroce_resources_init(&qp.resp.resources, storage.get(), 1);
  receive({bytes_of(pkt, value)});
  EXPECT_EQ(101u, epsn());
  EXPECT_EQ(value, Bytes(&blocks[8], &blocks[16]));
  EXPECT_EQ(1u, count(SROCE_CTR_RX_WRITE_REQUESTS));
  EXPECT_EQ(0u, count(SROCE_CTR_RX_ATOMIC_REQUESTS));
  EXPECT_EQ(0, blocks[16]);
}

TEST_F(Receive, RegionOfAReadIsClosedAfterARound) {
  sroce_packet pkt = write_only(100, IOVA, 8);
  pkt.opcode = SROCE_OP_READ_REQUEST;
  pkt.info = sroce_opcode_lookup(pkt.opcode);
  ResourceStorage storage(1);
  sroce_resources_init(&qp.resp.resources, storage.get(), 1);
  receive({bytes_of(pkt, Bytes())});
  u32 budget = 1;
  sroce_rq_work(&qp, &budget);
  EXPECT_EQ(1u, stand_in_datapath.packets);
  EXPECT_EQ(SROCE_OP_READ_RESPONSE_ONLY, stand_in_datapath.packet.opcode);
  EXPECT_EQ(1u, regions[0]->refs.count);
  __skb_queue_purge(&qp.rq.out);
}

TEST_F(Receive, MarksOfABatchCountOnce) {
  const auto marks_of = [&](const std::vector<u32>& qpns, u32 segments) {
    std::vector<Bytes> packets;
    for (u32 qpn : qpns)
      packets.push_back(bytes_of(packet_of(SROCE_OP_SEND_ONLY, 200, qpn), Bytes(),
                                 flow.ip_id + u32(packets.size())));
    const u64 before = qp.np.ecn_marked;
    start(packets);
    rx.ecn_ce = true;
    rx.skb->shared.gso_segs = segments;
    sroce_receive(&rx);
    rx.skb = nullptr;
    __skb_queue_purge(&qp.rq.out);
    return qp.np.ecn_marked - before;
  };
  EXPECT_EQ(1u, marks_of({17}, 0));
  EXPECT_EQ(3u, marks_of({17, 17, 17}, 3));
  EXPECT_EQ(4u, marks_of({17, 99, 17}, 3)) << "there is no QP 99";
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

TEST_F(Receive, CoalescedPacketsOfAFragmentListReachTheirPlaces) {
  const std::vector<Bytes> packets = write_of(8);
  const u32 bytes = packets[1].size();
  receive({packets[0]});
  flow.ip_id++;
  receive({packets.begin() + 1, packets.end()}, Cut{0, bytes, 2 * bytes});
  expect_written(8);
  EXPECT_EQ(108u, epsn());
  EXPECT_EQ(2u, rounds);
}

TEST_F(Receive, DropOfAQpCountsInItsSet) {
  sroce_counters of_qp[STAND_IN_CPUS] = {};
  qp.counters = of_qp;
  sroce_packet pkt = write_only(100, IOVA, 8);
  pkt.dest_qpn++;
  stand_in_datapath.qp = nullptr;
  receive({bytes_of(pkt, Bytes(8))});
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_NO_QP)) << "nobody's";
  stand_in_datapath.qp = &qp;
  const Bytes write = bytes_of(write_only(100, IOVA, 8), Bytes(8));
  receive({write});
  sroce_responder_set_state(&qp.resp, SROCE_RQ_ERROR);
  receive({write});
  EXPECT_EQ(1u, of_qp[0].value[SROCE_CTR_DROP_STATE]);
  EXPECT_EQ(0u, count(SROCE_CTR_DROP_STATE));
  qp.counters = dev.ep.counters;
}

// The packet, and whether each has an skb of its own in the fragment list.
struct WrongPacket : Receive, testing::WithParamInterface<std::tuple<u32, bool>> {};

TEST_P(WrongPacket, EndsTheCoalescedPackets) {
  const auto [wrong, is_list] = GetParam();
  const std::vector<Bytes> right = write_of(8);
  std::vector<Bytes> packets = right;
  packets[wrong][50] ^= 1;
  receive({packets[0]});
  flow.ip_id++;
  Cut cut;
  if (is_list) cut.part = packets[1].size();
  receive({packets.begin() + 1, packets.end()}, cut);
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
INSTANTIATE_TEST_SUITE_P(Each, WrongPacket,
                         testing::Combine(testing::Range(1u, 8u), testing::Bool()));

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
  EXPECT_FALSE(is_valid_after_send(SROCE_ACCESS_REMOTE_READ));
  ASSERT_EQ(1u, completions().size());
}

TEST_F(Receive, PeerCannotInvalidateWhatItMayNotAccess) {
  EXPECT_TRUE(is_valid_after_send(SROCE_ACCESS_LOCAL_WRITE));
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

// Two QPs of the device are attached to a group.
struct GroupReceiver : DatagramReceiver {
  GroupReceiver() {
    sroce_mcast_init(&dev.mcast);
    flow.daddr.s6_addr[12] = 239;
    for (QueuePair* end : {static_cast<QueuePair*>(this), &other}) {
      end->qp.dev = &dev;
      end->qp.ibqp.pd = end->qp.recv_queue->pd = &pd;
      end->qp.ref = &refs[end == &other];
      end->qp.ref->qp = &end->qp;
      refcount_set(&end->qp.ref->users, 1);
      EXPECT_EQ(0, sroce_mcast_add_qp(&end->qp, &flow.daddr));
      end->post_receive(IOVA + 1000 * (end == &other), 60, key);
    }
    current = this;
    stand_in_datapath.qp = &qp;
  }
  ~GroupReceiver() {
    for (sroce_qp* attached : {&qp, &other.qp}) {
      EXPECT_EQ(1u, attached->ref->users.count);
      EXPECT_EQ(0, sroce_mcast_remove_qp(attached, &group));
      attached->ref = nullptr;
    }
  }
  sroce_packet group_datagram() {
    sroce_packet pkt = datagram();
    pkt.dest_qpn = SROCE_QPN_MULTICAST;
    return pkt;
  }
  void receive_group(const std::vector<Bytes>& packets) {
    start(packets);
    rx.is_multicast = true;
    sroce_receive(&rx);
    rx.skb = nullptr;
  }
  void expect_dropped(sroce_counter why) {
    EXPECT_EQ(1u, count(why));
    EXPECT_EQ(0u, completions().size());
    EXPECT_EQ(0u, other.completions().size());
  }
  QueuePair other{SROCE_SERVICE_UD};
  sroce_qp_ref refs[2] = {};
  const in6_addr group = [] {
    in6_addr address = Flow::address(2);
    address.s6_addr[12] = 239;
    return address;
  }();
};

TEST_F(GroupReceiver, EachQpGetsACopy) {
  receive_group({bytes_of(group_datagram(), Bytes(16, 8))});
  for (QueuePair* end : {static_cast<QueuePair*>(this), &other}) {
    const std::vector<ib_wc> all = end->completions();
    ASSERT_EQ(1u, all.size());
    EXPECT_EQ(0x321u, all[0].src_qp);
    EXPECT_EQ(56u, all[0].byte_len);
    const u8* at = &blocks[1000 * (end == &other)];
    EXPECT_EQ(8, at[40]);
    EXPECT_EQ(8, at[55]);
    iphdr ip;
    memcpy(&ip, at + 20, sizeof(ip));
    EXPECT_EQ(0, memcmp(&ip.daddr, &group.s6_addr[12], 4)) << "the group";
  }
}

TEST_F(GroupReceiver, EachQpDecidesAlone) {
  other.qp.resp.attr.qkey = QKEY + 1;
  receive_group(
      {bytes_of(group_datagram(), Bytes(16, 8)), bytes_of(group_datagram(), Bytes(16, 9), 101)});
  EXPECT_EQ(1u, completions().size());
  EXPECT_EQ(0u, other.completions().size());
  EXPECT_EQ(2u, other.count(SROCE_CTR_DROP_QKEY));
  EXPECT_EQ(2, dev.qkey_violations.counter) << "for the port, even if QPs are bound to counters";
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_NO_WQE));
}

TEST_F(GroupReceiver, OnlyTheNumberOfGroupsIsAccepted) {
  receive_group({bytes_of(datagram(), Bytes(16, 8))});
  expect_dropped(SROCE_CTR_DROP_ADDRESS);
}

TEST_F(GroupReceiver, NumberOfGroupsNeedsAGroup) {
  receive({bytes_of(group_datagram(), Bytes(16, 8))});
  expect_dropped(SROCE_CTR_DROP_NO_QP);
}

TEST_F(GroupReceiver, GroupWithoutQpIsCounted) {
  flow.daddr.s6_addr[15]++;
  receive_group({bytes_of(group_datagram(), Bytes(16, 8))});
  expect_dropped(SROCE_CTR_DROP_NO_QP);
}

TEST_F(GroupReceiver, OtherServicesAndCnpsAreDropped) {
  for (u8 opcode : {+SROCE_OP_SEND_ONLY, +SROCE_OP_ACK, +SROCE_OP_CNP})
    receive_group({bytes_of(packet_of(opcode, 7, SROCE_QPN_MULTICAST),
                            Bytes(opcode == SROCE_OP_CNP ? 16 : 0))});
  EXPECT_EQ(3u, count(SROCE_CTR_DROP_SERVICE));
  EXPECT_EQ(0u, other.count(SROCE_CTR_DROP_SERVICE)) << "once, for the port";
  EXPECT_EQ(0u, count(SROCE_CTR_RP_CNP_HANDLED) + count(SROCE_CTR_RP_CNP_IGNORED));
}

TEST_F(GroupReceiver, WrongIcrcIsDroppedOnce) {
  Bytes packet = bytes_of(group_datagram(), Bytes(16, 8));
  packet[30] ^= 1;
  receive_group({packet});
  expect_dropped(SROCE_CTR_RX_ICRC_ENCAPSULATED);
}

TEST_F(GroupReceiver, MarkedPacketCausesNoCnp) {
  stand_in.now_ns = 1'000'000'000;
  flow.tos = 3;
  receive_group({bytes_of(group_datagram(), Bytes(16, 8))});
  EXPECT_EQ(0u, stand_in_datapath.packets);
  EXPECT_EQ(1u, completions().size());
}

TEST(OnDemandReceive, RequestsWaitForPages) {
  for (const sroce_service service : {SROCE_SERVICE_RC, SROCE_SERVICE_UC}) {
    OnDemand qp(service);
    qp.receive_apart(qp.write_of(8));
    qp.expect_written(0);
    EXPECT_EQ(1u, qp.count(SROCE_CTR_PAGE_FAULTS));
    EXPECT_EQ(0u, qp.count(SROCE_CTR_RX_WRITE_REQUESTS));
    qp.fault_pages();
    qp.expect_written(8);
    EXPECT_EQ(108u, qp.epsn());
    EXPECT_EQ(1u, qp.count(SROCE_CTR_PAGE_FAULTS));
    EXPECT_EQ(1u, qp.count(SROCE_CTR_RX_WRITE_REQUESTS));
    EXPECT_EQ(0u, qp.qp.backlog_bytes);
  }
}

// Faults that last for ever would use up the system's workqueue, which the whole kernel shares.
TEST(OnDemandReceive, FaultsHaveAWorkqueueOfTheirOwn) {
  OnDemand qp(SROCE_SERVICE_RC);
  qp.receive({qp.bytes_of(qp.write_only(100, IOVA, 8), Bytes(8, 7))});
  ASSERT_TRUE(qp.qp.rq.paging.work.queued);
  ASSERT_TRUE(qp.qp.rq.paging.work.queue);
  EXPECT_STREQ("sroce_faults", qp.qp.rq.paging.work.queue->name);
}

// Otherwise it would be requested again after a timeout only.
TEST(OnDemandReceive, ResponseIsRequestedAgainWhenThePagesAreThere) {
  OnDemand qp(SROCE_SERVICE_RC);
  qp.request_read(8);
  const Bytes response = qp.bytes_of(packet_of(SROCE_OP_READ_RESPONSE_ONLY, 0), Bytes(8, 7));
  EXPECT_FALSE(qp.requests_read());
  qp.receive({response});
  EXPECT_EQ(1u, qp.count(SROCE_CTR_DROP_NOT_PRESENT));
  qp.fault_pages_of(qp.qp.sq);
  EXPECT_TRUE(qp.requests_read());
  EXPECT_FALSE(qp.requests_read());
  qp.receive({response});
  EXPECT_EQ(7, qp.blocks[7]);
  EXPECT_FALSE(sroce_requester_has_unacked(&qp.qp.req));
}

TEST(OnDemandReceive, RequestsWaitAgain) {
  for (const sroce_service service : {SROCE_SERVICE_RC, SROCE_SERVICE_UC}) {
    OnDemand qp(service);
    qp.receive_apart(qp.write_of(8));
    u8* second = std::exchange(stand_in_odp.pages[1].address, nullptr);
    qp.fault_pages();
    qp.expect_written(4);
    EXPECT_EQ(2u, qp.count(SROCE_CTR_PAGE_FAULTS));
    stand_in_odp.pages[1].address = second;
    qp.fault_pages();
    qp.expect_written(8);
  }
}

TEST(OnDemandReceive, RequestFailsWithoutPages) {
  OnDemand qp(SROCE_SERVICE_RC);
  stand_in_odp.pages[0].address = nullptr;
  qp.receive({qp.bytes_of(qp.write_only(100, IOVA, 8), Bytes(8, 7))});
  qp.fault_pages();
  EXPECT_EQ(1u, qp.count(SROCE_CTR_PAGE_FAULT_ERRORS));
  EXPECT_TRUE(sroce_responder_has_failed(&qp.qp.resp));
  EXPECT_EQ(SROCE_NAK_REMOTE_ACCESS, qp.qp.resp.nak_syndrome);
}

TEST(OnDemandReceive, FaultAtABadTimeIsStartedAgain) {
  for (const int error : {-EBUSY, -EAGAIN}) {
    OnDemand qp(SROCE_SERVICE_RC);
    qp.receive({qp.bytes_of(qp.write_only(100, IOVA, 8), Bytes(8, 7))});
    stand_in_odp.fault_error = error;
    qp.fault_pages();
    EXPECT_EQ(0u, qp.count(SROCE_CTR_PAGE_FAULT_ERRORS));
    qp.fault_pages();
    EXPECT_EQ(101u, qp.epsn());
  }
}

TEST(OnDemandReceive, ErrorOfTheTimeBeforeAResetIsForgotten) {
  OnDemand qp(SROCE_SERVICE_RC);
  u8* first = std::exchange(stand_in_odp.pages[0].address, nullptr);
  qp.receive({qp.bytes_of(qp.write_only(100, IOVA, 8), Bytes(8, 7))});
  stand_in_odp.during_fault = [] { sroce_paging_reset(&QueuePair::current->qp.rq); };
  qp.fault_pages();
  stand_in_odp.pages[0].address = first;
  EXPECT_EQ(0u, qp.qp.rq.paging.wait.failed.bytes);
  EXPECT_FALSE(sroce_responder_has_failed(&qp.qp.resp));
  qp.fault_pages();
  EXPECT_EQ(101u, qp.epsn());
}

TEST(OnDemandReceive, FaultOfTheTimeBeforeAResetDoesNotMatter) {
  OnDemand qp(SROCE_SERVICE_UC);
  qp.receive_write(100, IOVA + 4096, 7);
  qp.fault_pages();
  qp.receive_write(101, IOVA, 7);
  stand_in_odp.during_fault = [] {
    auto& qp = *static_cast<OnDemand*>(QueuePair::current);
    sroce_paging_reset(&qp.qp.rq);
    sroce_backlog_purge(&qp.qp);
    qp.receive_write(101, IOVA + 4096, 8);
    EXPECT_EQ(8, qp.blocks[4096]) << "its page is there";
    qp.receive_write(102, IOVA, 9);
  };
  qp.fault_pages();
  EXPECT_TRUE(qp.qp.rq.paging.pending) << "for its own fault";
  qp.fault_pages();
  EXPECT_EQ(9, qp.blocks[0]);
}

// Without memory for the first packet, the rest of its message must not begin in the middle.
TEST(OnDemandReceive, UcMessageIsDroppedAsAWhole) {
  OnDemand qp(SROCE_SERVICE_UC);
  const std::vector<Bytes> packets = qp.write_of(8);
  qp.qp.backlog_bytes += 4u << 20;
  qp.receive({packets[0]});
  qp.qp.backlog_bytes -= 4u << 20;
  EXPECT_EQ(1u, qp.count(SROCE_CTR_DROP_NOT_PRESENT));
  EXPECT_EQ(101u, qp.epsn());
  qp.fault_pages();
  qp.flow.ip_id++;
  qp.receive({packets.begin() + 1, packets.end()});
  qp.expect_written(0);
}

TEST(OnDemandReceive, PacketThatChangesBeforeItIsCopiedDoesNotWait) {
  OnDemand qp(SROCE_SERVICE_UC);
  qp.start({qp.write_of(8)[0]});
  ASSERT_TRUE(sroce_rx_next(&qp.rx));
  qp.rx.skb->data[UDP_BYTES] = SROCE_OP_WRITE_FIRST;  // of RC
  EXPECT_FALSE(sroce_backlog_add(&qp.qp, &qp.rx));
  EXPECT_EQ(0u, qp.qp.backlog_bytes);
  qp.rx.skb->data[UDP_BYTES] = qp.rx.pkt.opcode;
  EXPECT_TRUE(sroce_backlog_add(&qp.qp, &qp.rx));
}

TEST(OnDemandReceive, DuplicateOfAWaitingRequestFaultsNothing) {
  OnDemand qp(SROCE_SERVICE_RC);
  for (int i = 0; i < 2; i++) qp.receive({qp.bytes_of(qp.write_only(100, IOVA, 8), Bytes(8, 7))});
  EXPECT_EQ(1u, qp.count(SROCE_CTR_PAGE_FAULTS));
  qp.fault_pages();
  EXPECT_EQ(101u, qp.epsn());
}

// The pages of a READ response are missing, while a SEND waits for a receive.
TEST(OnDemandReceive, ReceiveIsFoundWhileOtherPagesAreFaultedIn) {
  OnDemand qp(SROCE_SERVICE_RC);
  qp.on_work = [&qp](u32* budget) { return sroce_rq_work(&qp.qp, budget); };
  qp.qp.resp.attr.rnr_delay_ns = 1000000;
  qp.receive({qp.bytes_of(qp.write_only(100, IOVA, 8), Bytes(8, 7))});
  EXPECT_TRUE(qp.qp.rq.paging.request_waits);
  qp.fault_pages();
  EXPECT_EQ(101u, qp.epsn());
  qp.qp.rq.paging.pending = true;
  qp.receive({qp.bytes_of(packet_of(SROCE_OP_SEND_ONLY, 101), Bytes(8, 3))});
  EXPECT_FALSE(qp.qp.rq.paging.request_waits);
  EXPECT_EQ(101u, qp.epsn());
  qp.post_receive(IOVA + 4096, 50, qp.key);
  spin_lock_bh(&qp.qp.rq.lock);
  sroce_wq_run(&qp.qp, &qp.qp.rq, true);
  EXPECT_EQ(102u, qp.epsn());
}

// Coalesced packets are copied twice before the error is that of one packet.
TEST(OnDemandReceive, CoalescedPacketsFailWithoutPages) {
  OnDemand qp(SROCE_SERVICE_RC);
  stand_in_odp.pages[1].address = nullptr;
  qp.receive_apart(qp.write_of(8));
  qp.fault_pages();
  qp.expect_written(4);
  EXPECT_FALSE(sroce_responder_has_failed(&qp.qp.resp));
  qp.fault_pages();
  EXPECT_TRUE(sroce_responder_has_failed(&qp.qp.resp));
}

// The QP stays, and the process may have mapped the memory since.
TEST(OnDemandReceive, UcWriteIsTriedAgainAfterAFailure) {
  OnDemand qp(SROCE_SERVICE_UC);
  u8* first = std::exchange(stand_in_odp.pages[0].address, nullptr);
  qp.receive({qp.bytes_of(qp.write_only(100, IOVA, 8), Bytes(8, 7))});
  qp.fault_pages();
  EXPECT_EQ(1u, qp.count(SROCE_CTR_DROP_INVALID));
  stand_in_odp.pages[0].address = first;
  qp.receive({qp.bytes_of(qp.write_only(101, IOVA, 8), Bytes(8, 7))});
  qp.fault_pages();
  EXPECT_EQ(7, qp.blocks[0]);
}

TEST(OnDemandReceive, BacklogIsLimited) {
  OnDemand qp(SROCE_SERVICE_UC);
  qp.receive({qp.bytes_of(qp.write_only(100, IOVA, 8), Bytes(8, 7))});
  qp.qp.backlog_bytes += 4u << 20;
  qp.receive({qp.bytes_of(qp.write_only(101, IOVA + 8, 8), Bytes(8, 7))});
  EXPECT_EQ(1u, qp.count(SROCE_CTR_DROP_NOT_PRESENT));
  qp.qp.backlog_bytes -= 4u << 20;
  qp.fault_pages();
  EXPECT_EQ(7, qp.blocks[0]);
  EXPECT_EQ(0, qp.blocks[8]);
}

TEST(OnDemandReceive, BacklogsShareTheLimitOfTheDevice) {
  OnDemand qp(SROCE_SERVICE_UC);
  constexpr u64 full = 128u << 20, guaranteed = 64u << 10;
  qp.dev.reorder_bytes.counter = full;
  qp.receive({qp.bytes_of(qp.write_only(100, IOVA, 8), Bytes(8, 7))});
  EXPECT_EQ(0u, qp.count(SROCE_CTR_DROP_NOT_PRESENT)) << "a part is guaranteed";
  qp.qp.backlog_bytes += guaranteed;
  qp.receive({qp.bytes_of(qp.write_only(101, IOVA + 8, 8), Bytes(8, 7))});
  EXPECT_EQ(1u, qp.count(SROCE_CTR_DROP_NOT_PRESENT));
  qp.qp.backlog_bytes -= guaranteed;
  qp.fault_pages();
  EXPECT_EQ(s64(full), qp.dev.reorder_bytes.counter);
}

// Its memory counts against that of other QPs, and a page fault may last for ever.
TEST(OnDemandReceive, BacklogIsDroppedIfThePageDoesNotCome) {
  OnDemand qp(SROCE_SERVICE_UC);
  u32 budget = 64;
  stand_in.now_ns = 500;
  qp.receive({qp.bytes_of(qp.write_only(100, IOVA, 8), Bytes(8, 7))});
  const u64 late_ns = sroce_backlog_deadline(&qp.qp);
  EXPECT_EQ(8'000'001'000u, late_ns);
  sroce_receive_backlog(&qp.qp, late_ns - 1, &budget);
  EXPECT_EQ(0u, qp.count(SROCE_CTR_DROP_NOT_PRESENT));
  EXPECT_LT(0, qp.dev.reorder_bytes.counter);
  sroce_receive_backlog(&qp.qp, late_ns, &budget);
  EXPECT_EQ(1u, qp.count(SROCE_CTR_DROP_NOT_PRESENT));
  EXPECT_EQ(0, qp.dev.reorder_bytes.counter);
  EXPECT_EQ(SROCE_NEVER, sroce_backlog_deadline(&qp.qp));

  qp.qp.rq.paging.began_ns -= 8'000'000'000;  // before the next packet
  qp.receive({qp.bytes_of(qp.write_only(101, IOVA + 8, 8), Bytes(8, 7))});
  EXPECT_EQ(2u, qp.count(SROCE_CTR_DROP_NOT_PRESENT)) << "no other takes its place";
  EXPECT_EQ(0, qp.dev.reorder_bytes.counter);

  qp.fault_pages();
  EXPECT_EQ(0, qp.blocks[0]);
  qp.receive({qp.bytes_of(qp.write_only(102, IOVA, 8), Bytes(8, 9))});
  EXPECT_EQ(9, qp.blocks[0]);
}

// No packet comes any more, so only the timer runs the queue.
TEST(OnDemandReceive, TimerDropsTheBacklogOfAQuietQp) {
  OnDemand qp(SROCE_SERVICE_UC);
  qp.on_work = [&qp](u32* budget) { return sroce_rq_work(&qp.qp, budget); };
  stand_in.now_ns = 1000;
  qp.receive_write(100, IOVA, 7);
  hrtimer& timer = qp.qp.rq.timer;
  ASSERT_TRUE(timer.started);
  EXPECT_EQ(8'000'001'000u, timer.expires_ns);

  stand_in.now_ns = timer.expires_ns;
  sroce_rq_timer_fired(&qp.qp);
  EXPECT_EQ(0u, qp.qp.rq.timer_defer_ns) << "the timer was needed";
  timer.function(&timer);
  EXPECT_EQ(1u, qp.count(SROCE_CTR_DROP_NOT_PRESENT));
  EXPECT_EQ(0u, qp.qp.backlog_bytes);
}

// A process may let each fault end just in time, and the next one begin.
TEST(OnDemandReceive, EachPacketWaitsItsOwnTime) {
  OnDemand qp(SROCE_SERVICE_UC);
  u32 budget = 64;
  qp.receive_write(100, IOVA, 7);
  stand_in.now_ns = 7'000'000'000;
  stand_in_odp.fault_error = -EBUSY;
  qp.fault_pages();
  EXPECT_EQ(2u, qp.count(SROCE_CTR_PAGE_FAULTS));
  qp.receive_write(101, IOVA + 8, 8, stand_in.now_ns);
  sroce_receive_backlog(&qp.qp, 8'000'001'000, &budget);
  EXPECT_EQ(1u, qp.count(SROCE_CTR_DROP_NOT_PRESENT));
  EXPECT_EQ(15'000'000'000u, sroce_backlog_deadline(&qp.qp));
  qp.fault_pages();
  EXPECT_EQ(0, qp.blocks[0]);
  EXPECT_EQ(8, qp.blocks[8]);
}

}  // namespace
