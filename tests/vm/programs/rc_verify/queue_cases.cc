// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Many requests in flight: mixed chains, unsignaled requests, fences, READ depth, CQs shared by
// QPs.
#include <algorithm>
#include <map>

#include "rc_verify/cases.h"

namespace rc_verify {
namespace {

using harness::expect;
using harness::Random;
using harness::text;
using verbs::Op;
using verbs::Session;
using verbs::TransferSpec;

constexpr std::size_t chain_length = 48;

struct ChainShape {
  std::size_t usual_size;
  std::size_t largest_size;
  std::uint64_t signaled_every;
};

TransferSpec random_spec(Random& random, const Session& session, const ChainShape& shape) {
  constexpr Op ops[] = {Op::send, Op::send_imm, Op::write,    Op::write_imm,
                        Op::read, Op::cmp_swap, Op::fetch_add};
  const std::size_t choices = session.common().has_atomics ? 7 : 5;
  TransferSpec spec{};
  spec.op = ops[random.below(choices)];
  spec.size = random.below((random.one_in(8) ? shape.largest_size : shape.usual_size) + 1);
  const bool fits_inline = spec.size <= session.common().max_inline;
  spec.use_inline =
      fits_inline && spec.op != Op::read && !verbs::is_atomic(spec.op) && random.one_in(3);
  spec.is_fenced = random.one_in(8);
  spec.is_solicited = random.one_in(4);
  return spec;
}

std::vector<TransferSpec> random_chain(Session& session, const ChainShape& shape) {
  Random random(session.next_seed());
  std::vector<TransferSpec> specs;
  while (specs.size() < chain_length) {
    specs.push_back(random_spec(random, session, shape));
    specs.back().is_signaled = specs.size() % shape.signaled_every == 0;
  }
  specs.back().is_signaled = true;
  return specs;
}

std::size_t arena_for(const std::vector<TransferSpec>& specs) {
  std::size_t bytes = 0;
  for (const TransferSpec& spec : specs) bytes += verbs::arena_bytes_for(spec.size);
  return bytes;
}

void mixed_chain(Session& session, const ChainShape& shape, std::uint64_t rounds) {
  const std::size_t arena = chain_length * verbs::arena_bytes_for(shape.largest_size);
  const auto end = session.connected(arena, session.default_link());
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const auto specs = random_chain(session, shape);
    session.execute(*end, verbs::make_plan(specs, session.plan_limits(), session.next_seed()));
  }
}

void deep_reads(Session& session, unsigned depth) {
  const std::size_t mtu = verbs::mtu_bytes(session.common().active_mtu);
  std::vector<TransferSpec> specs;
  while (specs.size() < chain_length) {
    const bool atomic = session.common().has_atomics && specs.size() % 3 == 2;
    specs.push_back({atomic ? Op::fetch_add : Op::read, 3 * mtu + 1 + specs.size()});
  }
  auto link = session.default_link();
  link.rd_atomic = static_cast<std::uint8_t>(depth);
  const auto end = session.connected(arena_for(specs), link);
  session.execute(*end, verbs::make_plan(specs, session.plan_limits(), session.next_seed()));
}

// Two connections with one CQ. Completions are in order for each QP, not between QPs.
void collect_shared(verbs::Cq& cq, const std::map<std::uint32_t, const verbs::Plan*>& plans,
                    Session& session) {
  std::map<std::uint32_t, std::size_t> done;
  std::size_t left = 0;
  for (const auto& [qpn, plan] : plans) left += plan->transfers.size();
  while (left--) {
    const ibv_wc wc = cq.next(session.duet().deadline(), "a request of one of two QPs");
    const auto found = plans.find(wc.qp_num);
    expect(found != plans.end(), "a completion has qp_num ", wc.qp_num, ", which is neither QP");
    const std::size_t index = done[wc.qp_num]++;
    expect(index < found->second->transfers.size(), "too many completions of QP ", wc.qp_num);
    verbs::expect_wc(wc, found->second->transfers[index].id, IBV_WC_SUCCESS,
                     text("request ", index, " of QP ", wc.qp_num));
  }
}

void shared_cq(Session& session) {
  const std::vector<TransferSpec> specs(24, TransferSpec{Op::write, 5000});
  verbs::EndpointOptions options = session.default_endpoint(arena_for(specs));
  options.send_cq = std::make_shared<verbs::Cq>(session.context(), 256);
  const auto a = session.make_endpoint(options);
  const auto b = session.make_endpoint(options);
  session.connect(*a, session.default_link());
  session.connect(*b, session.default_link());
  const verbs::Plan plan_a = verbs::make_plan(specs, session.plan_limits(), session.next_seed());
  const verbs::Plan plan_b = verbs::make_plan(specs, session.plan_limits(), session.next_seed());
  if (session.is_initiator()) {
    prepare_initiator(*a, plan_a);
    prepare_initiator(*b, plan_b);
    session.duet().sync();
    post_transfers(*a, plan_a, session.execute_options());
    post_transfers(*b, plan_b, session.execute_options());
    collect_shared(*options.send_cq, {{a->qp().number(), &plan_a}, {b->qp().number(), &plan_b}},
                   session);
    session.duet().sync();
  } else {
    prepare_target(*a, plan_a);
    prepare_target(*b, plan_b);
    session.duet().sync();
    session.duet().sync();
    check_target(*a, plan_a);
    check_target(*b, plan_b);
  }
}

}  // namespace

void run_queue_cases(Session& session, const Bounds& bounds) {
  const std::size_t mtu = verbs::mtu_bytes(session.common().active_mtu);
  const std::size_t largest = std::min<std::size_t>(64 << 10, bounds.max_size);
  for (const std::uint64_t every : {1, 3, 16}) {
    const ChainShape shape{3 * mtu, largest, every};
    session.run(text("chain of ", chain_length, " mixed requests, signaled every ", every,
                     session.direction()),
                [&] { mixed_chain(session, shape, 4 * bounds.rounds); });
  }
  session.run("READ and atomic depth 1" + session.direction(), [&] { deep_reads(session, 1); });
  session.run(text("READ and atomic depth ", session.common().rd_atomic, session.direction()),
              [&] { deep_reads(session, session.common().rd_atomic); });
  session.run("two QPs share a CQ" + session.direction(), [&] { shared_cq(session); });
}

}  // namespace rc_verify
