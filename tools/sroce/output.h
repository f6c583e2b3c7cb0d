// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Output for people (aligned columns, rates) and for programs (JSON), and the output of
// "sroce status" in both formats.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sroce/device.h"

namespace sroce {

enum class Format { table, json };

using Row = std::vector<std::string>;

/// Left-aligned columns, each as wide as its widest cell; empty if there is only the heading, which
/// is the first row. Control characters become question marks.
std::vector<std::string> align(std::vector<Row> rows);

/// The same as one text, with a newline after each line.
std::string align_text(std::vector<Row> rows);

/// A number with at most that many digits after the decimal point and no trailing zeros.
std::string decimal_text(double number, int digits);

/// A rate in bits per second, as ss prints it: "10Gbps", "9.41Gbps".
std::string rate_text(uint64_t bytes_per_second);

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

/// Indented text with a final newline. Invalid UTF-8 is replaced, because interface names may
/// contain any bytes.
std::string json_text(const Json& json);

/// Three aligned tables: devices, their GIDs, and their nonzero counters. A table without rows is
/// left out.
std::string render_table(std::span<const Device> devices);

/// An array with one object per device. The order of the keys is fixed, and a value that the kernel
/// did not report is null.
std::string render_json(std::span<const Device> devices);

}  // namespace sroce
