// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Options -w: something again at an interval, until SIGINT.
#pragma once

#include <functional>
#include <ostream>

#include "sroce/device.h"

namespace sroce {

/// Calls sample at once and then at each interval, with the seconds since the last call (0 for the
/// first), until SIGINT, or until out fails. An interval does not become longer by the time that
/// sample takes.
void call_at_interval(System& system, double interval_seconds, std::ostream& out,
                      const std::function<void(double seconds)>& sample);

}  // namespace sroce
