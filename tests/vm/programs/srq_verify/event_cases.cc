// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// IBV_EVENT_SRQ_LIMIT_REACHED and IBV_EVENT_QP_LAST_WQE_REACHED: each must come once.
#include "srq_verify/shared.h"

namespace srq {
namespace {

using harness::expect;

constexpr std::uint32_t slot_bytes = 256 * 1024;

void receive_many(Streams& all, std::uint32_t count) {
  const auto deadline = harness::Deadline::after(timeout);
  for (std::uint32_t i = 0; i < count; ++i) {
    all.send(i % all.size(), 64);
    while (!all.receive()) expect(!deadline.expired(), "a message does not arrive");
    while (!all.reap_send()) expect(!deadline.expired(), "a SEND does not complete");
  }
}

void limit(const Devices& devices) {
  Queue queue(devices.far, 32, slot_bytes);
  Streams all(devices, queue, {.streams = 2});
  Events events(devices.far);
  const auto reached = [&] { return events.count(IBV_EVENT_SRQ_LIMIT_REACHED, queue.get()); };
  queue.post_all();
  queue.modify(0, 10, IBV_SRQ_LIMIT);
  expect(queue.query().srq_limit == 10, "the limit is ", queue.query().srq_limit);
  receive_many(all, 22);
  expect(reached() == 0, "an event with 10 receives left");
  receive_many(all, 1);
  events.wait_for(IBV_EVENT_SRQ_LIMIT_REACHED, queue.get(), 1);
  receive_many(all, 3);
  expect(reached() == 1, reached(), " events of one arming");
  expect(queue.query().srq_limit == 0, "the limit is still armed");
  // Armed too late.
  queue.modify(0, 10, IBV_SRQ_LIMIT);
  expect(reached() == 2, "no event of a limit that is armed too late");
  queue.modify(0, 6, IBV_SRQ_LIMIT);
  queue.modify(0, 0, IBV_SRQ_LIMIT);
  receive_many(all, 2);
  expect(reached() == 2, "an event of a limit that was disarmed");
  // Both at once.
  queue.modify(100, 4, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT);
  expect(queue.query().max_wr >= 100 && queue.query().srq_limit == 4, "not both were set");
  receive_many(all, 1);
  expect(reached() == 3, "no event after a resize");
}

struct Taken {
  std::uint32_t all = 0, flushed = 0;
};

// Takes all that is in the CQ when the event comes. Nothing may follow.
Taken take_rest(Streams& all, Queue& queue) {
  Taken taken;
  for (; const auto wc = all.far_cq().poll(); taken.all++) {
    if (wc->status == IBV_WC_SUCCESS) {
      all.check(*wc);
      continue;
    }
    expect(wc->status == IBV_WC_WR_FLUSH_ERR, verbs::describe(*wc));
    queue.take(wc->wr_id);
    taken.flushed++;
  }
  return taken;
}

// The receive that a QP has taken completes, then comes the event, and no other receive is flushed.
void last_wqe_of(const Devices& devices, harness::Random& random, bool has_part, bool again) {
  constexpr std::uint32_t slots = 16;
  Events events(devices.far);
  Queue queue(devices.far, slots, slot_bytes);
  Streams all(devices, queue, {.streams = 2, .longest = slot_bytes});
  ibv_qp* const qp = all.far_qp(0).get();
  queue.post_all();
  for (int i = 0; i < 3; ++i) all.send(0, slot_bytes);
  if (has_part) all.send_part(0);
  for (auto i = random.below(40); i; --i) sched_yield();
  all.far_qp(0).modify(verbs::to_state(IBV_QPS_ERR), "ERR");
  events.wait_for(IBV_EVENT_QP_LAST_WQE_REACHED, qp, 1);
  const Taken taken = take_rest(all, queue);
  expect(taken.flushed == has_part, taken.flushed, " receives flushed of ", taken.all);
  // All others are left for the other QP.
  for (std::uint32_t left = slots - taken.all; left; --left) {
    all.send(1, 64);
    all.check(all.far_cq().next(harness::Deadline::after(timeout), "a receive left over"));
  }
  all.far_qp(0).modify(verbs::to_state(IBV_QPS_ERR), "ERR again");
  if (!again) return;
  expect(events.count(IBV_EVENT_QP_LAST_WQE_REACHED, qp) == 1, "the event comes twice");
  all.far_qp(0).modify(verbs::to_state(IBV_QPS_RESET), "RESET");
  all.far_qp(0).modify(verbs::to_state(IBV_QPS_ERR), "ERR after RESET");
  events.wait_for(IBV_EVENT_QP_LAST_WQE_REACHED, qp, 2);
}

void last_wqe(const Devices& devices) {
  harness::Random random(devices.seed);
  for (int round = 0; round < 24; ++round) last_wqe_of(devices, random, round % 2, round % 8 < 2);
}

void own_queue(const Devices& devices) {
  Events events(devices.far);
  verbs::Endpoint end(devices.far, devices.far_gid, {}, 1);
  end.qp().modify(verbs::to_state(IBV_QPS_ERR), "ERR");
  expect(events.count(IBV_EVENT_QP_LAST_WQE_REACHED, end.qp().get()) == 0,
         "the event of a QP without an SRQ");
}

}  // namespace

void run_event_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("the limit is reported once", [&] { limit(devices); });
  tap.run("the last receive of a QP is reported once", [&] { last_wqe(devices); });
  tap.run("a QP with its own queue reports no last receive", [&] { own_queue(devices); });
}

}  // namespace srq
