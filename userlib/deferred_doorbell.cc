// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "deferred_doorbell.h"

#include <algorithm>

namespace sroce {

void DoorbellList::push(Entry& entry) {
  Entry* head = head_.load(std::memory_order_relaxed);
  do {
    entry.next = head;
  } while (!head_.compare_exchange_weak(head, &entry));
}

void DoorbellList::add(Entry& entry) {
  // Whoever finds it listed has been seen by the one who takes it out: see ring_all().
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

void DoorbellList::ring_where_idle() {
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
    // First out of the list, then the question whether it is due: a poster says that it is due,
    // then looks whether it is listed.
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

int DeferredDoorbell::tell() {
  // A guess, to be sure of below.
  if (!may_defer(std::memory_order_relaxed)) return ring();
  due_.store(true);
  for (DoorbellList::Entry& entry : entries_) entry.list->add(entry);
  // After the request was published and the doorbell listed: the kernel that withdraws its word
  // looks at the ring afterwards, and who is going to sleep at the list.
  if (may_defer(std::memory_order_seq_cst)) return 0;
  return ring();
}

int DeferredDoorbell::ring() {
  if (due_.load(std::memory_order_relaxed)) due_.exchange(false);
  return doorbell_.ring();
}

void DeferredDoorbell::ring_if_due() {
  // What was published before it became due is seen from here on.
  if (due_.exchange(false) && ring_.unfetched()) doorbell_.ring();
}

bool DeferredDoorbell::can_wait() const {
  const std::uint32_t waiting = ring_.unfetched();
  return waiting && due_.load() && waiting * 4 < ring_.unfinished();
}

void DeferredDoorbell::leave_lists() {
  for (DoorbellList::Entry& entry : entries_) entry.list->remove(entry);
}

}  // namespace sroce
