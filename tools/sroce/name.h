// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Device and interface names: which are allowed, which is free, which was meant.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sroce {

/// Why a device may not have this name, or nothing if it may.
std::optional<std::string> name_objection(std::string_view name);

/// The first of sroce0, sroce1, … that is not taken.
std::string next_free_name(const std::set<std::string>& taken);

/// The candidates that look like a misspelling of wanted, nearest first, at most three.
std::vector<std::string> near_names(std::string_view wanted,
                                    std::span<const std::string> candidates);

}  // namespace sroce
