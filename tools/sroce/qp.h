// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <utility>

#include "sroce/device.h"
#include "sroce/genl.h"
#include "sroce/output.h"

namespace sroce {

struct QpOptions {
  std::optional<std::string> device{};       // absent: queue pairs of every device
  std::optional<double> interval_seconds{};  // print again at this interval until SIGINT
  Format format = Format::table;
};

/// The queue pairs of the last time, by device index and number.
using QpHistory = std::map<std::pair<uint32_t, uint32_t>, genl::QueuePair>;

/// Prints the queue pairs and their state. Throws Failure.
void run_qp(System& system, const QpOptions& options, std::ostream& out);

/// Two lines for each queue pair, similar to "ss -ti". Counts that have increased since before are
/// followed by the difference: "retrans:7(+2)".
std::string qp_text(std::span<const genl::QueuePair> qps, const QpHistory& before = {});
std::string qp_json(std::span<const genl::QueuePair> qps);

}  // namespace sroce
