// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "mapping.h"

#include <sys/mman.h>

#include <utility>

namespace sroce {

std::optional<Mapping> Mapping::map(int fd, const mminfo& where) {
  void* start = mmap(nullptr, where.size, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                     static_cast<off_t>(where.offset));
  if (start == MAP_FAILED) return std::nullopt;
  return Mapping({static_cast<std::byte*>(start), where.size});
}

Mapping::Mapping(Mapping&& other) noexcept : memory_(std::exchange(other.memory_, {})) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(memory_, other.memory_);
  return *this;
}

Mapping::~Mapping() {
  if (!memory_.empty()) munmap(memory_.data(), memory_.size());
}

}  // namespace sroce
