// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// The command line: its grammar, its help, and the way from a failure to an exit status.
#pragma once

#include <ostream>

#include "sroce/system.h"

namespace sroce {

/// Runs one invocation of the tool and returns its exit status.
int run_command_line(int argc, const char* const* argv, System& system, std::ostream& out,
                     std::ostream& err);

}  // namespace sroce
