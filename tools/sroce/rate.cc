// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/rate.h"

#include <array>
#include <charconv>

namespace sroce {

std::string decimal_text(double number, int digits) {
  std::array<char, 64> buffer{};
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number,
                                          std::chars_format::fixed, digits);
  std::string text(buffer.data(), end);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string rate_text(uint64_t bytes_per_second) {
  const double bits = static_cast<double>(bytes_per_second) * 8;
  if (bits >= 1e9) return decimal_text(bits / 1e9, 2) + "Gbps";
  if (bits >= 1e6) return decimal_text(bits / 1e6, 2) + "Mbps";
  if (bits >= 1e3) return decimal_text(bits / 1e3, 2) + "Kbps";
  return decimal_text(bits, 0) + "bps";
}

}  // namespace sroce
