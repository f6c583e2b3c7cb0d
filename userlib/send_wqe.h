// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// Work requests as the kernel reads them. Refused here is what a WQE cannot express and what librxe
// refuses; whether a request makes sense is the kernel's to judge, and it answers by a completion.
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

enum class Service { reliable, datagram };

/// What a queue was created for.
struct SendLimits {
  Service service;
  std::uint32_t max_sge;
  std::uint32_t max_inline_bytes;
};

/// Whether requests of that kind exist for a service.
bool is_offered(ibv_wr_opcode opcode, Service service);

/// Give a WQE its payload: @p list is written behind it, or the bytes that it names. Returns 0, or
/// EINVAL when it is more than the limits allow.
int write_list(std::span<const ibv_sge> list, const SendLimits& limits, sroce_send_slot& wqe,
               std::span<std::byte> payload);
int write_inline(std::span<const ibv_data_buf> list, const SendLimits& limits, sroce_send_slot& wqe,
                 std::span<std::byte> payload);

/// Write @p wr into @p wqe and, behind it, @p payload, which has room for what @p limits allow.
/// Returns 0, or EINVAL and the WQE is not to be used.
int write_send_wqe(const ibv_send_wr& wr, const SendLimits& limits, sroce_send_slot& wqe,
                   std::span<std::byte> payload);

}  // namespace sroce
