// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// rc_verify: two processes with a device each check every byte and completion field of all RC
// opcodes.
#include <cstdio>

#include "rc_verify/cases.h"

namespace {

constexpr const char* usage =
    R"(usage: rc_verify --server --dev D [--gid G] [--port P]
       rc_verify --client HOST --dev D [--gid G] [--port P] [--seed N]
                 [--mtu all|256|512|1024|2048|4096] [--max-size BYTES] [--rounds N] [--quick]
                 [--data] [--direction both|client|server] [--duration SECONDS] [--timeout 0..31]
                 [--retry 0..7] [--wait-limit SECONDS] [--skip TEXT[,TEXT]...] [--no-atomics]

Start the server first. It uses the client's parameters.
  --gid         index in the device's GID table (default 1)
  --quick       only small sizes and the active MTU, one round
  --data        only cases that transfer data, without those of states, events and options
  --direction   the end that initiates requests
  --duration    run only verified traffic, in both directions at once, for netem. SIGTERM to the
                client ends it early. Prints the QPs for "raw_flood --qpn".
  --timeout, --retry  the QP attributes timeout and retry_cnt
  --wait-limit  the longest that any wait may last (default 60)
  --skip        skip cases whose names contain one of the texts; "client:TEXT" or "server:TEXT" skips
                those that this end initiates)";

struct Parameters {
  rc_verify::Bounds bounds;
  bool is_quick;
  bool data_only;
};

Parameters parse(harness::Args& args) {
  Parameters parameters{};
  rc_verify::Bounds& bounds = parameters.bounds;
  parameters.is_quick = args.flag("--quick");
  if (parameters.is_quick) {
    bounds.max_size = 64 << 10;
    bounds.rounds = 1;
  }
  parameters.data_only = args.flag("--data");
  const std::string mtu = args.text("--mtu", "all");
  bounds.mtu = mtu == "all" ? 0 : std::stoul(mtu);
  bounds.max_size = args.number("--max-size", bounds.max_size);
  bounds.rounds = args.number("--rounds", bounds.rounds);
  bounds.duration_s = args.number("--duration", 0);
  const std::string direction = args.text("--direction", "both");
  bounds.client_initiates = direction != "server";
  bounds.server_initiates = direction != "client";
  return parameters;
}

void run_cases(verbs::Session& session, const Parameters& parameters) {
  rc_verify::Bounds bounds = parameters.bounds;
  if (parameters.is_quick && bounds.mtu == 0)
    bounds.mtu = verbs::mtu_bytes(session.common().active_mtu);
  if (bounds.duration_s) {
    rc_verify::run_soak(session, bounds);
    return;
  }
  for (const bool client_initiates : {true, false}) {
    if (!(client_initiates ? bounds.client_initiates : bounds.server_initiates)) continue;
    session.set_initiator(client_initiates);
    rc_verify::run_data_cases(session, bounds);
    rc_verify::run_queue_cases(session, bounds);
    if (parameters.data_only) continue;
    rc_verify::run_state_cases(session);
    rc_verify::run_event_cases(session);
    rc_verify::run_optional_cases(session);
  }
}

}  // namespace

int main(int argc, char** argv) {
  harness::Tap tap;
  harness::Args args(argc, argv, usage);
  const bool completed = tap.completes([&] {
    const Parameters mine = parse(args);
    verbs::Session session(args, tap);
    args.finish();
    const Parameters theirs = session.duet().exchange(mine);
    run_cases(session, session.is_client() ? mine : theirs);
  });
  if (!completed) return 1;
  verbs::check_closes(tap);
  return tap.finish();
}
