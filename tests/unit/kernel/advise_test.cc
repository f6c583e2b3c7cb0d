// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Advice of a process for memory that is paged on demand: kernel/verbs/odp.c.
#include <gtest/gtest.h>

#include "stand_in/odp.h"
#include "unit/kernel/memory.h"

extern "C" {
#include "datapath/device.h"
#include "memory/odp.h"
#include "verbs/verbs.h"
}

namespace {

constexpr u64 START = 0x7f0000000000;
constexpr u64 VA = 0x100000;
constexpr u32 PAGES = 8;
constexpr u64 LENGTH = PAGES * PAGE_SIZE;
constexpr u32 FLUSH = IB_UVERBS_ADVISE_MR_FLAG_FLUSH;
constexpr auto READ = IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH;
constexpr auto WRITE = IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE;
constexpr auto NO_FAULT = IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT;

struct Advise : testing::Test {
  Advise() {
    stand_in = {};
    stand_in_odp = {};
    for (u32 i = 0; i < PAGES; i++) stand_in_odp.pages[i].address = blocks.blocks[i].get();
    sroce_memory_init(&dev.memory);
    pd.device = other_pd.device = &dev.ibdev;
    create(SROCE_ACCESS_LOCAL_WRITE | SROCE_ACCESS_REMOTE_WRITE);
  }
  ~Advise() override {
    // Waits for references that are left, which the stand-in warns of.
    sroce_region_destroy(&dev.memory, region);
    sroce_memory_fini(&dev.memory);
    stand_in = {};
  }
  void create(u32 access) {
    region = sroce_region_create(SROCE_REGION_ODP, &pd);
    region->range = {VA, LENGTH, access};
    EXPECT_EQ(0, sroce_odp_init(&dev.memory, region, &dev.ibdev, START, LENGTH,
                                access | IB_ACCESS_ON_DEMAND));
    EXPECT_EQ(0, sroce_region_publish(&dev.memory, region));
  }
  void create_again(u32 access) {
    sroce_region_destroy(&dev.memory, region);
    create(access);
  }
  int advise(ib_uverbs_advise_mr_advice advice, u32 flags, std::vector<ib_sge> sges,
             ib_pd* of = nullptr) {
    return sroce_advise_mr(of ? of : &pd, advice, flags, sges.data(), sges.size(), nullptr);
  }
  // One page of the region.
  ib_sge page(u32 i) const { return {VA + i * PAGE_SIZE, PAGE_SIZE, region->key}; }
  static bool is_writable(u32 i) { return stand_in_odp.writable[i]; }
  static bool is_present(u32 i) { return stand_in_odp.present[i]; }

  Blocks blocks{PAGES, PAGE_SIZE};
  sroce_device dev = {};
  ib_pd pd = {}, other_pd = {};
  sroce_region* region = nullptr;
};

TEST_F(Advise, PagesAreFaultedInForTheirUse) {
  EXPECT_EQ(0, advise(READ, FLUSH, {page(0), page(2)}));
  EXPECT_TRUE(is_present(0) && is_present(2) && !is_present(1));
  EXPECT_FALSE(is_writable(0));
  EXPECT_EQ(0, advise(WRITE, FLUSH, {page(1)}));
  EXPECT_TRUE(is_writable(1) && !is_writable(0));
  const u32 faults = stand_in_odp.faults;
  EXPECT_EQ(0, advise(NO_FAULT, FLUSH, {page(3)}));
  EXPECT_EQ(faults, stand_in_odp.faults);
}

TEST_F(Advise, WithoutFlushTheWorkIsDoneAndMayFail) {
  EXPECT_EQ(0, advise(READ, 0, {page(0)}));
  EXPECT_TRUE(is_present(0));
  stand_in_odp.fault_error = -EFAULT;
  EXPECT_EQ(0, advise(READ, 0, {page(1), page(2)}));
  EXPECT_TRUE(is_present(2)) << "the others are not left out";
}

TEST_F(Advise, WithFlushTheFirstFailureIsTheEnd) {
  stand_in_odp.fault_error = -EFAULT;
  EXPECT_EQ(-EFAULT, advise(READ, FLUSH, {page(1), page(2)}));
  EXPECT_FALSE(is_present(2));
}

TEST_F(Advise, UnknownAdviceIsNotSupported) {
  EXPECT_EQ(-EOPNOTSUPP, advise(static_cast<ib_uverbs_advise_mr_advice>(3), FLUSH, {page(0)}));
  EXPECT_EQ(0u, stand_in_odp.faults);
}

TEST_F(Advise, KeyIsThatOfTheRegionInItsProtectionDomain) {
  for (u32 flags : {0u, FLUSH}) {
    ib_sge sge = page(0);
    EXPECT_EQ(-EINVAL, advise(READ, flags, {sge}, &other_pd));
    sge.lkey ^= 1;
    EXPECT_EQ(-EINVAL, advise(READ, flags, {sge})) << "another variant";
    sge.lkey ^= 1 ^ 0x5500;
    EXPECT_EQ(-EINVAL, advise(READ, flags, {sge})) << "no region";
  }
  EXPECT_EQ(0u, stand_in_odp.faults);
}

TEST_F(Advise, AdviceForPinnedMemoryIsAnError) {
  sroce_region* pinned = sroce_region_create(SROCE_REGION_USER, &pd);
  Memory::list(&pinned->pages, blocks, 0);
  pinned->range = {VA, LENGTH, SROCE_ACCESS_LOCAL_WRITE};
  ASSERT_EQ(0, sroce_region_publish(&dev.memory, pinned));
  EXPECT_EQ(-EINVAL, advise(READ, FLUSH, {{VA, PAGE_SIZE, pinned->key}}));
  sroce_region_destroy(&dev.memory, pinned);
}

TEST_F(Advise, RangeIsInsideOfTheRegion) {
  for (u32 flags : {0u, FLUSH}) {
    EXPECT_EQ(-EFAULT, advise(READ, flags, {{VA - 1, 1, region->key}}));
    EXPECT_EQ(-EFAULT, advise(READ, flags, {{VA + LENGTH - 1, 2, region->key}}));
    EXPECT_EQ(-EFAULT, advise(READ, flags, {{~0ull, 2, region->key}}));
    EXPECT_EQ(-EFAULT, advise(READ, flags, {page(0), {VA + LENGTH, 1, region->key}, page(1)}));
  }
  EXPECT_FALSE(is_present(1)) << "the first error is the end";
  EXPECT_EQ(0, advise(READ, FLUSH, {{0, 0, region->key}})) << "no bytes are anywhere";
}

TEST_F(Advise, ReadOnlyMemoryIsNotFaultedInToWrite) {
  create_again(SROCE_ACCESS_REMOTE_READ);
  for (u32 flags : {0u, FLUSH}) EXPECT_EQ(-EPERM, advise(WRITE, flags, {page(0)}));
  EXPECT_EQ(0u, stand_in_odp.faults);
  EXPECT_EQ(0, advise(READ, FLUSH, {page(0)}));
}

TEST_F(Advise, CapabilitiesAreThoseOfEachService) {
  ib_device_attr attr = {};
  sroce_odp_set_caps(&attr);
  EXPECT_TRUE(attr.kernel_cap_flags & IBK_ON_DEMAND_PAGING);
  EXPECT_EQ(u64{IB_ODP_SUPPORT}, attr.odp_caps.general_caps) << "not implicit";
  const auto& caps = attr.odp_caps.per_transport_caps;
  EXPECT_EQ(0xffu, caps.rc_odp_caps) << "all, with FLUSH and ATOMIC WRITE";
  EXPECT_EQ(caps.rc_odp_caps, caps.xrc_odp_caps);
  constexpr u32 datagrams = IB_ODP_SUPPORT_SEND | IB_ODP_SUPPORT_RECV | IB_ODP_SUPPORT_SRQ_RECV;
  EXPECT_EQ(u32{datagrams | IB_ODP_SUPPORT_WRITE}, caps.uc_odp_caps);
  EXPECT_EQ(datagrams, caps.ud_odp_caps);
}

}  // namespace
