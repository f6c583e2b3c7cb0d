// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <string>

namespace sroce {

/// Runs a guest's kernel, whose consoles 1 to 3 become our standard streams and the exit status of
/// the command. The kernel's log goes to a file. Returns the exit status, or 125 if the guest has
/// ended without one, or does not start in $SROCE_RUN_LIMIT seconds.
int run_host(const std::string& log, char** kernel);

}  // namespace sroce
