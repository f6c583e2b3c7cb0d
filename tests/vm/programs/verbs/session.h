// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A test between two processes, each with one device: the initiator of a case, the capabilities of
// both devices, and connections. The client sends all parameters to the server.
#pragma once

#include <memory>
#include <string>

#include "harness/args.h"
#include "harness/duet.h"
#include "verbs/endpoint.h"
#include "verbs/transfer.h"

namespace verbs {

// Options on the client's command line, which it sends to the server.
struct SessionOptions {
  std::uint64_t seed = 1;
  std::uint64_t wait_limit_s = 60;
  std::uint64_t timeout = 14;
  std::uint64_t retry = 7;
  bool no_atomics = false;
  char skip[512] = {};  // as "rc_verify --help" explains it
};

// Capabilities that both devices have.
struct Common {
  ibv_mtu active_mtu;
  unsigned max_sge;
  unsigned max_inline;
  unsigned rd_atomic;
  bool has_atomics;
  bool has_srq;
  bool has_windows;
  bool has_ud;
};

class Session {
 public:
  // Takes the options of `rc_verify --help` that concern connections, seeds and skipped cases.
  Session(harness::Args& args, harness::Tap& tap);

  bool is_client() const { return is_client_; }
  // Sets the side that posts the requests of the current case.
  void set_initiator(bool client_initiates) { client_initiates_ = client_initiates; }
  bool is_initiator() const { return is_client_ == client_initiates_; }

  // Runs a case on both sides; see Duet::run.
  void run(const std::string& name, const std::function<void()>& body);
  std::string initiator() const { return client_initiates_ ? "client" : "server"; }
  std::string direction() const { return ", " + initiator() + " initiates"; }

  harness::Duet& duet() { return *duet_; }
  const Context& context() const { return *context_; }
  int gid_index() const { return gid_index_; }
  const Common& common() const { return common_; }
  std::uint64_t seed() const { return options_.seed; }
  std::chrono::seconds wait_limit() const { return std::chrono::seconds(options_.wait_limit_s); }
  ExecuteOptions execute_options() const { return {wait_limit(), 0}; }
  // Differs between calls but is the same on both sides, regardless of earlier cases.
  std::uint64_t next_seed() { return harness::mix(options_.seed + (cases_ << 32) + ++seeds_used_); }

  LinkOptions default_link() const;
  EndpointOptions default_endpoint(std::size_t arena_bytes) const;
  std::unique_ptr<Endpoint> make_endpoint(const EndpointOptions& options);
  // Exchanges addresses, connects, and returns when both sides are connected. An rd_atomic of 0
  // means the largest that both devices support.
  void connect(Endpoint& end, LinkOptions link);
  std::unique_ptr<Endpoint> connected(std::size_t arena_bytes, const LinkOptions& link);

  PlanLimits plan_limits() const;
  // Executes the initiator's or the target's part of a plan, with syncs.
  void execute(Endpoint& end, const Plan& plan);
  void execute(Endpoint& end, const Plan& plan, const ExecuteOptions& options);

 private:
  Common find_common();
  bool is_unwanted(const std::string& name) const;

  bool is_client_;
  bool client_initiates_ = true;
  int gid_index_;
  SessionOptions options_;
  std::uint64_t cases_ = 0;
  std::uint64_t seeds_used_ = 0;
  std::unique_ptr<Context> context_;
  std::unique_ptr<harness::Duet> duet_;
  Common common_{};
};

}  // namespace verbs
