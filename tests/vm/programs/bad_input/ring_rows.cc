// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Queues that are changed without the provider's knowledge (forged requests) or while it uses them
// (a CQ that is resized).
#include <rdma/rdma_user_rxe.h>
#include <sroce_abi.h>

#include <cstring>
#include <span>
#include <thread>

#include "bad_input/bench.h"
#include "harness/failure.h"
#include "ring_scribble/rings.h"

namespace bad_input {
namespace {

using harness::Deadline;
using harness::expect;
using harness::text;

// A receive with more SGEs than the QP supports fails when a message consumes it, even if there is
// no data to place.
void forged_receive(Bench& bench, std::size_t bytes) {
  const auto near = bench.make_near({});
  ring_scribble::ExposedEndpoint far(bench.far(), bench.far_gid(), bench.next_seed());
  connect_both(*near, far.end(), bench.link());
  ring_scribble::Ring& ring = far.ring(ring_scribble::RingKind::receive);
  if (ring.native) throw harness::Skip("native receives have no SGE count");
  auto* wqe = reinterpret_cast<rxe_recv_wqe*>(ring.slot(ring.producer()).data());
  wqe->wr_id = 77;
  wqe->dma.num_sge = far.end().qp().cap().max_recv_sge + 1;
  ring.advance_producer();

  ibv_sge sge = near->sge(0, bytes);
  ibv_send_wr wr{};
  wr.wr_id = 5;
  wr.sg_list = &sge;
  wr.num_sge = bytes ? 1 : 0;
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED;
  near->qp().post_send(&wr);
  const auto deadline = Deadline::after(wait_limit);
  verbs::expect_wc(near->send_cq().next(deadline, "the SEND"), 5, IBV_WC_REM_OP_ERR, "the SEND");
  verbs::expect_wc(far.end().recv_cq().next(deadline, "the receive"), 77, IBV_WC_LOC_QP_OP_ERR,
                   "the receive");
}

// Fast registration belongs to the kernel's own consumers. Nothing that a process writes to its
// ring is executed as such.
void forged_reg_mr(Bench& bench) {
  constexpr std::uint8_t opcode = 0x20;
  if (bench.far().name().starts_with("rxe")) throw harness::Skip("rdma_rxe executes it");
  const auto near = bench.make_near({});
  ring_scribble::ExposedEndpoint far(bench.far(), bench.far_gid(), bench.next_seed());
  connect_both(*near, far.end(), bench.link());
  ring_scribble::Ring& ring = far.ring(ring_scribble::RingKind::send);
  const std::span<std::byte> slot = ring.slot(ring.producer());
  if (ring.native) {
    sroce_send_slot wqe{};
    wqe.wr_id = 77;
    wqe.opcode = opcode;
    wqe.flags = IBV_SEND_SIGNALED;
    wqe.remote_addr = 0xdead;
    std::memcpy(slot.data(), &wqe, sizeof wqe);
  } else {
    rxe_send_wqe wqe{};
    wqe.wr.wr_id = 77;
    wqe.wr.opcode = opcode;
    wqe.wr.send_flags = IBV_SEND_SIGNALED;
    wqe.wr.wr.rdma.remote_addr = 0xdead;
    std::memcpy(slot.data(), &wqe, sizeof wqe);
  }
  ring.advance_producer();
  far.ring_doorbell();
  verbs::expect_wc(far.end().send_cq().next(Deadline::after(wait_limit), "the request"), 77,
                   IBV_WC_LOC_QP_OP_ERR, "the request");
}

int try_resize(verbs::Cq& cq, int depth) {
  const int result = ibv_resize_cq(cq.get(), depth);
  return result < 0 ? errno : result;
}

// Posts empty WRITEs whose completions fill a CQ that is not polled.
class Filler {
 public:
  Filler(Bench& bench, int depth) {
    verbs::EndpointOptions options;
    options.send_cq = std::make_shared<verbs::Cq>(bench.near(), depth);
    near_ = bench.make_near(options);
    far_ = bench.make_far({});
    connect_both(*near_, *far_, bench.link());
  }

  verbs::Cq& cq() { return near_->send_cq(); }

  void fill(std::uint32_t upto) {
    const auto deadline = Deadline::after(wait_limit);
    harness::Backoff backoff;
    while (posted_ < upto) {
      ibv_send_wr wr{};
      wr.wr_id = posted_;
      wr.opcode = IBV_WR_RDMA_WRITE;
      wr.send_flags = IBV_SEND_SIGNALED;
      const int error = near_->qp().try_post_send(&wr);
      if (error == 0) {
        ++posted_;
        backoff = {};
        continue;
      }
      expect(error == ENOMEM && !deadline.expired(), "ibv_post_send: ", std::strerror(error));
      backoff.pause();
    }
  }

  void expect_all_in_order() {
    for (std::uint32_t i = 0; i < posted_; ++i)
      verbs::expect_wc(cq().next(Deadline::after(wait_limit), "a WRITE"), i, IBV_WC_SUCCESS,
                       text("WRITE ", i));
    cq().expect_none(std::chrono::milliseconds(50), "after the last WRITE");
  }

 private:
  std::unique_ptr<verbs::Endpoint> near_;
  std::unique_ptr<verbs::Endpoint> far_;
  std::uint32_t posted_ = 0;
};

void resize_below_its_contents(Bench& bench) {
  Filler filler(bench, 2000);
  filler.fill(1100);  // at least 1000 have completed, because the send queue is not deeper
  const int error = try_resize(filler.cq(), 500);
  expect(error == EINVAL, "ibv_resize_cq gave ", error ? std::strerror(error) : "success");
  filler.expect_all_in_order();
}

// More completions are pending than one batch moves, and more arrive while they are moved.
void resize_while_filling(Bench& bench) {
  constexpr std::uint32_t first = 3000;
  constexpr std::uint32_t all = 9000;
  Filler filler(bench, 12000);
  filler.fill(first);
  std::string complaint;
  std::thread poster([&] {
    try {
      filler.fill(all);
    } catch (const harness::Failure& failure) {
      complaint = failure.what();
    }
  });
  int worst = 0;
  for (int turn = 0; turn < 40; ++turn) {
    worst = std::max(worst, try_resize(filler.cq(), turn % 2 ? 12000 : 30000));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  poster.join();
  expect(complaint.empty(), complaint);
  expect(worst == 0, "ibv_resize_cq: ", std::strerror(worst));
  filler.expect_all_in_order();
}

}  // namespace

void run_ring_rows(Bench& bench, harness::Tap& tap) {
  for (const std::size_t bytes : {0, 8})
    bench.run(tap, Layer::wire,
              text("SEND of ", bytes, " bytes to a receive with more SGEs than the QP has"),
              [&] { forged_receive(bench, bytes); });
  bench.run(tap, Layer::wire, "REG_MR in the ring of a process", [&] { forged_reg_mr(bench); });
  bench.run(tap, Layer::driver, "resizing a CQ below its contents",
            [&] { resize_below_its_contents(bench); });
  bench.run(tap, Layer::driver, "resizing a CQ while completions arrive",
            [&] { resize_while_filling(bench); });
}

}  // namespace bad_input
