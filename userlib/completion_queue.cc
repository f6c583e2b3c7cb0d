// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "completion_queue.h"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>

namespace sroce {

namespace {

ibv_wc completion_of(const ib_uverbs_wc& entry) {
  ibv_wc wc{};
  wc.wr_id = entry.wr_id;
  wc.status = static_cast<ibv_wc_status>(entry.status);
  wc.opcode = static_cast<ibv_wc_opcode>(entry.opcode);
  wc.vendor_err = entry.vendor_err;
  wc.byte_len = entry.byte_len;
  // Immediate data, or the invalidated R_Key in the same 32 bits.
  wc.imm_data = entry.ex.imm_data;
  wc.qp_num = entry.qp_num;
  wc.src_qp = entry.src_qp;
  wc.wc_flags = entry.wc_flags;
  wc.pkey_index = entry.pkey_index;
  wc.slid = entry.slid;
  wc.sl = entry.sl;
  wc.dlid_path_bits = entry.dlid_path_bits;
  return wc;
}

}  // namespace

CompletionQueue::CompletionQueue(Mapping memory, ConsumerRing<ib_uverbs_wc> ring,
                                 bool single_threaded, const PollBackoff::Cpu* cpu)
    : memory_(std::move(memory)),
      ring_(ring),
      poll_backoff_(cpu),
      lock_(single_threaded),
      arming_(single_threaded) {}

std::unique_ptr<CompletionQueue> CompletionQueue::open(int fd, const mminfo& where,
                                                       bool single_threaded,
                                                       const PollBackoff::Cpu* cpu) {
  std::optional<Mapping> memory = Mapping::map(fd, where);
  if (!memory) return nullptr;
  const auto ring = ConsumerRing<ib_uverbs_wc>::open(memory->memory());
  if (!ring) {
    errno = EPROTO;
    return nullptr;
  }
  std::unique_ptr<CompletionQueue> cq(
      new (std::nothrow) CompletionQueue(std::move(*memory), *ring, single_threaded, cpu));
  if (!cq) errno = ENOMEM;
  return cq;
}

/// To be called after a poll that found nothing. @p poll returns a value that is true if it found
/// something.
template <typename Poll>
auto CompletionQueue::poll_again(Poll poll) -> decltype(poll()) {
  if (!doorbells_.is_empty()) {
    doorbells_.ring_idle();
    if (const auto found = poll()) return found;
  }
  if (!poll_backoff_.should_yield()) return {};
  const std::uint64_t duration = poll_backoff_.yield();
  const auto found = poll();
  poll_backoff_.yielded(duration, static_cast<bool>(found));
  return found;
}

std::size_t CompletionQueue::poll(std::span<ibv_wc> completions) {
  std::size_t count = take(completions);
  if (!count) count = poll_again([&] { return take(completions); });
  if (count) poll_backoff_.found();
  return count;
}

const ib_uverbs_wc* CompletionQueue::oldest() {
  unreleased_ = ring_.pending() ? 1 : 0;
  current_ = unreleased_ ? &ring_.peek(0) : nullptr;
  return current_;
}

/// Returns with the lock held unless the ring is empty.
const ib_uverbs_wc* CompletionQueue::lock_oldest() {
  lock_.lock();
  const ib_uverbs_wc* found = oldest();
  if (found)
    poller_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  else
    lock_.unlock();
  return found;
}

const ib_uverbs_wc* CompletionQueue::start_poll() {
  const ib_uverbs_wc* found = lock_oldest();
  if (!found) found = poll_again([this] { return lock_oldest(); });
  if (found) poll_backoff_.found();
  return found;
}

const ib_uverbs_wc* CompletionQueue::next_poll() {
  if (unreleased_) ring_.release(unreleased_);
  return oldest();
}

void CompletionQueue::end_poll() {
  if (unreleased_) ring_.release(unreleased_);
  unreleased_ = 0;
  poller_.store({}, std::memory_order_relaxed);
  lock_.unlock();
}

void CompletionQueue::discard(std::uint32_t qp_num) {
  const auto is_of_qp = [=](const ib_uverbs_wc& entry) { return entry.qp_num == qp_num; };
  // This thread has locked the queue, and reads its oldest entry.
  if (poller_.load(std::memory_order_relaxed) == std::this_thread::get_id()) {
    unreleased_ += ring_.remove_if(unreleased_, is_of_qp);
    return;
  }
  const std::lock_guard guard(lock_);
  ring_.release(ring_.remove_if(0, is_of_qp));
}

void CompletionQueue::arm(bool solicited_only) {
  // From here on, posts ring at once. ring_all() rings for earlier ones.
  doorbells_.set_armed(true);
  {
    const std::lock_guard guard(arming_);
    ring_.arm(solicited_only);
  }
  doorbells_.ring_all();
}

std::size_t CompletionQueue::take(std::span<ibv_wc> completions) {
  const std::lock_guard guard(lock_);
  const auto count =
      static_cast<std::uint32_t>(std::min<std::size_t>(ring_.pending(), completions.size()));
  for (std::uint32_t i = 0; i < count; i++) completions[i] = completion_of(ring_.peek(i));
  if (count) ring_.release(count);
  return count;
}

int CompletionQueue::remap(int fd, const mminfo& where) {
  std::optional<Mapping> memory = Mapping::map(fd, where);
  if (!memory) return errno;
  const auto ring = ConsumerRing<ib_uverbs_wc>::open(memory->memory());
  if (!ring) return EPROTO;
  memory_ = std::move(*memory);
  ring_ = *ring;
  return 0;
}

}  // namespace sroce
