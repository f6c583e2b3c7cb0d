// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// Plays a script on a fresh QP of one device, and writes down what the device does.
#pragma once

#include <functional>
#include <memory>
#include <set>

#include "packet_script/device.h"

namespace packet_script {

using wire::Opcode;

using Transcript = std::vector<std::string>;

struct Setup {
  ibv_qp_type type = IBV_QPT_RC;
  ibv_qp_state state = IBV_QPS_RTS;
  std::uint32_t psn = 0x100000;  // the first in both directions
  ibv_mtu mtu = IBV_MTU_256;
  std::uint8_t dest_rd_atomic = 4;
  std::uint8_t rd_atomic = 4;
  std::uint8_t timeout = 0;  // none
  std::uint8_t retry_cnt = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t min_rnr_timer = 1;
  unsigned access = verbs::LinkOptions{}.access;
  bool shows_migration = false;
  bool shows_events = false;  // asynchronous ones, in some scripts only: rdma_rxe has few
};

// A request of the peer. PSNs are relative to the first one.
struct Request {
  Opcode op;
  int psn;
  std::size_t bytes = 0;
  std::size_t offset = 0;                              // in the region
  std::optional<std::uint32_t> length = std::nullopt;  // in the RETH; else that of the payload
  Key key = Key::all;
  std::uint32_t word = 0x11223344;  // ImmDt, IETH
  std::uint64_t swap_or_add = 1;
  std::uint64_t compare = 0;
  bool wants_ack = true;
  bool is_solicited = false;
  bool is_migrated = true;
  std::uint8_t congestion = 0;  // FECN, BECN
  std::uint8_t tos = 0;
  std::uint16_t pkey = 0xffff;
  std::optional<std::uint8_t> pad = std::nullopt;
  std::uint8_t version = 0;
  std::uint32_t qkey = 0x1234;  // UD
  bool is_late = false;         // the answer may wait for a timer
  bool is_again = false;        // the MSN of the answer may be that of the first answer or of now
};

// A work request of the device's consumer.
struct Work {
  ibv_wr_opcode op;
  std::uint32_t bytes = 0;
  unsigned flags = IBV_SEND_SIGNALED;
};

// A response of the peer.
struct Response {
  Opcode op = Opcode::acknowledge;
  int psn = 0;
  std::uint8_t syndrome = 0x1f;
  std::uint32_t msn = 0;
  std::size_t bytes = 0;
  std::uint64_t original = 0;
  bool repeats = false;  // it asks for requests to be sent again
};

class Player {
 public:
  // A later attempt waits longer for what the device may do later.
  Player(Device& device, const Setup& setup, int attempt);

  // The responder.
  void receive(std::size_t bytes, Key key = Key::local_only);
  void send(const Request& request) { burst({request}); }
  // Only the last of several ACKs counts, because a responder may coalesce them (IBTA 9.7.5). In a
  // burst, an ACK also replaces a sequence NAK.
  void burst(std::vector<Request> requests);

  // The requester.
  void post(const std::vector<Work>& works);
  void respond(const Response& response) { respond_all({response}); }
  void respond_all(std::vector<Response> responses);
  // Nobody answers until so many requests have completed, or the script fails.
  void stay_silent(std::size_t completions);
  // Nobody answers until a request is sent again.
  void await_repeat();

  void move_to(ibv_qp_state state);

  Transcript finish();

 private:
  void connect(const Setup& setup);
  void fill_arena();
  void post_one(const Work& work);
  void settle(bool is_late);
  void poll();
  void log_responses(const std::vector<Parsed>& responses, bool is_burst);
  void log_requests(const std::vector<Parsed>& requests, bool repeats);
  void log_memory();
  void log_events();
  void log(const std::string& line) { transcript_.push_back(line); }
  wire::Bytes build(const Request& request) const;
  wire::Bytes build(const Response& response) const;
  std::string text(const Request& request) const;
  Names names() const { return {setup_.psn, setup_.shows_migration, hides_msn_}; }

  Device& device_;
  Setup setup_;
  int attempt_;
  std::uint32_t peer_qpn_;
  verbs::Cq send_cq_;
  verbs::Cq recv_cq_;
  std::unique_ptr<verbs::Qp> qp_;
  std::uint64_t receives_ = 0;
  std::uint64_t sends_ = 0;
  std::size_t completions_ = 0;
  bool hides_msn_ = false;
  std::set<std::string> seen_;  // requests that have been sent before
  Transcript transcript_;
};

// A named sequence of steps.
struct Script {
  std::string name;
  Setup setup;
  std::function<void(Player&)> play;
};

Transcript play(Device& device, const Script& script, int attempt);

}  // namespace packet_script
