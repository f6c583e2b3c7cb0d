// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <atomic>
#include <cstdint>

namespace sroce {

/// Decides when a poller that finds nothing calls sched_yield().
///
/// The thread that must produce the next completion may need the poller's CPU. Without a yield it
/// runs only when the poller's time slice ends. The number of empty polls before a yield adapts: it
/// is halved if the yield produced completions and doubled if it did not, for example because the
/// poller has a CPU to itself. After a long yield, which means that the CPU is busy with other
/// work, the poller does not yield for a while.
///
/// Any number of threads may poll. Their updates may overwrite each other, which does no harm.
class PollBackoff {
 public:
  /// Empty polls before a yield. sched_yield() costs about as much as 16 polls; 4096 polls are
  /// still short beside a time slice.
  static constexpr std::uint32_t kInitialPolls = 64, kMinPolls = 16, kMaxPolls = 4096;
  /// A yield is long if it takes this multiple of Cpu::long_yield. Producing completions takes
  /// time, so a yield that found some may take longer.
  static constexpr std::uint64_t kLongFactor = 1, kLongFactorFound = 4;
  /// After a long yield the poller does not yield for this multiple of its duration: it keeps most
  /// of the CPU if the yield was useless, and half if it was not.
  static constexpr std::uint64_t kPauseFactor = 16, kPauseFactorFound = 1;
  /// Longest yield that counts, as a multiple of Cpu::long_yield. It bounds the pause because the
  /// clock may jump or differ between CPUs.
  static constexpr std::uint64_t kMaxFactor = 1000;

  /// Clock and scheduler of a CPU.
  struct Cpu {
    /// Must not be a system call.
    std::uint64_t (*now)();
    void (*yield)();
    /// In units of now(): more than a peer process needs to respond, less than a time slice.
    std::uint64_t long_yield;
  };
  static const Cpu& host_cpu();

  /// With nullptr, pollers never yield.
  explicit PollBackoff(const Cpu* cpu) : cpu_(cpu) {}

  /// To be called when a poll found completions.
  void found() {
    if (empty_.load(std::memory_order_relaxed)) empty_.store(0, std::memory_order_relaxed);
  }

  /// To be called when a poll found nothing. Returns true if the caller should yield.
  bool should_yield() {
    const std::uint32_t empty = empty_.load(std::memory_order_relaxed) + 1;
    const bool enough = empty >= polls_.load(std::memory_order_relaxed);
    empty_.store(enough ? 0 : empty, std::memory_order_relaxed);
    return enough && may_yield();
  }

  /// Yield the CPU; returns for how long.
  std::uint64_t yield() const;

  /// To be called after the poll that follows a yield.
  void yielded(std::uint64_t duration, bool found);

 private:
  bool may_yield() const;

  const Cpu* cpu_;
  /// Empty polls since the last completion or yield.
  std::atomic<std::uint32_t> empty_ = 0;
  /// Empty polls before the next yield.
  std::atomic<std::uint32_t> polls_ = kInitialPolls;
  /// Time before which the poller does not yield.
  std::atomic<std::uint64_t> pause_until_ = 0;
};

}  // namespace sroce
