// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/counter_meanings.h"

namespace sroce {
namespace {

constexpr CounterMeaning meanings[] = {
#define SROCE_COUNTER(number, name, meaning) {#name, meaning},
#include "sroce_counters.h"
};

}  // namespace

std::span<const CounterMeaning> counter_meanings() { return meanings; }

std::string meaning_of(const std::string& counter) {
  for (const auto& [name, meaning] : meanings) {
    if (counter == name) return meaning;
  }
  return {};
}

bool is_gauge(const std::string& counter) { return counter == "reorder_bytes"; }

}  // namespace sroce
