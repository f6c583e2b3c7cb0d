// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A test between two processes, each with one device: who initiates, what both devices can do, how
// connections are made. The client decides all parameters; the server learns them when they meet.
#pragma once

#include <memory>
#include <string>

#include "harness/args.h"
#include "harness/duet.h"
#include "verbs/endpoint.h"
#include "verbs/transfer.h"

namespace verbs {

// Parsed from the command line of the client and sent to the server.
struct SessionOptions {
  std::uint64_t seed = 1;
  std::uint64_t patience_s = 60;
  std::uint64_t timeout = 14;
  std::uint64_t retry = 7;
  bool no_atomics = false;
  char skip[512] = {};  // parts of case names, separated by commas
};

// What both devices can do.
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
  // `--server` or `--client HOST`, `--dev`, `--gid`, `--port`, `--seed`, `--patience`, `--timeout`,
  // `--retry`,
  // `--no-atomics`, `--skip TEXT[,TEXT]...`: cases not to run, by parts of their names.
  Session(harness::Args& args, harness::Tap& tap);

  bool is_client() const { return is_client_; }
  // Which side posts the requests of the current case.
  void set_initiator(bool client_initiates) { client_initiates_ = client_initiates; }
  bool is_initiator() const { return is_client_ == client_initiates_; }

  // A case that both sides run; see Duet::run.
  void run(const std::string& name, const std::function<void()>& body);
  std::string direction() const {
    return client_initiates_ ? ", client initiates" : ", server initiates";
  }

  harness::Duet& duet() { return *duet_; }
  const Context& context() const { return *context_; }
  int gid_index() const { return gid_index_; }
  const Common& common() const { return common_; }
  std::uint64_t seed() const { return options_.seed; }
  std::chrono::seconds patience() const { return std::chrono::seconds(options_.patience_s); }
  ExecuteOptions execute_options() const { return {patience(), 0}; }
  // Differs from call to call and is the same on both sides, whatever happened in earlier cases.
  std::uint64_t next_seed() { return harness::mix(options_.seed + (cases_ << 32) + ++seeds_used_); }

  LinkOptions default_link() const;
  EndpointOptions default_endpoint(std::size_t arena_bytes) const;
  std::unique_ptr<Endpoint> make_endpoint(const EndpointOptions& options);
  // Exchanges addresses, connects, and returns when both sides are connected. A link with rd_atomic
  // 0 gets the most that both devices can do.
  void connect(Endpoint& end, LinkOptions link);
  std::unique_ptr<Endpoint> connected(std::size_t arena_bytes, const LinkOptions& link);

  PlanLimits plan_limits() const;
  // The initiator's or the target's half of a plan, with the syncs between.
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
