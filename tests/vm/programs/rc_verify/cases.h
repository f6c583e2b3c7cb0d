// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The cases of rc_verify. Both processes run each case at the same time, as its initiator or
// target.
#pragma once

#include "verbs/session.h"

namespace rc_verify {

struct Bounds {
  std::uint64_t mtu = 0;  // bytes; 0 is every MTU up to the active one
  std::uint64_t max_size = 64 << 20;
  std::uint64_t rounds = 2;
  std::uint64_t duration_s = 0;
  bool client_initiates = true;
  bool server_initiates = true;
};

// Every opcode at every interesting size, for every MTU, in one direction.
void run_data_cases(verbs::Session& session, const Bounds& bounds);
// Chains, fences, depths, shared queues.
void run_queue_cases(verbs::Session& session, const Bounds& bounds);
// RNR, dead peers, flush, SQD, RESET.
void run_state_cases(verbs::Session& session);
// Completion channels, solicited events, SRQ.
void run_event_cases(verbs::Session& session);
// UD and memory windows, if the devices support them.
void run_optional_cases(verbs::Session& session);
// Verified traffic in both directions at once, until the time is up.
void run_soak(verbs::Session& session, const Bounds& bounds);

}  // namespace rc_verify
