// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <string>
#include <vector>

namespace sroce {

using Row = std::vector<std::string>;

/// Lines of left-aligned columns as wide as their widest cell; nothing at all if only the heading,
/// which is the first row, is there. Control characters become question marks.
std::vector<std::string> align(std::vector<Row> rows);

}  // namespace sroce
