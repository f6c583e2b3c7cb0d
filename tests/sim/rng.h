// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The only source of randomness: xoshiro256**, so that a seed is the same run on every machine.
#ifndef TESTS_SIM_RNG_H
#define TESTS_SIM_RNG_H

#include <bit>
#include <cstdint>
#include <cstring>
#include <span>

namespace sim {

class Rng {
 public:
  explicit Rng(uint64_t seed) {
    for (uint64_t& word : state_) word = split_mix(seed);
  }

  uint64_t next() {
    const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // 0 … @bound - 1; 0 if @bound is 0.
  uint64_t below(uint64_t bound) { return bound ? next() % bound : 0; }
  // @low … @high, both inclusive.
  uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
  bool chance(double probability) {
    return probability > 0 && static_cast<double>(next() >> 11) * 0x1p-53 < probability;
  }

  template <typename T, size_t N>
  T pick(const T (&values)[N]) {
    return values[below(N)];
  }

  void fill(std::span<uint8_t> bytes) {
    size_t i = 0;
    for (; i + 8 <= bytes.size(); i += 8) {
      const uint64_t word = next();
      std::memcpy(bytes.data() + i, &word, 8);
    }
    for (; i < bytes.size(); i++) bytes[i] = static_cast<uint8_t>(next());
  }

 private:
  static uint64_t split_mix(uint64_t& x) {
    uint64_t z = (x += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_[4];
};

}  // namespace sim

#endif
