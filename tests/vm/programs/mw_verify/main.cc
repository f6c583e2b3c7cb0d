// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// mw_verify: memory windows. Both ends are in this process.
#include "mw_verify/stage.h"

int main(int argc, char** argv) {
  harness::Args args(
      argc, argv,
      std::string("mw_verify ") + verbs::devices_usage + " [--revoke [--loss] | --abandon]");
  const bool only_revoke = args.flag("--revoke"), abandons = args.flag("--abandon");
  const bool loses = args.flag("--loss");
  const verbs::Devices devices(args);
  args.finish();
  if (abandons) mw::abandon(devices);
  harness::Tap tap;
  if (only_revoke) {
    mw::run_revoke_cases(tap, devices, loses);
    return tap.finish();
  }
  mw::run_access_cases(tap, devices);
  mw::run_life_cases(tap, devices);
  mw::run_error_cases(tap, devices);
  return tap.finish();
}
