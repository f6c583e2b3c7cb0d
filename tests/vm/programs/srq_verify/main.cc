// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// srq_verify: shared receive queues. Both ends are in this process.
#include "harness/args.h"
#include "srq_verify/shared.h"

int main(int argc, char** argv) {
  harness::Args args(
      argc, argv,
      "srq_verify --dev A [--gid a] [--peer-dev B] [--peer-gid b] [--seed N] [--traffic]");
  const std::string near = args.required("--dev"), far = args.text("--peer-dev", near);
  const int near_gid = static_cast<int>(args.number("--gid", 0));
  const int far_gid = static_cast<int>(args.number("--peer-gid", static_cast<unsigned>(near_gid)));
  const std::uint64_t seed = args.number("--seed", 1);
  const bool only_traffic = args.flag("--traffic");
  args.finish();
  const srq::Devices devices = {verbs::Context(near), verbs::Context(far), near_gid, far_gid, seed};
  harness::Tap tap;
  srq::run_traffic_cases(tap, devices);
  if (!only_traffic) {
    srq::run_event_cases(tap, devices);
    srq::run_object_cases(tap, devices);
  }
  return tap.finish();
}
