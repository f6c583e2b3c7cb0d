// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/transfer.h"

#include <arpa/inet.h>

#include "harness/failure.h"

namespace verbs {
namespace {

using harness::Deadline;
using harness::expect;
using harness::fail;
using harness::text;

ibv_wr_opcode wr_opcode(Op op) {
  switch (op) {
    case Op::send:
      return IBV_WR_SEND;
    case Op::send_imm:
      return IBV_WR_SEND_WITH_IMM;
    case Op::send_inv:
      return IBV_WR_SEND_WITH_INV;
    case Op::write:
      return IBV_WR_RDMA_WRITE;
    case Op::write_imm:
      return IBV_WR_RDMA_WRITE_WITH_IMM;
    case Op::read:
      return IBV_WR_RDMA_READ;
    case Op::cmp_swap:
      return IBV_WR_ATOMIC_CMP_AND_SWP;
    case Op::fetch_add:
      return IBV_WR_ATOMIC_FETCH_AND_ADD;
  }
  fail("no such operation");
}

ibv_wc_opcode wc_opcode(Op op) {
  switch (op) {
    case Op::send:
    case Op::send_imm:
    case Op::send_inv:
      return IBV_WC_SEND;
    case Op::write:
    case Op::write_imm:
      return IBV_WC_RDMA_WRITE;
    case Op::read:
      return IBV_WC_RDMA_READ;
    case Op::cmp_swap:
      return IBV_WC_COMP_SWAP;
    case Op::fetch_add:
      return IBV_WC_FETCH_ADD;
  }
  fail("no such operation");
}

unsigned flag_if(bool condition, unsigned flag) { return condition ? flag : 0; }

std::string describe(const Transfer& transfer, std::size_t index) {
  return text("transfer ", index, " (", op_name(transfer.spec.op), " of ", transfer.spec.size,
              " bytes, ", transfer.local.size(), " SGE", transfer.spec.use_inline ? ", inline" : "",
              ")");
}

std::vector<ibv_sge> make_sges(const Endpoint& end, const Layout& layout) {
  std::vector<ibv_sge> sges;
  for (const Segment& segment : layout)
    sges.push_back(end.sge(segment.offset, segment.length, static_cast<unsigned>(sges.size())));
  return sges;
}

ibv_send_wr make_wr(const Endpoint& end, const Transfer& transfer, std::vector<ibv_sge>& sges,
                    const ExecuteOptions& options) {
  const TransferSpec& spec = transfer.spec;
  ibv_send_wr wr{};
  wr.wr_id = transfer.id;
  wr.sg_list = sges.data();
  wr.num_sge = static_cast<int>(sges.size());
  wr.opcode = wr_opcode(spec.op);
  wr.send_flags =
      flag_if(spec.is_signaled, IBV_SEND_SIGNALED) | flag_if(spec.is_fenced, IBV_SEND_FENCE) |
      flag_if(spec.is_solicited, IBV_SEND_SOLICITED) | flag_if(spec.use_inline, IBV_SEND_INLINE);
  const std::uint64_t address = end.peer().address + transfer.remote_offset;
  if (spec.op == Op::send_inv)
    wr.invalidate_rkey = options.invalidate_rkey;
  else
    wr.imm_data = htonl(transfer.imm);
  if (is_atomic(spec.op)) {
    wr.wr.atomic.remote_addr = address;
    wr.wr.atomic.rkey = end.peer().rkey;
    wr.wr.atomic.compare_add = transfer.compare_or_add;
    wr.wr.atomic.swap = transfer.swap;
  } else if (spec.op == Op::write || spec.op == Op::write_imm || spec.op == Op::read) {
    wr.wr.rdma.remote_addr = address;
    wr.wr.rdma.rkey = end.peer().rkey;
  }
  return wr;
}

std::span<std::byte> part(const Endpoint& end, std::size_t size) {
  expect(size <= end.arena().size(), "the plan needs ", size, " bytes, the arena has ",
         end.arena().size());
  return end.arena().first(size);
}

// Posting copies inline data, so the program may overwrite the buffer at once.
void scrub_inline_sources(const Endpoint& end, const Plan& plan) {
  for (const Transfer& transfer : plan.transfers) {
    if (!transfer.spec.use_inline) continue;
    for (const Segment& segment : transfer.local)
      plan.local_after.paint_guard(end.arena(), segment.offset, segment.length);
  }
}

}  // namespace

void prepare_initiator(Endpoint& end, const Plan& plan) {
  plan.local_before.paint(part(end, plan.local_size));
}

void paint_target(Endpoint& end, const Plan& plan) {
  plan.remote_before.paint(part(end, plan.remote_size));
}

void prepare_target(Endpoint& end, const Plan& plan) {
  paint_target(end, plan);
  post_receives(end, plan);
}

void post_receives(Endpoint& end, const Plan& plan) {
  for (const Transfer& transfer : plan.transfers) {
    if (!consumes_receive(transfer.spec.op)) continue;
    std::vector<ibv_sge> sges = make_sges(end, transfer.receive);
    ibv_recv_wr wr{};
    wr.wr_id = transfer.id;
    wr.sg_list = sges.data();
    wr.num_sge = static_cast<int>(sges.size());
    end.qp().post_recv(&wr);
  }
}

void post_transfers(Endpoint& end, const Plan& plan, const ExecuteOptions& options) {
  std::vector<std::vector<ibv_sge>> sges;
  std::vector<ibv_send_wr> wrs;
  sges.reserve(plan.transfers.size());
  wrs.reserve(plan.transfers.size());
  for (const Transfer& transfer : plan.transfers) {
    sges.push_back(make_sges(end, transfer.local));
    wrs.push_back(make_wr(end, transfer, sges.back(), options));
    if (wrs.size() > 1) wrs[wrs.size() - 2].next = &wrs.back();
  }
  if (!wrs.empty()) end.qp().post_send(wrs.data());
  scrub_inline_sources(end, plan);
}

void collect_sends(Endpoint& end, const Plan& plan, const ExecuteOptions& options) {
  for (std::size_t i = 0; i < plan.transfers.size(); ++i) {
    const Transfer& transfer = plan.transfers[i];
    if (!transfer.spec.is_signaled) continue;
    const std::string what = describe(transfer, i);
    const ibv_wc wc = end.send_cq().next(Deadline::after(options.wait_limit), what);
    expect_wc(wc, transfer.id, IBV_WC_SUCCESS, what);
    expect(wc.opcode == wc_opcode(transfer.spec.op), what, ": completion opcode is ", wc.opcode);
    expect(wc.qp_num == end.qp().number(), what, ": completion qp_num is ", wc.qp_num);
    if (transfer.spec.op == Op::read)
      expect(wc.byte_len == transfer.spec.size, what, ": completion byte_len is ", wc.byte_len);
    if (is_atomic(transfer.spec.op))
      expect(wc.byte_len == 8, what, ": completion byte_len is ", wc.byte_len);
  }
}

void check_receive_wc(const ibv_wc& wc, const Transfer& transfer, std::uint32_t qpn,
                      const ExecuteOptions& options) {
  const Op op = transfer.spec.op;
  const std::string what = text("receive for ", op_name(op), " of ", transfer.spec.size, " bytes");
  expect_wc(wc, transfer.id, IBV_WC_SUCCESS, what);
  const ibv_wc_opcode opcode = op == Op::write_imm ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV;
  expect(wc.opcode == opcode, what, ": completion opcode is ", wc.opcode, ", wanted ", opcode);
  expect(wc.byte_len == transfer.spec.size, what, ": completion byte_len is ", wc.byte_len);
  expect(wc.qp_num == qpn, what, ": completion qp_num is ", wc.qp_num, ", wanted ", qpn);
  const bool has_imm = op == Op::send_imm || op == Op::write_imm;
  const unsigned known = IBV_WC_WITH_IMM | IBV_WC_WITH_INV;
  const unsigned flags =
      flag_if(has_imm, IBV_WC_WITH_IMM) | flag_if(op == Op::send_inv, IBV_WC_WITH_INV);
  expect((wc.wc_flags & known) == flags, what, ": completion wc_flags are ", wc.wc_flags,
         ", wanted ", flags);
  if (has_imm)
    expect(ntohl(wc.imm_data) == transfer.imm, what, ": imm_data is ", ntohl(wc.imm_data));
  if (op == Op::send_inv)
    expect(wc.invalidated_rkey == options.invalidate_rkey, what, ": invalidated_rkey is ",
           wc.invalidated_rkey);
}

void collect_receives(Endpoint& end, const Plan& plan, const ExecuteOptions& options) {
  for (std::size_t i = 0; i < plan.transfers.size(); ++i) {
    const Transfer& transfer = plan.transfers[i];
    if (!consumes_receive(transfer.spec.op)) continue;
    const ibv_wc wc = end.recv_cq().next(Deadline::after(options.wait_limit),
                                         "receive for " + describe(transfer, i));
    check_receive_wc(wc, transfer, end.qp().number(), options);
  }
}

void check_initiator(const Endpoint& end, const Plan& plan) {
  const std::string complaint = plan.local_after.check(part(end, plan.local_size));
  expect(complaint.empty(), "initiator's memory: ", complaint);
}

void check_target(const Endpoint& end, const Plan& plan) {
  const std::string complaint = plan.remote_after.check(part(end, plan.remote_size));
  expect(complaint.empty(), "target's memory: ", complaint);
}

void execute_locally(Endpoint& initiator, Endpoint& target, const Plan& plan,
                     const ExecuteOptions& options) {
  prepare_initiator(initiator, plan);
  prepare_target(target, plan);
  post_transfers(initiator, plan, options);
  collect_sends(initiator, plan, options);
  collect_receives(target, plan, options);
  check_initiator(initiator, plan);
  check_target(target, plan);
}

}  // namespace verbs
