// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
// The objects of an XRC connection: an initiator at one end; a domain, targets and shared receive
// queues at the other.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <vector>

#include "harness/random.h"
#include "verbs/devices.h"
#include "verbs/memory.h"
#include "verbs/qp.h"

namespace xrc {

inline constexpr auto timeout = std::chrono::seconds(10);
inline constexpr std::uint32_t slot_bytes = 20000;

inline int close_domain(ibv_xrcd* domain) { return ibv_close_xrcd(domain); }
using Domain = verbs::Handle<ibv_xrcd, close_domain>;
using QpHandle = verbs::Handle<ibv_qp, ibv_destroy_qp>;

// Processes that open the same file share the domain.
Domain open_domain(const verbs::Context& context, int fd, int flags);
Domain new_domain(const verbs::Context& context);

// The bytes of message @number.
std::byte byte_of(std::uint64_t number, std::size_t at);
void fill(std::byte* to, std::size_t bytes, std::uint64_t number);
// Whether message @number is sent with its number as immediate data.
inline bool has_immediate(std::uint64_t number) { return number % 2; }
void expect_bytes(const std::byte* from, std::size_t bytes, std::uint64_t number);

// A shared receive queue of a domain, with a protection domain and a CQ of its own.
class Queue {
 public:
  Queue(const verbs::Context& context, const Domain& domain, std::uint32_t slots,
        const verbs::Channel* channel = nullptr);

  ibv_srq* get() const { return srq_.get(); }
  std::uint32_t number() const { return number_; }
  verbs::Cq& cq() { return cq_; }
  std::uint32_t rkey() const { return mr_->rkey; }
  // Memory for WRITEs, READs and atomics, behind that of the receives.
  std::byte* region() const { return memory_.data() + std::size_t{slots_} * slot_bytes; }
  std::uint64_t region_address() const { return reinterpret_cast<std::uint64_t>(region()); }

  void post(std::uint32_t slot);
  void post_all();
  // Takes the completion of message @number, checks its bytes, and posts the receive again.
  void receive(std::uint64_t number, std::uint32_t bytes, std::uint32_t qpn);
  void destroy();

 private:
  std::uint32_t slots_;
  verbs::Pd pd_;
  verbs::Cq cq_;
  verbs::Pages memory_;
  verbs::Mr mr_;
  verbs::Srq srq_;
  std::uint32_t number_ = 0;
};

class Initiator {
 public:
  explicit Initiator(const verbs::Context& context);

  ibv_qp* get() const { return qp_.get(); }
  verbs::Cq& cq() { return cq_; }
  std::byte* memory() const { return memory_.data(); }

  void send(std::uint32_t srqn, std::uint64_t number, std::uint32_t bytes);
  // CMP_AND_SWP compares with the operand, and writes its complement.
  void request(ibv_wr_opcode opcode, std::uint32_t srqn, std::uint32_t bytes, std::uint64_t address,
               std::uint32_t rkey, std::uint64_t operand = 0);
  // The status of the next completion.
  ibv_wc_status reap();
  void expect(ibv_wc_status status, const char* what);

 private:
  ibv_send_wr* prepare(ibv_wr_opcode opcode, std::uint32_t srqn, std::uint32_t bytes);

  verbs::Pd pd_;
  verbs::Cq cq_;
  verbs::Pages memory_;
  verbs::Mr mr_;
  QpHandle qp_;
  ibv_sge sge_{};
  ibv_send_wr wr_{};
};

// Connects both to each other.
void connect(const verbs::Devices& devices, ibv_qp* initiator, ibv_qp* target);

QpHandle create_target(const verbs::Context& context, const Domain& domain);
QpHandle open_target(const verbs::Context& context, const Domain& domain, std::uint32_t number);

// Both ends of a connection, and its domain.
struct Stage {
  explicit Stage(const verbs::Devices& devices);

  const verbs::Devices& devices;
  int fd;
  Domain domain;
  QpHandle target;
  Initiator initiator;
};

}  // namespace xrc
