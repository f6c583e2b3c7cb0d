// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// "sroce stats": the counters of devices, what they mean, and how they change.
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "sroce/device.h"
#include "sroce/output.h"

namespace sroce {

struct StatsOptions {
  std::optional<std::string> device{};       // absent: every sroce device
  bool all = false;                          // with those that are zero, or do not change
  bool explain = false;                      // with the meaning
  std::optional<double> interval_seconds{};  // print changes at this interval until SIGINT
  Format format = Format::table;
};

/// Throws Failure.
void run_stats(System& system, const StatsOptions& options, std::ostream& out);

}  // namespace sroce
