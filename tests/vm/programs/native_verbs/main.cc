// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// native_verbs: features that only our provider has. Both ends are in this process.
#include "harness/args.h"
#include "native_verbs/pair.h"

int main(int argc, char** argv) {
  harness::Args args(argc, argv, "native_verbs --dev A [--gid a] [--peer-dev B] [--peer-gid b]");
  const std::string near = args.required("--dev"), far = args.text("--peer-dev", near);
  const int near_gid = static_cast<int>(args.number("--gid", 0));
  const int far_gid = static_cast<int>(args.number("--peer-gid", static_cast<unsigned>(near_gid)));
  args.finish();
  const native_verbs::Devices devices = {verbs::Context(near), verbs::Context(far), near_gid,
                                         far_gid};
  harness::Tap tap;
  native_verbs::run_doorbell_cases(tap, devices);
  native_verbs::run_event_cases(tap, devices);
  native_verbs::run_extended_cases(tap, devices);
  return tap.finish();
}
