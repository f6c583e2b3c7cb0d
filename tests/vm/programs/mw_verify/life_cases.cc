// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Binding again, invalidation, other QPs, and the order in which objects go.
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "harness/random.h"
#include "mw_verify/stage.h"

namespace mw {
namespace {

using harness::expect;

void move_type_1(const Devices& devices) {
  Stage stage(devices);
  const verbs::Mw window(stage.make_window(IBV_MW_TYPE_1));
  stage.expect_rejected(IBV_WR_RDMA_WRITE, window->rkey, stage.address(0), 1);
  for (std::size_t i = 0; i < 300; ++i) {
    const std::uint32_t old_key = window->rkey;
    stage.bind(window.get(), {i, 100});
    expect(window->rkey != old_key, "the key stays");
    stage.expect_permitted(IBV_WR_RDMA_WRITE, window->rkey, stage.address(i), 100);
    if (i % 30 == 0) stage.expect_rejected(IBV_WR_RDMA_WRITE, old_key, stage.address(i), 100);
  }
  stage.unbind(window.get());
  stage.expect_rejected(IBV_WR_RDMA_WRITE, window->rkey, stage.address(299), 100);
  stage.bind(window.get(), {0, 1});
}

// The peer and the owner may both invalidate.
void invalidate_type_2(const Devices& devices) {
  Stage stage(devices);
  const verbs::Mw window(stage.make_window(IBV_MW_TYPE_2));
  for (int round = 0; round < 20; ++round) {
    stage.bind(window.get(), {0, 100});
    stage.expect_permitted(IBV_WR_RDMA_WRITE, window->rkey, stage.address(0), 100);
    if (round % 2) {
      ibv_recv_wr receive{};
      stage.far().qp().post_recv(&receive);
      ibv_send_wr wr{};
      wr.opcode = IBV_WR_SEND_WITH_INV;
      wr.invalidate_rkey = window->rkey;
      wr.send_flags = IBV_SEND_SIGNALED;
      stage.near().qp().post_send(&wr);
      const auto deadline = harness::Deadline::after(timeout);
      const ibv_wc wc = stage.far().recv_cq().next(deadline, "a receive completes");
      expect(!wc.status && wc.wc_flags & IBV_WC_WITH_INV, verbs::describe(wc));
      expect(wc.invalidated_rkey == window->rkey, "invalidated ", wc.invalidated_rkey);
      expect(!stage.near().send_cq().next(deadline, "the SEND completes").status, "it fails");
    }
    expect(!stage.invalidate(window->rkey), "LOCAL_INV fails");
    stage.expect_rejected(IBV_WR_RDMA_READ, window->rkey, stage.address(0), 1);
  }
}

void other_qp(const Devices& devices) {
  Stage owner(devices);
  const auto pd = std::make_shared<verbs::Pd>(verbs::make_pd(devices.far));
  Stage one(devices, IBV_QPT_RC, pd), two(devices, IBV_QPT_RC, pd);
  const verbs::Mw shared(one.make_window(IBV_MW_TYPE_1)), own(one.make_window(IBV_MW_TYPE_2));
  one.bind(shared.get(), {0, 8});
  one.bind(own.get(), {0, 8});
  two.expect_permitted(IBV_WR_RDMA_WRITE, shared->rkey, one.address(0), 8);
  two.expect_rejected(IBV_WR_RDMA_WRITE, own->rkey, one.address(0), 8);
  owner.expect_rejected(IBV_WR_RDMA_WRITE, shared->rkey, one.address(0), 8);
  const ibv_wc_status status = two.invalidate(own->rkey);
  expect(status == IBV_WC_MW_BIND_ERR, "another QP invalidates: ", ibv_wc_status_str(status));
  one.expect_permitted(IBV_WR_RDMA_WRITE, own->rkey, one.address(0), 8);
}

// A new QP does not get the windows of one that is gone.
void qp_goes_first(const Devices& devices) {
  const auto pd = std::make_shared<verbs::Pd>(verbs::make_pd(devices.far));
  auto first = std::make_unique<Stage>(devices, IBV_QPT_RC, pd);
  Stage region(devices, IBV_QPT_RC, pd);
  const verbs::Mw window(first->make_window(IBV_MW_TYPE_2));
  ibv_mw_bind_info info = region.info({0, 8});
  int error = 0;
  expect(!first->try_bind(window.get(), info, error) && !error, "a bind fails");
  first->expect_permitted(IBV_WR_RDMA_WRITE, window->rkey, region.address(0), 8);
  first.reset();
  for (int i = 0; i < 20; ++i) {
    Stage next(devices, IBV_QPT_RC, pd);
    next.expect_rejected(IBV_WR_RDMA_WRITE, window->rkey, region.address(0), 8);
  }
}

void region_goes_first(const Devices& devices) {
  for (const ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
    Stage stage(devices);
    verbs::Pages memory(4096);
    ibv_mr* region = ibv_reg_mr(stage.far().pd().get(), memory.data(), 4096, region_access);
    expect(region, "ibv_reg_mr fails");
    verbs::Mw window(stage.make_window(type));
    ibv_mw_bind_info info{.mr = region,
                          .addr = reinterpret_cast<std::uint64_t>(memory.data()),
                          .length = 64,
                          .mw_access_flags = all_access};
    int error = 0;
    expect(!stage.try_bind(window.get(), info, error) && !error, "a bind fails");
    expect(ibv_dereg_mr(region) == EBUSY, "a region with a window is deregistered");
    stage.expect_permitted(IBV_WR_RDMA_WRITE, window->rkey, info.addr, 64);
    window.reset();
    expect(ibv_dereg_mr(region) == 0, "a region without windows is not deregistered");
  }
}

}  // namespace

void run_life_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("type 1 is bound again", [&] { move_type_1(devices); });
  tap.run("type 2 is invalidated by both ends", [&] { invalidate_type_2(devices); });
  tap.run("another QP uses windows of type 1 only", [&] { other_qp(devices); });
  tap.run("a QP goes before its window", [&] { qp_goes_first(devices); });
  tap.run("a region stays while it has windows", [&] { region_goes_first(devices); });
}

void abandon(const Devices& devices) {
  Stage stage(devices);
  for (int i = 0; i < 10; ++i)
    for (const ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2})
      stage.bind(stage.make_window(type), {0, 100});
  _exit(0);
}

}  // namespace mw
