// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sroce/columns.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace sroce {
namespace {

constexpr size_t gap = 2;

/// Interface names may hold terminal control characters.
std::string printable(std::string text) {
  for (char& c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  return text;
}

}  // namespace

std::vector<std::string> align(std::vector<Row> rows) {
  if (rows.size() < 2) return {};
  std::vector<size_t> widths(rows.front().size());
  for (Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = printable(std::move(row[i]));
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::vector<std::string> lines;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i + 1 < row.size(); ++i)
      line += row[i] + std::string(widths[i] - row[i].size() + gap, ' ');
    lines.push_back(line + row.back());
  }
  return lines;
}

}  // namespace sroce
