// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The two ends of a program that tests both in one process.
#pragma once

#include "harness/args.h"
#include "verbs/context.h"

namespace verbs {

// Messages go from near to far, which may be the same device.
struct Devices {
  // Takes --dev, --gid, --peer-dev and --peer-gid.
  explicit Devices(harness::Args& args);

  int near_gid, far_gid;
  Context near, far;
};

// The options that Devices takes, for the usage of the program.
inline constexpr char devices_usage[] = "--dev A [--gid a] [--peer-dev B] [--peer-gid b]";

}  // namespace verbs
