// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Creating, modifying and destroying shared receive queues: kernel/verbs/srq.c.
#include <gtest/gtest.h>

extern "C" {
#include "datapath/qp.h"
#include "datapath/xrc.h"
#include "stand_in/qp.h"
#include "uapi/sroce_abi.h"
#include "verbs/verbs.h"
}

namespace {

constexpr int WR = IB_SRQ_MAX_WR;
constexpr int LIMIT = IB_SRQ_LIMIT;

struct CreateSrq : testing::Test {
  CreateSrq() {
    stand_in = {};
    stand_in_qp = {};
    srq.ibsrq.pd = &pd;
    srq.ibsrq.event_handler = [](ib_event* event, void*) {
      EXPECT_EQ(IB_EVENT_SRQ_LIMIT_REACHED, event->event);
      EXPECT_FALSE(current->srq.modify_lock.lock.locked || current->srq.queue.lock.locked);
      current->events++;
    };
    udata.outbuf = &resp;
    udata.outlen = sizeof(resp.rxe);
    command.mmap_info_addr = reinterpret_cast<u64>(&resized);
    udata.inbuf = &command;
    udata.inlen = sizeof(command);
    current = this;
  }
  ~CreateSrq() override {
    EXPECT_EQ(0u, stand_in.uncharged);
    stand_in = {};
    if (created) destroy();
    EXPECT_EQ(0, stand_in_qp.mappings);
    expect_numbers_are_free();
  }
  void be_native() {
    udata.is_native = true;
    udata.outlen = sizeof(resp.native);
  }
  void be_xrc() {
    be_native();
    srq.ibsrq.srq_type = IB_SRQT_XRC;
    srq.ibsrq.ext.cq = &cq;
    srq.ibsrq.ext.xrc.xrcd = &domain;
    target.ibqp.xrcd = &domain;
  }
  int create(u32 max_wr, u32 max_sge, ib_udata* from) {
    srq = {.ibsrq = srq.ibsrq};
    attr = {{max_wr, max_sge, 5}, srq.ibsrq.srq_type};
    const int err = sroce_create_srq(&srq.ibsrq, &attr, from);
    created = !err;
    last_number = std::max(last_number, srq.number);
    return err;
  }
  void destroy() {
    EXPECT_EQ(0, sroce_destroy_srq(&srq.ibsrq, nullptr));
    created = false;
  }
  int modify(int mask, u32 max_wr, u32 limit, ib_udata* from = nullptr) {
    ib_srq_attr wanted = {max_wr, 99, limit};
    return sroce_modify_srq(&srq.ibsrq, &wanted, static_cast<ib_srq_attr_mask>(mask), from);
  }
  void expect_is(u32 max_wr, u32 limit) {
    ib_srq_attr is;
    EXPECT_EQ(0, sroce_query_srq(&srq.ibsrq, &is));
    EXPECT_EQ(max_wr, is.max_wr);
    EXPECT_EQ(attr.attr.max_sge, is.max_sge);
    EXPECT_EQ(limit, is.srq_limit);
  }
  void post(u32 count) {
    for (u32 i = 0; i < count; i++) {
      ib_sge sge = {0, 100, 0};
      const ib_recv_wr wr = {next_id++, &sge, 1};
      ASSERT_EQ(0, sroce_recv_queue_post(&srq.queue, &wr));
    }
  }
  void take(u32 count) {
    for (u32 i = 0; i < count; i++) {
      u64 storage[80];
      auto* wqe = reinterpret_cast<sroce_recv_wqe*>(storage);
      ASSERT_LE(SROCE_SRQ_TAKEN, sroce_srq_fetch(&srq, wqe, 0));
      ASSERT_EQ(taken++, wqe->wr_id);
    }
  }
  // All that were ever given to a queue.
  void expect_numbers_are_free() {
    std::vector<sroce_srq> all(last_number);
    for (sroce_srq& each : all) EXPECT_EQ(0, sroce_srq_table_add(&each, last_number));
    for (sroce_srq& each : all) sroce_srq_table_remove(&each);
  }

  static inline CreateSrq* current;
  ib_pd pd = {};
  ib_cq cq = {};
  ib_xrcd domain = {};
  sroce_qp target = {};
  sroce_srq srq = {};
  ib_srq_init_attr attr = {};
  ib_udata udata = {};
  rxe_modify_srq_cmd command = {};
  union {
    rxe_create_srq_resp rxe;
    sroce_create_srq_resp native;
  } resp = {};
  struct {
    sroce_create_srq_resp native;
    u8 behind;
  } resized = {{}, 0x77};
  bool created = false;
  u64 next_id = 0, taken = 0;
  u32 events = 0, last_number = 0;
};

TEST_F(CreateSrq, KernelHasAQueueWithoutALimit) {
  ASSERT_EQ(0, create(10, 3, nullptr));
  EXPECT_EQ(&pd, srq.queue.pd);
  EXPECT_FALSE(srq.is_user || srq.is_native);
  EXPECT_EQ(0, stand_in_qp.mappings);
  EXPECT_EQ(15u, attr.attr.max_wr);
  EXPECT_EQ(3u, attr.attr.max_sge);
  expect_is(15, 0);
  post(15);
  take(15);
}

TEST_F(CreateSrq, ProcessMapsItsRing) {
  ASSERT_EQ(0, create(10, 3, &udata));
  EXPECT_TRUE(srq.is_user);
  EXPECT_FALSE(srq.is_native);
  EXPECT_EQ(4096u, resp.rxe.mi.offset);
  EXPECT_EQ(srq.queue.ring.memory->bytes, resp.rxe.mi.size);
  EXPECT_EQ(srq.number, resp.rxe.srq_num);
  EXPECT_LT(0u, srq.number);
  EXPECT_EQ(roundup_pow_of_two(sizeof(rxe_recv_wqe) + 3 * sizeof(rxe_sge)), srq.queue.ring.stride);
}

TEST_F(CreateSrq, NativeProcessKnowsTheLayout) {
  be_native();
  ASSERT_EQ(0, create(9, 3, &udata));
  EXPECT_TRUE(srq.is_user && srq.is_native);
  expect_is(16, 0);
  const sroce_ring& ring = srq.queue.ring;
  EXPECT_EQ(4096u, resp.native.offset);
  EXPECT_EQ(ring.memory->bytes, resp.native.size);
  EXPECT_EQ(sroce_ring_offset(&ring, ring.head), resp.native.head);
  EXPECT_EQ(sroce_ring_offset(&ring, ring.elements), resp.native.slots);
  EXPECT_EQ(16u, resp.native.count);
  EXPECT_EQ(sizeof(sroce_recv_slot) + 3 * sizeof(rxe_sge), resp.native.stride);
  EXPECT_EQ(srq.number, resp.native.number);
}

TEST_F(CreateSrq, SizeIsBounded) {
  EXPECT_EQ(-EINVAL, create(0, 1, nullptr));
  EXPECT_EQ(-EINVAL, create(SROCE_MAX_QP_WR + 1, 1, nullptr));
  EXPECT_EQ(-EINVAL, create(1, SROCE_MAX_SGE + 1, nullptr));
  ASSERT_EQ(0, create(SROCE_MAX_QP_WR, SROCE_MAX_SGE, nullptr));
  expect_is(SROCE_MAX_QP_WR, 0);
  EXPECT_EQ(0, modify(LIMIT, 0, 1)) << "a size that was reported is valid";
}

TEST_F(CreateSrq, LargestNativeQueueKeepsASlotUnused) {
  be_native();
  ASSERT_EQ(0, create(SROCE_MAX_QP_WR, 1, &udata));
  EXPECT_EQ(u32{SROCE_MAX_QP_WR}, attr.attr.max_wr);
  EXPECT_EQ(u32{SROCE_MAX_QP_WR} + 1, resp.native.count);
}

TEST_F(CreateSrq, RequestsHaveAnElementAtLeast) {
  ASSERT_EQ(0, create(1, 0, nullptr));
  EXPECT_EQ(1u, attr.attr.max_sge);
  post(1);
}

TEST_F(CreateSrq, XrcNeedsANativeProcess) {
  be_xrc();
  EXPECT_EQ(-EOPNOTSUPP, create(10, 1, nullptr));
  udata.is_native = false;
  EXPECT_EQ(-EOPNOTSUPP, create(10, 1, &udata));
  udata.is_native = true;
  srq.ibsrq.srq_type = IB_SRQT_TM;
  EXPECT_EQ(-EOPNOTSUPP, create(10, 1, &udata));
}

TEST_F(CreateSrq, XrcNeedsADomainAndACq) {
  be_xrc();
  srq.ibsrq.ext.cq = nullptr;
  EXPECT_EQ(-EINVAL, create(10, 1, &udata));
  srq.ibsrq.ext.cq = &cq;
  srq.ibsrq.ext.xrc.xrcd = nullptr;
  EXPECT_EQ(-EINVAL, create(10, 1, &udata));
}

TEST_F(CreateSrq, PacketsFindQueuesOfXrcOnly) {
  be_xrc();
  stand_in.stored = [](void*) {  // its number; then the queue itself
    stand_in.stored = [](void*) {
      EXPECT_NE(nullptr, current->srq.queue.ring.memory);
      EXPECT_EQ(&current->srq, sroce_xrc_get_srq(&current->target, current->srq.number));
      sroce_xrc_put_srq(&current->srq);
    };
  };
  ASSERT_EQ(0, create(10, 1, &udata));
  EXPECT_EQ(srq.number, srq.ibsrq.ext.xrc.srq_num);
  ASSERT_EQ(&srq, sroce_xrc_get_srq(&target, srq.number));
  sroce_xrc_put_srq(&srq);
  destroy();
  srq.ibsrq.srq_type = IB_SRQT_BASIC;
  ASSERT_EQ(0, create(10, 1, &udata));
  EXPECT_EQ(nullptr, sroce_xrc_get_srq(&target, srq.number));
}

TEST_F(CreateSrq, FailureAtAnyStepLeavesNothing) {
  be_xrc();
  for (bool native : {false, true}) {
    udata.is_native = native;
    srq.ibsrq.srq_type = native ? IB_SRQT_XRC : IB_SRQT_BASIC;
    udata.outlen = (native ? sizeof(resp.native) : sizeof(resp.rxe)) - 1;
    EXPECT_EQ(-EINVAL, create(10, 1, &udata));
    udata.outlen++;
    udata.error = -EFAULT;
    EXPECT_EQ(-EFAULT, create(10, 1, &udata));
    udata.error = 0;
    stand_in_qp.mmap_error = -EBUSY;
    EXPECT_EQ(-EBUSY, create(10, 1, &udata));
    stand_in_qp.mmap_error = 0;
    EXPECT_EQ(0, stand_in_qp.mappings);
    int err = -ENOMEM;
    u32 n = 0;
    while (err && ++n < 20) {
      stand_in.fail_allocation = n;
      err = create(10, 1, &udata);
      EXPECT_TRUE(!err || err == -ENOMEM);
      if (err) EXPECT_EQ(nullptr, srq.queue.ring.memory);
    }
    EXPECT_LT(native ? 5u : 4u, n);
    stand_in.fail_allocation = 0;
    if (!native) destroy();
  }
}

// A packet uses the queue. Its process has asked for the end.
TEST_F(CreateSrq, DestructionWaitsForPackets) {
  be_xrc();
  ASSERT_EQ(0, create(10, 1, &udata));
  ASSERT_EQ(&srq, sroce_xrc_get_srq(&target, srq.number));
  stand_in.waiting = [](void*) {
    EXPECT_EQ(1, stand_in_qp.mappings);
    EXPECT_NE(nullptr, current->srq.queue.ring.memory);
    EXPECT_EQ(nullptr, sroce_xrc_get_srq(&current->target, current->srq.number));
    sroce_xrc_put_srq(&current->srq);
  };
  destroy();
  EXPECT_EQ(0, stand_in_qp.mappings);
  sroce_srq_stats stats;
  EXPECT_FALSE(sroce_srq_get_stats(&srq, &stats)) << "tools may still look";
}

TEST_F(CreateSrq, LimitIsArmedAndDisarmed) {
  ASSERT_EQ(0, create(15, 1, nullptr));
  post(15);
  EXPECT_EQ(0, modify(LIMIT, 99999, 15));
  expect_is(15, 15);
  EXPECT_EQ(-EINVAL, modify(LIMIT, 15, 16));
  expect_is(15, 15);
  EXPECT_EQ(0, modify(0, 0, 0)) << "nothing is modified";
  expect_is(15, 15);
  EXPECT_EQ(0, modify(LIMIT, 15, 0));
  take(15);
  EXPECT_EQ(0u, events);
}

TEST_F(CreateSrq, LimitThatIsReachedIsReportedOnce) {
  ASSERT_EQ(0, create(15, 1, nullptr));
  post(3);
  EXPECT_EQ(0, modify(LIMIT, 0, 4));
  EXPECT_EQ(1u, events);
  expect_is(15, 0);
  EXPECT_EQ(0, modify(LIMIT, 0, 3));
  EXPECT_EQ(1u, events);
  expect_is(15, 3);
}

TEST_F(CreateSrq, UnknownAttributesAreAnError) {
  ASSERT_EQ(0, create(15, 1, nullptr));
  EXPECT_EQ(-EINVAL, modify(LIMIT | 4, 0, 1));
  expect_is(15, 0);
}

TEST_F(CreateSrq, ResizeKeepsWhatIsPosted) {
  ASSERT_EQ(0, create(15, 2, nullptr));
  post(10);
  take(2);
  stand_in.unlocked = [](void*) { EXPECT_TRUE(current->srq.modify_lock.lock.locked); };
  ASSERT_EQ(0, modify(WR, 16, 99999));
  expect_is(31, 0);
  post(23);
  take(31);
  ASSERT_EQ(0, modify(WR, 5, 0));
  expect_is(7, 0);
}

TEST_F(CreateSrq, ResizeNeedsRoomForWhatIsPosted) {
  ASSERT_EQ(0, create(31, 2, nullptr));
  post(16);
  EXPECT_EQ(-EINVAL, modify(WR | LIMIT, 15, 2));
  expect_is(31, 0);
  EXPECT_FALSE(srq.modify_lock.lock.locked);
  take(1);
  EXPECT_EQ(0, modify(WR | LIMIT, 15, 15));
  expect_is(15, 15);
  take(15);
}

TEST_F(CreateSrq, SizesOfAResizeAreBounded) {
  ASSERT_EQ(0, create(15, 1, nullptr));
  EXPECT_EQ(-EINVAL, modify(WR, 0, 0));
  EXPECT_EQ(-EINVAL, modify(WR, SROCE_MAX_QP_WR + 1, 0));
  expect_is(15, 0);
}

TEST_F(CreateSrq, LimitAndSizeOfOneCallBelongTogether) {
  ASSERT_EQ(0, create(15, 1, nullptr));
  post(15);
  EXPECT_EQ(-EINVAL, modify(WR | LIMIT, 20, 21));
  EXPECT_EQ(-EINVAL, modify(LIMIT, 20, 16)) << "the size is not modified";
  expect_is(15, 0);
  EXPECT_EQ(0, modify(WR | LIMIT, 20, 15));
  EXPECT_EQ(-EINVAL, modify(WR, 14, 0)) << "the limit that is armed";
  expect_is(31, 15);
  EXPECT_EQ(0, modify(WR | LIMIT, 20, 16));
  EXPECT_EQ(1u, events);
}

TEST_F(CreateSrq, ProcessMapsTheNewRing) {
  ASSERT_EQ(0, create(15, 1, &udata));
  const sroce_mmap_entry* mapping = srq.queue.mmap;
  ASSERT_EQ(0, modify(WR, 100, 0, &udata));
  EXPECT_NE(mapping, srq.queue.mmap);
  EXPECT_EQ(1, stand_in_qp.mappings);
  mminfo info;
  memcpy(&info, &resized, sizeof(info));
  EXPECT_EQ(2 * 4096u, info.offset);
  EXPECT_EQ(srq.queue.ring.memory->bytes, info.size);
  EXPECT_EQ(0u, resized.native.stride) << "librxe has no room for more";
  expect_is(127, 0);
}

TEST_F(CreateSrq, NativeProcessKnowsTheNewLayout) {
  be_native();
  ASSERT_EQ(0, create(15, 1, &udata));
  ASSERT_EQ(0, modify(WR, 100, 0, &udata));
  const sroce_ring& ring = srq.queue.ring;
  EXPECT_EQ(2 * 4096u, resized.native.offset);
  EXPECT_EQ(ring.memory->bytes, resized.native.size);
  EXPECT_EQ(sroce_ring_offset(&ring, ring.elements), resized.native.slots);
  EXPECT_EQ(128u, resized.native.count);
  EXPECT_EQ(srq.number, resized.native.number);
  EXPECT_EQ(0x77, resized.behind);
  expect_is(128, 0);
}

TEST_F(CreateSrq, FailedResizeChangesNothing) {
  for (bool native : {false, true}) {
    if (native) be_native();
    ASSERT_EQ(0, create(15, 1, &udata));
    attr.attr.max_wr = srq.max_wr;
    const sroce_ring before = srq.queue.ring;
    const sroce_mmap_entry* mapping = srq.queue.mmap;
    udata.inlen--;
    EXPECT_EQ(-EINVAL, modify(WR, 100, 0, &udata));
    udata.inlen++;
    udata.error = -EFAULT;
    EXPECT_EQ(-EFAULT, modify(WR, 100, 0, &udata));
    udata.error = 0;
    stand_in_qp.mmap_error = -EBUSY;
    EXPECT_EQ(-EBUSY, modify(WR, 100, 0, &udata));
    stand_in_qp.mmap_error = 0;
    command.mmap_info_addr = 0;
    EXPECT_EQ(-EFAULT, modify(WR, 100, 0, &udata));
    command.mmap_info_addr = reinterpret_cast<u64>(&resized);
    for (u32 n = 1; n <= 2; n++) {
      stand_in.fail_allocation = n;
      EXPECT_EQ(-ENOMEM, modify(WR | LIMIT, 100, 7, &udata));
    }
    stand_in.fail_allocation = 0;
    EXPECT_EQ(before.memory, srq.queue.ring.memory);
    EXPECT_EQ(mapping, srq.queue.mmap);
    EXPECT_EQ(1, stand_in_qp.mappings);
    EXPECT_EQ(0u, events);
    expect_is(attr.attr.max_wr, 0);
    destroy();
  }
}

}  // namespace
