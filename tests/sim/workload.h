// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The work of one epoch in one direction: work requests, their memory, and their expected outcome.
#ifndef TESTS_SIM_WORKLOAD_H
#define TESTS_SIM_WORKLOAD_H

#include <vector>

#include "sim/conversation.h"
#include "sim/memory.h"
#include "sim/rng.h"
#include "sim/scenario.h"

namespace sim {

// The regions of one host.
struct Regions {
  Region* source;                  // local data to send
  Region* target;                  // local buffers to receive into: LOCAL_WRITE
  Region* window;                  // the peer may write and read
  Region* readable;                // the peer may read
  Region* counters;                // the peer may do atomics
  Region* hidden;                  // the peer has no access
  std::vector<Region*> revocable;  // their keys may be invalidated
};

Regions make_regions(Rng& rng, const Scenario& scenario, Memory& memory);
// A scatter/gather list of at most @max_sge elements, for @length bytes carved from @region.
std::vector<sroce_sge> make_list(Rng& rng, Memory& memory, Region& region, u32 length, u32 max_sge);
// A key that no region has.
u32 unknown_key(Rng& rng, const Memory& memory);

class Workload {
 public:
  Workload(Rng& rng, const Scenario& scenario, int requester, Memory& local, Memory& remote,
           Regions& ours, Regions& theirs)
      : rng_(rng),
        scenario_(scenario),
        side_(scenario.side[requester]),
        local_(local),
        remote_(remote),
        ours_(ours),
        theirs_(theirs) {}

  // plan() chooses requests and sizes while regions still grow. compute_contents() chooses their
  // contents once both memories are sealed.
  void plan(Conversation& conversation);
  void compute_contents(Conversation& conversation);

 private:
  enum class Flaw;

  SendWork make_work();
  u32 random_length();
  u8 random_flags(const SendWork& work);
  void make_local_buffer(SendWork& work);
  void make_write(SendWork& work);
  void make_read(SendWork& work);
  void make_atomic(SendWork& work);
  void make_flush(SendWork& work);
  void make_local_operation(SendWork& work);
  void choose_invalidated_key(SendWork& work);
  void add_flaw(SendWork& work);
  bool use_revoked_window(SendWork& work);
  bool try_flaw(SendWork& work, Flaw flaw);
  void add_receive(SendWork& work, int send_index);
  void compute_data(Conversation& conversation, SendWork& work);
  void compute_read_data(Conversation& conversation, SendWork& work);

  Rng& rng_;
  const Scenario& scenario_;
  const Side& side_;
  Memory& local_;
  Memory& remote_;
  Regions& ours_;
  Regions& theirs_;
  std::vector<SendWork> sends_;
  std::vector<RecvWork> recvs_;
  std::vector<u64> counters_;
  std::vector<Region*> revoked_;
  bool receive_too_small_ = false;
  bool receive_bad_key_ = false;
};

}  // namespace sim

#endif
