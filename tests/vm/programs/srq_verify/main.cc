// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// srq_verify: shared receive queues. Both ends are in this process.
#include "srq_verify/shared.h"

int main(int argc, char** argv) {
  harness::Args args(argc, argv,
                     std::string("srq_verify ") + verbs::devices_usage + " [--seed N] [--traffic]");
  const srq::Devices devices(args);
  const bool only_traffic = args.flag("--traffic");
  args.finish();
  harness::Tap tap;
  srq::run_traffic_cases(tap, devices);
  if (!only_traffic) {
    srq::run_event_cases(tap, devices);
    srq::run_object_cases(tap, devices);
  }
  return tap.finish();
}
