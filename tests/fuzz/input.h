// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A fuzzer's input, read from front to back. Reads past the end return zeros.
#ifndef TESTS_FUZZ_INPUT_H
#define TESTS_FUZZ_INPUT_H

#include <cstdio>
#include <cstdlib>
#include <span>

#include "port/engine.h"

namespace sroce_fuzz {

// Aborts unless @condition holds. @rule says what must hold for every input.
inline void require(bool condition, const char* rule) {
  if (condition) return;
  fprintf(stderr, "violated: %s\n", rule);
  abort();
}

class Input {
 public:
  Input(const u8* data, size_t bytes) : rest_(data, bytes) {}

  bool empty() const { return rest_.empty(); }
  u8 byte() {
    if (rest_.empty()) return 0;
    const u8 value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  u32 word() {
    u32 value = 0;
    for (int i = 0; i < 4; i++) value = value << 8 | byte();
    return value;
  }
  bool flag() { return byte() & 1; }
  u32 below(u32 limit) { return byte() % limit; }
  // Prefers lengths near zero and near multiples of the MTU.
  u32 length(u32 mtu_bytes) {
    switch (const u8 kind = byte(); kind % 8) {
      case 0:
        return kind / 8;
      case 1:
        return mtu_bytes - 1;
      case 2:
        return mtu_bytes;
      case 3:
        return mtu_bytes + 1;
      case 4:
        return mtu_bytes * (1 + kind / 8) + 3;
      case 5:
        return mtu_bytes * (kind / 8);
      case 6:
        return 1u << 31;
      default:
        return word();
    }
  }
  // A PSN near @base, rarely any other.
  u32 psn_near(u32 base) {
    const u8 kind = byte();
    if (kind < 250) return psn_add(base, static_cast<u32>(kind - 32) & SROCE_PSN_MASK);
    return word() & SROCE_PSN_MASK;
  }

 private:
  std::span<const u8> rest_;
};

}  // namespace sroce_fuzz

#endif
