// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// A file of rings, for the provider to map in place of a device's.
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

  /// Add an empty ring. Returns its location in the kernel's form.
  mminfo add_ring(std::uint32_t slots, std::uint32_t element_shift) {
    const std::size_t bytes = KernelRing::bytes(slots, element_shift);
    const mminfo where = {.offset = used_, .size = static_cast<std::uint32_t>(bytes), .pad = 0};
    used_ += (bytes + kPage - 1) / kPage * kPage;
    EXPECT_LE(used_, kBytes);
    ring(where).lay_out(slots, element_shift);
    return where;
  }

  /// Add the empty queues of a QP. Returns their location in the kernel's form.
  sroce_create_qp_resp add_queue_pair(std::uint32_t count, std::uint32_t send_stride,
                                      std::uint32_t recv_stride) {
    constexpr std::uint32_t heads = 2 * sizeof(sroce_queue_head);
    sroce_create_qp_resp where{};
    where.offset = used_;
    where.send_head = 0;
    where.recv_head = sizeof(sroce_queue_head);
    where.recv_slots = heads;
    where.send_slots = heads + 4096;
    where.send_count = where.recv_count = count;
    where.send_stride = send_stride;
    where.recv_stride = recv_stride;
    where.size = where.send_slots + 4096;
    EXPECT_LE(count * send_stride, 4096u);
    EXPECT_LE(count * recv_stride, 4096u);
    used_ += (where.size + kPage - 1) / kPage * kPage;
    EXPECT_LE(used_, kBytes);
    return where;
  }

  /// Add an empty shared receive queue.
  sroce_create_srq_resp add_shared_queue(std::uint32_t count, std::uint32_t stride) {
    sroce_create_srq_resp where{};
    where.offset = used_;
    where.slots = sizeof(sroce_queue_head);
    where.count = count;
    where.stride = stride;
    where.size = where.slots + count * stride;
    used_ += (where.size + kPage - 1) / kPage * kPage;
    EXPECT_LE(used_, kBytes);
    return where;
  }
  KernelQueue shared_queue(const sroce_create_srq_resp& where) const {
    return {{start_ + where.offset, where.size},
            {where.head, where.slots, where.count, where.stride}};
  }

  KernelQueue send_queue(const sroce_create_qp_resp& where) const {
    return {{start_ + where.offset, where.size},
            {where.send_head, where.send_slots, where.send_count, where.send_stride}};
  }
  KernelQueue receive_queue(const sroce_create_qp_resp& where) const {
    return {{start_ + where.offset, where.size},
            {where.recv_head, where.recv_slots, where.recv_count, where.recv_stride}};
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
