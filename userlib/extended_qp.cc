// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// ibv_wr_start() and its companions. They write requests straight into the ring.
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "provider.h"
#include "queue_pair.h"

static_assert(std::is_standard_layout_v<sroce_qp_object>);

namespace {

sroce::SendQueue& queue_of(ibv_qp_ex* qp) {
  auto* bytes = reinterpret_cast<std::byte*>(qp) - offsetof(sroce_qp_object, base);
  return reinterpret_cast<sroce::QueuePair*>(reinterpret_cast<sroce_qp_object*>(bytes)->queues)
      ->send_queue();
}

sroce_send_slot& add(ibv_qp_ex* qp, ibv_wr_opcode opcode) {
  return queue_of(qp).add(opcode, qp->wr_id, qp->wr_flags);
}

void send(ibv_qp_ex* qp) { add(qp, IBV_WR_SEND); }

void send_imm(ibv_qp_ex* qp, __be32 imm_data) { add(qp, IBV_WR_SEND_WITH_IMM).imm_data = imm_data; }

void send_inv(ibv_qp_ex* qp, std::uint32_t rkey) {
  add(qp, IBV_WR_SEND_WITH_INV).invalidate_rkey = rkey;
}

void local_inv(ibv_qp_ex* qp, std::uint32_t rkey) {
  add(qp, IBV_WR_LOCAL_INV).invalidate_rkey = rkey;
}

void bind_mw(ibv_qp_ex* qp, ibv_mw* window, std::uint32_t rkey, const ibv_mw_bind_info* bind) {
  sroce::write_bind(*bind, window->rkey, rkey, add(qp, IBV_WR_BIND_MW));
}

sroce_send_slot& add_remote(ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t rkey,
                            std::uint64_t address) {
  sroce_send_slot& wr = add(qp, opcode);
  wr.remote_addr = address;
  wr.rkey = rkey;
  return wr;
}

void write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  add_remote(qp, IBV_WR_RDMA_WRITE, rkey, address);
}

void write_imm(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, __be32 imm_data) {
  add_remote(qp, IBV_WR_RDMA_WRITE_WITH_IMM, rkey, address).imm_data = imm_data;
}

void read(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address) {
  add_remote(qp, IBV_WR_RDMA_READ, rkey, address);
}

void add_atomic(ibv_qp_ex* qp, ibv_wr_opcode opcode, std::uint32_t rkey, std::uint64_t address,
                std::uint64_t compare_add, std::uint64_t swap) {
  sroce_send_slot& wr = add(qp, opcode);
  wr.remote_addr = address;
  wr.rkey = rkey;
  wr.compare_add = compare_add;
  wr.swap = swap;
}

void compare_swap(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::uint64_t compare,
                  std::uint64_t swap) {
  add_atomic(qp, IBV_WR_ATOMIC_CMP_AND_SWP, rkey, address, compare, swap);
}

void fetch_add(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::uint64_t sum) {
  add_atomic(qp, IBV_WR_ATOMIC_FETCH_AND_ADD, rkey, address, sum, 0);
}

/// IBV_QP_EX_WITH_FLUSH and IBV_QP_EX_WITH_ATOMIC_WRITE, which older headers lack.
constexpr std::uint64_t kWithFlush = 1 << 11;
constexpr std::uint64_t kWithAtomicWrite = 1 << 12;

void atomic_write(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, const void* value) {
  add_remote(qp, sroce::kAtomicWrite, rkey, address);
  const ibv_data_buf buffer = {.addr = const_cast<void*>(value), .length = sizeof(std::uint64_t)};
  queue_of(qp).set_inline({&buffer, 1});
}

/// A range is as long as a message at most; the length of a whole region means nothing.
void flush(ibv_qp_ex* qp, std::uint32_t rkey, std::uint64_t address, std::size_t length,
           std::uint8_t type, std::uint8_t level) {
  sroce_send_slot& wr = add_remote(qp, sroce::kFlush, rkey, address);
  wr.flush.length = static_cast<std::uint32_t>(length);
  wr.flush.type = type;
  wr.flush.level = level;
  if (level == 0 && length > std::size_t{1} << 31) queue_of(qp).reject();
}

/// The late functions, and comp_mask behind those that the running library has.
std::byte* late(sroce_qp_object* qp, unsigned index) {
  return reinterpret_cast<std::byte*>(&qp->base) + offsetof(ibv_qp_ex, wr_abort) +
         (1 + index) * sizeof(void*);
}

template <typename Function>
void set_late(sroce_qp_object* qp, unsigned index, Function* function) {
  std::memcpy(late(qp, index), &function, sizeof(function));
}

void set_ud_addr(ibv_qp_ex* qp, ibv_ah* ah, std::uint32_t remote_qpn, std::uint32_t remote_qkey) {
  sroce_send_slot& wr = queue_of(qp).current();
  wr.qkey = remote_qkey;
  wr.ud.dest_qpn = remote_qpn;
  wr.ud.ah = reinterpret_cast<const sroce_ah*>(ah)->number;
}

void set_srqn(ibv_qp_ex* qp, std::uint32_t remote_srqn) {
  sroce::write_srqn(remote_srqn, queue_of(qp).current());
}

void set_sge(ibv_qp_ex* qp, std::uint32_t lkey, std::uint64_t addr, std::uint32_t length) {
  const ibv_sge sge = {.addr = addr, .length = length, .lkey = lkey};
  queue_of(qp).set_list({&sge, 1});
}

void set_sge_list(ibv_qp_ex* qp, std::size_t num_sge, const ibv_sge* list) {
  queue_of(qp).set_list({list, num_sge});
}

void set_inline_data(ibv_qp_ex* qp, void* addr, std::size_t length) {
  const ibv_data_buf buffer = {.addr = addr, .length = length};
  queue_of(qp).set_inline({&buffer, 1});
}

void set_inline_data_list(ibv_qp_ex* qp, std::size_t num_buf, const ibv_data_buf* list) {
  queue_of(qp).set_inline({list, num_buf});
}

void start(ibv_qp_ex* qp) { queue_of(qp).start(); }
int complete(ibv_qp_ex* qp) { return queue_of(qp).finish(); }
void abort(ibv_qp_ex* qp) { queue_of(qp).abort(); }

constexpr std::uint64_t kUdOps = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
constexpr std::uint64_t kUcOps = kUdOps | IBV_QP_EX_WITH_RDMA_WRITE |
                                 IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_LOCAL_INV |
                                 IBV_QP_EX_WITH_BIND_MW;
constexpr std::uint64_t kRcOps = kUcOps | IBV_QP_EX_WITH_SEND_WITH_INV | IBV_QP_EX_WITH_RDMA_READ |
                                 IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
                                 IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD | kWithAtomicWrite |
                                 kWithFlush;

std::uint64_t ops_of(ibv_qp_type type) {
  switch (type) {
    case IBV_QPT_UC:
      return kUcOps;
    case IBV_QPT_UD:
      return kUdOps;
    default:
      return kRcOps;
  }
}

}  // namespace

void sroce_mark_extended(sroce_qp_object* object, unsigned late_functions) {
  std::uint32_t comp_mask;
  std::memcpy(&comp_mask, late(object, late_functions), sizeof(comp_mask));
  comp_mask |= SROCE_QP_IS_EXTENDED;
  std::memcpy(late(object, late_functions), &comp_mask, sizeof(comp_mask));
}

int sroce_offer_work_requests(sroce_qp_object* object, ibv_qp_type type, std::uint64_t ops,
                              unsigned late_functions) {
  std::uint64_t missing = ~ops_of(type);
  if (late_functions < 1) missing |= kWithAtomicWrite;
  if (late_functions < 2) missing |= kWithFlush;
  if (ops & missing) return EOPNOTSUPP;
  ibv_qp_ex& qp = object->base;
  qp.wr_start = start;
  qp.wr_complete = complete;
  qp.wr_abort = abort;
  qp.wr_set_sge = set_sge;
  qp.wr_set_sge_list = set_sge_list;
  qp.wr_set_inline_data = set_inline_data;
  qp.wr_set_inline_data_list = set_inline_data_list;
  if (type == IBV_QPT_UD) qp.wr_set_ud_addr = set_ud_addr;
  if (type == IBV_QPT_XRC_SEND) qp.wr_set_xrc_srqn = set_srqn;
  if (ops & IBV_QP_EX_WITH_SEND) qp.wr_send = send;
  if (ops & IBV_QP_EX_WITH_SEND_WITH_IMM) qp.wr_send_imm = send_imm;
  if (ops & IBV_QP_EX_WITH_SEND_WITH_INV) qp.wr_send_inv = send_inv;
  if (ops & IBV_QP_EX_WITH_LOCAL_INV) qp.wr_local_inv = local_inv;
  if (ops & IBV_QP_EX_WITH_BIND_MW) qp.wr_bind_mw = bind_mw;
  if (ops & IBV_QP_EX_WITH_RDMA_WRITE) qp.wr_rdma_write = write;
  if (ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM) qp.wr_rdma_write_imm = write_imm;
  if (ops & IBV_QP_EX_WITH_RDMA_READ) qp.wr_rdma_read = read;
  if (ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP) qp.wr_atomic_cmp_swp = compare_swap;
  if (ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD) qp.wr_atomic_fetch_add = fetch_add;
  if (ops & kWithAtomicWrite) set_late(object, 0, atomic_write);
  if (ops & kWithFlush) set_late(object, 1, flush);
  return 0;
}
