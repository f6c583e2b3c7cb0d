// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Executes a plan on an endpoint: paint, post, wait, and check every completion field and byte.
#pragma once

#include <chrono>

#include "verbs/endpoint.h"
#include "verbs/plan.h"

namespace verbs {

struct ExecuteOptions {
  std::chrono::seconds wait_limit{30};
  std::uint32_t invalidate_rkey = 0;  // for SEND_WITH_INV
};

void paint_target(Endpoint& end, const Plan& plan);
void post_receives(Endpoint& end, const Plan& plan);
void prepare_target(Endpoint& end, const Plan& plan);  // both of these
void prepare_initiator(Endpoint& end, const Plan& plan);

void post_transfers(Endpoint& end, const Plan& plan, const ExecuteOptions& options);
void collect_sends(Endpoint& end, const Plan& plan, const ExecuteOptions& options);
void collect_receives(Endpoint& end, const Plan& plan, const ExecuteOptions& options);

void check_initiator(const Endpoint& end, const Plan& plan);
void check_target(const Endpoint& end, const Plan& plan);

// Checks every field of the target's completion of a transfer.
void check_receive_wc(const ibv_wc& wc, const Transfer& transfer, std::uint32_t qpn,
                      const ExecuteOptions& options);

// Executes both sides of a plan on two endpoints of this process.
void execute_locally(Endpoint& initiator, Endpoint& target, const Plan& plan,
                     const ExecuteOptions& options);

}  // namespace verbs
