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

/// The far end of a doorbell's file descriptor. It receives the commands that rings write.
class Bell {
 public:
  Bell() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends_.data()), 0); }
  ~Bell() {
    for (const int fd : ends_) close(fd);
  }
  Bell(const Bell&) = delete;

  sroce::Doorbell doorbell() const { return sroce::Doorbell(ends_[0], kHandle); }

  /// The next command, empty if there is none.
  std::vector<std::byte> next_command() {
    std::vector<std::byte> command(256);
    const ssize_t bytes = recv(ends_[1], command.data(), command.size(), MSG_DONTWAIT);
    command.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return command;
  }

  /// Number of rings since the last call.
  int rings() {
    int count = 0;
    while (!next_command().empty()) count++;
    return count;
  }

 private:
  std::array<int, 2> ends_{};
};
