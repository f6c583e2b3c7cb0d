// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// object_life: every control and data path once, for a caller that makes allocations fail.
#include <cstdio>
#include <vector>

#include "harness/args.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "verbs/endpoint.h"
#include "verbs/transfer.h"

namespace {

using verbs::Op;

constexpr const char* usage =
    R"(usage: object_life --dev A --gid a --peer-dev B --peer-gid b

Create, connect and resize objects, transfer data, destroy all. Both ends belong to this process,
because all namespaces share RDMA devices. The exit status is 2 if the device reported an error or
transferred wrong data, 3 if an object cannot be closed.)";

constexpr auto wait_limit = std::chrono::seconds(30);
constexpr std::size_t arena_bytes = 256 << 10;
constexpr std::uint64_t seed = 1;

struct End {
  const verbs::Context& context;
  int gid;
};

void use_datagrams(const End& near, const End& far) {
  const verbs::Pd pd = verbs::make_pd(near.context);
  verbs::Cq cq(near.context, 16);
  verbs::QpOptions options;
  options.type = IBV_QPT_UD;
  verbs::Qp qp(pd, cq, cq, options);
  ibv_ah_attr attr{};
  attr.is_global = 1;
  attr.port_num = verbs::port_number;
  attr.grh.dgid = far.context.gid(far.gid);
  attr.grh.sgid_index = static_cast<std::uint8_t>(near.gid);
  const verbs::Ah ah(ibv_create_ah(pd.get(), &attr));
  if (!ah) harness::fail_errno(errno, "ibv_create_ah");
  if (ibv_resize_cq(cq.get(), 1000)) harness::fail_errno(errno, "ibv_resize_cq");
  qp.modify(verbs::ud_to_init(1), "INIT");
}

// Leaves the QP with requests that are not sent. They must not be read once it is being destroyed.
void fill_drained(verbs::Endpoint& end) {
  ibv_sge sge = end.sge(0, 8);
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.wr.rdma = {end.peer().address, end.peer().rkey};
  end.qp().modify(verbs::to_state(IBV_QPS_SQD), "SQD");
  for (int i = 0; i < 40; i++) end.qp().post_send(&wr);
}

void live(const End& near, const End& far) {
  verbs::EndpointOptions options;
  options.arena_bytes = arena_bytes;
  verbs::Endpoint initiator(near.context, near.gid, options, seed);
  verbs::Endpoint target(far.context, far.gid, options, seed + 1);
  verbs::LinkOptions link;
  connect_both(initiator, target, link);
  use_datagrams(near, far);
  std::vector<verbs::TransferSpec> specs{{Op::send_imm, 5000},
                                         {Op::write, 20000},
                                         {Op::read, 10000},
                                         {Op::write_imm, 100},
                                         {Op::fetch_add, 8}};
  // Enough requests for the storage of the send queue to grow.
  specs.insert(specs.end(), 40, {Op::write, 10});
  execute_locally(initiator, target, verbs::make_plan(specs, {}, seed), {wait_limit, 0});
  fill_drained(initiator);
}

void run(harness::Args& args, harness::Tap& tap) {
  const std::string near_name = args.required("--dev");
  const std::string far_name = args.required("--peer-dev");
  const auto near_gid = static_cast<int>(args.number("--gid", 1));
  const auto far_gid = static_cast<int>(args.number("--peer-gid", 1));
  args.finish();
  tap.run("objects live", [&] {
    const verbs::Context near(near_name);
    const verbs::Context far(far_name);
    live({near, near_gid}, {far, far_gid});
  });
  verbs::check_closes(tap);
}

}  // namespace

int main(int argc, char** argv) {
  harness::Tap tap;
  harness::Args args(argc, argv, usage);
  if (!tap.completes([&] { run(args, tap); })) return 1;
  tap.finish();
  if (verbs::close_failures()) return 3;
  return tap.failed() ? 2 : 0;
}
