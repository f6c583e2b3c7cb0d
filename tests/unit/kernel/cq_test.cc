// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion queues: entries, arming, overflow: kernel/datapath/cq.c.
#include <gtest/gtest.h>

#include <algorithm>

#include "stand_in/verbs.h"

extern "C" {
#include "datapath/cq.h"
}

namespace {

struct Cq : testing::Test {
  Cq() {
    stand_in = {};
    sroce_cq_init(&cq);
    sroce_ring_init_cq(&cq.ring, 3, std::max(sizeof(ib_uverbs_wc), sizeof(ib_wc)), false);
    extra.qp = &qp;
    extra.vlan_id = SROCE_NO_VLAN;
    qp.qp_num = 17;
  }
  ~Cq() override {
    stand_in = {};
    sroce_cq_fini(&cq);
  }
  sroce_cq_outcome post(u8 status = SROCE_WC_SUCCESS, bool solicited = false) {
    wc.status = status;
    wc.solicited = solicited;
    wc.wr_id++;
    return sroce_cq_post(&cq, &wc, &extra);
  }
  int arm(int flags) {
    return sroce_cq_req_notify(&cq.ibcq, static_cast<ib_cq_notify_flags>(flags));
  }
  int poll(ib_wc* entries, int count) { return sroce_cq_poll(&cq.ibcq, count, entries); }
  sroce_cq_line* line() { return reinterpret_cast<sroce_cq_line*>(cq.ring.consumer); }
  const ib_uverbs_wc* user_entry(u32 index) {
    return static_cast<const ib_uverbs_wc*>(sroce_ring_entry(&cq.ring, index));
  }

  ib_qp qp = {};
  sroce_cq cq = {};
  sroce_completion wc = {};
  sroce_wc_extra extra = {};
};

TEST_F(Cq, EntryHasATimestampIfTheProcessAskedForIt) {
  const auto stamp_of = [this](u32 index) {
    u64 stamp;
    memcpy(&stamp, reinterpret_cast<const u8*>(user_entry(index)) + SROCE_CQ_TIMESTAMP_AT, 8);
    return stamp;
  };
  cq.is_user = true;
  stand_in.now_ns = 77;
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  cq.stamps = true;
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  EXPECT_EQ(0u, stamp_of(0));
  EXPECT_EQ(77u, stamp_of(1));
  EXPECT_EQ(2u, user_entry(1)->wr_id);
}

TEST_F(Cq, KernelEntryHasAllFields) {
  wc = {.wr_id = 4,
        .opcode = SROCE_WC_RECV,
        .flags = SROCE_WC_WITH_IMM | SROCE_WC_GRH,
        .byte_len = 99,
        .imm = cpu_to_be32(0x12345678),
        .src_qpn = 321};
  extra.is_ipv4 = true;
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  ib_wc got;
  ASSERT_EQ(1, poll(&got, 1));
  EXPECT_EQ(5u, got.wr_id);
  EXPECT_EQ(SROCE_WC_RECV, got.opcode);
  EXPECT_EQ(99u, got.byte_len);
  EXPECT_EQ(&qp, got.qp);
  EXPECT_EQ(321u, got.src_qp);
  EXPECT_EQ(1u, got.port_num);
  EXPECT_EQ(cpu_to_be32(0x12345678), got.ex.imm_data);
  EXPECT_EQ(SROCE_WC_WITH_IMM | SROCE_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE, got.wc_flags);
  EXPECT_EQ(RDMA_NETWORK_IPV4, got.network_hdr_type);
}

TEST_F(Cq, DatagramNamesItsVlanAndNetwork) {
  wc = {.opcode = SROCE_WC_RECV, .flags = SROCE_WC_GRH};
  extra.vlan_id = 5;
  post();
  ib_wc got;
  ASSERT_EQ(1, poll(&got, 1));
  EXPECT_EQ(5u, got.vlan_id);
  EXPECT_TRUE(got.wc_flags & IB_WC_WITH_VLAN);
  EXPECT_EQ(RDMA_NETWORK_IPV6, got.network_hdr_type);
  extra.is_v1 = true;
  post();
  ASSERT_EQ(1, poll(&got, 1));
  EXPECT_EQ(RDMA_NETWORK_ROCE_V1, got.network_hdr_type);
}

TEST_F(Cq, InvalidationHasTheFlagOfItsConsumer) {
  wc = {.opcode = SROCE_WC_REG_MR, .flags = SROCE_WC_WITH_INVALIDATE, .invalidate_rkey = 0x77};
  post();
  ib_wc got;
  ASSERT_EQ(1, poll(&got, 1));
  EXPECT_EQ(0x77u, got.ex.invalidate_rkey);
  EXPECT_EQ(SROCE_WC_WITH_INVALIDATE, got.wc_flags);
  EXPECT_EQ(IB_WC_REG_MR, got.opcode);
  cq.is_user = true;
  post();
  EXPECT_EQ(0x77u, user_entry(1)->ex.invalidate_rkey);
  EXPECT_EQ(8u, user_entry(1)->wc_flags);
}

TEST_F(Cq, UserEntryHasAllFields) {
  cq.is_user = true;
  wc = {.wr_id = 4,
        .opcode = SROCE_WC_RECV,
        .flags = SROCE_WC_WITH_IMM,
        .byte_len = 99,
        .imm = cpu_to_be32(7),
        .src_qpn = 321};
  extra.vendor_err = 3;
  EXPECT_EQ(SROCE_CQ_POSTED, post(SROCE_WC_LOC_LEN_ERR));
  const ib_uverbs_wc* got = user_entry(0);
  EXPECT_EQ(5u, got->wr_id);
  EXPECT_EQ(SROCE_WC_LOC_LEN_ERR, static_cast<int>(got->status));
  EXPECT_EQ(3u, got->vendor_err);
  EXPECT_EQ(99u, got->byte_len);
  EXPECT_EQ(17u, got->qp_num);
  EXPECT_EQ(321u, got->src_qp);
  EXPECT_EQ(1, got->port_num);
  EXPECT_EQ(cpu_to_be32(7), got->ex.imm_data);
  EXPECT_EQ(SROCE_WC_WITH_IMM, got->wc_flags);
  EXPECT_EQ(1u, *cq.ring.producer);
  ib_wc none;
  EXPECT_EQ(-EINVAL, poll(&none, 1));
}

TEST_F(Cq, UserDatagramHasItsPacketTypeAsServiceLevel) {
  cq.is_user = true;
  wc = {.opcode = SROCE_WC_RECV, .flags = SROCE_WC_GRH};
  extra.is_ipv4 = true;
  post();
  EXPECT_EQ(10, user_entry(0)->sl);
  extra.is_ipv4 = false;
  post();
  EXPECT_EQ(9, user_entry(1)->sl);
  extra.is_v1 = true;
  post();
  EXPECT_EQ(0, user_entry(2)->sl);
  extra.is_v1 = false;
  wc.flags = 0;
  post();
  EXPECT_EQ(0, user_entry(3)->sl) << "no datagram";
}

TEST_F(Cq, OverflowIsReportedOnceAndWritesNothing) {
  for (int i = 0; i < 3; i++) EXPECT_EQ(SROCE_CQ_POSTED, post());
  arm(IB_CQ_NEXT_COMP);
  EXPECT_EQ(SROCE_CQ_OVERFLOW, post());
  EXPECT_EQ(SROCE_CQ_LOST, post());
  ib_wc got[4];
  EXPECT_EQ(3, poll(got, 4));
  EXPECT_EQ(1u, got[0].wr_id);
  EXPECT_EQ(3u, got[2].wr_id);
  EXPECT_EQ(SROCE_CQ_LOST, post()) << "also when there is room again";
  EXPECT_EQ(0, poll(got, 4));
}

TEST_F(Cq, PollTakesAtMostWhatWasAskedForAndWraps) {
  ib_wc got[2];
  for (u64 i = 1; i <= 20; i += 2) {
    post();
    post();
    ASSERT_EQ(1, poll(got, 1));
    EXPECT_EQ(i, got[0].wr_id);
    ASSERT_EQ(1, poll(got, 2));
    EXPECT_EQ(i + 1, got[0].wr_id);
  }
}

TEST_F(Cq, ArmedConsumerIsWokenOnce) {
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  arm(IB_CQ_NEXT_COMP);
  EXPECT_TRUE(sroce_cq_is_armed(&cq));
  EXPECT_EQ(SROCE_CQ_WAKE, post());
  EXPECT_FALSE(sroce_cq_is_armed(&cq));
  EXPECT_EQ(SROCE_CQ_POSTED, post());
}

TEST_F(Cq, SolicitedArmWakesForSolicitedEntriesAndErrors) {
  arm(IB_CQ_SOLICITED);
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  EXPECT_EQ(SROCE_CQ_WAKE, post(SROCE_WC_SUCCESS, true));
  arm(IB_CQ_SOLICITED);
  EXPECT_EQ(SROCE_CQ_WAKE, post(SROCE_WC_WR_FLUSH_ERR));
}

TEST_F(Cq, ArmForAnyEntryIsNotTakenBack) {
  arm(IB_CQ_NEXT_COMP);
  arm(IB_CQ_SOLICITED);
  EXPECT_EQ(SROCE_CQ_WAKE, post());
  arm(IB_CQ_SOLICITED);
  arm(IB_CQ_NEXT_COMP);
  EXPECT_EQ(SROCE_CQ_WAKE, post());
}

TEST_F(Cq, MissedEntriesAreReportedIfAskedFor) {
  EXPECT_EQ(0, arm(IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS));
  post();
  EXPECT_EQ(0, arm(IB_CQ_NEXT_COMP));
  EXPECT_EQ(1, arm(IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS));
}

TEST_F(Cq, ConsumerWithSeveralUnreadEntriesIsBehind) {
  post();
  post();
  EXPECT_FALSE(cq.behind);
  post();
  EXPECT_TRUE(cq.behind);
}

struct UserCq : Cq {
  UserCq() { cq.is_user = cq.user_arms = true; }
};

TEST_F(UserCq, CounterArmsOnce) {
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  line()->arm.any++;
  EXPECT_TRUE(sroce_cq_is_armed(&cq));
  EXPECT_EQ(SROCE_CQ_WAKE, post());
  EXPECT_FALSE(sroce_cq_is_armed(&cq));
  *cq.ring.consumer = 2;
  EXPECT_EQ(SROCE_CQ_POSTED, post());
}

TEST_F(UserCq, SolicitedCounterWakesForSolicitedEntries) {
  line()->arm.solicited += 5;
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  EXPECT_EQ(SROCE_CQ_WAKE, post(SROCE_WC_SUCCESS, true));
}

// The process polls, finds nothing, and arms just after the entry was published. The first call is
// behind the store of the index, the second at the barrier.
TEST_F(UserCq, ArmAfterPublicationIsNotLost) {
  static u32 calls;
  calls = 0;
  stand_in.argument = this;
  stand_in.process = [](void* test) {
    auto* cq = static_cast<UserCq*>(test);
    if (*cq->cq.ring.producer == 1 && ++calls == 2) cq->line()->arm.any = 1;
  };
  EXPECT_EQ(SROCE_CQ_WAKE, post());
  EXPECT_TRUE(sroce_cq_is_armed(&cq)) << "the process may have polled the entry before";
}

TEST_F(UserCq, ResizedCqStaysArmed) {
  sroce_ring larger = {};
  ASSERT_EQ(0, sroce_ring_init_cq(&larger, 7, sizeof(ib_uverbs_wc), true));
  line()->arm.any = 3;
  sroce_cq_swap_ring(&cq, &larger);
  EXPECT_EQ(7u, cq.ring.mask);
  EXPECT_EQ(SROCE_CQ_WAKE, post());
  sroce_ring_fini(&larger);
}

TEST_F(UserCq, ResizedCqIsNotArmedByItsNewCounters) {
  sroce_ring larger = {};
  ASSERT_EQ(0, sroce_ring_init_cq(&larger, 7, sizeof(ib_uverbs_wc), true));
  line()->arm.any = 3;
  EXPECT_EQ(SROCE_CQ_WAKE, post());
  sroce_cq_swap_ring(&cq, &larger);
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  sroce_ring_fini(&larger);
}

struct ModeratedCq : UserCq {
  ModeratedCq() {
    cq.ibcq.comp_handler = [](ib_cq* cq, void*) {
      auto* test = container_of(cq, sroce_cq, ibcq);
      EXPECT_FALSE(test->lock.locked);
      woken++;
    };
    woken = 0;
    sroce_cq_moderate(&cq, 3, 50);
    line()->arm.any++;
  }
  void expire() {
    cq.timer.started = false;
    EXPECT_EQ(HRTIMER_NORESTART, cq.timer.function(&cq.timer));
  }
  // The consumer polls all.
  void drain() { *cq.ring.consumer = *cq.ring.producer; }

  static inline u32 woken;
};

TEST_F(ModeratedCq, WakesForTheLastOfTheCount) {
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  EXPECT_TRUE(cq.timer.started);
  EXPECT_EQ(50000u, cq.timer.expires_ns);
  cq.timer.started = false;
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  EXPECT_FALSE(cq.timer.started) << "the period is that of the first";
  EXPECT_EQ(SROCE_CQ_WAKE, post());
  EXPECT_FALSE(sroce_cq_is_armed(&cq));
  expire();
  EXPECT_EQ(0u, woken) << "nothing waits";
}

TEST_F(ModeratedCq, WakesOnceAfterThePeriod) {
  post();
  EXPECT_TRUE(sroce_cq_is_armed(&cq));
  expire();
  EXPECT_EQ(1u, woken);
  EXPECT_FALSE(sroce_cq_is_armed(&cq));
  expire();
  EXPECT_EQ(1u, woken);
}

TEST_F(ModeratedCq, CountsOnlyWhileArmed) {
  sroce_cq_moderate(&cq, 1, 50);
  EXPECT_EQ(SROCE_CQ_WAKE, post());
  sroce_cq_moderate(&cq, 2, 50);
  EXPECT_EQ(SROCE_CQ_POSTED, post()) << "not armed";
  drain();
  line()->arm.any++;
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  EXPECT_EQ(SROCE_CQ_WAKE, post());
}

TEST_F(ModeratedCq, CountsSolicitedEntriesOnlyIfArmedForThem) {
  sroce_cq_moderate(&cq, 1, 50);
  EXPECT_EQ(SROCE_CQ_WAKE, post());
  drain();
  sroce_cq_moderate(&cq, 2, 50);
  line()->arm.solicited++;
  EXPECT_EQ(SROCE_CQ_POSTED, post(SROCE_WC_SUCCESS, true));
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  EXPECT_EQ(SROCE_CQ_WAKE, post(SROCE_WC_WR_FLUSH_ERR));
}

TEST_F(ModeratedCq, ChangeReportsWhatWaits) {
  post();
  sroce_cq_moderate(&cq, 0, 0);
  EXPECT_EQ(1u, woken);
  line()->arm.any++;
  EXPECT_EQ(SROCE_CQ_WAKE, post());
  sroce_cq_moderate(&cq, 5, 5);
  EXPECT_EQ(1u, woken);
}

// The process arms between the two looks at its counters: the entry counts once.
TEST_F(ModeratedCq, EntryOfALateArmCounts) {
  sroce_cq_moderate(&cq, 1, 50);
  EXPECT_EQ(SROCE_CQ_WAKE, post());
  drain();
  sroce_cq_moderate(&cq, 2, 50);
  stand_in.argument = this;
  stand_in.process = [](void* test) {
    auto* cq = static_cast<ModeratedCq*>(test);
    if (*cq->cq.ring.producer == 2) cq->line()->arm.any = 7;
  };
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  EXPECT_EQ(SROCE_CQ_WAKE, post());
}

TEST_F(ModeratedCq, EntryCountsOnceIfTheProcessArmsAgain) {
  stand_in.argument = this;
  stand_in.process = [](void* test) { static_cast<ModeratedCq*>(test)->line()->arm.any++; };
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  EXPECT_EQ(SROCE_CQ_POSTED, post());
  EXPECT_EQ(SROCE_CQ_WAKE, post());
}

TEST_F(ModeratedCq, TimerEndsWithTheCq) {
  post();
  sroce_cq_fini(&cq);
  EXPECT_FALSE(cq.timer.started);
}

// A CQ of a process with so many entries that its memory grows.
struct LargeCq : Cq {
  static constexpr u32 ENTRIES = (1 << 15) - 1;
  LargeCq() {
    cq.is_user = true;
    sroce_ring_fini(&cq.ring);
    EXPECT_EQ(0, sroce_ring_init_cq(&cq.ring, ENTRIES, sizeof(ib_uverbs_wc), true));
  }
  u32 present() const {
    return std::count_if(cq.ring.memory->pages,
                         cq.ring.memory->pages + sroce_ring_memory_count(cq.ring.memory),
                         [](void* page) { return page; });
  }
  void work() {
    cq.grow_ring.queued = false;
    cq.grow_ring.function(&cq.grow_ring);
  }
};

TEST_F(LargeCq, PagesAreAddedAheadOfTheEntries) {
  EXPECT_EQ(17u, present());
  u32 works = 0;
  for (u32 i = 0; i < 10000; i++) {
    ASSERT_EQ(SROCE_CQ_POSTED, post());
    if (cq.grow_ring.queued) {
      work();
      works++;
    }
    ASSERT_EQ(i + 1, user_entry(i)->wr_id);
    ASSERT_TRUE(user_entry(i + 7 * 64)) << i << ": half of the pages are ahead";
  }
  EXPECT_LE(works, 10000u / 64 / 8 + 1) << "not for each page";
  EXPECT_LE(present(), 10000u / 64 + 18);
}

TEST_F(LargeCq, DatapathAddsThePagesIfTheWorkIsLate) {
  for (u32 i = 0; i < ENTRIES; i++) ASSERT_EQ(SROCE_CQ_POSTED, post()) << i;
  EXPECT_TRUE(cq.grow_ring.queued);
  EXPECT_EQ(SROCE_CQ_OVERFLOW, post());
  for (u32 i = 0; i < ENTRIES; i++) ASSERT_EQ(i + 1, user_entry(i)->wr_id);
  EXPECT_EQ(sroce_ring_memory_count(cq.ring.memory), present());
}

TEST_F(LargeCq, WithoutMemoryItOverflows) {
  while (present() == 17) ASSERT_EQ(SROCE_CQ_POSTED, post());
  const u64 last = wc.wr_id;
  for (u32 i = 1; i < 64; i++) ASSERT_EQ(SROCE_CQ_POSTED, post()) << "the rest of the page";
  stand_in.fail_allocation = 1;
  EXPECT_EQ(SROCE_CQ_OVERFLOW, post());
  EXPECT_EQ(SROCE_CQ_LOST, post());
  EXPECT_EQ(last + 63, *cq.ring.producer);
  work();
}

TEST_F(LargeCq, PagesFollowTheEntriesAroundTheRing) {
  cq.ring.cursor = *cq.ring.consumer = ENTRIES - 3 * 64;
  work();
  for (u32 i = 0; i < 10 * 64; i++) {
    ASSERT_TRUE(user_entry(cq.ring.cursor)) << cq.ring.cursor;
    ASSERT_EQ(SROCE_CQ_POSTED, post());
    if (cq.grow_ring.queued) work();
  }
  EXPECT_GE(34u, present());
}

}  // namespace
