// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "send_wqe.h"

#include <cerrno>
#include <cstring>
#include <limits>

#include "provider.h"

namespace sroce {

bool is_supported(ibv_wr_opcode opcode, Service service) {
  switch (static_cast<unsigned>(opcode)) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      return true;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_BIND_MW:
    case IBV_WR_LOCAL_INV:
      return service != Service::ud;
    case IBV_WR_RDMA_READ:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_SEND_WITH_INV:
    case kAtomicWrite:
      return service == Service::rc || service == Service::xrc;
    default:
      return false;
  }
}

namespace {

constexpr bool is_atomic(unsigned opcode) {
  return opcode == IBV_WR_ATOMIC_CMP_AND_SWP || opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

void write_operation(const ibv_send_wr& wr, Service service, sroce_send_slot& out) {
  if (service == Service::ud) {
    out.qkey = wr.wr.ud.remote_qkey;
    out.ud.dest_qpn = wr.wr.ud.remote_qpn;
    out.ud.ah = reinterpret_cast<const sroce_ah*>(wr.wr.ud.ah)->number;
    return;
  }
  switch (static_cast<unsigned>(wr.opcode)) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_RDMA_READ:
    case kAtomicWrite:
      out.remote_addr = wr.wr.rdma.remote_addr;
      out.rkey = wr.wr.rdma.rkey;
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      out.remote_addr = wr.wr.atomic.remote_addr;
      out.compare_add = wr.wr.atomic.compare_add;
      out.swap = wr.wr.atomic.swap;
      out.rkey = wr.wr.atomic.rkey;
      break;
    case IBV_WR_BIND_MW:
      write_bind(wr.bind_mw.bind_info, wr.bind_mw.mw->rkey, wr.bind_mw.rkey, out);
      break;
    default:
      break;
  }
}

/// IBTA 11.4.1.1: the post rejects an atomic with a misaligned remote address or a result buffer
/// that is too short.
bool is_bad_atomic(const ibv_send_wr& wr, const sroce_send_slot& wqe) {
  constexpr std::uint32_t bytes = sizeof(std::uint64_t);
  return is_atomic(wr.opcode) && (wr.wr.atomic.remote_addr % bytes || wqe.length < bytes);
}

const void* start_of(const ibv_sge& sge) { return reinterpret_cast<const void*>(sge.addr); }
const void* start_of(const ibv_data_buf& buffer) { return buffer.addr; }

/// Returns the sum of the lengths in @p list, or @p limit + 1 if the sum is larger than @p limit.
/// It cannot overflow, although an ibv_data_buf may have any length.
template <typename Piece>
std::uint64_t total_bytes(std::span<const Piece> list, std::uint64_t limit) {
  std::uint64_t sum = 0;
  for (const Piece& piece : list) {
    if (piece.length > limit - sum) return limit + 1;
    sum += piece.length;
  }
  return sum;
}

void set_length(sroce_send_slot& wqe, std::uint64_t length) {
  wqe.length = static_cast<std::uint32_t>(length);
}

template <typename Piece>
int gather(std::span<const Piece> list, const SendLimits& limits, sroce_send_slot& wqe,
           std::span<std::byte> payload) {
  const std::uint64_t length = total_bytes(list, limits.max_inline_bytes);
  if (length > limits.max_inline_bytes) return EINVAL;
  set_length(wqe, length);
  wqe.flags |= std::uint8_t{IBV_SEND_INLINE};
  wqe.num_sge = 0;
  std::byte* to = payload.data();
  for (const Piece& piece : list) {
    if (piece.length == 0) continue;
    std::memcpy(to, start_of(piece), piece.length);
    to += piece.length;
  }
  return 0;
}

}  // namespace

void write_bind(const ibv_mw_bind_info& bind, std::uint32_t rkey, std::uint32_t new_rkey,
                sroce_send_slot& wqe) {
  wqe.remote_addr = bind.addr;
  wqe.rkey = rkey;
  wqe.invalidate_rkey = new_rkey;
  wqe.bind.length = bind.length;
  wqe.bind.lkey = bind.mr ? bind.mr->lkey : 0;
  wqe.bind.access = bind.mw_access_flags;
}

void write_srqn(std::uint32_t srqn, sroce_send_slot& wqe) {
  if (is_atomic(wqe.opcode))
    wqe.atomic_srqn = srqn;
  else if (wqe.opcode != IBV_WR_BIND_MW)
    wqe.xrc.srqn = srqn;
}

int write_list(std::span<const ibv_sge> list, const SendLimits& limits, sroce_send_slot& wqe,
               std::span<std::byte> payload) {
  constexpr std::uint64_t max = std::numeric_limits<std::uint32_t>::max();
  const std::uint64_t length = total_bytes(list, max);
  if (list.size() > limits.max_sge || length > max) return EINVAL;
  set_length(wqe, length);
  wqe.num_sge = static_cast<std::uint16_t>(list.size());
  if (!list.empty()) std::memcpy(payload.data(), list.data(), list.size_bytes());
  return 0;
}

int write_inline(std::span<const ibv_data_buf> list, const SendLimits& limits, sroce_send_slot& wqe,
                 std::span<std::byte> payload) {
  return gather(list, limits, wqe, payload);
}

int write_send_wqe(const ibv_send_wr& wr, const SendLimits& limits, sroce_send_slot& wqe,
                   std::span<std::byte> payload) {
  if (!is_supported(wr.opcode, limits.service)) return EINVAL;
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > limits.max_sge) return EINVAL;
  const std::span<const ibv_sge> list(wr.sg_list, static_cast<std::size_t>(wr.num_sge));

  wqe = {};
  wqe.wr_id = wr.wr_id;
  wqe.opcode = static_cast<std::uint8_t>(wr.opcode);
  wqe.flags = static_cast<std::uint8_t>(wr.send_flags);
  if (wr.opcode == IBV_WR_SEND_WITH_INV || wr.opcode == IBV_WR_LOCAL_INV)
    wqe.invalidate_rkey = wr.invalidate_rkey;
  else
    wqe.imm_data = wr.imm_data;
  write_operation(wr, limits.service, wqe);
  if (limits.service == Service::xrc) write_srqn(wr.qp_type.xrc.remote_srqn, wqe);
  const int err = wr.send_flags & IBV_SEND_INLINE ? gather(list, limits, wqe, payload)
                                                  : write_list(list, limits, wqe, payload);
  return !err && is_bad_atomic(wr, wqe) ? EINVAL : err;
}

}  // namespace sroce
