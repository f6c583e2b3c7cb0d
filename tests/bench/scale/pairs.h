// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Connected queue pairs between two devices. Both ends are in this process and have one completion
// queue each.
#pragma once

#include <deque>
#include <vector>

#include "verbs/qp.h"

namespace scale {

inline constexpr std::uint32_t depth = 128;

struct DeviceName {
  std::string name;
  int gid_index;
};

class Pairs {
 public:
  Pairs(const DeviceName& first, const DeviceName& second);

  void connect(std::size_t how_many);
  std::size_t size() const { return first_.qps.size(); }

  const verbs::Pd& first_pd() const { return first_.pd; }
  const verbs::Pd& second_pd() const { return second_.pd; }

  // Posts to the first end of pair `which`.
  void post(std::size_t which, ibv_send_wr* chain) { first_.qps[which].post_send(chain); }
  // Posts to the receive queue of its second end.
  void post_recv(std::size_t which, ibv_recv_wr* chain) { second_.qps[which].post_recv(chain); }
  // Waits for one completion at the first end.
  void wait();

 private:
  struct End {
    End(const DeviceName& device, int cq_depth);

    verbs::Context context;
    int gid_index;
    ibv_gid gid;
    verbs::Pd pd;
    verbs::Cq cq;
    std::deque<verbs::Qp> qps;
  };
  static void bring_up(End& end, const End& peer);

  End first_;
  End second_;
};

}  // namespace scale
