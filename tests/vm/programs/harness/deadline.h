// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A deadline, so that every wait ends, and a pause that lets others run in a guest with one CPU.
#pragma once

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace harness {

class Deadline {
 public:
  using Clock = std::chrono::steady_clock;

  static Deadline after(Clock::duration span) { return Deadline(Clock::now() + span); }

  bool expired() const { return Clock::now() >= end_; }

  // Rounded up, so that poll(2) does not spin through the last millisecond.
  int left_ms() const {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now());
    return static_cast<int>(std::max<std::chrono::milliseconds::rep>(left.count(), 0));
  }

 private:
  explicit Deadline(Clock::time_point end) : end_(end) {}

  Clock::time_point end_;
};

// Yields at first, because the other side may only need the CPU, then sleeps for longer and longer.
class Backoff {
 public:
  void pause() {
    if (turns_++ < yields) {
      sched_yield();
      return;
    }
    std::this_thread::sleep_for(sleep_);
    sleep_ = std::min(sleep_ * 2, std::chrono::microseconds(1000));
  }

 private:
  static constexpr int yields = 64;

  int turns_ = 0;
  std::chrono::microseconds sleep_{20};
};

}  // namespace harness
