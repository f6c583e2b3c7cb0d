// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Shared receive queues: kernel/datapath/srq.c, and what receive.c and wq.c do with one.
#include <gtest/gtest.h>

#include <functional>

#include "unit/kernel/queue_pair.h"

namespace {

constexpr u32 SLOT_BYTES = sizeof(rxe_recv_wqe) + 2 * sizeof(rxe_sge);

struct SharedQueue {
  SharedQueue() {
    srq.queue.pd = &pd;
    srq.queue.max_sge = 2;
    srq.max_wr = 7;
    srq.ibsrq.srq_context = this;
    srq.ibsrq.event_handler = [](ib_event* event, void* context) {
      EXPECT_EQ(IB_EVENT_SRQ_LIMIT_REACHED, event->event);
      static_cast<SharedQueue*>(context)->limit_events++;
    };
    EXPECT_EQ(0, sroce_ring_init(&srq.queue.ring, 7, SLOT_BYTES));
  }
  ~SharedQueue() {
    stand_in = {};
    sroce_ring_fini(&srq.queue.ring);
  }
  void post(u64 wr_id, u32 length = 100, u64 addr = 0, u32 lkey = 0) {
    ib_sge sge = {addr, length, lkey};
    const ib_recv_wr wr = {wr_id, &sge, 1};
    ASSERT_EQ(0, sroce_recv_queue_post(&srq.queue, &wr));
  }
  void post_many(u64 from, u64 to) {
    for (u64 wr_id = from; wr_id < to; wr_id++) post(wr_id);
  }
  sroce_srq_outcome fetch(u32 least_bytes = 0) {
    return sroce_srq_fetch(&srq, reinterpret_cast<sroce_recv_wqe*>(storage), least_bytes);
  }
  u64 fetched() const { return reinterpret_cast<const sroce_recv_wqe*>(storage)->wr_id; }
  void expect_fetched(u64 from, u64 to) {
    for (u64 wr_id = from; wr_id < to; wr_id++) {
      ASSERT_EQ(SROCE_SRQ_TAKEN, fetch()) << wr_id;
      ASSERT_EQ(wr_id, fetched());
    }
    EXPECT_EQ(SROCE_SRQ_EMPTY, fetch());
  }

  ib_pd pd = {};
  sroce_srq srq = {};
  u64 storage[16] = {};
  u32 limit_events = 0;
};

struct Srq : testing::Test, SharedQueue {
  Srq() { stand_in = {}; }

  // Replaces the ring by one of @wrs, and frees the other.
  int resize(u32 wrs) {
    sroce_ring ring;
    sroce_mmap_entry* mmap = &entry;
    EXPECT_EQ(0, sroce_ring_init(&ring, wrs, SLOT_BYTES));
    const int err = sroce_srq_swap_ring(&srq, &ring, &mmap, wrs);
    EXPECT_EQ(err ? &entry : nullptr, mmap);
    if (!err) srq.queue.mmap = nullptr;
    sroce_ring_fini(&ring);
    return err;
  }
  void between_batches(std::function<void()> act) {
    acts = std::move(act);
    stand_in.argument = this;
    stand_in.resched = [](void* test) { static_cast<Srq*>(test)->acts(); };
  }

  sroce_mmap_entry entry = {};
  std::function<void()> acts;
};

TEST_F(Srq, RequestsAreTakenInTheOrderOfPosting) {
  EXPECT_EQ(SROCE_SRQ_EMPTY, fetch());
  EXPECT_FALSE(sroce_srq_has_posted(&srq));
  post_many(1, 4);
  EXPECT_TRUE(sroce_srq_has_posted(&srq));
  expect_fetched(1, 4);
}

TEST_F(Srq, RequestThatIsTooShortStaysForOthers) {
  post(1, 100);
  EXPECT_EQ(SROCE_SRQ_SHORT, fetch(101));
  EXPECT_EQ(SROCE_SRQ_SHORT, fetch(101));
  EXPECT_EQ(SROCE_SRQ_TAKEN, fetch(100));
  EXPECT_EQ(SROCE_SRQ_EMPTY, fetch(101));
}

TEST_F(Srq, InvalidRequestDoesNotStay) {
  post(1);
  static_cast<rxe_recv_wqe*>(sroce_ring_at(&srq.queue.ring, srq.queue.ring.cursor))->dma.num_sge =
      3;
  EXPECT_EQ(SROCE_SRQ_TAKEN, fetch(101));
  EXPECT_EQ(SROCE_WC_LOC_QP_OP_ERR, reinterpret_cast<sroce_recv_wqe*>(storage)->status);
}

TEST_F(Srq, LimitIsReportedOnceAndDisarmed) {
  post_many(0, 5);
  EXPECT_FALSE(sroce_srq_set_limit(&srq, 3));
  EXPECT_EQ(SROCE_SRQ_TAKEN, fetch());
  EXPECT_EQ(SROCE_SRQ_TAKEN, fetch());
  EXPECT_EQ(SROCE_SRQ_LIMIT, fetch());
  EXPECT_EQ(0u, srq.limit);
  EXPECT_EQ(SROCE_SRQ_TAKEN, fetch());
}

TEST_F(Srq, LimitThatIsArmedTooLateIsReportedAtOnce) {
  post_many(0, 2);
  EXPECT_TRUE(sroce_srq_set_limit(&srq, 3));
  EXPECT_EQ(0u, srq.limit);
  EXPECT_EQ(SROCE_SRQ_TAKEN, fetch());
}

TEST_F(Srq, ResizeMovesWhatIsPosted) {
  post_many(0, 6);
  EXPECT_EQ(SROCE_SRQ_TAKEN, fetch());
  EXPECT_EQ(0, resize(100));
  EXPECT_EQ(127u, srq.queue.ring.mask);
  EXPECT_EQ(100u, srq.max_wr);
  post_many(6, 100);
  expect_fetched(1, 100);
  EXPECT_EQ(0, resize(3));
  post_many(0, 3);
  expect_fetched(0, 3);
}

TEST_F(Srq, ResizeBelowWhatIsPostedChangesNothing) {
  post_many(0, 5);
  EXPECT_EQ(-EINVAL, resize(3));
  EXPECT_EQ(7u, srq.max_wr);
  expect_fetched(0, 5);
}

TEST_F(Srq, ResizeBecomesPossibleWhenEnoughAreTaken) {
  ASSERT_EQ(0, resize(2000));
  post_many(0, 1000);
  EXPECT_EQ(-EINVAL, resize(511));
  for (u32 i = 0; i < 489; i++) ASSERT_EQ(SROCE_SRQ_TAKEN, fetch());
  EXPECT_EQ(0, resize(511));
  expect_fetched(489, 1000);
}

TEST_F(Srq, QpsTakeRequestsDuringAResize) {
  for (u32 taken_per_batch : {1u, 100u, 256u, 300u}) {
    ASSERT_EQ(0, resize(2000));
    post_many(0, 1500);
    u64 next = 0;
    between_batches([&] {
      for (u32 i = 0; i < taken_per_batch && next < 1500; i++) {
        ASSERT_EQ(SROCE_SRQ_TAKEN, fetch());
        ASSERT_EQ(next++, fetched());
      }
    });
    ASSERT_EQ(0, resize(1500));
    stand_in.resched = nullptr;
    expect_fetched(next, 1500);
  }
}

TEST_F(Srq, KernelConsumerPostsDuringAResize) {
  ASSERT_EQ(0, resize(2000));
  post_many(0, 600);
  u64 posted = 600;
  between_batches([&] {
    if (posted < 800) post(posted++);
  });
  ASSERT_EQ(0, resize(1000));
  stand_in.resched = nullptr;
  expect_fetched(0, posted);
}

TEST_F(Srq, KilledProcessDoesNotGoOnMoving) {
  ASSERT_EQ(0, resize(2000));
  post_many(0, 1500);
  stand_in.killed = true;
  EXPECT_EQ(-EINTR, resize(1500));
  stand_in.killed = false;
  expect_fetched(0, 1500);
}

TEST_F(Srq, ScribbledIndexMovesNothingOutside) {
  for (u32 index : {0u, 5u, 8u, 1000u, U32_MAX}) {
    post_many(0, 3);
    *srq.queue.ring.producer = index;
    const int err = resize(7);
    EXPECT_TRUE(err == 0 || err == -EINVAL);
    while (fetch() != SROCE_SRQ_EMPTY) {
    }
    *srq.queue.ring.producer = srq.queue.ring.cursor;
  }
}

TEST_F(Srq, NativeRingIsMovedToo) {
  sroce_ring_fini(&srq.queue.ring);
  const u32 stride = sizeof(sroce_recv_slot) + 2 * sizeof(rxe_sge);
  ASSERT_EQ(0, sroce_ring_init_single(&srq.queue.ring, 4, stride));
  const auto post_native = [&](u64 wr_id) {
    auto* slot =
        static_cast<sroce_recv_slot*>(sroce_ring_at(&srq.queue.ring, *srq.queue.ring.producer));
    slot->wr_id = wr_id;
    (*srq.queue.ring.producer)++;
  };
  for (u64 i = 0; i < 4; i++) post_native(i);
  EXPECT_EQ(SROCE_SRQ_TAKEN, fetch());
  sroce_ring ring;
  sroce_mmap_entry* mmap = nullptr;
  ASSERT_EQ(0, sroce_ring_init_single(&ring, 8, stride));
  ASSERT_EQ(0, sroce_srq_swap_ring(&srq, &ring, &mmap, 8));
  sroce_ring_fini(&ring);
  EXPECT_EQ(0u, *srq.queue.ring.consumer);
  for (u64 i = 4; i < 9; i++) post_native(i);
  expect_fetched(1, 9);
}

// Interrupts are off while a batch is moved.
TEST_F(Srq, BatchesOfAResizeAreShort) {
  ASSERT_EQ(0, resize(2000));
  post_many(0, 1000);
  u32 batches = 0;
  between_batches([&] {
    EXPECT_FALSE(srq.queue.lock.locked);
    batches++;
  });
  ASSERT_EQ(0, resize(1000));
  EXPECT_EQ(4u, batches);
  stand_in.resched = nullptr;
  expect_fetched(0, 1000);
}

// A resize frees the ring, and so does the end of the queue, while tools look at it.
TEST_F(Srq, RingIsReadUnderTheLock) {
  static u32 unlocks;
  unlocks = 0;
  const auto count = [] { stand_in.unlocked = [](void*) { unlocks++; }; };
  count();
  EXPECT_FALSE(sroce_srq_has_posted(&srq));
  EXPECT_EQ(1u, unlocks);
  sroce_srq_stats stats;
  count();
  EXPECT_TRUE(sroce_srq_get_stats(&srq, &stats));
  EXPECT_EQ(2u, unlocks);
  count();
  sroce_srq_drop_ring(&srq);
  EXPECT_EQ(3u, unlocks);
}

TEST_F(Srq, ToolsSeeItUntilItsRingIsDropped) {
  post_many(0, 5);
  sroce_srq_set_limit(&srq, 2);
  sroce_srq_stats stats;
  EXPECT_TRUE(sroce_srq_get_stats(&srq, &stats));
  EXPECT_EQ(5u, stats.wqes);
  EXPECT_EQ(7u, stats.max_wr);
  EXPECT_EQ(2u, stats.limit);
  sroce_srq_drop_ring(&srq);
  EXPECT_FALSE(sroce_srq_get_stats(&srq, &stats));
}

TEST_F(Srq, EventWithoutAHandlerIsDropped) {
  sroce_srq_dispatch_limit(&srq);
  EXPECT_EQ(1u, limit_events);
  srq.ibsrq.event_handler = nullptr;
  sroce_srq_dispatch_limit(&srq);
}

// ---------------------------------------------------------------- of a QP

struct SrqReceiver : testing::Test, WriteReceiver {
  explicit SrqReceiver(sroce_service service = SROCE_SERVICE_RC) : WriteReceiver(service) {
    qp.srq = &shared.srq;
    qp.recv_queue = &shared.srq.queue;
    other_key = add_region_of(&shared.pd, others, IOVA, 4096);
  }
  void send(u32 psn, u32 bytes) {
    sroce_packet pkt =
        packet_of(qp.service == SROCE_SERVICE_RC ? SROCE_OP_SEND_ONLY : SROCE_OP_UD_SEND_ONLY, psn);
    pkt.qkey = QKEY;
    pkt.src_qpn = PEER_QPN;
    receive({bytes_of(pkt, Bytes(bytes, 7))});
  }

  SharedQueue shared;
  Blocks others{1, 4096};
  u32 other_key;
};

TEST_F(SrqReceiver, BuffersAreThoseOfItsProtectionDomain) {
  shared.post(1, 100, IOVA, other_key);
  send(100, 50);
  ASSERT_EQ(1u, completions().size());
  EXPECT_EQ(7, others[49]);
  EXPECT_EQ(101u, epsn());
  shared.post(2, 100, IOVA, key);
  send(101, 50);
  EXPECT_EQ(SROCE_WC_LOC_PROT_ERR, completions().at(0).status);
  EXPECT_EQ(0, blocks[0]);
}

TEST_F(SrqReceiver, OwnQueueIsNotUsed) {
  qp.recv_queue = &qp.own_recv_queue;
  post_receive(IOVA, 100, key);
  qp.recv_queue = &shared.srq.queue;
  send(100, 50);
  EXPECT_EQ(100u, epsn()) << "RNR";
}

TEST_F(SrqReceiver, LimitEventIsDispatchedWithoutTheLock) {
  shared.post(1, 100, IOVA, other_key);
  sroce_srq_set_limit(&shared.srq, 1);
  static sroce_wq* wq;
  wq = &qp.rq;
  shared.srq.ibsrq.event_handler = [](ib_event* event, void* context) {
    EXPECT_FALSE(wq->lock.locked);
    EXPECT_EQ(&static_cast<SharedQueue*>(context)->srq.ibsrq, event->element.srq);
    static_cast<SharedQueue*>(context)->limit_events++;
  };
  send(100, 50);
  EXPECT_EQ(1u, shared.limit_events);
  shared.post(2, 100, IOVA, other_key);
  send(101, 50);
  EXPECT_EQ(1u, shared.limit_events);
}

struct DatagramSrqReceiver : SrqReceiver {
  DatagramSrqReceiver() : SrqReceiver(SROCE_SERVICE_UD) {}
};

TEST_F(DatagramSrqReceiver, DatagramThatDoesNotFitKeepsNoRequest) {
  shared.post(1, 40 + 50, IOVA, other_key);
  send(1, 51);
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_LENGTH));
  EXPECT_TRUE(sroce_srq_has_posted(&shared.srq));
  EXPECT_FALSE(qp.resp.has_recv_wqe);
  send(2, 50);
  ASSERT_EQ(1u, completions().size());
  EXPECT_EQ(7, others[40]);
  send(3, 50);
  EXPECT_EQ(1u, count(SROCE_CTR_DROP_NO_WQE));
}

TEST_F(SrqReceiver, LastWqeEventGoesToTheQp) {
  static u32 events;
  events = 0;
  qp.ibqp.event_handler = [](ib_event* event, void*) {
    events += event->event == IB_EVENT_QP_LAST_WQE_REACHED;
  };
  qp.rq.events |= BIT(IB_EVENT_QP_LAST_WQE_REACHED);
  spin_lock_bh(&qp.rq.lock);
  sroce_wq_run(&qp, &qp.rq, true);
  EXPECT_EQ(1u, events);
}

}  // namespace
