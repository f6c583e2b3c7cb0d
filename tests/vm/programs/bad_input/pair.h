// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A pair of QPs that a row may break, with memory whose every byte is known.
#pragma once

#include <set>

#include "bad_input/bench.h"
#include "harness/image.h"

namespace bad_input {

inline constexpr std::size_t pair_arena = 256 << 10;

using Statuses = std::set<ibv_wc_status>;

class Pair {
 public:
  struct Options {
    int far_access = verbs::EndpointOptions{}.access;
    unsigned near_qp_access = verbs::LinkOptions{}.access;
    unsigned far_qp_access = verbs::LinkOptions{}.access;
    ibv_mtu far_mtu = static_cast<ibv_mtu>(0);  // 0: the link's
    int near_cq_depth = 0;                      // 0: that of the send queue
    std::uint8_t rnr_retry = verbs::LinkOptions{}.rnr_retry;
  };

  Pair(Bench& bench, const Options& options);

  verbs::Endpoint& near() { return *near_; }
  verbs::Endpoint& far() { return *far_; }

  // A correct WRITE, READ, SEND or atomic: 64 bytes between the middles of the arenas.
  ibv_send_wr right_wr(ibv_wr_opcode opcode);
  ibv_sge& sge() { return sge_; }

  void post_far_receive(std::size_t length, std::uint32_t lkey_flip = 0);
  void post(ibv_send_wr& wr) { near_->qp().post_send(&wr); }

  ibv_wc expect_near(const Statuses& wanted);
  ibv_wc expect_far(const Statuses& wanted);
  // Throws Failure if any byte of the far arena has changed.
  void expect_far_untouched() const;

 private:
  std::shared_ptr<verbs::Cq> near_cq_;
  std::unique_ptr<verbs::Endpoint> near_;
  std::unique_ptr<verbs::Endpoint> far_;
  harness::Image far_image_;
  ibv_sge sge_{};
};

}  // namespace bad_input
