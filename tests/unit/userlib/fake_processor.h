// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <cstdint>
#include <functional>

#include "poll_backoff.h"

/// A processor whose clock stands still but for what the test says, and that tells when it is given
/// away. One at a time.
class FakeProcessor {
 public:
  static constexpr std::uint64_t kSlice = 100;

  FakeProcessor() { current = this; }
  ~FakeProcessor() { current = nullptr; }
  FakeProcessor(const FakeProcessor&) = delete;

  sroce::PollBackoff::Processor processor{
      .now = [] { return current->time; },
      .yield = [] { current->give_away(); },
      .slice = kSlice,
  };
  std::uint64_t time = 1;
  std::uint64_t yields = 0;
  /// How long others keep it.
  std::uint64_t kept = 1;
  /// What they do meanwhile.
  std::function<void()> meanwhile = [] {};

 private:
  void give_away() {
    yields++;
    time += kept;
    meanwhile();
  }

  static inline FakeProcessor* current = nullptr;
};
