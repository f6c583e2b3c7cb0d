// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "packet_script/known.h"

#include <fnmatch.h>

#include <istream>

#include "harness/failure.h"

namespace packet_script {
namespace {

constexpr const char* separator = " | ";
constexpr std::size_t columns = 5;

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (true) {
    const std::size_t end = line.find(separator, start);
    parts.push_back(line.substr(start, end - start));
    if (end == std::string::npos) return parts;
    start = end + std::string(separator).size();
  }
}

}  // namespace

std::optional<Difference> first_difference(const std::vector<std::string>& ours,
                                           const std::vector<std::string>& theirs) {
  for (std::size_t i = 0; i < std::max(ours.size(), theirs.size()); ++i) {
    const std::string mine = i < ours.size() ? ours[i] : "nothing";
    const std::string other = i < theirs.size() ? theirs[i] : "nothing";
    if (mine != other) return Difference{mine, other};
  }
  return std::nullopt;
}

std::map<std::string, Difference> read_known(std::istream& list, const std::string& kernel) {
  std::map<std::string, Difference> known;
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> parts = split(line);
    if (parts.size() != columns || parts.back().empty())
      harness::fail("a known difference needs ", columns, " columns: ", line);
    if (::fnmatch(parts[0].c_str(), kernel.c_str(), FNM_EXTMATCH)) continue;
    if (!known.emplace(parts[1], Difference{parts[2], parts[3]}).second)
      harness::fail("'", parts[1], "' is listed twice for ", kernel);
  }
  return known;
}

}  // namespace packet_script
