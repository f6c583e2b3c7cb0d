// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Regions over a DMA-BUF: kernel/memory/dmabuf.c, registered by kernel/verbs/mr.c.
#include "stand_in/dmabuf.h"

#include <gtest/gtest.h>

#include "stand_in/umem.h"
#include "unit/kernel/memory.h"

extern "C" {
#include "datapath/device.h"
#include "verbs/verbs.h"
}

namespace {

constexpr int ALL_ACCESS = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
                           IB_ACCESS_REMOTE_ATOMIC;
constexpr u64 BYTES = 4 * PAGE_SIZE;
constexpr u64 VA = 0x123000;

struct DmabufMr : testing::TestWithParam<bool> {
  DmabufMr() {
    stand_in = {};
    stand_in_dmabuf = {};
    stand_in_dmabuf.map.vaddr = memory.blocks[0].get();
    stand_in_dmabuf.size = BYTES;
    stand_in_dmabuf.mode = FMODE_READ | FMODE_WRITE;
    stand_in_dmabuf.has_vmap = true;
    stand_in_dmabuf.moves = GetParam();
    sroce_memory_init(&dev.memory);
    pd.device = &dev.ibdev;
  }
  ~DmabufMr() override {
    sroce_memory_fini(&dev.memory);
    EXPECT_EQ(0, stand_in_dmabuf.refs);
    EXPECT_EQ(0, stand_in_dmabuf.attachments);
    EXPECT_EQ(0, stand_in_dmabuf.pins);
    EXPECT_EQ(0, stand_in_dmabuf.maps);
    EXPECT_EQ(0, stand_in_dmabuf.accesses);
    EXPECT_FALSE(stand_in_dmabuf.misused);
    EXPECT_EQ(0u, stand_in.uncharged);
    stand_in = {};
  }

  ib_mr* reg(u64 offset, u64 length, u64 va = VA, int access = ALL_ACCESS,
             int fd = STAND_IN_DMABUF_FD, ib_dmah* dmah = nullptr) {
    ib_mr* mr = sroce_reg_user_mr_dmabuf(&pd, offset, length, va, fd, access, dmah);
    error = IS_ERR(mr) ? PTR_ERR(mr) : 0;
    if (error) return nullptr;
    mr->device = pd.device;
    mr->pd = &pd;
    return mr;
  }
  int error_of(ib_mr* mr) {
    if (mr) dereg(mr);
    return mr ? 0 : error;
  }
  static void dereg(ib_mr* mr) { EXPECT_EQ(0, sroce_dereg_mr(mr, nullptr)); }
  sroce_mem_status write(u32 rkey, u64 va, const std::vector<u8>& bytes) {
    const sroce_mr_range to = {
        &dev.memory, &pd, 1, rkey, u32(bytes.size()), va, SROCE_ACCESS_REMOTE_WRITE};
    sroce_payload from = {};
    from.at = bytes.data();
    from.piece_bytes = from.left_bytes = bytes.size();
    return sroce_memory_place(&to, &from, bytes.size());
  }

  sroce_device dev = {};
  ib_pd pd = {};
  Blocks memory{1, BYTES};
  int error = 0;
};
INSTANTIATE_TEST_SUITE_P(FixedAndMoving, DmabufMr, testing::Bool());

TEST_P(DmabufMr, IsThePartThatWasAskedFor) {
  ib_mr* mr = reg(PAGE_SIZE + 100, 2 * PAGE_SIZE, VA + 100);
  ASSERT_NE(nullptr, mr);
  EXPECT_EQ(VA + 100, mr->iova) << "for the list of resources";
  EXPECT_EQ(2 * PAGE_SIZE, mr->length);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 100, {1, 2}));
  EXPECT_EQ(1, memory[PAGE_SIZE + 100]);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 100 + 2 * PAGE_SIZE - 1, {3}));
  EXPECT_EQ(3, memory[3 * PAGE_SIZE + 99]);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + PAGE_SIZE - 1, {4, 5})) << "across two pages";
  EXPECT_EQ(5, memory[2 * PAGE_SIZE]);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(mr->rkey, VA + 99, {6}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, write(mr->rkey, VA + 100 + 2 * PAGE_SIZE, {6}));
  dereg(mr);
}

TEST_P(DmabufMr, BufferIsHeldUntilItIsDeregistered) {
  ib_mr* mr = reg(0, BYTES);
  ASSERT_NE(nullptr, mr);
  EXPECT_EQ(1, stand_in_dmabuf.refs);
  EXPECT_EQ(1, stand_in_dmabuf.attachments) << "an exporter without pin() may pin it for that";
  EXPECT_EQ(GetParam(), stand_in_dmabuf.pins);
  EXPECT_EQ(1, stand_in_dmabuf.maps);
  EXPECT_EQ(1, stand_in_dmabuf.accesses);
  dereg(mr);
  EXPECT_EQ(0, stand_in_dmabuf.refs);
}

// The region has one block, whose offset in the buffer may need more than 32 bits.
TEST_P(DmabufMr, PartMayBeginBeyond4GiB) {
  constexpr u64 FAR = u64{5} << 30;
  stand_in_dmabuf.size = FAR + BYTES;
  stand_in_dmabuf.map.vaddr = memory.blocks[0].get() - FAR;
  ib_mr* mr = reg(FAR, BYTES);
  ASSERT_NE(nullptr, mr);
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA + 9, {1}));
  EXPECT_EQ(1, memory[9]);
  dereg(mr);
}

TEST_P(DmabufMr, RangeMustBeInTheBuffer) {
  EXPECT_EQ(0, error_of(reg(0, BYTES)));
  EXPECT_EQ(0, error_of(reg(BYTES, 0)));
  EXPECT_EQ(0, error_of(reg(BYTES - 1, 1)));
  EXPECT_EQ(-EINVAL, error_of(reg(0, BYTES + 1)));
  EXPECT_EQ(-EINVAL, error_of(reg(BYTES, 1)));
  EXPECT_EQ(-EINVAL, error_of(reg(BYTES + 1, 0)));
  EXPECT_EQ(-EINVAL, error_of(reg(PAGE_SIZE, U64_MAX - PAGE_SIZE + 1, 0)));
  EXPECT_EQ(-EINVAL, error_of(reg(0, PAGE_SIZE, U64_MAX))) << "the address wraps";
}

TEST_P(DmabufMr, FileMustPermitTheAccess) {
  EXPECT_EQ(-EBADF, error_of(reg(0, BYTES, VA, ALL_ACCESS, 3)));
  stand_in_dmabuf.mode = FMODE_READ;
  EXPECT_EQ(0, error_of(reg(0, BYTES, VA, IB_ACCESS_REMOTE_READ)));
  for (const int access : {IB_ACCESS_LOCAL_WRITE, IB_ACCESS_REMOTE_WRITE, IB_ACCESS_REMOTE_ATOMIC})
    EXPECT_EQ(-EACCES, error_of(reg(0, BYTES, VA, access))) << access;
  stand_in_dmabuf.mode = FMODE_WRITE;
  EXPECT_EQ(-EACCES, error_of(reg(0, BYTES))) << "every region can be read locally";
}

TEST_P(DmabufMr, MustBeMemoryOfTheCpu) {
  stand_in_dmabuf.has_vmap = false;
  EXPECT_EQ(-EOPNOTSUPP, error_of(reg(0, BYTES)));
  stand_in_dmabuf.has_vmap = true;
  stand_in_dmabuf.map.is_iomem = true;
  EXPECT_EQ(-EOPNOTSUPP, error_of(reg(0, BYTES)));
  stand_in_dmabuf.map = {memory.blocks[0].get() + 8, false};
  EXPECT_EQ(-EOPNOTSUPP, error_of(reg(0, PAGE_SIZE)));
}

TEST_P(DmabufMr, ErrorsOfTheExporterUndoAll) {
  stand_in_dmabuf.access_error = -EBUSY;
  EXPECT_EQ(-EBUSY, error_of(reg(0, BYTES)));
  stand_in_dmabuf.access_error = 0;
  stand_in_dmabuf.vmap_error = -ENOMEM;
  EXPECT_EQ(-ENOMEM, error_of(reg(0, BYTES)));
  stand_in_dmabuf.vmap_error = 0;
  stand_in_dmabuf.pin_error = -ENOSPC;
  EXPECT_EQ(GetParam() ? -ENOSPC : 0, error_of(reg(0, BYTES)));
  stand_in_dmabuf.attach_error = -EBUSY;
  EXPECT_EQ(-EBUSY, error_of(reg(0, BYTES)));
}

TEST_P(DmabufMr, AllocationsThatFailUndoAll) {
  u32 failures = 0;
  for (u32 n = 1; n < 20; n++) {
    stand_in.fail_allocation = n;
    failures += error_of(reg(0, BYTES)) == -ENOMEM;
    stand_in.fail_allocation = 0;
  }
  EXPECT_GE(failures, 4u);
}

TEST_P(DmabufMr, HasNoWindowsAndNoPagingAndNoHandle) {
  EXPECT_EQ(-EOPNOTSUPP, error_of(reg(0, BYTES, VA, ALL_ACCESS | IB_ACCESS_MW_BIND)));
  EXPECT_EQ(-EOPNOTSUPP, error_of(reg(0, BYTES, VA, IB_ACCESS_ON_DEMAND)));
  EXPECT_EQ(-EOPNOTSUPP, error_of(reg(0, BYTES, VA, ALL_ACCESS, STAND_IN_DMABUF_FD,
                                      reinterpret_cast<ib_dmah*>(this))));
}

TEST_P(DmabufMr, IsNotReregistered) {
  ib_mr* mr = reg(0, BYTES);
  ASSERT_NE(nullptr, mr);
  for (const int flags : {IB_MR_REREG_TRANS, IB_MR_REREG_PD, IB_MR_REREG_ACCESS})
    EXPECT_EQ(-EOPNOTSUPP, PTR_ERR(sroce_rereg_user_mr(mr, flags, 0, PAGE_SIZE, VA,
                                                       IB_ACCESS_REMOTE_READ, &pd, nullptr)));
  EXPECT_EQ(SROCE_MEM_OK, write(mr->rkey, VA, {1}));
  dereg(mr);
}

}  // namespace
