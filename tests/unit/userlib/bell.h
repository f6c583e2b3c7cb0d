// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "doorbell.h"

constexpr std::uint32_t kHandle = 42;

/// A doorbell whose rings can be counted.
class Bell {
 public:
  Bell() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends_.data()), 0); }
  ~Bell() {
    for (const int fd : ends_) close(fd);
  }
  Bell(const Bell&) = delete;

  sroce::Doorbell doorbell() const { return sroce::Doorbell(ends_[0], kHandle); }

  /// The next command, or nothing.
  std::vector<std::byte> heard() {
    std::vector<std::byte> command(256);
    const ssize_t bytes = recv(ends_[1], command.data(), command.size(), MSG_DONTWAIT);
    command.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return command;
  }

  /// How often it was rung since it was asked last.
  int rings() {
    int count = 0;
    while (!heard().empty()) count++;
    return count;
  }

 private:
  std::array<int, 2> ends_{};
};
