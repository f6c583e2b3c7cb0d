// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A window is taken away while the peer writes through it. Once that is complete, nothing more is
// written. The link must be slow enough for this race.
#include <algorithm>
#include <thread>

#include "harness/random.h"
#include "mw_verify/stage.h"

namespace mw {
namespace {

using harness::expect;

constexpr std::size_t message = 16'000;
constexpr unsigned depth = 8;

void post_writes(Stage& stage, std::uint32_t rkey) {
  ibv_sge sge = stage.near().sge(0, message);
  ibv_send_wr wr{};
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.wr.rdma.remote_addr = stage.address(0);
  wr.wr.rdma.rkey = rkey;
  for (unsigned i = 0; i < depth; ++i) stage.near().qp().post_send(&wr);
}

void revoke(Stage& stage, ibv_mw* window) {
  if (window->type == IBV_MW_TYPE_2)
    expect(!stage.invalidate(window->rkey), "LOCAL_INV fails");
  else
    stage.unbind(window);
}

// Returns whether a WRITE was rejected, and thus the race was run.
bool race(Stage& stage, ibv_mw* window, harness::Random& random, bool loses) {
  stage.bind(window, {0, message});
  post_writes(stage, window->rkey);
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(4000)));
  revoke(stage, window);
  std::ranges::fill(stage.bytes(), untouched);
  unsigned rejected = 0;
  const auto deadline = harness::Deadline::after(timeout);
  for (unsigned i = 0; i < depth; ++i) {
    const ibv_wc wc = stage.near().send_cq().next(deadline, "a WRITE completes");
    // The NAK may be lost.
    const bool is_first =
        wc.status == IBV_WC_REM_ACCESS_ERR || (loses && wc.status == IBV_WC_RETRY_EXC_ERR);
    expect(rejected ? wc.status == IBV_WC_WR_FLUSH_ERR : !wc.status || is_first,
           verbs::describe(wc));
    rejected += wc.status != IBV_WC_SUCCESS;
  }
  expect(std::ranges::all_of(stage.bytes(), [](std::byte byte) { return byte == untouched; }),
         "bytes are written after the window was taken away");
  return rejected;
}

void race_often(const Devices& devices, ibv_mw_type type, bool loses) {
  harness::Random random(type);
  int rejections = 0;
  // The QPs are new each time, because packets of the old ones are still on their way.
  for (int round = 0; round < 100; ++round) {
    Stage stage(devices);
    const verbs::Mw window(stage.make_window(type));
    rejections += race(stage, window.get(), random, loses);
  }
  expect(rejections >= 20, "only ", rejections, " windows were taken away in time");
}

}  // namespace

void run_revoke_cases(harness::Tap& tap, const Devices& devices, bool loses) {
  tap.run("type 1 is unbound under WRITEs", [&] { race_often(devices, IBV_MW_TYPE_1, loses); });
  tap.run("type 2 is invalidated under WRITEs", [&] { race_often(devices, IBV_MW_TYPE_2, loses); });
}

}  // namespace mw
