// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Device and interface names: checks whether a name is allowed, finds a free one, and suggests
// similar ones.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sroce {

/// The reason why a device must not have this name, or nothing if the name is allowed.
std::optional<std::string> name_objection(std::string_view name);

/// The first of PREFIX0, PREFIX1, … that is not taken.
std::string next_free_name(std::string_view prefix, const std::set<std::string>& taken);

/// The candidates that wanted may be a misspelling of, nearest first, at most three.
std::vector<std::string> near_names(std::string_view wanted,
                                    std::span<const std::string> candidates);

}  // namespace sroce
