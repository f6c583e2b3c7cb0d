// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A queue pair of a device, ready to send and receive, whose work queues do nothing when they run.
#ifndef TESTS_UNIT_KERNEL_QUEUE_PAIR_H
#define TESTS_UNIT_KERNEL_QUEUE_PAIR_H

#include "port/resource_storage.h"
#include "unit/kernel/memory.h"
#include "unit/kernel/packets.h"

extern "C" {
#include "datapath/cnp.h"
#include "datapath/odp_backlog.h"
#include "datapath/qp.h"
#include "datapath/receive.h"
#include "datapath/reorder_queue.h"
#include "stand_in/datapath.h"
}

#include <functional>

constexpr u32 QPN = 17;
constexpr u32 PEER_QPN = 0x445566;
constexpr u32 QKEY = 0x1234;

struct QueuePair : Received {
  explicit QueuePair(sroce_service service = SROCE_SERVICE_RC) {
    stand_in_datapath = {};
    netdev.ifindex = 3;
    loopback.ifindex = 1;
    loopback.flags = IFF_LOOPBACK;
    dev.ep = ep;
    sroce_memory_init(&dev.memory);
    sroce_cc_params_init(&dev.cc);
    qp.dev = &dev;
    qp.counters = dev.ep.counters;
    qp.service = service;
    qp.state = IB_QPS_RTS;
    qp.ibqp.device = &dev.ibdev;
    qp.ibqp.pd = &pd;
    qp.ibqp.qp_num = QPN;
    qp.ibqp.qp_type = service == SROCE_SERVICE_RC   ? IB_QPT_RC
                      : service == SROCE_SERVICE_UC ? IB_QPT_UC
                                                    : IB_QPT_UD;
    qp.send_cq = qp.recv_cq = &cq;
    EXPECT_EQ(0, sroce_ring_init_cq(&cq.ring, 7, sizeof(ib_wc), false));
    qp.recv_queue = &qp.own_recv_queue;
    qp.recv_queue->max_sge = 2;
    qp.recv_queue->pd = &pd;
    EXPECT_EQ(0,
              sroce_ring_init(&qp.recv_queue->ring, 7, sizeof(rxe_recv_wqe) + 2 * sizeof(rxe_sge)));
    sroce_requester_init(&qp.req, service, send_slots, 128, 4);
    qp.req.attr = {.qpn = QPN, .dest_qpn = PEER_QPN, .mtu_bytes = 1024, .window_packets = 64};
    sroce_requester_set_state(&qp.req, SROCE_SQ_READY);
    sroce_responder_init(&qp.resp, service, reinterpret_cast<sroce_recv_wqe*>(recv_wqe));
    sroce_resources_init(&qp.resp.resources, resources.get(), 4);
    qp.resp.attr = {.dest_qpn = PEER_QPN,
                    .pkey = SROCE_PKEY_DEFAULT,
                    .mtu_bytes = 1024,
                    .qkey = QKEY,
                    .access = SROCE_ACCESS_REMOTE_WRITE | SROCE_ACCESS_REMOTE_READ |
                              SROCE_ACCESS_REMOTE_ATOMIC};
    sroce_responder_start_psn(&qp.resp, 100);
    sroce_responder_set_state(&qp.resp, SROCE_RQ_READY);
    static const sroce_wq_ops ops = {.work = work, .timer_fired = timer_fired, .failed = failed};
    sroce_wq_init(&qp.sq, SROCE_SQ, &ops);
    sroce_wq_init(&qp.rq, SROCE_RQ, &ops);
    for (sroce_wq* wq : {&qp.sq, &qp.rq}) {
      sroce_paging_init(wq);
      wq->path.saddr = flow.daddr;
      wq->path.daddr = flow.saddr;
      wq->path.is_ipv4 = true;
    }
    stand_in_datapath.qp = &qp;
    current = this;
  }
  ~QueuePair() {
    for (sroce_region* region : regions) sroce_region_destroy(&dev.memory, region);
    sroce_memory_fini(&dev.memory);
    sroce_reorder_clear(&qp.resp);
    sroce_reorder_queue_purge(&qp);
    free(qp.reorder_queue);
    sroce_backlog_purge(&qp);
    sroce_ring_fini(&cq.ring);
    sroce_ring_fini(&qp.own_recv_queue.ring);
    EXPECT_EQ(0, stand_in_datapath.users);
    EXPECT_FALSE(qp.sq.lock.locked || qp.rq.lock.locked);
  }
  QueuePair(const QueuePair&) = delete;

  static u64 work(sroce_qp*, u32* budget) {
    current->rounds++;
    return current->on_work ? current->on_work(budget) : SROCE_NEVER;
  }
  static void timer_fired(sroce_qp*) { current->timers++; }
  static void failed(sroce_qp*, sroce_wq_type) { current->failures++; }

  // A region with all remote permissions.
  u32 add_region(Blocks& blocks, u64 iova, u64 length) {
    return add_region_of(&pd, blocks, iova, length);
  }
  u32 add_region_of(ib_pd* owner, Blocks& blocks, u64 iova, u64 length) {
    sroce_region* region = sroce_region_create(SROCE_REGION_USER, owner);
    Memory::list(&region->pages, blocks, 0);
    region->range = {iova, length, 0xf};
    EXPECT_EQ(0, sroce_region_publish(&dev.memory, region));
    regions.push_back(region);
    return region->key;
  }
  void post_receive(u64 addr, u32 length, u32 lkey, u64 wr_id = 5) {
    ib_sge sge = {addr, length, lkey};
    const ib_recv_wr wr = {wr_id, &sge, 1};
    EXPECT_EQ(0, sroce_recv_queue_post(qp.recv_queue, &wr));
  }
  void start(const std::vector<Bytes>& packets, const Cut& cut = {}) {
    begin(flow, packets, cut);
    rx.ep = &dev.ep;
    rx.skb->dev = &netdev;
    rx.now_ns = 1000;
  }
  // The skb is consumed.
  void receive(const std::vector<Bytes>& packets, const Cut& cut = {}) {
    start(packets, cut);
    sroce_receive(&rx);
    rx.skb = nullptr;
  }
  // Each value is another.
  void set_requester_counters() {
    qp.req.retransmits = 1ull << 40;
    qp.req.timeouts = 5;
    qp.req.probe.sent_count = 6;
    qp.req.rtt.srtt_ns = 7;
    qp.req.rtt.var_ns = 8;
    qp.req.rtt.min_ns = 9;
  }
  std::vector<ib_wc> completions() {
    std::vector<ib_wc> all(32);
    all.resize(sroce_cq_poll(&cq.ibcq, 32, all.data()));
    return all;
  }

  static inline QueuePair* current;
  Flow flow;
  net_device loopback = {};
  ib_pd pd = {};
  sroce_device dev = {};
  sroce_cq cq = {};
  sroce_qp qp = {};
  u64 send_slots[64] = {};
  u64 recv_wqe[32] = {};
  ResourceStorage resources{4};
  std::vector<sroce_region*> regions;
  std::function<u64(u32*)> on_work;
  u32 rounds = 0;
  u32 timers = 0;
  u32 failures = 0;
};

constexpr u64 IOVA = 0x70000;

// A region of 8 KiB, and packets that write to it.
struct WriteReceiver : QueuePair {
  explicit WriteReceiver(sroce_service service = SROCE_SERVICE_RC) : QueuePair(service) {
    key = add_region(blocks, IOVA, 2 * 4096);
  }
  Bytes bytes_of(sroce_packet pkt, const Bytes& payload, u16 ip_id = 100) {
    return packet_bytes(flow, pkt, payload, ip_id);
  }
  u8 of_service(u8 opcode) const {
    return static_cast<u8>(qp.service == SROCE_SERVICE_UC ? SROCE_SERVICE_UC | opcode : opcode);
  }
  sroce_packet write_only(u32 psn, u64 va, u32 length) {
    sroce_packet pkt = packet_of(of_service(SROCE_OP_WRITE_ONLY), psn);
    pkt.va = va;
    pkt.rkey = key;
    pkt.dma_length = length;
    return pkt;
  }
  // A WRITE of @count packets of 1024 bytes at IOVA.
  std::vector<Bytes> write_of(u32 count) {
    std::vector<Bytes> packets;
    for (u32 i = 0; i < count; i++) {
      sroce_packet pkt = packet_of(of_service(i == 0           ? SROCE_OP_WRITE_FIRST
                                              : i + 1 == count ? SROCE_OP_WRITE_LAST
                                                               : SROCE_OP_WRITE_MIDDLE),
                                   100 + i);
      pkt.va = IOVA;
      pkt.rkey = key;
      pkt.dma_length = count * 1024;
      packets.push_back(bytes_of(pkt, Bytes(1024, i + 1), flow.ip_id + i));
    }
    return packets;
  }
  void expect_written(u32 packets) {
    for (u32 i = 0; i < 8 * 1024; i++)
      ASSERT_EQ(i / 1024 < packets ? i / 1024 + 1 : 0, blocks[i]) << i;
  }
  u32 epsn() { return sroce_responder_epsn(&qp.resp); }

  Blocks blocks{2, 4096};
  u32 key;
};

#endif
