// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The scripted peer's end of a veth pair: a packet socket beside the kernel's IP stack.
#pragma once

#include <optional>
#include <string>

#include "harness/deadline.h"
#include "wire/packet.h"

namespace packet_script {

class WireEnd {
 public:
  // An interface of a named network namespace, or of the current one if the name is empty.
  WireEnd(const std::string& netns, const std::string& interface);
  WireEnd(const WireEnd&) = delete;
  WireEnd& operator=(const WireEnd&) = delete;
  ~WireEnd();

  void send(const wire::Bytes& ip_packet);
  // The next RoCEv2 packet from its IP header on, or nothing at the deadline.
  std::optional<wire::Bytes> receive(harness::Deadline deadline);

 private:
  int fd_ = -1;
};

}  // namespace packet_script
