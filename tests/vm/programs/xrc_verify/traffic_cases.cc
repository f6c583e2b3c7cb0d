// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Many shared receive queues behind one connection.
#include <cstring>

#include "harness/failure.h"
#include "xrc_verify/cases.h"

namespace xrc {
namespace {

using harness::expect;

std::deque<Queue> make_queues(const Stage& stage, std::size_t count) {
  std::deque<Queue> queues;
  while (queues.size() < count) {
    queues.emplace_back(stage.devices.far, stage.domain, 8);
    queues.back().post_all();
  }
  return queues;
}

void many_queues(const verbs::Devices& devices, std::uint64_t seed) {
  Stage stage(devices);
  std::deque<Queue> queues = make_queues(stage, 5);
  harness::Random random(seed);
  for (std::uint64_t number = 0; number < 300; ++number) {
    Queue& queue = queues[random.below(queues.size())];
    const auto bytes = static_cast<std::uint32_t>(random.below(slot_bytes + 1));
    stage.initiator.send(queue.number(), number, bytes);
    queue.receive(number, bytes, stage.target->qp_num);
    stage.initiator.expect(IBV_WC_SUCCESS, "a SEND");
  }
}

// Each queue has a protection domain of its own, and so has the region.
void regions(const verbs::Devices& devices, std::uint64_t seed) {
  Stage stage(devices);
  std::deque<Queue> queues = make_queues(stage, 3);
  Initiator& initiator = stage.initiator;
  harness::Random random(seed);
  for (std::uint64_t number = 0; number < 60; ++number) {
    Queue& queue = queues[number % queues.size()];
    const auto bytes = static_cast<std::uint32_t>(1 + random.below(30000));
    fill(initiator.memory(), bytes, number);
    initiator.request(IBV_WR_RDMA_WRITE, queue.number(), bytes, queue.region_address(),
                      queue.rkey());
    initiator.expect(IBV_WC_SUCCESS, "a WRITE");
    expect_bytes(queue.region(), bytes, number);
    std::memset(initiator.memory(), 0, bytes);
    initiator.request(IBV_WR_RDMA_READ, queue.number(), bytes, queue.region_address(),
                      queue.rkey());
    initiator.expect(IBV_WC_SUCCESS, "a READ");
    expect_bytes(initiator.memory(), bytes, number);
    std::uint64_t before = 0, got = 0;
    std::memcpy(&before, queue.region(), sizeof(before));
    initiator.request(IBV_WR_ATOMIC_FETCH_AND_ADD, queue.number(), 8, queue.region_address(),
                      queue.rkey(), 7);
    initiator.expect(IBV_WC_SUCCESS, "an atomic");
    std::memcpy(&got, initiator.memory(), sizeof(got));
    expect(got == before, "the atomic returns ", got);
    std::memcpy(&got, queue.region(), sizeof(got));
    expect(got == before + 7, "the atomic writes ", got);
    initiator.request(IBV_WR_ATOMIC_CMP_AND_SWP, queue.number(), 8, queue.region_address(),
                      queue.rkey(), before + 7);
    initiator.expect(IBV_WC_SUCCESS, "a compare and swap");
    std::memcpy(&got, initiator.memory(), sizeof(got));
    expect(got == before + 7, "the compare and swap returns ", got);
    std::memcpy(&got, queue.region(), sizeof(got));
    expect(got == ~(before + 7), "the compare and swap writes ", got);
    const std::uint32_t length = number % 2 ? 8 : bytes;
    fill(initiator.memory(), length, number + 1);
    initiator.request(IBV_WR_RDMA_WRITE_WITH_IMM, queue.number(), length, queue.region_address(),
                      queue.rkey(), 0x1234 + number);
    initiator.expect(IBV_WC_SUCCESS, "a WRITE with immediate");
    const ibv_wc wc = queue.cq().next(harness::Deadline::after(timeout), "its receive");
    expect(wc.opcode == IBV_WC_RECV_RDMA_WITH_IMM && wc.imm_data == 0x1234 + number,
           verbs::describe(wc));
    expect_bytes(queue.region(), length, number + 1);
    queue.post(static_cast<std::uint32_t>(wc.wr_id));
  }
}

// A queue without receives stops the connection, and no other.
void empty_queue(const verbs::Devices& devices) {
  Stage stage(devices);
  Initiator other(devices.near);
  const QpHandle other_target = create_target(devices.far, stage.domain);
  connect(devices, other.get(), other_target.get());
  std::deque<Queue> queues = make_queues(stage, 1);
  Queue empty(devices.far, stage.domain, 4);
  stage.initiator.send(empty.number(), 1, 3000);
  for (std::uint64_t number = 2; number < 20; ++number) {
    other.send(queues[0].number(), number, 3000);
    queues[0].receive(number, 3000, other_target->qp_num);
    other.expect(IBV_WC_SUCCESS, "a SEND beside it");
  }
  stage.initiator.cq().expect_none(std::chrono::milliseconds(20), "a SEND without a receive");
  empty.post(0);
  empty.receive(1, 3000, stage.target->qp_num);
  stage.initiator.expect(IBV_WC_SUCCESS, "the SEND that waited");
}

void events(const verbs::Devices& devices) {
  Stage stage(devices);
  const verbs::Channel channel = verbs::make_channel(devices.far);
  Queue queue(devices.far, stage.domain, 8, &channel);
  queue.post_all();
  ibv_srq_attr limit{};
  limit.srq_limit = 6;
  if (const int err = ibv_modify_srq(queue.get(), &limit, IBV_SRQ_LIMIT))
    harness::fail_errno(err, "ibv_modify_srq");
  for (std::uint64_t number = 0; number < 3; ++number) {
    queue.cq().arm(false);
    stage.initiator.send(queue.number(), number, 100);
    expect(queue.cq().wait_event(channel, harness::Deadline::after(timeout)), "no event");
    queue.cq().next(harness::Deadline::after(timeout), "a receive");
    stage.initiator.expect(IBV_WC_SUCCESS, "a SEND");
  }
  const auto deadline = harness::Deadline::after(timeout);
  for (;;) {
    const auto event = devices.far.wait_async(deadline);
    expect(event.has_value(), "the limit is not reported");
    if (event->event_type != IBV_EVENT_SRQ_LIMIT_REACHED) continue;
    expect(event->element.srq == queue.get(), "the limit of another queue");
    return;
  }
}

// ibv_wr_start() and its companions.
void extended(const verbs::Devices& devices) {
  Stage stage(devices);
  std::deque<Queue> queues = make_queues(stage, 2);
  const verbs::Pd pd = verbs::make_pd(devices.near);
  verbs::Cq cq(devices.near, 16);
  verbs::Pages memory(4096);
  const verbs::Mr mr = verbs::make_mr(pd, memory.data(), 4096, IBV_ACCESS_LOCAL_WRITE);
  ibv_qp_init_attr_ex init{};
  init.qp_type = IBV_QPT_XRC_SEND;
  init.send_cq = cq.get();
  init.cap = {16, 0, 1, 0, 0};
  init.pd = pd.get();
  init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  init.send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
  const QpHandle qp(ibv_create_qp_ex(devices.near.get(), &init));
  if (!qp) harness::fail_errno(errno, "an extended initiator");
  ibv_qp_ex* const ex = ibv_qp_to_qp_ex(qp.get());
  const QpHandle target = create_target(devices.far, stage.domain);
  connect(devices, qp.get(), target.get());
  fill(memory.data(), 500, 8);
  ibv_wr_start(ex);
  for (const Queue& queue : queues) {
    ex->wr_id = 1;
    ex->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send(ex);
    ibv_wr_set_xrc_srqn(ex, queue.number());
    ibv_wr_set_sge(ex, mr->lkey, reinterpret_cast<std::uint64_t>(memory.data()), 500);
  }
  ibv_wr_atomic_fetch_add(ex, queues[1].rkey(), queues[1].region_address(), 5);
  ibv_wr_set_xrc_srqn(ex, queues[1].number());
  ibv_wr_set_sge(ex, mr->lkey, reinterpret_cast<std::uint64_t>(memory.data() + 1000), 8);
  if (const int err = ibv_wr_complete(ex)) harness::fail_errno(err, "ibv_wr_complete");
  for (int i = 0; i < 3; ++i) {
    const ibv_wc wc = cq.next(harness::Deadline::after(timeout), "a request");
    expect(wc.status == IBV_WC_SUCCESS, verbs::describe(wc));
  }
  for (Queue& queue : queues) queue.receive(8, 500, target->qp_num);
  std::uint64_t sum = 0;
  std::memcpy(&sum, queues[1].region(), sizeof(sum));
  expect(sum == 5, "the atomic writes ", sum);
}

}  // namespace

void run_traffic_cases(harness::Tap& tap, const verbs::Devices& devices, std::uint64_t seed) {
  tap.run("one target, many queues", [&] { many_queues(devices, seed); });
  tap.run("regions of each queue's protection domain", [&] { regions(devices, seed); });
  tap.run("an empty queue stops its connection only", [&] { empty_queue(devices); });
  tap.run("completion events, and the limit", [&] { events(devices); });
  tap.run("extended work requests", [&] { extended(devices); });
}

}  // namespace xrc
