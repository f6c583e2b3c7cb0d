// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The differences that are known. Pure.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace packet_script {

// The first lines in which two transcripts differ. A transcript that has ended has "nothing".
struct Difference {
  std::string ours;
  std::string theirs;

  bool operator==(const Difference&) const = default;
};

std::optional<Difference> first_difference(const std::vector<std::string>& ours,
                                           const std::vector<std::string>& theirs);

// Reads the list: "KERNELS | SCRIPT | sroce | rdma_rxe | RULE" on each line. KERNELS is a shell
// pattern. Lines of other kernels are left out. Throws Failure at a line without a rule.
std::map<std::string, Difference> read_known(std::istream& list, const std::string& kernel);

}  // namespace packet_script
