// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Creating, resizing and destroying completion queues: kernel/verbs/cq.c.
#include <gtest/gtest.h>

#include "stand_in/compat.h"

extern "C" {
#include "datapath/cq.h"
#include "stand_in/datapath.h"
#include "stand_in/qp.h"
#include "verbs/verbs.h"
}

#include <functional>

namespace {

struct CreateCq : testing::Test {
  CreateCq() {
    stand_in = {};
    stand_in_qp = {};
    stand_in_datapath = {};
    cq.ibcq.device = &device;
    udata.outbuf = &resp;
    udata.outlen = sizeof(resp);
    current = this;
  }
  ~CreateCq() override {
    EXPECT_EQ(0u, stand_in.uncharged);
    stand_in = {};
    if (created) EXPECT_EQ(0, sroce_destroy_cq(&cq.ibcq, nullptr));
    EXPECT_EQ(0, stand_in_qp.mappings);
  }
  int create(u32 entries, ib_udata* from, u32 flags = 0) {
    const ib_cq_init_attr attr = {entries, 0, flags};
    const int err = sroce_create_cq(&cq.ibcq, &attr, from);
    created = !err;
    return err;
  }
  int resize(int entries) { return sroce_resize_cq(&cq.ibcq, entries, &udata); }
  void post(u32 count) {
    for (u32 i = 0; i < count; i++) {
      sroce_completion wc = {};
      wc.wr_id = next_id++;
      sroce_wc_extra extra = {};
      extra.qp = &qp;
      EXPECT_EQ(SROCE_CQ_POSTED, sroce_cq_post(&cq, &wc, &extra));
    }
  }
  // The process polls.
  void take(u32 count) {
    for (u32 i = 0; i < count; i++) {
      const u32 at = *cq.ring.consumer & cq.ring.mask;
      EXPECT_EQ(taken++, static_cast<ib_uverbs_wc*>(sroce_ring_entry(&cq.ring, at))->wr_id);
      *cq.ring.consumer = (at + 1) & cq.ring.mask;
    }
  }
  u32 unread() { return sroce_ring_unread(&cq.ring); }

  static inline CreateCq* current;
  ib_device device = {};
  ib_qp qp = {};
  sroce_cq cq = {};
  ib_udata udata = {};
  rxe_create_cq_resp resp = {};
  bool created = false;
  u64 next_id = 0;
  u64 taken = 0;
};

TEST_F(CreateCq, ProcessMapsItsRing) {
  cq.ibcq.cq_context = this;
  ASSERT_EQ(0, create(100, &udata));
  EXPECT_TRUE(cq.is_user);
  EXPECT_FALSE(cq.user_arms || cq.stamps);
  EXPECT_EQ(127, cq.ibcq.cqe);
  EXPECT_EQ(1, stand_in_qp.mappings);
  EXPECT_EQ(4096u, resp.mi.offset);
  EXPECT_EQ(cq.ring.memory->bytes, resp.mi.size);
}

TEST_F(CreateCq, KernelPollsItsOwn) {
  ASSERT_EQ(0, create(100, nullptr));
  EXPECT_FALSE(cq.is_user);
  EXPECT_EQ(0, stand_in_qp.mappings);
}

TEST_F(CreateCq, SizeIsBounded) {
  EXPECT_EQ(-EINVAL, create(0, &udata));
  EXPECT_EQ(-EINVAL, create(SROCE_MAX_CQE + 1, &udata));
  ASSERT_EQ(0, create(1, nullptr));
  EXPECT_EQ(63, cq.ibcq.cqe) << "a page";
}

TEST_F(CreateCq, OnlyNativeProcessesArmAndHaveTimestamps) {
  constexpr u32 stamps = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
  EXPECT_EQ(-EOPNOTSUPP, create(10, nullptr, stamps));
  EXPECT_EQ(-EOPNOTSUPP, create(10, &udata, stamps));
  udata.is_native = true;
  EXPECT_EQ(-EOPNOTSUPP, create(10, &udata, stamps | IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN));
  cq.ibcq.cq_context = this;
  ASSERT_EQ(0, create(10, &udata, stamps));
  EXPECT_TRUE(cq.stamps && cq.user_arms);
}

TEST_F(CreateCq, WithoutAChannelNothingIsArmed) {
  udata.is_native = true;
  ASSERT_EQ(0, create(10, &udata));
  EXPECT_FALSE(cq.user_arms);
}

TEST_F(CreateCq, FailureAtAnyStepLeavesNothing) {
  udata.outlen--;
  EXPECT_EQ(-EINVAL, create(10, &udata));
  udata.outlen++;
  udata.error = -EFAULT;
  EXPECT_EQ(-EFAULT, create(10, &udata));
  udata.error = 0;
  stand_in_qp.mmap_error = -EBUSY;
  EXPECT_EQ(-EBUSY, create(10, &udata));
  stand_in_qp.mmap_error = 0;
  int err = -ENOMEM;
  u32 n = 0;
  while (err && ++n < 20) {
    stand_in.fail_allocation = n;
    err = create(10, &udata);
    EXPECT_TRUE(!err || err == -ENOMEM);
  }
  EXPECT_LT(3u, n);
}

TEST_F(CreateCq, ResizeKeepsWhatIsUnread) {
  ASSERT_EQ(0, create(63, &udata));
  post(50);
  take(20);
  const sroce_mmap_entry* mapping = cq.mmap;
  stand_in.unlocked = [](void*) {
    EXPECT_TRUE(current->cq.resize_lock.lock.locked) << "first that of the CQ";
  };
  ASSERT_EQ(0, resize(1000));
  EXPECT_NE(mapping, cq.mmap);
  EXPECT_EQ(1023, cq.ibcq.cqe);
  EXPECT_EQ(1, stand_in_qp.mappings);
  EXPECT_EQ(2 * 4096u, resp.mi.offset);
  EXPECT_EQ(30u, unread());
  take(30);
  post(700);
  take(700);
  ASSERT_EQ(0, resize(63));
  post(63);
  take(63);
}

TEST_F(CreateCq, ResizeAcrossTheEndOfTheRing) {
  ASSERT_EQ(0, create(63, &udata));
  post(60);
  take(60);
  post(40);
  ASSERT_EQ(0, resize(63));
  EXPECT_EQ(40u, unread());
  take(40);
}

TEST_F(CreateCq, ResizeGivesWhatIsAskedFor) {
  ASSERT_EQ(0, create(3, &udata));
  EXPECT_EQ(63, cq.ibcq.cqe);
  ASSERT_EQ(0, resize(7));
  EXPECT_EQ(7, cq.ibcq.cqe);
  post(6);
  EXPECT_EQ(-EINVAL, resize(1)) << "they do not fit";
  EXPECT_EQ(7, cq.ibcq.cqe);
  take(6);
  ASSERT_EQ(0, resize(1));
  EXPECT_EQ(1, cq.ibcq.cqe);
  for (int i = 0; i < 3; i++) {
    post(1);
    take(1);
  }
}

TEST_F(CreateCq, EntriesMustFit) {
  ASSERT_EQ(0, create(200, &udata));
  const u32 size = cq.ibcq.cqe;
  post(64);
  EXPECT_EQ(-EINVAL, resize(63));
  EXPECT_EQ(size, u32(cq.ibcq.cqe));
  EXPECT_EQ(1, stand_in_qp.mappings);
  EXPECT_EQ(64u, unread());
  take(1);
  EXPECT_EQ(0, resize(63));
  EXPECT_EQ(63u, unread());
  take(63);
}

// Interrupts are off while a batch is moved. Meanwhile completions go to the old ring.
TEST_F(CreateCq, CompletionsBetweenTwoBatchesAreMovedToo) {
  ASSERT_EQ(0, create(2000, &udata));
  post(600);
  static u32 pauses;
  pauses = 0;
  stand_in.resched = [](void*) {
    EXPECT_FALSE(current->cq.lock.locked);
    if (!current->cq.resize_lock.lock.locked) return;
    if (pauses++ < 2) current->post(5);
  };
  ASSERT_EQ(0, resize(4000));
  EXPECT_EQ(3u, pauses) << "256 entries at a time";
  EXPECT_EQ(610u, unread());
  take(610);
}

TEST_F(CreateCq, CompletionsBetweenTwoBatchesMustFitToo) {
  ASSERT_EQ(0, create(2000, &udata));
  post(1000);
  stand_in.resched = [](void*) {
    stand_in.resched = nullptr;
    current->post(100);
  };
  EXPECT_EQ(-EINVAL, resize(1000));
  EXPECT_EQ(1100u, unread());
  take(1100);
}

TEST_F(CreateCq, PagesAreAddedWithoutTheLock) {
  ASSERT_EQ(0, create(100000, &udata));
  post(3000);
  stand_in.fail_allocation = 30;
  EXPECT_EQ(-ENOMEM, resize(200000));
  EXPECT_EQ(3000u, unread());
  EXPECT_EQ(1, stand_in_qp.mappings);
  stand_in.fail_allocation = 0;
  EXPECT_EQ(0, resize(200000));
  take(3000);
}

// The process may have written anything as its index.
TEST_F(CreateCq, WrongIndexOfTheProcess) {
  ASSERT_EQ(0, create(100000, &udata));
  post(10);
  *cq.ring.consumer = 0xfff00000 + 11;  // as if all but one were unread
  EXPECT_EQ(0, resize(200000));
  EXPECT_EQ(131071u, unread());
}

TEST_F(CreateCq, FailedResizeChangesNothing) {
  ASSERT_EQ(0, create(100, &udata));
  EXPECT_EQ(-EINVAL, resize(0));
  EXPECT_EQ(-EINVAL, resize(SROCE_MAX_CQE + 1));
  udata.outlen--;
  EXPECT_EQ(-EINVAL, resize(1000));
  udata.outlen++;
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, resize(1000));
  EXPECT_EQ(127, cq.ibcq.cqe);
  EXPECT_EQ(1, stand_in_qp.mappings);
  EXPECT_FALSE(cq.resize_lock.lock.locked);
}

TEST_F(CreateCq, KernelDoesNotResizeOrModerate) {
  ASSERT_EQ(0, create(100, nullptr));
  EXPECT_EQ(-EOPNOTSUPP, sroce_resize_cq(&cq.ibcq, 1000, nullptr));
  EXPECT_EQ(-EOPNOTSUPP, sroce_modify_cq(&cq.ibcq, 5, 6));
  EXPECT_EQ(0, cq.moderation.count);
}

TEST_F(CreateCq, ProcessModerates) {
  ASSERT_EQ(0, create(100, &udata));
  EXPECT_EQ(0, sroce_modify_cq(&cq.ibcq, 5, 6));
  EXPECT_EQ(5, cq.moderation.count);
  EXPECT_EQ(6, cq.moderation.period_us);
}

// A consumer that arms has had its turn.
TEST_F(CreateCq, ArmingEndsTheDelayOfAnAck) {
  ASSERT_EQ(0, create(100, nullptr));
  EXPECT_EQ(0, sroce_req_notify_cq(&cq.ibcq, IB_CQ_NEXT_COMP));
  EXPECT_TRUE(sroce_cq_is_armed(&cq));
  EXPECT_EQ(1u, stand_in_datapath.turns);
  sroce_completion wc = {};
  sroce_wc_extra extra = {};
  extra.qp = &qp;
  sroce_cq_post(&cq, &wc, &extra);
  EXPECT_EQ(1, sroce_req_notify_cq(&cq.ibcq, static_cast<ib_cq_notify_flags>(
                                                 IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS)));
}

}  // namespace
