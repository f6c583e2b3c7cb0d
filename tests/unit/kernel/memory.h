// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A key table with regions over buffers of the test.
#ifndef TESTS_UNIT_KERNEL_MEMORY_H
#define TESTS_UNIT_KERNEL_MEMORY_H

#include <linux/bits.h>

extern "C" {
#include "memory/copy.h"
#include "memory/region.h"
}

#include <memory>
#include <vector>

// Memory of one region in blocks of @block_bytes, which are not adjacent: each is an allocation of
// its own, so that the sanitizer finds accesses beyond one.
struct Blocks {
  Blocks(u32 count, u32 block_bytes) : block_bytes(block_bytes) {
    for (u32 i = 0; i < count; i++) {
      void* block = aligned_alloc(block_bytes, block_bytes);
      memset(block, 0, block_bytes);
      blocks.emplace_back(static_cast<u8*>(block), free);
    }
  }
  u8& operator[](u64 offset) { return blocks[offset / block_bytes].get()[offset % block_bytes]; }

  u32 block_bytes;
  std::vector<std::unique_ptr<u8, void (*)(void*)>> blocks;
};

struct Memory {
  Memory() {
    stand_in = {};
    sroce_memory_init(&table);
  }
  ~Memory() {
    // A window is destroyed before its region, which was added before it.
    while (!regions.empty()) remove(regions.back());
    sroce_memory_fini(&table);
    EXPECT_EQ(0u, stand_in.uncharged);
    stand_in = {};
  }

  // Publishes a region of @length bytes at @iova, which begin at @first_offset of @blocks.
  sroce_region* add(Blocks& blocks, u64 iova, u64 length, u32 access, u32 first_offset = 0,
                    sroce_region_kind kind = SROCE_REGION_USER) {
    sroce_region* region = sroce_region_create(kind, pd);
    list(&region->pages, blocks, first_offset);
    if (kind == SROCE_REGION_FAST) sroce_page_list_alloc(&region->staged, region->pages.capacity);
    region->range = {iova, length, access};
    EXPECT_EQ(0, sroce_region_publish(&table, region));
    regions.push_back(region);
    return region;
  }

  sroce_region* add_window(sroce_region_kind kind) {
    sroce_region* window = sroce_region_create(kind, pd);
    EXPECT_EQ(0, sroce_region_publish(&table, window));
    regions.push_back(window);
    return window;
  }

  static void list(sroce_page_list* pages, Blocks& blocks, u32 first_offset) {
    const u32 count = pages->blocks ? 0 : blocks.blocks.size();
    EXPECT_EQ(0, sroce_page_list_alloc(pages, count));
    pages->count = 0;
    for (auto& block : blocks.blocks) pages->blocks[pages->count++] = block.get();
    pages->shift = ilog2(blocks.block_bytes);
    pages->first_offset = first_offset;
  }

  void remove(sroce_region* region) {
    std::erase(regions, region);
    sroce_region_destroy(&table, region);
  }

  sroce_memory table;
  const void* pd = &table;
  const void* other_pd = this + 1;
  std::vector<sroce_region*> regions;
};

#endif
