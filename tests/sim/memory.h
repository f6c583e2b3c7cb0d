// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The memory of one host: regions by key, with guard bytes and expected content (the shadow).
//
// Every buffer is carved from a region with a gap before it, so a stray write next to a buffer is
// detected like one outside the region.
#ifndef TESTS_SIM_MEMORY_H
#define TESTS_SIM_MEMORY_H

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "port/engine.h"
#include "sim/rng.h"

namespace sim {

struct Region {
  static constexpr size_t kGuardBytes = 64;

  std::string name;
  u64 iova = 0;
  u64 length = 0;
  u32 key = 0;
  u32 access = 0;
  bool valid = true;
  std::unique_ptr<u8[]> bytes;   // guard, length, guard
  std::unique_ptr<u8[]> shadow;  // expected content of @bytes

  size_t size() const { return length + 2 * kGuardBytes; }
  u8* at(u64 va) { return &bytes[kGuardBytes + (va - iova)]; }
  u8* shadow_at(u64 va) { return &shadow[kGuardBytes + (va - iova)]; }
  bool covers(u64 va, u64 count) const {
    return count <= length && va >= iova && va - iova <= length - count;
  }
};

class Memory {
 public:
  Region& add(Rng& rng, const char* name, u32 access);
  // Reserves a buffer of @length bytes; only before seal().
  u64 carve(Rng& rng, Region& region, u64 length, u32 alignment = 1);
  // Allocates every region and fills it with random content.
  void seal(Rng& rng);

  Region* find(u32 key);
  bool key_in_use(u32 key) const { return by_key_.contains(key); }

  // The memory layer's answer, from the engine's own range check.
  sroce_mem_status check(u32 key, u64 va, u64 count, u32 needed);
  // Copies that the engine has checked; permitted() checks them again, independently.
  void write(u32 key, u64 va, std::span<const u8> data, u32 needed);
  void read(u32 key, u64 va, std::span<u8> data, u32 needed);
  // The scatter/gather list of a work request.
  sroce_mem_status gather(const sroce_sge* sge, u32 count, u32 offset, std::span<u8> data);
  sroce_mem_status scatter(const sroce_sge* sge, u32 count, u32 offset, std::span<const u8> data);

  // The oracle's side: bytes that are expected from now on.
  void expect(u32 key, u64 va, std::span<const u8> data);
  void expect_scattered(const sroce_sge* sge, u32 count, u32 offset, std::span<const u8> data);
  void verify() const;

 private:
  using Visit = std::function<sroce_mem_status(const sroce_sge&, u64 va, u32 done, u32 count)>;
  static sroce_mem_status walk(const sroce_sge* sge, u32 count, u32 offset, u32 length,
                               const Visit& visit);
  Region& permitted(u32 key, u64 va, u64 count, u32 needed, const char* what);

  std::vector<std::unique_ptr<Region>> regions_;
  std::unordered_map<u32, Region*> by_key_;
};

}  // namespace sim

#endif
