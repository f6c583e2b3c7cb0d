// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Messages of every kind and many lengths, without loss and with it.
#include "uc_verify/connection.h"

namespace uc {
namespace {

using harness::expect;

constexpr ibv_wr_opcode opcodes[] = {IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
                                     IBV_WR_RDMA_WRITE_WITH_IMM};

void deliver_all(const Devices& devices, ibv_wr_opcode opcode) {
  Connection connection(devices);
  std::uint32_t number = 0;
  for (const std::uint32_t length : {0u, 1u, 3u, 1023u, 1024u, 1025u, 4096u, 5000u, 65536u})
    for (int repeat = 0; repeat < 3; ++repeat, ++number)
      connection.deliver({number, length, opcode}, number % Connection::slots);
}

void deliver_mixed(const Devices& devices) {
  Connection connection(devices);
  harness::Random random(1);
  for (std::uint32_t number = 0; number < 300; ++number) {
    const auto length = static_cast<std::uint32_t>(random.below(9000));
    connection.deliver({number, length, opcodes[random.below(std::size(opcodes))]},
                       number % Connection::slots);
  }
}

// An SRQ with one buffer, of which the receives may be shorter.
class SharedQueue {
 public:
  explicit SharedQueue(const Devices& devices)
      : pd_(verbs::make_pd(devices.far)),
        buffer_(4096),
        mr_(verbs::make_mr(pd_, buffer_.data(), buffer_.size(), IBV_ACCESS_LOCAL_WRITE)) {
    ibv_srq_init_attr init{};
    init.attr = {Connection::slots, 1, 0};
    srq_.reset(ibv_create_srq(pd_.get(), &init));
    expect(srq_ != nullptr, "ibv_create_srq");
  }

  ibv_srq* get() const { return srq_.get(); }
  void post(std::uint64_t number, std::uint32_t length = 4096) {
    ibv_sge sge = {reinterpret_cast<std::uint64_t>(buffer_.data()), length, mr_->lkey};
    ibv_recv_wr wr{}, *bad = nullptr;
    wr.wr_id = number;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    expect(!ibv_post_srq_recv(srq_.get(), &wr, &bad), "ibv_post_srq_recv");
  }

 private:
  verbs::Pd pd_;
  std::vector<std::byte> buffer_;
  verbs::Mr mr_;
  verbs::Srq srq_;
};

void expect_received(Connection& connection, std::uint64_t number, ibv_wc_status status) {
  const auto wc = connection.received(harness::Deadline::after(timeout));
  expect(wc.has_value(), "receive ", number, " does not complete");
  verbs::expect_wc(*wc, number, status, "a receive of an SRQ");
}

void share_receives(const Devices& devices) {
  SharedQueue queue(devices);
  Connection connections[] = {Connection(devices, queue.get()), Connection(devices, queue.get())};
  for (std::uint32_t number = 0; number < 20; ++number) {
    Connection& connection = connections[number % 2];
    queue.post(number);
    expect(connection.send({number, 3000}) == IBV_WC_SUCCESS, "a SEND fails");
    expect_received(connection, number, IBV_WC_SUCCESS);
  }
}

// A receive that was taken cannot go back, and must not wait for this QP.
void drop_shared(const Devices& devices) {
  SharedQueue queue(devices);
  Connection connections[] = {Connection(devices, queue.get()), Connection(devices, queue.get())};
  queue.post(0);
  expect(connections[0].send({0, 9000}) == IBV_WC_SUCCESS, "a SEND fails");
  expect_received(connections[0], 0, IBV_WC_REM_INV_REQ_ERR);
  expect(connections[0].far().qp().query(IBV_QP_STATE).qp_state == IBV_QPS_RTS,
         "a dropped message ends the connection");
  // The first packet does not fit, so the receive stays.
  queue.post(1, 100);
  expect(connections[0].send({1, 9000}) == IBV_WC_SUCCESS, "a SEND fails");
  expect(!connections[0].received(harness::Deadline::after(quiet)), "a receive completes");
  expect(connections[1].send({2, 100}) == IBV_WC_SUCCESS, "a SEND fails");
  expect_received(connections[1], 1, IBV_WC_SUCCESS);
}

// Every message that arrives is whole, and none comes twice or late.
void lose_some(const Devices& devices) {
  constexpr std::uint32_t messages = 2000;
  Connection connection(devices);
  for (std::uint32_t slot = 0; slot < Connection::slots; ++slot) connection.post_receive(slot);
  std::uint32_t next_slot = 0, arrived = 0;
  std::int64_t newest = -1;
  const auto length_of = [](std::uint32_t number) { return 1 + number * 37 % 9000; };
  const auto take = [&](harness::Deadline deadline) {
    const auto wc = connection.received(deadline);
    if (!wc) return false;
    expect(wc->status == IBV_WC_SUCCESS, verbs::describe(*wc));
    const std::uint32_t number = wc->imm_data;
    expect(std::int64_t{number} > newest, "message ", number, " after ", newest);
    connection.check({number, length_of(number), IBV_WR_SEND_WITH_IMM}, *wc, next_slot, false);
    newest = number;
    arrived++;
    connection.post_receive(next_slot);
    next_slot = (next_slot + 1) % Connection::slots;
    return true;
  };
  for (std::uint32_t number = 0; number < messages; ++number) {
    const Message message = {number, length_of(number), IBV_WR_SEND_WITH_IMM};
    expect(connection.send(message) == IBV_WC_SUCCESS, "message ", number, " fails");
    while (take(harness::Deadline::after({}))) {
    }
  }
  while (take(harness::Deadline::after(quiet))) {
  }
  expect(arrived > messages / 2 && arrived < messages, arrived, " of ", messages, " arrive");
}

}  // namespace

void run_traffic_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("SENDs", [&] { deliver_all(devices, IBV_WR_SEND); });
  tap.run("SENDs with immediate", [&] { deliver_all(devices, IBV_WR_SEND_WITH_IMM); });
  tap.run("WRITEs", [&] { deliver_all(devices, IBV_WR_RDMA_WRITE); });
  tap.run("WRITEs with immediate", [&] { deliver_all(devices, IBV_WR_RDMA_WRITE_WITH_IMM); });
  tap.run("messages of all kinds in turn", [&] { deliver_mixed(devices); });
}

void run_srq_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("two connections share an SRQ", [&] { share_receives(devices); });
  tap.run("the receive of a dropped message ends in error", [&] { drop_shared(devices); });
}

void run_loss_case(harness::Tap& tap, const Devices& devices) {
  tap.run("what arrives is whole and in order", [&] { lose_some(devices); });
}

}  // namespace uc
