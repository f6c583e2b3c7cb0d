// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// async_verify: asynchronous events (IBTA 11.6.3). Both ends are in this process. Those of shared
// receive queues are in srq_verify.
#include <cstdlib>
#include <memory>

#include "harness/args.h"
#include "harness/failure.h"
#include "harness/tap.h"
#include "verbs/devices.h"
#include "verbs/endpoint.h"
#include "verbs/events.h"

namespace {

using harness::expect;
using verbs::Events;

constexpr auto timeout = std::chrono::seconds(30);

constexpr const char* usage =
    R"(usage: async_verify --dev A --gid a --peer-dev B --peer-gid b [--interface IF]

With --interface, change the addresses and the link of A's interface, and delete A at last.)";

// A connection whose far end has the events.
struct Pair {
  explicit Pair(const verbs::Devices& devices, const verbs::EndpointOptions& options = {},
                const verbs::LinkOptions& link = {})
      : near(devices.near, devices.near_gid, {}, 1),
        far(devices.far, devices.far_gid, options, 2),
        events(devices.far) {
    connect_both(near, far, link);
  }

  ibv_wc_status complete(ibv_send_wr wr) {
    wr.send_flags = IBV_SEND_SIGNALED;
    near.qp().post_send(&wr);
    return near.send_cq().next(harness::Deadline::after(timeout), "a request").status;
  }
  ibv_wc_status send(std::uint32_t length) {
    ibv_sge sge = near.sge(0, length);
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND;
    return complete(wr);
  }
  void post_receive(std::uint32_t length, std::uint32_t lkey_change = 0) {
    ibv_sge sge = far.sge(0, length);
    sge.lkey ^= lkey_change;
    ibv_recv_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    far.qp().post_recv(&wr);
  }
  void expect_once(ibv_event_type type) {
    events.wait_for(type, far.qp().get(), 1);
    expect(events.count(type, far.qp().get()) == 1, ibv_event_type_str(type), " comes twice");
  }
  // None of the errors of a QP.
  void expect_no_error() {
    for (ibv_event_type type : {IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR})
      expect(!events.count(type, far.qp().get()), "an event ", ibv_event_type_str(type));
  }

  verbs::Endpoint near, far;
  Events events;
};

void communication_established(const verbs::Devices& devices) {
  verbs::Endpoint near(devices.near, devices.near_gid, {}, 1);
  verbs::Endpoint far(devices.far, devices.far_gid, {}, 2);
  Events events(devices.far);
  verbs::LinkOptions link;
  near.connect(far.info(), link);
  link.gid_index = devices.far_gid;
  far.qp().modify(rc_to_init(link), "INIT");
  far.qp().modify(rc_to_rtr(link, near.info().qp), "RTR");
  expect(!events.count(IBV_EVENT_COMM_EST, far.qp().get()), "the event comes too early");
  for (int i = 0; i < 3; ++i) {
    ibv_send_wr wr{};
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.wr.rdma = {far.info().address, far.info().rkey};
    wr.send_flags = IBV_SEND_SIGNALED;
    near.qp().post_send(&wr);
    const ibv_wc wc = near.send_cq().next(harness::Deadline::after(timeout), "a WRITE");
    expect(wc.status == IBV_WC_SUCCESS, verbs::describe(wc));
  }
  events.wait_for(IBV_EVENT_COMM_EST, far.qp().get(), 1);
  expect(events.count(IBV_EVENT_COMM_EST, far.qp().get()) == 1, "the event comes again");
}

void drained(const verbs::Devices& devices) {
  Pair pair(devices);
  verbs::Change change = verbs::to_state(IBV_QPS_SQD);
  pair.far.qp().modify(change, "SQD without an event");
  expect(!pair.events.count(IBV_EVENT_SQ_DRAINED, pair.far.qp().get()), "nobody asked for it");
  pair.far.qp().modify(verbs::to_state(IBV_QPS_RTS), "RTS");
  change.attr.en_sqd_async_notify = 1;
  change.mask |= IBV_QP_EN_SQD_ASYNC_NOTIFY;
  pair.far.qp().modify(change, "SQD");
  pair.expect_once(IBV_EVENT_SQ_DRAINED);
  pair.expect_no_error();
}

void access_error(const verbs::Devices& devices) {
  Pair pair(devices);
  ibv_send_wr wr{};
  ibv_sge sge = pair.near.sge(0, 8);
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.wr.rdma = {pair.far.info().address, pair.far.info().rkey ^ 0x55};
  expect(pair.complete(wr) == IBV_WC_REM_ACCESS_ERR, "another status");
  pair.expect_once(IBV_EVENT_QP_ACCESS_ERR);
}

// The QP permits no READs.
void request_error(const verbs::Devices& devices) {
  verbs::LinkOptions link;
  link.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
  Pair pair(devices, {}, link);
  ibv_send_wr wr{};
  ibv_sge sge = pair.near.sge(0, 8);
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_READ;
  wr.wr.rdma = {pair.far.info().address, pair.far.info().rkey};
  expect(pair.complete(wr) == IBV_WC_REM_INV_REQ_ERR, "another status");
  pair.expect_once(IBV_EVENT_QP_REQ_ERR);
}

// The completion of the receive reports the error.
void receive_error(const verbs::Devices& devices, std::uint32_t length, std::uint32_t lkey_change,
                   ibv_wc_status status) {
  Pair pair(devices);
  pair.post_receive(100, lkey_change);
  expect(pair.send(length) != IBV_WC_SUCCESS, "the SEND succeeds");
  const ibv_wc wc = pair.far.recv_cq().next(harness::Deadline::after(timeout), "a receive");
  expect(wc.status == status, verbs::describe(wc));
  pair.expect_no_error();
}

// A request that fails has a completion, so there is no event at its end.
void requester_error(const verbs::Devices& devices) {
  Pair pair(devices);
  ibv_send_wr wr{};
  ibv_sge sge = pair.far.sge(0, 8);
  sge.lkey ^= 0x55;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_SEND;
  wr.send_flags = IBV_SEND_SIGNALED;
  pair.far.qp().post_send(&wr);
  const ibv_wc wc = pair.far.send_cq().next(harness::Deadline::after(timeout), "a SEND");
  expect(wc.status == IBV_WC_LOC_PROT_ERR, verbs::describe(wc));
  pair.expect_no_error();
}

void overflow(const verbs::Devices& devices) {
  verbs::EndpointOptions options;
  options.recv_cq = std::make_shared<verbs::Cq>(devices.far, 1);
  options.qp.recv_depth = 1000;
  Pair pair(devices, options);
  const int entries = options.recv_cq->get()->cqe;
  for (int i = 0; i <= entries; ++i) {
    pair.post_receive(8);
    (void)pair.send(8);
  }
  pair.events.wait_for(IBV_EVENT_CQ_ERR, options.recv_cq->get(), 1);
  pair.expect_once(IBV_EVENT_QP_FATAL);
  expect(pair.events.count(IBV_EVENT_CQ_ERR, options.recv_cq->get()) == 1, "CQ_ERR comes twice");
}

void command(const std::string& line) { expect(!std::system(line.c_str()), "failed: ", line); }

void addresses(const verbs::Devices& devices, const std::string& interface) {
  Events events(devices.near);
  const auto changes = [&] { return events.count(IBV_EVENT_GID_CHANGE, nullptr); };
  const int before = changes();
  command("ip address add 10.99.0.1/24 dev " + interface);
  events.wait_for(IBV_EVENT_GID_CHANGE, nullptr, before + 1);
  const int added = changes();
  command("ip address del 10.99.0.1/24 dev " + interface);
  events.wait_for(IBV_EVENT_GID_CHANGE, nullptr, added + 1);
}

void link(const verbs::Devices& devices, const std::string& interface) {
  Events events(devices.near);
  command("ip link set " + interface + " down");
  events.wait_for(IBV_EVENT_PORT_ERR, nullptr, 1);
  command("ip link set " + interface + " up");
  events.wait_for(IBV_EVENT_PORT_ACTIVE, nullptr, 1);
  expect(events.count(IBV_EVENT_PORT_ERR, nullptr) == 1 &&
             events.count(IBV_EVENT_PORT_ACTIVE, nullptr) == 1,
         "an event comes twice");
}

void removal(const verbs::Devices& devices) {
  Events events(devices.near);
  command("rdma link delete " + devices.near.name());
  events.wait_for(IBV_EVENT_DEVICE_FATAL, nullptr, 1);
}

}  // namespace

int main(int argc, char** argv) {
  harness::Args args(argc, argv, usage);
  const verbs::Devices devices(args);
  const std::string interface = args.text("--interface", "");
  args.finish();
  harness::Tap tap;
  tap.run("the first message in RTR is reported once", [&] { communication_established(devices); });
  tap.run("a drained send queue is reported if asked for", [&] { drained(devices); });
  tap.run("a remote access error is reported", [&] { access_error(devices); });
  tap.run("an invalid request is reported", [&] { request_error(devices); });
  tap.run("a receive that is too short is not",
          [&] { receive_error(devices, 101, 0, IBV_WC_LOC_LEN_ERR); });
  tap.run("a receive with a wrong key is not",
          [&] { receive_error(devices, 100, 0x55, IBV_WC_LOC_PROT_ERR); });
  tap.run("a request that fails is not", [&] { requester_error(devices); });
  tap.run("a CQ that overflows is reported, and its QP", [&] { overflow(devices); });
  if (!interface.empty()) {
    tap.run("a changed address is reported", [&] { addresses(devices, interface); });
    tap.run("a changed link is reported", [&] { link(devices, interface); });
    tap.run("the removal of the device is reported", [&] { removal(devices); });
  }
  return tap.finish();
}
