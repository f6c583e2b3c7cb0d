// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "rxe_abi.h"

namespace sroce {

static_assert(sizeof(mminfo) == 16);
static_assert(offsetof(mminfo, offset) == 0);
static_assert(offsetof(mminfo, size) == 8);

/// Kernel memory that stays mapped into this process as long as this object lives.
class Mapping {
 public:
  /// Map the range that the kernel named. Returns nullopt and sets errno on failure.
  static std::optional<Mapping> map(int fd, const mminfo& where);

  Mapping(Mapping&& other) noexcept;
  Mapping& operator=(Mapping&& other) noexcept;
  ~Mapping();

  std::span<std::byte> memory() const { return memory_; }

 private:
  explicit Mapping(std::span<std::byte> memory) : memory_(memory) {}

  std::span<std::byte> memory_;
};

}  // namespace sroce
