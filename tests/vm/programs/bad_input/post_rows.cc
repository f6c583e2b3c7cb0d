// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ibv_post_send with work requests that must be rejected at once. Case pyverbs tests ibv_post_recv.
#include <vector>

#include "bad_input/pair.h"
#include "harness/failure.h"

namespace bad_input {
namespace {

using harness::expect;

void expect_errno(int found, int wanted, const char* call) {
  expect(found == wanted, call, " gave ", found ? std::strerror(found) : "success", ", wanted ",
         std::strerror(wanted));
}

void too_many_send_sges(Pair& pair) {
  std::vector<ibv_sge> sges(pair.near().qp().cap().max_send_sge + 1, pair.near().sge(0, 8));
  ibv_send_wr wr = pair.right_wr(IBV_WR_SEND);
  wr.sg_list = sges.data();
  wr.num_sge = static_cast<int>(sges.size());
  expect_errno(pair.near().qp().try_post_send(&wr), EINVAL, "ibv_post_send");
}

void too_much_inline(Pair& pair) {
  ibv_send_wr wr = pair.right_wr(IBV_WR_SEND);
  wr.send_flags |= IBV_SEND_INLINE;
  pair.sge().length = pair.near().qp().cap().max_inline_data + 1;
  expect_errno(pair.near().qp().try_post_send(&wr), EINVAL, "ibv_post_send");
}

void misaligned_atomic(Pair& pair) {
  ibv_send_wr wr = pair.right_wr(IBV_WR_ATOMIC_FETCH_AND_ADD);
  wr.wr.atomic.remote_addr += 4;
  expect_errno(pair.near().qp().try_post_send(&wr), EINVAL, "ibv_post_send");
}

void short_atomic(Pair& pair) {
  ibv_send_wr wr = pair.right_wr(IBV_WR_ATOMIC_CMP_AND_SWP);
  pair.sge().length = 4;
  expect_errno(pair.near().qp().try_post_send(&wr), EINVAL, "ibv_post_send");
}

// Without a receive at the far end, sends stay in the queue until it is full.
void full_send_queue(Pair& pair) {
  ibv_send_wr wr = pair.right_wr(IBV_WR_SEND);
  const std::uint32_t limit = 16 * (pair.near().qp().cap().max_send_wr + 1);
  int error = 0;
  for (std::uint32_t i = 0; i < limit && !error; ++i) error = pair.near().qp().try_post_send(&wr);
  expect_errno(error, ENOMEM, "ibv_post_send");
}

void bad_in_the_middle_of_a_chain(Pair& pair) {
  ibv_send_wr chain[3];
  ibv_sge sges[3];
  for (int i = 0; i < 3; ++i) {
    chain[i] = pair.right_wr(IBV_WR_RDMA_WRITE);
    sges[i] = pair.sge();
    chain[i].sg_list = &sges[i];
    chain[i].wr_id = static_cast<std::uint64_t>(i);
    chain[i].next = i < 2 ? &chain[i + 1] : nullptr;
  }
  std::vector<ibv_sge> many(pair.near().qp().cap().max_send_sge + 1, pair.sge());
  chain[1].sg_list = many.data();
  chain[1].num_sge = static_cast<int>(many.size());
  ibv_send_wr* bad = nullptr;
  const int error = std::abs(ibv_post_send(pair.near().qp().get(), chain, &bad));
  expect_errno(error, EINVAL, "ibv_post_send");
  expect(bad == &chain[1], "bad_wr does not point to the bad request");
  const ibv_wc wc = pair.expect_near({IBV_WC_SUCCESS});
  expect(wc.wr_id == 0, "the request before the bad one completed as ", wc.wr_id);
  pair.near().send_cq().expect_none(std::chrono::milliseconds(50), "requests from the bad one on");
}

struct Row {
  Layer layer;
  const char* name;
  void (*body)(Pair& pair);
};

const Row rows[] = {
    {Layer::provider, "post_send with too many SGEs", too_many_send_sges},
    {Layer::provider, "post_send with too much inline data", too_much_inline},
    {Layer::provider, "post_send of a misaligned atomic", misaligned_atomic},
    {Layer::provider, "post_send of an atomic with a short result", short_atomic},
    {Layer::provider, "post_send to a full queue", full_send_queue},
    {Layer::provider, "post_send of a chain with a bad request", bad_in_the_middle_of_a_chain},
};

// A QP that is not connected yet rejects sends, and must not send them later either.
void send_before_rts(Bench& bench, ibv_qp_state state) {
  const auto near = bench.make_near({});
  const auto far = bench.make_far({});
  verbs::LinkOptions link = bench.link();
  link.gid_index = bench.near_gid();
  if (state != IBV_QPS_RESET) near->qp().modify(verbs::rc_to_init(link), "INIT");
  if (state == IBV_QPS_RTR) near->qp().modify(verbs::rc_to_rtr(link, far->info().qp), "RTR");
  ibv_sge sge = near->sge(0, 8);
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED;
  expect_errno(near->qp().try_post_send(&wr), EINVAL, "ibv_post_send");
  near->send_cq().expect_none(std::chrono::milliseconds(50), "a send before RTS");
}

}  // namespace

void run_post_rows(Bench& bench, harness::Tap& tap) {
  for (const Row& row : rows) {
    bench.run(tap, row.layer, row.name, [&] {
      Pair pair(bench, {});
      row.body(pair);
    });
  }
  struct Early {
    const char* name;
    ibv_qp_state state;
  };
  for (const Early& early :
       {Early{"post_send in RESET", IBV_QPS_RESET}, Early{"post_send in INIT", IBV_QPS_INIT},
        Early{"post_send in RTR", IBV_QPS_RTR}})
    bench.run(tap, Layer::driver, early.name, [&] { send_before_rts(bench, early.state); });
}

}  // namespace bad_input
