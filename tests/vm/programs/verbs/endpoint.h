// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// One end of an RC or UC connection, with its protection domain, queues and registered memory.
#pragma once

#include <memory>

#include "harness/random.h"
#include "verbs/memory.h"
#include "verbs/qp.h"

namespace verbs {

// The data that the other end needs, sent over TCP or passed within a process.
struct EndpointInfo {
  QpAddress qp;
  std::uint64_t address;  // of the arena
  std::uint64_t length;
  std::uint32_t rkey;
  std::uint32_t rd_atomic;  // the most READs and atomics this device handles at once
};

struct EndpointOptions {
  QpOptions qp;
  std::size_t arena_bytes = 1 << 20;
  int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
               IBV_ACCESS_REMOTE_ATOMIC;
  // Queues to share with another endpoint; made here if null.
  std::shared_ptr<Pd> pd;
  std::shared_ptr<Cq> send_cq;
  std::shared_ptr<Cq> recv_cq;
};

class Endpoint {
 public:
  Endpoint(const Context& context, int gid_index, const EndpointOptions& options,
           std::uint64_t seed);

  EndpointInfo info() const;
  // Moves the QP from RESET to RTS. `link` is the same at both ends; its GID index is ignored.
  void connect(const EndpointInfo& peer, LinkOptions link);

  // Before the end of the endpoint.
  void destroy_qp() { qp_.reset(); }

  const Context& context() const { return context_; }
  Qp& qp() { return *qp_; }
  const Pd& pd() const { return *pd_; }
  Cq& send_cq() { return *send_cq_; }
  Cq& recv_cq() { return *recv_cq_; }
  std::span<std::byte> arena() const { return arena_.span(); }
  const EndpointInfo& peer() const { return peer_; }

  // The arena is registered twice; neighbouring segments of a message use different keys.
  ibv_sge sge(std::size_t offset, std::size_t length, unsigned registration = 0) const;

  const LinkOptions& link() const { return link_; }
  std::uint32_t psn() const { return psn_; }

 private:
  const Context& context_;
  int gid_index_;
  std::uint32_t psn_;
  std::shared_ptr<Pd> pd_;
  std::shared_ptr<Cq> send_cq_;
  std::shared_ptr<Cq> recv_cq_;
  Pages arena_;
  Mr mr_[2];
  std::unique_ptr<Qp> qp_;
  EndpointInfo peer_{};
  LinkOptions link_;
};

// Connects two ends in one process.
void connect_both(Endpoint& a, Endpoint& b, const LinkOptions& link);

// The largest rd_atomic that both devices support.
std::uint8_t usable_rd_atomic(const Context& context, const EndpointInfo& peer);

}  // namespace verbs
