// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Binds that must fail and leave the window as it is, and keys that are no L_Keys.
#include <algorithm>
#include <functional>

#include "mw_verify/stage.h"

namespace mw {
namespace {

using harness::expect;

// Both windows are of one type, and the first is bound.
struct Ends {
  Stage& stage;
  ibv_mw* bound;
  ibv_mw* free;
  ibv_mr* other_region;  // of another protection domain
  ibv_mr* plain_region;  // without IBV_ACCESS_MW_BIND
  ibv_mr* read_region;   // without IBV_ACCESS_LOCAL_WRITE
};

struct Row {
  const char* name;
  std::function<void(const Ends&, ibv_mw_bind_info&)> spoil;
  bool type_1 = true, type_2 = true;
  bool rebinds = false;  // the window that is bound already
};

const Row rows[] = {
    {"a region of another protection domain",
     [](const Ends& ends, ibv_mw_bind_info& info) { info.mr = ends.other_region; }},
    {"a region that permits no windows",
     [](const Ends& ends, ibv_mw_bind_info& info) { info.mr = ends.plain_region; }},
    {"writes to a region that its owner only reads",
     [](const Ends& ends, ibv_mw_bind_info& info) { info.mr = ends.read_region; }},
    {"one byte too long",
     [](const Ends&, ibv_mw_bind_info& info) { info.length = Stage::region_bytes + 1; }},
    {"one byte too early", [](const Ends&, ibv_mw_bind_info& info) { info.addr--; }},
    {"a length of 2^64 - 1", [](const Ends&, ibv_mw_bind_info& info) { info.length = ~0ull; }},
    {"an unknown permission",
     [](const Ends&, ibv_mw_bind_info& info) { info.mw_access_flags |= 1u << 18; }},
    {"a zero-based window of type 1",
     [](const Ends&, ibv_mw_bind_info& info) { info.mw_access_flags |= IBV_ACCESS_ZERO_BASED; },
     true, false},
    {"an empty window of type 2", [](const Ends&, ibv_mw_bind_info& info) { info.length = 0; },
     false},
    {"a window of type 2 that is bound", [](const Ends&, ibv_mw_bind_info&) {}, false, true, true},
};

void spoil_bind(const Devices& devices, const Row& row, ibv_mw_type type) {
  Stage stage(devices);
  const verbs::Mw bound(stage.make_window(type)), free(stage.make_window(type));
  const verbs::Pd other_pd = verbs::make_pd(devices.far);
  const auto region = [&](const verbs::Pd& pd, int access) {
    return verbs::make_mr(pd, stage.bytes().data(), stage.bytes().size(), access);
  };
  const verbs::Mr other = region(other_pd, region_access),
                  plain = region(stage.far().pd(), IBV_ACCESS_LOCAL_WRITE),
                  read = region(stage.far().pd(), IBV_ACCESS_MW_BIND);
  const Ends ends = {stage, bound.get(), free.get(), other.get(), plain.get(), read.get()};
  stage.bind(bound.get(), {0, 64});
  const std::uint32_t key = bound->rkey;
  ibv_mw_bind_info info = stage.info({0, Stage::region_bytes});
  row.spoil(ends, info);
  const ibv_wc_status status = stage.post_bind(row.rebinds ? ends.bound : ends.free, info);
  expect(status == IBV_WC_MW_BIND_ERR, row.name, ": ", ibv_wc_status_str(status));
  stage.reconnect();
  stage.expect_permitted(IBV_WR_RDMA_WRITE, key, stage.address(0), 64);
  stage.expect_rejected(IBV_WR_RDMA_WRITE, free->rkey, stage.address(0), 1);
}

// The end that owns a window names a buffer of its own by the window's key.
void no_local_key(const Devices& devices) {
  Stage stage(devices);
  const verbs::Mw windows[] = {verbs::Mw(stage.make_window(IBV_MW_TYPE_1)),
                               verbs::Mw(stage.make_window(IBV_MW_TYPE_2))};
  for (const verbs::Mw& window : windows) {
    stage.bind(window.get(), {0, 64});
    ibv_sge sge{stage.address(0), 8, window->rkey};
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_SEND;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    stage.far().qp().post_send(&wr);
    const ibv_wc wc =
        stage.far().send_cq().next(harness::Deadline::after(timeout), "a SEND completes");
    expect(wc.status == IBV_WC_LOC_PROT_ERR, verbs::describe(wc));
    stage.reconnect();
  }
}

void no_window(const Devices& devices) {
  Stage stage(devices);
  for (const std::uint32_t key : {stage.region()->rkey, 0u, 0xdeadbe00u}) {
    const ibv_wc_status status = stage.invalidate(key);
    expect(status == IBV_WC_MW_BIND_ERR, "LOCAL_INV: ", ibv_wc_status_str(status));
    stage.reconnect();
  }
  const verbs::Mw window(stage.make_window(IBV_MW_TYPE_2));
  ibv_mw forged = *window;
  forged.rkey = stage.region()->rkey;
  int error = 0;
  const ibv_wc_status status = stage.try_bind(&forged, stage.info({0, 64}), error);
  expect(!error && status == IBV_WC_MW_BIND_ERR,
         "a region as a window: ", ibv_wc_status_str(status));
}

}  // namespace

void run_error_cases(harness::Tap& tap, const Devices& devices) {
  for (const Row& row : rows) {
    if (row.type_1)
      tap.run(std::string("type 1 is not bound: ") + row.name,
              [&] { spoil_bind(devices, row, IBV_MW_TYPE_1); });
    if (row.type_2)
      tap.run(std::string("type 2 is not bound: ") + row.name,
              [&] { spoil_bind(devices, row, IBV_MW_TYPE_2); });
  }
  tap.run("a window has no L_Key", [&] { no_local_key(devices); });
  tap.run("a key that names no window is neither bound nor invalidated",
          [&] { no_window(devices); });
}

}  // namespace mw
