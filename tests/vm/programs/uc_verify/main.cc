// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// uc_verify: unreliable connections. Both ends are in this process.
#include "uc_verify/connection.h"

int main(int argc, char** argv) {
  harness::Args args(argc, argv,
                     std::string("uc_verify ") + verbs::devices_usage + " [--loss | --traffic]");
  const verbs::Devices devices(args);
  const bool loss = args.flag("--loss"), only_traffic = args.flag("--traffic");
  args.finish();
  harness::Tap tap;
  if (loss) {
    uc::run_loss_case(tap, devices);
    return tap.finish();
  }
  uc::run_traffic_cases(tap, devices);
  if (!only_traffic) {
    uc::run_srq_cases(tap, devices);
    uc::run_error_cases(tap, devices);
  }
  return tap.finish();
}
