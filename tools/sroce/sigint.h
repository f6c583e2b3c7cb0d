// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Waiting that SIGINT ends, for commands that go on until then and have a last thing to say.
#pragma once

#include <chrono>

namespace sroce {

enum class Wait { elapsed, input, interrupted };

/// Waits until the file has input, or the time has elapsed. From the first call on, SIGINT ends
/// only these functions, and not the process. Between the calls it is not blocked, so that it ends
/// programs that the process starts.
Wait wait_for_input(int fd, std::chrono::milliseconds time);

/// Sleeps. Returns false if SIGINT has come since the first call.
bool pause(std::chrono::milliseconds time);

}  // namespace sroce
