// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <cstdint>
#include <functional>

#include "poll_backoff.h"

/// A CPU whose clock the test advances and whose yields it counts. Only one exists at a time.
class FakeCpu {
 public:
  static constexpr std::uint64_t kLongYield = 100;

  FakeCpu() { current = this; }
  ~FakeCpu() { current = nullptr; }
  FakeCpu(const FakeCpu&) = delete;

  sroce::PollBackoff::Cpu cpu{
      .now = [] { return current->time; },
      .yield = [] { current->yield(); },
      .long_yield = kLongYield,
  };
  std::uint64_t time = 1;
  std::uint64_t yields = 0;
  /// The duration of the next yields.
  std::uint64_t duration = 1;
  /// Called during a yield, in place of the threads that run then.
  std::function<void()> others = [] {};

 private:
  void yield() {
    yields++;
    time += duration;
    others();
  }

  static inline FakeCpu* current = nullptr;
};
