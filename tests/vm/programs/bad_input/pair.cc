// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "bad_input/pair.h"

#include "harness/failure.h"

namespace bad_input {
namespace {

constexpr std::size_t middle = pair_arena / 2;
constexpr std::size_t usual_length = 64;
constexpr std::uint64_t receive_id = 77;

void expect_status(const ibv_wc& wc, const Statuses& wanted, const char* side) {
  if (wanted.contains(wc.status)) return;
  std::string names;
  for (const ibv_wc_status status : wanted)
    names += std::string(names.empty() ? "" : " or ") + ibv_wc_status_str(status);
  harness::fail(side, " got ", verbs::describe(wc), "; wanted ", names);
}

}  // namespace

Pair::Pair(Bench& bench, const Options& options) : far_image_(bench.next_seed()) {
  verbs::EndpointOptions near_options;
  near_options.arena_bytes = pair_arena;
  if (options.near_cq_depth)
    near_options.send_cq = near_cq_ =
        std::make_shared<verbs::Cq>(bench.near(), options.near_cq_depth);
  near_ = bench.make_near(near_options);
  verbs::EndpointOptions far_options;
  far_options.arena_bytes = pair_arena;
  far_options.access = options.far_access;
  far_ = bench.make_far(far_options);

  verbs::LinkOptions link = bench.link();
  link.timeout = 12;
  link.retry_cnt = 2;
  link.rnr_retry = options.rnr_retry;
  link.access = options.near_qp_access;
  near_->connect(far_->info(), link);
  link.access = options.far_qp_access;
  if (options.far_mtu) link.mtu = options.far_mtu;
  far_->connect(near_->info(), link);
  far_image_.paint(far_->arena());
}

ibv_send_wr Pair::right_wr(ibv_wr_opcode opcode) {
  const bool is_atomic =
      opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  sge_ = near_->sge(middle, is_atomic ? 8 : usual_length);
  ibv_send_wr wr{};
  wr.wr_id = 5;
  wr.sg_list = &sge_;
  wr.num_sge = 1;
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  const verbs::EndpointInfo& peer = near_->peer();
  if (is_atomic) {
    wr.wr.atomic.remote_addr = peer.address + middle;
    wr.wr.atomic.rkey = peer.rkey;
    wr.wr.atomic.compare_add = 1;
  } else {
    wr.wr.rdma.remote_addr = peer.address + middle;
    wr.wr.rdma.rkey = peer.rkey;
  }
  return wr;
}

void Pair::post_far_receive(std::size_t length, std::uint32_t lkey_flip) {
  ibv_sge sge = far_->sge(middle, length);
  sge.lkey ^= lkey_flip;
  ibv_recv_wr wr{};
  wr.wr_id = receive_id;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  far_->qp().post_recv(&wr);
}

ibv_wc Pair::expect_near(const Statuses& wanted) {
  const ibv_wc wc =
      near_->send_cq().next(harness::Deadline::after(wait_limit), "the requester's completion");
  expect_status(wc, wanted, "the requester");
  return wc;
}

ibv_wc Pair::expect_far(const Statuses& wanted) {
  const ibv_wc wc =
      far_->recv_cq().next(harness::Deadline::after(wait_limit), "the receiver's completion");
  expect_status(wc, wanted, "the receiver");
  return wc;
}

void Pair::expect_far_untouched() const {
  const std::string complaint = far_image_.check(far_->arena());
  harness::expect(complaint.empty(), "the far memory has changed: ", complaint);
}

}  // namespace bad_input
