// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A long send queue that has failed is flushed in several steps. Whatever its owner does to the QP
// meanwhile, each request completes once and in order, and none is sent later.
#include <sched.h>

#include <atomic>
#include <thread>
#include <vector>

#include "bad_input/bench.h"
#include "harness/failure.h"

namespace bad_input {
namespace {

using harness::Deadline;
using harness::expect;
using harness::text;

constexpr std::uint32_t count = 4000;
constexpr std::size_t grh_bytes = 40;
constexpr std::uint32_t qkey = 0x11223344;
constexpr auto quiet = std::chrono::milliseconds(50);

// Requests of 8 bytes whose wr_id counts from 0; the first has a wrong local key.
class Chain {
 public:
  Chain(const ibv_sge& sge, const ibv_send_wr& like) : wrs_(count, like), good_(sge), bad_(sge) {
    bad_.lkey ^= 1;
    for (std::uint32_t i = 0; i < count; ++i) {
      wrs_[i].wr_id = wrs_[i].imm_data = i;
      wrs_[i].sg_list = i ? &good_ : &bad_;
      wrs_[i].num_sge = 1;
      wrs_[i].send_flags = IBV_SEND_SIGNALED;
      wrs_[i].next = i + 1 < count ? &wrs_[i + 1] : nullptr;
    }
  }
  Chain(const Chain&) = delete;

  void post(verbs::Qp& qp) { qp.post_send(wrs_.data()); }

 private:
  std::vector<ibv_send_wr> wrs_;
  ibv_sge good_;
  ibv_sge bad_;
};

// Checks the completion of request `index`, which is flushed unless it is the first.
void expect_flushed(const ibv_wc& wc, std::uint32_t index) {
  verbs::expect_wc(wc, index, index ? IBV_WC_WR_FLUSH_ERR : IBV_WC_LOC_PROT_ERR,
                   text("request ", index));
}

// --- connected ---------------------------------------------------------------

class FailedConnection {
 public:
  explicit FailedConnection(Bench& bench) : link_(bench.link()) {
    verbs::EndpointOptions options;
    options.arena_bytes = 1 << 16;
    options.qp.send_depth = count;
    near_ = bench.make_near(options);
    far_ = bench.make_far({});
    connect_both(*near_, *far_, link_);
  }

  verbs::Endpoint& near() { return *near_; }

  void post() {
    ibv_send_wr like{};
    like.opcode = IBV_WR_RDMA_WRITE;
    like.wr.rdma.remote_addr = near_->peer().address;
    like.wr.rdma.rkey = near_->peer().rkey;
    Chain(near_->sge(0, 8), like).post(near_->qp());
  }

  // Connects both ends again, from RESET.
  void reconnect() {
    far_->qp().modify(verbs::to_state(IBV_QPS_RESET), "RESET");
    connect_both(*near_, *far_, link_);
    const verbs::ExecuteOptions options{wait_limit, 0};
    execute_locally(*far_, *near_, verbs::make_plan({{verbs::Op::read, 100}}, {}, 1), options);
  }

 private:
  verbs::LinkOptions link_;
  std::unique_ptr<verbs::Endpoint> near_;
  std::unique_ptr<verbs::Endpoint> far_;
};

void to_error(Bench& bench) {
  FailedConnection connection(bench);
  connection.post();
  connection.near().qp().modify(verbs::to_state(IBV_QPS_ERR), "ERR");
  for (std::uint32_t i = 0; i < count; ++i)
    expect_flushed(connection.near().send_cq().next(Deadline::after(wait_limit), "a flush"), i);
  connection.near().send_cq().expect_none(quiet, "after the flush");
}

void to_drained(Bench& bench) {
  FailedConnection connection(bench);
  connection.post();
  const int error = connection.near().qp().try_modify(verbs::to_state(IBV_QPS_SQD));
  expect(error == EBUSY || error == EINVAL, "ibv_modify_qp to SQD gave ",
         error ? std::strerror(error) : "success");
  for (std::uint32_t i = 0; i < count; ++i)
    expect_flushed(connection.near().send_cq().next(Deadline::after(wait_limit), "a flush"), i);
}

void to_reset(Bench& bench) {
  FailedConnection connection(bench);
  for (int turn = 0; turn < 4; ++turn) {
    connection.post();
    connection.near().qp().modify(verbs::to_state(IBV_QPS_RESET), "RESET");
    std::uint32_t done = 0;
    while (const auto wc = connection.near().send_cq().poll()) expect_flushed(*wc, done++);
    connection.near().send_cq().expect_none(quiet, "after RESET");
    harness::note(text(done, " of ", count, " requests were flushed before RESET"));
    connection.reconnect();
  }
}

// --- datagrams ---------------------------------------------------------------

class DatagramEnd {
 public:
  DatagramEnd(const verbs::Context& context, std::uint32_t send_depth, std::uint32_t recv_depth)
      : pd_(verbs::make_pd(context)),
        cq_(context, static_cast<int>(send_depth + recv_depth)),
        pages_(4096),
        mr_(verbs::make_mr(pd_, pages_.data(), pages_.size(), IBV_ACCESS_LOCAL_WRITE)),
        qp_(pd_, cq_, cq_, options(send_depth, recv_depth)) {
    qp_.modify(verbs::ud_to_init(qkey), "INIT (UD)");
    qp_.modify(verbs::to_state(IBV_QPS_RTR), "RTR (UD)");
    verbs::Change rts = verbs::to_state(IBV_QPS_RTS);
    rts.mask |= IBV_QP_SQ_PSN;
    qp_.modify(rts, "RTS (UD)");
    for (std::uint32_t i = 0; i < recv_depth; ++i) post_receive();
  }

  void post_receive() {
    ibv_sge sge = this->sge(grh_bytes + 8);
    ibv_recv_wr wr{};
    wr.sg_list = &sge;
    wr.num_sge = 1;
    qp_.post_recv(&wr);
  }

  verbs::Qp& qp() { return qp_; }
  verbs::Cq& cq() { return cq_; }
  ibv_sge sge(std::uint32_t length) const {
    return {reinterpret_cast<std::uint64_t>(pages_.data()), length, mr_->lkey};
  }

  verbs::Ah address_of(const verbs::Context& far, int far_gid, int gid) const {
    ibv_ah_attr attr{};
    attr.is_global = 1;
    attr.port_num = verbs::port_number;
    attr.grh.dgid = far.gid(far_gid);
    attr.grh.sgid_index = static_cast<std::uint8_t>(gid);
    attr.grh.hop_limit = 64;
    verbs::Ah ah(ibv_create_ah(pd_.get(), &attr));
    if (!ah) harness::fail_errno(errno, "ibv_create_ah");
    return ah;
  }

 private:
  static verbs::QpOptions options(std::uint32_t send_depth, std::uint32_t recv_depth) {
    verbs::QpOptions options;
    options.type = IBV_QPT_UD;
    options.send_depth = send_depth;
    options.recv_depth = recv_depth;
    options.send_sge = options.recv_sge = 1;
    return options;
  }

  verbs::Pd pd_;
  verbs::Cq cq_;
  verbs::Pages pages_;
  verbs::Mr mr_;
  verbs::Qp qp_;
};

// Requests RTS all the time from another thread. It is rejected while a flush is in progress.
class Reviver {
 public:
  explicit Reviver(verbs::Qp& qp) : thread_([this, &qp] { revive(qp); }) {}
  ~Reviver() {
    stop_ = true;
    thread_.join();
  }

  int rejections() const { return rejections_; }
  int odd_error() const { return odd_error_; }

 private:
  void revive(verbs::Qp& qp) {
    while (!stop_) {
      const int error = qp.try_modify(verbs::to_state(IBV_QPS_RTS));
      if (error == EBUSY || error == EINVAL)  // the state may change during the call
        ++rejections_;
      else if (error)
        odd_error_ = error;
      ::sched_yield();
    }
  }

  std::atomic<bool> stop_{false};
  std::atomic<int> rejections_{0};
  std::atomic<int> odd_error_{0};
  std::thread thread_;
};

// Requests that are left in the ring when the QP returns to RTS are sent. Flushes come first, then
// successes.
std::vector<std::uint32_t> successes(verbs::Cq& cq) {
  std::vector<std::uint32_t> sent;
  for (std::uint32_t i = 0; i < count; ++i) {
    const ibv_wc wc = cq.next(Deadline::after(wait_limit), text("request ", i));
    if (wc.status != IBV_WC_SUCCESS && sent.empty()) {
      expect_flushed(wc, i);
    } else {
      verbs::expect_wc(wc, i, IBV_WC_SUCCESS, text("request ", i));
      sent.push_back(i);
    }
  }
  cq.expect_none(quiet, "after all requests");
  return sent;
}

// Datagrams may be lost or reordered, but none may arrive twice, and none that was flushed.
void expect_only(DatagramEnd& far, const std::vector<std::uint32_t>& sent) {
  std::vector<bool> awaited(count);
  for (const std::uint32_t index : sent) awaited[index] = true;
  std::size_t received = 0;
  harness::Backoff backoff;
  for (Deadline end = Deadline::after(quiet); !end.expired(); backoff.pause()) {
    while (const auto wc = far.cq().poll()) {
      expect(wc->status == IBV_WC_SUCCESS && awaited.at(wc->imm_data), "unexpected datagram ",
             wc->imm_data, ": ", verbs::describe(*wc));
      awaited[wc->imm_data] = false;
      ++received;
      far.post_receive();
      end = Deadline::after(quiet);
    }
  }
  expect(sent.empty() || received, "no datagram arrived");
}

void datagrams_revived(Bench& bench) {
  DatagramEnd near(bench.near(), count, 1);
  DatagramEnd far(bench.far(), 1, count);
  const verbs::Ah ah = near.address_of(bench.far(), bench.far_gid(), bench.near_gid());
  ibv_send_wr like{};
  like.opcode = IBV_WR_SEND_WITH_IMM;
  like.wr.ud.ah = ah.get();
  like.wr.ud.remote_qpn = far.qp().number();
  like.wr.ud.remote_qkey = qkey;
  const Reviver reviver(near.qp());
  for (int turn = 0; turn < 8; ++turn) {
    Chain(near.sge(8), like).post(near.qp());
    const std::vector<std::uint32_t> sent = successes(near.cq());
    harness::note(text(sent.size(), " of ", count, " requests were sent, ", reviver.rejections(),
                       " rejections so far"));
    expect_only(far, sent);
  }
  expect(!reviver.odd_error(), "ibv_modify_qp to RTS: ", std::strerror(reviver.odd_error()));
}

}  // namespace

void run_flush_rows(Bench& bench, harness::Tap& tap) {
  struct Row {
    const char* name;
    void (*body)(Bench& bench);
  };
  constexpr Row rows[] = {
      {"ERR while a failed send queue is flushed", to_error},
      {"SQD while a failed send queue is flushed", to_drained},
      {"RESET while a failed send queue is flushed", to_reset},
      {"RTS while a failed send queue of datagrams is flushed", datagrams_revived}};
  for (const Row& row : rows) bench.run(tap, Layer::driver, row.name, [&] { row.body(bench); });
}

}  // namespace bad_input
