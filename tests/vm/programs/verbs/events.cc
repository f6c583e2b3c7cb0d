// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "verbs/events.h"

#include "harness/failure.h"

namespace verbs {
namespace {

constexpr auto timeout = std::chrono::seconds(20);
constexpr auto quiet = std::chrono::milliseconds(100);

const void* object_of(const ibv_async_event& event) {
  switch (event.event_type) {
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_DEVICE_FATAL:
      return nullptr;
    default:
      // The union's members are pointers to objects.
      return event.element.qp;
  }
}

}  // namespace

bool Events::read_one(harness::Deadline deadline) {
  const auto event = context_.wait_async(deadline);
  if (!event) return false;
  seen_[{event->event_type, object_of(*event)}]++;
  return true;
}

int Events::count(ibv_event_type type, const void* object) {
  while (read_one(harness::Deadline::after(quiet))) {
  }
  return seen_[{type, object}];
}

void Events::wait_for(ibv_event_type type, const void* object, int wanted) {
  const auto deadline = harness::Deadline::after(timeout);
  while (seen_[{type, object}] < wanted)
    harness::expect(read_one(deadline), "no event ", ibv_event_type_str(type));
}

}  // namespace verbs
