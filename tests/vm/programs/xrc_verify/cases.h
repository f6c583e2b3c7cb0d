// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include "harness/tap.h"
#include "xrc_verify/stage.h"

namespace xrc {

void run_traffic_cases(harness::Tap& tap, const verbs::Devices& devices, std::uint64_t seed);
void run_process_cases(harness::Tap& tap, const verbs::Devices& devices);
void run_error_cases(harness::Tap& tap, const verbs::Devices& devices);

}  // namespace xrc
