// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Builds WQEs from work requests. A request is rejected here if a WQE cannot express it or librxe
// would reject it. The kernel checks the rest and reports errors in completions.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "rxe_abi.h"
#include "sroce_abi.h"

namespace sroce {

static_assert(sizeof(rxe_sge) == 16);
static_assert(sizeof(ibv_sge) == sizeof(rxe_sge));
static_assert(offsetof(ibv_sge, addr) == offsetof(rxe_sge, addr));
static_assert(offsetof(ibv_sge, length) == offsetof(rxe_sge, length));
static_assert(offsetof(ibv_sge, lkey) == offsetof(rxe_sge, lkey));
static_assert(sizeof(sroce_send_slot) == 48);
static_assert(offsetof(sroce_send_slot, length) == 12);
static_assert(offsetof(sroce_send_slot, imm_data) == 16);
static_assert(offsetof(sroce_send_slot, rkey) == 20);
static_assert(offsetof(sroce_send_slot, remote_addr) == 24);
static_assert(offsetof(sroce_send_slot, ud.ah) == 28);
static_assert(offsetof(sroce_send_slot, compare_add) == 32);
static_assert(offsetof(sroce_send_slot, bind.length) == 32);
static_assert(offsetof(sroce_send_slot, bind.access) == 44);
static_assert(offsetof(sroce_send_slot, flush.level) == 37);
static_assert(offsetof(sroce_send_slot, atomic_srqn) == 16);
static_assert(offsetof(sroce_send_slot, xrc.srqn) == 44);

/// IBV_WR_FLUSH and IBV_WR_ATOMIC_WRITE, which older headers lack.
constexpr auto kFlush = static_cast<ibv_wr_opcode>(14);
constexpr auto kAtomicWrite = static_cast<ibv_wr_opcode>(15);

enum class Service { rc, uc, ud, xrc };

/// Capabilities of a queue.
struct SendLimits {
  Service service;
  std::uint32_t max_sge;
  std::uint32_t max_inline_bytes;
};

/// True if @p service supports @p opcode.
bool is_supported(ibv_wr_opcode opcode, Service service);

/// Write @p list, or the bytes that it names, into @p payload and set length and num_sge of @p wqe.
/// Returns 0, or EINVAL if @p limits are exceeded.
int write_list(std::span<const ibv_sge> list, const SendLimits& limits, sroce_send_slot& wqe,
               std::span<std::byte> payload);
int write_inline(std::span<const ibv_data_buf> list, const SendLimits& limits, sroce_send_slot& wqe,
                 std::span<std::byte> payload);

/// Write the operation of a bind into @p wqe: the window's key @p rkey becomes @p new_rkey.
void write_bind(const ibv_mw_bind_info& bind, std::uint32_t rkey, std::uint32_t new_rkey,
                sroce_send_slot& wqe);

/// Name the peer's shared receive queue. The operation has been written.
void write_srqn(std::uint32_t srqn, sroce_send_slot& wqe);

/// Write @p wr into @p wqe and @p payload, which must have room for what @p limits allow. Returns
/// 0, or EINVAL, and then @p wqe must not be used.
int write_send_wqe(const ibv_send_wr& wr, const SendLimits& limits, sroce_send_slot& wqe,
                   std::span<std::byte> payload);

}  // namespace sroce
