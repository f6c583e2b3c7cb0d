// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// native_verbs_static: libibverbs and our provider in a static program, which finds its devices
// although nothing is installed. Both ends are in this process.
#include "harness/args.h"
#include "native_verbs/pair.h"

namespace {

using harness::Deadline;
using native_verbs::timeout;

constexpr std::size_t size = 64;

void pass(verbs::Endpoint& from, verbs::Endpoint& to, std::uint64_t turn) {
  ibv_sge target = to.sge(0, size), source = from.sge(0, size);
  ibv_recv_wr receive{};
  receive.wr_id = turn;
  receive.sg_list = &target;
  receive.num_sge = 1;
  to.qp().post_recv(&receive);
  std::memset(from.arena().data(), static_cast<int>(turn % 251), size);
  ibv_send_wr send{};
  send.wr_id = turn;
  send.sg_list = &source;
  send.num_sge = 1;
  send.opcode = IBV_WR_SEND;
  send.send_flags = IBV_SEND_SIGNALED;
  from.qp().post_send(&send);
  verbs::expect_wc(to.recv_cq().next(Deadline::after(timeout), "receive"), turn, IBV_WC_SUCCESS,
                   "receive");
  verbs::expect_wc(from.send_cq().next(Deadline::after(timeout), "send"), turn, IBV_WC_SUCCESS,
                   "send");
  harness::expect(std::memcmp(from.arena().data(), to.arena().data(), size) == 0,
                  "received other bytes in turn ", turn);
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(argc, argv, std::string("native_verbs_static ") + verbs::devices_usage);
  const verbs::Devices devices(args);
  args.finish();
  harness::Tap tap;
  tap.run("ping-pong in a static program", [&] {
    native_verbs::Pair pair(devices);
    for (std::uint64_t turn = 0; turn < 1000; turn++)
      turn % 2 ? pass(pair.far, pair.near, turn) : pass(pair.near, pair.far, turn);
  });
  return tap.finish();
}
