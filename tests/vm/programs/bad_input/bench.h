// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// What every row of the bad-input tables works with: two devices (or one, twice) in one process,
// and a witness pair of QPs that must still move correct data after each row.
#pragma once

#include <memory>
#include <string>

#include "harness/tap.h"
#include "verbs/endpoint.h"
#include "verbs/transfer.h"

namespace bad_input {

// Who is to refuse: the provider library, the RDMA core, the driver, or the wire (a completion in
// error).
enum class RejectingQueue { provider, core, driver, wire };

const char* refuser_name(RejectingQueue refuser);

class Bench {
 public:
  Bench(const verbs::Context& near, int near_gid, const verbs::Context& far, int far_gid,
        std::uint64_t seed, std::string skip);

  const verbs::Context& near() const { return near_; }
  const verbs::Context& far() const { return far_; }
  int near_gid() const { return near_gid_; }
  int far_gid() const { return far_gid_; }
  verbs::LinkOptions link() const;

  std::unique_ptr<verbs::Endpoint> make_near(const verbs::EndpointOptions& options);
  std::unique_ptr<verbs::Endpoint> make_far(const verbs::EndpointOptions& options);

  // Failure unless the witness pair moves every kind of transfer correctly.
  void check_witness();

  // Runs a row as a case and the witness after it.
  void run(harness::Tap& tap, RejectingQueue refuser, const std::string& name,
           const std::function<void()>& row);

  std::uint64_t next_seed() { return harness::mix(seed_ + ++seeds_used_); }

 private:
  const verbs::Context& near_;
  int near_gid_;
  const verbs::Context& far_;
  int far_gid_;
  std::uint64_t seed_;
  std::string skip_;
  std::uint64_t seeds_used_ = 0;
  std::unique_ptr<verbs::Endpoint> witness_near_;
  std::unique_ptr<verbs::Endpoint> witness_far_;
};

inline constexpr auto patience = std::chrono::seconds(20);

void run_modify_rows(Bench& bench, harness::Tap& tap);
void run_object_rows(Bench& bench, harness::Tap& tap);
void run_post_rows(Bench& bench, harness::Tap& tap);
void run_wire_rows(Bench& bench, harness::Tap& tap);
void run_ring_rows(Bench& bench, harness::Tap& tap);
void run_flush_rows(Bench& bench, harness::Tap& tap);
void run_overflow_rows(Bench& bench, harness::Tap& tap);

}  // namespace bad_input
