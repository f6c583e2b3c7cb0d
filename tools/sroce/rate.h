// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <cstdint>
#include <string>

namespace sroce {

/// A number with at most that many digits behind the point, none of them zeros at the end.
std::string decimal_text(double number, int digits);

/// A rate in bits per second, as ss writes it: "10Gbps", "9.41Gbps".
std::string rate_text(uint64_t bytes_per_second);

}  // namespace sroce
