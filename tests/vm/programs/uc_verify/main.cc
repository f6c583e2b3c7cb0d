// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// uc_verify: unreliable connections. Both ends are in this process.
#include "harness/args.h"
#include "uc_verify/connection.h"

int main(int argc, char** argv) {
  harness::Args args(
      argc, argv, "uc_verify --dev A [--gid a] [--peer-dev B] [--peer-gid b] [--loss | --traffic]");
  const std::string near = args.required("--dev"), far = args.text("--peer-dev", near);
  const int near_gid = static_cast<int>(args.number("--gid", 0));
  const int far_gid = static_cast<int>(args.number("--peer-gid", static_cast<unsigned>(near_gid)));
  const bool loss = args.flag("--loss"), only_traffic = args.flag("--traffic");
  args.finish();
  const uc::Devices devices = {verbs::Context(near), verbs::Context(far), near_gid, far_gid};
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
