// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// One line of meaning for each counter of a device, from kernel/uapi/sroce_counters.h.
#pragma once

#include <span>
#include <string>

namespace sroce {

struct CounterMeaning {
  const char* name;
  const char* meaning;
};

/// In the order of the module.
std::span<const CounterMeaning> counter_meanings();

/// Empty for a counter of another driver.
std::string meaning_of(const std::string& counter);

/// Is it a state that may decrease, and not a count of events?
bool is_gauge(const std::string& counter);

}  // namespace sroce
