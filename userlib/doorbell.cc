// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "doorbell.h"

#include <rdma/ib_user_verbs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace sroce {

namespace {

struct Command {
  ib_uverbs_cmd_hdr header;
  ib_uverbs_post_send body;
};
static_assert(offsetof(Command, body) == 8);
static_assert(sizeof(Command) == 32);
static_assert(sizeof(ib_uverbs_post_send_resp) == 4);

constexpr std::size_t word_bytes = 4;

}  // namespace

int Doorbell::ring() const {
  ib_uverbs_post_send_resp response{};
  Command command{};
  command.header.command = IB_USER_VERBS_CMD_POST_SEND;
  command.header.in_words = sizeof(command) / word_bytes;
  command.header.out_words = sizeof(response) / word_bytes;
  command.body.response = reinterpret_cast<std::uintptr_t>(&response);
  command.body.qp_handle = qp_handle_;
  // No request follows, but uverbs checks the size that one would have.
  command.body.wqe_size = sizeof(ib_uverbs_send_wr);
  // Unlike write(), this is no cancellation point: a thread may hold locks here.
  const long written = syscall(SYS_write, fd_, &command, sizeof(command));
  if (written == sizeof(command)) return 0;
  return written < 0 ? errno : EIO;
}

void DoorbellList::push(Entry& entry) {
  Entry* head = head_.load(std::memory_order_relaxed);
  do {
    entry.next = head;
  } while (!head_.compare_exchange_weak(head, &entry));
}

void DoorbellList::add(Entry& entry) {
  // An entry that is still listed has its doorbell checked later: see ring_all().
  if (!entry.listed.exchange(true)) push(entry);
}

void DoorbellList::remove(Entry& entry) {
  const std::lock_guard guard(ringing_);
  Entry* next;
  for (Entry* each = head_.exchange(nullptr); each; each = next) {
    next = each->next;
    if (each == &entry)
      each->listed.exchange(false);
    else
      push(*each);
  }
}

void DoorbellList::ring_idle() {
  const std::unique_lock guard(ringing_, std::try_to_lock);
  if (!guard) return;
  Entry* next;
  for (Entry* each = head_.exchange(nullptr); each; each = next) {
    next = each->next;
    if (each->doorbell->can_wait()) {
      push(*each);
      continue;
    }
    each->listed.exchange(false);
    each->doorbell->ring_if_due();
  }
}

void DoorbellList::ring_all() {
  const std::lock_guard guard(ringing_);
  Entry* next;
  for (Entry* each = head_.exchange(nullptr); each; each = next) {
    next = each->next;
    // Clear `listed` before checking `due`. A poster sets them in the opposite order, so one of
    // the two threads sees the other's change.
    each->listed.exchange(false);
    each->doorbell->ring_if_due();
  }
}

DeferredDoorbell::DeferredDoorbell(Doorbell doorbell, ProducerRing<sroce_send_slot> ring,
                                   DoorbellList& send, DoorbellList& receive)
    : doorbell_(doorbell), ring_(ring), entries_(storage_.data(), &send == &receive ? 1 : 2) {
  storage_[0].list = &send;
  storage_[1].list = &receive;
  for (DoorbellList::Entry& entry : storage_) entry.doorbell = this;
}

bool DeferredDoorbell::may_defer(std::memory_order order) const {
  return ring_.needs_no_doorbell(order) &&
         std::ranges::none_of(entries_, [order](const DoorbellList::Entry& entry) {
           return entry.list->is_armed(order);
         });
}

int DeferredDoorbell::ring_or_defer() {
  // A cheap check first; the check below decides.
  if (!may_defer(std::memory_order_relaxed)) return ring();
  due_.store(true);
  for (DoorbellList::Entry& entry : entries_) entry.list->add(entry);
  // The request is published and the doorbell listed by now. A kernel that revokes suppression
  // after this check polls the ring, and a thread that arms the CQ after it rings the list.
  if (may_defer(std::memory_order_seq_cst)) return 0;
  return ring();
}

int DeferredDoorbell::ring() {
  if (due_.load(std::memory_order_relaxed)) due_.exchange(false);
  return doorbell_.ring();
}

void DeferredDoorbell::ring_for_receives() {
  if (const int err = doorbell_.ring()) error_.store(err);
}

void DeferredDoorbell::ring_if_due() {
  // The exchange makes all requests visible that were published before the doorbell became due.
  if (!due_.exchange(false) || !ring_.unfetched()) return;
  if (const int err = doorbell_.ring()) error_.store(err);
}

bool DeferredDoorbell::can_wait() const {
  const std::uint32_t unfetched = ring_.unfetched();
  // A fourfold margin: acknowledgements make the kernel poll again well before it runs dry.
  return unfetched && due_.load() && unfetched * 4 < ring_.unfinished();
}

void DeferredDoorbell::leave_lists() {
  for (DoorbellList::Entry& entry : entries_) entry.list->remove(entry);
}

}  // namespace sroce
