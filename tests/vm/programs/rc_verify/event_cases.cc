// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Completion channels, solicited events, shared receive queues.
#include "rc_verify/cases.h"

namespace rc_verify {
namespace {

using harness::Deadline;
using harness::expect;
using harness::text;
using std::chrono::milliseconds;
using verbs::Op;
using verbs::Session;
using verbs::TransferSpec;

constexpr std::size_t small_arena = 1 << 20;
constexpr auto quiet = milliseconds(200);

verbs::Plan one(Session& session, Op op, bool is_solicited) {
  TransferSpec spec{op, 100};
  spec.is_solicited = is_solicited;
  return verbs::make_plan({spec}, session.plan_limits(), session.next_seed());
}

// An endpoint whose `recv_cq` (or `send_cq`) has a completion channel.
struct Notified {
  verbs::Channel channel;
  std::shared_ptr<verbs::Cq> cq;
  std::unique_ptr<verbs::Endpoint> end;
};

Notified notified(Session& session, bool for_receives) {
  Notified result;
  result.channel = verbs::make_channel(session.context());
  result.cq = std::make_shared<verbs::Cq>(session.context(), 128, &result.channel);
  verbs::EndpointOptions options = session.default_endpoint(small_arena);
  (for_receives ? options.recv_cq : options.send_cq) = result.cq;
  result.end = session.make_endpoint(options);
  session.connect(*result.end, session.default_link());
  return result;
}

// The target's part of execute(), with a check that a completion event comes or does not come.
void receive_with_event(Session& session, Notified& at, const verbs::Plan& plan,
                        bool event_expected) {
  prepare_target(*at.end, plan);
  session.duet().sync();
  if (event_expected)
    expect(at.cq->wait_event(at.channel, session.duet().deadline()), "no completion event");
  collect_receives(*at.end, plan, session.execute_options());
  if (!event_expected)
    expect(!at.cq->wait_event(at.channel, Deadline::after(quiet)),
           "an unexpected completion event");
  session.duet().sync();
  check_target(*at.end, plan);
}

void solicited_events(Session& session) {
  struct Step {
    Op op;
    bool is_solicited;
  };
  constexpr Step steps[] = {{Op::send, false},      {Op::send, true},      {Op::send_imm, false},
                            {Op::write_imm, false}, {Op::write_imm, true}, {Op::send_imm, true}};
  Notified at = notified(session, true);
  for (const Step& step : steps) {
    const verbs::Plan plan = one(session, step.op, step.is_solicited);
    if (session.is_initiator()) {
      session.execute(*at.end, plan);
      continue;
    }
    at.cq->arm(true);
    receive_with_event(session, at, plan, step.is_solicited);
  }
}

// One event each time the CQ is armed, and none without.
void receive_events(Session& session) {
  Notified at = notified(session, true);
  for (int turn = 0; turn < 12; ++turn) {
    const bool is_armed = turn % 3 != 2;
    const verbs::Plan plan = one(session, Op::send, false);
    if (session.is_initiator()) {
      session.execute(*at.end, plan);
      continue;
    }
    if (is_armed) at.cq->arm(false);
    receive_with_event(session, at, plan, is_armed);
  }
}

void send_events(Session& session) {
  Notified at = notified(session, false);
  for (int turn = 0; turn < 20; ++turn) {
    const verbs::Plan plan = one(session, turn % 2 ? Op::write : Op::read, false);
    if (!session.is_initiator()) {
      session.execute(*at.end, plan);
      continue;
    }
    prepare_initiator(*at.end, plan);
    session.duet().sync();
    at.cq->arm(false);
    post_transfers(*at.end, plan, session.execute_options());
    expect(at.cq->wait_event(at.channel, session.duet().deadline()), "no completion event");
    collect_sends(*at.end, plan, session.execute_options());
    session.duet().sync();
    check_initiator(*at.end, plan);
  }
}

constexpr std::size_t srq_depth = 32;
constexpr std::size_t srq_message = 1500;
constexpr std::size_t srq_slot = 2048;
constexpr std::size_t srq_rounds = 8;

std::uint64_t message_seed(std::uint64_t base, std::size_t stream, std::size_t index) {
  return base + stream * 1000003 + index;
}

// Two QPs receive from one SRQ. A message may use any of its buffers, but the messages of a QP
// arrive in order.
class SrqTarget {
 public:
  SrqTarget(Session& session, std::uint64_t seed)
      : session_(session),
        seed_(seed),
        pd_(std::make_shared<verbs::Pd>(verbs::make_pd(session.context()))) {
    verbs::EndpointOptions options = session.default_endpoint(srq_depth * srq_slot);
    options.pd = pd_;
    ibv_srq_init_attr init{};
    init.attr.max_wr = srq_depth;
    init.attr.max_sge = 1;
    srq_.reset(ibv_create_srq(pd_->get(), &init));
    if (!srq_) harness::fail_errno(errno, "ibv_create_srq");
    options.qp.srq = srq_.get();
    options.recv_cq = std::make_shared<verbs::Cq>(session.context(), 2 * srq_depth);
    for (auto& end : ends_) end = session.make_endpoint(options);
    for (auto& end : ends_) session.connect(*end, session.default_link());
  }

  void post(std::size_t slot) {
    ibv_sge sge = ends_[0]->sge(slot * srq_slot, srq_slot);
    ibv_recv_wr wr{};
    wr.wr_id = slot;
    wr.sg_list = &sge;
    wr.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    const int error = ibv_post_srq_recv(srq_.get(), &wr, &bad);
    if (error) harness::fail_errno(error, "ibv_post_srq_recv");
    std::fill_n(ends_[0]->arena().begin() + static_cast<std::ptrdiff_t>(slot * srq_slot), srq_slot,
                std::byte{});
  }

  void arm_limit(std::uint32_t limit) {
    ibv_srq_attr attr{};
    attr.srq_limit = limit;
    if (const int error = ibv_modify_srq(srq_.get(), &attr, IBV_SRQ_LIMIT))
      harness::fail_errno(error, "ibv_modify_srq with a limit");
  }

  void take() {
    const ibv_wc wc = ends_[0]->recv_cq().next(session_.duet().deadline(), "a receive of the SRQ");
    expect(wc.status == IBV_WC_SUCCESS && wc.wr_id < srq_depth, "SRQ completion is ",
           verbs::describe(wc));
    expect(wc.byte_len == srq_message, "SRQ completion has byte_len ", wc.byte_len);
    const std::size_t stream = wc.qp_num == ends_[0]->qp().number() ? 0 : 1;
    expect(wc.qp_num == ends_[stream]->qp().number(), "SRQ completion of an unknown QP ",
           wc.qp_num);
    harness::Image image(0);
    image.place_pattern(0, srq_message, message_seed(seed_, stream, next_[stream]++), 0);
    const auto slot = ends_[0]->arena().subspan(wc.wr_id * srq_slot, srq_message);
    const std::string complaint = image.check(slot);
    expect(complaint.empty(), "SRQ message: ", complaint);
  }

  void expect_limit_event() {
    while (const auto event = session_.context().wait_async(session_.duet().deadline()))
      if (event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED)
        return expect(event->element.srq == srq_.get(), "the limit event is of another SRQ");
    harness::fail("no IBV_EVENT_SRQ_LIMIT_REACHED");
  }

 private:
  Session& session_;
  std::uint64_t seed_;
  std::shared_ptr<verbs::Pd> pd_;
  verbs::Srq srq_;
  std::unique_ptr<verbs::Endpoint> ends_[2];
  std::size_t next_[2]{};
};

void srq_send_round(Session& session, verbs::Endpoint (&ends)[2], std::uint64_t seed,
                    std::size_t round) {
  for (std::size_t i = 0; i < srq_depth / 2; ++i) {
    for (std::size_t stream = 0; stream < 2; ++stream) {
      verbs::Endpoint& end = ends[stream];
      const std::size_t index = round * (srq_depth / 2) + i;
      harness::fill_pattern(end.arena().subspan(i * srq_slot, srq_message),
                            message_seed(seed, stream, index), 0);
      ibv_sge sge = end.sge(i * srq_slot, srq_message);
      ibv_send_wr wr{};
      wr.wr_id = index;
      wr.sg_list = &sge;
      wr.num_sge = 1;
      wr.opcode = IBV_WR_SEND;
      wr.send_flags = IBV_SEND_SIGNALED;
      end.qp().post_send(&wr);
    }
  }
  for (std::size_t i = 0; i < srq_depth / 2; ++i)
    for (verbs::Endpoint& end : ends)
      verbs::expect_wc(end.send_cq().next(session.duet().deadline(), "SEND to an SRQ"),
                       round * (srq_depth / 2) + i, IBV_WC_SUCCESS, "SEND to an SRQ");
}

void shared_receive_queue(Session& session) {
  if (!session.common().has_srq) throw harness::Skip("no SRQ");
  const std::uint64_t seed = session.next_seed();
  if (session.is_initiator()) {
    const verbs::EndpointOptions options = session.default_endpoint(srq_depth * srq_slot);
    const int gid = session.gid_index();
    verbs::Endpoint ends[2] = {{session.context(), gid, options, seed + 1},
                               {session.context(), gid, options, seed + 2}};
    for (verbs::Endpoint& end : ends) session.connect(end, session.default_link());
    for (std::size_t round = 0; round < srq_rounds; ++round) {
      session.duet().sync();
      srq_send_round(session, ends, seed, round);
      session.duet().sync();
    }
    return;
  }
  SrqTarget target(session, seed);
  for (std::size_t round = 0; round < srq_rounds; ++round) {
    for (std::size_t slot = 0; slot < srq_depth; ++slot) target.post(slot);
    if (round == srq_rounds - 1) target.arm_limit(srq_depth / 4);
    session.duet().sync();
    for (std::size_t i = 0; i < srq_depth; ++i) target.take();
    session.duet().sync();
  }
  target.expect_limit_event();
}

}  // namespace

void run_event_cases(Session& session) {
  const auto run = [&](const char* name, auto body) {
    session.run(name + session.direction(), body);
  };
  run("only solicited messages cause events", [&] { solicited_events(session); });
  run("an armed CQ gives one event for a receive", [&] { receive_events(session); });
  run("an armed CQ gives one event for a send", [&] { send_events(session); });
  run("two QPs receive from one SRQ, with a limit event", [&] { shared_receive_queue(session); });
}

}  // namespace rc_verify
