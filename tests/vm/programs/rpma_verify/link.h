// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// A connection of librpma, with memory for WRITE and READ, and messages. Both ends use it alike.
#pragma once

#include <librpma.h>

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

namespace rpma_verify {

// Throws Failure if a call has returned an error.
void must(int status, const char* what);

// Counts the objects that cannot be closed.
inline int close_failures = 0;

// A librpma object. The call that makes it writes to out().
template <class T, int (*close)(T**)>
class Handle {
 public:
  Handle() = default;
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (object_ && close(&object_)) ++close_failures;
  }
  T* get() const { return object_; }
  T** out() { return &object_; }

 private:
  T* object_ = nullptr;
};

using Peer = Handle<rpma_peer, rpma_peer_delete>;
using Listener = Handle<rpma_ep, rpma_ep_shutdown>;
using Region = Handle<rpma_mr_local, rpma_mr_dereg>;
using Remote = Handle<rpma_mr_remote, rpma_mr_remote_delete>;
using Settings = Handle<rpma_conn_cfg, rpma_conn_cfg_delete>;
using Request = Handle<rpma_conn_req, rpma_conn_req_delete>;
using Connection = Handle<rpma_conn, rpma_conn_delete>;
using SharedQueue = Handle<rpma_srq, rpma_srq_delete>;

struct End {
  bool is_server;
  std::string address, port;
  Peer peer;
  Listener listener;  // of the server

  End(bool is_server, std::string address, std::string port);
};

// Registered memory
struct Memory {
  std::vector<std::uint8_t> bytes;
  Region region;

  Memory(const End& end, std::size_t size, int usage);
};

void fill(std::uint8_t* bytes, std::size_t length, std::uint64_t seed);
// Throws Failure if a byte is not what fill() writes.
void compare(const std::uint8_t* bytes, std::size_t length, std::uint64_t seed);

inline constexpr std::size_t message_limit = 16384;
inline constexpr unsigned receives = 4;

enum class Queues {
  one,             // one CQ
  two,             // one for sends, one for receives
  two_in_channel,  // the same, which share their completion channel
};

struct LinkOptions {
  std::uint32_t test = 0;  // which must be the same at both ends
  std::size_t bytes = 8;   // of memory for WRITE and READ
  Queues queues = Queues::one;
  rpma_srq* shared = nullptr;
};

class Link {
 public:
  Link(End& end, const LinkOptions& options);

  Memory memory;
  Remote remote;

  rpma_conn* get() const { return connection_.get(); }
  std::uint32_t qp_number() const;

  // Waits for the completion of the oldest request that has none yet.
  void finish(ibv_wc_opcode opcode, ibv_wc_status status = IBV_WC_SUCCESS);

  void send(std::size_t length, std::uint64_t seed);
  void send(std::size_t length, std::uint64_t seed, std::uint32_t immediate);

  // Waits for a message, compares it, and posts its receive again.
  ibv_wc receive(std::size_t length, std::uint64_t seed);
  // Waits for the next completion of a receive, and posts it again.
  ibv_wc receive_any();

  // Ends the connection; the client begins.
  void close(const End& end);

 private:
  void collect(bool receive);
  bool drain(rpma_cq* queue);
  void expect_event(rpma_conn_event event);

  Memory inbox_, outbox_;
  Connection connection_;
  Queues queues_;
  rpma_cq* queue_ = nullptr;
  rpma_cq* receive_queue_ = nullptr;
  std::deque<ibv_wc> sent_, received_;
};

// The completions of receives are told from others by their context.
inline const void* context_of(unsigned slot) {
  return reinterpret_cast<const void*>(std::uintptr_t{slot} + 1);
}
inline unsigned slot_of(const ibv_wc& completion) {
  return static_cast<unsigned>(completion.wr_id - 1);
}

// Takes the next completion of a queue, if there is one.
bool take(rpma_cq* queue, ibv_wc& completion);

}  // namespace rpma_verify
