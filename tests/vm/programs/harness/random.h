// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Seeded random numbers that are the same on both machines of a test.
#pragma once

#include <cstdint>

namespace harness {

// The finalizer of splitmix64: a good 64-bit mix in three multiplications.
constexpr std::uint64_t mix(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15U;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
  return value ^ (value >> 31);
}

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() { return mix(state_++); }
  std::uint32_t next32() { return static_cast<std::uint32_t>(next() >> 32); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(next() >> 56); }

  // 0 <= result < bound; the bias of the modulo does not matter here.
  std::uint64_t below(std::uint64_t bound) { return bound ? next() % bound : 0; }
  std::uint64_t between(std::uint64_t low, std::uint64_t high) {
    return low + below(high - low + 1);
  }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

 private:
  std::uint64_t state_;
};

}  // namespace harness
