// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Regions of persistent memory: kernel/memory/pmem.c, and the copies to them.
#include "stand_in/pmem.h"

#include <gtest/gtest.h>

#include "unit/kernel/memory.h"

extern "C" {
#include "datapath/device.h"
#include "verbs/verbs.h"
}

namespace {

constexpr u64 START = 0x7f0000000000, VA = 0x123000;
constexpr u64 PHYSICAL = 0x240000000;
constexpr u32 PAGES = 3;
constexpr int WRITABLE =
    IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_MW_BIND;
constexpr int PERSISTENT = WRITABLE | IB_ACCESS_FLUSH_PERSISTENT;

struct WrittenBack {
  u64 offset;
  std::vector<u8> bytes;  // what the memory held then
};

// Three pages that are persistent. The last one is elsewhere.
struct Pmem : testing::Test {
  Pmem() {
    stand_in = {};
    stand_in_umem = {};
    for (auto& block : blocks.blocks) pages.push_back(reinterpret_cast<u64>(block.get()));
    stand_in_umem.pages = pages.data();
    stand_in_umem.sgt_append.sgt = {list, 2};
    stand_in_pmem = {PHYSICAL,        16 * PAGE_SIZE, IORES_DESC_PERSISTENT_MEMORY,
                     note_write_back, false,          0};
    self = this;
    sroce_memory_init(&dev.memory);
    pd.device = &dev.ibdev;
  }
  ~Pmem() override {
    if (mr) {
      EXPECT_EQ(0, sroce_dereg_mr(mr, nullptr));
    }
    sroce_memory_fini(&dev.memory);
    EXPECT_EQ(stand_in_umem.pinned, stand_in.umems_released);
    stand_in = {};
    stand_in_umem = {};
    stand_in_pmem = {};
  }

  int reg(int access, u64 length = PAGES * PAGE_SIZE) {
    ib_mr* made = sroce_reg_user_mr(&pd, START, length, VA, access, nullptr, nullptr);
    if (IS_ERR(made)) return PTR_ERR(made);
    mr = made;
    mr->device = pd.device;
    mr->pd = &pd;
    return 0;
  }
  int rereg(int flags, int access, u64 length = PAGES * PAGE_SIZE) {
    return PTR_ERR(sroce_rereg_user_mr(mr, flags, START, length, VA, access, &pd, nullptr));
  }
  sroce_mr_range range(u32 key, u64 va, u32 bytes, u32 access = SROCE_ACCESS_REMOTE_WRITE) {
    return {&dev.memory, &pd, 1, key, bytes, va, access};
  }
  static sroce_payload payload(const std::vector<u8>& bytes) {
    sroce_payload from = {};
    from.at = bytes.data();
    from.piece_bytes = from.left_bytes = bytes.size();
    return from;
  }
  sroce_mem_status place(u32 key, u64 va, const std::vector<u8>& bytes) {
    const sroce_mr_range to = range(key, va, bytes.size());
    sroce_payload from = payload(bytes);
    return sroce_memory_place(&to, &from, bytes.size());
  }
  sroce_mem_status flush(u32 access) {
    const sroce_mr_range all = range(mr->rkey, 0, 0, access);
    return sroce_memory_flush(&all);
  }
  static void note_write_back(void* at, size_t bytes) {
    for (u32 i = 0; i < PAGES; i++) {
      u8* block = self->blocks.blocks[i].get();
      u8* first = static_cast<u8*>(at);
      if (first < block || first >= block + PAGE_SIZE) continue;
      self->written_back.push_back(
          {i * PAGE_SIZE + u64(first - block), std::vector<u8>(first, first + bytes)});
    }
  }
  void expect_written_back(const std::vector<WrittenBack>& wanted) {
    ASSERT_EQ(wanted.size(), written_back.size());
    EXPECT_EQ(wanted.size(), stand_in_pmem.waits);
    for (u32 i = 0; i < wanted.size(); i++) {
      EXPECT_EQ(wanted[i].offset, written_back[i].offset) << i;
      EXPECT_EQ(wanted[i].bytes, written_back[i].bytes) << i;
    }
  }

  Blocks blocks{PAGES, PAGE_SIZE};
  std::vector<u64> pages;
  scatterlist list[2] = {{PHYSICAL, 2 * PAGE_SIZE}, {PHYSICAL + 8 * PAGE_SIZE, PAGE_SIZE}};
  sroce_device dev = {};
  ib_pd pd = {};
  ib_mr* mr = nullptr;
  std::vector<WrittenBack> written_back;
  static inline Pmem* self;
};

TEST_F(Pmem, RegionOfPersistentMemoryPermitsAFlush) {
  ASSERT_EQ(0, reg(PERSISTENT));
  EXPECT_EQ(SROCE_MEM_OK, flush(SROCE_ACCESS_FLUSH_PERSISTENT));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, flush(SROCE_ACCESS_FLUSH_GLOBAL));
}

TEST_F(Pmem, MemoryOfFirmwareWithoutNfitIsPersistentToo) {
  stand_in_pmem.desc = IORES_DESC_PERSISTENT_MEMORY_LEGACY;
  ASSERT_EQ(0, reg(PERSISTENT));
  EXPECT_EQ(SROCE_MEM_OK, place(mr->rkey, VA, {1}));
  EXPECT_EQ(1u, written_back.size());
}

TEST_F(Pmem, OrdinaryMemoryPermitsNone) {
  stand_in_pmem.bytes = 0;
  EXPECT_EQ(-EINVAL, reg(PERSISTENT));
  ASSERT_EQ(0, reg(WRITABLE));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, flush(SROCE_ACCESS_FLUSH_PERSISTENT));
}

TEST_F(Pmem, PersistentMemoryThatTheKernelUsesAsRamPermitsNone) {
  list[1].is_ram = true;
  EXPECT_EQ(-EINVAL, reg(PERSISTENT));
}

TEST_F(Pmem, EachPageMustBePersistent) {
  stand_in_pmem.bytes = 8 * PAGE_SIZE;
  EXPECT_EQ(-EINVAL, reg(PERSISTENT)) << "the last page is not";
  stand_in_pmem.start += PAGE_SIZE;
  stand_in_pmem.bytes = 16 * PAGE_SIZE;
  EXPECT_EQ(-EINVAL, reg(PERSISTENT)) << "the first page is not";
  stand_in_pmem.start = PHYSICAL;
  stand_in_pmem.bytes = PAGE_SIZE;
  stand_in_umem.sgt_append.sgt.nents = 1;
  EXPECT_EQ(-EINVAL, reg(PERSISTENT)) << "the second page is not";
}

TEST_F(Pmem, RegionWithoutMemoryPermitsAFlush) {
  ASSERT_EQ(0, reg(PERSISTENT, 0));
  EXPECT_EQ(SROCE_MEM_OK, flush(SROCE_ACCESS_FLUSH_PERSISTENT));
  EXPECT_EQ(0, rereg(IB_MR_REREG_ACCESS, PERSISTENT | IB_ACCESS_REMOTE_READ));
}

TEST_F(Pmem, MemoryThatIsPagedOnDemandPermitsNone) {
  EXPECT_EQ(-EOPNOTSUPP, reg((PERSISTENT & ~IB_ACCESS_MW_BIND) | IB_ACCESS_ON_DEMAND));
}

TEST_F(Pmem, CopiesAreWrittenBackOnceTheyAreDone) {
  ASSERT_EQ(0, reg(PERSISTENT));
  EXPECT_EQ(SROCE_MEM_OK, place(mr->rkey, VA + PAGE_SIZE - 2, {1, 2, 3}));
  expect_written_back({{PAGE_SIZE - 2, {1, 2}}, {PAGE_SIZE, {3}}});
}

TEST_F(Pmem, CopiesToOtherRegionsAreNot) {
  ASSERT_EQ(0, reg(WRITABLE));
  EXPECT_EQ(SROCE_MEM_OK, place(mr->rkey, VA, {1, 2, 3}));
  expect_written_back({});
}

TEST_F(Pmem, PiecesBeforeAWrongOneAreWrittenBack) {
  ASSERT_EQ(0, reg(PERSISTENT));
  const std::vector<u8> bytes = {1, 2, 3, 4};
  const sroce_mr_range to = range(mr->rkey, VA, bytes.size());
  sroce_payload from = payload(bytes);
  from.piece_bytes = from.left_bytes = 2;
  from.checked = true;
  from.segment_written = [](sroce_payload* payload) { return payload->pieces < 1; };
  EXPECT_EQ(SROCE_MEM_BAD_PAYLOAD, sroce_memory_place(&to, &from, bytes.size()));
  expect_written_back({{0, {1, 2, 3, 4}}});
}

TEST_F(Pmem, ReceivedMessagesAreWrittenBack) {
  ASSERT_EQ(0, reg(PERSISTENT));
  const sroce_sge sge = {VA + 8, 4, mr->lkey};
  const std::vector<u8> bytes = {5, 6};
  sroce_payload from = payload(bytes);
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_scatter(&dev.memory, &pd, &sge, 1, 1, &from, 2));
  expect_written_back({{9, {5, 6}}});
}

TEST_F(Pmem, AtomicsAreWrittenBack) {
  ASSERT_EQ(0, reg(PERSISTENT));
  u64 original;
  const sroce_mr_range at = range(mr->rkey, VA + 8, 8, SROCE_ACCESS_REMOTE_ATOMIC);
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_atomic(&at, SROCE_OP_FETCH_ADD, 0, 7, &original));
  expect_written_back({{8, {7, 0, 0, 0, 0, 0, 0, 0}}});
  const sroce_mr_range beyond =
      range(mr->rkey, VA + PAGES * PAGE_SIZE, 8, SROCE_ACCESS_REMOTE_ATOMIC);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, sroce_memory_atomic(&beyond, SROCE_OP_FETCH_ADD, 0, 7, &original));
  EXPECT_EQ(1u, written_back.size());
}

TEST_F(Pmem, ReadsWriteNothingBack) {
  ASSERT_EQ(0, reg(PERSISTENT | IB_ACCESS_REMOTE_READ));
  u8 to[8];
  sroce_mr_ref mr_ref;
  sroce_crc_writer writer = {};
  writer.to = to;
  sroce_mr_ref_init(&mr_ref, &dev.memory, &pd, 1);
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_fetch(&mr_ref, mr->rkey, VA, &writer, sizeof(to)));
  sroce_mr_ref_put(&mr_ref);
  expect_written_back({});
}

TEST_F(Pmem, CopiesToAWindowAreWrittenBackAsThoseToItsRegion) {
  for (const int access : {PERSISTENT, WRITABLE}) {
    written_back.clear();
    ASSERT_EQ(0, reg(access));
    sroce_region* window = sroce_region_create(SROCE_REGION_WINDOW_1, &pd);
    ASSERT_EQ(0, sroce_region_publish(&dev.memory, window));
    sroce_bind_mw bind = {};
    bind.addr = VA;
    bind.length = 8;
    bind.lkey = mr->lkey;
    bind.rkey = bind.new_rkey = window->key;
    bind.access = SROCE_ACCESS_REMOTE_WRITE;
    EXPECT_EQ(SROCE_MEM_OK, sroce_mw_bind(&dev.memory, &pd, 1, &bind));
    EXPECT_EQ(SROCE_MEM_OK, place(window->key, VA, {9}));
    EXPECT_EQ(access == PERSISTENT ? 1u : 0u, written_back.size());
    sroce_region_destroy(&dev.memory, window);
    EXPECT_EQ(0, sroce_dereg_mr(mr, nullptr));
    mr = nullptr;
  }
}

TEST_F(Pmem, CopiesToAReregisteredRegionAreWrittenBack) {
  ASSERT_EQ(0, reg(PERSISTENT));
  EXPECT_EQ(0, rereg(IB_MR_REREG_ACCESS, PERSISTENT | IB_ACCESS_REMOTE_READ));
  EXPECT_EQ(SROCE_MEM_OK, place(mr->rkey, VA, {1}));
  expect_written_back({{0, {1}}});
  EXPECT_EQ(0, rereg(IB_MR_REREG_ACCESS, WRITABLE));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, flush(SROCE_ACCESS_FLUSH_PERSISTENT));
}

// Earlier copies are not written back, wherever the new memory is.
TEST_F(Pmem, ReregistrationAddsNoPermission) {
  ASSERT_EQ(0, reg(WRITABLE));
  EXPECT_EQ(-EOPNOTSUPP, rereg(IB_MR_REREG_ACCESS, PERSISTENT));
  EXPECT_EQ(-EOPNOTSUPP, rereg(IB_MR_REREG_TRANS | IB_MR_REREG_ACCESS, PERSISTENT));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, flush(SROCE_ACCESS_FLUSH_PERSISTENT)) << "nothing has changed";
  EXPECT_EQ(SROCE_MEM_OK, place(mr->rkey, VA, {1}));
  expect_written_back({});
}

TEST_F(Pmem, OtherMemoryOfAReregisteredRegionMustBePersistentToo) {
  ASSERT_EQ(0, reg(PERSISTENT));
  stand_in_pmem.bytes = 8 * PAGE_SIZE;
  EXPECT_EQ(-EINVAL, rereg(IB_MR_REREG_TRANS, 0));
  stand_in_umem.sgt_append.sgt.nents = 1;
  EXPECT_EQ(0, rereg(IB_MR_REREG_TRANS, 0, 2 * PAGE_SIZE));
  EXPECT_EQ(SROCE_MEM_OK, place(mr->rkey, VA, {1}));
  EXPECT_EQ(1u, written_back.size());
}

}  // namespace
