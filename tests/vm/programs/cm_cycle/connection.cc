// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cm_cycle/connection.h"

#include "harness/failure.h"
#include "harness/image.h"

namespace cm_cycle {
namespace {

using harness::fail_errno;

constexpr std::size_t slot_bytes = 5000;  // a few packets, and not a multiple of anything
constexpr auto wait_limit = std::chrono::seconds(30);

}  // namespace

Connection::Connection(rdma_cm_id* id)
    : id_(id),
      send_cq_(ibv_create_cq(id->verbs, 16, nullptr, nullptr, 0)),
      recv_cq_(ibv_create_cq(id->verbs, 16, nullptr, nullptr, 0)),
      pages_(slots * slot_bytes) {
  if (!send_cq_ || !recv_cq_) fail_errno(errno, "ibv_create_cq");
  ibv_qp_init_attr init{};
  init.send_cq = send_cq_.get();
  init.recv_cq = recv_cq_.get();
  init.qp_type = IBV_QPT_RC;
  init.cap = {4, 4, 1, 1, 0};
  if (rdma_create_qp(id_, nullptr, &init)) fail_errno(errno, "rdma_create_qp");
  mr_.reset(ibv_reg_mr(id_->pd, pages_.data(), pages_.size(),
                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
  if (!mr_) {
    const int error = errno;
    rdma_destroy_qp(id_);
    fail_errno(error, "ibv_reg_mr");
  }
}

Connection::~Connection() { rdma_destroy_qp(id_); }

Hello Connection::hello(std::uint32_t magic, std::uint32_t cycle, std::uint32_t wants,
                        std::uint64_t seed) const {
  return {magic, cycle, wants, mr_->rkey, sge(write_target).addr, seed};
}

std::span<std::byte> Connection::slot(Slot which) const {
  return pages_.span().subspan(which * slot_bytes, slot_bytes);
}

ibv_sge Connection::sge(Slot which) const {
  return {reinterpret_cast<std::uint64_t>(slot(which).data()), slot_bytes, mr_->lkey};
}

void Connection::post_receives() {
  for (const Slot which : {first_receive, second_receive}) {
    ibv_sge target = sge(which);
    ibv_recv_wr wr{};
    wr.wr_id = which;
    wr.sg_list = &target;
    wr.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    if (const int error = ibv_post_recv(id_->qp, &wr, &bad)) fail_errno(error, "ibv_post_recv");
  }
}

void Connection::send(ibv_wr_opcode opcode, std::uint64_t seed, std::uint64_t remote,
                      std::uint32_t rkey) {
  harness::fill_pattern(slot(outgoing), seed, 0);
  ibv_sge source = sge(outgoing);
  ibv_send_wr wr{};
  wr.wr_id = outgoing;
  wr.sg_list = &source;
  wr.num_sge = 1;
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.wr.rdma.remote_addr = remote;
  wr.wr.rdma.rkey = rkey;
  ibv_send_wr* bad = nullptr;
  if (const int error = ibv_post_send(id_->qp, &wr, &bad)) fail_errno(error, "ibv_post_send");
}

void Connection::expect_completion(ibv_wc_opcode opcode, const char* what) {
  const auto deadline = harness::Deadline::after(wait_limit);
  harness::Backoff backoff;
  ibv_cq* cq = opcode == IBV_WC_RECV ? recv_cq_.get() : send_cq_.get();
  ibv_wc wc{};
  int polled = 0;
  while ((polled = ibv_poll_cq(cq, 1, &wc)) == 0) {
    if (deadline.expired()) harness::fail("timeout waiting for ", what);
    backoff.pause();
  }
  harness::expect(polled == 1 && wc.status == IBV_WC_SUCCESS, what, ": ", verbs::describe(wc));
  harness::expect(wc.opcode == opcode, what, ": completion opcode ", wc.opcode, ", wanted ",
                  opcode);
  if (opcode == IBV_WC_RECV)
    harness::expect(wc.byte_len == slot_bytes, what, ": byte_len ", wc.byte_len);
}

void Connection::expect_data(Slot which, std::uint64_t seed, const char* what) const {
  harness::Image image(0);
  image.place_pattern(0, slot_bytes, seed, 0);
  const std::string complaint = image.check(slot(which));
  harness::expect(complaint.empty(), what, ": ", complaint);
}

void Connection::talk_as_client(const Hello& server, std::uint64_t seed) {
  send(IBV_WR_SEND, seed + 1, 0, 0);
  expect_completion(IBV_WC_SEND, "SEND");
  expect_completion(IBV_WC_RECV, "the server's SEND");
  expect_data(first_receive, seed + 2, "the server's SEND");
  send(IBV_WR_RDMA_WRITE, seed + 3, server.address, server.rkey);
  expect_completion(IBV_WC_RDMA_WRITE, "WRITE");
  send(IBV_WR_SEND, seed + 4, 0, 0);
  expect_completion(IBV_WC_SEND, "SEND after WRITE");
}

void Connection::talk_as_server(std::uint64_t seed) {
  expect_completion(IBV_WC_RECV, "the client's first SEND");
  expect_data(first_receive, seed + 1, "the client's first SEND");
  send(IBV_WR_SEND, seed + 2, 0, 0);
  expect_completion(IBV_WC_SEND, "SEND");
  expect_completion(IBV_WC_RECV, "the client's second SEND");
  expect_data(second_receive, seed + 4, "the client's second SEND");
  expect_data(write_target, seed + 3, "the client's WRITE");
}

}  // namespace cm_cycle
