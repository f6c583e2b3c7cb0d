// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// ibv_wr_*(), ibv_start_poll(), what only it returns, thread domains, and 1 KiB of inline data.
#include <endian.h>

#include <vector>

#include "native_verbs/pair.h"

namespace native_verbs {
namespace {

using harness::Backoff;
using harness::Deadline;
using harness::expect;
using harness::fail;
using harness::fail_errno;

void inline_kilobyte(const Devices& devices) {
  verbs::EndpointOptions options;
  options.qp.inline_bytes = 1024;
  Pair pair(devices, options);
  expect(pair.near.qp().cap().max_inline_data >= 1024, "only ",
         pair.near.qp().cap().max_inline_data, " bytes");
  std::vector<std::byte> data(1024);
  for (std::size_t i = 0; i < data.size(); i++) data[i] = static_cast<std::byte>(i * 7 + i / 256);
  ibv_sge sge = {reinterpret_cast<std::uintptr_t>(data.data()), 1024, 0};
  ibv_send_wr wr{};
  wr.sg_list = &sge;
  wr.num_sge = 1;
  wr.opcode = IBV_WR_RDMA_WRITE;
  wr.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  wr.wr.rdma.remote_addr = pair.near.peer().address;
  wr.wr.rdma.rkey = pair.near.peer().rkey;
  pair.near.qp().post_send(&wr);
  const std::vector<std::byte> sent = data;
  std::fill(data.begin(), data.end(), std::byte{0});
  verbs::expect_wc(pair.near.send_cq().next(Deadline::after(timeout), "inline"), 0, IBV_WC_SUCCESS,
                   "inline");
  expect(std::memcmp(pair.far.arena().data(), sent.data(), sent.size()) == 0,
         "received other bytes");
  options.qp.inline_bytes = 1025;
  try {
    Pair more(devices, options);
  } catch (const harness::Failure&) {
    return;
  }
  fail("created a QP with 1025 bytes inline");
}

int free_td(ibv_td* td) { return ibv_dealloc_td(td); }
using Td = verbs::Handle<ibv_td, free_td>;
using QpHandle = verbs::Handle<ibv_qp, ibv_destroy_qp>;

// A single-threaded near end that uses the extended calls only.
class Single {
 public:
  explicit Single(const Devices& devices, std::uint64_t wc_flags = 0)
      : far(devices.far, devices.far_gid, {}, 2) {
    pd = verbs::make_pd(devices.near);
    ibv_td_init_attr td_attr{};
    td.reset(ibv_alloc_td(devices.near.get(), &td_attr));
    expect(td != nullptr, "ibv_alloc_td");
    ibv_parent_domain_init_attr parent_attr{};
    parent_attr.pd = pd.get();
    parent_attr.td = td.get();
    parent.reset(ibv_alloc_parent_domain(devices.near.get(), &parent_attr));
    if (!parent) fail_errno(errno, "ibv_alloc_parent_domain");
    expect(ibv_dealloc_td(td.get()) == EBUSY, "freed a thread domain that a parent domain uses");
    make_cq(devices, IBV_WC_STANDARD_FLAGS | wc_flags);
    make_qp(devices);
    mr = verbs::make_mr(parent, memory, sizeof(memory), IBV_ACCESS_LOCAL_WRITE);
    connect(devices);
  }
  ~Single() {
    qp.reset();
    if (cq) verbs::report_close(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), "ibv_destroy_cq");
  }

  verbs::Pd pd;
  Td td;
  verbs::Pd parent;
  ibv_cq_ex* cq = nullptr;
  QpHandle qp;
  std::byte memory[4096] = {};
  verbs::Mr mr;
  verbs::Endpoint far;

 private:
  void make_cq(const Devices& devices, std::uint64_t wc_flags) {
    ibv_cq_init_attr_ex attr{};
    attr.cqe = depth;
    attr.wc_flags = wc_flags;
    attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS | IBV_CQ_INIT_ATTR_MASK_PD;
    attr.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
    attr.parent_domain = parent.get();
    cq = ibv_create_cq_ex(devices.near.get(), &attr);
    if (!cq) fail_errno(errno, "ibv_create_cq_ex");
  }

  void make_qp(const Devices& devices) {
    ibv_qp_init_attr_ex attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.send_cq = attr.recv_cq = ibv_cq_ex_to_cq(cq);
    attr.cap = {depth, depth, 4, 4, 1024};
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attr.pd = parent.get();
    attr.send_ops_flags = IBV_QP_EX_WITH_SEND_WITH_IMM | IBV_QP_EX_WITH_RDMA_WRITE |
                          IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
    qp.reset(ibv_create_qp_ex(devices.near.get(), &attr));
    if (!qp) fail_errno(errno, "ibv_create_qp_ex");
  }

  void connect(const Devices& devices) {
    verbs::LinkOptions link;
    link.gid_index = devices.near_gid;
    for (verbs::Change change :
         {rc_to_init(link), rc_to_rtr(link, far.info().qp), rc_to_rts(link, 0)})
      if (const int error = ibv_modify_qp(qp.get(), &change.attr, change.mask))
        fail_errno(error, "ibv_modify_qp");
    verbs::EndpointInfo near{};
    near.qp = {qp->qp_num, 0, devices.near.gid(devices.near_gid)};
    far.connect(near, link);
  }
};

// Poll until ibv_start_poll() returns a completion, or fail at the timeout.
void await_completion(ibv_cq_ex* cq) {
  const Deadline deadline = Deadline::after(timeout);
  ibv_poll_cq_attr attr{};
  for (Backoff backoff;; backoff.pause()) {
    const int result = ibv_start_poll(cq, &attr);
    if (!result) return;
    expect(result == ENOENT, "ibv_start_poll returned ", result);
    expect(!deadline.expired(), "no completion");
  }
}

void extended_calls(const Devices& devices) {
  Single single(devices);
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(single.qp.get());
  expect(qp != nullptr, "no ibv_qp_ex");
  const verbs::EndpointInfo far = single.far.info();
  const auto local = reinterpret_cast<std::uintptr_t>(single.memory);
  std::vector<std::byte> text(1000, std::byte{0x5a});

  ibv_recv_wr receive{};
  single.far.qp().post_recv(&receive);
  ibv_wr_start(qp);
  qp->wr_id = 1;
  qp->wr_flags = 0;
  ibv_wr_rdma_write(qp, far.rkey, far.address);
  ibv_wr_set_inline_data(qp, text.data(), text.size());
  qp->wr_id = 2;
  qp->wr_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE;
  ibv_wr_rdma_read(qp, far.rkey, far.address);
  ibv_wr_set_sge(qp, single.mr->lkey, local, 1000);
  qp->wr_id = 3;
  ibv_wr_send_imm(qp, htobe32(17));
  if (const int error = ibv_wr_complete(qp)) fail_errno(error, "ibv_wr_complete");

  await_completion(single.cq);
  expect(single.cq->wr_id == 2 && single.cq->status == IBV_WC_SUCCESS, "first completion ",
         single.cq->wr_id, " status ", single.cq->status);
  expect(ibv_wc_read_opcode(single.cq) == IBV_WC_RDMA_READ, "the first completion is not a READ");
  expect(ibv_wc_read_qp_num(single.cq) == single.qp->qp_num,
         "the first completion is of another QP");
  ibv_end_poll(single.cq);
  expect(std::memcmp(single.memory, text.data(), text.size()) == 0, "read back other bytes");
  await_completion(single.cq);
  expect(single.cq->wr_id == 3 && single.cq->status == IBV_WC_SUCCESS, "second completion ",
         single.cq->wr_id);
  expect(ibv_next_poll(single.cq) == ENOENT, "a third completion");
  ibv_end_poll(single.cq);
  const ibv_wc wc = single.far.recv_cq().next(Deadline::after(timeout), "the SEND");
  expect(wc.wc_flags & IBV_WC_WITH_IMM && wc.imm_data == htobe32(17), "wrong immediate data");
}

void batches_stream(const Devices& devices) {
  constexpr std::uint64_t batches = 500, length = 8;
  Single single(devices);
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(single.qp.get());
  expect(qp != nullptr, "no ibv_qp_ex");
  const verbs::EndpointInfo far = single.far.info();
  std::uint64_t polled = 0;
  for (std::uint64_t batch = 0; batch < batches; batch++) {
    ibv_wr_start(qp);
    for (std::uint64_t i = 0; i < length; i++) {
      qp->wr_id = batch;
      qp->wr_flags = i + 1 < length ? 0 : IBV_SEND_SIGNALED;
      ibv_wr_atomic_fetch_add(qp, far.rkey, far.address, 1);
      ibv_wr_set_sge(qp, single.mr->lkey, reinterpret_cast<std::uintptr_t>(single.memory), 8);
    }
    if (const int error = ibv_wr_complete(qp)) fail_errno(error, "batch ", batch);
    if (batch - polled < 4) continue;
    await_completion(single.cq);
    do {
      expect(single.cq->wr_id == polled++ && !single.cq->status, "batch ", polled, " status ",
             single.cq->status);
    } while (!ibv_next_poll(single.cq));
    ibv_end_poll(single.cq);
  }
  for (; polled < batches; polled++) {
    await_completion(single.cq);
    ibv_end_poll(single.cq);
  }
  std::uint64_t sum;
  std::memcpy(&sum, single.far.arena().data(), sizeof(sum));
  expect(sum == batches * length, "the sum is ", sum);
}

std::uint64_t clock_of(const Devices& devices) {
  ibv_values_ex values{};
  values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
  const int error = ibv_query_rt_values_ex(devices.near.get(), &values);
  expect(!error && values.comp_mask == IBV_VALUES_MASK_RAW_CLOCK, "ibv_query_rt_values_ex");
  return static_cast<std::uint64_t>(values.raw_clock.tv_nsec);
}

std::uint64_t wall_clock() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1000000000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

// Each stamp lies between the post and the poll, by the clock of the device and by that of the day.
void timestamps(const Devices& devices) {
  ibv_device_attr_ex attr{};
  if (const int error = ibv_query_device_ex(devices.near.get(), nullptr, &attr))
    fail_errno(error, "ibv_query_device_ex");
  expect(attr.completion_timestamp_mask == ~std::uint64_t{0} && attr.hca_core_clock == 1000000,
         "mask ", attr.completion_timestamp_mask, ", clock ", attr.hca_core_clock);
  Single single(
      devices, IBV_WC_EX_WITH_COMPLETION_TIMESTAMP | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK);
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(single.qp.get());
  const verbs::EndpointInfo far = single.far.info();
  std::uint64_t earliest = clock_of(devices), earliest_of_day = wall_clock();
  for (std::uint64_t i = 0; i < 300; i++) {
    ibv_wr_start(qp);
    qp->wr_id = i;
    qp->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_rdma_write(qp, far.rkey, far.address);
    ibv_wr_set_sge(qp, single.mr->lkey, reinterpret_cast<std::uintptr_t>(single.memory), 8);
    if (const int error = ibv_wr_complete(qp)) fail_errno(error, "ibv_wr_complete");
    await_completion(single.cq);
    const std::uint64_t stamp = ibv_wc_read_completion_ts(single.cq);
    const std::uint64_t of_day = ibv_wc_read_completion_wallclock_ns(single.cq);
    const std::uint64_t now = clock_of(devices), now_of_day = wall_clock();
    expect(single.cq->wr_id == i && stamp >= earliest && stamp <= now, "stamp ", stamp,
           ", not between ", earliest, " and ", now);
    // Two clocks are read one after the other.
    constexpr std::uint64_t tolerance = 1000000000;
    expect(of_day + tolerance >= earliest_of_day && of_day <= now_of_day + tolerance, "stamp ",
           of_day, ", not between ", earliest_of_day, " and ", now_of_day);
    earliest = stamp;
    ibv_end_poll(single.cq);
    if (i == 150 && ibv_resize_cq(ibv_cq_ex_to_cq(single.cq), 2000)) fail("ibv_resize_cq");
  }
}

bool is_ipv4(const ibv_gid& gid) {
  constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::memcmp(gid.raw, mapped, sizeof(mapped)) == 0;
}

// A datagram QP that sends to itself, and an extended CQ.
class Mirror {
 public:
  explicit Mirror(const Devices& devices) : pd_(verbs::make_pd(devices.near)) {
    ibv_cq_init_attr_ex cq_attr{};
    cq_attr.cqe = depth;
    cq_attr.wc_flags = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_SL;
    cq_ = ibv_create_cq_ex(devices.near.get(), &cq_attr);
    if (!cq_) fail_errno(errno, "ibv_create_cq_ex");
    closer_.reset(ibv_cq_ex_to_cq(cq_));
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_UD;
    attr.send_cq = attr.recv_cq = closer_.get();
    attr.cap = {depth, depth, 1, 1, 0};
    qp_.reset(ibv_create_qp(pd_.get(), &attr));
    if (!qp_) fail_errno(errno, "ibv_create_qp");
    verbs::Change rts = verbs::to_state(IBV_QPS_RTS);
    rts.mask |= IBV_QP_SQ_PSN;
    for (verbs::Change change : {verbs::ud_to_init(qkey), verbs::to_state(IBV_QPS_RTR), rts})
      if (const int error = ibv_modify_qp(qp_.get(), &change.attr, change.mask))
        fail_errno(error, "ibv_modify_qp");
    mr_ = verbs::make_mr(pd_, memory_, sizeof(memory_), IBV_ACCESS_LOCAL_WRITE);
  }

  // Sends a datagram from a GID to the same, and returns the service level with which it arrives.
  int service_level(const ibv_gid& gid, int gid_index) {
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.port_num = verbs::port_number;
    attr.grh.dgid = gid;
    attr.grh.sgid_index = static_cast<std::uint8_t>(gid_index);
    attr.grh.hop_limit = 64;
    const verbs::Ah ah(ibv_create_ah(pd_.get(), &attr));
    if (!ah) fail_errno(errno, "ibv_create_ah");
    ibv_sge sge = {reinterpret_cast<std::uintptr_t>(memory_), 100, mr_->lkey};
    ibv_recv_wr receive{}, *bad_receive;
    receive.sg_list = &sge;
    receive.num_sge = 1;
    if (const int error = ibv_post_recv(qp_.get(), &receive, &bad_receive))
      fail_errno(error, "ibv_post_recv");
    ibv_send_wr send{}, *bad_send;
    send.opcode = IBV_WR_SEND;
    send.wr.ud = {ah.get(), qp_->qp_num, qkey};
    if (const int error = ibv_post_send(qp_.get(), &send, &bad_send))
      fail_errno(error, "ibv_post_send");
    await_completion(cq_);
    expect(cq_->status == IBV_WC_SUCCESS && ibv_wc_read_opcode(cq_) == IBV_WC_RECV, "status ",
           cq_->status, ", opcode ", ibv_wc_read_opcode(cq_));
    const int level = ibv_wc_read_sl(cq_);
    ibv_end_poll(cq_);
    return level;
  }

 private:
  static constexpr std::uint32_t qkey = 0x11223344;

  verbs::Pd pd_;
  ibv_cq_ex* cq_ = nullptr;
  verbs::Handle<ibv_cq, ibv_destroy_cq> closer_;
  QpHandle qp_;
  std::byte memory_[4096] = {};
  verbs::Mr mr_;
};

// The service level of a datagram tells the version of its IP header, as that of rdma_rxe does.
void service_levels(const Devices& devices) {
  Mirror mirror(devices);
  bool seen[2] = {};
  for (int index = 0; index <= devices.near_gid; index++) {
    const ibv_gid gid = devices.near.gid(index);
    const int wanted = is_ipv4(gid) ? 10 : 9, level = mirror.service_level(gid, index);
    expect(level == wanted, "GID ", index, ": level ", level, " instead of ", wanted);
    seen[is_ipv4(gid)] = true;
  }
  expect(seen[0] && seen[1], "the device lacks GIDs of a version");
}

}  // namespace

void run_extended_cases(harness::Tap& tap, const Devices& devices) {
  tap.run("inline data is limited to 1 KiB", [&] { inline_kilobyte(devices); });
  tap.run("extended calls carry requests and completions", [&] { extended_calls(devices); });
  tap.run("completions have timestamps", [&] { timestamps(devices); });
  tap.run("datagrams have their packet type as service level", [&] { service_levels(devices); });
  tap.run("batches are streamed", [&] { batches_stream(devices); });
}

}  // namespace native_verbs
