// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Two connected QPs of this process, and WRITEs whose arrival the process can observe.
#pragma once

#include <chrono>
#include <cstring>

#include "harness/deadline.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "verbs/devices.h"
#include "verbs/endpoint.h"

namespace native_verbs {

inline constexpr auto timeout = std::chrono::seconds(30);
inline constexpr std::uint32_t depth = 64;

// Number of system calls by which this process has armed a completion queue (doorbells.cc).
std::uint64_t arming_calls();

using verbs::Devices;

struct Pair {
  explicit Pair(const Devices& devices, const verbs::EndpointOptions& options = {})
      : near(devices.near, devices.near_gid, options, 1), far(devices.far, devices.far_gid, {}, 2) {
    connect_both(near, far, verbs::LinkOptions{});
    std::memset(far.arena().data(), 0, far.arena().size());
  }

  // Post a WRITE of `value`, 8 bytes, to the start of the far arena.
  void post_write(std::uint64_t value, unsigned flags);
  std::uint64_t arrived() const;
  void await_arrival(std::uint64_t value) const;

  verbs::Endpoint near, far;
};

// doorbells.cc, events.cc, extended.cc
void run_doorbell_cases(harness::Tap& tap, const Devices& devices);
void run_event_cases(harness::Tap& tap, const Devices& devices);
void run_extended_cases(harness::Tap& tap, const Devices& devices);

}  // namespace native_verbs
