// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
//
// ibv_start_poll() and its companions. They read entries in place, without a copy.
#include <cerrno>
#include <cstddef>
#include <type_traits>

#include "completion_queue.h"
#include "provider.h"

static_assert(std::is_standard_layout_v<sroce_cq_object>);

namespace {

sroce::CompletionQueue& queue_of(ibv_cq_ex* cq) {
  auto* bytes = reinterpret_cast<std::byte*>(cq) - offsetof(sroce_cq_object, base);
  return *reinterpret_cast<sroce::CompletionQueue*>(
      reinterpret_cast<sroce_cq_object*>(bytes)->queue);
}

const ib_uverbs_wc& entry_of(ibv_cq_ex* cq) { return queue_of(cq).current(); }

int set_current(ibv_cq_ex* cq, const ib_uverbs_wc* entry) {
  if (!entry) return ENOENT;
  cq->wr_id = entry->wr_id;
  cq->status = static_cast<ibv_wc_status>(entry->status);
  return 0;
}

int start_poll(ibv_cq_ex* cq, ibv_poll_cq_attr* attr) {
  if (attr->comp_mask) return EINVAL;
  const int err = set_current(cq, queue_of(cq).start_poll());
  return err && queue_of(cq).is_lost() ? EIO : err;
}

int next_poll(ibv_cq_ex* cq) { return set_current(cq, queue_of(cq).next_poll()); }
void end_poll(ibv_cq_ex* cq) { queue_of(cq).end_poll(); }

ibv_wc_opcode read_opcode(ibv_cq_ex* cq) { return static_cast<ibv_wc_opcode>(entry_of(cq).opcode); }
std::uint32_t read_vendor_err(ibv_cq_ex* cq) { return entry_of(cq).vendor_err; }
unsigned read_wc_flags(ibv_cq_ex* cq) { return entry_of(cq).wc_flags; }
std::uint32_t read_byte_len(ibv_cq_ex* cq) { return entry_of(cq).byte_len; }
__be32 read_imm_data(ibv_cq_ex* cq) { return entry_of(cq).ex.imm_data; }
std::uint32_t read_qp_num(ibv_cq_ex* cq) { return entry_of(cq).qp_num; }
std::uint32_t read_src_qp(ibv_cq_ex* cq) { return entry_of(cq).src_qp; }
std::uint32_t read_slid(ibv_cq_ex* cq) { return entry_of(cq).slid; }
std::uint8_t read_sl(ibv_cq_ex* cq) { return entry_of(cq).sl; }
std::uint64_t read_completion_ts(ibv_cq_ex* cq) { return queue_of(cq).current_timestamp(); }

// The kernel stamps with a clock that is never set. If the other has been set since, so is the
// result. In a time namespace it is wrong by the offset of CLOCK_MONOTONIC.
std::uint64_t read_wallclock(ibv_cq_ex* cq) {
  return sroce_clock_ns(CLOCK_REALTIME) - sroce_clock_ns(CLOCK_MONOTONIC) +
         queue_of(cq).current_timestamp();
}

std::uint8_t read_dlid_path_bits(ibv_cq_ex* cq) { return entry_of(cq).dlid_path_bits; }

}  // namespace

int sroce_offer_polling(sroce_cq_object* object, std::uint64_t wc_flags) {
  constexpr std::uint64_t supported = IBV_WC_STANDARD_FLAGS | IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                                      IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK;
  if (wc_flags & ~supported) return EOPNOTSUPP;
  ibv_cq_ex& cq = object->base;
  cq.start_poll = start_poll;
  cq.next_poll = next_poll;
  cq.end_poll = end_poll;
  cq.read_opcode = read_opcode;
  cq.read_vendor_err = read_vendor_err;
  cq.read_wc_flags = read_wc_flags;
  if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN) cq.read_byte_len = read_byte_len;
  if (wc_flags & IBV_WC_EX_WITH_IMM) cq.read_imm_data = read_imm_data;
  if (wc_flags & IBV_WC_EX_WITH_QP_NUM) cq.read_qp_num = read_qp_num;
  if (wc_flags & IBV_WC_EX_WITH_SRC_QP) cq.read_src_qp = read_src_qp;
  if (wc_flags & IBV_WC_EX_WITH_SLID) cq.read_slid = read_slid;
  if (wc_flags & IBV_WC_EX_WITH_SL) cq.read_sl = read_sl;
  if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS) cq.read_dlid_path_bits = read_dlid_path_bits;
  if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP) cq.read_completion_ts = read_completion_ts;
  if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
    cq.read_completion_wallclock_ns = read_wallclock;
  return 0;
}
