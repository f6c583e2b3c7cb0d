// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One transfer at a time: every opcode, size and MTU.
#include <algorithm>

#include "rc_verify/cases.h"

namespace rc_verify {
namespace {

using harness::text;
using verbs::Op;
using verbs::Session;

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

std::vector<std::size_t> sizes_for(std::size_t mtu, std::size_t limit) {
  std::vector<std::size_t> sizes{0,    1,    mtu - 1, mtu,      mtu + 1, 2 * mtu,
                                 4095, 4096, 4097,    64 * kib, mib + 1, 64 * mib};
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::erase_if(sizes, [&](std::size_t size) { return size > limit; });
  return sizes;
}

void run_sizes(Session& session, ibv_mtu mtu, Op op, bool use_inline, const Bounds& bounds) {
  const std::size_t limit = use_inline ? session.common().max_inline : bounds.max_size;
  std::vector<std::size_t> sizes = sizes_for(verbs::mtu_bytes(mtu), limit);
  if (use_inline) sizes.push_back(limit);
  if (verbs::is_atomic(op)) sizes = {8};
  auto link = session.default_link();
  link.mtu = mtu;
  const auto end = session.connected(verbs::arena_bytes_for(sizes.back()), link);
  for (const std::size_t size : sizes) {
    // One round is enough for the largest size, which is slow.
    const std::uint64_t rounds = size > mib + 1 ? 1 : bounds.rounds;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      verbs::TransferSpec spec{op, size};
      spec.use_inline = use_inline;
      session.execute(*end, verbs::make_plan({spec}, session.plan_limits(), session.next_seed()));
    }
  }
}

void run_op(Session& session, ibv_mtu mtu, Op op, bool use_inline, const Bounds& bounds) {
  const std::string name = text(op_name(op), use_inline ? " inline" : "", ", MTU ",
                                verbs::mtu_bytes(mtu), session.direction());
  session.run(name, [&] {
    if (verbs::is_atomic(op) && !session.common().has_atomics) throw harness::Skip("no atomics");
    if (use_inline && !session.common().max_inline) throw harness::Skip("no inline data");
    run_sizes(session, mtu, op, use_inline, bounds);
  });
}

}  // namespace

void run_data_cases(Session& session, const Bounds& bounds) {
  for (int mtu = IBV_MTU_256; mtu <= session.common().active_mtu; ++mtu) {
    const auto path_mtu = static_cast<ibv_mtu>(mtu);
    if (bounds.mtu && bounds.mtu != verbs::mtu_bytes(path_mtu)) continue;
    for (const Op op :
         {Op::send, Op::send_imm, Op::write, Op::write_imm, Op::read, Op::cmp_swap, Op::fetch_add})
      run_op(session, path_mtu, op, false, bounds);
    for (const Op op : {Op::send, Op::send_imm, Op::write, Op::write_imm})
      run_op(session, path_mtu, op, true, bounds);
  }
}

}  // namespace rc_verify
