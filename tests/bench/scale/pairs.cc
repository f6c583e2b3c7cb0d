// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "scale/pairs.h"

#include "harness/failure.h"

namespace scale {

namespace {

constexpr int cq_depth = 4096;
constexpr std::uint32_t psn = 1000;

}  // namespace

Pairs::End::End(const DeviceName& device, int entries)
    : context(device.name),
      gid_index(device.gid_index),
      gid(context.gid(device.gid_index)),
      pd(verbs::make_pd(context)),
      cq(context, entries) {}

Pairs::Pairs(const DeviceName& first, const DeviceName& second)
    : first_(first, cq_depth), second_(second, cq_depth) {}

void Pairs::connect(std::size_t how_many) {
  const verbs::QpOptions options = {
      .send_depth = depth, .recv_depth = depth, .send_sge = 1, .recv_sge = 1};
  while (size() < how_many) {
    first_.qps.emplace_back(first_.pd, first_.cq, first_.cq, options);
    second_.qps.emplace_back(second_.pd, second_.cq, second_.cq, options);
    bring_up(first_, second_);
    bring_up(second_, first_);
  }
}

// Connects the newest queue pair of `end` to the newest one of `peer`.
void Pairs::bring_up(End& end, const End& peer) {
  verbs::LinkOptions link;
  link.gid_index = end.gid_index;
  verbs::Qp& qp = end.qps.back();
  qp.modify(verbs::rc_to_init(link), "INIT");
  qp.modify(verbs::rc_to_rtr(link, {peer.qps.back().number(), psn, peer.gid}), "RTR");
  qp.modify(verbs::rc_to_rts(link, psn), "RTS");
}

void Pairs::wait() {
  // Poll once without a deadline, because the clock is a system call in some guests.
  auto wc = first_.cq.poll();
  if (!wc) wc = first_.cq.next(harness::Deadline::after(std::chrono::seconds(20)), "a message");
  harness::expect(wc->status == IBV_WC_SUCCESS, "a message failed: ", verbs::describe(*wc));
}

}  // namespace scale
