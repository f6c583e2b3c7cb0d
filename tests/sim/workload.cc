// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "sim/workload.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sim {

namespace {
constexpr u32 kCounters = 6;
constexpr u32 kRevocable = 4;
constexpr u32 kRevocableWindows = 16;
}  // namespace

// Ways in which a request can be invalid. try_flaw() has the status that each causes.
enum class Workload::Flaw {
  unknown_rkey,
  outside_of_region,
  no_permission,
  misaligned_atomic,
  receive_too_small,
  receive_bad_key,
  bad_lkey,
  sge_sum,
  too_many_sges,
  inline_read,
  unknown_opcode,
  invalidate_unknown,
  local_operation,
  count,
};

Regions make_regions(Rng& rng, const Scenario& scenario, Memory& memory) {
  const u32 placement = SROCE_ACCESS_REMOTE_WRITE | SROCE_ACCESS_FLUSH_GLOBAL;
  Regions regions;
  regions.source = &memory.add(rng, "source", 0);
  regions.target = &memory.add(rng, "target", SROCE_ACCESS_LOCAL_WRITE);
  regions.window =
      &memory.add(rng, "window",
                  SROCE_ACCESS_LOCAL_WRITE | SROCE_ACCESS_REMOTE_WRITE | SROCE_ACCESS_REMOTE_READ);
  regions.readable = &memory.add(rng, "readable", SROCE_ACCESS_REMOTE_READ);
  regions.counters = &memory.add(
      rng, "counters",
      SROCE_ACCESS_LOCAL_WRITE | SROCE_ACCESS_REMOTE_ATOMIC | (scenario.placement ? placement : 0));
  regions.hidden = &memory.add(rng, "hidden", SROCE_ACCESS_LOCAL_WRITE);
  for (u32 i = 0; i < (scenario.revoke ? kRevocableWindows : kRevocable); i++)
    regions.revocable.push_back(
        &memory.add(rng, "revocable", SROCE_ACCESS_LOCAL_WRITE | SROCE_ACCESS_REMOTE_WRITE));
  memory.carve(rng, *regions.hidden, 4096);
  return regions;
}

u32 unknown_key(Rng& rng, const Memory& memory) {
  u32 key;
  do {
    key = static_cast<u32>(rng.next());
  } while (memory.key_in_use(key));
  return key;
}

u32 Workload::random_length() {
  const u32 mtu = scenario_.mtu_bytes;
  const u32 limit = scenario_.max_message_bytes;
  u64 length;
  switch (rng_.below(8)) {
    case 0:
      length = 0;
      break;
    case 1:
      length = rng_.between(1, 16);
      break;
    case 2:
      length = rng_.below(mtu);
      break;
    case 3:
    case 4: {  // around a multiple of the MTU
      const u64 packets = rng_.between(1, 12);
      length = packets * mtu + rng_.below(3) - 1;
      break;
    }
    case 5:
      length = rng_.below(8192);
      break;
    default:
      length = rng_.below(rng_.between(1, limit));
      break;
  }
  return static_cast<u32>(std::min<u64>(length, limit));
}

std::vector<sroce_sge> make_list(Rng& rng, Memory& memory, Region& region, u32 length,
                                 u32 max_sge) {
  std::vector<sroce_sge> list;
  if (!length && rng.chance(0.5)) return list;
  const u32 count = static_cast<u32>(rng.between(1, max_sge));
  u32 left = length;
  for (u32 i = 0; i < count; i++) {
    const u32 part = i + 1 == count ? left : static_cast<u32>(rng.below(left + 1));
    list.push_back({memory.carve(rng, region, part), part, region.key});
    left -= part;
  }
  return list;
}

u8 Workload::random_flags(const SendWork& work) {
  u8 flags = 0;
  if (rng_.chance(0.6)) flags |= SROCE_SEND_SIGNALED;
  if (rng_.chance(0.15)) flags |= SROCE_SEND_FENCE;
  if (rng_.chance(0.2)) flags |= SROCE_SEND_SOLICITED;
  if ((work.is_send() || work.is_write() || work.is_atomic_write()) &&
      work.length <= side_.max_inline && rng_.chance(0.5))
    flags |= SROCE_SEND_INLINE;
  return flags;
}

void Workload::make_local_buffer(SendWork& work) {
  if (work.flags & SROCE_SEND_INLINE) {
    work.inline_data.resize(work.length);
    rng_.fill(work.inline_data);
    return;
  }
  // The purpose of a fence: send the data that the READ before it has fetched.
  if ((work.flags & SROCE_SEND_FENCE) && !work.is_rd_atomic() && !sends_.empty() &&
      sends_.back().is_rd_atomic() && !sends_.back().is_placement() &&
      sends_.back().expected == kSuccess && rng_.chance(0.8)) {
    work.sge = sends_.back().sge;
    work.length = sends_.back().length;
    return;
  }
  const bool receives = work.is_rd_atomic() && !work.is_placement();
  Region& region = receives ? *ours_.target : *ours_.source;
  work.sge = make_list(rng_, local_, region, work.length, side_.max_sge);
}

void Workload::make_write(SendWork& work) {
  Region* region = theirs_.window;
  // The next one to be revoked, in most cases.
  if (scenario_.revoke && !theirs_.revocable.empty() && rng_.chance(0.7))
    region = rng_.chance(0.8) ? theirs_.revocable.back()
                              : theirs_.revocable[rng_.below(theirs_.revocable.size())];
  work.remote_addr = remote_.carve(rng_, *region, work.length);
  work.rkey = region->key;
}

void Workload::make_read(SendWork& work) {
  Region* region = theirs_.readable;
  work.remote_addr = 0;
  // Read back the data of an earlier WRITE.
  if (work.length && rng_.chance(0.4)) {
    for (size_t tries = 0; tries < 4 && !sends_.empty(); tries++) {
      const SendWork& earlier = sends_[rng_.below(sends_.size())];
      if (!earlier.is_write() || !earlier.length || earlier.expected != kSuccess ||
          earlier.rkey != theirs_.window->key)
        continue;
      region = theirs_.window;
      work.length = static_cast<u32>(rng_.between(1, earlier.length));
      work.remote_addr = earlier.remote_addr + rng_.below(earlier.length - work.length + 1);
      break;
    }
  }
  if (region == theirs_.readable) work.remote_addr = remote_.carve(rng_, *region, work.length);
  work.rkey = region->key;
}

void Workload::make_atomic(SendWork& work) {
  work.remote_addr = counters_[rng_.below(counters_.size())];
  work.rkey = theirs_.counters->key;
  work.compare_add = rng_.next();
  work.swap = rng_.next();
  work.length = 8;
}

// The length is that of the range, not that of a message.
void Workload::make_flush(SendWork& work) {
  make_atomic(work);
  work.length = 0;
  work.flush_bytes = static_cast<u32>(rng_.below(9));
  work.placement = SROCE_FLUSH_GLOBAL;
  work.level = static_cast<u8>(rng_.below(2));
}

void Workload::make_local_operation(SendWork& work) {
  static constexpr u8 kOperations[] = {SROCE_WR_LOCAL_INV, SROCE_WR_REG_MR};
  work.opcode = rng_.pick(kOperations);
  work.length = 0;
}

// Each revocable key is invalidated once. When none is left, the request becomes a plain SEND.
void Workload::choose_invalidated_key(SendWork& work) {
  if (theirs_.revocable.empty()) {
    work.opcode = SROCE_WR_SEND;
    return;
  }
  work.inv_rkey = theirs_.revocable.back()->key;
  revoked_.push_back(theirs_.revocable.back());
  theirs_.revocable.pop_back();
}

SendWork Workload::make_work() {
  static constexpr u8 kOpcodes[] = {SROCE_WR_SEND,      SROCE_WR_SEND,         SROCE_WR_SEND_IMM,
                                    SROCE_WR_SEND_INV,  SROCE_WR_WRITE,        SROCE_WR_WRITE,
                                    SROCE_WR_WRITE_IMM, SROCE_WR_READ,         SROCE_WR_READ,
                                    SROCE_WR_READ,      SROCE_WR_COMPARE_SWAP, SROCE_WR_FETCH_ADD,
                                    SROCE_WR_FETCH_ADD, SROCE_WR_LOCAL_INV};
  SendWork work;
  work.wr_id = rng_.next();
  work.opcode = rng_.pick(kOpcodes);
  if (scenario_.placement && rng_.chance(0.33))
    work.opcode = rng_.chance(0.5) ? SROCE_WR_FLUSH : SROCE_WR_ATOMIC_WRITE;
  if (scenario_.revoke && rng_.chance(0.15)) work.opcode = SROCE_WR_SEND_INV;
  work.length = random_length();
  work.imm = static_cast<u32>(rng_.next());
  if (work.is_local()) make_local_operation(work);
  if (work.opcode == SROCE_WR_SEND_INV) choose_invalidated_key(work);
  if (work.is_read()) make_read(work);
  if (work.is_atomic() || work.is_atomic_write()) make_atomic(work);
  if (work.opcode == SROCE_WR_FLUSH) make_flush(work);
  work.flags = random_flags(work);
  if (!work.is_local()) make_local_buffer(work);
  if (work.is_write()) make_write(work);
  return work;
}

// Makes @work invalid and sets the expected outcome. Returns false if @flaw does not apply to it.
bool Workload::try_flaw(SendWork& work, Flaw flaw) {
  const bool remote_memory = work.is_write() || work.is_rd_atomic();
  const auto fail_locally = [&](u8 status) {
    work.expected = status;
    work.fails_locally = true;
    return true;
  };
  switch (flaw) {
    case Flaw::unknown_rkey:
      if (!remote_memory || !work.length) return false;
      work.rkey = unknown_key(rng_, remote_);
      work.expected = SROCE_WC_REM_ACCESS_ERR;
      return true;
    case Flaw::outside_of_region:
      if (!remote_memory || !work.range_bytes() || work.is_atomic() || work.is_atomic_write())
        return false;
      work.expected = SROCE_WC_REM_ACCESS_ERR;
      work.remote_addr = 0;  // chosen once the region has its final size
      return true;
    case Flaw::no_permission:
      if (!remote_memory || !work.length) return false;
      work.rkey = theirs_.hidden->key;
      work.remote_addr = (theirs_.hidden->iova + 64 + 7) & ~u64{7};
      work.expected = SROCE_WC_REM_ACCESS_ERR;
      return work.length < 2048;
    case Flaw::misaligned_atomic:
      if (!work.is_atomic() && !work.is_atomic_write()) return false;
      work.remote_addr += rng_.between(1, 7);
      work.expected = SROCE_WC_REM_INV_REQ_ERR;
      return true;
    case Flaw::receive_too_small:
      if (!work.is_send() || !work.length) return false;
      work.expected = SROCE_WC_REM_INV_REQ_ERR;
      return receive_too_small_ = true;
    case Flaw::receive_bad_key:
      if (!work.is_send() || !work.length) return false;
      work.expected = SROCE_WC_REM_OP_ERR;
      return receive_bad_key_ = true;
    case Flaw::bad_lkey: {
      if (work.sge.empty() || !work.length || work.is_local()) return false;
      auto longest = std::max_element(work.sge.begin(), work.sge.end(),
                                      [](auto& a, auto& b) { return a.length < b.length; });
      longest->lkey = unknown_key(rng_, local_);
      return fail_locally(SROCE_WC_LOC_PROT_ERR);
    }
    case Flaw::sge_sum:
      if (work.sge.empty() || work.is_local()) return false;
      work.length++;
      return fail_locally(SROCE_WC_LOC_LEN_ERR);
    case Flaw::too_many_sges:
      if (work.is_local() || (work.flags & SROCE_SEND_INLINE)) return false;
      work.sge.resize(side_.max_sge + 1, sroce_sge{ours_.source->iova, 0, ours_.source->key});
      return fail_locally(SROCE_WC_LOC_QP_OP_ERR);
    case Flaw::inline_read:
      if (!work.is_read()) return false;
      work.flags |= SROCE_SEND_INLINE;
      return fail_locally(SROCE_WC_LOC_QP_OP_ERR);
    case Flaw::unknown_opcode:
      work.opcode = 0x55;
      return fail_locally(SROCE_WC_LOC_QP_OP_ERR);
    case Flaw::invalidate_unknown:
      if (work.opcode != SROCE_WR_SEND_INV) return false;
      work.inv_rkey = unknown_key(rng_, remote_);
      work.expected = SROCE_WC_REM_ACCESS_ERR;
      return true;
    case Flaw::local_operation:
      if (!work.is_local()) return false;
      work.local_status = SROCE_WC_LOC_QP_OP_ERR;
      return fail_locally(SROCE_WC_LOC_QP_OP_ERR);
    case Flaw::count:
      break;
  }
  return false;
}

// A WRITE to a window that an earlier SEND has invalidated.
bool Workload::use_revoked_window(SendWork& work) {
  if (!work.is_write() || !work.length || revoked_.empty()) return false;
  Region& region = *revoked_[rng_.below(revoked_.size())];
  work.remote_addr = remote_.carve(rng_, region, work.length);
  work.rkey = region.key;
  work.expected = SROCE_WC_REM_ACCESS_ERR;
  return true;
}

void Workload::add_flaw(SendWork& work) {
  if (scenario_.revoke && use_revoked_window(work)) return;
  for (u32 tries = 0; tries < 20; tries++) {
    SendWork changed = work;
    receive_too_small_ = receive_bad_key_ = false;
    const auto flaw = static_cast<Flaw>(rng_.below(static_cast<u64>(Flaw::count)));
    if (!try_flaw(changed, flaw)) continue;
    work = std::move(changed);
    return;
  }
  receive_too_small_ = receive_bad_key_ = false;
}

void Workload::add_receive(SendWork& work, int send_index) {
  RecvWork recv;
  recv.wr_id = rng_.next();
  recv.send_index = send_index;
  work.recv_index = static_cast<int>(recvs_.size());
  u32 length = work.is_send() ? work.length : 0;
  if (rng_.chance(0.5)) length += static_cast<u32>(rng_.below(300));
  if (std::exchange(receive_too_small_, false)) {
    length = static_cast<u32>(rng_.below(work.length));
    recv.expected = SROCE_WC_LOC_LEN_ERR;
  }
  recv.length = length;
  recv.sge = make_list(rng_, remote_, *theirs_.target, length, 4);
  if (work.opcode == SROCE_WR_SEND_INV && work.expected == SROCE_WC_REM_ACCESS_ERR)
    recv.expected = SROCE_WC_REM_INV_REQ_ERR;
  if (std::exchange(receive_bad_key_, false)) {
    for (sroce_sge& element : recv.sge) element.lkey = unknown_key(rng_, remote_);
    recv.expected = SROCE_WC_LOC_PROT_ERR;
  }
  recvs_.push_back(std::move(recv));
}

void Workload::plan(Conversation& conversation) {
  u64 volume = 0;
  for (u32 i = 0; i < kCounters; i++)
    counters_.push_back(remote_.carve(rng_, *theirs_.counters, 8, 8));
  const u32 flawed = rng_.chance(scenario_.flaw) ? static_cast<u32>(rng_.below(scenario_.messages))
                                                 : scenario_.messages;
  for (u32 i = 0; i < scenario_.messages && volume < scenario_.volume_bytes; i++) {
    SendWork work = make_work();
    if (i == flawed) add_flaw(work);
    if (work.consumes_receive()) add_receive(work, static_cast<int>(i));
    volume += work.length;
    sends_.push_back(std::move(work));
  }
  // A few receives that no message consumes.
  SendWork nothing;
  nothing.opcode = SROCE_WR_WRITE_IMM;
  for (u64 extra = rng_.below(3); extra; extra--) add_receive(nothing, -1);
  conversation.sends = std::move(sends_);
  conversation.recvs = std::move(recvs_);
}

void Workload::compute_read_data(Conversation& conversation, SendWork& work) {
  work.data.resize(work.length);
  remote_.read(work.rkey, work.remote_addr, work.data, SROCE_ACCESS_REMOTE_READ);
  // Memory does not have the data of earlier WRITEs yet.
  for (const SendWork& earlier : conversation.sends) {
    if (&earlier == &work) break;
    if (!earlier.is_write() || earlier.rkey != work.rkey || !earlier.length ||
        earlier.expected != kSuccess)
      continue;
    if (work.remote_addr < earlier.remote_addr ||
        work.remote_addr >= earlier.remote_addr + earlier.length)
      continue;
    std::copy_n(earlier.data.begin() + static_cast<long>(work.remote_addr - earlier.remote_addr),
                work.length, work.data.begin());
  }
}

// Computes the data of @work from that of all earlier requests.
void Workload::compute_data(Conversation& conversation, SendWork& work) {
  if (work.expected == SROCE_WC_REM_ACCESS_ERR && !work.remote_addr && !work.is_send()) {
    const Region& region = *remote_.find(work.rkey);
    const u64 bytes = work.range_bytes(), past = rng_.between(1, std::min<u64>(bytes, 5));
    work.remote_addr = region.iova + region.length - bytes + past;
    if (rng_.chance(0.3) || region.length < bytes) work.remote_addr = region.iova - past;
  }
  if (work.is_local()) return;
  if (work.is_read()) {
    if (work.expected == kSuccess || work.expected == SROCE_WC_LOC_PROT_ERR)
      compute_read_data(conversation, work);
    return;
  }
  if (work.flags & SROCE_SEND_INLINE) {
    work.data = work.inline_data;
    return;
  }
  // Data behind a bad lkey stays undefined, because it is never sent.
  work.data.resize(work.length);
  size_t done = 0;
  for (const sroce_sge& element : work.sge) {
    const std::span<u8> part = std::span(work.data).subspan(done, element.length);
    if (local_.find(element.lkey)) local_.read(element.lkey, element.addr, part, 0);
    done += element.length;
  }
}

void Workload::compute_contents(Conversation& conversation) {
  std::vector<u64> values(counters_.size());
  for (size_t i = 0; i < values.size(); i++)
    remote_.read(theirs_.counters->key, counters_[i], {reinterpret_cast<u8*>(&values[i]), 8}, 0);

  const SendWork* previous = nullptr;
  for (SendWork& work : conversation.sends) {
    const auto found = std::find(counters_.begin(), counters_.end(), work.remote_addr);
    if (work.is_atomic() && found != counters_.end()) {
      u64& value = values[static_cast<size_t>(found - counters_.begin())];
      // Half of the comparisons must succeed.
      if (work.opcode == SROCE_WR_COMPARE_SWAP && rng_.chance(0.5)) work.compare_add = value;
      work.data.resize(8);
      std::memcpy(work.data.data(), &value, 8);
      if (work.opcode == SROCE_WR_FETCH_ADD)
        value += work.compare_add;
      else if (value == work.compare_add)
        value = work.swap;
      work.atomic_result = value;
    } else if (work.is_atomic_write() && found != counters_.end()) {
      compute_data(conversation, work);
      if (work.data.size() == 8)
        std::memcpy(&values[static_cast<size_t>(found - counters_.begin())], work.data.data(), 8);
    } else if (!work.is_atomic()) {
      compute_data(conversation, work);
    }
    // A fenced request may send the data of the READ before it, even if a bad lkey stops it midway.
    if (previous && previous->is_rd_atomic() && !previous->is_placement() && !work.sge.empty() &&
        !previous->sge.empty() && !work.is_rd_atomic() &&
        work.sge[0].lkey == previous->sge[0].lkey && work.sge[0].addr == previous->sge[0].addr)
      work.data = previous->data;
    previous = &work;
  }
}

}  // namespace sim
