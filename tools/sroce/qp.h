// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>

#include "sroce/device.h"
#include "sroce/genl.h"
#include "sroce/output.h"

namespace sroce {

struct QpOptions {
  std::optional<std::string> device{};  // absent: queue pairs of every device
  Format format = Format::table;
};

/// Prints the queue pairs and their state. Throws Failure.
void run_qp(System& system, const QpOptions& options, std::ostream& out);

/// Two lines for each queue pair, similar to "ss -ti".
std::string qp_text(std::span<const genl::QueuePair> qps);
std::string qp_json(std::span<const genl::QueuePair> qps);

}  // namespace sroce
