// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Requests that a process has written to its send ring: kernel/datapath/send_queue.c.
#include <gtest/gtest.h>

#include <functional>

#include "unit/kernel/send_ring.h"

extern "C" {
#include "datapath/av.h"
}

namespace {

struct SendQueue : testing::Test, SendRing {
  explicit SendQueue(sroce_service service = SROCE_SERVICE_RC) : SendRing(service) {}

  // A request of one element that RC accepts.
  sroce_send_slot& write_slot(u32 index = 0) {
    sroce_send_slot& slot = native_slot(index);
    slot.wr_id = 77 + index;
    slot.opcode = SROCE_WR_WRITE;
    slot.flags = SROCE_SEND_SIGNALED;
    slot.num_sge = 1;
    slot.length = 100;
    slot.remote_addr = 0x1122334455667788;
    slot.rkey = 0x99;
    elements_of(slot)[0] = {0x5000, 100, 0x42};
    return slot;
  }
  rxe_send_wqe& rxe_write(u32 index = 0) {
    rxe_send_wqe& slot = rxe_slot(index);
    slot.wr.wr_id = 77 + index;
    slot.wr.opcode = SROCE_WR_WRITE;
    slot.wr.wr.rdma.remote_addr = 0x1122334455667788;
    slot.wr.wr.rdma.rkey = 0x99;
    slot.dma.length = 100;
    slot.dma.num_sge = 1;
    rxe_elements_of(slot)[0] = {0x5000, 100, 0x42};
    return slot;
  }
  // Expects the request of write_slot() or rxe_write() in the queue.
  void expect_write() {
    EXPECT_EQ(SROCE_WC_SUCCESS, status_of(0));
    EXPECT_EQ(77u, wqe(0)->wr_id);
    EXPECT_EQ(SROCE_WR_WRITE, wqe(0)->opcode);
    EXPECT_EQ(100u, wqe(0)->length);
    EXPECT_EQ(0x1122334455667788u, wqe(0)->rdma.remote_addr);
    EXPECT_EQ(0x99u, wqe(0)->rdma.rkey);
    EXPECT_EQ(1u, wqe(0)->num_sge);
    EXPECT_EQ(0x5000u, wqe(0)->sge[0].addr);
    EXPECT_EQ(0x42u, wqe(0)->sge[0].lkey);
  }
  u8 status_of(u32 index) { return wqe(index)->status; }
  // The process makes this change each time that the kernel reads, but for the load of the index.
  static void process_changes(std::function<void()> what) {
    static std::function<void()> change;
    static u32 calls;
    change = std::move(what);
    calls = 0;
    stand_in.process = [](void*) {
      if (++calls > 1) change();
    };
  }
};

TEST_F(SendQueue, NativeRequestIsCopied) {
  use_native();
  write_slot();
  post(1);
  ASSERT_EQ(1u, fetch());
  expect_write();
  EXPECT_EQ(SROCE_SEND_SIGNALED, wqe(0)->flags);
  EXPECT_EQ(1u, qp.sq_ring.head->fetched);
  EXPECT_EQ(0u, qp.sq_ring.head->consumer) << "the slot of a request under way";
  EXPECT_EQ(1u, qp.db.found);
  EXPECT_TRUE(qp.db.signaled);
}

TEST_F(SendQueue, RxeRequestIsCopied) {
  use_rxe();
  rxe_write();
  post(1);
  ASSERT_EQ(1u, fetch());
  expect_write();
  EXPECT_FALSE(qp.db.signaled);
}

// The sizes that were checked are those that are used.
TEST_F(SendQueue, ProcessThatChangesTheSlotChangesNothing) {
  use_native();
  sroce_send_slot& slot = write_slot();
  process_changes([&slot] {
    slot.num_sge = 0xffff;
    slot.length = 0x7fffffff;
    slot.flags = SROCE_SEND_INLINE;
    slot.opcode = SROCE_WR_READ;
  });
  post(1);
  fetch();
  expect_write();
}

TEST_F(SendQueue, ProcessThatChangesARxeSlotChangesNothing) {
  use_rxe();
  rxe_send_wqe& slot = rxe_write();
  process_changes([&slot] {
    slot.dma.num_sge = 0xffff;
    slot.dma.length = 0x7fffffff;
    slot.wr.send_flags = SROCE_SEND_INLINE;
    slot.wr.opcode = SROCE_WR_READ;
  });
  post(1);
  fetch();
  expect_write();
}

TEST_F(SendQueue, PayloadThatDoesNotFitIsNotCopied) {
  use_native();
  write_slot(0).num_sge = MAX_SGE + 1;
  write_slot(1).num_sge = 0xffff;
  write_slot(2).flags = SROCE_SEND_INLINE;
  native_slot(2).length = MAX_INLINE + 1;
  write_slot(3).flags = SROCE_SEND_INLINE;
  native_slot(3).length = 0xffffffff;
  post(4);
  ASSERT_EQ(4u, fetch());
  EXPECT_EQ(SROCE_WC_LOC_QP_OP_ERR, status_of(0));
  EXPECT_EQ(SROCE_WC_LOC_QP_OP_ERR, status_of(1));
  EXPECT_EQ(SROCE_WC_LOC_LEN_ERR, status_of(2));
  EXPECT_EQ(SROCE_WC_LOC_LEN_ERR, status_of(3));
}

TEST_F(SendQueue, InlineDataIsCopiedAndNoElementIs) {
  use_native();
  sroce_send_slot& slot = write_slot();
  slot.flags = SROCE_SEND_INLINE;
  slot.num_sge = 2;
  slot.length = MAX_INLINE;
  memset(&slot + 1, 0x5a, MAX_INLINE);
  post(1);
  fetch();
  EXPECT_EQ(SROCE_WC_SUCCESS, status_of(0));
  EXPECT_EQ(0u, wqe(0)->num_sge);
  for (u32 i = 0; i < MAX_INLINE; i++) EXPECT_EQ(0x5a, wqe(0)->inline_data[i]);
}

TEST_F(SendQueue, OpcodeIsNotTruncated) {
  use_rxe();
  rxe_write(0).wr.opcode = 0x100 | SROCE_WR_WRITE;
  rxe_write(1).wr.opcode = SROCE_WR_REG_MR;
  post(2);
  fetch();
  EXPECT_EQ(SROCE_WC_LOC_QP_OP_ERR, status_of(0));
  EXPECT_EQ(SROCE_WC_LOC_QP_OP_ERR, status_of(1)) << "only the kernel registers so";
}

TEST_F(SendQueue, NativeProcessCannotRegister) {
  use_native();
  write_slot().opcode = SROCE_WR_REG_MR;
  post(1);
  fetch();
  EXPECT_EQ(SROCE_WC_LOC_QP_OP_ERR, status_of(0));
}

TEST_F(SendQueue, UnknownFlagsAreDropped) {
  use_native();
  qp.sq_sig_all = true;
  write_slot(0).flags = 0xf0 | SROCE_SEND_FENCE;
  post(1);
  fetch();
  EXPECT_EQ(SROCE_SEND_FENCE | SROCE_SEND_SIGNALED, wqe(0)->flags);
  EXPECT_TRUE(qp.db.signaled);
}

TEST_F(SendQueue, RxeFlagsAreThoseOfAByte) {
  use_rxe();
  rxe_write().wr.send_flags = 0xfffffff0 | SROCE_SEND_SOLICITED;
  post(1);
  fetch();
  EXPECT_EQ(SROCE_SEND_SOLICITED, wqe(0)->flags);
}

TEST_F(SendQueue, OldKeyIsReadOfOperationsThatInvalidateOnly) {
  use_native();
  for (u32 i = 0; i < 2; i++) write_slot(i).invalidate_rkey = 0x1234;
  native_slot(0).opcode = SROCE_WR_LOCAL_INV;
  native_slot(1).opcode = SROCE_WR_SEND_INV;
  post(2);
  fetch();
  EXPECT_EQ(0x1234u, wqe(0)->invalidate_rkey);
  EXPECT_EQ(0x1234u, wqe(1)->invalidate_rkey);
}

TEST_F(SendQueue, NativeOperandsOfOtherOperations) {
  use_native();
  sroce_send_slot& atomic = write_slot(0);
  atomic.opcode = SROCE_WR_COMPARE_SWAP;
  atomic.length = elements_of(atomic)[0].length = 8;
  atomic.compare_add = 5;
  atomic.swap = 6;
  sroce_send_slot& bind = write_slot(1);
  bind.opcode = SROCE_WR_BIND_MW;
  bind.invalidate_rkey = 0x200;
  bind.bind.length = 1ull << 33;
  bind.bind.lkey = 0x42;
  bind.bind.access = 2;
  sroce_send_slot& flush = write_slot(2);
  flush.opcode = SROCE_WR_FLUSH;
  flush.length = flush.num_sge = 0;
  flush.flush.length = 300;
  flush.flush.type = SROCE_FLUSH_GLOBAL;
  flush.flush.level = SROCE_FLUSH_MR;
  post(3);
  ASSERT_EQ(3u, fetch());
  EXPECT_EQ(5u, wqe(0)->atomic.compare_add);
  EXPECT_EQ(6u, wqe(0)->atomic.swap);
  EXPECT_EQ(0x99u, wqe(0)->atomic.rkey);
  EXPECT_EQ(0x1122334455667788u, wqe(1)->bind_mw.addr);
  EXPECT_EQ(1ull << 33, wqe(1)->bind_mw.length);
  EXPECT_EQ(0x99u, wqe(1)->bind_mw.rkey);
  EXPECT_EQ(0x200u, wqe(1)->bind_mw.new_rkey);
  EXPECT_EQ(0x42u, wqe(1)->bind_mw.lkey);
  EXPECT_EQ(2u, wqe(1)->bind_mw.access);
  EXPECT_EQ(300u, wqe(2)->flush.length);
  EXPECT_EQ(SROCE_FLUSH_GLOBAL, wqe(2)->flush.placement);
  EXPECT_EQ(SROCE_FLUSH_MR, wqe(2)->flush.level);
  for (u32 i = 0; i < 3; i++) EXPECT_EQ(SROCE_WC_SUCCESS, status_of(i)) << i;
}

TEST_F(SendQueue, RxeOperandsOfOtherOperations) {
  use_rxe();
  rxe_send_wqe& atomic = rxe_write(0);
  atomic.wr.opcode = SROCE_WR_FETCH_ADD;
  atomic.dma.length = rxe_elements_of(atomic)[0].length = 8;
  atomic.wr.wr.atomic = {0x1000, 5, 6, 0x98, 0};
  rxe_send_wqe& bind = rxe_write(1);
  bind.wr.opcode = SROCE_WR_BIND_MW;
  bind.wr.wr.mw = {0x2000, 1ull << 33, 0x42, 0x97, 0x200, 2};
  rxe_send_wqe& flush = rxe_write(2);
  flush.wr.opcode = SROCE_WR_FLUSH;
  flush.dma.length = 300;
  flush.dma.num_sge = 0;
  auto* operands = reinterpret_cast<compat_flush*>(&flush.wr.wr);
  *operands = {0x3000, 0, 0x96, SROCE_FLUSH_GLOBAL, SROCE_FLUSH_RANGE};
  rxe_send_wqe& atomic_write = rxe_write(3);
  atomic_write.wr.opcode = SROCE_WR_ATOMIC_WRITE;
  atomic_write.dma.length = 8;
  atomic_write.dma.num_sge = 0;
  memset(rxe_elements_of(atomic_write), 0x77, 8);
  post(4);
  ASSERT_EQ(4u, fetch());
  EXPECT_EQ(0x1000u, wqe(0)->atomic.remote_addr);
  EXPECT_EQ(0x98u, wqe(0)->atomic.rkey);
  EXPECT_EQ(5u, wqe(0)->atomic.compare_add);
  EXPECT_EQ(6u, wqe(0)->atomic.swap);
  EXPECT_EQ(0x2000u, wqe(1)->bind_mw.addr);
  EXPECT_EQ(1ull << 33, wqe(1)->bind_mw.length);
  EXPECT_EQ(0x97u, wqe(1)->bind_mw.rkey) << "the present key";
  EXPECT_EQ(0x200u, wqe(1)->bind_mw.new_rkey);
  EXPECT_EQ(0x42u, wqe(1)->bind_mw.lkey);
  EXPECT_EQ(2u, wqe(1)->bind_mw.access);
  EXPECT_EQ(0x3000u, wqe(2)->flush.remote_addr);
  EXPECT_EQ(0x96u, wqe(2)->flush.rkey);
  EXPECT_EQ(300u, wqe(2)->flush.length) << "of the range";
  EXPECT_EQ(0u, wqe(2)->length) << "of the message";
  EXPECT_TRUE(wqe(3)->flags & SROCE_SEND_INLINE);
  EXPECT_EQ(0x77, wqe(3)->inline_data[7]);
  for (u32 i = 0; i < 4; i++) EXPECT_EQ(SROCE_WC_SUCCESS, status_of(i)) << i;
}

TEST_F(SendQueue, NothingIsFetchedBeforeRts) {
  use_native();
  write_slot();
  post(1);
  qp.state = IB_QPS_RTR;
  EXPECT_EQ(0u, fetch());
  qp.state = IB_QPS_ERR;
  EXPECT_EQ(1u, fetch()) << "to be flushed";
}

TEST_F(SendQueue, FetchStopsWithoutASlot) {
  use_native();
  for (u32 i = 0; i < 8; i++) write_slot(i);
  post(8);
  EXPECT_EQ(u32{SLOTS}, fetch());
  EXPECT_EQ(0u, fetch());
  EXPECT_EQ(u32{SLOTS}, qp.sq_ring.head->fetched);
}

// An index says that more was posted than the ring holds.
TEST_F(SendQueue, WildProducerIsNoWork) {
  use_native();
  post(9);
  EXPECT_EQ(0u, fetch());
  qp.sq_ring.head->producer = 0x80000000;
  EXPECT_EQ(0u, fetch());
}

TEST_F(SendQueue, RequestsOfTheKernelAreThoseThatItPublished) {
  qp.sq_posted = 2;
  EXPECT_EQ(2u, fetch());
  EXPECT_EQ(0u, fetch());
}

TEST_F(SendQueue, DiscardReadsNothing) {
  use_native();
  write_slot().opcode = 0xff;
  post(3);
  fetch();
  post(2);
  EXPECT_EQ(3u, sroce_requester_used(&qp.req));
  sroce_send_queue_discard(&qp);
  EXPECT_EQ(3u, sroce_requester_used(&qp.req));
  EXPECT_EQ(2u, qp.sq_ring.head->consumer) << "5 posted, 3 of them under way";
  EXPECT_EQ(5u, qp.sq_ring.head->fetched);
  EXPECT_EQ(0u, sroce_ring_pending(&qp.sq_ring));
}

// Requests that failed when they were posted retire without a packet.
TEST_F(SendQueue, RetiredSlotsAreFreed) {
  use_native();
  for (u32 i = 0; i < 3; i++) write_slot(i).length = 99;
  native_slot(1).opcode = SROCE_WR_SEND;
  native_slot(2).opcode = SROCE_WR_SEND_IMM;
  post(3);
  fetch();
  const u32 before = sroce_requester_retired(&qp.req);
  retire(2);
  EXPECT_EQ(0u, qp.sq_ring.head->consumer);
  sroce_send_queue_retire(&qp, before);
  EXPECT_EQ(2u, qp.sq_ring.head->consumer);
  EXPECT_EQ(2u, qp.sq_retired);
  EXPECT_EQ(1u, count(SROCE_CTR_RDMA_SEND));
  sroce_send_queue_retire(&qp, 2);
  EXPECT_EQ(1u, count(SROCE_CTR_RDMA_SEND));
}

TEST_F(SendQueue, GrowsForWhatIsPosted) {
  use_native();
  for (u32 i = 0; i < 8; i++) write_slot(i);
  post(5);
  fetch();
  sroce_send_queue_grow(&qp);
  EXPECT_EQ(8u, sroce_requester_slots(&qp.req));
  EXPECT_EQ(1u, fetch());
  for (u32 i = 0; i < 5; i++) EXPECT_EQ(77 + i, wqe(i)->wr_id);
  const void* storage = qp.sq_storage;
  EXPECT_EQ(storage, qp.req.ring);
  sroce_send_queue_grow(&qp);
  EXPECT_EQ(storage, qp.sq_storage) << "there are enough";
}

TEST_F(SendQueue, GrowsToTheRingAtMost) {
  use_native();
  post(8);
  fetch();
  qp.sq_ring.head->producer = 9;  // as if the ring had been freed
  sroce_send_queue_grow(&qp);
  EXPECT_EQ(8u, sroce_requester_slots(&qp.req));
}

TEST_F(SendQueue, WithoutMemoryTheStorageStays) {
  use_native();
  for (u32 i = 0; i < 5; i++) write_slot(i);
  post(5);
  fetch();
  stand_in.fail_allocation = 1;
  sroce_send_queue_grow(&qp);
  EXPECT_EQ(u32{SLOTS}, sroce_requester_slots(&qp.req));
  EXPECT_EQ(77u, wqe(0)->wr_id);
}

struct DatagramQueue : SendQueue {
  DatagramQueue() : SendQueue(SROCE_SERVICE_UD) {
    use_native();
    av = static_cast<sroce_av*>(calloc(1, sizeof(*av)));
    av->pd = &pd;
    refcount_set(&av->refs, 1);
    xa_init_flags(&dev.ahs, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
    xa_store(&dev.ahs, 9, av, 0);
  }
  ~DatagramQueue() override {
    xa_destroy(&dev.ahs);
    free(av);
  }
  void post_datagram(u32 ah) {
    sroce_send_slot& slot = write_slot(posted);
    slot.opcode = SROCE_WR_SEND;
    slot.qkey = QKEY + 1;
    slot.ud.dest_qpn = 0xff000000 | PEER_QPN;
    slot.ud.ah = ah;
    post(1);
    fetch();
  }

  sroce_av* av;
};

TEST_F(DatagramQueue, RequestHoldsTheAddressVector) {
  post_datagram(9);
  EXPECT_EQ(SROCE_WC_SUCCESS, status_of(0));
  EXPECT_EQ(av, wqe(0)->ud.ah);
  EXPECT_EQ(2u, av->refs.count);
  EXPECT_EQ(PEER_QPN, wqe(0)->ud.dest_qpn);
  EXPECT_EQ(QKEY + 1, wqe(0)->ud.qkey);
  retire(1);
  sroce_send_queue_retire(&qp, 0);
  EXPECT_EQ(1u, av->refs.count);
}

TEST_F(DatagramQueue, ControlledQkeyIsThatOfTheQueuePair) {
  sroce_send_slot& slot = write_slot();
  slot.opcode = SROCE_WR_SEND;
  slot.ud.ah = 9;
  slot.qkey = 0x80000000;
  post(1);
  fetch();
  EXPECT_EQ(QKEY, wqe(0)->ud.qkey);
  retire(1);
  sroce_send_queue_retire(&qp, 0);
}

TEST_F(DatagramQueue, HandleOfAnotherDomainIsNoHandle) {
  ib_pd other = {};
  av->pd = &other;
  post_datagram(9);
  EXPECT_EQ(SROCE_WC_LOC_QP_OP_ERR, status_of(0));
  EXPECT_EQ(nullptr, wqe(0)->ud.ah);
  EXPECT_EQ(1u, av->refs.count);
}

TEST_F(DatagramQueue, HandleThatGoesIsNoHandle) {
  refcount_set(&av->refs, 0);
  post_datagram(9);
  EXPECT_EQ(SROCE_WC_LOC_QP_OP_ERR, status_of(0));
  post_datagram(8);
  EXPECT_EQ(SROCE_WC_LOC_QP_OP_ERR, status_of(1));
  EXPECT_EQ(nullptr, wqe(1)->ud.ah);
  retire(2);
  sroce_send_queue_retire(&qp, 0);
  EXPECT_EQ(0u, av->refs.count);
}

struct XrcQueue : SendQueue {
  XrcQueue() : SendQueue(SROCE_SERVICE_XRC) { use_native(); }
};

TEST_F(XrcQueue, SharedQueueIsWhereTheOperationLeavesRoom) {
  write_slot(0).xrc.srqn = 5;
  sroce_send_slot& atomic = write_slot(1);
  atomic.opcode = SROCE_WR_FETCH_ADD;
  atomic.length = elements_of(atomic)[0].length = 8;
  atomic.swap = 0x700000000;
  atomic.atomic_srqn = 6;
  post(2);
  fetch();
  EXPECT_EQ(5u, wqe(0)->srqn);
  EXPECT_EQ(6u, wqe(1)->srqn);
}

TEST_F(SendQueue, RequestThatCannotBeReadYetStaysPosted) {
  use_large_rxe();
  qp.sq_ring.cursor = 14;  // in two pages
  *qp.sq_ring.producer = 16;
  EXPECT_EQ(0u, fetch());
  EXPECT_EQ(14u, qp.sq_ring.cursor);
  stand_in_write_page(qp.sq_ring.memory->file, 1);
  sroce_ring_add_posted(&qp.sq_ring);
  EXPECT_EQ(2u, fetch());
}

}  // namespace
