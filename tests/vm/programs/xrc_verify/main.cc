// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// xrc_verify: extended reliable connections. The receiving end is this process and its children,
// which share the domain.
#include <signal.h>

#include "xrc_verify/cases.h"

int main(int argc, char** argv) {
  harness::Args args(argc, argv,
                     std::string("xrc_verify ") + verbs::devices_usage + " [--seed N] [--traffic]");
  const verbs::Devices devices(args);
  const std::uint64_t seed = args.number("--seed", 1);
  const bool only_traffic = args.flag("--traffic");
  args.finish();
  signal(SIGPIPE, SIG_IGN);
  harness::Tap tap;
  xrc::run_traffic_cases(tap, devices, seed);
  if (!only_traffic) {
    xrc::run_process_cases(tap, devices);
    xrc::run_error_cases(tap, devices);
  }
  verbs::check_closes(tap);
  return tap.finish();
}
