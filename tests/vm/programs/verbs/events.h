// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#pragma once

#include <chrono>
#include <map>
#include <utility>

#include "harness/deadline.h"
#include "verbs/context.h"

namespace verbs {

// Asynchronous events of a device. The object of a port's or a device's event is nullptr.
class Events {
 public:
  explicit Events(const Context& context) : context_(context) {}

  // How many events of this type for this object have come, after reading all.
  int count(ibv_event_type type, const void* object);
  // Waits until there are `wanted`; a further one is looked for by count().
  void wait_for(ibv_event_type type, const void* object, int wanted);

 private:
  bool read_one(harness::Deadline deadline);

  const Context& context_;
  std::map<std::pair<int, const void*>, int> seen_;
};

}  // namespace verbs
