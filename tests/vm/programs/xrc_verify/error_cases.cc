// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Queues that are not there, and wrong calls.
#include <optional>
#include <thread>
#include <utility>

#include "harness/failure.h"
#include "xrc_verify/cases.h"

namespace xrc {
namespace {

using harness::expect;

void expect_error(int err, int wanted, const char* what) {
  expect(err == wanted, what, " returns ", err, " instead of ", wanted);
}

ibv_qp_state state_of(const QpHandle& qp) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  expect_error(ibv_query_qp(qp.get(), &attr, IBV_QP_STATE, &init), 0, "ibv_query_qp");
  return attr.qp_state;
}

void expect_rejected(const verbs::Devices& devices, std::uint32_t srqn, ibv_wr_opcode opcode,
                     const char* what) {
  Stage stage(devices);
  const Queue queue(devices.far, stage.domain, 4);
  stage.initiator.request(opcode, srqn, 8, queue.region_address(), queue.rkey());
  stage.initiator.expect(IBV_WC_REM_INV_REQ_ERR, what);
  const auto deadline = harness::Deadline::after(timeout);
  while (state_of(stage.target) != IBV_QPS_ERR)
    expect(!deadline.expired(), "the target does not fail");
}

void unknown_queues(const verbs::Devices& devices) {
  const Domain domain = new_domain(devices.far);
  Queue foreign(devices.far, domain, 4);
  foreign.post_all();
  const verbs::Pd pd = verbs::make_pd(devices.far);
  ibv_srq_init_attr init{};
  init.attr = {4, 1, 0};
  const verbs::Srq basic(ibv_create_srq(pd.get(), &init));
  std::uint32_t basic_number = 0;
  ibv_get_srq_num(basic.get(), &basic_number);
  expect(basic_number, "a basic SRQ has no number");
  for (const auto opcode :
       {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    for (const std::uint32_t srqn : {0U, 0xffffffU, foreign.number(), basic_number})
      expect_rejected(devices, srqn, opcode, "a queue of another domain, or of none");
  }
  foreign.cq().expect_none(std::chrono::milliseconds(20), "a message from another domain");
}

void long_number(const verbs::Devices& devices) {
  Stage stage(devices);
  stage.initiator.request(IBV_WR_SEND, 0x1000000U, 8, 0, 0);
  stage.initiator.expect(IBV_WC_LOC_QP_OP_ERR, "a number of 25 bits");
}

// The R_Key must be of the protection domain of the queue that the request names.
void other_region(const verbs::Devices& devices) {
  for (const auto opcode : {IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD}) {
    Stage stage(devices);
    Queue one(devices.far, stage.domain, 4), two(devices.far, stage.domain, 4);
    stage.initiator.request(opcode, one.number(), 8, one.region_address(), one.rkey());
    stage.initiator.expect(IBV_WC_SUCCESS, "a region of the queue");
    stage.initiator.request(opcode, one.number(), 8, two.region_address(), two.rkey());
    stage.initiator.expect(IBV_WC_REM_ACCESS_ERR, "a region of another queue");
  }
}

// Messages to a queue that is destroyed meanwhile end in a NAK, and nothing waits for them.
void destroyed_queue(const verbs::Devices& devices) {
  for (int round = 0; round < 20; ++round) {
    Stage stage(devices);
    Queue queue(devices.far, stage.domain, 8);
    queue.post_all();
    for (std::uint64_t number = 0; number < 8; ++number)
      stage.initiator.send(queue.number(), 0, slot_bytes);
    std::thread destroyer([&] {
      for (int i = 0; i < round; ++i) sched_yield();
      queue.destroy();
    });
    ibv_wc_status status = IBV_WC_SUCCESS;
    for (int reaped = 0; reaped < 8 && status == IBV_WC_SUCCESS; ++reaped)
      status = stage.initiator.reap();
    destroyer.join();
    if (status == IBV_WC_SUCCESS) {
      stage.initiator.send(queue.number(), 0, 100);
      status = stage.initiator.reap();
    }
    expect(status == IBV_WC_REM_INV_REQ_ERR, ibv_wc_status_str(status));
  }
}

// In the middle of a message, the receive that it has taken is flushed to the queue's CQ.
void failed_target(const verbs::Devices& devices) {
  Stage stage(devices);
  Queue queue(devices.far, stage.domain, 8);
  queue.post_all();
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  for (std::uint64_t number = 0; number < 8; ++number)
    stage.initiator.send(queue.number(), 0, slot_bytes);
  expect_error(ibv_modify_qp(stage.target.get(), &attr, IBV_QP_STATE), 0, "the target to ERR");
  while (const auto wc = queue.cq().poll()) {
    expect(wc->status == IBV_WC_SUCCESS || wc->status == IBV_WC_WR_FLUSH_ERR, verbs::describe(*wc));
    queue.post(static_cast<std::uint32_t>(wc->wr_id));
  }
  QpHandle again = create_target(devices.far, stage.domain);
  Initiator initiator(devices.near);
  connect(devices, initiator.get(), again.get());
  initiator.send(queue.number(), 5, 100);
  initiator.expect(IBV_WC_SUCCESS, "a SEND to the same queue by another target");
}

void full_cq(const verbs::Devices& devices) {
  Stage stage(devices);
  // It has room for 64 more completions than there are receives.
  Queue queue(devices.far, stage.domain, 4);
  for (int sent = 0; state_of(stage.target) != IBV_QPS_ERR; ++sent) {
    expect(sent < 1000, "the CQ does not overflow");
    queue.post(0);
    stage.initiator.send(queue.number(), 0, 10);
    stage.initiator.expect(IBV_WC_SUCCESS, "a SEND");
  }
}

void wrong_calls(const verbs::Devices& devices) {
  Stage stage(devices);
  ibv_send_wr send{}, *bad_send = nullptr;
  ibv_recv_wr recv{}, *bad_recv = nullptr;
  ibv_qp* const target = stage.target.get();
  ibv_qp* const initiator = stage.initiator.get();
  expect_error(ibv_post_send(target, &send, &bad_send), EINVAL, "ibv_post_send to a target");
  expect_error(ibv_post_recv(target, &recv, &bad_recv), EINVAL, "ibv_post_recv to a target");
  expect_error(ibv_post_recv(initiator, &recv, &bad_recv), EINVAL, "ibv_post_recv to an initiator");

  ibv_qp_open_attr open{};
  open.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  open.xrcd = stage.domain.get();
  open.qp_type = IBV_QPT_XRC_RECV;
  for (const std::uint32_t qpn : {initiator->qp_num, 0xffffffU}) {
    open.qp_num = qpn;
    expect(!ibv_open_qp(devices.far.get(), &open) && errno == EINVAL, "ibv_open_qp of ", qpn);
  }
  const Domain other = new_domain(devices.far);
  open.qp_num = target->qp_num;
  open.xrcd = other.get();
  expect(!ibv_open_qp(devices.far.get(), &open), "a target of another domain is opened");

  ibv_qp_init_attr_ex init{};
  init.qp_type = IBV_QPT_XRC_RECV;
  expect(!ibv_create_qp_ex(devices.far.get(), &init) && errno == EINVAL, "a target of no domain");

  const verbs::Pd pd = verbs::make_pd(devices.far);
  ibv_srq_init_attr_ex srq{};
  srq.attr = {4, 1, 0};
  srq.srq_type = IBV_SRQT_XRC;
  srq.pd = pd.get();
  srq.xrcd = stage.domain.get();
  srq.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD;
  expect(!ibv_create_srq_ex(devices.far.get(), &srq) && errno == EINVAL, "an XRC SRQ without a CQ");
  srq.srq_type = IBV_SRQT_TM;
  expect(!ibv_create_srq_ex(devices.far.get(), &srq) && errno == EOPNOTSUPP, "an SRQ that matches");
  srq.srq_type = IBV_SRQT_BASIC;
  srq.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  const verbs::Srq basic(ibv_create_srq_ex(devices.far.get(), &srq));
  expect(basic != nullptr, "a basic SRQ by ibv_create_srq_ex");

  const Queue queue(devices.far, other, 4);
  // libfabric passes what means nothing for a target.
  init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD;
  init.pd = pd.get();
  init.xrcd = other.get();
  init.srq = queue.get();
  init.cap = {4, 4, 1, 1, 0};
  const QpHandle named(ibv_create_qp_ex(devices.far.get(), &init));
  expect(named != nullptr, "a target with an SRQ and sizes");
  expect_error(ibv_close_xrcd(other.get()), EBUSY, "ibv_close_xrcd with a queue in it");
  expect_error(ibv_close_xrcd(stage.domain.get()), EBUSY, "ibv_close_xrcd with a target in it");
  expect_error(ibv_destroy_cq(const_cast<Queue&>(queue).cq().get()), EBUSY, "destroying its CQ");
}

// The kernel takes the sending queue of an initiator only, and none of a target. So the others may
// go first, and their QPs must not touch them.
void unused_queues_go_first(const verbs::Devices& devices) {
  const Stage stage(devices);
  const verbs::Pd pd = verbs::make_pd(devices.near);
  const verbs::Cq cq(devices.near, 16);
  std::optional<verbs::Cq> unused(std::in_place, devices.near, 16);
  std::optional<verbs::Cq> unused_far(std::in_place, devices.far, 16);
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_XRC_SEND;
  init.send_cq = cq.get();
  init.recv_cq = unused->get();
  init.cap = {16, 0, 1, 0, 0};
  QpHandle initiator(ibv_create_qp(pd.get(), &init));
  expect(initiator != nullptr, "an initiator with two CQs");
  ibv_qp_init_attr_ex target_init{};
  target_init.qp_type = IBV_QPT_XRC_RECV;
  target_init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  target_init.xrcd = stage.domain.get();
  target_init.send_cq = target_init.recv_cq = unused_far->get();
  QpHandle target(ibv_create_qp_ex(devices.far.get(), &target_init));
  expect(target != nullptr, "a target with CQs");
  unused.reset();
  unused_far.reset();
  verbs::Change reset = verbs::to_state(IBV_QPS_RESET);
  for (ibv_qp* qp : {initiator.get(), target.get()})
    expect_error(ibv_modify_qp(qp, &reset.attr, reset.mask), 0, "RESET");
}

}  // namespace

void run_error_cases(harness::Tap& tap, const verbs::Devices& devices) {
  tap.run("queues that the domain lacks", [&] { unknown_queues(devices); });
  tap.run("a number of more than 24 bits", [&] { long_number(devices); });
  tap.run("a region of another protection domain", [&] { other_region(devices); });
  tap.run("a queue is destroyed under traffic", [&] { destroyed_queue(devices); });
  tap.run("a target fails in a message", [&] { failed_target(devices); });
  tap.run("the CQ of a queue is full", [&] { full_cq(devices); });
  tap.run("unused completion queues go first", [&] { unused_queues_go_first(devices); });
  tap.run("wrong calls are rejected", [&] { wrong_calls(devices); });
}

}  // namespace xrc
