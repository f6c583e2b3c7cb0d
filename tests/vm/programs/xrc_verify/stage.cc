// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "xrc_verify/stage.h"

#include <fcntl.h>
#include <sys/mman.h>

#include "harness/failure.h"

namespace xrc {

using harness::expect;

namespace {

constexpr std::uint32_t region_bytes = 64 * 1024, depth = 64;

void modify(ibv_qp* qp, verbs::Change change, const char* what) {
  if (const int err = ibv_modify_qp(qp, &change.attr, change.mask)) harness::fail_errno(err, what);
}

}  // namespace

Domain open_domain(const verbs::Context& context, int fd, int flags) {
  ibv_xrcd_init_attr attr{};
  attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
  attr.fd = fd;
  attr.oflags = flags;
  Domain domain(ibv_open_xrcd(context.get(), &attr));
  if (!domain) harness::fail_errno(errno, "ibv_open_xrcd");
  return domain;
}

Domain new_domain(const verbs::Context& context) { return open_domain(context, -1, O_CREAT); }

std::byte byte_of(std::uint64_t number, std::size_t at) {
  return static_cast<std::byte>(harness::mix(number * 1000003 + at));
}

void fill(std::byte* to, std::size_t bytes, std::uint64_t number) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = byte_of(number, i);
}

void expect_bytes(const std::byte* from, std::size_t bytes, std::uint64_t number) {
  for (std::size_t i = 0; i < bytes; ++i)
    expect(from[i] == byte_of(number, i), "message ", number, " differs at byte ", i);
}

Queue::Queue(const verbs::Context& context, const Domain& domain, std::uint32_t slots,
             const verbs::Channel* channel)
    : slots_(slots),
      pd_(verbs::make_pd(context)),
      cq_(context, static_cast<int>(slots + depth), channel),
      memory_(std::size_t{slots} * slot_bytes + region_bytes),
      mr_(verbs::make_mr(pd_, memory_.data(), memory_.size(),
                         IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                             IBV_ACCESS_REMOTE_ATOMIC)) {
  ibv_srq_init_attr_ex init{};
  init.attr = {slots, 1, 0};
  init.comp_mask =
      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
  init.srq_type = IBV_SRQT_XRC;
  init.pd = pd_.get();
  init.xrcd = domain.get();
  init.cq = cq_.get();
  srq_.reset(ibv_create_srq_ex(context.get(), &init));
  if (!srq_) harness::fail_errno(errno, "an XRC SRQ");
  if (const int err = ibv_get_srq_num(srq_.get(), &number_))
    harness::fail_errno(err, "ibv_get_srq_num");
  expect(number_ && number_ < 1U << 24, "the SRQ has the number ", number_);
}

void Queue::post(std::uint32_t slot) {
  ibv_sge sge = {reinterpret_cast<std::uint64_t>(memory_.data() + std::size_t{slot} * slot_bytes),
                 slot_bytes, mr_->lkey};
  ibv_recv_wr wr{}, *bad = nullptr;
  wr.wr_id = slot;
  wr.sg_list = &sge;
  wr.num_sge = 1;
  if (const int err = ibv_post_srq_recv(srq_.get(), &wr, &bad))
    harness::fail_errno(err, "ibv_post_srq_recv");
}

void Queue::post_all() {
  for (std::uint32_t slot = 0; slot < slots_; ++slot) post(slot);
}

void Queue::receive(std::uint64_t number, std::uint32_t bytes, std::uint32_t qpn) {
  const ibv_wc wc = cq_.next(harness::Deadline::after(timeout), "a receive");
  expect(wc.status == IBV_WC_SUCCESS && wc.byte_len == bytes, verbs::describe(wc));
  expect(wc.qp_num == qpn, "the completion names QP ", wc.qp_num);
  expect(bool(wc.wc_flags & IBV_WC_WITH_IMM) == has_immediate(number), "message ", number, " has ",
         wc.wc_flags & IBV_WC_WITH_IMM ? "" : "no ", "immediate data");
  expect(!has_immediate(number) || wc.imm_data == number, "immediate data ", wc.imm_data);
  expect_bytes(memory_.data() + wc.wr_id * slot_bytes, bytes, number);
  post(static_cast<std::uint32_t>(wc.wr_id));
}

void Queue::destroy() { srq_.reset(); }

Initiator::Initiator(const verbs::Context& context)
    : pd_(verbs::make_pd(context)),
      cq_(context, depth),
      memory_(region_bytes),
      mr_(verbs::make_mr(pd_, memory_.data(), memory_.size(), IBV_ACCESS_LOCAL_WRITE)) {
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_XRC_SEND;
  init.send_cq = cq_.get();
  init.cap = {depth, 0, 1, 0, 0};
  qp_.reset(ibv_create_qp(pd_.get(), &init));
  if (!qp_) harness::fail_errno(errno, "an XRC initiator");
}

void connect(const verbs::Devices& devices, ibv_qp* initiator, ibv_qp* target) {
  verbs::LinkOptions link;
  link.gid_index = devices.near_gid;
  link.rd_atomic = link.dest_rd_atomic = 4;
  const verbs::QpAddress here = {initiator->qp_num, 100, devices.near.gid(devices.near_gid)};
  const verbs::QpAddress there = {target->qp_num, 200, devices.far.gid(devices.far_gid)};
  verbs::Change init = verbs::rc_to_init(link), rtr = verbs::rc_to_rtr(link, there),
                rts = verbs::rc_to_rts(link, here.psn);
  rtr.mask &= ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  modify(initiator, init, "initiator to INIT");
  modify(initiator, rtr, "initiator to RTR");
  modify(initiator, rts, "initiator to RTS");
  link.gid_index = devices.far_gid;
  rtr = verbs::rc_to_rtr(link, here);
  rts = verbs::rc_to_rts(link, there.psn);
  rts.mask &= IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN;
  modify(target, init, "target to INIT");
  modify(target, rtr, "target to RTR");
  modify(target, rts, "target to RTS");
}

ibv_send_wr* Initiator::prepare(ibv_wr_opcode opcode, std::uint32_t srqn, std::uint32_t bytes) {
  sge_ = {reinterpret_cast<std::uint64_t>(memory_.data()), bytes, mr_->lkey};
  wr_ = {};
  wr_.opcode = opcode;
  wr_.send_flags = IBV_SEND_SIGNALED;
  wr_.sg_list = &sge_;
  wr_.num_sge = 1;
  wr_.qp_type.xrc.remote_srqn = srqn;
  return &wr_;
}

void Initiator::send(std::uint32_t srqn, std::uint64_t number, std::uint32_t bytes) {
  ibv_send_wr* bad = nullptr;
  fill(memory_.data(), bytes, number);
  ibv_send_wr* wr =
      prepare(has_immediate(number) ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND, srqn, bytes);
  wr->imm_data = static_cast<std::uint32_t>(number);
  if (const int err = ibv_post_send(qp_.get(), wr, &bad)) harness::fail_errno(err, "ibv_post_send");
}

void Initiator::request(ibv_wr_opcode opcode, std::uint32_t srqn, std::uint32_t bytes,
                        std::uint64_t address, std::uint32_t rkey, std::uint64_t operand) {
  ibv_send_wr *wr = prepare(opcode, srqn, bytes), *bad = nullptr;
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD || opcode == IBV_WR_ATOMIC_CMP_AND_SWP)
    wr->wr.atomic = {address, operand, ~operand, rkey};
  else
    wr->wr.rdma = {address, rkey};
  wr->imm_data = opcode == IBV_WR_RDMA_WRITE_WITH_IMM ? static_cast<std::uint32_t>(operand) : 0;
  if (const int err = ibv_post_send(qp_.get(), wr, &bad)) harness::fail_errno(err, "ibv_post_send");
}

ibv_wc_status Initiator::reap() {
  return cq_.next(harness::Deadline::after(timeout), "a send").status;
}

void Initiator::expect(ibv_wc_status status, const char* what) {
  const ibv_wc_status got = reap();
  harness::expect(got == status, what, ": ", ibv_wc_status_str(got));
}

QpHandle create_target(const verbs::Context& context, const Domain& domain) {
  ibv_qp_init_attr_ex init{};
  init.qp_type = IBV_QPT_XRC_RECV;
  init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  init.xrcd = domain.get();
  QpHandle qp(ibv_create_qp_ex(context.get(), &init));
  if (!qp) harness::fail_errno(errno, "an XRC target");
  return qp;
}

QpHandle open_target(const verbs::Context& context, const Domain& domain, std::uint32_t number) {
  ibv_qp_open_attr attr{};
  attr.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  attr.qp_num = number;
  attr.xrcd = domain.get();
  attr.qp_type = IBV_QPT_XRC_RECV;
  QpHandle qp(ibv_open_qp(context.get(), &attr));
  if (!qp) harness::fail_errno(errno, "ibv_open_qp");
  return qp;
}

Stage::Stage(const verbs::Devices& all)
    : devices(all),
      fd(memfd_create("domain", 0)),
      domain(open_domain(all.far, fd, O_CREAT)),
      target(create_target(all.far, domain)),
      initiator(all.near) {
  connect(all, initiator.get(), target.get());
}

}  // namespace xrc
