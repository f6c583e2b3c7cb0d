// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The jobs of abuse. Each throws harness::Failure if the device did wrong.
#pragma once

#include <chrono>

#include "verbs/endpoint.h"

namespace abuse {

// Both ends are this process's, because all namespaces share RDMA devices.
struct Bench {
  const verbs::Context& near;
  const verbs::Context& far;
  int near_gid;
  int far_gid;
  std::uint64_t count;           // of what the job repeats
  std::chrono::seconds seconds;  // 0, or repeat until the time is up instead
  std::uint64_t seed;
};

class Repeat {
 public:
  explicit Repeat(const Bench& bench)
      : count_(bench.seconds.count() ? ~std::uint64_t{0} : bench.count),
        end_(harness::Deadline::after(bench.seconds.count() ? bench.seconds
                                                            : std::chrono::hours(1))) {}

  bool again() { return done_ < count_ && !end_.expired() && ++done_; }
  std::uint64_t done() const { return done_; }

 private:
  std::uint64_t count_;
  std::uint64_t done_ = 0;
  harness::Deadline end_;
};

// Creates as many objects of each kind as the device lets it, up to the count. Prints "all
// created", and sleeps.
void exhaust(const Bench& bench);
// Creates and destroys objects.
void churn(const Bench& bench);
// Uses the right R_Key of another protection domain, then guesses keys.
void guess_keys(const Bench& bench);
// Creates a QP pair, connects it, transfers data, destroys it.
void cycle(const Bench& bench);
// A connected pair that sends nothing. Prints the target of a flood, and sleeps.
void stay_idle(const Bench& bench);

}  // namespace abuse
