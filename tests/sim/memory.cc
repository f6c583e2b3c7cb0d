// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/memory.h"

#include <algorithm>

#include "sim/log.h"

namespace sim {

Region& Memory::add(Rng& rng, const char* name, u32 access) {
  auto region = std::make_unique<Region>();
  region->name = name;
  region->access = access;
  region->iova = rng.next() >> 8;
  // A few regions end at the end of the address space.
  if (rng.chance(0.05)) region->iova = ~u64{0} - (64u << 20);
  do {
    region->key = static_cast<u32>(rng.next());
  } while (by_key_.contains(region->key));
  by_key_[region->key] = region.get();
  regions_.push_back(std::move(region));
  return *regions_.back();
}

u64 Memory::carve(Rng& rng, Region& region, u64 length, u32 alignment) {
  u64 va = region.iova + region.length + rng.below(20);
  va = (va + alignment - 1) / alignment * alignment;
  region.length = va + length - region.iova;
  return va;
}

void Memory::seal(Rng& rng) {
  for (auto& region : regions_) {
    region->length += rng.below(9);
    region->bytes = std::make_unique_for_overwrite<u8[]>(region->size());
    region->shadow = std::make_unique_for_overwrite<u8[]>(region->size());
    rng.fill({region->bytes.get(), region->size()});
    std::copy_n(region->bytes.get(), region->size(), region->shadow.get());
  }
}

Region* Memory::find(u32 key) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() || !found->second->valid ? nullptr : found->second;
}

sroce_mem_status Memory::check(u32 key, u64 va, u64 count, u32 needed) {
  if (!count) return SROCE_MEM_OK;
  const Region* region = find(key);
  if (!region) return SROCE_MEM_BAD_KEY;
  const sroce_access_range range = {region->iova, region->length, region->access};
  return sroce_access_check(&range, va, count, needed);
}

Region& Memory::permitted(u32 key, u64 va, u64 count, u32 needed, const char* what) {
  Region* region = find(key);
  require(region, "access outside permitted memory", "%s with unknown key %x", what, key);
  require((region->access & needed) == needed, "access outside permitted memory",
          "%s of region '%s' without permission", what, region->name.c_str());
  require(region->covers(va, count), "access outside permitted memory",
          "%s of %llu bytes at offset %lld of region '%s' of %llu", what, (unsigned long long)count,
          (long long)(va - region->iova), region->name.c_str(), (unsigned long long)region->length);
  return *region;
}

void Memory::write(u32 key, u64 va, std::span<const u8> data, u32 needed) {
  if (data.empty()) return;
  Region& region = permitted(key, va, data.size(), needed, "write");
  std::copy(data.begin(), data.end(), region.at(va));
}

void Memory::read(u32 key, u64 va, std::span<u8> data, u32 needed) {
  if (data.empty()) return;
  Region& region = permitted(key, va, data.size(), needed, "read");
  std::copy_n(region.at(va), data.size(), data.begin());
}

void Memory::expect(u32 key, u64 va, std::span<const u8> data) {
  if (data.empty()) return;
  Region& region = permitted(key, va, data.size(), 0, "expected write");
  std::copy(data.begin(), data.end(), region.shadow_at(va));
}

sroce_mem_status Memory::walk(const sroce_sge* sge, u32 count, u32 offset, u32 length,
                              const Visit& visit) {
  u32 done = 0;
  for (u32 i = 0; i < count && done < length; i++) {
    if (offset >= sge[i].length) {
      offset -= sge[i].length;
      continue;
    }
    const u32 chunk = std::min(sge[i].length - offset, length - done);
    const sroce_mem_status status = visit(sge[i], sge[i].addr + offset, done, chunk);
    if (status != SROCE_MEM_OK) return status;
    done += chunk;
    offset = 0;
  }
  require(done == length, "payload outside the request",
          "%u bytes do not fit the scatter/gather list", length - done);
  return SROCE_MEM_OK;
}

sroce_mem_status Memory::gather(const sroce_sge* sge, u32 count, u32 offset, std::span<u8> data) {
  return walk(sge, count, offset, static_cast<u32>(data.size()),
              [&](const sroce_sge& element, u64 va, u32 done, u32 chunk) {
                if (check(element.lkey, va, chunk, 0) != SROCE_MEM_OK) return SROCE_MEM_BAD_LOCAL;
                read(element.lkey, va, data.subspan(done, chunk), 0);
                return SROCE_MEM_OK;
              });
}

sroce_mem_status Memory::scatter(const sroce_sge* sge, u32 count, u32 offset,
                                 std::span<const u8> data) {
  constexpr u32 needed = SROCE_ACCESS_LOCAL_WRITE;
  const auto may_write = [&](const sroce_sge& element, u64 va, u32, u32 chunk) {
    return check(element.lkey, va, chunk, needed) == SROCE_MEM_OK ? SROCE_MEM_OK
                                                                  : SROCE_MEM_BAD_LOCAL;
  };
  const auto length = static_cast<u32>(data.size());
  const sroce_mem_status status = walk(sge, count, offset, length, may_write);
  if (status != SROCE_MEM_OK) return status;
  return walk(sge, count, offset, length,
              [&](const sroce_sge& element, u64 va, u32 done, u32 chunk) {
                write(element.lkey, va, data.subspan(done, chunk), needed);
                return SROCE_MEM_OK;
              });
}

void Memory::expect_scattered(const sroce_sge* sge, u32 count, u32 offset,
                              std::span<const u8> data) {
  walk(sge, count, offset, static_cast<u32>(data.size()),
       [&](const sroce_sge& element, u64 va, u32 done, u32 chunk) {
         expect(element.lkey, va, data.subspan(done, chunk));
         return SROCE_MEM_OK;
       });
}

void Memory::verify() const {
  for (const auto& region : regions_) {
    const u8 *bytes = region->bytes.get(), *shadow = region->shadow.get();
    if (std::equal(bytes, bytes + region->size(), shadow)) continue;
    const u8* where = std::mismatch(bytes, bytes + region->size(), shadow).first;
    throw Violation("memory differs from the model",
                    format("region '%s' of %llu bytes at offset %lld", region->name.c_str(),
                           (unsigned long long)region->length,
                           (long long)(where - bytes) - (long long)Region::kGuardBytes));
  }
}

}  // namespace sim
