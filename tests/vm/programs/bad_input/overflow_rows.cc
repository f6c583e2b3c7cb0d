// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A CQ that is not polled until it overflows.
#include "bad_input/pair.h"
#include "harness/failure.h"

namespace bad_input {
namespace {

void overflow(Bench& bench) {
  constexpr int rounds = 64;
  Pair::Options options;
  options.near_cq_depth = 4;
  Pair pair(bench, options);
  while (bench.near().wait_async(harness::Deadline::after(std::chrono::milliseconds(0)))) {
  }
  ibv_send_wr wr = pair.right_wr(IBV_WR_RDMA_WRITE);
  wr.num_sge = 0;
  for (int i = 0; i < rounds; ++i)
    pair.near().qp().try_post_send(&wr);  // fails once the QP is in ERR
  while (const auto event = bench.near().wait_async(harness::Deadline::after(wait_limit)))
    if (event->event_type == IBV_EVENT_CQ_ERR) return;
  harness::fail("no IBV_EVENT_CQ_ERR");
}

}  // namespace

void run_overflow_rows(Bench& bench, harness::Tap& tap) {
  bench.run(tap, Layer::wire, "a CQ that overflows", [&] { overflow(bench); });
}

}  // namespace bad_input
