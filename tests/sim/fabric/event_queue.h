// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Events in order of time. Events at the same time keep the order in which they were scheduled.
#ifndef TESTS_SIM_FABRIC_EVENT_QUEUE_H
#define TESTS_SIM_FABRIC_EVENT_QUEUE_H

#include <queue>
#include <vector>

#include "sim/fabric/packet.h"

namespace fabric {

enum class EventKind : u8 {
  at_switch,  // packet @index
  at_host,    // packet @index
  transmit,   // host @index: its NIC has room again
  timer,      // host @index: a deadline may have expired
  start,      // flow @index begins
  warm,       // measurement begins
  sample,     // sample fairness
  end,
};

struct Event {
  Ns time_ns;
  u64 number;
  EventKind kind;
  u32 index;

  bool operator>(const Event& other) const {
    return time_ns != other.time_ns ? time_ns > other.time_ns : number > other.number;
  }
};

class EventQueue {
 public:
  void push(Ns time_ns, EventKind kind, u32 index = 0) {
    events_.push({time_ns, number_++, kind, index});
  }
  Event pop() {
    const Event event = events_.top();
    events_.pop();
    return event;
  }
  bool empty() const { return events_.empty(); }

 private:
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  u64 number_ = 0;
};

}  // namespace fabric

#endif
