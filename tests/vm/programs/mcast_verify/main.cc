// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// mcast_verify: multicast. Both ends are in this process. With --attach, a QP of the device is
// attached to groups 1 to 10, and sends to them until the process is killed or the device has gone.
// With --listen it only is attached.
#include <unistd.h>

#include "harness/args.h"
#include "mcast_verify/member.h"
#include "verbs/handle.h"

namespace {

[[noreturn]] void stay(const mcast::Devices& devices, bool sends) {
  mcast::Member member(devices.near, devices.near_gid);
  for (unsigned number = 1; number <= 10; ++number) member.attach(number);
  while (!sends) pause();
  for (unsigned i = 0;; ++i) {
    member.send(member.group(1 + i % 10), i);
    member.drain();
  }
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(
      argc, argv,
      std::string("mcast_verify ") + verbs::devices_usage + " [--traffic | --attach | --listen]");
  const verbs::Devices devices(args);
  const bool only_traffic = args.flag("--traffic"), attach = args.flag("--attach");
  const bool listen = args.flag("--listen");
  args.finish();
  harness::Tap tap;
  if (attach || listen) {
    tap.run("stays until the end", [&] { stay(devices, attach); });
    return tap.finish();
  }
  mcast::run_traffic_cases(tap, devices);
  if (!only_traffic) {
    mcast::run_drop_cases(tap, devices);
    mcast::run_call_cases(tap, devices);
  }
  verbs::check_closes(tap);
  return tap.finish();
}
