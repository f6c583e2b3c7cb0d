// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "harness/failure.h"

namespace verbs {

Pages::Pages(std::size_t size, std::size_t skew) : skew_(skew), size_(size) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t usable = (size + skew + page - 1) / page * page;
  void* base =
      ::mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) harness::fail_errno(errno, "mmap of ", size, " bytes");
  base_ = static_cast<std::byte*>(base);
  mapped_ = usable + page;
  ::mprotect(base_ + usable, page, PROT_NONE);
}

Pages::Pages(Pages&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      mapped_(other.mapped_),
      skew_(other.skew_),
      size_(other.size_) {}

Pages& Pages::operator=(Pages&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(mapped_, other.mapped_);
  std::swap(skew_, other.skew_);
  std::swap(size_, other.size_);
  return *this;
}

Pages::~Pages() {
  if (base_) ::munmap(base_, mapped_);
}

}  // namespace verbs
