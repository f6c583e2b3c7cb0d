// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// native_verbs: features that only our provider has. Both ends are in this process.
#include "native_verbs/pair.h"

int main(int argc, char** argv) {
  harness::Args args(argc, argv, std::string("native_verbs ") + verbs::devices_usage);
  const verbs::Devices devices(args);
  args.finish();
  harness::Tap tap;
  native_verbs::run_doorbell_cases(tap, devices);
  native_verbs::run_event_cases(tap, devices);
  native_verbs::run_extended_cases(tap, devices);
  return tap.finish();
}
