// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <cstdint>

namespace sroce {

/// Tells the kernel that there is work in a send queue: uverbs' POST_SEND with no request in it.
class Doorbell {
 public:
  Doorbell(int fd, std::uint32_t qp_handle) : fd_(fd), qp_handle_(qp_handle) {}

  /// Returns 0 or an errno; the kernel has then taken what was in the queue out of it.
  int ring() const;

 private:
  int fd_;
  std::uint32_t qp_handle_;
};

}  // namespace sroce
