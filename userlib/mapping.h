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

/// Memory of the kernel that is mapped into this process, for as long as this object lives.
class Mapping {
 public:
  /// Map what the kernel offers. Nothing, and errno set, when it cannot be mapped.
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
