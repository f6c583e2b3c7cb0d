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

void yield_processor() { sched_yield(); }

// Where reading the system's clock is a system call it costs more than all the polls before it.
#if defined(__x86_64__) || defined(__i386__)

std::uint64_t now() { return __rdtsc(); }
// 100 to 500 us, whatever the processor's frequency.
std::uint64_t slice() { return 500'000; }

#elif defined(__aarch64__)

std::uint64_t now() {
  std::uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
std::uint64_t slice() {
  std::uint64_t per_second;
  asm("mrs %0, cntfrq_el0" : "=r"(per_second));
  return per_second / 5000;
}

#else

std::uint64_t now() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(since).count());
}
std::uint64_t slice() { return 200'000; }

#endif

}  // namespace

const PollBackoff::Processor& PollBackoff::processor() {
  static const Processor processor = {.now = now, .yield = yield_processor, .slice = slice()};
  return processor;
}

bool PollBackoff::may_yield() const {
  if (!processor_) return false;
  const std::uint64_t left = stay_until_.load(std::memory_order_relaxed) - processor_->now();
  // Over (wrapped below zero), or of a clock that has jumped.
  return !left || left > kStay * kMostSlices * processor_->slice;
}

std::uint64_t PollBackoff::yield() const {
  const std::uint64_t before = processor_->now();
  processor_->yield();
  const std::uint64_t after = processor_->now();
  return after > before ? after - before : 0;
}

void PollBackoff::judge(std::uint64_t away, bool found) {
  const std::uint32_t polls = polls_.load(std::memory_order_relaxed);
  polls_.store(found ? std::max(polls / 2, kLeastPolls) : std::min(polls * 2, kMostPolls),
               std::memory_order_relaxed);
  const std::uint64_t late = found ? kLateWithCompletions : kLate;
  if (away < late * processor_->slice) return;
  const std::uint64_t stay = found ? kStayWithCompletions : kStay;
  const std::uint64_t counted = std::min(away, kMostSlices * processor_->slice);
  stay_until_.store(processor_->now() + stay * counted, std::memory_order_relaxed);
}

}  // namespace sroce
