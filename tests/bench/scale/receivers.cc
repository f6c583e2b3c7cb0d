// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "scale/receivers.h"

#include <deque>

#include "harness/failure.h"
#include "scale/kernel_memory.h"
#include "verbs/memory.h"

namespace scale {

namespace {

using harness::expect;

constexpr std::uint32_t receives = 1024;

verbs::Srq make_srq(const verbs::Pd& pd) {
  ibv_srq_init_attr init{};
  init.attr = {receives, 1, 0};
  verbs::Srq srq(ibv_create_srq(pd.get(), &init));
  expect(srq != nullptr, "ibv_create_srq");
  return srq;
}

}  // namespace

double receiver_kib(const DeviceName& device, std::size_t count, bool shared) {
  const verbs::Context context(device.name);
  const verbs::Pd pd = verbs::make_pd(context);
  const verbs::Cq cq(context, 4096);
  verbs::Pages buffer(4096);
  const verbs::Mr mr = verbs::make_mr(pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE);
  ibv_sge sge = {reinterpret_cast<std::uint64_t>(buffer.data()), 64, mr->lkey};
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  verbs::QpOptions options = {
      .send_depth = 1, .recv_depth = receives, .send_sge = 1, .recv_sge = 1};
  const auto make_one = [&](std::deque<verbs::Qp>& qps) {
    verbs::Qp& qp = qps.emplace_back(pd, cq, cq, options);
    qp.modify(verbs::rc_to_init({}), "INIT");
    for (std::uint32_t i = 0; !shared && i < receives; i++) qp.post_recv(&wr);
  };
  verbs::Srq srq;
  std::deque<verbs::Qp> qps;
  if (!shared) make_one(qps);  // memory that only the first one needs
  const double before = kernel_memory();
  if (shared) {
    srq = make_srq(pd);
    options.srq = srq.get();
    for (std::uint32_t i = 0; i < receives; i++)
      expect(!ibv_post_srq_recv(srq.get(), &wr, &bad), "ibv_post_srq_recv");
  }
  for (std::size_t i = 0; i < count; i++) make_one(qps);
  return (kernel_memory() - before) / static_cast<double>(count);
}

}  // namespace scale
