// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A QP whose peer writes to memory that is paged on demand.
#ifndef TESTS_UNIT_KERNEL_ON_DEMAND_H
#define TESTS_UNIT_KERNEL_ON_DEMAND_H

#include <vector>

#include "stand_in/odp.h"
#include "unit/kernel/queue_pair.h"

// The packets of write_of() are for memory that is paged on demand.
struct OnDemand : WriteReceiver {
  explicit OnDemand(sroce_service service) : WriteReceiver(service) {
    EXPECT_EQ(0, sroce_fault_queue_init());
    stand_in_odp = {};
    for (u32 i = 0; i < 2; i++) stand_in_odp.pages[i].address = blocks.blocks[i].get();
    sroce_region* region = sroce_region_create(SROCE_REGION_ODP, &pd);
    region->range = {IOVA, 2 * 4096, 0xf};
    EXPECT_EQ(0, sroce_odp_init(&dev.memory, region, nullptr, 0x10000, 2 * 4096,
                                0xf | IB_ACCESS_ON_DEMAND));
    EXPECT_EQ(0, sroce_region_publish(&dev.memory, region));
    regions.push_back(region);
    key = region->key;
    qp.resp.attr.rnr_delay_ns = 1000000;
    qp.resp.attr.reorder_packets = 64;
    on_work = [this](u32* budget) {
      if (sroce_responder_waits_rwqe(&qp.resp) && !qp.rq.paging.pending)
        sroce_reorder_rwqe_posted(&qp.resp, 2000);
      sroce_receive_queued(&qp, 2000, budget);
      sroce_receive_backlog(&qp, 2000, budget);
      return SROCE_NEVER;
    };
  }
  ~OnDemand() { sroce_fault_queue_fini(); }
  void receive_apart(const std::vector<Bytes>& packets) {
    receive({packets[0]});
    flow.ip_id++;
    receive({packets.begin() + 1, packets.end()});
  }
  void receive_write(u32 psn, u64 va, u8 byte, u64 now_ns = 1000) {
    start({bytes_of(write_only(psn, va, 8), Bytes(8, byte))});
    rx.now_ns = now_ns;
    sroce_receive(&rx);
    rx.skb = nullptr;
  }
  void fault_pages() { fault_pages_of(qp.rq); }
  void fault_pages_of(sroce_wq& wq) {
    ASSERT_TRUE(wq.paging.work.queued);
    wq.paging.work.queued = false;
    wq.paging.work.function(&wq.paging.work);
  }
  // PSN 0
  void request_read(u32 length) {
    sroce_send_wqe* wqe = sroce_requester_wqe(&qp.req, qp.req.posted);
    wqe->opcode = SROCE_WR_READ;
    wqe->length = length;
    wqe->num_sge = 1;
    wqe->sge[0] = {IOVA, length, key};
    qp.req.attr.max_rd_atomic = 1;
    sroce_requester_post(&qp.req);
    EXPECT_TRUE(requests_read());
  }
  // Returns whether the requester, which has nothing else to do, requests the READ.
  bool requests_read() {
    sroce_send_plan plan;
    sroce_requester_plan(&qp.req, 1, &plan);
    sroce_requester_commit(&qp.req, &plan, SROCE_WC_SUCCESS, 1000);
    return plan.action == SROCE_SEND_PACKETS;
  }
};

#endif
