// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Pairs of QPs: connected again and again, used against the memory of others, idle.
#include <unistd.h>

#include "abuse/abuse.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "verbs/transfer.h"

namespace abuse {
namespace {

using harness::Deadline;
using harness::expect;
using harness::Random;
using harness::text;
using verbs::Endpoint;
using verbs::Op;

constexpr auto wait_limit = std::chrono::seconds(30);
constexpr std::size_t arena_bytes = 256 << 10;

verbs::EndpointOptions options_with(int access, std::size_t bytes) {
  verbs::EndpointOptions options;
  options.arena_bytes = bytes;
  options.access = access;
  return options;
}

verbs::EndpointOptions small() {
  return options_with(verbs::EndpointOptions{}.access, arena_bytes);
}

struct Pair {
  Pair(const Bench& bench, const verbs::EndpointOptions& far_options, std::uint64_t seed)
      : near(bench.near, bench.near_gid, small(), seed),
        far(bench.far, bench.far_gid, far_options, seed + 1) {
    connect();
  }

  void connect() {
    verbs::LinkOptions link;
    connect_both(near, far, link);
  }

  void connect_again() {
    for (Endpoint* end : {&near, &far}) end->qp().modify(verbs::to_state(IBV_QPS_RESET), "RESET");
    connect();
  }

  Endpoint near;
  Endpoint far;
};

ibv_wc_status attack(Pair& pair, ibv_wr_opcode opcode, std::uint64_t address, std::uint32_t rkey) {
  ibv_sge sge = pair.near.sge(0, 8);
  // An atomic needs an aligned place for its result.
  sge.addr = (sge.addr + 7) / 8 * 8;
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic.remote_addr = address;
    wr.wr.atomic.rkey = rkey;
    wr.wr.atomic.compare_add = 1;
  } else {
    wr.wr.rdma.remote_addr = address;
    wr.wr.rdma.rkey = rkey;
  }
  pair.near.qp().post_send(&wr);
  return pair.near.send_cq().next(Deadline::after(wait_limit), "the end of a request").status;
}

void expect_rejected(Pair& pair, ibv_wr_opcode opcode, std::uint64_t address, std::uint32_t rkey) {
  const ibv_wc_status status = attack(pair, opcode, address, rkey);
  expect(status == IBV_WC_REM_ACCESS_ERR, "key ", rkey, ": ", ibv_wc_status_str(status));
  pair.connect_again();
}

}  // namespace

void guess_keys(const Bench& bench) {
  constexpr ibv_wr_opcode opcodes[] = {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
                                       IBV_WR_ATOMIC_FETCH_AND_ADD};
  Endpoint victim(bench.far, bench.far_gid, small(), bench.seed);
  harness::fill_pattern(victim.arena(), bench.seed, 0);
  const verbs::EndpointInfo secret = victim.info();
  const std::uint64_t address = (secret.address + 7) / 8 * 8;
  // No key of its own permits remote access, so that every success is one too many.
  Pair pair(bench, options_with(IBV_ACCESS_LOCAL_WRITE, arena_bytes), bench.seed + 2);
  Random random(bench.seed);
  Repeat repeat(bench);
  for (const ibv_wr_opcode opcode : opcodes) expect_rejected(pair, opcode, address, secret.rkey);
  // Keys near the right one, which differ in the variant or the index, and any others.
  while (repeat.again()) {
    const std::uint32_t key =
        random.one_in(2) ? secret.rkey + random.next32() % 2048 - 1024 : random.next32();
    expect_rejected(pair, opcodes[repeat.done() % std::size(opcodes)], address, key);
  }
  harness::Image image(0);
  image.place_pattern(0, arena_bytes, bench.seed, 0);
  const std::string complaint = image.check(victim.arena());
  expect(complaint.empty(), "the memory of the victim: ", complaint);
  harness::note(text(repeat.done(), " guessed keys were rejected"));
}

void cycle(const Bench& bench) {
  Repeat repeat(bench);
  while (repeat.again()) {
    Pair pair(bench, small(), bench.seed + repeat.done());
    execute_locally(pair.near, pair.far,
                    verbs::make_plan({{Op::send, 100}, {Op::write, 3000}}, {}, repeat.done()),
                    {wait_limit, 0});
  }
  harness::note(text(repeat.done(), " pairs were connected"));
}

void stay_idle(const Bench& bench) {
  Pair pair(bench, small(), bench.seed);
  harness::note(text("qpn=", pair.far.qp().number(), " psn=", pair.near.psn()));
  ::pause();
}

}  // namespace abuse
