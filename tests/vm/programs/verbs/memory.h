// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Anonymous memory that need not be page-aligned, because user buffers seldom are.
#pragma once

#include <cstddef>
#include <span>

namespace verbs {

class Pages {
 public:
  // Memory starts `skew` bytes into the first page. An inaccessible page follows the last one.
  explicit Pages(std::size_t size, std::size_t skew = 0);
  Pages(Pages&& other) noexcept;
  Pages& operator=(Pages&& other) noexcept;
  ~Pages();

  std::byte* data() const { return base_ + skew_; }
  std::size_t size() const { return size_; }
  std::span<std::byte> span() const { return {data(), size_}; }

 private:
  std::byte* base_ = nullptr;
  std::size_t mapped_ = 0;
  std::size_t skew_ = 0;
  std::size_t size_ = 0;
};

}  // namespace verbs
