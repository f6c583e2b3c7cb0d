// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A queue pair and its state transitions.
#pragma once

#include <string>

#include "verbs/cq.h"

namespace verbs {

// The data that the peer needs to connect.
struct QpAddress {
  std::uint32_t qpn;
  std::uint32_t psn;
  ibv_gid gid;
};

// The attributes of a connection. Both ends use the same values.
struct LinkOptions {
  ibv_mtu mtu = IBV_MTU_1024;
  std::uint8_t timeout = 14;  // 67 ms
  std::uint8_t retry_cnt = 7;
  std::uint8_t rnr_retry = 7;      // unlimited
  std::uint8_t min_rnr_timer = 8;  // 0.16 ms
  std::uint8_t rd_atomic = 1;
  std::uint8_t dest_rd_atomic = 1;
  int gid_index = 0;
  unsigned access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                    IBV_ACCESS_REMOTE_ATOMIC;
};

struct QpOptions {
  ibv_qp_type type = IBV_QPT_RC;
  std::uint32_t send_depth = 64;
  std::uint32_t recv_depth = 64;
  std::uint32_t send_sge = 4;
  std::uint32_t recv_sge = 4;
  std::uint32_t inline_bytes = 0;
  ibv_srq* srq = nullptr;
};

// An attribute structure with the mask that belongs to it.
struct Change {
  ibv_qp_attr attr{};
  int mask = 0;
};

Change rc_to_init(const LinkOptions& link);
Change rc_to_rtr(const LinkOptions& link, const QpAddress& peer);
Change rc_to_rts(const LinkOptions& link, std::uint32_t psn);
// UC has no timers, retries or READs.
Change uc_to_rtr(const LinkOptions& link, const QpAddress& peer);
Change uc_to_rts(std::uint32_t psn);
Change ud_to_init(std::uint32_t qkey);
Change to_state(ibv_qp_state state);

class Qp {
 public:
  Qp(const Pd& pd, const Cq& send_cq, const Cq& recv_cq, const QpOptions& options);

  ibv_qp* get() const { return handle_.get(); }
  std::uint32_t number() const { return handle_->qp_num; }
  const ibv_qp_cap& cap() const { return cap_; }

  // 0 or an errno.
  int try_modify(Change change);
  void modify(const Change& change, const std::string& what);
  ibv_qp_attr query(int mask, ibv_qp_init_attr* init = nullptr) const;

  int try_post_send(ibv_send_wr* chain);
  void post_send(ibv_send_wr* chain);
  int try_post_recv(ibv_recv_wr* chain);
  void post_recv(ibv_recv_wr* chain);

 private:
  Handle<ibv_qp, ibv_destroy_qp> handle_;
  ibv_qp_cap cap_{};
};

}  // namespace verbs
