// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Wrong calls, protection domains, and datagrams.
#include "srq_verify/shared.h"

namespace srq {
namespace {

using harness::expect;

void expect_error(int err, int wanted, const std::string& what) {
  expect(err == wanted, what, " returns ", err, " instead of ", wanted);
}

void wrong_calls(const Devices& devices) {
  Queue queue(devices.far, 20, 1000);
  Streams all(devices, queue, {.longest = 1000});
  const std::uint32_t max_wr = queue.query().max_wr;
  const auto device_max = static_cast<std::uint32_t>(devices.far.device().max_srq_wr);
  expect_error(ibv_destroy_srq(queue.get()), EBUSY, "destroying an SRQ in use");
  ibv_recv_wr wr{};
  expect_error(all.far_qp(0).try_post_recv(&wr), EINVAL, "ibv_post_recv to a QP with an SRQ");
  expect_error(queue.try_modify(0, max_wr + 1, IBV_SRQ_LIMIT), EINVAL, "a limit above the size");
  expect_error(queue.try_modify(0, 0, IBV_SRQ_MAX_WR), EINVAL, "a size of 0");
  expect_error(queue.try_modify(device_max + 1, 0, IBV_SRQ_MAX_WR), EINVAL, "a size too large");
  expect_error(queue.try_modify(30, 31, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), EINVAL,
               "a limit above the new size");
  expect_error(queue.try_modify(0, 0, 0x80), EINVAL, "an unknown attribute");
  queue.post_all();
  expect_error(queue.try_modify(7, 0, IBV_SRQ_MAX_WR), EINVAL, "a size below what is posted");
  queue.modify(0, 15, IBV_SRQ_LIMIT);
  expect_error(queue.try_modify(14, 0, IBV_SRQ_MAX_WR), EINVAL, "a size below the limit");
  expect(queue.query().max_wr == max_wr && queue.query().srq_limit == 15,
         "a call that failed has changed something");
  ibv_sge list[3] = {queue.sge(0), queue.sge(0), queue.sge(0)};
  wr.sg_list = list;
  wr.num_sge = 3;
  expect_error(queue.try_post(wr), EINVAL, "a receive of too many elements");
  wr.num_sge = 1;
  int err = 0;
  std::uint32_t posted = 20;
  for (; !err && posted <= max_wr; ++posted) err = queue.try_post(wr);
  expect_error(err, ENOMEM, "posting to a full SRQ");
  expect(posted == max_wr + 1, "a queue of ", max_wr, " takes ", posted - 1);
}

void largest(const Devices& devices) {
  const ibv_device_attr& device = devices.far.device();
  ibv_srq_init_attr init{};
  init.attr = {static_cast<std::uint32_t>(device.max_srq_wr),
               static_cast<std::uint32_t>(device.max_srq_sge), 0};
  const verbs::Pd pd = verbs::make_pd(devices.far);
  const verbs::Srq srq(ibv_create_srq(pd.get(), &init));
  if (!srq) harness::fail_errno(errno, "the largest SRQ");
  expect(init.attr.max_wr == static_cast<std::uint32_t>(device.max_srq_wr), "it has ",
         init.attr.max_wr);
  init.attr = {0, 1, 0};
  const verbs::Srq none(ibv_create_srq(pd.get(), &init));
  expect(!none && errno == EINVAL, "an SRQ without receives");
}

// A QP with an SRQ has no receive queue, whatever the caller asks for.
void sizes(const Devices& devices) {
  const Queue queue(devices.far, 4, 1000);
  const verbs::Cq cq(devices.far, 10);
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_RC;
  init.send_cq = init.recv_cq = cq.get();
  init.srq = queue.get();
  init.cap = {1, 1U << 30, 1, 1U << 30, 0};
  const verbs::Handle<ibv_qp, ibv_destroy_qp> qp(ibv_create_qp(queue.pd().get(), &init));
  if (!qp) harness::fail_errno(errno, "a QP with an SRQ and sizes of a receive queue");
  expect(!init.cap.max_recv_wr && !init.cap.max_recv_sge, "it has ", init.cap.max_recv_wr,
         " receives");
  ibv_qp_attr attr{};
  expect_error(ibv_query_qp(qp.get(), &attr, IBV_QP_STATE, &init), 0, "ibv_query_qp");
  expect(init.srq == queue.get(), "ibv_query_qp shows no SRQ");
}

// The buffers belong to the SRQ's protection domain, which differs from that of the QPs.
void domains(const Devices& devices) {
  Queue queue(devices.far, 4, 1000);
  Streams all(devices, queue, {.longest = 1000});
  verbs::Pages memory(4096);
  const verbs::Pd pd = verbs::make_pd(devices.far);
  const verbs::Mr mr = verbs::make_mr(pd, memory.data(), 4096, IBV_ACCESS_LOCAL_WRITE);
  ibv_sge sge = {reinterpret_cast<std::uint64_t>(memory.data()), 1000, mr->lkey};
  ibv_recv_wr wr{};
  wr.wr_id = 77;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  expect_error(queue.try_post(wr), 0, "posting with a key of another domain");
  all.send(0);
  const ibv_wc wc = all.far_cq().next(harness::Deadline::after(timeout), "the bad receive");
  expect(wc.wr_id == 77 && wc.status == IBV_WC_LOC_PROT_ERR, verbs::describe(wc));
}

constexpr std::uint32_t qkey = 0x1234;

void make_ready(verbs::Qp& qp) {
  qp.modify(verbs::ud_to_init(qkey), "INIT");
  qp.modify(verbs::to_state(IBV_QPS_RTR), "RTR");
  verbs::Change rts = verbs::to_state(IBV_QPS_RTS);
  rts.mask |= IBV_QP_SQ_PSN;
  qp.modify(rts, "RTS");
}

// A datagram that is longer than the receive takes none from the other QP.
void datagrams(const Devices& devices) {
  Queue queue(devices.far, 4, 500);
  Streams all(devices, queue, {.longest = 500});
  verbs::EndpointOptions options;
  options.qp.type = IBV_QPT_UD;
  verbs::Endpoint near(devices.near, devices.near_gid, options, 1);
  options.qp.srq = queue.get();
  verbs::Endpoint far(devices.far, devices.far_gid, options, 2);
  make_ready(near.qp());
  make_ready(far.qp());
  ibv_ah_attr attr{};
  attr.is_global = 1;
  attr.port_num = verbs::port_number;
  attr.grh.dgid = devices.far.gid(devices.far_gid);
  attr.grh.sgid_index = static_cast<std::uint8_t>(devices.near_gid);
  attr.grh.hop_limit = 64;
  const verbs::Ah ah(ibv_create_ah(near.pd().get(), &attr));
  if (!ah) harness::fail_errno(errno, "ibv_create_ah");
  const auto send = [&](std::uint32_t length) {
    ibv_sge sge = near.sge(0, length);
    ibv_send_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    wr.opcode = IBV_WR_SEND;
    wr.send_flags = IBV_SEND_SIGNALED;
    wr.wr.ud = {ah.get(), far.qp().number(), qkey};
    near.qp().post_send(&wr);
    near.send_cq().next(harness::Deadline::after(timeout), "a datagram");
  };
  queue.post(0);
  send(461);
  far.recv_cq().expect_none(quiet, "a datagram that is too long");
  all.send(0, 200);
  all.check(all.far_cq().next(harness::Deadline::after(timeout), "the other QP's message"));
  queue.post(1);
  send(460);
  const ibv_wc wc = far.recv_cq().next(harness::Deadline::after(timeout), "the datagram");
  expect(wc.status == IBV_WC_SUCCESS && wc.wr_id == 1 && wc.byte_len == 500, verbs::describe(wc));
}

}  // namespace

void run_object_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("wrong calls are rejected", [&] { wrong_calls(devices); });
  tap.run("the largest SRQ, and none", [&] { largest(devices); });
  tap.run("a QP with an SRQ has no receive queue", [&] { sizes(devices); });
  tap.run("buffers belong to the SRQ's protection domain", [&] { domains(devices); });
  tap.run("a datagram that is too long takes no receive", [&] { datagrams(devices); });
}

}  // namespace srq
