// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What both fuzzers share: actors, which are processes, and a tally of their calls in shared
// memory.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "harness/deadline.h"

namespace fuzz {

constexpr int most_errno = 134;

// Shared by all processes.
struct Tally {
  std::atomic<std::uint64_t> calls;
  std::atomic<std::uint64_t> errors[most_errno + 1];  // by errno; 0: accepted
  std::atomic<bool> failed;
  std::atomic<bool> stop;
  char why[400];
};

Tally& tally();

// Counts a response. It must be 0 or one of the allowed.
void count(int error, std::initializer_list<int> allowed, const std::string& what);

// Keeps the first complaint.
void complain(const std::string& why);

// Forks a process that runs the body. Returns its pid.
pid_t start(const std::function<void()>& body);

// Waits for the process. A crash is a complaint; so is a hang, which ends the process.
void finish(pid_t pid, const harness::Deadline& limit, const std::string& name);

// "1200 calls, 800 accepted; EINVAL 300, ..."
std::string summary();

// When an actor ends: after its number of steps, or at the time limit.
class Budget {
 public:
  Budget(std::uint64_t steps, std::chrono::seconds span)
      : steps_(steps), end_(harness::Deadline::after(span)) {}

  bool spent(std::uint64_t step) const {
    return tally().failed || (steps_ ? step >= steps_ : end_.expired());
  }

 private:
  std::uint64_t steps_;
  harness::Deadline end_;
};

}  // namespace fuzz
