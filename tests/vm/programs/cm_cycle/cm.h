// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// rdma_cm identifiers and events. Every wait has a deadline.
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>
#include <string>
#include <vector>

#include "harness/deadline.h"
#include "verbs/handle.h"

namespace cm_cycle {

// The private data of both sides.
struct Hello {
  std::uint32_t magic;
  std::uint32_t cycle;
  std::uint32_t wants;  // see Wanted
  std::uint32_t rkey;
  std::uint64_t address;
  std::uint64_t seed;
};

enum Wanted : std::uint32_t { connect_me, reject_me, last_one };

inline constexpr std::uint32_t client_magic = 0x73726f63;
inline constexpr std::uint32_t server_magic = 0x63726f73;
inline constexpr std::uint32_t reject_magic = 0x6e6f6e6f;

struct DestroyId {
  void operator()(rdma_cm_id* id) const {
    verbs::report_close(rdma_destroy_id(id), "rdma_destroy_id");
  }
};
struct DestroyChannel {
  void operator()(rdma_event_channel* channel) const { rdma_destroy_event_channel(channel); }
};

using Id = std::unique_ptr<rdma_cm_id, DestroyId>;

// An event after its acknowledgement.
struct Event {
  rdma_cm_event_type type;
  int status;
  rdma_cm_id* id;
  std::vector<std::uint8_t> private_data;

  // Throws Failure unless the other side has sent a Hello of this kind.
  Hello hello(std::uint32_t magic) const;
};

class EventChannel {
 public:
  EventChannel();

  Id make_id();
  Event next(harness::Deadline deadline, const std::string& what);
  Event expect(rdma_cm_event_type type, harness::Deadline deadline, const std::string& what);

 private:
  std::unique_ptr<rdma_event_channel, DestroyChannel> channel_;
};

}  // namespace cm_cycle
