// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Messages that the far end must drop, and mistakes of either end's own.
#include "uc_verify/connection.h"

namespace uc {
namespace {

using harness::expect;

void expect_dropped(Connection& connection) {
  expect(!connection.received(harness::Deadline::after(quiet)), "a message arrives");
  for (verbs::Endpoint* end : {&connection.near(), &connection.far()})
    expect(end->qp().query(IBV_QP_STATE).qp_state == IBV_QPS_RTS, "a QP is no longer in RTS");
}

// The receive of a dropped message is that of the next.
void expect_next_arrives(Connection& connection, std::uint32_t slot) {
  const Message next = {99, 2500};
  expect(connection.send(next) == IBV_WC_SUCCESS, "a SEND fails");
  const auto wc = connection.received(harness::Deadline::after(timeout));
  expect(wc.has_value(), "the next message does not arrive");
  connection.check(next, *wc, slot);
}

void send_without_receive(const Devices& devices) {
  Connection connection(devices);
  for (const ibv_wr_opcode opcode : {IBV_WR_SEND, IBV_WR_RDMA_WRITE_WITH_IMM}) {
    expect(connection.send({1, 3000, opcode}) == IBV_WC_SUCCESS, "a send fails");
    expect_dropped(connection);
  }
  connection.post_receive(0);
  expect_next_arrives(connection, 0);
}

void send_too_much(const Devices& devices) {
  Connection connection(devices);
  connection.post_receive(3, 2500);
  for (const std::uint32_t length : {2501u, 60000u}) {
    expect(connection.send({1, length}) == IBV_WC_SUCCESS, "a SEND fails");
    expect_dropped(connection);
  }
  expect_next_arrives(connection, 3);
}

void write_with_bad_key(const Devices& devices) {
  Connection connection(devices);
  const Message write = {1, 5000, IBV_WR_RDMA_WRITE_WITH_IMM};
  connection.deliver(write, 0);
  connection.post_receive(1);
  const Message bad = {2, 5000, IBV_WR_RDMA_WRITE_WITH_IMM};
  connection.erase(bad, 1);
  expect(connection.send(bad, 0x55) == IBV_WC_SUCCESS, "a WRITE fails");
  expect_dropped(connection);
  connection.expect_no_bytes(bad, 1);
  expect_next_arrives(connection, 1);
}

void post_unsupported(const Devices& devices) {
  for (const ibv_wr_opcode opcode : {IBV_WR_RDMA_READ, IBV_WR_ATOMIC_FETCH_AND_ADD,
                                     IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_SEND_WITH_INV}) {
    Connection connection(devices);
    ibv_sge sge = connection.near().sge(0, 8);
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = opcode;
    wr.send_flags = IBV_SEND_SIGNALED;
    /* Our provider refuses it, librxe leaves that to the kernel. */
    if (connection.near().qp().try_post_send(&wr)) continue;
    const ibv_wc wc = connection.near().send_cq().next(harness::Deadline::after(timeout),
                                                       "an unsupported request completes");
    expect(wc.status == IBV_WC_LOC_QP_OP_ERR, verbs::describe(wc));
  }
}

// Only the send queue stops, and can be started again.
void send_from_bad_buffer(const Devices& devices) {
  Connection connection(devices);
  ibv_sge sge = connection.near().sge(0, 3000);
  sge.lkey ^= 0x55;
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_SEND;
  connection.near().qp().post_send(&wr);
  const ibv_wc wc =
      connection.near().send_cq().next(harness::Deadline::after(timeout), "a bad SEND completes");
  expect(wc.status == IBV_WC_LOC_PROT_ERR, verbs::describe(wc));
  verbs::Qp& qp = connection.near().qp();
  const auto deadline = harness::Deadline::after(timeout);
  while (qp.query(IBV_QP_STATE).qp_state != IBV_QPS_SQE)
    expect(!deadline.expired(), "the QP does not go to SQE");
  verbs::Change change = verbs::to_state(IBV_QPS_RTS);
  change.attr.cur_qp_state = IBV_QPS_SQE;
  change.mask |= IBV_QP_CUR_STATE;
  qp.modify(change, "RTS");
  connection.deliver({7, 5000}, 0);
}

void receive_into_bad_buffer(const Devices& devices) {
  Connection connection(devices);
  ibv_sge sge = connection.far().sge(0, 3000);
  sge.lkey ^= 0x55;
  ibv_recv_wr wr{};
  wr.wr_id = 5;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  connection.far().qp().post_recv(&wr);
  expect(connection.send({1, 2000}) == IBV_WC_SUCCESS, "a SEND fails");
  const auto wc = connection.received(harness::Deadline::after(timeout));
  expect(wc && wc->wr_id == 5 && wc->status == IBV_WC_LOC_PROT_ERR, "no LOC_PROT_ERR");
  const auto deadline = harness::Deadline::after(timeout);
  while (connection.far().qp().query(IBV_QP_STATE).qp_state != IBV_QPS_ERR)
    expect(!deadline.expired(), "the QP does not go to ERR");
}

void error_flushes(const Devices& devices) {
  Connection connection(devices);
  for (std::uint32_t slot = 0; slot < 3; ++slot) connection.post_receive(slot);
  connection.far().qp().modify(verbs::to_state(IBV_QPS_ERR), "ERR");
  for (std::uint32_t slot = 0; slot < 3; ++slot) {
    const auto wc = connection.received(harness::Deadline::after(timeout));
    expect(wc && wc->wr_id == slot && wc->status == IBV_WC_WR_FLUSH_ERR, "receive ", slot);
  }
}

}  // namespace

void run_error_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("a message without a receive is dropped", [&] { send_without_receive(devices); });
  tap.run("a message longer than the receive is dropped", [&] { send_too_much(devices); });
  tap.run("a WRITE with a bad key is dropped", [&] { write_with_bad_key(devices); });
  tap.run("READs and atomics are refused", [&] { post_unsupported(devices); });
  tap.run("a SEND from a bad buffer ends in SQE", [&] { send_from_bad_buffer(devices); });
  tap.run("a receive into a bad buffer ends in ERR", [&] { receive_into_bad_buffer(devices); });
  tap.run("ERR flushes receives", [&] { error_flushes(devices); });
}

}  // namespace uc
