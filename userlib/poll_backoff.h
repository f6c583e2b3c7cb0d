// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <atomic>
#include <cstdint>

namespace sroce {

/// When a poller who finds nothing lets others have the processor: who has to send what it waits
/// for may be waiting for this very processor, and would otherwise get it when the poller's time
/// slice ends. How many empty polls it takes is learnt: few where giving way brings completions,
/// thousands where it does not, as with a processor of one's own. And who only computes must not
/// live on it: a poller that comes back late does not give way for a while.
///
/// Any number of threads may poll; a count that two of them lose is no matter.
class PollBackoff {
 public:
  static constexpr std::uint32_t kFirstPolls = 64, kLeastPolls = 16, kMostPolls = 4096;
  /// Away for so many slices is late, and later when there are completions: others worked for us.
  static constexpr std::uint64_t kLate = 1, kLateWithCompletions = 4;
  /// For how many times as long as it was away a poller that came back late stays; with
  /// completions it is a fair half.
  static constexpr std::uint64_t kStay = 16, kStayWithCompletions = 1;
  /// More slices than these do not count: a clock may jump, and differ between processors.
  static constexpr std::uint64_t kMostSlices = 1000;

  /// The clock and the scheduler.
  struct Processor {
    /// Not a system call.
    std::uint64_t (*now)();
    void (*yield)();
    /// In units of now(): longer than others need to answer, shorter than what a time slice lasts.
    std::uint64_t slice;
  };
  /// Those of this machine.
  static const Processor& processor();

  /// With nullptr the processor is never given away.
  explicit PollBackoff(const Processor* processor) : processor_(processor) {}

  /// A poll has found completions.
  void found() {
    if (empty_.load(std::memory_order_relaxed)) empty_.store(0, std::memory_order_relaxed);
  }

  /// A poll has found nothing. Whether it is time to give way.
  bool is_due() {
    const std::uint32_t empty = empty_.load(std::memory_order_relaxed) + 1;
    const bool enough = empty >= polls_.load(std::memory_order_relaxed);
    empty_.store(enough ? 0 : empty, std::memory_order_relaxed);
    return enough && may_yield();
  }

  /// Give way; returns for how long.
  std::uint64_t yield() const;

  /// After that: whether there were completions then.
  void judge(std::uint64_t away, bool found);

 private:
  bool may_yield() const;

  const Processor* processor_;
  /// Empty polls since the last that was not, or since giving way.
  std::atomic<std::uint32_t> empty_ = 0;
  /// How many of them there have to be.
  std::atomic<std::uint32_t> polls_ = kFirstPolls;
  /// Until when not to give way.
  std::atomic<std::uint64_t> stay_until_ = 0;
};

}  // namespace sroce
