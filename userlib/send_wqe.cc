// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "send_wqe.h"

#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>

#include "provider.h"

namespace sroce {

namespace {

bool is_offered(ibv_wr_opcode opcode, Service service) {
  switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      return true;
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_RDMA_READ:
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
    case IBV_WR_SEND_WITH_INV:
      return service == Service::reliable;
    default:
      return false;
  }
}

void write_operation(const ibv_send_wr& wr, Service service, rxe_send_wr& out) {
  if (service == Service::datagram) {
    out.wr.ud.remote_qpn = wr.wr.ud.remote_qpn;
    out.wr.ud.remote_qkey = wr.wr.ud.remote_qkey;
    out.wr.ud.ah_num = reinterpret_cast<const sroce_ah*>(wr.wr.ud.ah)->number;
    return;
  }
  switch (wr.opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
    case IBV_WR_RDMA_READ:
      out.wr.rdma.remote_addr = wr.wr.rdma.remote_addr;
      out.wr.rdma.rkey = wr.wr.rdma.rkey;
      break;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      out.wr.atomic.remote_addr = wr.wr.atomic.remote_addr;
      out.wr.atomic.compare_add = wr.wr.atomic.compare_add;
      out.wr.atomic.swap = wr.wr.atomic.swap;
      out.wr.atomic.rkey = wr.wr.atomic.rkey;
      break;
    default:
      break;
  }
}

/// The sum of the list, unless it is more than a WQE can say.
std::optional<std::uint32_t> total_bytes(std::span<const ibv_sge> list) {
  std::uint64_t sum = 0;
  for (const ibv_sge& sge : list) sum += sge.length;
  if (sum > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(sum);
}

void gather(std::span<const ibv_sge> list, std::byte* to) {
  for (const ibv_sge& sge : list) {
    if (sge.length == 0) continue;
    std::memcpy(to, reinterpret_cast<const void*>(sge.addr), sge.length);
    to += sge.length;
  }
}

}  // namespace

int write_send_wqe(const ibv_send_wr& wr, const SendLimits& limits, rxe_send_wqe& wqe,
                   std::span<std::byte> payload) {
  if (!is_offered(wr.opcode, limits.service)) return EINVAL;
  if (wr.num_sge < 0 || static_cast<std::uint32_t>(wr.num_sge) > limits.max_sge) return EINVAL;
  const std::span<const ibv_sge> list(wr.sg_list, static_cast<std::size_t>(wr.num_sge));
  const std::optional<std::uint32_t> length = total_bytes(list);
  if (!length) return EINVAL;
  const bool is_inline = wr.send_flags & IBV_SEND_INLINE;
  if (is_inline && *length > limits.max_inline_bytes) return EINVAL;

  wqe = {};
  wqe.wr.wr_id = wr.wr_id;
  wqe.wr.opcode = wr.opcode;
  wqe.wr.send_flags = wr.send_flags;
  if (wr.opcode == IBV_WR_SEND_WITH_INV)
    wqe.wr.ex.invalidate_rkey = wr.invalidate_rkey;
  else
    wqe.wr.ex.imm_data = wr.imm_data;
  write_operation(wr, limits.service, wqe.wr);
  wqe.dma.length = *length;
  wqe.dma.resid = *length;
  if (is_inline) {
    gather(list, payload.data());
  } else if (!list.empty()) {
    wqe.dma.num_sge = static_cast<std::uint32_t>(list.size());
    std::memcpy(payload.data(), list.data(), list.size_bytes());
  }
  return 0;
}

}  // namespace sroce
