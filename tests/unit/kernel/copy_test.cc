// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Copies between packets and regions: kernel/memory/copy.c.
#include <gtest/gtest.h>

#include "unit/kernel/memory.h"

extern "C" {
#include "stand_in/skb.h"
}

namespace {

constexpr u64 IOVA = 0x7000000000;
constexpr u32 BLOCK = 4096;

struct Copy : testing::Test {
  sroce_mr_range range(u32 key, u64 va, u32 bytes, u32 access = SROCE_ACCESS_REMOTE_WRITE) {
    return {&memory.table, memory.pd, 0, key, bytes, va, access};
  }
  static sroce_payload payload(const std::vector<u8>& bytes) {
    sroce_payload from = {};
    from.at = bytes.data();
    from.piece_bytes = from.left_bytes = bytes.size();
    return from;
  }
  sroce_mem_status place(u32 key, u64 va, const std::vector<u8>& bytes,
                         u32 access = SROCE_ACCESS_REMOTE_WRITE) {
    const sroce_mr_range to = range(key, va, bytes.size(), access);
    sroce_payload from = payload(bytes);
    return sroce_memory_place(&to, &from, bytes.size());
  }
  sroce_mem_status fetch(u32 key, u64 va, u32 bytes, std::vector<u8>* to) {
    sroce_mr_ref mr_ref;
    sroce_crc_writer writer = {};
    to->assign(bytes, 0);
    writer.to = to->data();
    sroce_mr_ref_init(&mr_ref, &memory.table, memory.pd, 0);
    const sroce_mem_status status = sroce_memory_fetch(&mr_ref, key, va, &writer, bytes);
    sroce_mr_ref_put(&mr_ref);
    return status;
  }
  sroce_mem_status scatter(const std::vector<sroce_sge>& list, u32 offset, sroce_payload* from,
                           u32 bytes) {
    return sroce_memory_scatter(&memory.table, memory.pd, list.data(), list.size(), offset, from,
                                bytes);
  }
  void expect_untouched() {
    for (u32 i = 0; i < blocks.blocks.size() * BLOCK; i++) ASSERT_EQ(0, blocks[i]) << i;
  }
  void expect_all_closed() {
    for (sroce_region* region : memory.regions) EXPECT_EQ(1u, region->refs.count);
  }

  // Fetches from the region that the last fetch has opened, if the key is the same.
  struct Reference {
    explicit Reference(Memory& memory) {
      writer.to = to;
      sroce_mr_ref_init(&mr_ref, &memory.table, memory.pd, 0);
    }
    ~Reference() { sroce_mr_ref_put(&mr_ref); }
    sroce_mem_status fetch(u32 key, u64 va, u32 bytes) {
      return sroce_memory_fetch(&mr_ref, key, va, &writer, bytes);
    }
    u8 to[200] = {};
    sroce_crc_writer writer = {};
    sroce_mr_ref mr_ref;
  };

  static std::vector<u8> bytes_from(u8 first, u32 count) {
    std::vector<u8> bytes(count);
    for (u32 i = 0; i < count; i++) bytes[i] = first + i;
    return bytes;
  }

  Blocks blocks{3, BLOCK};
  Memory memory;
};

TEST_F(Copy, PlacesAcrossBlocksFromTheFirstOffset) {
  const u32 key = memory.add(blocks, IOVA, 2 * BLOCK, SROCE_ACCESS_REMOTE_WRITE, 100)->key;
  const std::vector<u8> bytes = bytes_from(1, BLOCK + 50);
  EXPECT_EQ(SROCE_MEM_OK, place(key, IOVA + 10, bytes));
  EXPECT_EQ(0, blocks[109]);
  for (u32 i = 0; i < bytes.size(); i++) ASSERT_EQ(bytes[i], blocks[110 + i]) << i;
  EXPECT_EQ(0, blocks[110 + bytes.size()]);
  expect_all_closed();
}

TEST_F(Copy, PlacesUpToTheLastByteAndNotBeyond) {
  const u32 key = memory.add(blocks, IOVA, 2 * BLOCK, SROCE_ACCESS_REMOTE_WRITE, 100)->key;
  EXPECT_EQ(SROCE_MEM_OK, place(key, IOVA + 2 * BLOCK - 4, {1, 2, 3, 4}));
  EXPECT_EQ(4, blocks[2 * BLOCK + 99]);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, place(key, IOVA + 2 * BLOCK - 3, {9, 9, 9, 9}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, place(key, IOVA - 1, {9}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, place(key, IOVA - 1, {9, 9}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, place(key, U64_MAX, {9, 9}));
  EXPECT_EQ(0, blocks[2 * BLOCK + 100]);
  EXPECT_EQ(0, blocks[99]);
  expect_all_closed();
}

TEST_F(Copy, WholeMessageOfTheFirstPacketMustFit) {
  const u32 key = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_WRITE)->key;
  const std::vector<u8> bytes = bytes_from(1, 50);
  sroce_mr_range to = range(key, IOVA, 101);
  sroce_payload from = payload(bytes);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, sroce_memory_place(&to, &from, 50));
  expect_untouched();
  to.bytes = 1;
  to.va = IOVA + 51;
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, sroce_memory_place(&to, &from, 50));
  expect_untouched();
}

TEST_F(Copy, PermissionDecidesAboutEachAccess) {
  std::vector<u8> read;
  const u32 readable = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_READ)->key;
  const u32 writable = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_WRITE)->key;
  const u32 local = memory.add(blocks, IOVA, 100, SROCE_ACCESS_LOCAL_WRITE)->key;
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, place(readable, IOVA, {1}));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, place(local, IOVA, {1}));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, fetch(writable, IOVA, 1, &read));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, fetch(local, IOVA, 1, &read));
  expect_untouched();
  EXPECT_EQ(SROCE_MEM_OK, fetch(readable, IOVA, 1, &read));
  EXPECT_EQ(SROCE_MEM_OK, place(writable, IOVA, {1}));
}

TEST_F(Copy, WrongKeyFailsUnlessNothingIsAccessed) {
  std::vector<u8> read;
  const u32 key = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_WRITE)->key ^ 1;
  EXPECT_EQ(SROCE_MEM_BAD_KEY, place(key, IOVA, {1}));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, fetch(key, IOVA, 1, &read));
  EXPECT_EQ(SROCE_MEM_OK, fetch(key, IOVA, 0, &read));
  sroce_mr_range to = range(key, IOVA, 0);
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_place(&to, nullptr, 0));
  to.bytes = 1;
  EXPECT_EQ(SROCE_MEM_BAD_KEY, sroce_memory_place(&to, nullptr, 0));
}

TEST_F(Copy, FetchesAndSumsAcrossBlocks) {
  const u32 key = memory.add(blocks, IOVA, 2 * BLOCK, SROCE_ACCESS_REMOTE_READ, 7)->key;
  const std::vector<u8> bytes = bytes_from(3, BLOCK + 9);
  for (u32 i = 0; i < bytes.size(); i++) blocks[11 + i] = bytes[i];
  std::vector<u8> to(bytes.size());
  sroce_crc_writer writer = {};
  writer.to = to.data();
  sroce_mr_ref mr_ref;
  sroce_mr_ref_init(&mr_ref, &memory.table, memory.pd, 0);
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_fetch(&mr_ref, key, IOVA + 4, &writer, bytes.size()));
  EXPECT_EQ(2u, memory.regions[0]->refs.count) << "kept open for the next packet";
  sroce_mr_ref_put(&mr_ref);
  EXPECT_EQ(bytes, to);
  EXPECT_EQ(crc32_le(0, bytes.data(), bytes.size()), sroce_crc_finish(&writer));
  expect_all_closed();
}

TEST_F(Copy, ReferenceChecksEachRangeAndFollowsTheKey) {
  Blocks other_blocks(1, BLOCK);
  const u32 key = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_READ)->key;
  const u32 other = memory.add(other_blocks, IOVA, 100, SROCE_ACCESS_REMOTE_READ)->key;
  blocks[0] = 1;
  other_blocks[0] = 2;
  {
    Reference reference(memory);
    EXPECT_EQ(SROCE_MEM_OK, reference.fetch(key, IOVA, 1));
    EXPECT_EQ(SROCE_MEM_OK, reference.fetch(other, IOVA, 1));
    EXPECT_EQ(SROCE_MEM_BAD_RANGE, reference.fetch(other, IOVA + 50, 51));
    EXPECT_EQ(1, reference.to[0]);
    EXPECT_EQ(2, reference.to[1]);
  }
  expect_all_closed();
}

TEST_F(Copy, RegionThatCanBeInvalidatedIsClosedAfterEachPlan) {
  for (const auto kind : {SROCE_REGION_USER, SROCE_REGION_FAST}) {
    sroce_region* region = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_READ, 0, kind);
    region->valid = true;
    {
      Reference reference(memory);
      EXPECT_EQ(SROCE_MEM_OK, reference.fetch(region->key, IOVA, 1));
      sroce_mr_ref_end_plan(&reference.mr_ref);
      EXPECT_EQ(kind == SROCE_REGION_USER ? 2u : 1u, region->refs.count);
      EXPECT_EQ(SROCE_MEM_OK, reference.fetch(region->key, IOVA, 1));
    }
    expect_all_closed();
  }
}

// A round of an XRC target serves queues of several protection domains.
TEST_F(Copy, OpenRegionIsOfItsProtectionDomainOnly) {
  const u32 key = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_READ)->key;
  {
    Reference reference(memory);
    EXPECT_EQ(SROCE_MEM_OK, reference.fetch(key, IOVA, 1));
    reference.mr_ref.pd = memory.other_pd;
    EXPECT_EQ(SROCE_MEM_BAD_KEY, reference.fetch(key, IOVA, 1));
  }
  expect_all_closed();
}

TEST_F(Copy, PayloadComesFromAllPiecesOfAnSkb) {
  const u32 key = memory.add(blocks, IOVA, 2 * BLOCK, SROCE_ACCESS_REMOTE_WRITE)->key;
  sk_buff* skb = alloc_skb(10, 0);
  for (u8 i = 0; i < 10; i++) *static_cast<u8*>(skb_put(skb, 1)) = i;
  sroce_payload from = {};
  from.skb = skb;
  from.offset = 4;
  const sroce_mr_range to = range(key, IOVA + BLOCK - 3, 6);
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_place(&to, &from, 6));
  for (u8 i = 0; i < 6; i++) EXPECT_EQ(4 + i, blocks[BLOCK - 3 + i]);
  EXPECT_EQ(10u, from.offset);
  kfree_skb(skb);
}

// Three pieces with gaps; the third is wrong.
TEST_F(Copy, PiecesAreSummedFromTheSecondOnUntilOneIsWrong) {
  static std::vector<u32> sums;
  sums.clear();
  const u32 key = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_WRITE)->key;
  const std::vector<u8> bytes = bytes_from(1, 3 * 8);
  sroce_payload from = payload(bytes);
  from.piece_bytes = from.left_bytes = 6;
  from.segment_written = [](sroce_payload* payload) {
    if (payload->pieces) sums.push_back(sroce_crc_finish(&payload->writer));
    payload->writer.crc = 0;
    payload->at += 2;
    return payload->pieces < 2;
  };
  const sroce_mr_range to = range(key, IOVA, 18);
  EXPECT_EQ(SROCE_MEM_BAD_PAYLOAD, sroce_memory_place(&to, &from, 18));
  EXPECT_EQ(2u, from.pieces);
  for (u32 i = 0; i < 12; i++) EXPECT_EQ(bytes[i / 6 * 8 + i % 6], blocks[i]);
  ASSERT_EQ(2u, sums.size());
  EXPECT_EQ(crc32_le(0, &bytes[8], 6), sums[0]);
  EXPECT_EQ(crc32_le(0, &bytes[16], 6), sums[1]);
  expect_all_closed();
}

TEST_F(Copy, AtomicsReturnTheOriginalValue) {
  const u32 key = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_ATOMIC)->key;
  const sroce_mr_range at = range(key, IOVA + 8, 8, SROCE_ACCESS_REMOTE_ATOMIC);
  u64 original = 99;
  blocks[8] = 5;
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_atomic(&at, SROCE_OP_FETCH_ADD, 0, 3, &original));
  EXPECT_EQ(5u, original);
  EXPECT_EQ(8, blocks[8]);
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_atomic(&at, SROCE_OP_COMPARE_SWAP, 7, 1, &original));
  EXPECT_EQ(8u, original);
  EXPECT_EQ(8, blocks[8]);
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_atomic(&at, SROCE_OP_COMPARE_SWAP, 8, 1, &original));
  EXPECT_EQ(8u, original);
  EXPECT_EQ(1, blocks[8]);
  expect_all_closed();
}

TEST_F(Copy, AtomicWriteReplacesTheEightBytes) {
  const u32 key = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_WRITE)->key;
  const sroce_mr_range at = range(key, IOVA + 8, 8, SROCE_ACCESS_REMOTE_WRITE);
  u64 original, value;
  EXPECT_EQ(SROCE_MEM_OK,
            sroce_memory_atomic(&at, SROCE_OP_ATOMIC_WRITE, 0, 0x0102030405060708, &original));
  memcpy(&value, &blocks[8], sizeof(value));
  EXPECT_EQ(0x0102030405060708u, value);
  EXPECT_EQ(0, blocks[7]);
  EXPECT_EQ(0, blocks[16]);
  expect_all_closed();
}

TEST_F(Copy, FlushNeedsAKeyARangeAndPermission) {
  const auto attempt = [&](u32 key, u64 va, u32 bytes) {
    const sroce_mr_range at = range(key, va, bytes, SROCE_ACCESS_FLUSH_GLOBAL);
    return sroce_memory_flush(&at);
  };
  const u32 key = memory.add(blocks, IOVA, 100, SROCE_ACCESS_FLUSH_GLOBAL)->key;
  const u32 writable = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_WRITE)->key;
  EXPECT_EQ(SROCE_MEM_OK, attempt(key, IOVA, 100));
  EXPECT_EQ(SROCE_MEM_OK, attempt(key, 0, 0)) << "the whole region";
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, attempt(key, IOVA + 1, 100));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, attempt(key ^ 1, 0, 0)) << "a key is needed for 0 bytes, too";
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, attempt(writable, IOVA, 100));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, attempt(writable, 0, 0));
  expect_untouched();
  expect_all_closed();
}

TEST_F(Copy, AtomicsNeedAlignmentPermissionAndRange) {
  u64 original;
  const auto attempt = [&](u32 key, u64 va) {
    const sroce_mr_range at = range(key, va, 8, SROCE_ACCESS_REMOTE_ATOMIC);
    return sroce_memory_atomic(&at, SROCE_OP_FETCH_ADD, 0, 1, &original);
  };
  const u32 key = memory.add(blocks, IOVA, 12, SROCE_ACCESS_REMOTE_ATOMIC)->key;
  const u32 shifted = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_ATOMIC, 4)->key;
  const u32 readable = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_READ)->key;
  EXPECT_EQ(SROCE_MEM_MISALIGNED, attempt(key, IOVA + 4));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, attempt(key, IOVA + 8));
  EXPECT_EQ(SROCE_MEM_BAD_KEY, attempt(key ^ 1, IOVA));
  EXPECT_EQ(SROCE_MEM_MISALIGNED, attempt(shifted, IOVA)) << "the memory is not aligned";
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, attempt(readable, IOVA));
  expect_untouched();
  expect_all_closed();
}

TEST_F(Copy, ScatterSkipsTheOffsetAndEmptyElements) {
  const u32 key = memory.add(blocks, IOVA, BLOCK, SROCE_ACCESS_LOCAL_WRITE)->key;
  const std::vector<u8> bytes = bytes_from(1, 6);
  sroce_payload from = payload(bytes);
  EXPECT_EQ(
      SROCE_MEM_OK,
      scatter({{IOVA, 4, key}, {0, 0, 0}, {IOVA + 100, 3, key}, {IOVA + 50, 9, key}}, 2, &from, 6));
  EXPECT_EQ(0, blocks[1]);
  EXPECT_EQ(1, blocks[2]);
  EXPECT_EQ(2, blocks[3]);
  EXPECT_EQ(0, blocks[4]);
  EXPECT_EQ(3, blocks[100]);
  EXPECT_EQ(5, blocks[102]);
  EXPECT_EQ(0, blocks[103]);
  EXPECT_EQ(6, blocks[50]);
  EXPECT_EQ(0, blocks[51]);
  EXPECT_EQ(SROCE_MEM_OK, from.fault);
  expect_all_closed();
}

TEST_F(Copy, ScatterNamesTheFaultOfTheElement) {
  const u32 key = memory.add(blocks, IOVA, 100, SROCE_ACCESS_LOCAL_WRITE)->key;
  const u32 readonly = memory.add(blocks, IOVA, 100, SROCE_ACCESS_REMOTE_WRITE)->key;
  const std::vector<u8> bytes(20, 9);
  const auto fault_of = [&](const std::vector<sroce_sge>& list) {
    sroce_payload from = payload(bytes);
    EXPECT_EQ(SROCE_MEM_BAD_LOCAL, scatter(list, 0, &from, bytes.size()));
    return from.fault;
  };
  EXPECT_EQ(SROCE_MEM_BAD_KEY, fault_of({{IOVA, 20, key ^ 1}}));
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, fault_of({{IOVA + 90, 20, key}}));
  EXPECT_EQ(SROCE_MEM_BAD_ACCESS, fault_of({{IOVA, 20, readonly}}));
  EXPECT_EQ(SROCE_MEM_BAD_LOCAL, fault_of({}));
  expect_untouched();
  EXPECT_EQ(SROCE_MEM_BAD_LOCAL, fault_of({{IOVA, 10, key}, {IOVA, 9, key}}));
  expect_all_closed();
}

TEST_F(Copy, GatherNeedsNoPermissionAndReadsElementsInOrder) {
  const u32 key = memory.add(blocks, IOVA, 100, 0)->key;
  for (u32 i = 0; i < 100; i++) blocks[i] = i;
  u8 to[16] = {};
  sroce_crc_writer writer = {};
  writer.to = to;
  sroce_mr_ref mr_ref;
  sroce_mr_ref_init(&mr_ref, &memory.table, memory.pd, 0);
  const sroce_sge list[] = {{IOVA + 10, 4, key}, {IOVA + 70, 4, key}};
  EXPECT_EQ(SROCE_MEM_OK, sroce_memory_gather(&mr_ref, list, 2, 1, &writer, 6));
  EXPECT_EQ(11, to[0]);
  EXPECT_EQ(13, to[2]);
  EXPECT_EQ(70, to[3]);
  EXPECT_EQ(72, to[5]);
  EXPECT_EQ(0, to[6]);
  EXPECT_EQ(SROCE_MEM_BAD_LOCAL, sroce_memory_gather(&mr_ref, list, 2, 3, &writer, 6));
  EXPECT_EQ(SROCE_MEM_BAD_LOCAL, mr_ref.fault);
  sroce_mr_ref_put(&mr_ref);
  expect_all_closed();
}

// A peer with an R_Key for all memory of the kernel may name an address without memory.
TEST_F(Copy, AllMemoryHasHoles) {
  sroce_region* region = sroce_region_create(SROCE_REGION_DMA, memory.pd);
  region->range = {0, U64_MAX, SROCE_ACCESS_REMOTE_WRITE | SROCE_ACCESS_REMOTE_ATOMIC};
  ASSERT_EQ(0, sroce_region_publish(&memory.table, region));
  memory.regions.push_back(region);
  Blocks two_pages(1, 2 * PAGE_SIZE);
  const u64 va = reinterpret_cast<u64>(&two_pages[0]);
  EXPECT_EQ(SROCE_MEM_OK, place(region->key, va + PAGE_SIZE - 2, {1, 2, 3, 4}));
  EXPECT_EQ(4, two_pages[PAGE_SIZE + 1]);
  stand_in.no_memory_at = &two_pages[PAGE_SIZE];
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, place(region->key, va + PAGE_SIZE - 2, {5, 6, 7, 8}));
  EXPECT_EQ(3, two_pages[PAGE_SIZE]);
  u64 original;
  const sroce_mr_range at = range(region->key, va + PAGE_SIZE, 8, SROCE_ACCESS_REMOTE_ATOMIC);
  EXPECT_EQ(SROCE_MEM_BAD_RANGE, sroce_memory_atomic(&at, SROCE_OP_FETCH_ADD, 0, 1, &original));
  expect_all_closed();
}

}  // namespace
