// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The command line: its grammar, its help texts, and the exit status of a failure.
#pragma once

#include <ostream>

#include "sroce/device.h"

namespace sroce {

/// Runs one invocation of the tool and returns its exit status.
int run_command_line(int argc, const char* const* argv, System& system, std::ostream& out,
                     std::ostream& err);

}  // namespace sroce
