// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

namespace sroce {

/// The first program of the guest: assembles its root and its network, runs the command, and waits
/// for the host to end the guest.
[[noreturn]] void run_guest();

}  // namespace sroce
