// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "mw_verify/stage.h"

#include <algorithm>
#include <cstring>

namespace mw {

using harness::expect;

Stage::Stage(const Devices& devices, ibv_qp_type type, std::shared_ptr<verbs::Pd> far_pd)
    : memory_(region_bytes, 1000) {
  verbs::EndpointOptions options;
  options.qp.type = type;
  options.arena_bytes = 1 << 17;
  if (type == IBV_QPT_UC) options.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  near_ = std::make_unique<verbs::Endpoint>(devices.near, devices.near_gid, options, 1);
  options.pd = std::move(far_pd);
  far_ = std::make_unique<verbs::Endpoint>(devices.far, devices.far_gid, options, 2);
  region_ = verbs::make_mr(far_->pd(), memory_.data(), memory_.size(), region_access);
  std::ranges::fill(bytes(), untouched);
  verbs::LinkOptions link;
  if (type == IBV_QPT_UC) link.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  connect_both(*near_, *far_, link);
}

ibv_mw* Stage::make_window(ibv_mw_type type) {
  ibv_mw* window = ibv_alloc_mw(far_->pd().get(), type);
  if (!window) harness::fail_errno(errno, "ibv_alloc_mw");
  return window;
}

ibv_mw_bind_info Stage::info(const Range& range) const {
  return {.mr = region_.get(),
          .addr = address(range.offset),
          .length = range.length,
          .mw_access_flags = range.access};
}

ibv_wc_status Stage::try_bind(ibv_mw* window, const ibv_mw_bind_info& info, int& error) {
  error = 0;
  if (window->type == IBV_MW_TYPE_2) return post_bind(window, info);
  ibv_mw_bind bind{.wr_id = 3, .send_flags = IBV_SEND_SIGNALED, .bind_info = info};
  error = ibv_bind_mw(far_->qp().get(), window, &bind);
  return error ? IBV_WC_GENERAL_ERR : bind_status();
}

ibv_wc_status Stage::post_bind(ibv_mw* window, const ibv_mw_bind_info& info) {
  ibv_send_wr wr{};
  wr.wr_id = 3;
  wr.opcode = IBV_WR_BIND_MW;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.bind_mw = {.mw = window, .rkey = ibv_inc_rkey(window->rkey), .bind_info = info};
  far_->qp().post_send(&wr);
  window->rkey = wr.bind_mw.rkey;
  return bind_status();
}

ibv_wc_status Stage::bind_status() {
  const ibv_wc wc = far_->send_cq().next(harness::Deadline::after(timeout), "a bind completes");
  expect(wc.wr_id == 3, "completion of ", wc.wr_id);
  expect(wc.status || wc.opcode == IBV_WC_BIND_MW, "opcode ", wc.opcode);
  return wc.status;
}

void Stage::bind(ibv_mw* window, const Range& range) {
  int error = 0;
  const ibv_wc_status status = try_bind(window, info(range), error);
  expect(!error && !status, "bind to ", range.length, " bytes at ", range.offset, ": ", error, ", ",
         ibv_wc_status_str(status));
}

void Stage::unbind(ibv_mw* window) { bind(window, {0, 0, 0}); }

ibv_wc_status Stage::invalidate(std::uint32_t rkey) {
  ibv_send_wr wr{};
  wr.wr_id = 4;
  wr.opcode = IBV_WR_LOCAL_INV;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.invalidate_rkey = rkey;
  far_->qp().post_send(&wr);
  const ibv_wc wc = far_->send_cq().next(harness::Deadline::after(timeout), "LOCAL_INV completes");
  expect(wc.wr_id == 4, "completion of ", wc.wr_id);
  expect(wc.status || wc.opcode == IBV_WC_LOCAL_INV, "opcode ", wc.opcode);
  return wc.status;
}

ibv_wc_status Stage::request(ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t remote,
                             std::size_t length) {
  ibv_sge sge = near_->sge(0, length);
  ibv_send_wr wr{};
  wr.wr_id = 5;
  wr.opcode = opcode;
  wr.send_flags = IBV_SEND_SIGNALED;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic.remote_addr = remote;
    wr.wr.atomic.rkey = rkey;
    wr.wr.atomic.compare_add = 1;
  } else {
    wr.wr.rdma.remote_addr = remote;
    wr.wr.rdma.rkey = rkey;
  }
  near_->qp().post_send(&wr);
  const ibv_wc wc = near_->send_cq().next(harness::Deadline::after(timeout), "a request completes");
  expect(wc.wr_id == 5, "completion of ", wc.wr_id);
  return wc.status;
}

void Stage::expect_permitted(ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t remote,
                             std::size_t length) {
  const ibv_wc_status status = request(opcode, rkey, remote, length);
  expect(!status, "request ", opcode, " of ", length, " bytes: ", ibv_wc_status_str(status));
}

void Stage::expect_rejected(ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t remote,
                            std::size_t length) {
  const std::vector<std::byte> before(bytes().begin(), bytes().end());
  const ibv_wc_status status = request(opcode, rkey, remote, length);
  expect(status == IBV_WC_REM_ACCESS_ERR, "request ", opcode, " of ", length,
         " bytes: ", ibv_wc_status_str(status));
  expect(std::ranges::equal(before, bytes()), "a rejected request has changed the memory");
  reconnect();
}

void Stage::reconnect() {
  for (verbs::Endpoint* end : {near_.get(), far_.get()})
    end->qp().modify(verbs::to_state(IBV_QPS_RESET), "RESET");
  connect_both(*near_, *far_, near_->link());
}

}  // namespace mw
