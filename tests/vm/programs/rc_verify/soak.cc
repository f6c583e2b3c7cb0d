// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Verified traffic in both directions at once, for networks that lose, duplicate and reorder
// packets.
#include <signal.h>

#include <algorithm>

#include "rc_verify/cases.h"

namespace rc_verify {
namespace {

using harness::Deadline;
using harness::Random;
using harness::text;
using verbs::Op;
using verbs::Session;
using verbs::TransferSpec;

constexpr std::size_t burst = 24;

// Set by SIGTERM, which ends the traffic cleanly for callers that cannot know its duration.
volatile sig_atomic_t is_told_to_end = 0;

std::vector<TransferSpec> random_burst(Session& session, std::size_t largest, bool is_wanted) {
  constexpr Op ops[] = {Op::send,     Op::write,    Op::read,     Op::write_imm,
                        Op::send_imm, Op::cmp_swap, Op::fetch_add};
  Random random(session.next_seed());
  std::vector<TransferSpec> specs;
  while (is_wanted && specs.size() < burst) {
    TransferSpec spec{ops[random.below(session.common().has_atomics ? 7 : 5)], 0};
    spec.size =
        random.below(random.one_in(3) ? largest + 1 : std::min<std::size_t>(largest, 9000) + 1);
    spec.is_signaled = random.one_in(2);
    specs.push_back(spec);
  }
  if (is_wanted) specs.back().is_signaled = true;
  return specs;
}

std::uint64_t bytes_of(const verbs::Plan& plan) {
  std::uint64_t bytes = 0;
  for (const verbs::Transfer& transfer : plan.transfers) bytes += transfer.spec.size;
  return bytes;
}

struct Soak {
  Session& session;
  verbs::Endpoint& out;
  verbs::Endpoint& in;
  std::size_t largest;
  const Bounds& bounds;
  std::uint64_t transfers = 0;
  std::uint64_t bytes = 0;

  void round() {
    const verbs::Plan first = make_plan(random_burst(session, largest, bounds.client_initiates),
                                        session.plan_limits(), session.next_seed());
    const verbs::Plan second = make_plan(random_burst(session, largest, bounds.server_initiates),
                                         session.plan_limits(), session.next_seed());
    const verbs::Plan& mine = session.is_client() ? first : second;
    const verbs::Plan& theirs = session.is_client() ? second : first;
    const auto options = session.execute_options();
    prepare_initiator(out, mine);
    prepare_target(in, theirs);
    session.duet().sync();
    post_transfers(out, mine, options);
    collect_sends(out, mine, options);
    collect_receives(in, theirs, options);
    session.duet().sync();
    check_initiator(out, mine);
    check_target(in, theirs);
    transfers += first.transfers.size() + second.transfers.size();
    bytes += bytes_of(first) + bytes_of(second);
  }
};

void describe_qp(const verbs::Endpoint& end, std::uint32_t qpn, const char* role) {
  harness::note(text("qp role=", role, " dev=", end.context().name(), " qpn=", qpn, " sq_psn=",
                     end.psn(), " peer_qpn=", end.peer().qp.qpn, " rq_psn=", end.peer().qp.psn));
}

}  // namespace

void run_soak(Session& session, const Bounds& bounds) {
  const std::size_t largest = std::min<std::size_t>(bounds.max_size, 256 << 10);
  session.run(text("verified traffic for ", bounds.duration_s, " s"), [&] {
    auto link = session.default_link();
    if (bounds.mtu)
      for (int mtu = IBV_MTU_256; mtu <= session.common().active_mtu; ++mtu)
        if (verbs::mtu_bytes(static_cast<ibv_mtu>(mtu)) == bounds.mtu)
          link.mtu = static_cast<ibv_mtu>(mtu);
    const std::size_t arena = burst * verbs::arena_bytes_for(largest);
    const auto one = session.connected(arena, link);
    const auto two = session.connected(arena, link);
    verbs::Endpoint& out = session.is_client() ? *one : *two;
    verbs::Endpoint& in = session.is_client() ? *two : *one;
    describe_qp(out, out.qp().number(), "out");
    describe_qp(in, in.qp().number(), "in");
    Soak soak{session, out, in, largest, bounds};
    ::signal(SIGTERM, [](int) { is_told_to_end = 1; });
    const Deadline end = Deadline::after(std::chrono::seconds(bounds.duration_s));
    const auto begin = Deadline::Clock::now();
    // The client's clock decides when both end.
    while (true) {
      const bool mine_is_over = end.expired() || is_told_to_end;
      const bool theirs_is_over = session.duet().exchange(mine_is_over);
      if (session.is_client() ? mine_is_over : theirs_is_over) break;
      soak.round();
    }
    const std::chrono::duration<double> took = Deadline::Clock::now() - begin;
    harness::note(text("verified ", soak.transfers, " transfers, ", soak.bytes, " bytes in ",
                       took.count(), " s"));
    harness::expect(soak.transfers > 0, "no round has finished in the given time");
  });
}

}  // namespace rc_verify
