// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/name.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace sroce {
namespace {

// IB_DEVICE_NAME_MAX is 64, including the final NUL. The kernel silently truncates longer names.
constexpr size_t name_length_max = 63;
constexpr size_t suggestions_max = 3;

/// The number of single-character edits between two words (Levenshtein).
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substitute, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::optional<std::string> name_objection(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > name_length_max)
    return "it is longer than " + std::to_string(name_length_max) + " characters";
  if (name == "." || name == "..") return "it cannot be a file name";
  for (const char c : name) {
    if (c == '%') return "the kernel reserves '%' for numbering";
    // The rdma command separates device and port with a slash.
    if (c == '/') return "it contains '/'";
    if (!std::isgraph(static_cast<unsigned char>(c)))
      return "it contains a space or an unprintable character";
  }
  // Each provider of libibverbs takes a device by its driver id or else by its name.
  if (name.starts_with("siw")) return "libsiw takes the devices of such names";
  return std::nullopt;
}

std::string next_free_name(std::string_view prefix, const std::set<std::string>& taken) {
  for (size_t number = 0;; ++number) {
    std::string name = std::string(prefix) + std::to_string(number);
    if (!taken.contains(name)) return name;
  }
}

std::vector<std::string> near_names(std::string_view wanted,
                                    std::span<const std::string> candidates) {
  const size_t distance_max = std::max<size_t>(1, wanted.size() / 2);
  std::vector<std::pair<size_t, std::string>> ranked;
  for (const std::string& candidate : candidates) {
    const size_t distance = edit_distance(wanted, candidate);
    const bool prefix = !wanted.empty() && candidate.starts_with(wanted);
    if (distance <= distance_max || prefix) ranked.emplace_back(distance, candidate);
  }
  std::sort(ranked.begin(), ranked.end());
  std::vector<std::string> names;
  for (auto& [distance, name] : ranked) {
    if (names.size() < suggestions_max) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace sroce
