// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <optional>
#include <ostream>
#include <span>
#include <string>

#include "sroce/genl.h"
#include "sroce/status.h"

namespace sroce {

struct QpOptions {
  std::optional<std::string> device{};  // absent: those of every device
  Format format = Format::table;
};

/// Prints the queue pairs and what they are doing. Throws Failure.
void run_qp(System& system, const QpOptions& options, std::ostream& out);

/// Two lines for each queue pair, as "ss -ti" shows TCP.
std::string qp_text(std::span<const genl::QueuePair> qps);
std::string qp_json(std::span<const genl::QueuePair> qps);

}  // namespace sroce
