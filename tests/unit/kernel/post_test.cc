// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Posting work: kernel/datapath/post.c.
#include "stand_in/post.h"

#include <gtest/gtest.h>

#include "unit/kernel/send_ring.h"

extern "C" {
#include "datapath/av.h"
#include "datapath/post.h"
#include "datapath/srq.h"
#include "transport/yield_policy.h"
}

namespace {

constexpr u32 RT_TASK = 50, TASK = 120;

// A QP of a consumer in the kernel.
struct Post : testing::Test, SendRing {
  explicit Post(sroce_service service = SROCE_SERVICE_RC) : SendRing(service) {
    stand_in_sched = {};
    stand_in_on_cpu1 = false;
    current = this;
    on_work = [this](u32*) {
      EXPECT_FALSE(qp.sq_post_lock.locked);
      if (qp.sq.lock.locked) sq_rounds++;
      return SROCE_NEVER;
    };
  }
  static ib_send_wr request(ib_wr_opcode opcode, u64 wr_id = 7) {
    static ib_sge unused;
    ib_send_wr wr = {};
    wr.sg_list = &unused;
    wr.wr_id = wr_id;
    wr.opcode = opcode;
    return wr;
  }
  int post_send(const ib_send_wr& wr) {
    bad = nullptr;
    return sroce_post_send(&qp.ibqp, &wr, &bad);
  }
  // The only request, as the requester will find it.
  sroce_send_wqe* posted_wqe() {
    EXPECT_EQ(1u, qp.sq_posted);
    return wqe(0);
  }
  // The slots that have been posted are free again.
  void free_slots() { qp.sq_retired = qp.req.retired = qp.req.posted = qp.sq_posted; }

  // Memory beyond it is not the storage.
  void use_last_slot() {
    qp.sq_posted = qp.sq_retired = SLOTS - 1;
    qp.req.posted = qp.req.retired = qp.req.send = SLOTS - 1;
  }

  static inline Post* current;
  const ib_send_wr* bad;
  u32 sq_rounds = 0;
  ib_sge sge[3] = {{0x1000, 10, 21}, {0x2000, 20, 22}, {0x3000, 30, 23}};
};

TEST_F(Post, SendIsWrittenToASlotAndSent) {
  ib_send_wr wr = request(IB_WR_SEND_WITH_IMM);
  wr.sg_list = sge;
  wr.num_sge = 2;
  wr.send_flags = SROCE_SEND_SOLICITED | 0x40;
  wr.ex.imm_data = htonl(0x12345678);
  memset(qp.sq_storage, 0xff, STRIDE);
  ASSERT_EQ(0, post_send(wr));
  const sroce_send_wqe* wqe = posted_wqe();
  EXPECT_EQ(7u, wqe->wr_id);
  EXPECT_EQ(SROCE_WR_SEND_IMM, wqe->opcode);
  EXPECT_EQ(SROCE_SEND_SOLICITED, wqe->flags) << "flags that we do not know are dropped";
  EXPECT_EQ(htonl(0x12345678), wqe->imm);
  EXPECT_EQ(30u, wqe->length);
  EXPECT_EQ(2u, wqe->num_sge);
  EXPECT_EQ(0x2000u, wqe->sge[1].addr);
  EXPECT_EQ(20u, wqe->sge[1].length);
  EXPECT_EQ(22u, wqe->sge[1].lkey);
  EXPECT_EQ(0u, wqe->status | wqe->executed | wqe->psn_count) << "nothing of an older request";
  EXPECT_EQ(1u, sq_rounds);
}

TEST_F(Post, EveryRequestOfASignalingQpIsSignaled) {
  ASSERT_EQ(0, post_send(request(IB_WR_SEND)));
  qp.sq_sig_all = true;
  ASSERT_EQ(0, post_send(request(IB_WR_SEND)));
  EXPECT_EQ(0, wqe(0)->flags);
  EXPECT_EQ(SROCE_SEND_SIGNALED, wqe(1)->flags);
}

TEST_F(Post, EachOperationHasItsOperands) {
  for (const auto opcode : {IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ}) {
    ib_rdma_wr rdma = {request(opcode), 0x1122334455667788, 0x99};
    rdma.wr.sg_list = sge;
    rdma.wr.num_sge = 1;
    rdma.wr.ex.imm_data = 77;
    ASSERT_EQ(0, post_send(rdma.wr));
    const sroce_send_wqe* written = wqe(qp.sq_posted - 1);
    EXPECT_EQ(opcode, written->opcode);
    EXPECT_EQ(0x1122334455667788u, written->rdma.remote_addr);
    EXPECT_EQ(0x99u, written->rdma.rkey);
    EXPECT_EQ(77u, written->imm);
    free_slots();
  }
  for (const auto opcode : {IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_FETCH_AND_ADD}) {
    ib_sge word = {0x1000, 8, 21};
    ib_atomic_wr atomic = {request(opcode), 0x5566778811223344, 5, 6, 0x98};
    atomic.wr.sg_list = &word;
    atomic.wr.num_sge = 1;
    ASSERT_EQ(0, post_send(atomic.wr));
    const sroce_send_wqe* written = wqe(qp.sq_posted - 1);
    EXPECT_EQ(opcode, written->opcode);
    EXPECT_EQ(0x5566778811223344u, written->atomic.remote_addr);
    EXPECT_EQ(0x98u, written->atomic.rkey);
    EXPECT_EQ(5u, written->atomic.compare_add);
    EXPECT_EQ(6u, written->atomic.swap);
    free_slots();
  }
  for (const auto opcode : {IB_WR_SEND_WITH_INV, IB_WR_LOCAL_INV}) {
    ib_send_wr wr = request(opcode);
    wr.ex.invalidate_rkey = 0x97;
    ASSERT_EQ(0, post_send(wr));
    EXPECT_EQ(opcode, wqe(qp.sq_posted - 1)->opcode);
    EXPECT_EQ(0x97u, wqe(qp.sq_posted - 1)->invalidate_rkey);
    free_slots();
  }
}

// The number of REG_MR differs between kernels, and the region may be gone when it is executed.
TEST_F(Post, RegistrationIsCopiedFromTheRegion) {
  ib_mr mr = {};
  mr.iova = 0x7000;
  ib_reg_wr reg = {request(IB_WR_REG_MR), &mr, 0x55, SROCE_ACCESS_REMOTE_READ};
  reg.wr.num_sge = 100;
  ASSERT_EQ(0, post_send(reg.wr));
  EXPECT_EQ(SROCE_WR_REG_MR, posted_wqe()->opcode);
  EXPECT_EQ(0x7000u, posted_wqe()->reg_mr.iova);
  EXPECT_EQ(0x55u, posted_wqe()->reg_mr.key);
  EXPECT_EQ(SROCE_ACCESS_REMOTE_READ, posted_wqe()->reg_mr.access);
  EXPECT_EQ(0u, posted_wqe()->num_sge + posted_wqe()->length) << "local operations have no payload";
  reg.access = SROCE_ACCESS_FLUSH_PERSISTENT;
  EXPECT_EQ(-EINVAL, post_send(reg.wr));
}

TEST_F(Post, UnknownOperationIsRejected) {
  for (const u32 opcode : {8u, 14u, 15u, 0x20u, 0x102u}) {
    const ib_send_wr wr = request(static_cast<ib_wr_opcode>(opcode));
    EXPECT_EQ(-EINVAL, post_send(wr)) << opcode;
    EXPECT_EQ(&wr, bad);
  }
  EXPECT_EQ(0u, qp.sq_posted);
}

TEST_F(Post, ListIsBounded) {
  use_last_slot();
  ib_send_wr wr = request(IB_WR_SEND);
  wr.sg_list = sge;
  wr.num_sge = MAX_SGE + 1;
  EXPECT_EQ(-EINVAL, post_send(wr));
  wr.num_sge = -1;
  EXPECT_EQ(-EINVAL, post_send(wr));
  wr.num_sge = MAX_SGE;
  EXPECT_EQ(0, post_send(wr));
}

TEST_F(Post, MessageIsBounded) {
  ib_send_wr wr = request(IB_WR_SEND);
  wr.sg_list = sge;
  wr.num_sge = 2;
  sge[0].length = SROCE_MAX_MESSAGE_BYTES;
  sge[1].length = 1;
  EXPECT_EQ(-EINVAL, post_send(wr));
  sge[1].length = 0;
  EXPECT_EQ(0, post_send(wr));
  free_slots();
  sge[0].length = sge[1].length = 1u << 31;
  EXPECT_EQ(-EINVAL, post_send(wr)) << "the sum is 0 in 32 bits";
  wr.send_flags = SROCE_SEND_INLINE;
  EXPECT_EQ(-EINVAL, post_send(wr)) << "and nothing is copied";
}

TEST_F(Post, InlineDataIsCopied) {
  char first[] = "abcdefgh", second[] = "0123456789abcdefghijklmn";
  sge[0] = {reinterpret_cast<u64>(first), 8, 0};
  sge[1] = {reinterpret_cast<u64>(second), 24, 0};
  ib_send_wr wr = request(IB_WR_SEND);
  wr.send_flags = SROCE_SEND_INLINE;
  wr.sg_list = sge;
  wr.num_sge = 2;
  ASSERT_EQ(0, post_send(wr));
  EXPECT_EQ(MAX_INLINE, posted_wqe()->length);
  EXPECT_EQ(0u, posted_wqe()->num_sge);
  EXPECT_EQ(0, memcmp("abcdefgh0123456789abcdefghijklmn", posted_wqe()->inline_data, MAX_INLINE));
  use_last_slot();
  sge[1].length++;
  EXPECT_EQ(-EINVAL, post_send(wr)) << "one byte more than fits";
  EXPECT_EQ(SLOTS - 1, qp.sq_posted);
}

TEST_F(Post, FullQueueIsRejected) {
  for (u32 i = 0; i < SLOTS; i++) ASSERT_EQ(0, post_send(request(IB_WR_SEND, i)));
  const ib_send_wr wr = request(IB_WR_SEND, 99);
  EXPECT_EQ(-ENOMEM, post_send(wr));
  EXPECT_EQ(&wr, bad);
  EXPECT_EQ(0u, wqe(0)->wr_id) << "the oldest is as it was";
  qp.sq_retired = 1;
  EXPECT_EQ(0, post_send(wr));
  EXPECT_EQ(99u, wqe(SLOTS)->wr_id);
}

// The indices wrap.
TEST_F(Post, FullQueueIsRejectedAtTheEndOfTheNumbers) {
  qp.sq_posted = qp.sq_retired = qp.req.posted = qp.req.retired = qp.req.send = ~0u;
  for (u32 i = 0; i < SLOTS; i++) ASSERT_EQ(0, post_send(request(IB_WR_SEND)));
  EXPECT_EQ(-ENOMEM, post_send(request(IB_WR_SEND)));
}

TEST_F(Post, RequestsBeforeABadOneAreSent) {
  ib_send_wr last = request(IB_WR_SEND, 3), wrong = request(IB_WR_SEND, 2);
  wrong.num_sge = -1;
  wrong.next = &last;
  ib_send_wr first = request(IB_WR_SEND, 1);
  first.next = &wrong;
  EXPECT_EQ(-EINVAL, post_send(first));
  EXPECT_EQ(&wrong, bad);
  EXPECT_EQ(1u, qp.sq_posted);
  EXPECT_EQ(1u, sq_rounds);
  wrong.num_sge = 0;
  EXPECT_EQ(0, post_send(first));
  EXPECT_EQ(4u, qp.sq_posted);
}

// The slot is published when it is complete.
TEST_F(Post, RunnerSeesNoSlotThatIsBeingWritten) {
  static u32 seen;
  seen = 0;
  memset(qp.sq_storage, 0xff, STRIDE);
  stand_in.process = [](void*) {
    EXPECT_TRUE(current->qp.sq_post_lock.locked) << "nor does another poster";
    if (!current->qp.sq_posted) return;
    seen++;
    EXPECT_EQ(7u, current->wqe(0)->wr_id);
    EXPECT_EQ(SROCE_WR_WRITE, current->wqe(0)->opcode);
    EXPECT_EQ(30u, current->wqe(0)->length);
    EXPECT_EQ(2u, current->wqe(0)->num_sge);
  };
  ib_rdma_wr rdma = {request(IB_WR_RDMA_WRITE), 0x1122334455667788, 0x99};
  rdma.wr.sg_list = sge;
  rdma.wr.num_sge = 2;
  ASSERT_EQ(0, post_send(rdma.wr));
  EXPECT_EQ(1u, seen);
}

TEST_F(Post, QpMustBeReadyToSend) {
  const ib_send_wr wr = request(IB_WR_SEND);
  for (const auto state : {IB_QPS_RESET, IB_QPS_INIT, IB_QPS_RTR}) {
    qp.state = state;
    EXPECT_EQ(-EINVAL, post_send(wr));
    EXPECT_EQ(&wr, bad);
  }
  EXPECT_EQ(0u, qp.sq_posted);
  for (const auto state : {IB_QPS_SQD, IB_QPS_SQE, IB_QPS_ERR}) {
    qp.state = state;
    EXPECT_EQ(0, post_send(wr)) << "it waits, or is flushed";
  }
}

TEST_F(Post, NobodySendsFromATargetOfXrc) {
  const ib_send_wr wr = request(IB_WR_SEND);
  qp.ibqp.qp_type = IB_QPT_XRC_TGT;
  EXPECT_EQ(-EINVAL, post_send(wr));
  EXPECT_EQ(&wr, bad);
  EXPECT_EQ(0u, sq_rounds + qp.sq_posted);
}

// A NIC's driver may complete from there, with interrupts off. A BH work sends.
TEST_F(Post, HardInterruptDoesNotSend) {
  for (bool* context : {&stand_in.hardirq, &stand_in.irqs_off}) {
    *context = true;
    EXPECT_EQ(0, post_send(request(IB_WR_SEND)));
    *context = false;
  }
  EXPECT_EQ(0u, sq_rounds);
  EXPECT_EQ(2u, stand_in.scheduled);
}

TEST_F(Post, ConsumerIsNotCalledBackFromItsOwnCall) {
  cq.ibcq.comp_handler = [](ib_cq*, void*) { FAIL(); };
  qp.sq.wake = true;
  EXPECT_EQ(0, post_send(request(IB_WR_SEND)));
  EXPECT_EQ(1u, stand_in.scheduled) << "but soon";
  EXPECT_TRUE(qp.sq.wake);
}

TEST_F(Post, ConsumerInTheKernelDoesNotYield) {
  stand_in.prio = TASK;
  EXPECT_EQ(0, post_send(request(IB_WR_SEND)));
  EXPECT_EQ(0u, stand_in_sched.yields);
}

struct PostDatagram : Post {
  PostDatagram() : Post(SROCE_SERVICE_UD) {
    refcount_set(&av.refs, 1);
    ah.av = &av;
    qp.resp.attr.qkey = QKEY;
  }
  int post(ib_wr_opcode opcode, u32 qkey) {
    const ib_ud_wr ud = {request(opcode), &ah.ibah, 0xff000009, qkey};
    return post_send(ud.wr);
  }
  sroce_av av = {};
  sroce_ah ah = {};
};

TEST_F(PostDatagram, NamesItsDestination) {
  ASSERT_EQ(0, post(IB_WR_SEND, 0x7777));
  EXPECT_EQ(&av, posted_wqe()->ud.ah);
  EXPECT_EQ(2u, av.refs.count) << "the handle may be destroyed meanwhile";
  EXPECT_EQ(9u, posted_wqe()->ud.dest_qpn);
  EXPECT_EQ(0x7777u, posted_wqe()->ud.qkey);
}

TEST_F(PostDatagram, HighestBitAsksForTheKeyOfTheQp) {
  ASSERT_EQ(0, post(IB_WR_SEND, 0x80000001));
  EXPECT_EQ(QKEY, posted_wqe()->ud.qkey);
}

TEST_F(PostDatagram, RejectedRequestHoldsNoHandle) {
  EXPECT_EQ(-EINVAL, post(IB_WR_LOCAL_INV, 0));
  EXPECT_EQ(-EINVAL, post(IB_WR_RDMA_WRITE, 0));
  EXPECT_EQ(1u, av.refs.count);
}

// --- processes ----------------------------------------------------------------------------------

struct Doorbells : Post {
  Doorbells() {
    use_native();
    stand_in.prio = TASK;
    stand_in.now_ns = 1'000'000;
    // Pauses of earlier tests are over.
    static u64 start_ns = 0;
    stand_in.now_ns += start_ns += 1'000'000'000;
    stand_in_sched.argument = this;
  }
  // The argument, which a process cannot give, is not looked at.
  int ring() { return sroce_post_send(&qp.ibqp, nullptr, &bad); }
};

TEST_F(Doorbells, RunTheQueue) {
  SendRing::post(1);
  EXPECT_EQ(0, ring());
  EXPECT_EQ(1u, sq_rounds);
  EXPECT_EQ(0u, qp.sq_posted) << "not that of kernel consumers";
}

TEST_F(Doorbells, ProcessIsCalledBack) {
  static u32 calls;
  calls = 0;
  cq.ibcq.comp_handler = [](ib_cq*, void*) { calls++; };
  qp.sq.wake = true;
  EXPECT_EQ(0, ring());
  EXPECT_EQ(1u, calls);
}

TEST_F(Doorbells, AreNotedForTheirSuppression) {
  ring();
  EXPECT_TRUE(qp.db.doorbell_seen);
}

TEST_F(Doorbells, GetSlotsForWhatIsPosted) {
  SendRing::post(SLOTS + 1);
  EXPECT_EQ(0, ring());
  EXPECT_EQ(2 * SLOTS, sroce_requester_slots(&qp.req));
}

TEST_F(Doorbells, GetTheMemoryOfWhatIsPosted) {
  use_large_rxe();
  SendRing::post(20);
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, ring());
  EXPECT_EQ(20u, sroce_ring_pending(&qp.sq_ring)) << "the next doorbell executes them";
  EXPECT_EQ(0, ring());
  EXPECT_TRUE(qp.sq_ring.memory->pages[1]);
  EXPECT_EQ(20u, sroce_ring_pending(&qp.sq_ring));
}

// Its requests must not be sent later.
TEST_F(Doorbells, BeforeTheQpCanSendFail) {
  qp.state = IB_QPS_RTR;
  SendRing::post(2);
  EXPECT_EQ(-EINVAL, ring());
  EXPECT_EQ(nullptr, bad);
  EXPECT_EQ(0u, sroce_ring_pending(&qp.sq_ring));
  EXPECT_EQ(0u, stand_in_sched.yields);
}

// Another thread moves the QP to RTS after the first look.
TEST_F(Doorbells, RequestsOfAQpThatBecomesReadyStay) {
  qp.state = IB_QPS_RTR;
  SendRing::post(1);
  stand_in.locking = [](void*) { current->qp.state = IB_QPS_RTS; };
  EXPECT_EQ(0, ring());
  EXPECT_EQ(1u, sroce_ring_pending(&qp.sq_ring));
}

TEST_F(Doorbells, FlushReceivesInError) {
  ring();
  EXPECT_EQ(0u, stand_in.scheduled);
  qp.state = IB_QPS_ERR;
  ring();
  EXPECT_EQ(1u, stand_in.scheduled);
}

// It posts a receive, then rings; the QP goes to ERR in between.
TEST_F(Doorbells, SeeAnErrorBehindTheBarrier) {
  stand_in.process = [](void*) {
    stand_in.process = nullptr;
    current->qp.state = IB_QPS_ERR;
  };
  ring();
  EXPECT_EQ(1u, stand_in.scheduled);
}

TEST_F(Doorbells, LetThePeerRun) {
  ring();
  EXPECT_EQ(1u, stand_in_sched.yields);
}

TEST_F(Doorbells, DoNotYieldWithoutAnybodyWaiting) {
  stand_in_sched.is_alone = true;
  ring();
  stand_in_sched.is_alone = false;
  stand_in.prio = RT_TASK;
  ring();
  stand_in.prio = MAX_RT_PRIO - 1;
  ring();
  EXPECT_EQ(0u, stand_in_sched.yields);
  stand_in.prio = MAX_RT_PRIO;
  ring();
  EXPECT_EQ(1u, stand_in_sched.yields);
}

TEST_F(Doorbells, QpsThatDoNotReceiveDoNotYield) {
  for (const auto [service, yields] :
       {std::pair{SROCE_SERVICE_UD, 1u}, {SROCE_SERVICE_XRC, 0u}, {SROCE_SERVICE_UC, 1u}}) {
    stand_in_sched.yields = 0;
    qp.service = service;
    ring();
    EXPECT_EQ(yields, stand_in_sched.yields) << service;
  }
}

TEST_F(Doorbells, YieldAgainUntilThePeerResponds) {
  qp.resp.msn = SROCE_YIELD_MESSAGES;
  stand_in_sched.yielded = [](void* of) {
    auto& test = *static_cast<Doorbells*>(of);
    stand_in.now_ns += 1000;
    if (stand_in_sched.yields == 3) test.qp.resp.epsn++;
  };
  ring();
  EXPECT_EQ(3u, stand_in_sched.yields);
  stand_in_sched = {};
  ring();
  EXPECT_LT(0u, stand_in_sched.yields) << "that was right, so there is no pause";
}

TEST_F(Doorbells, PauseAfterYieldsInVain) {
  stand_in_sched.yielded = [](void*) { stand_in.now_ns += 1000; };
  ring();
  ASSERT_EQ(1u, stand_in_sched.yields);
  ring();
  EXPECT_EQ(1u, stand_in_sched.yields);
  stand_in.now_ns += 64 * 1000;  // at most
  ring();
  EXPECT_EQ(2u, stand_in_sched.yields);
}

// The expected PSN of a QP for datagrams never changes.
TEST_F(Doorbells, YieldAgainUntilADatagramCompletes) {
  qp.service = SROCE_SERVICE_UD;
  qp.resp.msn = SROCE_YIELD_MESSAGES;
  stand_in_sched.yielded = [](void* of) {
    auto& test = *static_cast<Doorbells*>(of);
    stand_in.now_ns += 1000;
    if (stand_in_sched.yields == 3) test.qp.resp.msn++;
  };
  ring();
  EXPECT_EQ(3u, stand_in_sched.yields);
}

// On another CPU it has learnt nothing about this one.
TEST_F(Doorbells, YieldThatEndsElsewhereTeachesNothing) {
  stand_in_sched.yielded = [](void*) {
    stand_in.now_ns += 1000;
    stand_in_on_cpu1 = true;
  };
  ring();
  stand_in_sched.yielded = nullptr;
  ring();
  stand_in_on_cpu1 = false;
  ring();
  EXPECT_EQ(3u, stand_in_sched.yields);
}

// --- receives -----------------------------------------------------------------------------------

struct PostReceive : Post {
  int post_recv(const ib_recv_wr& wr) {
    bad_recv = nullptr;
    return sroce_post_recv(&qp.ibqp, &wr, &bad_recv);
  }
  const ib_recv_wr* bad_recv;
};

TEST_F(PostReceive, ListIsPosted) {
  ib_recv_wr second = {2, sge, 1}, first = {1, sge, 2, &second};
  EXPECT_EQ(0, post_recv(first));
  EXPECT_EQ(2u, sroce_ring_pending(&qp.recv_queue->ring));
  EXPECT_EQ(0u, stand_in.scheduled);
  EXPECT_FALSE(qp.recv_queue->lock.locked);
}

TEST_F(PostReceive, BadOneIsNamed) {
  ib_recv_wr third = {3, sge, 1}, second = {2, sge, 9, &third}, first = {1, sge, 1, &second};
  EXPECT_EQ(-EINVAL, post_recv(first));
  EXPECT_EQ(&second, bad_recv);
  EXPECT_EQ(1u, sroce_ring_pending(&qp.recv_queue->ring));
}

TEST_F(PostReceive, FullQueueIsRejected) {
  const ib_recv_wr wr = {1, sge, 1};
  for (u32 i = 0; i < 7; i++) ASSERT_EQ(0, post_recv(wr));
  EXPECT_EQ(-ENOMEM, post_recv(wr));
  EXPECT_EQ(&wr, bad_recv);
}

TEST_F(PostReceive, QpMustHaveAState) {
  const ib_recv_wr wr = {1, sge, 1};
  qp.state = IB_QPS_RESET;
  EXPECT_EQ(-EINVAL, post_recv(wr));
  EXPECT_EQ(&wr, bad_recv);
  EXPECT_EQ(0u, sroce_ring_pending(&qp.recv_queue->ring));
  qp.state = IB_QPS_INIT;
  EXPECT_EQ(0, post_recv(wr));
}

TEST_F(PostReceive, QpMustHaveReceives) {
  const ib_recv_wr wr = {1, sge, 1};
  sroce_srq srq = {};
  qp.srq = &srq;
  EXPECT_EQ(-EINVAL, post_recv(wr));
  qp.srq = nullptr;
  qp.is_user = true;
  EXPECT_EQ(-EINVAL, post_recv(wr));
  EXPECT_EQ(&wr, bad_recv);
  EXPECT_EQ(0u, sroce_ring_pending(&qp.recv_queue->ring));
}

TEST_F(PostReceive, InErrorItIsFlushed) {
  qp.state = IB_QPS_ERR;
  EXPECT_EQ(0, post_recv({1, sge, 1}));
  EXPECT_EQ(1u, stand_in.scheduled);
}

struct PostShared : Post {
  PostShared() {
    srq.queue.max_sge = 2;
    EXPECT_EQ(0, sroce_ring_init(&srq.queue.ring, 3, sizeof(rxe_recv_wqe) + 2 * sizeof(rxe_sge)));
  }
  ~PostShared() override {
    EXPECT_FALSE(srq.queue.lock.locked);
    sroce_ring_fini(&srq.queue.ring);
  }
  int post_recv(const ib_recv_wr& wr) {
    bad_recv = nullptr;
    return sroce_post_srq_recv(&srq.ibsrq, &wr, &bad_recv);
  }
  sroce_srq srq = {};
  const ib_recv_wr* bad_recv;
};

TEST_F(PostShared, ListIsPosted) {
  ib_recv_wr second = {2, sge, 1}, first = {1, sge, 2, &second};
  EXPECT_EQ(0, post_recv(first));
  EXPECT_EQ(2u, sroce_ring_pending(&srq.queue.ring));
}

TEST_F(PostShared, BadOneIsNamed) {
  ib_recv_wr third = {3, sge, 1}, second = {2, sge, 9, &third}, first = {1, sge, 1, &second};
  EXPECT_EQ(-EINVAL, post_recv(first));
  EXPECT_EQ(&second, bad_recv);
  EXPECT_EQ(1u, sroce_ring_pending(&srq.queue.ring));
  second.num_sge = 1;
  ib_recv_wr fourth = {4, sge, 1, &first};
  EXPECT_EQ(-ENOMEM, post_recv(fourth));
  EXPECT_EQ(3u, sroce_ring_pending(&srq.queue.ring));
}

TEST_F(PostShared, QueueOfAProcessIsInItsRing) {
  const ib_recv_wr wr = {1, sge, 1};
  srq.is_user = true;
  EXPECT_EQ(-EINVAL, post_recv(wr));
  EXPECT_EQ(&wr, bad_recv);
  EXPECT_EQ(0u, sroce_ring_pending(&srq.queue.ring));
}

}  // namespace
