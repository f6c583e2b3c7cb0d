// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <optional>
#include <ostream>
#include <string>

#include "sroce/device.h"
#include "sroce/output.h"

namespace sroce {

struct StatusOptions {
  std::optional<std::string> name{};  // absent: every device
  bool all = false;                   // devices of rdma_rxe, too
  Format format = Format::table;
};

/// Prints the state of the devices. Throws Failure.
void run_status(System& system, const StatusOptions& options, std::ostream& out);

}  // namespace sroce
