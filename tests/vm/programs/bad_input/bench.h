// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The environment of the bad-input rows: two devices in one process (they may be the same), and a
// witness pair of QPs that must still transfer correct data after each row.
#pragma once

#include <memory>
#include <string>

#include "harness/tap.h"
#include "verbs/endpoint.h"
#include "verbs/transfer.h"

namespace bad_input {

// The layer that must reject the input: the provider library, the RDMA core, or the driver; or the
// wire, which means an error completion.
enum class Layer { provider, core, driver, wire };

const char* layer_name(Layer layer);

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

  // Throws Failure unless every kind of transfer works between the witness QPs.
  void check_witness();

  // Runs a row as a case, and then checks the witness.
  void run(harness::Tap& tap, Layer layer, const std::string& name,
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

inline constexpr auto wait_limit = std::chrono::seconds(20);

void run_modify_rows(Bench& bench, harness::Tap& tap);
void run_object_rows(Bench& bench, harness::Tap& tap);
void run_post_rows(Bench& bench, harness::Tap& tap);
void run_wire_rows(Bench& bench, harness::Tap& tap);
void run_ring_rows(Bench& bench, harness::Tap& tap);
void run_flush_rows(Bench& bench, harness::Tap& tap);
void run_overflow_rows(Bench& bench, harness::Tap& tap);

}  // namespace bad_input
