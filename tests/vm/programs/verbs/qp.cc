// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/qp.h"

#include <cstdlib>

#include "harness/failure.h"

namespace verbs {

using harness::fail_errno;

Change to_state(ibv_qp_state state) {
  Change change;
  change.attr.qp_state = state;
  change.mask = IBV_QP_STATE;
  return change;
}

Change rc_to_init(const LinkOptions& link) {
  Change change = to_state(IBV_QPS_INIT);
  change.attr.pkey_index = 0;
  change.attr.port_num = port_number;
  change.attr.qp_access_flags = link.access;
  change.mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  return change;
}

Change rc_to_rtr(const LinkOptions& link, const QpAddress& peer) {
  Change change = to_state(IBV_QPS_RTR);
  change.attr.path_mtu = link.mtu;
  change.attr.dest_qp_num = peer.qpn;
  change.attr.rq_psn = peer.psn;
  change.attr.max_dest_rd_atomic = link.dest_rd_atomic;
  change.attr.min_rnr_timer = link.min_rnr_timer;
  change.attr.ah_attr.is_global = 1;
  change.attr.ah_attr.port_num = port_number;
  change.attr.ah_attr.grh.dgid = peer.gid;
  change.attr.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(link.gid_index);
  change.attr.ah_attr.grh.hop_limit = 64;
  change.mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                 IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  return change;
}

Change rc_to_rts(const LinkOptions& link, std::uint32_t psn) {
  Change change = to_state(IBV_QPS_RTS);
  change.attr.sq_psn = psn;
  change.attr.timeout = link.timeout;
  change.attr.retry_cnt = link.retry_cnt;
  change.attr.rnr_retry = link.rnr_retry;
  change.attr.max_rd_atomic = link.rd_atomic;
  change.mask |= IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                 IBV_QP_MAX_QP_RD_ATOMIC;
  return change;
}

Change uc_to_rtr(const LinkOptions& link, const QpAddress& peer) {
  Change change = rc_to_rtr(link, peer);
  change.mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  return change;
}

Change uc_to_rts(std::uint32_t psn) {
  Change change = to_state(IBV_QPS_RTS);
  change.attr.sq_psn = psn;
  change.mask |= IBV_QP_SQ_PSN;
  return change;
}

Change ud_to_init(std::uint32_t qkey) {
  Change change = to_state(IBV_QPS_INIT);
  change.attr.pkey_index = 0;
  change.attr.port_num = port_number;
  change.attr.qkey = qkey;
  change.mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY;
  return change;
}

Qp::Qp(const Pd& pd, const Cq& send_cq, const Cq& recv_cq, const QpOptions& options) {
  ibv_qp_init_attr init{};
  init.send_cq = send_cq.get();
  init.recv_cq = recv_cq.get();
  init.srq = options.srq;
  init.qp_type = options.type;
  init.cap.max_send_wr = options.send_depth;
  init.cap.max_send_sge = options.send_sge;
  init.cap.max_recv_wr = options.srq ? 0 : options.recv_depth;
  init.cap.max_recv_sge = options.srq ? 0 : options.recv_sge;
  init.cap.max_inline_data = options.inline_bytes;
  handle_.reset(ibv_create_qp(pd.get(), &init));
  if (!handle_) fail_errno(errno, "ibv_create_qp");
  cap_ = init.cap;
}

int Qp::try_modify(Change change) {
  const int result = ibv_modify_qp(get(), &change.attr, change.mask);
  return result < 0 ? errno : result;
}

void Qp::modify(const Change& change, const std::string& what) {
  if (const int error = try_modify(change)) fail_errno(error, "ibv_modify_qp to ", what);
}

ibv_qp_attr Qp::query(int mask, ibv_qp_init_attr* init) const {
  ibv_qp_attr attr{};
  ibv_qp_init_attr ignored{};
  if (const int error = ibv_query_qp(get(), &attr, mask, init ? init : &ignored))
    fail_errno(error, "ibv_query_qp");
  return attr;
}

// Providers differ in the sign of the error that they return.
int Qp::try_post_send(ibv_send_wr* chain) {
  ibv_send_wr* bad = nullptr;
  return std::abs(ibv_post_send(get(), chain, &bad));
}

void Qp::post_send(ibv_send_wr* chain) {
  if (const int error = try_post_send(chain)) fail_errno(error, "ibv_post_send");
}

int Qp::try_post_recv(ibv_recv_wr* chain) {
  ibv_recv_wr* bad = nullptr;
  return std::abs(ibv_post_recv(get(), chain, &bad));
}

void Qp::post_recv(ibv_recv_wr* chain) {
  if (const int error = try_post_recv(chain)) fail_errno(error, "ibv_post_recv");
}

}  // namespace verbs
