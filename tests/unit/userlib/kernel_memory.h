// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A file with rings in it, that a provider maps as it maps those of a device.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "kernel_ring.h"

class KernelMemory {
 public:
  KernelMemory() : fd_(memfd_create("rings", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(fd_, kBytes), 0);
    start_ =
        static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0));
    EXPECT_NE(static_cast<void*>(start_), MAP_FAILED);
  }
  ~KernelMemory() {
    munmap(start_, kBytes);
    close(fd_);
  }
  KernelMemory(const KernelMemory&) = delete;

  int fd() const { return fd_; }

  /// Another empty ring; says where, as the kernel tells a process.
  mminfo add_ring(std::uint32_t slots, std::uint32_t element_shift) {
    const std::size_t bytes = KernelRing::bytes(slots, element_shift);
    const mminfo where = {.offset = used_, .size = static_cast<std::uint32_t>(bytes), .pad = 0};
    used_ += (bytes + kPage - 1) / kPage * kPage;
    EXPECT_LE(used_, kBytes);
    ring(where).lay_out(slots, element_shift);
    return where;
  }

  KernelRing ring(const mminfo& where) const {
    return KernelRing({start_ + where.offset, where.size});
  }

 private:
  static constexpr std::size_t kPage = 4096;
  static constexpr std::size_t kBytes = 64 * kPage;

  int fd_;
  std::byte* start_ = nullptr;
  std::size_t used_ = 0;
};
