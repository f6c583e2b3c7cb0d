// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A TCP connection between the two processes of a test. Messages are small and typed, and every
// wait has a deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "harness/deadline.h"

namespace harness {

class Rendezvous {
 public:
  struct Message {
    std::uint32_t kind = 0;
    std::vector<std::byte> body;
  };

  // Waits for one peer, on every address of this machine.
  static Rendezvous accept(std::uint16_t port, Deadline deadline);
  // Tries again until the peer listens.
  static Rendezvous connect(const std::string& host, std::uint16_t port, Deadline deadline);

  Rendezvous(Rendezvous&& other) noexcept;
  Rendezvous& operator=(Rendezvous&& other) noexcept;
  ~Rendezvous();

  void send(std::uint32_t kind, const void* body, std::size_t length, Deadline deadline);
  Message receive(Deadline deadline);

 private:
  explicit Rendezvous(int socket);
  void move_bytes(std::byte* bytes, std::size_t length, bool sending, Deadline deadline);

  int socket_ = -1;
};

}  // namespace harness
