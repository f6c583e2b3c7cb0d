// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// idle_qp: a QP that has sent something and then does nothing. It keeps its route.
#include <unistd.h>

#include <cstdio>

#include "harness/args.h"
#include "harness/deadline.h"
#include "harness/failure.h"
#include "verbs/devices.h"
#include "verbs/endpoint.h"

namespace {

constexpr const char* usage =
    R"(usage: idle_qp --dev A [--gid a] [--peer-dev B] [--peer-gid b]

Connect two QPs, write from A to B, print "idle", and sleep.)";

void run(harness::Args& args) {
  const verbs::Devices devices(args);
  args.finish();

  verbs::Endpoint near(devices.near, devices.near_gid, {}, 1);
  verbs::Endpoint far(devices.far, devices.far_gid, {}, 2);
  connect_both(near, far, {});
  ibv_sge sge = near.sge(0, 64);
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma.remote_addr = near.peer().address;
  wr.wr.rdma.rkey = near.peer().rkey;
  near.qp().post_send(&wr);
  const ibv_wc wc =
      near.send_cq().next(harness::Deadline::after(std::chrono::seconds(20)), "the write");
  harness::expect(wc.status == IBV_WC_SUCCESS, verbs::describe(wc));
  std::puts("idle");
  std::fflush(stdout);
  ::pause();
}

}  // namespace

int main(int argc, char** argv) { return harness::run_main(argc, argv, usage, run); }
