// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A UC connection of this process to itself, and the messages that go through it.
#pragma once

#include <memory>
#include <optional>

#include "harness/deadline.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "verbs/devices.h"
#include "verbs/endpoint.h"

namespace uc {

inline constexpr auto timeout = std::chrono::seconds(20);
inline constexpr auto quiet = std::chrono::milliseconds(100);

using verbs::Devices;

// A message; its number determines its bytes.
struct Message {
  std::uint32_t number;
  std::uint32_t length;
  ibv_wr_opcode opcode = IBV_WR_SEND;

  bool is_write() const {
    return opcode == IBV_WR_RDMA_WRITE || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  }
  bool needs_receive() const { return opcode != IBV_WR_RDMA_WRITE; }
};

// Messages go from near to far. The far arena has one slot for each receive, and one for WRITEs.
class Connection {
 public:
  explicit Connection(const Devices& devices, ibv_srq* srq = nullptr);

  verbs::Endpoint& near() { return *near_; }
  verbs::Endpoint& far() { return *far_; }

  // Posts a receive for this slot, of `length` bytes in two elements.
  void post_receive(std::uint32_t slot, std::uint32_t length = slot_bytes);
  // Sends without waiting for anything; returns the status of the completion.
  ibv_wc_status send(const Message& message, std::uint32_t rkey_change = 0);
  // The completion of a receive within the time, if there is one.
  std::optional<ibv_wc> received(harness::Deadline deadline);
  // Sends, and checks that it arrives in `slot` with every byte.
  void deliver(const Message& message, std::uint32_t slot);
  // Checks bytes and completion of a message that was received, and the byte behind it, unless a
  // dropped message may have been there before.
  void check(const Message& message, const ibv_wc& wc, std::uint32_t slot, bool is_first = true);
  // Overwrites where the message would go, so that expect_no_bytes() can tell.
  void erase(const Message& message, std::uint32_t slot);
  void expect_no_bytes(const Message& message, std::uint32_t slot);

  static constexpr std::uint32_t slots = 16, slot_bytes = 70'000;

 private:
  std::span<std::byte> target(const Message& message, std::uint32_t slot);

  std::unique_ptr<verbs::Endpoint> near_, far_;
};

void run_traffic_cases(harness::Tap& tap, const Devices& devices);
void run_srq_cases(harness::Tap& tap, const Devices& devices);
void run_loss_case(harness::Tap& tap, const Devices& devices);
void run_error_cases(harness::Tap& tap, const Devices& devices);

}  // namespace uc
