// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Contexts of processes, and rings that these map: kernel/verbs/ucontext.c.
#include <gtest/gtest.h>

#include "stand_in/mapping.h"

extern "C" {
#include "uapi/sroce_abi.h"
#include "verbs/verbs.h"
}

namespace {

struct Ucontext : testing::Test {
  Ucontext() {
    stand_in = {};
    stand_in_mapping = {};
    udata.inbuf = &cmd;
    udata.inlen = sizeof(cmd);
    udata.outbuf = &resp;
    udata.outlen = sizeof(resp);
    udata.context = &context.ibuc;
    context.ibuc.device = &device;
    cmd.abi_version = SROCE_ABI_VERSION;
  }
  ~Ucontext() override { stand_in = {}; }
  bool open() {
    context.is_native = false;
    EXPECT_EQ(0, sroce_alloc_ucontext(&context.ibuc, &udata));
    EXPECT_EQ(context.is_native, sroce_is_native(&udata));
    return context.is_native;
  }

  ib_device device = {};
  sroce_ucontext context = {};
  ib_udata udata = {};
  sroce_alloc_ucontext_cmd cmd = {};
  sroce_alloc_ucontext_resp resp = {};
};

TEST_F(Ucontext, ProcessThatKnowsOurAbiIsNative) {
  EXPECT_TRUE(open());
  EXPECT_EQ(u32{SROCE_ABI_VERSION}, resp.abi_version);
}

TEST_F(Ucontext, LibrxeIsNot) {
  udata.inlen = udata.outlen = 0;
  udata.inbuf = nullptr;
  EXPECT_FALSE(open());
  EXPECT_EQ(0u, resp.abi_version);
}

TEST_F(Ucontext, BothStructuresMustFit) {
  udata.inlen--;
  EXPECT_FALSE(open());
  udata.inlen++;
  udata.outlen--;
  EXPECT_FALSE(open());
  EXPECT_EQ(0u, resp.abi_version);
}

TEST_F(Ucontext, OtherVersionsAndReservedBitsAreNotOurs) {
  cmd.abi_version++;
  EXPECT_FALSE(open());
  cmd.abi_version -= 2;
  EXPECT_FALSE(open());
  cmd.abi_version++;
  cmd.reserved = 1;
  EXPECT_FALSE(open());
  EXPECT_EQ(0u, resp.abi_version) << "a response would say the contrary";
}

TEST_F(Ucontext, MemoryThatCannotBeReachedIsNoError) {
  udata.error = -EFAULT;
  EXPECT_FALSE(open());
}

TEST_F(Ucontext, ConsumersInTheKernelAreNotNative) { EXPECT_FALSE(sroce_is_native(nullptr)); }

// --- mappings -----------------------------------------------------------------------------------

struct Mapping : Ucontext {
  Mapping() {
    vma.vm_flags = VM_SHARED;
    vma.vm_start = 0x7f0000000000;
    vma.vm_file = &device_file;
  }
  ~Mapping() override {
    if (entry) sroce_mmap_remove(entry);
    if (ring.memory) sroce_ring_fini(&ring);
    EXPECT_EQ(0, stand_in_mapping.file.refs);
    EXPECT_EQ(0u, stand_in.uncharged);
  }
  // A ring whose memory is complete from the start.
  void use_work_queue() {
    ASSERT_EQ(0, sroce_ring_init(&ring, 100, 128));
    offer();
  }
  // A ring of librxe, in shared memory.
  void use_shmem() {
    stand_in_shmem = {};
    ASSERT_EQ(0, sroce_ring_init_shmem(&ring, 100, 128));
    offer();
  }
  void use_cq(u32 entries) {
    ASSERT_EQ(0, sroce_ring_init_cq(&ring, entries, 64, true));
    offer();
  }
  void offer() {
    info = {1, 2, 3};
    entry = sroce_mmap_insert(&udata, &ring, &info);
    ASSERT_FALSE(IS_ERR(entry));
    vma.vm_pgoff = info.offset / PAGE_SIZE;
    vma.vm_end = vma.vm_start + info.size;
  }
  void withdraw() {
    sroce_mmap_remove(entry);
    entry = nullptr;
  }
  int map() { return sroce_mmap(&context.ibuc, &vma); }
  void unmap() { fput(vma.vm_file); }
  u32 refs() const { return ring.memory->refs.refs.count; }
  // The process looks at a page of a ring that grows.
  vm_fault_t touch(u32 page) {
    vm_fault fault = {&vma, page};
    const vm_fault_t result = vma.vm_ops->fault(&fault);
    seen = fault.page;
    return result;
  }

  sroce_ring ring = {};
  mminfo info = {};
  sroce_mmap_entry* entry = nullptr;
  file device_file = {};
  vm_area_struct vma = {};
  page* seen = nullptr;
};

TEST_F(Mapping, EntryTellsWhereTheRingIs) {
  use_work_queue();
  EXPECT_EQ(5 * PAGE_SIZE, info.offset);
  EXPECT_EQ(ring.memory->bytes, info.size);
  EXPECT_EQ(0u, info.pad);
  EXPECT_EQ(&context.ibuc, stand_in_mapping.context);
  EXPECT_EQ(PAGE_SIZE, stand_in_mapping.entry_bytes) << "an offset needs one slot of ib_core";
  EXPECT_EQ(2u, refs());
  withdraw();
  EXPECT_EQ(1u, refs());
}

TEST_F(Mapping, FailedEntryLeavesNothing) {
  ASSERT_EQ(0, sroce_ring_init(&ring, 100, 128));
  stand_in.fail_allocation = 1;
  EXPECT_EQ(-ENOMEM, PTR_ERR(sroce_mmap_insert(&udata, &ring, &info)));
  stand_in_mapping.entry_error = -EBUSY;
  EXPECT_EQ(-EBUSY, PTR_ERR(sroce_mmap_insert(&udata, &ring, &info)));
  EXPECT_EQ(1u, refs());
}

TEST_F(Mapping, RingWithoutAnEntryIsRemoved) { sroce_mmap_remove(nullptr); }

TEST_F(Mapping, AllPagesOfAWorkQueue) {
  use_work_queue();
  ASSERT_EQ(0, map());
  EXPECT_EQ(info.size / PAGE_SIZE, stand_in_mapping.inserted);
  EXPECT_LT(1u, stand_in_mapping.inserted);
  char* memory = static_cast<char*>(ring.memory->buf);
  EXPECT_EQ(vmalloc_to_page(memory), stand_in_mapping.first);
  EXPECT_EQ(vmalloc_to_page(memory + info.size - PAGE_SIZE), stand_in_mapping.last);
  EXPECT_EQ(vma.vm_end, stand_in_mapping.end);
  EXPECT_TRUE(vma.vm_flags & VM_DONTEXPAND && vma.vm_flags & VM_DONTDUMP);
  EXPECT_EQ(&device_file, vma.vm_file) << "the mapping does not need the module";
  EXPECT_EQ(2u, refs()) << "its pages do";
  EXPECT_EQ(1, stand_in_mapping.entry->refs);
}

TEST_F(Mapping, AllPagesOfASmallCq) {
  use_cq(255);
  ASSERT_EQ(0, map());
  EXPECT_EQ(info.size / PAGE_SIZE, stand_in_mapping.inserted);
  EXPECT_EQ(ring.memory->pages[0], static_cast<void*>(stand_in_mapping.first));
  EXPECT_EQ(ring.memory->pages[info.size / PAGE_SIZE - 1],
            static_cast<void*>(stand_in_mapping.last));
}

TEST_F(Mapping, FailureInTheMiddleEndsIt) {
  use_work_queue();
  stand_in_mapping.insert_error_at = 2;
  EXPECT_EQ(-ENOMEM, map());
  EXPECT_EQ(1u, stand_in_mapping.inserted);
  EXPECT_EQ(1, stand_in_mapping.entry->refs);
}

TEST_F(Mapping, MustBeSharedAndAsLongAsTheRing) {
  use_work_queue();
  vma.vm_flags = 0;
  EXPECT_EQ(-EINVAL, map()) << "a copy on write would never change";
  vma.vm_flags = VM_SHARED;
  vma.vm_end -= PAGE_SIZE;
  EXPECT_EQ(-EINVAL, map());
  vma.vm_end += 2 * PAGE_SIZE;
  EXPECT_EQ(-EINVAL, map());
  EXPECT_EQ(0u, stand_in_mapping.inserted);
  EXPECT_EQ(1, stand_in_mapping.entry->refs);
}

TEST_F(Mapping, OffsetMustBeThatOfARing) {
  use_work_queue();
  vma.vm_pgoff++;
  EXPECT_EQ(-EINVAL, map());
  vma.vm_pgoff--;
  sroce_ucontext other = {};
  other.ibuc.device = &device;
  EXPECT_EQ(-EINVAL, sroce_mmap(&other.ibuc, &vma)) << "of this process";
  withdraw();
  EXPECT_EQ(-EINVAL, map());
}

TEST_F(Mapping, SharedMemoryIsMappedByItsFile) {
  use_shmem();
  file* const shmem = ring.memory->file;
  ASSERT_EQ(0, map());
  EXPECT_EQ(shmem, vma.vm_file);
  EXPECT_EQ(shmem, stand_in_shmem.mapped);
  EXPECT_EQ(0u, vma.vm_pgoff) << "the file begins with the ring";
  EXPECT_EQ(0u, stand_in_mapping.inserted);
  EXPECT_EQ(2u, refs()) << "the mapping needs the file only, and no module";
  EXPECT_TRUE(vma.vm_flags & VM_DONTEXPAND && vma.vm_flags & VM_DONTDUMP);
  withdraw();
  sroce_ring_fini(&ring);
  EXPECT_EQ(1, stand_in_shmem.files);
  unmap();
  EXPECT_EQ(0, stand_in_shmem.files);
}

TEST_F(Mapping, SharedMemoryThatCannotBeMapped) {
  use_shmem();
  stand_in_shmem.map_error = -ENOMEM;
  EXPECT_EQ(-ENOMEM, map());
  unmap();  // as mmap() does
  EXPECT_EQ(1, stand_in_mapping.entry->refs);
  withdraw();
  sroce_ring_fini(&ring);
  EXPECT_EQ(0, stand_in_shmem.files);
}

constexpr u32 LARGE = (1 << 20) / 64 + 1;

TEST_F(Mapping, LargeCqGrowsByFaults) {
  use_cq(LARGE);
  ASSERT_TRUE(ring.memory->grows);
  ASSERT_EQ(0, map());
  EXPECT_EQ(0u, stand_in_mapping.inserted);
  EXPECT_EQ(0u, vma.vm_pgoff) << "faults count pages from there";
  EXPECT_EQ(3u, refs());
  EXPECT_EQ(THIS_MODULE, stand_in_mapping.fops->owner);
  EXPECT_EQ(nullptr, ring.memory->pages[30]);
  EXPECT_EQ(0u, touch(30));
  EXPECT_EQ(ring.memory->pages[30], static_cast<void*>(seen));
  EXPECT_NE(nullptr, seen);
  EXPECT_EQ(1u, stand_in_mapping.page_refs) << "the mapping's";
  page* const before = seen;
  EXPECT_EQ(0u, touch(30));
  EXPECT_EQ(before, seen);
  unmap();
  EXPECT_EQ(2u, refs());
}

TEST_F(Mapping, OutlivesTheRing) {
  use_cq(LARGE);
  ASSERT_EQ(0, map());
  withdraw();
  sroce_ring_fini(&ring);
  EXPECT_EQ(0u, touch(0));
  unmap();
  ring.memory = nullptr;
}

TEST_F(Mapping, FaultsAreBounded) {
  use_cq(LARGE);
  ASSERT_EQ(0, map());
  const u32 pages = info.size / PAGE_SIZE;
  EXPECT_EQ(0u, touch(pages - 1));
  EXPECT_EQ(VM_FAULT_SIGBUS, touch(pages));
  stand_in.fail_allocation = 1;
  EXPECT_EQ(VM_FAULT_SIGBUS, touch(40)) << "not to be tried again for ever";
  EXPECT_EQ(0u, touch(40));
  unmap();
}

TEST_F(Mapping, FileThatCannotBeMadeLeavesNothing) {
  use_cq(LARGE);
  stand_in_mapping.file_error = -ENFILE;
  EXPECT_EQ(-ENFILE, map());
  EXPECT_EQ(2u, refs());
  EXPECT_EQ(&device_file, vma.vm_file);
  EXPECT_EQ(1, stand_in_mapping.entry->refs);
}

}  // namespace
