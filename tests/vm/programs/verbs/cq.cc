// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/cq.h"

#include <poll.h>

#include "harness/failure.h"

namespace verbs {

using harness::expect;
using harness::fail;
using harness::fail_errno;

Cq::Cq(const Context& context, int depth, const Channel* channel)
    : handle_(ibv_create_cq(context.get(), depth, nullptr, channel ? channel->get() : nullptr, 0)) {
  if (!handle_) fail_errno(errno, "ibv_create_cq of ", depth);
}

std::optional<ibv_wc> Cq::poll() {
  ibv_wc wc{};
  const int polled = ibv_poll_cq(get(), 1, &wc);
  expect(polled >= 0, "ibv_poll_cq returned ", polled);
  return polled ? std::optional(wc) : std::nullopt;
}

ibv_wc Cq::next(harness::Deadline deadline, const std::string& what) {
  harness::Backoff backoff;
  while (true) {
    if (const auto wc = poll()) return *wc;
    if (deadline.expired()) fail("timeout waiting for ", what);
    backoff.pause();
  }
}

void Cq::expect_none(std::chrono::milliseconds quiet, const std::string& what) {
  const auto deadline = harness::Deadline::after(quiet);
  harness::Backoff backoff;
  do {
    if (const auto wc = poll()) fail("unexpected completion (", describe(*wc), "): ", what);
    backoff.pause();
  } while (!deadline.expired());
}

void Cq::arm(bool solicited_only) {
  if (const int error = ibv_req_notify_cq(get(), solicited_only))
    fail_errno(error, "ibv_req_notify_cq");
}

bool Cq::wait_event(const Channel& channel, harness::Deadline deadline) {
  while (true) {
    ibv_cq* cq = nullptr;
    void* user = nullptr;
    if (ibv_get_cq_event(channel.get(), &cq, &user) == 0) {
      ibv_ack_cq_events(cq, 1);
      expect(cq == get(), "the completion event is for another CQ");
      return true;
    }
    if (deadline.expired()) return false;
    pollfd wanted{channel->fd, POLLIN, 0};
    ::poll(&wanted, 1, deadline.left_ms());
  }
}

std::string describe(const ibv_wc& wc) {
  return harness::text("wr_id ", wc.wr_id, ", status ", ibv_wc_status_str(wc.status), " (",
                       wc.status, "), opcode ", wc.opcode, ", byte_len ", wc.byte_len, ", qp_num ",
                       wc.qp_num);
}

void expect_wc(const ibv_wc& wc, std::uint64_t wr_id, ibv_wc_status status,
               const std::string& what) {
  expect(wc.status == status && wc.wr_id == wr_id, what, ": completion is ", describe(wc),
         "; wanted wr_id ", wr_id, ", status ", ibv_wc_status_str(status));
}

}  // namespace verbs
