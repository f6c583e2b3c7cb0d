// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "poll_backoff.h"

#include <sched.h>

#include <algorithm>

#if defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#elif !defined(__aarch64__)
#include <chrono>
#endif

namespace sroce {

namespace {

void yield_cpu() { sched_yield(); }

// Reads the CPU's counter, because a clock that needs a system call would cost more than the polls.
#if defined(__x86_64__) || defined(__i386__)

std::uint64_t now() { return __rdtsc(); }
// 100 to 500 us at 1 to 5 GHz.
std::uint64_t long_yield() { return 500'000; }

#elif defined(__aarch64__)

std::uint64_t now() {
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
// 200 us.
std::uint64_t long_yield() {
  std::uint64_t per_second;
  asm("mrs %0, cntfrq_el0" : "=r"(per_second));
  return per_second / 5000;
}

#else

std::uint64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(since).count());
}
std::uint64_t long_yield() { return 200'000; }

#endif

}  // namespace

const PollBackoff::Cpu& PollBackoff::host_cpu() {
  static const Cpu cpu = {.now = now, .yield = yield_cpu, .long_yield = long_yield()};
  return cpu;
}

bool PollBackoff::may_yield() const {
  if (!cpu_) return false;
  const std::uint64_t left = pause_until_.load(std::memory_order_relaxed) - cpu_->now();
  // `left` wraps once the pause is over. More than the longest pause means that the clock jumped.
  return !left || left > kPauseFactor * kMaxFactor * cpu_->long_yield;
}

std::uint64_t PollBackoff::yield() const {
  const std::uint64_t before = cpu_->now();
  cpu_->yield();
  const std::uint64_t after = cpu_->now();
  return after > before ? after - before : 0;
}

void PollBackoff::yielded(std::uint64_t duration, bool found) {
  const std::uint32_t polls = polls_.load(std::memory_order_relaxed);
  polls_.store(found ? std::max(polls / 2, kMinPolls) : std::min(polls * 2, kMaxPolls),
               std::memory_order_relaxed);
  const std::uint64_t long_factor = found ? kLongFactorFound : kLongFactor;
  if (duration < long_factor * cpu_->long_yield) return;
  const std::uint64_t pause_factor = found ? kPauseFactorFound : kPauseFactor;
  const std::uint64_t counted = std::min(duration, kMaxFactor * cpu_->long_yield);
  pause_until_.store(cpu_->now() + pause_factor * counted, std::memory_order_relaxed);
}

}  // namespace sroce
