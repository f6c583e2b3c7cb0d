// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// From planned packets to skbs that the stack holds: kernel/datapath/tx.c.
#include <gtest/gtest.h>

#include "unit/kernel/queue_pair.h"

extern "C" {
#include "datapath/tx.h"
#include "stand_in/stack.h"
#include "transport/tsq_policy.h"
}

namespace {

constexpr u64 NOW_NS = 1'000'000;
constexpr u32 OWN_BYTES = 16;

// The QP of the fixture, whose device has an endpoint with sockets.
struct Tx : testing::Test, QueuePair {
  Tx() {
    stand_in_stack = {};
    stand_in_routes = {};
    net.generic = generic;
    netdev.net = &net;
    netdev.features = NETIF_F_GSO;
    netdev.netdev_ops = &ops;
    netdev.queue.qdisc = &qdisc;
    qdisc.enqueue = this;
    qdisc.ops = &fifo;
    stand_in_routes.rt.dst.dev = stand_in_routes.rt6.dst.dev = &netdev;
    stand_in_routes.rt.dst.mtu = stand_in_routes.rt6.dst.mtu = 9000;
    EXPECT_EQ(0, sroce_net_init(nullptr, [](sroce_endpoint*) {}));
    dev.ep = {};
    EXPECT_EQ(0, sroce_endpoint_init(&dev.ep, &netdev, &net));
    stand_in.uncharged = 0;  // a device is the administrator's
    dev.ep.udp_checksum = SROCE_UDP_CHECKSUM_ON;
    qp.counters = counters;
    ref = static_cast<sroce_qp_ref*>(aligned_alloc(SROCE_QP_REF_ALIGNMENT, 2 * 128));
    *ref = {};
    ref->qp = &qp;
    refcount_set(&ref->users, 1);
    refcount_set(&ref->holders, 1);
    qp.ref = ref;
    qp.sq.path.sport = htons(0xc111);
    qp.sq.path.hop_limit = 64;
    qp.rq.path = qp.sq.path;
    stand_in.now_ns = NOW_NS;
    init(qp.sq);
  }
  ~Tx() override {
    sroce_builder_close(&tx.builder);
    for (sroce_wq* wq : {&qp.sq, &qp.rq}) {
      __skb_queue_purge(&wq->out);
      dst_release(wq->dst);
    }
    EXPECT_EQ(0, stand_in.dst_refs);
    EXPECT_EQ(1u, ref->users.count);
    EXPECT_EQ(1u, ref->holders.count) << "skbs that nobody has freed";
    free(ref);
    sroce_endpoint_fini(&dev.ep);
    sroce_net_fini();
  }

  void init(sroce_wq& wq) { sroce_tx_init(&tx, &qp, &wq); }
  int send(u32 payload_bytes = 64, u32 expected = 1, const sroce_path* path = nullptr) {
    sroce_packet pkt = packet_of(SROCE_OP_SEND_MIDDLE, psn);
    sroce_crc_writer* writer;
    pkt.header_bytes = 12;
    pkt.payload_bytes = payload_bytes;
    pkt.pad_bytes = -payload_bytes & 3;
    const int err = sroce_tx_begin(&tx, path ? path : &tx.wq->path, &pkt, expected, &writer);
    if (err) return err;
    psn++;
    sroce_crc_write(writer, Bytes(payload_bytes, 0xa5).data(), payload_bytes);
    sroce_tx_end(&tx);
    return 0;
  }
  // As the runner does; the stack keeps them.
  std::vector<sk_buff*> deliver() {
    std::vector<sk_buff*> skbs;
    sroce_builder_close(&tx.builder);
    sroce_tx_charge(&qp, tx.wq);
    while (sk_buff* skb = __skb_dequeue(&tx.wq->out)) skbs.push_back(skb);
    tx.builder.packets = 0;
    return skbs;
  }
  u32 in_stack(sroce_wq_type type = SROCE_SQ) { return ref->tsq[type].queued.counter; }
  u8 tos_of(sk_buff* skb) {
    const u8 tos = ip_hdr(skb)->tos;
    kfree_skb(skb);
    return tos;
  }
  u8 sent_tos() {
    EXPECT_EQ(0, send());
    return tos_of(deliver().at(0));
  }

  ::net net = {};
  void* generic[4] = {};
  net_device_ops ops = {};
  Qdisc_ops fifo = {"pfifo_fast"};
  Qdisc_ops fq = {"fq"};
  Qdisc qdisc = {};
  sroce_qp_ref* ref;
  sroce_tx tx = {};
  u32 psn = 100;
};

TEST_F(Tx, PacketHasItsIcrcBehindThePad) {
  ASSERT_EQ(0, send(61));
  const auto skbs = deliver();
  ASSERT_EQ(1u, skbs.size());
  const sk_buff* skb = skbs[0];
  ASSERT_EQ(28 + 12 + 64 + 4u, skb->len);
  Bytes headers(skb->network, skb->network + 28), packet(skb->network + 28, skb->data + skb->len);
  headers[2] = 0;
  headers[3] = skb->len;
  headers[24] = 0;
  headers[25] = skb->len - 20;
  u32 icrc = 0;
  for (u32 i = 0; i < 4; i++) icrc |= u32{packet[packet.size() - 4 + i]} << 8 * i;
  EXPECT_EQ(icrc_by_definition(headers, packet), icrc);
  EXPECT_EQ(0xa5, packet[12 + 60]);
  for (u32 i = 61; i < 64; i++) EXPECT_EQ(0, packet[12 + i]);
  kfree_skb(skbs[0]);
}

TEST_F(Tx, IdentificationIsThatOfTheQueue) {
  qp.sq.path.ip_id = 500;
  send();
  send();
  EXPECT_EQ(502, qp.sq.path.ip_id);
  const auto skbs = deliver();
  EXPECT_EQ(htons(500), ip_hdr(skbs[0])->id);
  EXPECT_EQ(htons(501), ip_hdr(skbs[1])->id);
  for (sk_buff* skb : skbs) kfree_skb(skb);
}

TEST_F(Tx, RouteOfAConnectionIsCached) {
  send();
  send(64, 1);
  EXPECT_EQ(1u, stand_in_routes.lookups);
  EXPECT_EQ(&stand_in_routes.rt.dst, qp.sq.dst);
}

TEST_F(Tx, RouteOfADatagramIsNotKept) {
  const sroce_path path = qp.sq.path;
  send(64, 1, &path);
  EXPECT_EQ(nullptr, qp.sq.dst);
  EXPECT_EQ(1, stand_in.dst_refs) << "that of the skb";
  EXPECT_EQ(htons(0xc111), stand_in_routes.fl4.fl4_sport);
}

TEST_F(Tx, DatagramWithoutAFlowHasThePortOfItsQueuePair) {
  sroce_path path = qp.sq.path;
  path.sport = 0;
  send(64, 1, &path);
  const __be16 port = htons(rdma_get_udp_sport(0, QPN, 1));
  EXPECT_EQ(port, stand_in_routes.fl4.fl4_sport);
  EXPECT_EQ(port, udp_hdr(qp.sq.out.first)->source);
}

// Its route has been released for good, before its namespace ends.
TEST_F(Tx, DyingQueueLooksUpNoRoute) {
  send();
  sroce_builder_close(&tx.builder);
  dst_release(qp.sq.dst);
  qp.sq.dst = nullptr;
  qp.sq.dying = true;
  EXPECT_EQ(-ESHUTDOWN, send());
  const sroce_path path = qp.sq.path;
  EXPECT_EQ(-ESHUTDOWN, send(64, 1, &path));
  EXPECT_EQ(1u, stand_in_routes.lookups);
  EXPECT_EQ(nullptr, qp.sq.dst);
  EXPECT_EQ(0u, count(SROCE_CTR_DROP_NO_ROUTE));
}

TEST_F(Tx, PacketWithoutARouteIsCountedAndLost) {
  stand_in_routes.error = -EHOSTUNREACH;
  EXPECT_EQ(-EHOSTUNREACH, send());
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_NO_ROUTE));
  EXPECT_EQ(nullptr, tx.builder.skb);
}

TEST_F(Tx, PacketBeyondTheMtuIsAnErrorOfThePort) {
  stand_in_routes.rt.dst.mtu = 100;
  EXPECT_EQ(-EMSGSIZE, send(64 + 28));
  EXPECT_EQ(1u, dev.ep.counters[0].value[SROCE_CTR_SEND_ERR]);
  EXPECT_EQ(0u, count(SROCE_CTR_SEND_ERR));
}

// The PSNs of a GSO skb follow each other.
TEST_F(Tx, NothingFollowsALostPacket) {
  send(64, 3);
  stand_in_routes.rt.dst.mtu = 100;
  EXPECT_EQ(-EMSGSIZE, send(1024));
  EXPECT_EQ(nullptr, tx.builder.skb);
}

TEST_F(Tx, WithoutMemoryForABatchOnePacketIsTried) {
  stand_in.fail_allocation = 3;  // an skb takes two
  EXPECT_EQ(0, send(64, 8));
  EXPECT_EQ(1u, tx.builder.packets);
  EXPECT_EQ(0u, count(SROCE_CTR_DROP_NO_MEMORY));
}

TEST_F(Tx, WithoutMemoryNothingIsBuilt) {
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, send());
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_NO_MEMORY));
  EXPECT_EQ(0u, dev.ep.counters[0].value[SROCE_CTR_SEND_ERR]);
  EXPECT_EQ(0u, skb_queue_len(&qp.sq.out));
}

TEST_F(Tx, TypeOfServiceIsThatOfThePath) {
  qp.sq.path.tos = 0x60;
  EXPECT_EQ(0x60, sent_tos());
  dev.ecn = true;
  EXPECT_EQ(0x62, sent_tos()) << "ECN capable";
  qp.sq.path.tos = 0x61;
  EXPECT_EQ(0x61, sent_tos()) << "the path says so itself";
  tx.dscp = 48;
  EXPECT_EQ(48 << 2, sent_tos()) << "a CNP is not marked";
}

TEST_F(Tx, QueueStopsWhenTheStackIsFull) {
  const u32 limit = sroce_tsq_limit(1024, 0);
  u32 packets = 0;
  std::vector<sk_buff*> skbs;
  while (!sroce_tx_throttle(&tx, 1)) {
    for (u32 left = 4; left; left--) ASSERT_EQ(0, send(64, left));
    packets += 4;
    for (sk_buff* skb : deliver()) skbs.push_back(skb);
    ASSERT_LE(packets, 2 * limit);
  }
  EXPECT_EQ(limit, packets);
  EXPECT_EQ(limit, in_stack());
  EXPECT_EQ(limit, qp.sq.sent);
  EXPECT_TRUE(ref->tsq[SROCE_SQ].throttled);
  EXPECT_FALSE(sroce_tx_throttle((init(qp.rq), &tx), 1)) << "the other queue";
  for (sk_buff* skb : skbs) {
    kfree_skb(skb);
    EXPECT_EQ(in_stack() <= SROCE_TSQ_PACKETS_LOW, stand_in.scheduled == 1) << in_stack();
  }
  EXPECT_EQ(0u, in_stack());
  EXPECT_EQ(1u, stand_in.scheduled);
  EXPECT_FALSE(ref->tsq[SROCE_SQ].throttled);
}

TEST_F(Tx, PacketsThatAreBuiltGoToTheStackFirst) {
  ref->tsq[SROCE_SQ].queued.counter = sroce_tsq_limit(1024, 0) - 1;
  EXPECT_FALSE(sroce_tx_throttle(&tx, 1));
  send();
  EXPECT_TRUE(sroce_tx_throttle(&tx, 1));
  EXPECT_TRUE(qp.sq.again);
  EXPECT_FALSE(ref->tsq[SROCE_SQ].throttled);
  ref->tsq[SROCE_SQ].queued.counter = 0;
}

// Both queues of a QP are one flow, of which fq drops skbs beyond 100.
TEST_F(Tx, SkbsOfBothQueuesCount) {
  ref->tsq[SROCE_RQ].queued.counter = SROCE_TSQ_SKB * (SROCE_TSQ_SKBS_MAX - 2);
  EXPECT_FALSE(sroce_tx_throttle(&tx, 2));
  ref->tsq[SROCE_SQ].queued.counter = SROCE_TSQ_SKB + 17;
  EXPECT_TRUE(sroce_tx_throttle(&tx, 2));
  EXPECT_TRUE(ref->tsq[SROCE_SQ].throttled);
  ref->tsq[SROCE_SQ].queued.counter = ref->tsq[SROCE_RQ].queued.counter = 0;
}

TEST_F(Tx, SkbThatIsBuiltCountsForTheQdisc) {
  ref->tsq[SROCE_RQ].queued.counter = SROCE_TSQ_SKB * (SROCE_TSQ_SKBS_MAX - 2);
  send();
  EXPECT_FALSE(sroce_tx_throttle(&tx, 1));
  EXPECT_TRUE(sroce_tx_throttle(&tx, 2));
  EXPECT_TRUE(qp.sq.again);
  ref->tsq[SROCE_RQ].queued.counter = 0;
}

// The last packet has gone before the flag was set, so nobody restarts the queue.
TEST_F(Tx, QueueGoesOnIfTheStackEmptiesMeanwhile) {
  static sroce_tsq* tsq;
  tsq = &ref->tsq[SROCE_SQ];
  tsq->queued.counter = 1000;
  stand_in.process = [](void*) {
    EXPECT_TRUE(tsq->throttled) << "the flag comes first";
    tsq->queued.counter = SROCE_TSQ_PACKETS_LOW;
  };
  EXPECT_FALSE(sroce_tx_throttle(&tx, 1));
  stand_in.process = nullptr;
  tsq->queued.counter = 0;
}

TEST_F(Tx, DestroyedQueuePairIsNotRestarted) {
  send();
  const auto skbs = deliver();
  ref->tsq[SROCE_SQ].throttled = true;
  refcount_set(&ref->users, 0);
  ref->qp = nullptr;
  kfree_skb(skbs[0]);
  EXPECT_EQ(0u, stand_in.scheduled);
  ref->qp = &qp;
  refcount_set(&ref->users, 1);
}

TEST_F(Tx, SkbMayOutliveTheQueuePair) {
  send();
  const auto skbs = deliver();
  EXPECT_EQ(2u, ref->holders.count);
  sroce_qp_ref_put(ref);
  EXPECT_EQ(0u, stand_in_datapath.refs_freed);
  kfree_skb(skbs[0]);
  EXPECT_EQ(1u, stand_in_datapath.refs_freed);
  refcount_set(&ref->holders, 1);
}

TEST_F(Tx, BatchCountsAllItsPackets) {
  for (u32 i = 0; i < 5; i++) send(64, 5 - i);
  const auto skbs = deliver();
  ASSERT_EQ(1u, skbs.size());
  EXPECT_EQ(5u, in_stack());
  EXPECT_EQ(SROCE_TSQ_SKB + 5, ref->tsq[SROCE_SQ].queued.counter);
  EXPECT_EQ(5u, qp.sq.sent);
  kfree_skb(skbs[0]);
  EXPECT_EQ(0, ref->tsq[SROCE_SQ].queued.counter);
}

// Otherwise XPS could choose another transmit queue, which may overtake.
struct TransmitQueue : Tx {
  TransmitQueue() { stand_in.ticks = INITIAL_JIFFIES; }
  // From a CPU, @ticks after the last one.
  sk_buff* send_from(u32 cpu, u32 ticks) {
    stand_in.cpu = cpu;
    stand_in.ticks += ticks;
    send();
    const auto skbs = deliver();
    EXPECT_EQ(1u, skbs.size());
    return skbs[0];
  }
  // The CPU whose queue a packet goes to that leaves the stack at once.
  u32 queue_of(u32 cpu, u32 ticks) {
    sk_buff* skb = send_from(cpu, ticks);
    const u32 sender_cpu = skb->sender_cpu;
    kfree_skb(skb);
    return sender_cpu - 1;
  }
};

TEST_F(TransmitQueue, IsThatOfTheFirstCpuAsLongAsPacketsFollow) {
  EXPECT_EQ(3u, queue_of(3, 0));
  for (int i = 0; i < 5; i++) EXPECT_EQ(3u, queue_of(0, 1)) << i;
  EXPECT_EQ(0u, queue_of(0, 2));
  EXPECT_EQ(0u, queue_of(3, 0));
}

TEST_F(TransmitQueue, IsNotKeptByARoundThatSendsNothing) {
  EXPECT_EQ(3u, queue_of(3, 0));
  stand_in.ticks++;
  sroce_tx_charge(&qp, &qp.sq);
  EXPECT_EQ(0u, queue_of(0, 1));
}

TEST_F(TransmitQueue, IsKeptWhileTheStackHasPackets) {
  for (sroce_wq* wq : {&qp.sq, &qp.rq}) {
    stand_in.ticks += 10;
    init(*wq);
    sk_buff* skb = send_from(3, 0);
    EXPECT_EQ(4u, skb->sender_cpu);
    init(qp.sq);
    EXPECT_EQ(3u, queue_of(0, 10)) << "requests and responses use the same";
    kfree_skb(skb);
    EXPECT_EQ(0u, queue_of(0, 10));
  }
}

TEST_F(Tx, EachQueueIsChargedForItsOwn) {
  init(qp.rq);
  send();
  const auto skbs = deliver();
  EXPECT_EQ(0u, in_stack(SROCE_SQ));
  EXPECT_EQ(1u, in_stack(SROCE_RQ));
  ref->tsq[SROCE_RQ].throttled = true;
  kfree_skb(skbs[0]);
  EXPECT_EQ(0u, in_stack(SROCE_RQ));
  EXPECT_FALSE(ref->tsq[SROCE_RQ].throttled);
  EXPECT_EQ(1u, stand_in.scheduled);
}

TEST_F(Tx, SocketOwnsThePacketsThatNoTransformSees) {
  sock v4 = {}, v6 = {};
  ref->ipv4_sk = &v4;
  ref->ipv6_sk = &v6;
  const auto owner = [&] {
    send();
    sk_buff* skb = deliver().at(0);
    sock* sk = skb->sk;
    kfree_skb(skb);
    return sk;
  };
  EXPECT_EQ(&v4, owner());
  stand_in_routes.rt.dst.xfrm = this;
  EXPECT_EQ(nullptr, owner()) << "ESP changes its counter";
  stand_in_routes.rt.dst.xfrm = nullptr;
  v4.dead = true;
  EXPECT_EQ(nullptr, owner()) << "its namespace may have ended";
  ref->ipv4_sk = nullptr;
  EXPECT_EQ(nullptr, owner());
  dst_release(qp.sq.dst);
  qp.sq.dst = nullptr;
  qp.sq.path.is_ipv4 = false;
  qp.sq.path.oif = netdev.ifindex;
  stand_in_routes.netdev = &netdev;
  stand_in_routes.source = qp.sq.path.saddr;
  EXPECT_EQ(&v6, owner());
}

TEST_F(Tx, RoceV1NeedsNoRoute) {
  sock v4 = {};
  ref->ipv4_sk = &v4;
  netdev.flags = IFF_UP;
  netdev.addr_len = 6;
  netdev.has_header = true;
  EXPECT_EQ(0, sroce_endpoint_add_address(&dev.ep, &qp.sq.path.saddr));
  stand_in.uncharged = 0;
  netdev.mtu = 1500;
  stand_in_routes.netdev = &netdev;
  qp.sq.path.is_v1 = true;
  qp.sq.path.is_ipv4 = false;
  qp.sq.path.oif = netdev.ifindex;
  qp.sq.path.daddr = Flow::address(9);
  ASSERT_EQ(0, send(64, 4));
  ASSERT_EQ(0, send(64, 3));
  const auto skbs = deliver();
  ASSERT_EQ(2u, skbs.size()) << "one packet each";
  EXPECT_EQ(2u, in_stack());
  EXPECT_EQ(0u, stand_in_routes.lookups);
  for (sk_buff* skb : skbs) {
    EXPECT_EQ(&v4, skb->sk);
    EXPECT_EQ(0, skb->network[1] & 0x30) << "no ECN";
    kfree_skb(skb);
  }
  EXPECT_EQ(0u, in_stack());
  netdev.flags = 0;
  EXPECT_EQ(-ENETUNREACH, send());
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_NO_ROUTE));
  netdev.flags = IFF_UP;
  EXPECT_EQ(-EMSGSIZE, send(1500));
  EXPECT_EQ(1u, dev.ep.counters[0].value[SROCE_CTR_SEND_ERR]);
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, send());
}

TEST_F(Tx, PacketsOfASkbDepartTogether) {
  send(64, 4);
  sroce_tx_set_edt(&tx, &qp.req.cc, NOW_NS + 500);
  EXPECT_EQ(nullptr, tx.builder.skb);
  EXPECT_EQ(NOW_NS + 500, sroce_cc_edt_ns(&qp.req.cc));
  send(64, 4);
  const sk_buff* skb = tx.builder.skb;
  EXPECT_EQ(NOW_NS + 500, skb->delivery_ns);
  sroce_tx_set_edt(&tx, &qp.req.cc, NOW_NS + 500);
  send(64, 3);
  EXPECT_EQ(skb, tx.builder.skb);
  EXPECT_EQ(0u, qp.sq.out.first->delivery_ns) << "at once";
  for (sk_buff* sent : deliver()) kfree_skb(sent);
}

TEST_F(Tx, DepartureInThePastIsNow) {
  send(64, 4);
  sroce_tx_set_edt(&tx, &qp.req.cc, NOW_NS - 500);
  EXPECT_NE(nullptr, tx.builder.skb);
  EXPECT_EQ(0u, sroce_cc_edt_ns(&qp.req.cc));
}

TEST_F(Tx, OnlyFqKeepsDepartureTimes) {
  u64 edt_ns;
  send();
  qp.req.cc.edt_ns = NOW_NS + 500;
  EXPECT_EQ(U32_MAX, sroce_tx_allowance(&tx, &qp.req.cc, &edt_ns));
  EXPECT_EQ(NOW_NS, edt_ns);
  qdisc.ops = &fq;
  sroce_tx_allowance(&tx, &qp.req.cc, &edt_ns);
  EXPECT_EQ(NOW_NS + 500, edt_ns);
}

TEST_F(Tx, ClockIsReadOnce) {
  qp.sq.now_ns = NOW_NS - 7;
  init(qp.sq);
  EXPECT_EQ(NOW_NS - 7, tx.now_ns);
  EXPECT_EQ(0u, qp.sq.now_ns) << "for one round";
  init(qp.sq);
  EXPECT_EQ(NOW_NS, tx.now_ns);
}

TEST_F(Tx, ResponsesUseTheKeysOfTheirQueuePair) {
  qp.serial = 99;
  init(qp.rq);
  EXPECT_EQ(99u, tx.mr_ref.qp_serial);
  EXPECT_EQ(&qp.rq.paging.wait, tx.mr_ref.wait);
  init(qp.sq);
  EXPECT_EQ(0u, tx.mr_ref.qp_serial);
  EXPECT_EQ(&qp.sq.paging.wait, tx.mr_ref.wait) << "pages that a copy misses are faulted in";
}

// Plans of packets with 1024 bytes each, but for the last.
struct Burst : Tx {
  Burst() {
    stand_in_stack.batch_pages = true;
    current = this;
  }

  static void write_headers(const sroce_tx*, const void*, u32 i, sroce_packet* pkt) {
    *pkt = packet_of(SROCE_OP_SEND_MIDDLE, 500 + i);
    pkt->header_bytes = 12;
    pkt->payload_bytes = !current->payload ? 0 : i + 1 == current->packets ? 100 : 1024;
  }
  static u32 expected(const sroce_tx*, const void*, u32 i, const sroce_packet*) {
    return current->packets - i;
  }
  // Each packet is filled with its number.
  static sroce_mem_status copy(sroce_tx*, const void*, u32 i, sroce_crc_writer* writer, u32 bytes) {
    current->longest = std::max(current->longest, bytes);
    current->copies++;
    if (i <= current->bad && current->bad < i + (bytes + 1023) / 1024) return current->status;
    for (; bytes; i++) {
      const u32 piece = std::min(bytes, 1024u);
      sroce_crc_write(writer, Bytes(piece, i).data(), piece);
      bytes -= piece;
    }
    return SROCE_MEM_OK;
  }
  int build(u32 count) {
    static const sroce_tx_source source = {write_headers, expected, copy};
    packets = count;
    const sroce_tx_span span = {&qp.sq.path, 500, count, 1024 * count, 1024, payload};
    return sroce_tx_build(&tx, &span, &source, nullptr);
  }
  // Whether packets with all numbers below @count are there, in their order.
  bool has_built(u32 count) {
    u32 i = 0;
    for (sk_buff* skb : deliver()) {
      Bytes all(skb->len - 28);
      EXPECT_EQ(0, skb_copy_bits(skb, 28, all.data(), all.size()));
      const u32 packets = sroce_builder_packets(skb);
      for (u32 k = 0; k < packets; k++, i++) {
        const u8* packet = &all[k * 1040];
        EXPECT_EQ(500 + i, u32(packet[9] << 16 | packet[10] << 8 | packet[11]));
        EXPECT_EQ(u8(i), packet[12]);
      }
      kfree_skb(skb);
    }
    return i == count;
  }

  static inline Burst* current;
  bool payload = true;
  u32 packets = 0;
  u32 bad = ~0u;
  sroce_mem_status status = SROCE_MEM_OK;
  u32 longest = 0;
  u32 copies = 0;
};

TEST_F(Burst, PayloadOfEqualPacketsIsCopiedInPieces) {
  EXPECT_EQ(60, build(60));
  EXPECT_EQ(u32{SROCE_TX_PIECE_BYTES}, longest);
  EXPECT_LT(copies, 10u);
  EXPECT_EQ(60, qp.sq.path.ip_id);
  EXPECT_TRUE(has_built(60));
}

TEST_F(Burst, EqualPacketsGoOnInAnotherFragment) {
  stand_in_stack.batch_pages = false;
  EXPECT_EQ(60, build(60));
  EXPECT_LT(1u, qp.sq.out.first->shared.nr_frags);
  EXPECT_TRUE(has_built(60));
}

// One that is not the first of equal ones, one among them, and the last.
TEST_F(Burst, UnreadablePayloadLeavesNothing) {
  for (u32 at : {0, 5, 59}) {
    bad = at;
    status = SROCE_MEM_BAD_KEY;
    EXPECT_EQ(-EFAULT, build(60)) << at;
    status = SROCE_MEM_NOT_PRESENT;
    EXPECT_EQ(-EAGAIN, build(60)) << at;
    EXPECT_EQ(0u, skb_queue_len(&qp.sq.out));
    EXPECT_EQ(0u, tx.builder.packets);
  }
}

TEST_F(Burst, WithoutMemoryNothingIsLeft) {
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, build(60));
  EXPECT_EQ(0u, skb_queue_len(&qp.sq.out));
}

TEST_F(Burst, PacketsWithoutARouteAreLost) {
  stand_in_routes.error = -EHOSTUNREACH;
  EXPECT_EQ(3, build(3));
  EXPECT_EQ(3u, count(SROCE_CTR_DROP_NO_ROUTE));
  EXPECT_EQ(0u, copies);
}

TEST_F(Burst, ContendedLockEndsIt) {
  stand_in.contended = true;
  EXPECT_EQ(34, build(60)) << "the first two, and a piece of 32";
  EXPECT_TRUE(has_built(34));
}

TEST_F(Burst, PacketsWithoutPayloadAreWrittenOneByOne) {
  payload = false;
  EXPECT_EQ(5, build(5));
  EXPECT_EQ(0u, copies);
  EXPECT_EQ(5u, tx.builder.packets);
}

struct Relock : Tx {
  Relock() {
    stand_in.contended = true;
    stand_in.argument = this;
    send(64, 4);
    spin_lock(&qp.sq.lock);
  }
  ~Relock() override { spin_unlock(&qp.sq.lock); }
  // Another context has the lock for a moment.
  void relock(void (*other)(void*)) {
    stand_in.unlocked = other;
    sroce_tx_relock(&tx);
    stand_in.unlocked = nullptr;
    EXPECT_TRUE(qp.sq.lock.locked);
  }
  static sroce_wq& queue(void* relock) { return static_cast<Relock*>(relock)->qp.sq; }
};

TEST_F(Relock, OtherContextGetsTheLock) {
  relock([](void* self) { EXPECT_FALSE(queue(self).lock.locked); });
  EXPECT_EQ(nullptr, stand_in.unlocked);
  EXPECT_NE(nullptr, tx.builder.skb) << "it has changed nothing";
}

TEST_F(Relock, LockIsKeptIfNobodyWaits) {
  stand_in.contended = false;
  static bool called;
  called = false;
  relock([](void*) { called = true; });
  EXPECT_FALSE(called);
}

TEST_F(Relock, NewAddressesNeedANewSkb) {
  relock([](void* self) { queue(self).path_changed = true; });
  EXPECT_EQ(nullptr, tx.builder.skb);
}

TEST_F(Relock, IdentificationThatIsTakenEndsTheSkb) {
  relock([](void* self) { queue(self).path.ip_id++; });
  EXPECT_EQ(nullptr, tx.builder.skb);
}

TEST_F(Relock, AddressesOfLastTimeAreForgotten) {
  qp.sq.path_changed = true;
  relock([](void*) {});
  EXPECT_NE(nullptr, tx.builder.skb);
}

}  // namespace
