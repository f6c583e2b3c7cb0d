// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Requests to a peer that is late or dead, and requests while the QP changes its state.
#include <thread>

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

verbs::Plan uniform_plan(Session& session, Op op, std::size_t size, std::size_t count) {
  return verbs::make_plan(std::vector<TransferSpec>(count, TransferSpec{op, size}),
                          session.plan_limits(), session.next_seed());
}

ibv_qp_state state_of(verbs::Endpoint& end) { return end.qp().query(IBV_QP_STATE).qp_state; }

void expect_flush(verbs::Cq& cq, const verbs::Plan& plan, std::size_t from, Session& session) {
  for (std::size_t i = from; i < plan.transfers.size(); ++i) {
    const ibv_wc wc = cq.next(session.duet().deadline(), text("flush of request ", i));
    verbs::expect_wc(wc, plan.transfers[i].id, IBV_WC_WR_FLUSH_ERR, text("flush of request ", i));
  }
}

// The first request ends with `status`, the others are flushed, and the QP is in ERR.
void expect_death(verbs::Endpoint& end, const verbs::Plan& plan, ibv_wc_status status,
                  Session& session) {
  const ibv_wc wc = end.send_cq().next(session.duet().deadline(), ibv_wc_status_str(status));
  verbs::expect_wc(wc, plan.transfers[0].id, status, "the request that cannot succeed");
  expect_flush(end.send_cq(), plan, 1, session);
  expect(state_of(end) == IBV_QPS_ERR, "the QP is in state ", state_of(end), ", not ERR");
}

void late_receive(Session& session) {
  auto link = session.default_link();
  link.min_rnr_timer = 12;  // 0.64 ms: several NAKs during the wait
  const auto end = session.connected(small_arena, link);
  const verbs::Plan plan = uniform_plan(session, Op::send_imm, 3000, 4);
  if (session.is_initiator()) {
    session.execute(*end, plan);
    return;
  }
  paint_target(*end, plan);
  session.duet().sync();
  std::this_thread::sleep_for(milliseconds(300));
  post_receives(*end, plan);
  collect_receives(*end, plan, session.execute_options());
  session.duet().sync();
  check_target(*end, plan);
}

void no_receive(Session& session) {
  auto link = session.default_link();
  link.rnr_retry = 2;
  const auto end = session.connected(small_arena, link);
  const verbs::Plan plan = uniform_plan(session, Op::send, 3000, 3);
  if (session.is_initiator()) {
    prepare_initiator(*end, plan);
    post_transfers(*end, plan, session.execute_options());
    expect_death(*end, plan, IBV_WC_RNR_RETRY_EXC_ERR, session);
    session.duet().sync();
  } else {
    session.duet().sync();
    expect(state_of(*end) == IBV_QPS_RTS, "RNR moved the receiver to state ", state_of(*end));
    end->recv_cq().expect_none(milliseconds(50), "after RNR");
  }
}

void dead_peer(Session& session, ibv_qp_state peer_state) {
  auto link = session.default_link();
  link.timeout = 12;  // 17 ms
  link.retry_cnt = 3;
  const auto end = session.connected(small_arena, link);
  const verbs::Plan plan = uniform_plan(session, Op::write, 3000, 3);
  if (!session.is_initiator()) {
    end->qp().modify(verbs::to_state(peer_state), "the state of a dead peer");
    session.duet().sync();
    session.duet().sync();
    return;
  }
  session.duet().sync();
  prepare_initiator(*end, plan);
  const auto begin = Deadline::Clock::now();
  post_transfers(*end, plan, session.execute_options());
  expect_death(*end, plan, IBV_WC_RETRY_EXC_ERR, session);
  const auto took = std::chrono::duration_cast<milliseconds>(Deadline::Clock::now() - begin);
  expect(took >= milliseconds(30), "gave up after ", took.count(), " ms, 3 retries take longer");
  harness::note(text("gave up after ", took.count(), " ms"));
  session.duet().sync();
}

// The SENDs wait for a receive that is never posted (infinite RNR retries), the receives for SENDs.
void flush_in_order(Session& session) {
  const auto end = session.connected(small_arena, session.default_link());
  const verbs::Plan sends = uniform_plan(session, Op::send, 500, 20);
  const verbs::Plan receives = uniform_plan(session, Op::send, 500, 20);
  if (!session.is_initiator()) {
    session.duet().sync();
    return;
  }
  prepare_target(*end, receives);
  post_transfers(*end, sends, session.execute_options());
  end->qp().modify(verbs::to_state(IBV_QPS_ERR), "ERR");
  expect_flush(end->send_cq(), sends, 0, session);
  expect_flush(end->recv_cq(), receives, 0, session);
  // Requests that are posted in ERR are flushed, too.
  prepare_target(*end, receives);
  post_transfers(*end, sends, session.execute_options());
  expect_flush(end->send_cq(), sends, 0, session);
  expect_flush(end->recv_cq(), receives, 0, session);
  end->send_cq().expect_none(milliseconds(50), "after the flush");
  session.duet().sync();
}

// Flushed requests complete even if they are unsignaled.
void flush_unsignaled(Session& session) {
  const auto end = session.connected(small_arena, session.default_link());
  TransferSpec spec{Op::send, 500};
  spec.is_signaled = false;
  const verbs::Plan plan = verbs::make_plan(std::vector<TransferSpec>(10, spec),
                                            session.plan_limits(), session.next_seed());
  if (session.is_initiator()) {
    post_transfers(*end, plan, session.execute_options());
    end->qp().modify(verbs::to_state(IBV_QPS_ERR), "ERR");
    expect_flush(end->send_cq(), plan, 0, session);
  }
  session.duet().sync();
}

std::size_t collect_some(verbs::Endpoint& end, const verbs::Plan& plan, std::size_t done) {
  while (const auto wc = end.send_cq().poll()) {
    expect(done < plan.transfers.size(), "more completions than requests");
    verbs::expect_wc(*wc, plan.transfers[done].id, IBV_WC_SUCCESS, text("request ", done));
    ++done;
  }
  return done;
}

void expect_drained_event(const verbs::Endpoint& end, ibv_qp* qp, Deadline deadline) {
  while (const auto event = end.context().wait_async(deadline)) {
    if (event->event_type != IBV_EVENT_SQ_DRAINED) continue;
    expect(event->element.qp == qp, "IBV_EVENT_SQ_DRAINED for another QP");
    return;
  }
  harness::fail("no IBV_EVENT_SQ_DRAINED");
}

void drain_send_queue(Session& session) {
  const std::size_t count = 16;
  const std::size_t size = 60000;
  const auto end = session.connected(count * verbs::arena_bytes_for(size), session.default_link());
  const verbs::Plan plan = uniform_plan(session, Op::write, size, count);
  if (!session.is_initiator()) {
    prepare_target(*end, plan);
    session.duet().sync();
    session.duet().sync();
    check_target(*end, plan);
    return;
  }
  prepare_initiator(*end, plan);
  session.duet().sync();
  verbs::Plan first = plan;
  verbs::Plan rest = plan;
  first.transfers.erase(first.transfers.begin() + count / 2, first.transfers.end());
  rest.transfers.erase(rest.transfers.begin(), rest.transfers.begin() + count / 2);
  post_transfers(*end, first, session.execute_options());
  verbs::Change change = verbs::to_state(IBV_QPS_SQD);
  change.attr.en_sqd_async_notify = 1;
  change.mask |= IBV_QP_EN_SQD_ASYNC_NOTIFY;
  end->qp().modify(change, "SQD");
  expect_drained_event(*end, end->qp().get(), session.duet().deadline());
  const std::size_t done = collect_some(*end, plan, 0);
  post_transfers(*end, rest, session.execute_options());
  end->send_cq().expect_none(milliseconds(200), "the send queue is drained");
  expect(state_of(*end) == IBV_QPS_SQD, "the QP is in state ", state_of(*end), ", not SQD");
  end->qp().modify(verbs::to_state(IBV_QPS_RTS), "RTS after SQD");
  for (std::size_t i = done; i < count; ++i)
    verbs::expect_wc(
        end->send_cq().next(session.duet().deadline(), text("request ", i, " after SQD")),
        plan.transfers[i].id, IBV_WC_SUCCESS, text("request ", i, " after SQD"));
  session.duet().sync();
  check_initiator(*end, plan);
}

void reconnect(Session& session) {
  const auto end = session.connected(small_arena, session.default_link());
  for (int turn = 0; turn < 3; ++turn) {
    const TransferSpec specs[] = {{Op::send, 5000}, {Op::read, 5000}, {Op::write, 5000}};
    session.execute(*end, verbs::make_plan({std::begin(specs), std::end(specs)},
                                           session.plan_limits(), session.next_seed()));
    session.duet().sync();
    if (turn % 2 == 0) end->qp().modify(verbs::to_state(IBV_QPS_ERR), "ERR");
    end->qp().modify(verbs::to_state(IBV_QPS_RESET), "RESET");
    session.connect(*end, session.default_link());
  }
}

void query_agrees(Session& session) {
  auto link = session.default_link();
  link.min_rnr_timer = 17;
  link.rnr_retry = 5;
  link.retry_cnt = 6;
  link.timeout = 13;
  const auto end = session.connected(small_arena, link);
  const int mask = IBV_QP_STATE | IBV_QP_CAP | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                   IBV_QP_RQ_PSN | IBV_QP_SQ_PSN | IBV_QP_MIN_RNR_TIMER | IBV_QP_TIMEOUT |
                   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC |
                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_ACCESS_FLAGS | IBV_QP_PORT |
                   IBV_QP_PKEY_INDEX;
  ibv_qp_init_attr init{};
  const ibv_qp_attr attr = end->qp().query(mask, &init);
  const auto same = [](auto found, auto wanted, const char* what) {
    expect(found == wanted, "ibv_query_qp: ", what, " is ", +found, ", wanted ", +wanted);
  };
  const verbs::LinkOptions& set = end->link();
  const verbs::QpAddress& peer = end->peer().qp;
  same(attr.qp_state, IBV_QPS_RTS, "qp_state");
  same(attr.path_mtu, set.mtu, "path_mtu");
  same(attr.dest_qp_num, peer.qpn, "dest_qp_num");
  same(attr.rq_psn, peer.psn, "rq_psn");
  same(attr.sq_psn, end->psn(), "sq_psn");
  same(attr.min_rnr_timer, set.min_rnr_timer, "min_rnr_timer");
  same(attr.timeout, set.timeout, "timeout");
  same(attr.retry_cnt, set.retry_cnt, "retry_cnt");
  same(attr.rnr_retry, set.rnr_retry, "rnr_retry");
  same(attr.max_rd_atomic, set.rd_atomic, "max_rd_atomic");
  same(attr.max_dest_rd_atomic, set.dest_rd_atomic, "max_dest_rd_atomic");
  same(attr.port_num, verbs::port_number, "port_num");
  same(attr.ah_attr.grh.sgid_index, static_cast<std::uint8_t>(set.gid_index), "sgid_index");
  expect(std::memcmp(&attr.ah_attr.grh.dgid, &peer.gid, sizeof peer.gid) == 0,
         "ibv_query_qp: dgid differs");
  expect(attr.cap.max_send_wr >= 64 && attr.cap.max_recv_wr >= 64,
         "ibv_query_qp: queue depths are smaller");
  expect(init.qp_type == IBV_QPT_RC, "ibv_query_qp: qp_type is ", init.qp_type);
}

}  // namespace

void run_state_cases(Session& session) {
  const auto run = [&](const char* name, auto body) {
    session.run(name + session.direction(), body);
  };
  run("ibv_query_qp returns the attributes that were set", [&] { query_agrees(session); });
  run("a late receive only delays a SEND (RNR)", [&] { late_receive(session); });
  run("without a receive, a SEND ends in RNR_RETRY_EXC_ERR", [&] { no_receive(session); });
  run("with the peer in RESET, a WRITE ends in RETRY_EXC_ERR",
      [&] { dead_peer(session, IBV_QPS_RESET); });
  run("with the peer in ERR, a WRITE ends in RETRY_EXC_ERR",
      [&] { dead_peer(session, IBV_QPS_ERR); });
  run("ERR flushes both queues in order", [&] { flush_in_order(session); });
  run("ERR also flushes unsignaled requests", [&] { flush_unsignaled(session); });
  run("SQD drains and stops the send queue, RTS resumes it", [&] { drain_send_queue(session); });
  run("a QP can be connected again after RESET", [&] { reconnect(session); });
}

}  // namespace rc_verify
